"""The stages of a run, a file for each: what it depends on, and what it makes."""
