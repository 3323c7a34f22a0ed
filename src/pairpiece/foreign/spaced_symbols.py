"""The paper's spaces before symbols as replacements of characters, for SentencePiece."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from pairpiece.errors import OptionError
from pairpiece.text import normalization, word_pattern
from pairpiece.text.options import MARKER


@functools.cache
def spaced(table: bytes) -> bytes:
    """A normalisation table that also puts a space before every symbol.

    It puts one where there is a space already, too: whoever uses it has to make one space of two.
    """
    if table not in map(normalization.charsmap, ("none", "nfkc", "nfc")):
        raise OptionError(
            "SentencePiece cannot be given the paper's spaces before symbols together with a "
            "normalisation from elsewhere; train with normalization=nfkc"
        )
    return normalization.compiled(_rules(table))


def _rules(table: bytes) -> Iterator[tuple[str, str]]:
    symbols = frozenset(word_pattern.symbols()) - {MARKER}
    written = set()
    for before, after in normalization.rules_of(table):
        written.add(before)
        yield before, "".join(f" {c}" if c in symbols else c for c in after)
    for symbol in sorted(symbols - written):
        yield symbol, f" {symbol}"
