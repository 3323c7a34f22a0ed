"""Bits per byte of text under a small n-gram model of its tokens: a proxy for a language model.

The negative log-likelihood of all tokens, the end of each sentence included, over the bytes of the
text as it is.  So tokenizers that make more or fewer tokens can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]


class KneserNey:
    """An interpolated Kneser–Ney model (Chen & Goodman, 1999) with one discount for each order."""

    def __init__(self, sentences: Sequence[Sequence[int]], vocabulary: int, order: int = 3) -> None:
        self._order = order
        self._end, self._begin = vocabulary, vocabulary + 1
        self._bits = (vocabulary + 2).bit_length()
        if self._bits * order > 62:
            raise ValueError(f"{vocabulary} pieces are too many for an order of {order}")
        self._choices = vocabulary + 1  # all pieces, and the end
        grams = self._grams(sentences)
        self._levels = []
        for n in range(order, 0, -1):
            keys, counts = np.unique(grams, return_counts=True)
            self._levels.append(_Level(keys, counts, self._bits))
            # How many different tokens stand before it: what lower orders count.
            grams = keys & ((1 << self._bits * (n - 1)) - 1)

    def _grams(self, sentences: Sequence[Sequence[int]]) -> Ids:
        """Every token with those before it, as one number."""
        rows = []
        for sentence in sentences:
            rows += [[self._begin] * (self._order - 1), sentence, [self._end]]
        text = np.concatenate([np.asarray(row, np.int64) for row in rows])
        grams = np.zeros(len(text), np.int64)
        for back in range(self._order):
            moved = np.concatenate([np.full(back, self._begin), text[: len(text) - back]])
            grams |= moved << (self._bits * back)
        return grams[text != self._begin]

    def log2_likelihood(self, sentences: Sequence[Sequence[int]]) -> float:
        """Of all tokens and ends."""
        grams = self._grams(sentences)
        probability = np.full(len(grams), 1 / self._choices)
        for n, level in zip(range(1, self._order + 1), reversed(self._levels), strict=True):
            probability = level.interpolated(grams & ((1 << self._bits * n) - 1), probability)
        return float(np.log2(probability).sum())


class _Level:
    """Counts of n-grams and of the contexts they stand in."""

    def __init__(self, keys: Ids, counts: Ids, bits: int) -> None:
        self._bits = bits
        self._keys, self._counts = keys, counts
        once, twice = (counts == 1).sum(), (counts == 2).sum()
        self._discount = once / (once + 2 * twice) if once else 0.5
        self._contexts, place = np.unique(keys >> bits, return_inverse=True)
        self._totals = np.bincount(place, counts)
        self._kinds = np.bincount(place)

    def interpolated(self, grams: Ids, lower: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        place = np.searchsorted(self._contexts, grams >> self._bits)
        place = np.minimum(place, len(self._contexts) - 1)
        known = self._contexts[place] == grams >> self._bits
        at = np.minimum(np.searchsorted(self._keys, grams), len(self._keys) - 1)
        count = np.where(self._keys[at] == grams, self._counts[at], 0)
        total = self._totals[place]
        kept = np.maximum(count - self._discount, 0) / total
        spread = self._discount * self._kinds[place] / total
        return np.where(known, kept + spread * lower, lower)


def bits_per_byte(
    train: Sequence[Sequence[int]],
    test: Sequence[Sequence[int]],
    text: Sequence[str],
    vocabulary: int,
) -> float:
    """Of `text`, tokenized as `test`, under a model of `train`; a newline ends each sentence."""
    size = sum(len(line.encode("utf-8")) + 1 for line in text)
    likelihood = KneserNey(train, vocabulary).log2_likelihood(test)
    assert math.isfinite(likelihood)
    return -likelihood / size
