"""One set of links from two: grow-diag-final-and is what its definition says."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pairpiece.links.symmetrization import SYMMETRIZATIONS, Link, grow_diag_final_and

Links = set[Link]

SIZE = 7  # words of a sentence


def links_of(picture: str) -> tuple[Links, Links]:
    """Two directions from a picture: f, r, or b for both; rows are source words."""
    forward: Links = set()
    reverse: Links = set()
    for source, row in enumerate(picture.split()):
        for target, mark in enumerate(row):
            if mark in "fb":
                forward.add((source, target))
            if mark in "rb":
                reverse.add((source, target))
    return forward, reverse


BESIDE = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]


def grown_by_definition(forward: Links, reverse: Links) -> list[Link]:
    """The published pseudo-code, over the whole matrix of words, as slow as it is plain."""
    union = forward | reverse
    links = forward & reverse
    matrix = [(source, target) for source in range(SIZE) for target in range(SIZE)]

    def free(word: int, side: int) -> bool:
        return all(link[side] != word for link in links)

    before = -1
    while before < len(links):  # until no new points are added
        before = len(links)
        for source, target in matrix:
            if (source, target) not in links:
                continue
            for down, right in BESIDE:
                point = (source + down, target + right)
                if point in union and (free(point[0], 0) or free(point[1], 1)):
                    links.add(point)
    for direction in (forward, reverse):
        for point in matrix:
            if point in direction and free(point[0], 0) and free(point[1], 1):
                links.add(point)
    return sorted(links)


WORD = st.integers(0, SIZE - 1)
SENTENCE_LINKS = st.sets(st.tuples(WORD, WORD), max_size=16)


@given(SENTENCE_LINKS, SENTENCE_LINKS)
@example({(0, 1), (1, 0), (1, 2)}, {(0, 0), (1, 2), (2, 1)})  # (2, 1) grows in the same round
def test_it_does_what_its_definition_says(forward: Links, reverse: Links) -> None:
    assert grow_diag_final_and(forward, reverse) == grown_by_definition(forward, reverse)


@given(SENTENCE_LINKS, SENTENCE_LINKS)
def test_it_lies_between_intersection_and_union(forward: Links, reverse: Links) -> None:
    found = set(grow_diag_final_and(forward, reverse))
    assert forward & reverse <= found <= forward | reverse


@given(SENTENCE_LINKS, SENTENCE_LINKS)
def test_no_link_between_two_free_words_is_left_over(forward: Links, reverse: Links) -> None:
    found = grow_diag_final_and(forward, reverse)
    sources, targets = {source for source, _ in found}, {target for _, target in found}
    left = (forward | reverse) - set(found)
    assert all(source in sources or target in targets for source, target in left)


@given(SENTENCE_LINKS)
@pytest.mark.parametrize("name", SYMMETRIZATIONS)
def test_two_equal_directions_stay_as_they_are(name: str, links: Links) -> None:
    assert SYMMETRIZATIONS[name](links, links) == sorted(links)


@given(SENTENCE_LINKS, SENTENCE_LINKS)
@pytest.mark.parametrize("name", SYMMETRIZATIONS)
def test_links_are_sorted_and_distinct_and_the_input_is_left_alone(
    name: str, forward: Links, reverse: Links
) -> None:
    before = set(forward), set(reverse)
    found = SYMMETRIZATIONS[name](forward, reverse)
    assert found == sorted(set(found))
    assert (forward, reverse) == before


@pytest.mark.parametrize(
    ("picture", "expected"),
    [
        ("... ...", []),
        ("b.. .b. ..b", [(0, 0), (1, 1), (2, 2)]),
        ("b.. .f. ..r", [(0, 0), (1, 1), (2, 2)]),  # along the diagonal, from one to the next
        ("bf", [(0, 0), (0, 1)]),  # a neighbour with a free target word
        ("b r", [(0, 0), (1, 0)]),  # a neighbour with a free source word
        ("bf rb", [(0, 0), (1, 1)]),  # neighbours without a free word
        ("b.f", [(0, 0)]),  # no neighbour, and only one of its words is free
        ("b.. ... ..f", [(0, 0), (2, 2)]),  # far away, but both words are free
        ("f. .r", [(0, 0), (1, 1)]),  # nothing to grow from
        ("f.r", [(0, 0)]),  # the forward direction comes first
        ("f. r.", [(0, 0)]),
        ("b..r ...f", [(0, 0), (1, 3)]),  # (0, 3) shares a word with what is there
    ],
)
def test_known_pictures(picture: str, expected: list[Link]) -> None:
    assert grow_diag_final_and(*links_of(picture)) == expected


def test_intersection_and_union_are_what_they_are_called() -> None:
    forward, reverse = links_of("bf r.")
    assert SYMMETRIZATIONS["intersection"](forward, reverse) == [(0, 0)]
    assert SYMMETRIZATIONS["union"](forward, reverse) == [(0, 0), (0, 1), (1, 0)]
