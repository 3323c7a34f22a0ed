"""Parallel text, from the files it comes in."""
