"""The ids of a tokenizer: special tokens, user-defined symbols, bytes and learned pieces."""

from __future__ import annotations

import enum
import itertools
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pairpiece.errors import OptionError
from pairpiece.options import is_text
from pairpiece.text.options import BYTE_PIECES, TextOptions

SCORES_PER_NAT = 256
"""Learned scores are multiples of 1/256 nat, so that sums of them are exact in 32-bit floats."""

MAX_SCORE = 2.0**16
"""In nats, either way."""

SUMMATIONS = ("words", "spaces", "texts", "singles")
"""How scores are added up: see ``core/vocabulary.hpp``, where they have these numbers."""


class PieceType(enum.IntEnum):
    """What a piece is for; the numbers are those of the compiled core.

    Unused pieces are tokens of another tokenizer whose ids this one leaves to it: they are never
    found in text, and begin with a space so that they are no other piece.
    """

    NORMAL = 0
    UNKNOWN = 1
    CONTROL = 2
    USER_DEFINED = 3
    BYTE = 4
    UNUSED = 5


@dataclass(frozen=True)
class Vocabulary:
    """Pieces by id, with types and scores in nats."""

    pieces: list[str]
    types: list[PieceType]
    scores: list[float]
    summation: str = "words"

    def __len__(self) -> int:
        return len(self.pieces)

    def check(self) -> None:
        """Raise a ``ValueError`` that names the piece that cannot be, if there is one."""
        if not len(self.pieces) == len(self.types) == len(self.scores):
            raise ValueError("pieces, types and scores differ in number")
        if len(set(self.pieces)) < len(self.pieces):
            twice = next(piece for piece, n in Counter(self.pieces).items() if n > 1)
            raise ValueError(f"the piece {twice!r} is in the vocabulary twice")
        together = "".join(self.pieces)
        if not is_text(together) or " " in together:
            for piece, kind in zip(self.pieces, self.types, strict=True):
                if not is_text(piece) or (kind == PieceType.NORMAL and " " in piece):
                    raise ValueError(f"{piece!r} cannot be a piece")
        if not all(map(MAX_SCORE.__ge__, map(abs, self.scores))):  # which NaN is not
            wrong = next(i for i, s in enumerate(self.scores) if not abs(s) <= MAX_SCORE)
            raise ValueError(f"the score of {self.pieces[wrong]!r} is {self.scores[wrong]}")
        if not all(re.match(" .", piece, re.DOTALL) for piece in self.special[PieceType.UNUSED]):
            raise ValueError("an unused piece begins with a space")
        if tuple(self.special[PieceType.BYTE]) not in ((), BYTE_PIECES):
            raise ValueError("the byte pieces are incomplete or out of order")

    @cached_property
    def special(self) -> dict[PieceType, list[str]]:
        """All pieces but the normal ones, by type."""
        found: dict[PieceType, list[str]] = {kind: [] for kind in PieceType}
        for i in itertools.compress(range(len(self)), self.types):
            found[self.types[i]].append(self.pieces[i])
        return found

    def normal(self) -> list[str]:
        """The learned pieces."""
        kinds = zip(self.pieces, self.types, strict=True)
        return [piece for piece, kind in kinds if kind == PieceType.NORMAL]


@dataclass(frozen=True)
class Unigram:
    """A tokenizer that needs no source: what other tools can be given, and what they give."""

    vocabulary: Vocabulary
    options: TextOptions
    charsmap: bytes  # the normalisation table; empty for none


def reserved_pieces(options: TextOptions) -> list[str]:
    """The pieces that are not learned and that no learned piece may be equal to."""
    pieces = [*options.special_tokens().values(), *options.user_defined_symbols]
    pieces += options.control_symbols
    if options.byte_fallback:
        pieces += BYTE_PIECES
    return pieces


def quantize(log_probability: float) -> float:
    """A score: the nearest multiple of 1/256 nat, within limits."""
    nearest = math.floor(log_probability * SCORES_PER_NAT + 0.5) / SCORES_PER_NAT
    return max(-MAX_SCORE, min(MAX_SCORE, nearest))


def lay_out(options: TextOptions, learned: Sequence[tuple[str, float]]) -> Vocabulary:
    """Give every piece its id.

    Special tokens have the ids that were asked for; the other ids go, in order, to user-defined
    and control symbols, bytes and the learned (piece, score) pairs, best score first.
    """
    special = options.special_tokens()
    others: list[tuple[str, PieceType, float]] = [
        (symbol, PieceType.USER_DEFINED, 0.0) for symbol in options.user_defined_symbols
    ]
    others += [(symbol, PieceType.CONTROL, 0.0) for symbol in options.control_symbols]
    if options.byte_fallback:
        others += [(piece, PieceType.BYTE, 0.0) for piece in BYTE_PIECES]
    ranked = sorted(learned, key=lambda item: (-item[1], item[0]))
    others += [(piece, PieceType.NORMAL, score) for piece, score in ranked]
    size = len(special) + len(others)
    if max(special) >= size:
        raise OptionError(f"special token id {max(special)} lies outside the {size} ids there are")
    rest = iter(others)
    entries = [
        (special[i], PieceType.UNKNOWN if i == options.unk_id else PieceType.CONTROL, 0.0)
        if i in special
        else next(rest)
        for i in range(size)
    ]
    return Vocabulary(
        [piece for piece, _, _ in entries],
        [kind for _, kind, _ in entries],
        [score for _, _, score in entries],
    )
