"""Penalties per piece, fitted so that a tokenizer makes as many tokens as a plain one would."""

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
from pairpiece.model.penalty_search import HIGHEST, LIMITS, LOWEST, TRIALS, find_penalty
from pairpiece.model.state import ModelState, known
from pairpiece.text.vocabulary import MAX_SCORE, PieceType

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


Advance: TypeAlias = Callable[[int, int], None]
"""Told how many trials are done, and of how many at most."""


def fitted(
    state: ModelState,
    uses: Sequence[str],
    count: Count,
    wanted: float,
    advance: Advance | None = None,
) -> dict[str, Any]:
    """For each use the penalty with which there are `wanted` tokens, or how far it comes and why.

    See `find_penalty`.  A use has a `limit` only if it did not come to what was wanted.
    """
    found: dict[str, Any] = {}
    total = TRIALS * len(uses)
    for number, use in enumerate(uses):
        trials = itertools.count(TRIALS * number)

        def tokens(penalty: float, state: ModelState = state, use: str = use) -> float:
            if advance is not None:
                advance(next(trials), total)  # noqa: B023
            return count(USES[use](state, penalty), use)

        fit = find_penalty(tokens, wanted)
        state = USES[use](state, fit.penalty)
        found[use] = {"penalty": fit.penalty, "tokens": fit.tokens}
        if fit.limit is not None:
            found[use]["limit"] = fit.limit
    if advance is not None:
        advance(total, total)
    return found


def reached(record: dict[str, Any]) -> dict[str, float]:
    """The balance that a record came to, by use."""
    reference = record["wanted"] / record["balance"]
    return {use: record[use]["tokens"] / reference for use in USES if use in record}


def misses(record: dict[str, Any]) -> Iterator[str]:
    """What to say about the uses in which a record did not come to the balance asked for."""
    for use, balance in reached(record).items():
        if limit := record[use].get("limit"):
            yield (
                f"{use.replace('_', ' ')}: a balance of {record['balance']:g} was asked for and "
                f"{balance:.3f} reached: {LIMITS[limit]}"
            )


def calibrated(state: ModelState, record: dict[str, Any]) -> ModelState:
    """The tokenizer with the penalties of a record, which it remembers."""
    for use, change in USES.items():
        if use in record:
            state = change(state, record[use]["penalty"])
    return dataclasses.replace(state, provenance={**state.provenance, "calibration": record})


def with_marginal_penalty(state: ModelState, penalty: float) -> ModelState:
    """All learned pieces score less by the same, so their order and ids stay."""
    more = penalty - _marginal_penalty(state)
    vocabulary = state.vocabulary
    scores = [
        max(-MAX_SCORE, min(MAX_SCORE, score - more)) if kind == PieceType.NORMAL else score
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
