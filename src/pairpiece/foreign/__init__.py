"""Tokenizers of other tools: used as they are, read in, and written out."""
