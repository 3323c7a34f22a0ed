"""Attacks on the parsers of the package, and on what has to agree: see ``fuzz/README.md``."""
