"""What learning leaves behind: the pieces with scores for target-only use, and c(t, s)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairpiece.learning.engine import Engine
from pairpiece.learning.options import LearningOptions
from pairpiece.learning.pairs import Pairs
from pairpiece.learning.pruning import plain_counts
from pairpiece.model.tables import CooccurrenceTable, PairedSettings
from pairpiece.text.options import TextOptions
from pairpiece.text.vocabulary import PieceType, Vocabulary, lay_out, quantize

_FITTING_PASSES = 20
_PLAIN_PASSES = 6

SMALLEST = 1e-29  # the paper's counts fall without end; smaller ones cannot be told from none


def vocabulary_of(engine: Engine, text: TextOptions, options: LearningOptions) -> Vocabulary:
    """Scores for target-only use, and ids for all pieces."""
    if options.marginal == "expected":
        counts = np.asarray(engine.piece_counts())
        # What no pass has counted must not be impossible: half of the smallest count there is.
        least = max(counts[counts > 0].min() / 2, np.finfo(np.float64).tiny)
        counts = np.maximum(counts, least)
        scores = np.log(counts) - np.log(counts.sum())
    elif options.marginal == "likeliest":
        counts = plain_counts(engine, _PLAIN_PASSES) + 0.1  # eq. 16
        scores = np.log(counts) - np.log(counts.sum())
    else:
        penalty = options.paired_length_penalty
        used = np.asarray(
            engine.best_counts(
                penalty.over, penalty.under, penalty.unlinked, options.paired_piece_penalty
            )
        )
        scores = np.log(used + 0.1) - np.log((used + 0.1).sum())
        if options.marginal == "fitted":
            scores = _fitted(engine, used, scores)
    scores = scores - options.marginal_piece_penalty
    return lay_out(text, list(zip(engine.pieces(), map(quantize, scores), strict=True)))


def _fitted(
    engine: Engine, used: npt.NDArray[np.float64], scores: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Scores under which each piece is expected as often in the words as it is `used` (eq. 17)."""
    for _ in range(_FITTING_PASSES):
        expected = np.asarray(engine.unigram_counts(scores))
        scores = scores + 0.5 * (np.log(used + 1) - np.log(expected + 1))
    return scores


def table_of(
    engine: Engine, vocabulary: Vocabulary, options: LearningOptions, pairs: Pairs
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
        kept = values >= max(options.min_table_count, SMALLEST)
        sources.append(source[span][kept])
        counts.append(values[kept])
        lengths[i] = kept.sum()
        base[i] = counted[row]
    return CooccurrenceTable(
        pairs.source_tokens,
        np.concatenate([np.zeros(1, np.uint64), np.cumsum(lengths, dtype=np.uint64)]),
        np.concatenate(sources),
        np.concatenate(counts),
        source_count,
        base / base.sum(),
        PairedSettings(
            options.conditional,
            options.paired_scoring,
            options.paired_smoothing,
            options.paired_length_penalty,
            options.paired_piece_penalty,
            options.paired_piece_penalty,
            options.whole_sentence,
        ),
    )
