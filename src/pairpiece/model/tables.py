"""The sparse tables of a trained tokenizer: co-occurrences c(t, s), translations, and bigrams."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pairpiece import _core
from pairpiece.options import LengthPenalty
from pairpiece.text.vocabulary import PieceType, Vocabulary


def row_numbers(row_begin: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The row that each entry is in, for rows that begin there.

    >>> row_numbers(np.array([0, 2, 2, 3]))
    array([0, 0, 2])
    """
    begin = row_begin.astype(np.int64)
    return np.repeat(np.arange(len(begin) - 1), begin[1:] - begin[:-1])


class Table:
    """What tables have in common: rows of counts, and what is derived from them."""

    row_begin: npt.NDArray[np.uint64]

    @property
    def piece_ids(self) -> npt.NDArray[np.int64]:
        """The row of each count."""
        return row_numbers(self.row_begin)

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays by name."""
        state = self.__getstate__().items()
        return {name: value for name, value in state if isinstance(value, np.ndarray)}


@dataclass(frozen=True)
class PairedSettings:
    """What paired encoding needs to know besides the table."""

    conditional: str
    scoring: str  # "evidence" on top of target-only scores, or p(t|S) instead of them
    smoothing: float
    length_penalty: LengthPenalty
    piece_penalty: float  # τ with links given, or a whole sentence
    inferred_piece_penalty: float  # τ where the model has found the links itself
    whole_sentence: bool


@dataclass(frozen=True)
class CooccurrenceTable(Table):
    """c(t, s) by piece id, with c(s) and the base distribution p0(t)."""

    source_tokens: list[str]  # the first stands for no source
    row_begin: npt.NDArray[np.uint64]
    source: npt.NDArray[np.uint32]
    count: npt.NDArray[np.float32]
    source_count: npt.NDArray[np.float64]
    base: npt.NDArray[np.float64]
    settings: PairedSettings

    @cached_property
    def core(self) -> _core.ConditionalModel:
        """The table as the compiled core uses it."""
        settings = self.settings
        penalty = settings.length_penalty
        options = _core.ConditionalOptions(
            conditional=_core.Conditional[settings.conditional],
            evidence=settings.scoring == "evidence",
            smoothing=settings.smoothing,
            length_penalty=_core.LengthPenalty(penalty.over, penalty.under, penalty.unlinked),
            piece_penalty=settings.piece_penalty,
            inferred_piece_penalty=settings.inferred_piece_penalty,
        )
        return _core.ConditionalModel(
            self.row_begin, self.source, self.count, self.source_count, self.base, options
        )

    @cached_property
    def source_ids(self) -> dict[str, int]:
        """Source tokens to ids; the entry for "no source" is not a token."""
        return {token: i for i, token in enumerate(self.source_tokens) if i > 0}


@dataclass(frozen=True)
class TranslationTable(Table):
    """r(t, s): how many source tokens s a piece stands for; s as in the co-occurrence table."""

    row_begin: npt.NDArray[np.uint64]
    source: npt.NDArray[np.uint32]
    count: npt.NDArray[np.float32]
    piece_count: npt.NDArray[np.float64]  # how often each piece stands in the text it is from


BIGRAM_SMOOTHING = 1.0


@dataclass(frozen=True)
class BigramTable(Table):
    """Counts of pieces by the piece before them in the word; the last row: at word beginnings."""

    row_begin: npt.NDArray[np.uint64]
    next: npt.NDArray[np.uint32]
    count: npt.NDArray[np.float32]
    base: npt.NDArray[np.float64]

    @classmethod
    def from_words(cls, vocabulary: Vocabulary, words: Iterable[Sequence[int]]) -> BigramTable:
        """Count adjacent pieces; only learned pieces take part (eq. 18)."""
        size = len(vocabulary)
        learned = np.array([kind == PieceType.NORMAL for kind in vocabulary.types])
        counts: dict[tuple[int, int], int] = {}
        for word in words:
            previous = size
            for piece in word:
                if learned[piece] and (previous == size or learned[previous]):
                    counts[previous, piece] = counts.get((previous, piece), 0) + 1
                previous = piece
        keys = sorted(counts)
        rows = np.array([row for row, _ in keys], np.int64)
        base = np.where(learned, 0.1, 0.0)
        if keys:
            columns = np.array([column for _, column in keys], np.int64)
            base += np.bincount(columns, [counts[key] for key in keys], minlength=size)
        lengths = np.bincount(rows, minlength=size + 1)
        return cls(
            np.concatenate([np.zeros(1, np.uint64), np.cumsum(lengths, dtype=np.uint64)]),
            np.array([column for _, column in keys], np.uint32),
            np.array([counts[key] for key in keys], np.float32),
            base / base.sum(),
        )

    @cached_property
    def core(self) -> _core.BigramModel:
        """The table as the compiled core uses it."""
        return _core.BigramModel(self.row_begin, self.next, self.count, self.base, BIGRAM_SMOOTHING)
