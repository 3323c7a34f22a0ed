"""The sparse tables of a trained tokenizer: co-occurrences c(t, s), and bigrams."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pairpiece import _core
from pairpiece.engine import Engine
from pairpiece.options import LearningOptions, LengthPenalty
from pairpiece.pairs import Pairs
from pairpiece.vocabulary import PieceType, Vocabulary

_SMALLEST = 1e-29  # the paper's counts fall without end; smaller ones cannot be told from none


def _fields_of(table: CooccurrenceTable | BigramTable) -> dict[str, object]:
    """What a table is made of; what was derived from it is not pickled."""
    return {field.name: getattr(table, field.name) for field in fields(table)}


@dataclass(frozen=True)
class PairedSettings:
    """What paired encoding needs to know besides the table."""

    conditional: str
    smoothing: float
    length_penalty: LengthPenalty
    piece_penalty: float  # τ with links given, or a whole sentence
    inferred_piece_penalty: float  # τ where the model has found the links itself
    whole_sentence: bool


@dataclass(frozen=True)
class CooccurrenceTable:
    """c(t, s) by piece id, with c(s) and the base distribution p0(t)."""

    source_tokens: list[str]  # the first stands for no source
    row_begin: npt.NDArray[np.uint64]
    source: npt.NDArray[np.uint32]
    count: npt.NDArray[np.float32]
    source_count: npt.NDArray[np.float64]
    base: npt.NDArray[np.float64]
    settings: PairedSettings

    @classmethod
    def from_engine(
        cls, engine: Engine, vocabulary: Vocabulary, options: LearningOptions, pairs: Pairs
    ) -> CooccurrenceTable:
        """The learned table by piece id, without its smallest counts."""
        row_begin, source, count = (np.asarray(part) for part in engine.table())
        source_count = np.asarray(engine.source_counts(), np.float64)
        if options.conditional == "pooled":
            # Only ratios matter; the paper's counts shrink from pass to pass, so bring them back.
            scale = pairs.total / source_count.sum()
            count, source_count = count * scale, source_count * scale
        counted = np.asarray(engine.piece_counts()) + options.base_offset
        row_of = {piece: row for row, piece in enumerate(engine.pieces())}
        base = np.zeros(len(vocabulary))
        lengths = np.zeros(len(vocabulary), np.uint64)
        sources: list[npt.NDArray[np.uint32]] = []
        counts: list[npt.NDArray[np.float32]] = []
        for i, (piece, kind) in enumerate(zip(vocabulary.pieces, vocabulary.types, strict=True)):
            if kind != PieceType.NORMAL:
                continue
            row = row_of.get(piece)
            if row is None:  # of a fixed vocabulary, and not in the text
                base[i] = options.base_offset
                continue
            span = slice(int(row_begin[row]), int(row_begin[row + 1]))
            values = count[span].astype(np.float32)
            kept = values >= max(options.min_table_count, _SMALLEST)
            sources.append(source[span][kept])
            counts.append(values[kept])
            lengths[i] = kept.sum()
            base[i] = counted[row]
        return cls(
            pairs.source_tokens,
            np.concatenate([np.zeros(1, np.uint64), np.cumsum(lengths, dtype=np.uint64)]),
            np.concatenate(sources),
            np.concatenate(counts),
            source_count,
            base / base.sum(),
            PairedSettings(
                options.conditional,
                options.smoothing,
                options.paired_length_penalty,
                options.paired_piece_penalty,
                options.paired_piece_penalty,
                options.whole_sentence,
            ),
        )

    def __getstate__(self) -> dict[str, object]:
        return _fields_of(self)

    @property
    def piece_ids(self) -> npt.NDArray[np.int64]:
        """The piece id of each count."""
        begin = self.row_begin.astype(np.int64)
        return np.repeat(np.arange(len(begin) - 1), begin[1:] - begin[:-1])

    @cached_property
    def core(self) -> _core.ConditionalModel:
        """The table as the compiled core uses it."""
        settings = self.settings
        penalty = settings.length_penalty
        options = _core.ConditionalOptions(
            conditional=_core.Conditional[settings.conditional],
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


BIGRAM_SMOOTHING = 1.0


@dataclass(frozen=True)
class BigramTable:
    """Counts of pieces by the piece before them in the word; the last row: at word beginnings."""

    row_begin: npt.NDArray[np.uint64]
    next: npt.NDArray[np.uint32]
    count: npt.NDArray[np.float32]
    base: npt.NDArray[np.float64]

    @classmethod
    def from_words(cls, vocabulary: Vocabulary, words: Iterable[Sequence[int]]) -> BigramTable:
        """Count adjacent pieces; only learned pieces take part (eq. 17)."""
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

    def __getstate__(self) -> dict[str, object]:
        return _fields_of(self)

    @cached_property
    def core(self) -> _core.BigramModel:
        """The table as the compiled core uses it."""
        return _core.BigramModel(self.row_begin, self.next, self.count, self.base, BIGRAM_SMOOTHING)
