"""The penalty per piece with which there are as many tokens as wanted, or why there is none.

The larger the penalty, the fewer the tokens, so it is found by bisection (docs/algorithm.md,
section 7).
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Callable
from dataclasses import dataclass

from pairpiece.text.vocabulary import SCORES_PER_NAT

LOWEST, HIGHEST = -32, 32
"""In nats.  As far as anything changes on text that was measured: what the last of them cost in
alignment is little, and whoever turns the dial asks for it (docs/research-notes.md)."""

OVERWHELMING = 1000
"""In nats.  With such a penalty nothing but the number of pieces counts."""

TOLERANCE = 0.005
"""Of the tokens wanted: a larger difference is told."""

_STEPS = range(LOWEST * SCORES_PER_NAT, HIGHEST * SCORES_PER_NAT + 1)

TRIALS = len(_STEPS).bit_length() + 3
"""No search takes more: the bisection, both ends, and what lies beyond one."""

LIMITS = {
    "fewest": "the pieces cannot make fewer tokens of the text; a larger vocabulary can",
    "most": "the pieces cannot make more tokens of the text; a smaller vocabulary can",
    "penalty": f"penalties per piece end at {LOWEST} and {HIGHEST} nats",
    "step": f"the next penalty, 1/{SCORES_PER_NAT} nat less, makes too many; longer text has "
    f"smaller steps",
}
"""Why there may be other than as many tokens as wanted."""


@dataclass(frozen=True)
class Found:
    """A penalty, and what comes of it."""

    penalty: float  # in nats per piece
    tokens: float
    limit: str | None = None  # in `LIMITS`, where the tokens are not those wanted


def find_penalty(tokens: Callable[[float], float], wanted: float) -> Found:
    """The smallest penalty with which there are at most `wanted` tokens.

    If there cannot be so few, or so many, it is the one nearest to 0 with which there are as few,
    or as many, as can be.

    >>> find_penalty(lambda penalty: 100 if penalty < 1.5 else 95, 95)
    Found(penalty=1.5, tokens=95, limit=None)
    >>> find_penalty(lambda penalty: 100 if penalty < 1.5 else 95, 50)
    Found(penalty=1.5, tokens=95, limit='fewest')
    """

    @functools.cache
    def at(step: int) -> float:
        return tokens(step / SCORES_PER_NAT)

    def first(enough: Callable[[float], bool]) -> int:
        return _STEPS[0] + bisect.bisect_left(_STEPS, True, key=lambda step: enough(at(step)))

    fewest, most = at(_STEPS[-1]), at(_STEPS[0])
    if wanted <= fewest:
        step, found = max(0, first(lambda count: count <= fewest)), fewest
        limit = "fewest"
    elif wanted >= most:
        step, found = min(0, first(lambda count: count < most) - 1), most
        limit = "most"
    else:
        step = first(lambda count: count <= wanted)
        found, limit = at(step), "step"
    if abs(found - wanted) <= TOLERANCE * wanted:
        return Found(step / SCORES_PER_NAT, found)
    if (limit == "fewest" and tokens(OVERWHELMING) < found) or (
        limit == "most" and tokens(-OVERWHELMING) > found
    ):
        limit = "penalty"
    return Found(step / SCORES_PER_NAT, found, limit)
