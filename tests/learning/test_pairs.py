"""Pairs: merging, counts, what is refused, and making them from alignments."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.french_italian import PAIRS, SENTENCES

import pairpiece
from pairpiece import Pair, PairError, Pairs, pairs_from_links, pairs_from_sentence

Row = tuple[str, tuple[str, ...], float, float]


def rows(pairs: Pairs) -> list[Row]:
    """(word, source tokens, expected length, count) of every pair."""
    return [
        (word, tuple(pairs.source_tokens[i] for i in ids), expected, count)
        for word, ids, expected, count in pairs.rows()
    ]


def same(first: Pairs, second: Pairs) -> bool:
    return all(
        np.array_equal(getattr(first, name), getattr(second, name))
        for name in Pairs.__dataclass_fields__
    )


# ---------------------------------------------------------------------- merging


def test_identical_pairs_are_merged() -> None:
    pairs = Pairs.from_iterable(
        [(["b", "a"], "w"), (["a", "b"], "w", 2.5), (("a", "b"), "w", 1, 2), (["a"], "w")]
    )
    assert rows(pairs) == [("w", ("a",), 1.0, 1.0), ("w", ("a", "b"), 2.0, 4.5)]
    assert len(pairs) == 2
    assert pairs.total == 5.5


def test_pairs_that_differ_in_anything_are_kept_apart() -> None:
    pairs = Pairs.from_iterable(
        [
            (["a"], "w"),
            (["a"], "v"),
            (["b"], "w"),
            (["a"], "w", 1, 2.0),
            ([], "w"),
            (["a", "a"], "w"),
        ]
    )
    assert len(pairs) == 6
    assert pairs.words == ["v", "w"]


def test_the_source_side_is_a_multiset() -> None:
    pairs = Pairs.from_iterable([(["b", "a", "b"], "w"), (["b", "b", "a"], "w"), (["a", "b"], "w")])
    assert rows(pairs) == [("w", ("a", "b"), 2.0, 1.0), ("w", ("a", "b", "b"), 3.0, 2.0)]
    assert pairs.source.tolist() == [1, 2, 1, 2]
    assert pairs.multiplicity.tolist() == [1, 1, 1, 2]


PAIR_LISTS = st.lists(
    st.tuples(
        st.lists(st.sampled_from("ABC"), max_size=3),
        st.text("xy▁ ", min_size=1, max_size=3),
        st.integers(1, 9),
        st.sampled_from([None, 0.5, 1.0, 2.0]),
    ),
    max_size=12,
)


@given(PAIR_LISTS, st.randoms())
def test_the_order_leaves_no_trace(pairs: list[Any], chance: random.Random) -> None:
    shuffled = [(chance.sample(source, len(source)), *rest) for source, *rest in pairs]
    chance.shuffle(shuffled)
    assert same(Pairs.from_iterable(pairs), Pairs.from_iterable(shuffled))


@given(PAIR_LISTS)
def test_a_count_is_that_many_repetitions(pairs: list[Any]) -> None:
    repeated = [(source, word, 1, m) for source, word, n, m in pairs for _ in range(n)]
    assert same(Pairs.from_iterable(pairs), Pairs.from_iterable(repeated))


@given(PAIR_LISTS)
def test_nothing_is_lost(pairs: list[Any]) -> None:
    expected: Counter[tuple[str, tuple[str, ...], float]] = Counter()
    for source, word, count, length in pairs:
        tokens = tuple(sorted(source)) or ("",)
        expected[word, tokens, 0.0 if not source else length or len(source)] += count
    made = Pairs.from_iterable(pairs)
    assert {row[:3]: row[3] for row in rows(made)} == dict(expected)
    assert made.total == sum(n for _, _, n, _ in pairs)
    assert made.words == sorted({word for _, word, _, _ in pairs})
    assert made.source_tokens[0] == ""


@settings(deadline=None, max_examples=20)
@given(st.randoms())
def test_training_does_not_see_the_order(chance: random.Random) -> None:
    shuffled = list(PAIRS)
    chance.shuffle(shuffled)
    trained = pairpiece.train_from_pairs(shuffled, 400)
    again = pairpiece.train_from_pairs(sorted(PAIRS), 400)
    assert trained.get_vocab() == again.get_vocab()
    assert [trained.score(i) for i in range(400)] == [again.score(i) for i in range(400)]
    assert trained.lexicon() == again.lexicon()


def test_generators_are_read_once() -> None:
    def generate() -> Iterator[tuple[list[str], str, int]]:
        yield from PAIRS

    assert same(Pairs.from_iterable(generate()), Pairs.from_iterable(PAIRS))
    trained = pairpiece.train_from_pairs(generate(), 400)
    assert trained.get_vocab() == pairpiece.train_from_pairs(PAIRS, 400).get_vocab()


def test_a_source_may_be_any_iterable_of_strings() -> None:
    class Token(str):
        """Some tokenizers have classes of their own."""

    expected = Pairs.from_iterable([(["a", "b"], "w")])
    for source in (
        ("a", "b"),
        {"a", "b"},
        iter(["a", "b"]),
        [Token("a"), "b"],
        np.array(["a", "b"]),
    ):
        assert same(Pairs.from_iterable([(source, "w")]), expected)
    assert same(Pairs.from_iterable([Pair(["a", "b"], "w")]), expected)
    assert same(Pairs.from_iterable([[["a", "b"], "w"]]), expected)


def test_marker_and_space_are_the_same_to_training() -> None:
    spaces = [(source, word.replace("▁", " "), n) for source, word, n in PAIRS]
    trained = pairpiece.train_from_pairs(spaces, 400)
    assert trained.get_vocab() == pairpiece.train_from_pairs(PAIRS, 400).get_vocab()


# ---------------------------------------------------------------------- counts and lengths


def test_the_expected_length_is_the_number_of_source_tokens() -> None:
    pairs = Pairs.from_iterable(
        [(["a", "b", "b"], "w"), (["a"], "v", 1, None), (["a"], "x", 1, 2.5)]
    )
    assert {word: expected for word, _, expected, _ in pairs.rows()} == {"w": 3, "v": 1, "x": 2.5}


def test_unaligned_words_have_no_expected_length() -> None:
    pairs = Pairs.from_iterable([([], "w"), ([], "w", 2, 7.0), ([], "w", 1, 0.0)])
    assert rows(pairs) == [("w", ("",), 0.0, 4.0)]


def test_counts_may_be_fractions_and_large() -> None:
    pairs = Pairs.from_iterable([(["a"], "w", 0.25), (["a"], "w", 1e-9), (["b"], "w", 1e15)])
    assert pairs.total == pytest.approx(1e15 + 0.25)
    assert pairpiece.train_from_pairs(pairs, hard_vocab_limit=False).encode("w", out_type=str) == [
        "w"
    ]


def test_counts_may_be_of_any_numeric_type() -> None:
    pairs = Pairs.from_iterable(
        [(["a"], "w", np.int64(2)), (["a"], "w", np.float32(0.5)), (["a"], "w", True)]
    )
    assert pairs.total == 3.5


def test_aligned_and_without_source() -> None:
    pairs = Pairs.from_iterable([(["a"], "w", 2), ([], "w"), (["b"], "v"), ([], "u")])
    assert rows(pairs.aligned()) == [("v", ("b",), 1.0, 1.0), ("w", ("a",), 1.0, 2.0)]
    alone = pairs.without_source()
    assert rows(alone) == [("u", ("",), 0, 1), ("v", ("",), 0, 1), ("w", ("",), 0, 3)]
    assert alone.source_tokens == [""]
    assert alone.total == pairs.total


def test_with_words_merges_and_drops() -> None:
    pairs = Pairs.from_iterable([(["a"], "x", 2), (["a"], "y", 3), (["a"], "z", 4)])
    assert rows(pairs.with_words([["q"], ["q"], []])) == [("q", ("a",), 1.0, 5.0)]


def test_words_in_the_place_of_one_share_its_expected_length() -> None:
    pairs = Pairs.from_iterable([(["a", "b"], "▁114", 3), (["a"], "z", 4)])
    assert pairs.words == ["z", "▁114"]
    assert rows(pairs.with_words([["z"], ["▁", "1", "1", "4"]])) == [
        ("1", ("a", "b"), 0.5, 6.0),
        ("4", ("a", "b"), 0.5, 3.0),
        ("z", ("a",), 1.0, 4.0),
        ("▁", ("a", "b"), 0.5, 3.0),
    ]


def test_normalisation_merges_words() -> None:
    spelled = [(["a"], "▁caffe\u0301", 3), (["a"], "▁caffè", 2), (["a"], "▁caffé", 2)]
    tokenizer = pairpiece.train_from_pairs(spelled, 280, hard_vocab_limit=False)
    assert tokenizer.provenance["pairs"] == 2
    assert tokenizer.provenance["examples"] == 7


# ---------------------------------------------------------------------- what is refused

MALFORMED: list[tuple[Any, str]] = [
    ((), "expected"),
    ((["a"],), "expected"),
    ((["a"], "w", 1, 1, 1), "expected"),
    (None, "expected"),
    (3, "expected"),
    ("ab", "list of tokens"),
    (("a", "w"), "list of tokens"),
    ((None, "w"), "expected"),
    ((3, "w"), "expected"),
    ((["a", 3], "w"), "pair 2"),
    (([3], "w"), "source tokens"),
    (([None], "w"), "source tokens"),
    (([b"a"], "w"), "source tokens"),
    (([["a"]], "w"), "source tokens"),
    (([""], "w"), "source tokens"),
    ((["a", ""], "w"), "source tokens"),
    ((["a"], ""), "target word"),
    ((["a"], None), "target word"),
    ((["a"], 3), "target word"),
    ((["a"], b"w"), "target word"),
    ((["a"], ["w"]), "target word"),
    ((["a"], "w", 0), "count must be positive"),
    ((["a"], "w", -1), "count must be positive"),
    ((["a"], "w", math.nan), "count must be positive"),
    ((["a"], "w", math.inf), "count must be positive"),
    ((["a"], "w", 10**400), "count"),
    ((["a"], "w", "x"), "must be numbers"),
    ((["a"], "w", None), "must be numbers"),
    ((["a"], "w", [1]), "must be numbers"),
    ((["a"], "w", 1, 0), "expected length"),
    ((["a"], "w", 1, -1.0), "expected length"),
    ((["a"], "w", 1, math.nan), "expected length"),
    ((["a"], "w", 1, math.inf), "expected length"),
    ((["a"], "w", 1, 10**400), "expected length"),
    ((["a"], "w", 1, "x"), "must be numbers"),
    ({"source": ["a"], "target": "w"}, "pair 2"),
    ({"a", "w"}, "pair 2"),
]


# Not by the order of a set: all processes that run tests must call them alike.
NAMES = [repr(sorted(p) if isinstance(p, set) else p)[:40] for p, _ in MALFORMED]


@pytest.mark.parametrize(("pair", "message"), MALFORMED, ids=NAMES)
def test_malformed_pairs_are_refused_with_their_position(pair: Any, message: str) -> None:
    good = (["a"], "w")
    for call in (Pairs.from_iterable, pairpiece.train_from_pairs):
        with pytest.raises(PairError, match="pair 2: ") as caught:
            call([good, good, pair, good])
        assert message in str(caught.value)
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value, pairpiece.PairPieceError)


def test_an_error_of_a_generator_is_passed_on() -> None:
    def broken() -> Iterator[tuple[list[str], str]]:
        yield ["a"], "w"
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        pairpiece.train_from_pairs(broken())


@pytest.mark.parametrize("mode", ["default", "paper", "paper-hard", "unigram"])
def test_nothing_to_learn_from_is_refused(mode: str) -> None:
    assert len(Pairs.from_iterable([])) == 0
    assert Pairs.from_iterable([]).total == 0
    for nothing in ([], iter([]), Pairs.from_iterable([])):
        with pytest.raises(PairError, match=r"no .*pairs to learn from"):
            pairpiece.train_from_pairs(nothing, mode=mode)


def test_only_unaligned_pairs() -> None:
    unaligned = [([], word, count) for _, word, count in PAIRS]
    for mode in ("paper", "paper-hard"):
        with pytest.raises(PairError, match="aligned"):
            pairpiece.train_from_pairs(unaligned, 400, mode)
    for mode in ("default", "unigram"):
        tokenizer = pairpiece.train_from_pairs(unaligned, 400, mode)
        assert tokenizer.decode(tokenizer.encode("il gatto")) == "il gatto"
    paired = pairpiece.train_from_pairs(unaligned, 400)
    assert paired.decode(paired.encode("il gatto", source=["▁le", "▁chat"])) == "il gatto"
    assert paired.align(["▁le"], "il gatto").links == []


def test_only_symbols_leave_nothing_to_learn_from() -> None:
    with pytest.raises(PairError, match=r"no .*pairs to learn from"):
        pairpiece.train_from_pairs([(["a"], "<x>")], 300, user_defined_symbols=["<x>"])


# ---------------------------------------------------------------------- ids


def test_ids_are_names_in_other_words() -> None:
    source_tokens = ["x", "▁la", "▁da"]
    words = ["▁la", "casa"]
    made = Pairs.from_ids(
        [[1], [1, 2, 2], []],
        [0, 1, 1],
        source_tokens=source_tokens,
        words=words,
        count=[2, 3, 1],
        expected_length=[1, 1.5, 9],
    )
    named = [(["▁la"], "▁la", 2), (["▁la", "▁da", "▁da"], "casa", 3, 1.5), ([], "casa")]
    assert same(made, Pairs.from_iterable(named))


def test_ids_may_be_arrays() -> None:
    plain = Pairs.from_ids([[0], [0, 1]], [0, 0], source_tokens=["a", "b"], words=["w"])
    arrays = Pairs.from_ids(
        [np.array([0], np.uint16), np.array([1, 0], np.int64)],
        np.zeros(2, np.int32),
        source_tokens=["a", "b"],
        words=["w"],
        count=np.ones(2, np.float32),
        expected_length=np.array([1, 2]),
    )
    assert same(plain, arrays)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": [[0], [2]]}, "pair 1: .*out of range"),
        ({"source": [[-1], [0]]}, "pair 0: .*out of range"),
        ({"target": [0, 1]}, "pair 1: .*out of range"),
        ({"target": [-1, 0]}, "pair 0: .*out of range"),
        ({"source": [[0]]}, "2 targets but 1 .*source"),
        ({"target": [0]}, "1 targets but 2 .*source"),
        ({"count": [1]}, "2 targets but 1 .*count"),
        ({"count": [1, 0]}, "pair 1: the count"),
        ({"count": [1, "x"]}, "pair 1: "),
        ({"expected_length": [1, 2, 3]}, "2 targets but 3 .*expected_length"),
        ({"expected_length": [0, 1]}, "pair 0: the expected length"),
        ({"source": [["a"], [0]]}, "pair 0: "),
        ({"source": [None, [0]]}, "pair 0: "),
        ({"source": [0, 1]}, "pair 0: "),
        ({"source": [[0.5], [0]]}, "pair 0: "),
        ({"target": [0.5, 0]}, "pair 0: "),
        ({"target": ["w", "w"]}, "pair 0: "),
    ],
)
def test_wrong_ids_are_refused(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {
        "source": [[0], [1]],
        "target": [0, 0],
        "source_tokens": ["a", "b"],
        "words": ["w"],
    }
    with pytest.raises(PairError, match=message):
        Pairs.from_ids(**{**arguments, **changes})


# ---------------------------------------------------------------------- links

SOURCE = [["▁sou", "ris"], ["▁grise"], ["▁!"]]
TARGET = ["▁topo", "▁grigio", "!"]


def test_a_word_gets_the_tokens_of_all_words_it_is_linked_to() -> None:
    made = list(pairs_from_links(SOURCE, TARGET, [(1, 0), (0, 0), (2, 2)]))
    assert made == [
        Pair(("▁sou", "ris", "▁grise"), "▁topo", 1.0, 3.0),
        Pair((), "▁grigio", 1.0, 0),
        Pair(("▁!",), "!", 1.0, 1.0),
    ]


def test_a_shared_word_counts_for_a_part() -> None:
    made = list(pairs_from_links(SOURCE, TARGET, [(0, 0), (0, 1), (0, 2), (1, 1)]))
    assert [pair.expected_length for pair in made] == pytest.approx([2 / 3, 2 / 3 + 1, 2 / 3])
    assert sum(pair.expected_length or 0 for pair in made) == pytest.approx(3)
    assert [len(pair.source) for pair in made] == [2, 3, 2]


def test_per_link_makes_a_pair_of_each() -> None:
    links = [(1, 0), (0, 0), (0, 2), (0, 2)]
    assert list(pairs_from_links(SOURCE, TARGET, links, per_link=True)) == [
        Pair(("▁sou", "ris"), "▁topo", 1.0, 2.0),
        Pair(("▁grise",), "▁topo", 1.0, 1.0),
        Pair(("▁sou", "ris"), "!", 1.0, 2.0),
    ]


def test_links_may_be_given_twice_and_in_any_order() -> None:
    links = [(0, 0), (1, 1), (2, 2), (0, 1)]
    expected = list(pairs_from_links(SOURCE, TARGET, links))
    assert list(pairs_from_links(SOURCE, TARGET, [*reversed(links), *links])) == expected
    assert list(pairs_from_links(SOURCE, TARGET, iter(links))) == expected
    assert list(pairs_from_links(SOURCE, TARGET, map(list, links))) == expected


def test_no_links_make_unaligned_words() -> None:
    assert [pair.source for pair in pairs_from_links(SOURCE, TARGET, [])] == [(), (), ()]
    assert list(pairs_from_links(SOURCE, TARGET, [], per_link=True)) == []
    assert list(pairs_from_links([], [], [])) == []
    assert len(Pairs.from_iterable(pairs_from_links(SOURCE, TARGET, []))) == 3


@pytest.mark.parametrize("link", [(3, 0), (0, 3), (-1, 0), (0, -1), (10**9, 10**9)])
def test_links_to_nowhere_are_refused(link: tuple[int, int]) -> None:
    for per_link in (False, True):
        with pytest.raises(PairError, match=f"links {link[0]}-{link[1]} .*3 source and 3 target"):
            list(pairs_from_links(SOURCE, TARGET, [(0, 0), link], per_link=per_link))


@pytest.mark.parametrize("link", ["0-0", (0,), (0, 0, 0), None, 3, ("0", "0"), (0.5, 0), (None, 0)])
def test_links_that_are_not_pairs_of_numbers_are_refused(link: Any) -> None:
    with pytest.raises(PairError, match="link"):
        list(pairs_from_links(SOURCE, TARGET, [link]))


def test_the_pairs_of_sentences_can_be_learned_from() -> None:
    made = [
        pair
        for source, target, links in SENTENCES
        for pair in pairs_from_links(source, pairpiece.split_words(target), links)
    ]
    assert len(made) == sum(len(pairpiece.split_words(target)) for _, target, _ in SENTENCES)
    tokenizer = pairpiece.train_from_pairs(made, 330)
    assert "▁gatto" in tokenizer.encode("Il gatto", out_type=str, source=[["Le"], ["▁chat"]])


def test_a_sentence_without_links_pairs_everything() -> None:
    made = list(pairs_from_sentence(["a", "b", "c"], ["v", "w"]))
    assert [tuple(pair.source) for pair in made] == [("a", "b", "c")] * 2
    assert [pair.expected_length for pair in made] == [1.5, 1.5]
    assert [pair.target for pair in made] == ["v", "w"]
    assert list(pairs_from_sentence(["a"], [])) == []
    assert rows(Pairs.from_iterable(pairs_from_sentence([], ["w"]))) == [("w", ("",), 0.0, 1.0)]
