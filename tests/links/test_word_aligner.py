"""Eflomal aligns every sentence, the same way each time, and says what is wrong if it cannot."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pairpiece
from pairpiece.links.eflomal import MAX_WORDS, Eflomal, for_aligner
from pairpiece.links.pharaoh import links_between_words, parse_links, read_links
from pairpiece.links.symmetrization import Link, grow_diag_final_and

Sentence = tuple[list[str], list[str], set[Link]]


def toy_text(size: int = 200) -> list[Sentence]:
    """Sentences of a language whose words are those of another, two of them exchanged."""
    draw = random.Random(1)
    sentences = []
    for _ in range(size):
        words = [draw.randrange(60) for _ in range(draw.randint(3, 9))]
        order = list(range(len(words)))
        place = draw.randrange(len(words) - 1)
        order[place], order[place + 1] = order[place + 1], order[place]
        gold = {(source, target) for target, source in enumerate(order)}
        sentences.append(([f"s{i}" for i in words], [f"t{words[i]}" for i in order], gold))
    return sentences


TOY = toy_text()
ODD: list[Sentence] = [
    ([], ["t1"], set()),
    (["s1"], [], set()),
    ([], [], set()),
    (["s1"] * (MAX_WORDS + 77), ["t1"] * 3, set()),
    (["s1"] * 3, ["t1"] * (MAX_WORDS + 1), set()),
    (["s2", "été", "😀"], ["t2", "estate", "😀"], set()),
]


def aligned(
    folder: Path, sentences: list[Sentence], *, priors: Path | None = None, **how: int
) -> tuple[bytes, bytes]:
    """The bytes of both directions."""
    folder.mkdir()
    for side, name in enumerate(("source.words", "target.words")):
        lines = "".join(for_aligner(sentence[side]) + "\n" for sentence in sentences)
        (folder / name).write_text(lines, encoding="utf-8")
    threads = how.pop("num_threads", 2)
    Eflomal(**how).align(folder, num_threads=threads, priors=priors)
    return (folder / "forward.links").read_bytes(), (folder / "reverse.links").read_bytes()


def correct(folder: Path, sentences: list[Sentence]) -> float:
    """Which part of the links is right."""
    both = zip(
        *(read_links(folder / f"{name}.links") for name in ("forward", "reverse")), strict=True
    )
    found = [set(grow_diag_final_and(set(ahead), set(back))) for ahead, back in both]
    right = sum(len(links & gold) for links, (_, _, gold) in zip(found, sentences, strict=True))
    return right / sum(map(len, found))


# ---------------------------------------------------------------------- links


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy text, aligned, with odd sentences at its end."""
    place = tmp_path_factory.mktemp("aligned") / "default"
    aligned(place, TOY + ODD)
    return place


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_every_sentence_has_a_line_with_links_inside_it(folder: Path, direction: str) -> None:
    found = list(read_links(folder / f"{direction}.links"))
    for links, (source, target, _) in zip(found, TOY + ODD, strict=True):
        assert all(s < len(source) and t < len(target) for s, t in links)
    assert all(found[: len(TOY)])
    assert found[len(TOY) : len(TOY) + 5] == [[]] * 5, "empty or too long"


def test_most_links_of_a_toy_language_are_right(tmp_path: Path) -> None:
    aligned(tmp_path / "toy", TOY)
    assert correct(tmp_path / "toy", TOY) > 0.9


@pytest.mark.parametrize("samplers", [1, 3])
def test_the_same_seed_gives_the_same_links_for_any_number_of_threads(
    samplers: int, tmp_path: Path
) -> None:
    results = [
        aligned(tmp_path / str(threads), TOY, num_threads=threads, samplers=samplers, seed=5)
        for threads in (1, 2, 4)
    ]
    assert results[0] == results[1] == results[2]


def test_other_seeds_give_other_links(tmp_path: Path) -> None:
    seeds = (0, 1, -1, 2**40)
    results = {aligned(tmp_path / str(seed), TOY, seed=seed) for seed in seeds}
    assert len(results) == len(seeds)


def test_priors_are_made_and_help_with_little_text(folder: Path, tmp_path: Path) -> None:
    priors = Eflomal.make_priors(folder)
    assert "LEX\ts1\tt1\t" in priors.read_text(encoding="utf-8")
    few = TOY[:3]
    aligned(tmp_path / "without", few)
    aligned(tmp_path / "with", few, priors=priors)
    assert correct(tmp_path / "with", few) > max(0.9, correct(tmp_path / "without", few))


def test_progress_goes_forward_to_the_end(tmp_path: Path) -> None:
    aligned(tmp_path / "words", TOY)
    told: list[tuple[int, int]] = []
    Eflomal().align(tmp_path / "words", advance=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1] > 0


def test_nothing_but_the_links_is_left(folder: Path) -> None:
    names = {path.name for path in folder.iterdir()} - {"priors"}
    assert names == {"source.words", "target.words", "forward.links", "reverse.links"}


def test_the_length_is_a_number_of_iterations(tmp_path: Path) -> None:
    aligned(tmp_path / "words", TOY)
    totals: list[int] = []
    for length in (0.5, 1, 2):
        Eflomal(length=length).align(
            tmp_path / "words", advance=lambda _, total: totals.append(total)
        )
    assert len(set(totals)) == 3
    assert totals == sorted(totals)


@pytest.mark.parametrize("length", [0, -1, 101, float("nan"), True, "1"])
def test_the_length_is_within_limits(length: object) -> None:
    with pytest.raises(pairpiece.OptionError, match="aligner_length"):
        Eflomal(length=length)  # type: ignore[arg-type]


@pytest.mark.parametrize("samplers", [0, 65, 1.0, True, "1"])
def test_samplers_are_a_small_number(samplers: object) -> None:
    with pytest.raises(pairpiece.OptionError, match="samplers"):
        Eflomal(samplers)  # type: ignore[arg-type]


# ---------------------------------------------------------------------- failures


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder where programs are looked for."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", str(folder))
    return folder


def fake(programs: Path, script: str, mode: int = 0o755) -> None:
    path = programs / "eflomal-align"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(mode)


def error_of(call: Callable[[], object]) -> str:
    with pytest.raises(pairpiece.AlignerError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("priors", [False, True])
def test_a_missing_aligner_comes_with_a_way_out(
    priors: bool, programs: Path, tmp_path: Path
) -> None:
    del programs
    message = error_of(
        (lambda: Eflomal.make_priors(tmp_path))
        if priors
        else lambda: aligned(tmp_path / "x", TOY[:5])
    )
    assert "not installed" in message
    assert 'pip install "pairpiece[align]"' in message
    assert "--align" not in message, "not all who align have such an option"


def test_an_aligner_that_is_found_on_the_path_is_used(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(programs, "echo from the path >&2; exit 3")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "elsewhere" / "python"))
    assert "from the path" in error_of(lambda: aligned(tmp_path / "x", TOY[:5]))


WRITE = ": > forward.links; : > reverse.links"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo something is wrong >&2; exit 3", ["exit code 3", "something is wrong"]),
        ("exit 1", ["exit code 1", "said: nothing"]),
        ("printf 'bad \\377 byte' >&2; exit 2", ["exit code 2", "bad", "byte"]),
        ("kill -9 $$", ["exit code -9", "memory", "max_lines"]),
        (WRITE, ["0 of 5 sentences", "memory"]),
        ("echo 0-0 > forward.links; echo 0-0 > reverse.links", ["1 of 5 sentences"]),
        ("exit 0", ["sentences"]),  # and no file at all
    ],
)
def test_an_aligner_that_fails_is_quoted(
    script: str, said: list[str], programs: Path, tmp_path: Path
) -> None:
    fake(programs, script)
    message = error_of(lambda: aligned(tmp_path / "x", TOY[:5]))
    assert [words for words in said if words not in message] == []


def test_only_the_end_of_a_long_complaint_is_quoted(programs: Path, tmp_path: Path) -> None:
    fake(programs, 'i=0; while [ $i -lt 99 ]; do i=$((i+1)); echo "line $i." >&2; done; exit 1')
    message = error_of(lambda: aligned(tmp_path / "x", TOY[:5]))
    assert "line 99." in message
    assert "line 9." not in message


def test_a_program_that_cannot_be_run_is_reported(programs: Path, tmp_path: Path) -> None:
    fake(programs, "exit 0", mode=0o644)
    message = error_of(lambda: aligned(tmp_path / "x", TOY[:5]))
    assert "cannot be run" in message
    assert "pairpiece[align]" in message


def test_the_program_is_ended_when_the_listener_raises(programs: Path, tmp_path: Path) -> None:
    process = tmp_path / "pid"
    begun = "Aligning with model 1 (4 iterations)"
    # `exec` keeps the number; it would run for an hour if nobody ended it.
    fake(programs, f"echo $$ > {process}; echo '{begun}' >&2; echo Done: >&2; exec /bin/sleep 3600")

    def interrupt(done: int, total: int) -> None:
        del done, total
        raise KeyboardInterrupt

    (tmp_path / "source.words").write_text("a\n")
    with pytest.raises(KeyboardInterrupt):
        Eflomal().align(tmp_path, advance=interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(int(process.read_text()), 0)


# ---------------------------------------------------------------------- lines


@pytest.mark.parametrize(
    ("line", "links"),
    [
        ("", []),
        ("  ", []),
        ("0-0 1-2", [(0, 0), (1, 2)]),
        (" 10-3\t007-1 ", [(10, 3), (7, 1)]),
        ("999999999-0", [(999999999, 0)]),
    ],
)
def test_links_are_read(line: str, links: list[Link]) -> None:
    assert parse_links(line, "x:1") == links


@pytest.mark.parametrize(
    "link",
    ["0", "-", "0-", "-0", "0--1", "-1-0", "0-1-2", "a-b", "0.5-1", "0:1", "²-0", "٣-0", "0-1,"],
)
def test_what_is_no_link_is_refused_with_its_place(link: str) -> None:
    with pytest.raises(pairpiece.AlignerError, match=r"x:7: .* is not a link") as caught:
        parse_links(f"0-0 {link} 1-1", "x:7")
    assert repr(link) in str(caught.value)


def test_huge_word_numbers_are_refused() -> None:
    with pytest.raises(pairpiece.AlignerError, match="x:7: there is no word number 1000000000"):
        parse_links("0-1000000000", "x:7")


def test_a_file_of_links_names_the_line_of_a_bad_one(tmp_path: Path) -> None:
    path = tmp_path / "links"
    path.write_text("0-0 1-1\n\n0-x\n")
    lines = read_links(path)
    assert [next(lines), next(lines)] == [[(0, 0), (1, 1)], []]
    with pytest.raises(pairpiece.AlignerError, match=r"links:3: '0-x'"):
        next(lines)


WORDS = st.text(
    st.sampled_from("▁ \u00a0\u2028\x1c\x85\r\n\tab_é😀") | st.characters(exclude_categories=["Cs"])
)


@given(st.lists(WORDS))
def test_no_word_is_lost_or_added_for_the_aligner(words: list[str]) -> None:
    line = for_aligner(words)
    assert len(line.split()) == len(line.split(" ") if words else []) == len(words)
    assert "\n" not in line
    assert len(line.splitlines()) == bool(words)


def test_words_look_the_same_to_the_aligner_wherever_they_stand() -> None:
    assert for_aligner(["le", "▁le", "▁▁", "▁", "a▁b"]) == "le le _ _ a▁b"


@pytest.mark.parametrize(
    ("source", "target", "links", "expected"),
    [
        (["a", "▁b"], ["x", "▁y"], [(0, 1), (1, 0)], [(0, 1), (1, 0)]),
        (["a", "'", "b"], ["x", "-", "y"], [(0, 0)], [(0, 0), (1, 1), (2, 2)]),
        (["a", "'", "b", "▁c"], ["x"], [(0, 0), (1, 0)], [(0, 0), (1, 0), (2, 0), (3, 0)]),
        (["▁", "▁a", "▁", "▁b"], ["x"], [(1, 0)], [(3, 0)]),
        (["▁a", "▁b"], ["▁x"], [(1, 0)], [(1, 0)]),
        ([], [], [], []),
    ],
)
def test_links_between_spaces_become_links_between_words(
    source: list[str],
    target: list[str],
    links: list[tuple[int, int]],
    expected: list[tuple[int, int]],
) -> None:
    assert links_between_words(links, source, target) == expected
