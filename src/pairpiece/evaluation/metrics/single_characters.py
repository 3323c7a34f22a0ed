"""How often a token is a single character."""

from __future__ import annotations

import numpy as np

from pairpiece.evaluation.metric import Metric
from pairpiece.evaluation.tokenized import Sample


class SingleCharacters(Metric):
    """The micro average."""

    name, place, better = "single_characters", 60, "lower"
    about = "share of tokens that are one character, ▁ not counted"

    def value(self, sample: Sample) -> float:
        """Such tokens / tokens."""
        tokenized = sample.tokenized
        return sample.ratio(tokenized.single_characters, tokenized.lengths)


class SingleCharactersMacro(Metric):
    """The macro average."""

    name, place, better = "single_characters_macro", 61, "lower"
    about = "the same share, averaged over sentences"

    def value(self, sample: Sample) -> float:
        """The mean of such tokens / tokens over sentences that have tokens."""
        tokenized = sample.tokenized
        some = tokenized.lengths > 0
        share = tokenized.single_characters / np.maximum(tokenized.lengths, 1)
        return sample.ratio(share, some.astype(float))
