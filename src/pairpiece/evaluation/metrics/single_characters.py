"""Metrics of how often a token is a single character."""

from __future__ import annotations

import numpy as np

from pairpiece.evaluation.metric import Metric
from pairpiece.evaluation.tokenized import Resample


class SingleCharacters(Metric):
    """The micro average."""

    name, place, better = "single_characters", 60, "lower"
    about = "share of tokens that are one character, ▁ not counted"

    def value(self, resample: Resample) -> float:
        """Such tokens / tokens."""
        tokenized = resample.tokenized
        return resample.ratio(tokenized.single_characters, tokenized.lengths)


class SingleCharactersMacro(Metric):
    """The macro average."""

    name, place, better = "single_characters_macro", 61, "lower"
    about = "the same share, averaged over sentences"

    def value(self, resample: Resample) -> float:
        """The mean of such tokens / tokens over sentences that have tokens."""
        tokenized = resample.tokenized
        some = tokenized.lengths > 0
        share = tokenized.single_characters / np.maximum(tokenized.lengths, 1)
        return resample.ratio(share, some.astype(float))
