"""Which pieces to give up: one score per piece, the lowest go first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from pairpiece.learning.engine import Engine

Scores = npt.NDArray[np.float64]

_PLAIN_PASSES = 2


def information(engine: Engine, _weight: float = 0) -> Scores:
    """Mutual information with the source tokens (eq. 11), as in the paper."""
    return np.asarray(engine.mutual_information(), np.float64)


def information_and_length(engine: Engine, weight: float) -> Scores:
    """What the pairs and the text would lose without the piece (eq. 12–14).

    Mutual information, less what the length prior would gain, and `weight` times the likelihood
    that a plain unigram model of the words would lose.
    """
    _, length_gain, offsets, others, _ = engine.tied_uses()
    scores: Scores = information(engine) - np.asarray(length_gain, np.float64)
    if weight > 0:
        scores += weight * _loss(plain_counts(engine, _PLAIN_PASSES), offsets, others)
    return scores


def plain_counts(engine: Engine, passes: int) -> Scores:
    """How often a unigram model of the words expects each piece, after EM from p0."""
    counts: Scores = np.asarray(engine.base(), np.float64)
    for _ in range(passes):
        least = np.finfo(np.float64).tiny
        scores = np.log(np.maximum(counts, least)) - np.log(counts.sum())
        counts = np.asarray(engine.unigram_counts(scores), np.float64)
    return counts


def loss(engine: Engine, _weight: float) -> Scores:
    """How much likelihood the text would lose without the piece (eq. 14), as SentencePiece does."""
    uses, _, offsets, others, likelier = engine.tied_uses()
    scores = _loss(np.asarray(uses, np.float64), offsets, others)
    scores[np.asarray(likelier, bool)] = -np.inf
    return scores


def _loss(count: Scores, offsets: Any, others: Any) -> Scores:
    """What the likelihood of pieces counted so often loses if each in turn goes to its split."""
    begin, pieces = np.asarray(offsets, np.int64), np.asarray(others, np.int64)
    parts = np.diff(begin)
    total = count.sum()
    owner = np.repeat(np.arange(len(count)), parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        inherited = np.log(count[pieces] + count[owner])
        alternative = np.bincount(owner, inherited, minlength=len(count)).astype(np.float64)
        alternative -= parts * np.log(total + count * (parts - 1))
        scores: Scores = count * (np.log(count) - np.log(total) - alternative)
    scores[count == 0] = 0.0
    return scores


def frequency(engine: Engine, _weight: float) -> Scores:
    """Expected count."""
    return np.asarray(engine.piece_counts(), np.float64)


SCORES: dict[str, Callable[[Engine, float], Scores]] = {
    "information": information,
    "information+length": information_and_length,
    "loss": loss,
    "frequency": frequency,
}


def keep_best(engine: Engine, scores: Scores, size: int) -> npt.NDArray[np.uint8]:
    """Flags of the `size` pieces to keep: the single characters in any case, then by score.

    Scores count as equal if they agree to about nine digits or differ by less than a trillionth of
    the largest count, so that rounding cannot decide; of equals the earlier piece is kept.
    """
    characters = engine.characters()
    flags = np.zeros(len(scores), np.uint8)
    flags[:characters] = 1
    largest = np.max(engine.piece_counts()) * (1 + 2.0**-40)  # a power of two up to rounding is one
    rounded = _rounded(scores[characters:], np.frexp(largest)[1] - 40)
    order = np.argsort(-rounded, kind="stable")
    flags[characters:][order[: max(0, size - characters)]] = 1
    return flags


def _rounded(scores: Scores, least: Any) -> Scores:
    """Scores to thirty binary digits, or to multiples of 2 to the power of `least`.

    Those that differ by rounding alone are rounded as one: where they lie about the middle between
    two multiples, each would go its own way.
    """
    mantissa, exponent = np.frexp(scores)
    step = np.maximum(exponent - 30, least)
    order = np.argsort(-scores, kind="stable")
    begins = np.ones(len(scores), bool)  # a group of such scores, the largest first
    with np.errstate(invalid="ignore"):  # two that are infinite are equal
        begins[1:] = -np.diff(scores[order]) > np.ldexp(1.0, step[order[:-1]] - 6)
    largest = np.empty_like(order)
    largest[order] = order[begins][np.cumsum(begins) - 1]
    rounded: Scores = np.ldexp(np.round(np.ldexp(mantissa, exponent - step)), step)[largest]
    return rounded
