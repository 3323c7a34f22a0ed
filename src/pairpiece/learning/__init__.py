"""From aligned word pairs to a vocabulary with its co-occurrence table."""
