"""Penalties per piece, fitted so that a tokenizer makes as many tokens as a plain one would.

The larger the penalty, the fewer the tokens, so it is found by bisection (docs/algorithm.md,
section 7).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pairpiece.model.encoding import Encoding, Links, Source
from pairpiece.model.tokenizer import Tokenizer
from pairpiece.text.vocabulary import SCORES_PER_NAT, PieceType

LOWEST, HIGHEST = -16, 2
"""In nats.  Beyond the highest, a penalty overrules what was learned for next to no tokens."""

DAMPING = 0.75
"""In the text of a training a word that occurs n times counts like n^0.75 words: new text has more
rare words."""


@dataclass(frozen=True)
class Text:
    """What to calibrate on.  With `sources` paired encoding, too; with `links` also with links."""

    targets: Sequence[str]
    sources: Sequence[Source] | None = None
    links: Sequence[Links | None] | None = None
    weights: Sequence[Sequence[float]] | None = None  # of the words of each target; all 1 if None

    @classmethod
    def of_training(
        cls, targets: Sequence[str], sources: Any, links: Any, words: Sequence[Sequence[str]]
    ) -> Text:
        """With words weighed as `DAMPING` says; `words` are those of each target."""
        counts = Counter(itertools.chain.from_iterable(words))
        weights = [[counts[word] ** (DAMPING - 1) for word in row] for row in words]
        return cls(targets, sources, links, weights)

    def tokens(self, tokenizer: Tokenizer, num_threads: int, **paired: Any) -> float:
        """How many tokens the tokenizer makes, by the weights of their words."""
        if self.weights is None:
            rows = tokenizer.encode_batch(self.targets, num_threads=num_threads, **paired)
            return float(sum(map(len, rows)))
        encodings = tokenizer.encode_batch(
            self.targets, out_type=Encoding, num_threads=num_threads, **paired
        )
        return math.fsum(
            weights[word]
            for encoding, weights in zip(encodings, self.weights, strict=True)
            for word in encoding.word_ids
        )


def calibrated(
    tokenizer: Tokenizer, text: Text, wanted: float, num_threads: int = 1, *, marginal: bool = True
) -> Tokenizer:
    """A copy of the tokenizer that makes at most `wanted` tokens of the text, as near as it can.

    Without `marginal`, target-only encoding stays as it is.
    """
    record: dict[str, Any] = {"sentences": len(text.targets), "wanted": wanted}

    def fit(name: str, change: Callable[[Tokenizer, float], Tokenizer], **paired: Any) -> None:
        nonlocal tokenizer
        before = tokenizer

        def tokens(penalty: float) -> float:
            return text.tokens(change(before, penalty), num_threads, **paired)

        penalty = smallest_penalty(tokens, wanted)
        tokenizer = change(before, penalty)
        record[name] = {"penalty": penalty, "tokens": tokens(penalty)}

    if marginal:
        fit("target_only", with_marginal_penalty)
    if text.sources is not None and tokenizer.is_paired:
        words = [tokenizer.source_words(source) for source in text.sources]
        fit("with_source", with_inferred_penalty, sources=words)
        if text.links is not None:
            links = [None if row is None else list(row) for row in text.links]
            fit("with_links", with_linked_penalty, sources=words, alignments=links)
    return tokenizer._replaced(provenance={**tokenizer.provenance, "calibration": record})


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


def with_marginal_penalty(tokenizer: Tokenizer, penalty: float) -> Tokenizer:
    """All learned pieces score less by the same, so their order and ids stay."""
    more = penalty - _marginal_penalty(tokenizer)
    vocabulary = tokenizer.vocabulary
    scores = [
        score - more if kind == PieceType.NORMAL else score
        for score, kind in zip(vocabulary.scores, vocabulary.types, strict=True)
    ]
    return tokenizer._replaced(vocabulary=dataclasses.replace(vocabulary, scores=scores))


def _marginal_penalty(tokenizer: Tokenizer) -> float:
    """What an earlier calibration has taken from the scores."""
    try:
        penalty = float(tokenizer.provenance["calibration"]["target_only"]["penalty"])
    except (KeyError, TypeError, ValueError):  # none, or written by somebody else
        return 0.0
    return penalty if LOWEST <= penalty <= HIGHEST else 0.0


def with_inferred_penalty(tokenizer: Tokenizer, penalty: float) -> Tokenizer:
    """For paired encoding where the model finds the links itself."""
    return _with_settings(tokenizer, inferred_piece_penalty=penalty)


def with_linked_penalty(tokenizer: Tokenizer, penalty: float) -> Tokenizer:
    """For paired encoding with links given."""
    return _with_settings(tokenizer, piece_penalty=penalty)


def _with_settings(tokenizer: Tokenizer, **changes: Any) -> Tokenizer:
    table = tokenizer.cooccurrences()
    settings = dataclasses.replace(table.settings, **changes)
    return tokenizer._replaced(table=dataclasses.replace(table, settings=settings))
