"""A Python function as a tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from pairpiece.foreign.protocol import Source, SubwordTokenizer, Words

Tokenize: TypeAlias = Callable[[str], Sequence[str] | Sequence[Sequence[str]]]
"""Raw text to tokens, flat or grouped by word."""


class FunctionTokenizer(SubwordTokenizer):
    """Whatever a function says the tokens of a text are; a flat list has one token per word.

    >>> FunctionTokenizer(str.split).tokens_by_word("le chat")
    [['le'], ['chat']]
    """

    kind = "callable"

    def __init__(self, function: Tokenize) -> None:
        self.function = function

    def tokens_by_word(self, text: str, words: Sequence[str] | None = None) -> Words:
        """The tokens of every word of the text."""
        del words  # the function has its own
        return [[word] if isinstance(word, str) else list(word) for word in self.function(text)]

    def as_source(self, text: str) -> Source:
        """The tokens as the function gives them."""
        return self.function(text)
