"""One set of word links from the two directions of an aligner."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import TypeAlias

from pairpiece import _core

Link: TypeAlias = tuple[int, int]
"""(source word, target word), counted from 0."""


def grow_diag_final_and(forward: Set[Link], reverse: Set[Link]) -> list[Link]:
    """Koehn et al. (2003): grow the intersection along neighbours, then link words still free.

    >>> grow_diag_final_and({(0, 0), (1, 1), (1, 2)}, {(0, 0), (1, 1), (3, 3)})
    [(0, 0), (1, 1), (1, 2), (3, 3)]
    """
    return _core.grow_diag_final_and(forward, reverse)


SYMMETRIZATIONS: dict[str, Callable[[Set[Link], Set[Link]], list[Link]]] = {
    "grow-diag-final-and": grow_diag_final_and,
    "intersection": lambda forward, reverse: sorted(forward & reverse),
    "union": lambda forward, reverse: sorted(forward | reverse),
}
