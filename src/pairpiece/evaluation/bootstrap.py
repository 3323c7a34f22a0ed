"""Intervals and p-values by drawing sentences again."""

from __future__ import annotations

import numpy as np

from pairpiece.evaluation.tokenized import Array


def draws(sentences: int, resamples: int, seed: int) -> Array:
    """How often each sentence is drawn, for each of the resamples; the same for all tokenizers."""
    random = np.random.default_rng(seed)
    drawn = random.integers(0, sentences, (resamples, sentences))
    counts = np.zeros((resamples, sentences))
    np.add.at(counts, (np.arange(resamples)[:, None], drawn), 1.0)
    return counts


def interval(values: Array) -> tuple[float, float]:
    """The middle 95 %."""
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def p_value(difference: float, resampled: Array) -> float:
    """How probable it is that chance alone makes a difference as large, either way.

    The differences of the resamples, moved so that their mean is none, stand for chance.
    """
    by_chance = np.abs(resampled - resampled.mean())
    return float((1 + (by_chance >= abs(difference)).sum()) / (1 + len(resampled)))
