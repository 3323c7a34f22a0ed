"""Links between tokens, and a lexicon of them: what the co-occurrence table says about pieces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairpiece.model.tables import CooccurrenceTable
from pairpiece.text.vocabulary import PieceType, Vocabulary


@dataclass(frozen=True)
class Alignment:
    """Links between source tokens and target tokens; ``scores`` has the p(t|s) of each."""

    source_tokens: list[str]
    target_tokens: list[str]
    links: list[tuple[int, int]]
    scores: list[float]

    @classmethod
    def best(
        cls,
        source_tokens: list[str],
        target_tokens: list[str],
        scores: npt.NDArray[np.float64],
        min_score: float,
    ) -> Alignment:
        """The best source token of each target token; of equals the one nearest the diagonal."""
        links = []
        for j in range(len(target_tokens)):
            column = scores[:, j] if len(source_tokens) else np.zeros(0)
            if not (column > min_score).any():
                continue
            tied = np.flatnonzero(column == column.max())
            diagonal = (j + 0.5) / len(target_tokens) * len(source_tokens) - 0.5
            links.append((int(tied[np.abs(tied - diagonal).argmin()]), j))
        links.sort()
        return cls(source_tokens, target_tokens, links, [float(scores[link]) for link in links])

    def pharaoh(self) -> str:
        """The links as a line of a Pharaoh file, ``source-target`` counted from 0."""
        return " ".join(f"{source}-{target}" for source, target in self.links)

    def probabilities(self) -> str:
        """The scores as a line, in the order of `pharaoh`."""
        return " ".join(f"{score:.6g}" for score in self.scores)


@dataclass(frozen=True)
class Lexicon:
    """Token translations: ``sources[piece]`` and ``targets[source token]``, likeliest first.

    The numbers are p(s|t) and p(t|s), relative counts of the table.
    """

    sources: dict[str, list[tuple[str, float]]]
    targets: dict[str, list[tuple[str, float]]]

    @classmethod
    def from_table(cls, table: CooccurrenceTable, vocabulary: Vocabulary, k: int) -> Lexicon:
        """The k best entries of every row and of every column; "no source" is left out."""
        rows = table.piece_ids
        columns = table.source.astype(np.int64)
        real = columns > 0
        rows, columns, counts = rows[real], columns[real], table.count[real].astype(np.float64)
        learned = [
            piece
            for piece, kind in zip(vocabulary.pieces, vocabulary.types, strict=True)
            if kind == PieceType.NORMAL
        ]
        return cls(
            {piece: [] for piece in learned}
            | _top(rows, columns, counts, k, vocabulary.pieces, table.source_tokens),
            _top(columns, rows, counts, k, table.source_tokens, vocabulary.pieces),
        )


def _top(
    owners: npt.NDArray[np.int64],
    others: npt.NDArray[np.int64],
    counts: npt.NDArray[np.float64],
    k: int,
    owner_names: list[str],
    other_names: list[str],
) -> dict[str, list[tuple[str, float]]]:
    totals = np.bincount(owners, counts, minlength=len(owner_names))
    best: dict[str, list[tuple[str, float]]] = {}
    for i in np.lexsort((others, -counts, owners)):
        entries = best.setdefault(owner_names[owners[i]], [])
        if len(entries) < k:
            entries.append((other_names[others[i]], float(counts[i] / totals[owners[i]])))
    return best
