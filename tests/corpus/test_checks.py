"""What is wrong with a corpus is counted, what is useless left out, and a sample is fair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import pytest

from pairpiece.corpus.checks import MAX_CHARACTERS, MAX_RATIO, SHORT, Checks, sample
from pairpiece.corpus.reading import SentencePair
from pairpiece.errors import CorpusError

Row = tuple[str, str]

GOOD = [("Oui.", "Sì."), ("Non.", "No."), ("Le chat mange.", "Il gatto mangia.")]


def pairs(rows: Iterable[Row]) -> Iterator[SentencePair]:
    for line, (source, target) in enumerate(rows, 1):
        yield SentencePair(source, target, f"f:{line}")


def check(rows: Iterable[Row]) -> tuple[list[Row], dict[str, tuple[int, str]]]:
    """The pairs that are left, and the count and first place of everything found."""
    checks = Checks()
    kept = [(pair.source, pair.target) for pair in checks.passing(pairs(rows))]
    assert len(kept) == checks.kept
    return kept, {kind: (found.count, found.first) for kind, found in checks.findings.items()}


def test_good_pairs_go_by_without_a_finding() -> None:
    assert check(GOOD) == (GOOD, {})


@pytest.mark.parametrize(
    ("kind", "bad"),
    [
        ("empty", ("", "b")),
        ("empty", ("a", "")),
        ("empty", ("", "")),
        ("empty", ("a", " \t\u00a0\r\n")),
        ("empty", ("", "b" * (MAX_CHARACTERS + 1))),
        ("ratio", ("a", "b" * (SHORT + 1))),
        ("ratio", ("a" * (10 * MAX_RATIO + 1), "b" * 10)),
        ("long", ("a" * (MAX_CHARACTERS + 1), "b" * MAX_CHARACTERS)),
        ("long", ("a", "b" * (MAX_CHARACTERS + 1))),
    ],
)
def test_useless_pairs_are_left_out_and_counted(kind: str, bad: Row) -> None:
    kept, found = check([GOOD[0], bad, GOOD[1], bad, bad])
    assert kept == GOOD[:2]
    assert found == {kind: (3, "f:2")}


@pytest.mark.parametrize(
    "row",
    [
        ("a", "b" * SHORT),
        ("a" * (10 * MAX_RATIO), "b" * 10),
        ("b" * 10, "a" * (10 * MAX_RATIO)),
        ("a" * MAX_CHARACTERS, "b" * MAX_CHARACTERS),
        ("😀" * MAX_CHARACTERS, "b" * MAX_CHARACTERS),
    ],
)
def test_pairs_at_the_limits_are_kept(row: Row) -> None:
    assert check([row]) == ([row], {})


def test_duplicates_are_counted_but_kept() -> None:
    rows = [GOOD[0], GOOD[1], GOOD[0], GOOD[0], GOOD[1]]
    assert check(rows) == (rows, {"duplicate": (3, "f:3")})


def test_only_the_same_two_sides_are_a_duplicate() -> None:
    rows = [("a", "b"), ("a", "c"), ("c", "b"), ("b", "a"), ("ab", "c"), ("a", "bc")]
    assert check(rows) == (rows, {})


def test_texts_that_differ_in_outer_spaces_are_duplicates() -> None:
    assert check([("a", "b"), (" a", "b\n")]) == ([("a", "b")] * 2, {"duplicate": (1, "f:2")})


def test_pairs_that_are_left_out_are_no_duplicates() -> None:
    assert check([("a", ""), ("a", ""), GOOD[0]]) == (GOOD[:1], {"empty": (2, "f:1")})


def test_every_kind_of_trouble_is_found_on_its_own() -> None:
    rows = [*GOOD, ("a", ""), ("a", "b" * 100), ("a" * 6000, "b" * 6000), GOOD[2], ("", "b")]
    assert check(rows) == (
        [*GOOD, GOOD[2]],
        {"empty": (2, "f:4"), "ratio": (1, "f:5"), "long": (1, "f:6"), "duplicate": (1, "f:7")},
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb", "a b"),
        ("a\r\nb\r\n\r\nc", "a b c"),
        ("\n a\rb \n", "a b"),
        ("a  b\tc", "a  b\tc"),
    ],
)
def test_newlines_inside_a_text_become_spaces(text: str, expected: str) -> None:
    assert check([(text, "x"), ("y", text)]) == ([(expected, "x"), ("y", expected)], {})


def test_pairs_keep_their_place_and_their_number_in_the_corpus() -> None:
    checks = Checks()
    kept = list(checks.passing(pairs([("", "x"), GOOD[0], ("", "y"), GOOD[1]])))
    assert kept == [(*GOOD[0], "f:2", 1), (*GOOD[1], "f:4", 3)]
    assert (checks.read, checks.kept) == (4, 2)


def test_pairs_go_by_one_at_a_time() -> None:
    checks = Checks()
    passing = checks.passing(pairs(iter(lambda: GOOD[0], None)))  # endless
    assert next(passing)[:2] == next(passing)[:2] == GOOD[0]
    assert checks.read == 2


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "^there are no sentence pairs to learn from$"),
        ([("", "b")], "learn from; 1 pair has an empty side .*; the first is f:1$"),
        (
            [("", "b"), ("a", "b" * 100), ("a", "")],
            "; 2 pairs have an empty side .* f:1; 1 pair has sides whose lengths .* f:2$",
        ),
    ],
)
def test_a_corpus_with_nothing_left_is_refused(rows: list[Row], message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        check(rows)


@pytest.mark.parametrize(
    ("rows", "kind", "text"),
    [
        ([("a", "")], "empty", "1 pair has an empty side (left out); the first is f:2"),
        ([GOOD[0]] * 1200, "duplicate", "1,200 pairs have the same text as an earlier pair (kept)"),
        ([("a", "b" * 99)] * 2, "ratio", "2 pairs have sides whose lengths differ more than 9"),
        ([("a" * 9000, "b" * 9000)], "long", "1 pair has a side of more than 5,000 characters"),
    ],
)
def test_findings_are_sentences(rows: list[Row], kind: str, text: str) -> None:
    checks = Checks()
    list(checks.passing(pairs([GOOD[0], *rows])))
    assert str(checks.findings[kind]).startswith(text)


# ---------------------------------------------------------------------- samples


def drawn(length: int, size: int, seed: int) -> list[int]:
    rows = ((str(i), "x") for i in range(length))
    return [int(pair.source) for pair in sample(pairs(rows), size, seed)]


@pytest.mark.parametrize("size", [0, 1, 10, 99])
def test_a_sample_has_its_size_and_the_order_of_the_corpus(size: int) -> None:
    found = drawn(100, size, seed=1)
    assert len(found) == size
    assert found == sorted(set(found))


@pytest.mark.parametrize("size", [5, 6, 1000])
def test_a_sample_of_all_is_all(size: int) -> None:
    assert drawn(5, size, seed=1) == [0, 1, 2, 3, 4]


def test_a_sample_of_nothing_is_empty() -> None:
    assert drawn(0, 5, seed=1) == []


def test_the_same_seed_draws_the_same_sample() -> None:
    assert drawn(1000, 50, seed=7) == drawn(1000, 50, seed=7)


def test_another_seed_draws_another_sample() -> None:
    assert len({tuple(drawn(1000, 50, seed)) for seed in range(20)}) == 20


def test_every_pair_is_drawn_about_equally_often() -> None:
    length, size, draws = 20, 5, 4000
    counts = Counter(place for seed in range(draws) for place in drawn(length, size, seed))
    expected = draws * size / length  # 1000, with a standard deviation of 27
    assert len(counts) == length
    assert all(abs(count - expected) < 140 for count in counts.values()), counts


def test_pairs_are_drawn_independently_of_each_other() -> None:
    length, size, draws = 6, 2, 6000
    counts = Counter(tuple(drawn(length, size, seed)) for seed in range(draws))
    assert len(counts) == 15
    assert all(abs(count - draws / 15) < 100 for count in counts.values()), counts


def test_equal_pairs_are_drawn_as_often_as_they_occur() -> None:
    same = [SentencePair("a", "b", "f:1")] * 10
    assert sample(same, 4, seed=1) == same[:4]


def test_spaces_at_the_ends_of_targets_are_told() -> None:
    texts = ["Sì.", "Sì. ", " Sì.", "Sì.\r\n", "Sì.\u3000"]
    pairs = [SentencePair("Oui.", text, f"a:{i}") for i, text in enumerate(texts, 1)]
    checks = Checks(tell_spaces=True)
    assert [pair.target for pair in checks.passing(pairs)] == ["Sì."] * 5
    finding = checks.findings["spaces"]
    assert (finding.count, finding.first) == (3, "a:2")
    assert "remove_extra_spaces" in str(finding)
    usual = Checks()
    assert list(usual.passing(pairs))
    assert "spaces" not in usual.findings
