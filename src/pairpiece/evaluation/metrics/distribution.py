"""Metrics of how evenly tokens are used: entropies, and the slope of their frequencies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pairpiece.evaluation.metric import Metric
from pairpiece.evaluation.parallel_text import Array
from pairpiece.evaluation.tokenized import Resample, Tokenized


def renyi_entropy(counts: Array, power: float) -> float:
    """In bits; Shannon's for a power of 1.

    >>> renyi_entropy(np.array([2.0, 1.0, 1.0]), 1), renyi_entropy(np.array([1.0, 1.0]), 3)
    (1.5, 1.0)
    """
    if len(counts) == 0:
        return math.nan
    probability = counts / counts.sum()
    if power == 1:
        return float(-(probability * np.log2(probability)).sum())
    return float(np.log2((probability**power).sum()) / (1 - power))


def renyi_efficiency(counts: Array, power: float) -> float:
    """The entropy in proportion to that of an even distribution over the tokens that occur."""
    return renyi_entropy(counts, power) / math.log2(len(counts)) if len(counts) > 1 else 0.0


class Renyi(Metric):
    """Zouhar et al. (2023)."""

    name, place, better = "renyi_efficiency", 90, "higher"
    about = "Rényi entropy of the tokens, in proportion to the largest there can be"

    def value(self, resample: Resample) -> float:
        """The efficiency."""
        return renyi_efficiency(resample.counts, resample.tokenized.settings.renyi_power)

    def options(self, tokenized: Tokenized) -> dict[str, Any]:
        """The power."""
        return {"power": f"{tokenized.settings.renyi_power:g}", "vocabulary": "occurring"}


class RenyiRatio(Renyi):
    """Of the paper's appendix."""

    name, place, better = "renyi_ratio", 91, "higher"
    about = "Rényi efficiency in proportion to that of the reference tokenizer"

    def value(self, resample: Resample) -> float | None:  # type: ignore[override]
        """Efficiency / efficiency of the baseline."""
        if resample.baseline is None:
            return None
        theirs = super().value(resample.baseline)
        return super().value(resample) / theirs if theirs > 0 else None

    def options(self, tokenized: Tokenized) -> dict[str, Any]:
        """The power, and whose efficiency it is compared with."""
        return {**super().options(tokenized), "reference": tokenized.settings.baseline}


class Entropy(Metric):
    """Shannon's."""

    name, place = "entropy", 92
    about = "bits per token under the tokens' own frequencies"

    def value(self, resample: Resample) -> float:
        """The entropy."""
        return renyi_entropy(resample.counts, 1)


class Zipf(Metric):
    """The slope of the rank–frequency curve."""

    name, place = "zipf", 93
    about = "exponent of frequency over rank, least squares over the first 1,000 ranks"

    def value(self, resample: Resample) -> float | None:
        """Minus the slope, both sides logarithmic."""
        frequent = np.sort(resample.counts)[::-1][:1000]
        if len(frequent) < 3:
            return None
        rank = np.log(np.arange(1, len(frequent) + 1))
        rank -= rank.mean()
        return float(-(rank @ np.log(frequent)) / (rank @ rank))
