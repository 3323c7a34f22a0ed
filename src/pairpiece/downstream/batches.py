"""Batches: which lines a model learns from, and in which order, the same for every tokenizer.

Lines of about the same length in bytes share a batch, so that little is padding.  Bytes rather than
tokens, because tokens would make the batches of each tokenizer different ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

_POOL = 50
"""Batches whose lines are sorted by length together."""


class Batches:
    """Batches of line numbers without end, in an order that depends on the seed alone."""

    def __init__(self, sizes: npt.NDArray[np.int64], batch: int, seed: int) -> None:
        self._sizes = sizes
        self._batch = batch
        self._seed = seed
        self._epoch = -1
        self._of_epoch: list[npt.NDArray[np.int64]] = []

    def __getitem__(self, i: int) -> npt.NDArray[np.int64]:
        """The lines of batch `i`; every line occurs once in as many batches as it takes."""
        epoch, place = divmod(i, -(-len(self._sizes) // self._batch))
        if epoch != self._epoch:
            self._of_epoch = self._shuffled(epoch)
            self._epoch = epoch
        return self._of_epoch[place]

    def _shuffled(self, epoch: int) -> list[npt.NDArray[np.int64]]:
        random = np.random.default_rng([self._seed, epoch])
        lines = random.permutation(len(self._sizes))
        size = _POOL * self._batch
        batches: list[npt.NDArray[np.int64]] = []
        for start in range(0, len(lines), size):
            pool = lines[start : start + size]
            pool = pool[np.argsort(self._sizes[pool], kind="stable")]
            batches += [pool[k : k + self._batch] for k in range(0, len(pool), self._batch)]
        return [batches[k] for k in random.permutation(len(batches))]


def of_similar_length(lengths: Sequence[int], at_once: int) -> Iterator[npt.NDArray[np.int64]]:
    """All numbers of a list, in groups that take up to `at_once` places when they are padded.

    >>> [group.tolist() for group in of_similar_length([3, 1, 5, 3], 6)]
    [[1, 0], [3], [2]]
    """
    order = np.argsort(np.array(lengths, np.int64), kind="stable")
    start = 0
    for i, number in enumerate(order):
        if i > start and (i + 1 - start) * lengths[number] > at_once:
            yield order[start:i]
            start = i
    if len(order):
        yield order[start:]
