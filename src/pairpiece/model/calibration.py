"""Penalties per piece, fitted so that a tokenizer makes as many tokens as a plain one would.

The larger the penalty, the fewer the tokens, so it is found by bisection (docs/algorithm.md,
section 7).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pairpiece.foreign.protocol import Source
from pairpiece.model.encoding import Encoding, Links
from pairpiece.model.state import ModelState, known
from pairpiece.text.vocabulary import SCORES_PER_NAT, PieceType

LOWEST, HIGHEST = -16, 16
"""In nats.  At the highest, hardly anything but the number of pieces counts."""

MISSED = 0.01
"""Of the tokens wanted: a larger difference is told."""

DAMPING = 0.75
"""In the text of a training a word that occurs n times counts like n^0.75 words: new text has more
rare words."""


@dataclass(frozen=True)
class CalibrationText:
    """What to calibrate on.  With `sources` paired encoding, too; with `links` also with links."""

    targets: Sequence[str]
    sources: Sequence[Source] | None = None
    links: Sequence[Links | None] | None = None
    weights: Sequence[Sequence[float]] | None = None  # of the words of each target; all 1 if None

    @classmethod
    def of_training(
        cls, targets: Sequence[str], sources: Any, links: Any, words: Sequence[Sequence[str]]
    ) -> CalibrationText:
        """With words weighed as `DAMPING` says; `words` are those of each target."""
        counts = Counter(itertools.chain.from_iterable(words))
        weights = [[counts[word] ** (DAMPING - 1) for word in row] for row in words]
        return cls(targets, sources, links, weights)

    def tokens(
        self, encode_batch: Callable[..., list[Any]], num_threads: int, use: str = "target_only"
    ) -> float:
        """How many tokens an encoder makes in one of the `USES`, by the weights of their words."""
        options: dict[str, Any] = {"num_threads": num_threads}
        if use != "target_only":
            options["sources"] = self.sources
        if use == "with_links":
            options["alignments"] = self.links
        if self.weights is None:
            return float(sum(map(len, encode_batch(self.targets, **options))))
        encodings = encode_batch(self.targets, out_type=Encoding, **options)
        return math.fsum(
            weights[word]
            for encoding, weights in zip(encodings, self.weights, strict=True)
            for word in encoding.word_ids
        )


Count: TypeAlias = Callable[[ModelState, str], float]
"""How many tokens a tokenizer makes of a text, in one of the `USES`."""


def fitted(state: ModelState, uses: Sequence[str], count: Count, wanted: float) -> dict[str, Any]:
    """For each use the smallest penalty with which there are at most `wanted` tokens."""
    found: dict[str, Any] = {}
    for use in uses:
        change = USES[use]
        penalty = smallest_penalty(lambda p: count(change(state, p), use), wanted)  # noqa: B023
        state = change(state, penalty)
        found[use] = {"penalty": penalty, "tokens": count(state, use)}
    return found


def misses(record: dict[str, Any]) -> Iterator[str]:
    """What to say about the uses in which a record did not come to as many tokens as wanted."""
    for use in (use for use in USES if use in record):
        tokens = record[use]["tokens"] / record["wanted"]
        if abs(tokens - 1) > MISSED:
            yield (
                f"{use.replace('_', ' ')}: {tokens:.3f} of the tokens asked for, with a penalty of "
                f"{record[use]['penalty']:g} nats per piece: no penalty comes nearer"
            )


def calibrated(state: ModelState, record: dict[str, Any]) -> ModelState:
    """The tokenizer with the penalties of a record, which it remembers."""
    for use, change in USES.items():
        if use in record:
            state = change(state, record[use]["penalty"])
    return dataclasses.replace(state, provenance={**state.provenance, "calibration": record})


def smallest_penalty(tokens: Callable[[float], float], wanted: float) -> float:
    """The smallest penalty that brings the tokens down to `wanted`; the highest if none does.

    >>> smallest_penalty(lambda penalty: 100 if penalty < 1.5 else 90, 95)
    1.5
    """
    low, high = LOWEST * SCORES_PER_NAT, HIGHEST * SCORES_PER_NAT
    while low < high:
        middle = (low + high) // 2
        if tokens(middle / SCORES_PER_NAT) <= wanted:
            high = middle
        else:
            low = middle + 1
    return low / SCORES_PER_NAT


def with_marginal_penalty(state: ModelState, penalty: float) -> ModelState:
    """All learned pieces score less by the same, so their order and ids stay."""
    more = penalty - _marginal_penalty(state)
    vocabulary = state.vocabulary
    scores = [
        score - more if kind == PieceType.NORMAL else score
        for score, kind in zip(vocabulary.scores, vocabulary.types, strict=True)
    ]
    return dataclasses.replace(state, vocabulary=dataclasses.replace(vocabulary, scores=scores))


def _marginal_penalty(state: ModelState) -> float:
    """What an earlier calibration has taken from the scores."""
    try:
        penalty = float(state.provenance["calibration"]["target_only"]["penalty"])
    except (KeyError, TypeError, ValueError):  # none, or written by somebody else
        return 0.0
    return penalty if LOWEST <= penalty <= HIGHEST else 0.0


def with_inferred_penalty(state: ModelState, penalty: float) -> ModelState:
    """For paired encoding where the model finds the links itself."""
    return _with_settings(state, inferred_piece_penalty=penalty)


def with_linked_penalty(state: ModelState, penalty: float) -> ModelState:
    """For paired encoding with links given."""
    return _with_settings(state, piece_penalty=penalty)


def _with_settings(state: ModelState, **changes: Any) -> ModelState:
    assert state.table is not None
    table = state.table.value
    settings = dataclasses.replace(table.settings, **changes)
    return dataclasses.replace(state, table=known(dataclasses.replace(table, settings=settings)))


USES: dict[str, Callable[[ModelState, float], ModelState]] = {
    "target_only": with_marginal_penalty,
    "with_source": with_inferred_penalty,
    "with_links": with_linked_penalty,
}
"""The ways to encode, each with a penalty of its own."""
