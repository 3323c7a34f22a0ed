"""Penalties per piece, fitted so that a tokenizer makes as many tokens of a text as wanted.

The larger the penalty, the fewer the tokens, so it is found by bisection (docs/algorithm.md,
section 7).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from pairpiece.encoding import Links, Source
from pairpiece.errors import OptionError
from pairpiece.tokenizer import Tokenizer
from pairpiece.vocabulary import SCORES_PER_NAT, PieceType

LIMIT = 8
"""In nats, either way.  Beyond, a penalty overrules what was learned for next to no tokens."""


def calibrated(
    tokenizer: Tokenizer,
    targets: Sequence[str],
    sources: Sequence[Source] | None,
    alignments: Sequence[Links | None] | None,
    wanted: float,
    num_threads: int = 1,
) -> Tokenizer:
    """A copy of the tokenizer that makes at most `wanted` tokens of the text, as near as it can.

    Fits what the text allows: target-only encoding; with `sources` also paired encoding; with
    `alignments` also that with links given.
    """
    record: dict[str, Any] = {"sentences": len(targets), "wanted": wanted}

    def fit(name: str, change: Callable[[Tokenizer, float], Tokenizer], **paired: Any) -> None:
        nonlocal tokenizer
        before = tokenizer

        def tokens(penalty: float) -> int:
            changed = change(before, penalty)
            return sum(map(len, changed.encode_batch(targets, num_threads=num_threads, **paired)))

        penalty = smallest_penalty(tokens, wanted)
        tokenizer = change(before, penalty)
        record[name] = {"penalty": penalty, "tokens": tokens(penalty)}

    fit("target_only", with_marginal_penalty)
    if sources is not None:
        words = [tokenizer.source_words(source) for source in sources]
        fit("with_source", with_inferred_penalty, sources=words)
        if alignments is not None:
            links = [None if row is None else list(row) for row in alignments]
            fit("with_links", with_linked_penalty, sources=words, alignments=links)
    return tokenizer._replaced(provenance={**tokenizer.provenance, "calibration": record})


def smallest_penalty(tokens: Callable[[float], int], wanted: float) -> float:
    """The smallest penalty that brings the tokens down to `wanted`, if any within the limit does.

    >>> smallest_penalty(lambda penalty: 100 if penalty < 1.5 else 90, 95)
    1.5
    """
    low, high = -LIMIT * SCORES_PER_NAT, LIMIT * SCORES_PER_NAT
    while low < high:
        middle = (low + high) // 2
        if tokens(middle / SCORES_PER_NAT) <= wanted:
            high = middle
        else:
            low = middle + 1
    return low / SCORES_PER_NAT


def with_marginal_penalty(tokenizer: Tokenizer, penalty: float) -> Tokenizer:
    """Changes the scores of all learned pieces alike, so that their order and ids stay."""
    vocabulary = tokenizer.vocabulary
    scores = [
        score - penalty if kind == PieceType.NORMAL else score
        for score, kind in zip(vocabulary.scores, vocabulary.types, strict=True)
    ]
    return tokenizer._replaced(vocabulary=dataclasses.replace(vocabulary, scores=scores))


def with_inferred_penalty(tokenizer: Tokenizer, penalty: float) -> Tokenizer:
    """For paired encoding where the model finds the links itself."""
    return _with_settings(tokenizer, inferred_piece_penalty=penalty)


def with_linked_penalty(tokenizer: Tokenizer, penalty: float) -> Tokenizer:
    """For paired encoding with links given."""
    return _with_settings(tokenizer, piece_penalty=penalty)


def _with_settings(tokenizer: Tokenizer, **changes: float) -> Tokenizer:
    table = tokenizer.cooccurrences()
    settings = dataclasses.replace(table.settings, **changes)
    return tokenizer._replaced(table=dataclasses.replace(table, settings=settings))
