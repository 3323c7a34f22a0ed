"""Inputs for the targets in C++ to begin with, spelled as these read them (``fuzz/core``)."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from support.french_italian import PAIRS
from support.french_italian import TARGETS as TEXTS
from support.hostile import HOSTILE

from pairpiece.text.normalization import compiled

_PIECES = sorted({word for _, word, _ in PAIRS if len(word.encode()) < 32})[:20]
_RULES = [("ﬁ", "fi"), ("½", "1⁄2"), ("e\u0301", "é"), ("\u3000", " "), ("\u200b", ""), ("A", "a")]


def _texts() -> list[bytes]:
    return [text.encode("utf-8", "surrogatepass") for text in (*TEXTS, *HOSTILE)]


def _normalizer() -> Iterator[bytes]:
    """A table of SentencePiece's making, or the small one, and a text."""
    table = compiled(_RULES)
    for text in _texts():
        yield b"\1" + len(table).to_bytes(2, "big") + table + text
        yield b"\0\0" + text


def _splitter() -> Iterator[bytes]:
    """Options, a table or none, no symbols or two, and a text."""
    symbols = b"\2" + bytes([5]) + b"<sep>" + bytes([1]) + b"a"
    for options, text in zip(itertools.cycle(range(32)), _texts()):
        yield bytes([options]) + b"\0\0" + text
        yield bytes([options]) + b"\1\0" + symbols + text


def _vocabulary(with_bytes: int) -> bytes:
    """Whether there are bytes, and pieces: type and score, the length, the text."""
    pieces = [piece.encode() for piece in _PIECES]
    spelled = (bytes([248, i, len(piece)]) + piece for i, piece in enumerate(pieces))
    return bytes([with_bytes, len(pieces)]) + b"".join(spelled)


def _tokenizer() -> Iterator[bytes]:
    """Options, arithmetic, no table, pieces, what is drawn and how many are wanted, and a text."""
    for number, text in enumerate(_texts()):
        yield bytes([number % 32, number % 4, 0]) + _vocabulary(number % 2) + b"\x40\7\4" + text


def _models() -> Iterator[bytes]:
    """The same, and what the tables and the source are made of."""
    generator = random.Random(1)
    for number, text in enumerate(_texts()):
        head = (
            bytes([number % 32, 0]) + _vocabulary(number % 2) + bytes([64, 7, 4, number // 2 % 2])
        )
        yield head + generator.randbytes(400) + text


def _random() -> Iterator[bytes]:
    generator = random.Random(2)
    for size in range(8, 400, 8):
        yield generator.randbytes(size)


SEEDS = {
    "links": _random,
    "models": _models,
    "normalizer": _normalizer,
    "splitter": _splitter,
    "tokenizer": _tokenizer,
    "trie": _random,
}
"""The targets in C++, by name."""
