"""Random tiny worlds: a handful of pairs over a handful of characters and source tokens."""

from __future__ import annotations

import dataclasses
from typing import Any

from hypothesis import strategies as st

from pairpiece.learning.options import LearningOptions, options_for
from pairpiece.learning.pairs import Pairs
from pairpiece.options import LengthPenalty

WORDS = st.text(alphabet=" abc", min_size=1, max_size=7)
SOURCES = st.lists(st.sampled_from(["S1", "S2", "S3"]), max_size=3)
# Irregular counts, so that pieces are hardly ever tied.
COUNTS = st.floats(0.5, 9.0).map(lambda x: round(x, 3))


@st.composite
def pairs(draw: st.DrawFn, aligned: bool = False) -> Pairs:
    rows: list[Any] = []
    for _ in range(draw(st.integers(1, 6))):
        source = draw(SOURCES)
        if aligned and not source:
            source = ["S1"]
        expected = draw(st.sampled_from([None, 0.5, 1.0, 2.5]))
        rows.append((source, draw(WORDS), draw(COUNTS), expected))
    return Pairs.from_iterable(rows)


def learning(mode: str, **changes: Any) -> LearningOptions:
    _, options = options_for(mode, {})
    return dataclasses.replace(options, **changes)


PENALTIES = st.sampled_from(
    [LengthPenalty(), LengthPenalty(4, 8, 4), LengthPenalty(1.5, 0.5, 0.25)]
)
