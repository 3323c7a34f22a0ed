"""The bootstrap: intervals and p-values by drawing sentences, and runs of the aligner, again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pairpiece.evaluation.metric import Value
from pairpiece.evaluation.parallel_text import Array
from pairpiece.options import check_whole


def check_resamples(resamples: object) -> None:
    """Raise an `OptionError` for too few to say anything, and for too many to wait for."""
    check_whole("resamples", resamples, 10, 100_000)


def draws(sentences: int, resamples: int, seed: int) -> Iterator[Array]:
    """How often each sentence is drawn, for each of the resamples; the same for all tokenizers."""
    random = np.random.default_rng(seed % 2**64)
    for _ in range(resamples):
        drawn = random.integers(0, sentences, sentences)
        yield np.bincount(drawn, minlength=sentences).astype(np.float64)


def drawn_again(value: Value, random: np.random.Generator) -> Value:
    """A number as it is; the runs of an aligner, which is another source of chance, drawn again."""
    if not isinstance(value, list):
        return value
    return [value[i] for i in random.integers(0, len(value), len(value))]


def interval(value: float, resampled: Array) -> tuple[float, float]:
    """The middle 95 % of the resamples, moved so that their mean is the value.

    Some metrics, such as the share of the vocabulary that occurs, are lower on every resample,
    which has fewer different sentences than the text.
    """
    resampled = resampled[np.isfinite(resampled)]
    if len(resampled) == 0:
        return value, value
    low, high = np.percentile(resampled, [2.5, 97.5]) + (value - resampled.mean())
    return float(low), float(high)


def p_value(difference: float, resampled: Array) -> float:
    """How probable it is that chance alone makes a difference as large, either way.

    The differences of the resamples, moved so that their mean is none, stand for chance.  If they
    do not vary, as for a single sentence, they say nothing.
    """
    resampled = resampled[np.isfinite(resampled)]
    if len(resampled) == 0 or np.ptp(resampled) == 0:
        return 1.0
    by_chance = np.abs(resampled - resampled.mean())
    return float((1 + (by_chance >= abs(difference)).sum()) / (1 + len(resampled)))
