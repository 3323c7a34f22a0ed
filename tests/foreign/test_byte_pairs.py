"""New pieces are taught to byte-pair encoding: each is found, and what was joined stays joined."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pairpiece.foreign.byte_pairs import PairMerges, TokenMerges, encoded, teach

LETTERS = "abc"
words = st.text(LETTERS, min_size=1, max_size=8)


def learned(text: list[str], rounds: int) -> list[tuple[str, str]]:
    """Merges as byte-pair encoding learns them: the most frequent pair, again and again."""
    merges: list[tuple[str, str]] = []
    for _ in range(rounds):
        rows = [encoded(word, PairMerges(merges)) for word in text]
        pairs = [pair for row in rows for pair in pairwise(row)]
        if not pairs:
            break
        merges.append(max(sorted(set(pairs)), key=pairs.count))
    return merges


@given(st.lists(words, max_size=6), st.lists(words, max_size=12), st.integers(0, 8))
def test_each_piece_is_one_token_and_joins_come_after_the_old_ones(
    text: list[str], pieces: list[str], rounds: int
) -> None:
    old = learned(text, rounds)
    known = [*LETTERS, *dict.fromkeys(map("".join, old))]
    merges = PairMerges(old)
    taught = teach(pieces, merges, known)
    assert merges.pairs()[: len(old)] == list(dict.fromkeys(old))
    assert not taught.unreached
    for piece in pieces:
        assert encoded(piece, merges) == [piece]
    assert {*taught.tokens} >= {*pieces} - {*known}
    assert not {*taught.tokens} & {*known}
    assert len({*taught.tokens}) == len(taught.tokens)
    assert {*taught.parts} == {*taught.tokens} - {*pieces}
    there = {*known, *taught.tokens}
    for a, b in merges.pairs():
        assert {a, b, a + b} <= there
    before = PairMerges(old)
    for word in text:  # old joins are joined still: tokens are those of before, or wholes of them
        ends = [0]
        for token in encoded(word, merges):
            ends.append(ends[-1] + len(token))
        old_ends = [0]
        for token in encoded(word, before):
            old_ends.append(old_ends[-1] + len(token))
        assert {*ends} <= {*old_ends}


@given(st.lists(words, max_size=12))
def test_scores_as_sentencepiece_has_them_join_pieces_too(pieces: list[str]) -> None:
    old = {"ab": 0.0, "abc": -1.0, **dict.fromkeys(LETTERS, -2.0)}
    merges = TokenMerges(old)
    taught = teach(pieces, merges, old)
    assert not taught.unreached
    for piece in pieces:
        assert encoded(piece, merges) == [piece]
    assert old.items() <= merges.scores.items()
    assert all(merges.scores[token] < -2.0 for token in taught.tokens)


def test_a_character_that_is_no_token_is_taught_first_and_one_that_is_no_piece_never() -> None:
    merges = PairMerges([])
    taught = teach(["ço", "ç", "ñ!"], merges, ["o", "!"])
    assert taught.tokens == ["ç", "ço"]
    assert taught.unreached == ["ñ!"]
    assert merges.pairs() == [("ç", "o")]


def test_parts_are_shared() -> None:
    merges = PairMerges([])
    taught = teach(["gatto", "gatti"], merges, "agtio")
    assert len(taught.parts) == 3  # ga, gat, gatt
