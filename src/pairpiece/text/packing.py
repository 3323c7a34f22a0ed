"""Lists of strings as two arrays: their UTF-8 bytes, and where each begins."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def packed(
    strings: Sequence[str],
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint64]]:
    """The bytes of all strings, and where each begins, with the end of the last."""
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    begin = np.cumsum([0, *map(len, encoded)], dtype=np.uint64)
    return np.frombuffer(b"".join(encoded), np.uint8), begin


def unpacked(content: npt.NDArray[Any], begin: npt.NDArray[Any]) -> list[str]:
    """The strings again; raises ``ValueError`` where the arrays do not fit each other.

    >>> unpacked(*packed(["sì", "", "no"]))
    ['sì', '', 'no']
    """
    bounds = begin.tolist()
    raw = content.tobytes()
    if not bounds or bounds[0] != 0 or bounds[-1] != len(raw) or sorted(bounds) != bounds:
        raise ValueError("the strings are inconsistent")
    return [
        raw[first:last].decode("utf-8", "surrogatepass")
        for first, last in itertools.pairwise(bounds)
    ]
