"""The source tokens that stand for a piece, with weights: p(s|t), from the translation table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairpiece.model.tables import CooccurrenceTable, TranslationTable

TOP = 10
"""How many source tokens a piece has, if nothing else is said."""


@dataclass(frozen=True)
class SourceWeights:
    """A sparse matrix with a row for each piece and a column for each source token.

    The weights of a row add up to 1, the largest first; the row of a piece that was never seen with
    a source token is empty.  For scipy: ``csr_array((weights, sources, row_begin), shape)``.
    """

    pieces: list[str]
    source_tokens: list[str]
    row_begin: npt.NDArray[np.int64]
    sources: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    evidence: npt.NDArray[np.float64]  # how many source tokens each piece stands for, in all
    counts: npt.NDArray[np.float64]  # how often each piece stands in the text
    source_counts: npt.NDArray[np.float64]  # and each source token, in what pieces stand for

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of pieces and of source tokens."""
        return len(self.pieces), len(self.source_tokens)

    def row(self, piece_id: int) -> list[tuple[str, float]]:
        """The source tokens of a piece, with their weights."""
        part = slice(*self.row_begin[piece_id : piece_id + 2])
        tokens = [self.source_tokens[source] for source in self.sources[part]]
        return list(zip(tokens, self.weights[part].tolist(), strict=True))

    @classmethod
    def of(
        cls,
        pieces: list[str],
        table: CooccurrenceTable,
        translations: TranslationTable | None,
        top: int,
    ) -> SourceWeights:
        """The `top` largest r(t, s) of every piece, in proportion; "no source" is left out.

        Models up to 0.4.0 have no r(t, s); c(t, s) takes its place.
        """
        given = table if translations is None else translations
        rows, sources = given.piece_ids, given.source.astype(np.int64)
        counts = given.count.astype(np.float64)
        real = (sources > 0) & (counts > 0)
        rows, sources, counts = rows[real], sources[real], counts[real]
        evidence = np.bincount(rows, counts, minlength=len(pieces)).astype(np.float64)
        of_sources = np.bincount(sources, counts, minlength=len(table.source_tokens))
        order = np.lexsort((sources, -counts, rows))
        rows, sources, counts = rows[order], sources[order], counts[order]
        first = np.searchsorted(rows, rows)  # where the row of each count begins
        kept = np.arange(len(rows)) - first < top
        rows, sources, counts = rows[kept], sources[kept], counts[kept]
        totals = np.bincount(rows, counts, minlength=len(pieces))
        begin = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(pieces)))])
        return cls(
            pieces,
            table.source_tokens,
            begin,
            sources,
            counts / totals[rows],
            evidence,
            evidence if translations is None else translations.piece_count,
            of_sources.astype(np.float64),
        )
