"""One set of word links from the two directions of an aligner."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import TypeAlias

Link: TypeAlias = tuple[int, int]
"""(source word, target word), counted from 0."""

_NEIGHBOURS = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]


def grow_diag_final_and(forward: Set[Link], reverse: Set[Link]) -> list[Link]:
    """Koehn et al. (2003): grow the intersection along neighbours, then link words still free.

    >>> grow_diag_final_and({(0, 0), (1, 1), (1, 2)}, {(0, 0), (1, 1), (3, 3)})
    [(0, 0), (1, 1), (1, 2), (3, 3)]
    """
    union = forward | reverse
    links = set(forward & reverse)
    if len(union) == len(links):
        return sorted(links)
    sources = {source for source, _ in links}
    targets = {target for _, target in links}

    def add(link: Link) -> None:
        links.add(link)
        sources.add(link[0])
        targets.add(link[1])

    frontier = sorted(links)
    while frontier:
        grown = []
        for source, target in frontier:
            for down, right in _NEIGHBOURS:
                link = (source + down, target + right)
                free = link[0] not in sources or link[1] not in targets
                if free and link in union and link not in links:
                    add(link)
                    grown.append(link)
        frontier = sorted(grown)
    for direction in (forward, reverse):
        for link in sorted(direction):
            if link[0] not in sources and link[1] not in targets:
                add(link)
    return sorted(links)


SYMMETRIZATIONS: dict[str, Callable[[Set[Link], Set[Link]], list[Link]]] = {
    "grow-diag-final-and": grow_diag_final_and,
    "intersection": lambda forward, reverse: sorted(forward & reverse),
    "union": lambda forward, reverse: sorted(forward | reverse),
}
