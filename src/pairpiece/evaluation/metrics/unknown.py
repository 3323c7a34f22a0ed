"""A metric of how much of the text the vocabulary does not have."""

from __future__ import annotations

from pairpiece.evaluation.metric import Metric
from pairpiece.evaluation.tokenized import Resample


class Unknown(Metric):
    """Unknown tokens and bytes."""

    name, place, better, digits = "unknown", 70, "lower", 4
    about = "share of tokens that are unknown or bytes"

    def value(self, resample: Resample) -> float | None:
        """Such tokens / tokens."""
        tokenized = resample.tokenized
        if tokenized.system.vocabulary is None:
            return None
        return resample.ratio(tokenized.unknown, tokenized.lengths)
