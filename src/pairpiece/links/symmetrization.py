"""One set of word links from the two directions of an aligner."""

from __future__ import annotations

import heapq
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

    # Pass after pass over the links in order; one that is added ahead grows in the same pass.
    waiting = sorted(links)
    while waiting:
        later = []
        while waiting:
            here = heapq.heappop(waiting)
            for down, right in _NEIGHBOURS:
                link = (here[0] + down, here[1] + right)
                free = link[0] not in sources or link[1] not in targets
                if free and link in union and link not in links:
                    add(link)
                    if link > here:
                        heapq.heappush(waiting, link)
                    else:
                        later.append(link)
        waiting = sorted(later)
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
