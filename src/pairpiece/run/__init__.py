"""A training from raw parallel text, stage by stage."""
