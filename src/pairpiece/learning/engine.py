"""The steps of learning, as the compiled core and the oracle both offer them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from pairpiece import _core
from pairpiece.learning.options import LearningOptions
from pairpiece.learning.pairs import Pairs

Values: TypeAlias = npt.NDArray[np.float64] | Sequence[float]


class Engine(Protocol):
    """Learns c(t, s) from pairs; pieces are numbered, the single characters first.

    Sequences are indexed by piece unless said otherwise.
    """

    def table_bytes(self) -> int:
        """An upper bound of the memory that `initialize` will take."""
        ...

    def initialize(self) -> None:
        """Fill the table with the co-occurrences of spans (eq. 10)."""
        ...

    def count(self) -> float:
        """Make one pass and replace the table; the log-likelihood under the table before."""
        ...

    def log_table_prior(self) -> float:
        """What added to the log-likelihood gives a sum that no pass lowers (eq. 15)."""
        ...

    def table_entries(self) -> int: ...
    def pieces(self) -> list[str]: ...
    def characters(self) -> int: ...
    def piece_counts(self) -> Values: ...
    def source_counts(self) -> Values: ...
    def base(self) -> Values: ...
    def mutual_information(self) -> Values: ...

    def tied_uses(self) -> tuple[Any, Any, Any, Any, Any]:
        """Uses, length gain; offsets into and pieces of best splits; whether these are likelier."""
        ...

    def best_counts(
        self, over: float, under: float, unlinked: float, piece_penalty: float
    ) -> Values:
        """How often each piece stands in the best segmentation of each pair."""
        ...

    def unigram_counts(self, scores: Any) -> Values:
        """How often each piece is expected in the words under these scores, without a source."""
        ...

    def keep(self, flags: Any) -> None:
        """Drop the pieces whose flag is 0; single characters stay."""
        ...

    def table(self) -> tuple[Any, Any, Any]:
        """c(t, s) by row: offsets of each piece's row, source ids, counts."""
        ...


def compiled(
    pairs: Pairs,
    options: LearningOptions,
    reserved: list[str],
    threads: int,
    allowed: list[str] | None = None,
) -> Engine:
    """The engine of the compiled core.

    Pieces are never `reserved` and, beyond single characters, only `allowed` ones if given.
    """
    penalty = options.length_penalty
    return _core.Learner(
        words=pairs.words,
        pair_begin=pairs.pair_begin,
        count=pairs.count,
        expected=pairs.expected,
        source_begin=pairs.source_begin,
        source=pairs.source,
        multiplicity=pairs.multiplicity,
        sources=len(pairs.source_tokens),
        seeds=_core.SeedOptions(
            max_piece_length=options.max_piece_length,
            min_count=options.min_seed_count,
            max_seeds=options.max_seeds,
            character_coverage=options.character_coverage,
            forbidden=reserved,
            allowed=allowed,
        ),
        options=_core.LearnerOptions(
            conditional=_core.Conditional[options.conditional],
            counting=_core.Counting[options.counting],
            smoothing=options.smoothing,
            base_offset=options.base_offset,
            length_penalty=_core.LengthPenalty(penalty.over, penalty.under, penalty.unlinked),
            share_initial=options.conditional != "pooled",
            threads=threads,
        ),
    )
