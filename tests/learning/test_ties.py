"""Where two are equal up to rounding, the order of additions decides nothing."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.worlds import learning

from pairpiece.learning.engine import Engine, compiled
from pairpiece.learning.oracle import Oracle
from pairpiece.learning.pairs import Pairs
from pairpiece.learning.pruning import keep_best


@dataclass
class Counted:
    """All that `keep_best` asks of an engine."""

    counts: list[float]

    def characters(self) -> int:
        return 0

    def piece_counts(self) -> list[float]:
        return self.counts


def kept(scores: list[float], size: int, largest: float) -> list[int]:
    engine = cast(Engine, Counted([1.0, largest]))
    return [int(flag) for flag in keep_best(engine, np.array(scores), size)]


# Those in the middle between two numbers of thirty binary digits, and others.
MIDDLES = st.integers(2**29, 2**30 - 1).map(lambda k: math.ldexp(k + 0.5, -30))
SCORES = MIDDLES | st.integers(-10_000, 10_000).map(lambda k: k / 1000) | st.just(-math.inf)


@settings(max_examples=1000, deadline=None)
@given(data=st.data())
def test_rounding_does_not_decide_which_pieces_are_kept(data: st.DataObject) -> None:
    values = data.draw(st.lists(SCORES, min_size=1, max_size=4))
    scores = data.draw(st.lists(st.sampled_from(values), min_size=1, max_size=8))
    largest = 2.0 ** data.draw(st.integers(-4, 20))
    size = data.draw(st.integers(0, len(scores)))
    expected = kept(scores, size, largest)
    noise = data.draw(st.lists(st.integers(-4, 4), min_size=len(scores), max_size=len(scores)))
    noisy = [score * (1 + n * 2.0**-52) for score, n in zip(scores, noise, strict=True)]
    for nearly in (math.nextafter(largest, 0), largest, math.nextafter(largest, math.inf)):
        assert kept(noisy, size, nearly) == expected


def test_equal_pieces_in_the_middle_between_two_numbers_stay_in_order() -> None:
    middle = 0.5 + 2.0**-31
    below, above = math.nextafter(middle, 0), math.nextafter(middle, 1)
    assert kept([below, above], 1, 1.0) == [1, 0]


def test_what_the_largest_count_is_up_to_rounding_does_not_decide() -> None:
    """Scores are compared to a trillionth of it, as a power of two."""
    scores = [0.0, 0.75 * 2.0**-38]
    assert kept(scores, 1, 4.0) == kept(scores, 1, math.nextafter(4.0, 0)) == [1, 0]


@pytest.mark.parametrize(("first", "second"), [(2.0, 1.0), (1.0 + 2.0**-20, 1.0), (0.0, -1e-9)])
def test_what_differs_by_more_is_kept_by_score(first: float, second: float) -> None:
    assert kept([second, first], 1, 4.0) == [0, 1]
    assert kept([first, second], 1, 4.0) == [1, 0]


COUNTS = st.integers(1, 9).map(lambda n: n / 10)


@settings(max_examples=1000, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.just(["S"]), st.text("ab", min_size=1, max_size=6), COUNTS),
        min_size=1,
        max_size=8,
    ),
    least=st.sampled_from([0.5, 1.0, 1.5, 2.0]),
)
def test_a_seed_that_occurs_just_often_enough_is_one(rows: list[Any], least: float) -> None:
    """Three times 0.1 may be more or less than 0.3."""
    world = Pairs.from_iterable(rows)
    options = dataclasses.replace(learning("default"), min_seed_count=least)
    assert compiled(world, options, [], threads=1).pieces() == Oracle(world, options).pieces()


def test_the_order_of_additions_does_not_decide_what_a_seed_is() -> None:
    rows = [(["S"], "ab", 0.1), (["S"], "abc", 0.7), (["S"], "abd", 0.2)]
    world = Pairs.from_iterable(rows)
    assert 0.7 + 0.2 + 0.1 < 1
    options = learning("default", min_seed_count=1.0)
    for engine in (compiled(world, options, [], threads=1), Oracle(world, options)):
        assert "ab" in engine.pieces()
