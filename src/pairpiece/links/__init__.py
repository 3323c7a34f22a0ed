"""Links between the words of a sentence and of its translation."""
