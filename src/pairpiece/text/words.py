"""Text to words, before there is a tokenizer: what a word alignment is made over."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from pairpiece import _core
from pairpiece.text.normalization import charsmap
from pairpiece.text.options import MARKER, TextOptions

SPLITTINGS = {
    "lossless": _core.Splitting.lossless,
    "paper": _core.Splitting.paper,
    "none": _core.Splitting.none,
    "custom": _core.Splitting.none,
    "spaces": _core.Splitting.spaces,
}
"""The kinds of pre-tokenization as the compiled core knows them."""


PreTokenizer: TypeAlias = Callable[[str], Sequence[str]]
"""Normalised text to words that add up to it."""


class WordSplitter:
    """Normalises text and splits it into words.

    >>> WordSplitter().words("L'ora è tarda.")
    ['L', "'", 'ora', '▁è', '▁tarda', '.']
    """

    def __init__(self, options: TextOptions | None = None, table: bytes | None = None) -> None:
        options = TextOptions() if options is None else options
        table = charsmap(options.normalization) if table is None else table
        self._core = _core.WordSplitter(
            charsmap=table,
            splitting=SPLITTINGS[options.pretokenization],
            dummy_prefix=options.add_dummy_prefix,
            squeeze=options.remove_extra_spaces,
            split_digits=options.split_digits,
            symbols=list(options.user_defined_symbols),
        )
        self._whole = _core.WordSplitter(
            charsmap=table,
            splitting=_core.Splitting.none,
            dummy_prefix=False,
            squeeze=False,
            split_digits=options.split_digits,
            symbols=[],
        )

    def normalize(self, text: str) -> str:
        """The text that decoding gives back."""
        return self._core.normalize(text)

    def normalize_word(self, word: str) -> list[str]:
        """A word that has been split off already, normalised; ▁ and spaces mean the same in it.

        It is several words if digits are to be split, and none if normalisation leaves nothing.
        """
        return _marked(self._whole.words(word.replace(MARKER, " ")))

    def words(self, text: str) -> list[str]:
        """The words of a text, with ▁ for spaces; together they are the normalised text."""
        return _marked(self._core.words(text))


def _marked(words: list[tuple[str, bool]]) -> list[str]:
    return [word.replace(" ", MARKER) for word, _ in words]


_SURROGATE = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """Lone surrogates, which Python strings may have but UTF-8 has not, become U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def split_words(text: str) -> list[str]:
    """The words of a text under the default options."""
    return _default_splitter().words(text)


@functools.cache
def _default_splitter() -> WordSplitter:
    return WordSplitter()
