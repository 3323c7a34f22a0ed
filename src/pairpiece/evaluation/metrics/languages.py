"""A metric of how fairly languages are treated."""

from __future__ import annotations

import math

import numpy as np

from pairpiece.evaluation.metric import Metric
from pairpiece.evaluation.tokenized import Resample


class Gini(Metric):
    """Over translations of the same text into three or more languages."""

    name, place, better = "gini", 95, "lower"
    about = "Gini coefficient of the tokens that the languages need for the same text"

    def value(self, resample: Resample) -> float | None:
        """The mean difference between two languages / twice the mean."""
        languages = resample.tokenized.languages
        if languages is None:
            return None
        tokens = np.array([resample.total(lengths) for lengths in languages])
        differences = np.abs(tokens[:, None] - tokens[None, :])
        return float(differences.mean() / (2 * tokens.mean())) if tokens.any() else math.nan
