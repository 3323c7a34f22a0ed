"""The train command: what it says, what it keeps, and what becomes of its options."""

from __future__ import annotations

import re
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.command_line import (
    EARLIER,
    Training,
    begin_of_sample,
    call,
    complaint,
    quick,
    quick_corpus,
    run,
    start,
    stop_when,
    text,
    troubled,
)
from support.listener import STAGES

import pairpiece

pytestmark = pytest.mark.usefixtures("own_cache")


# ---------------------------------------------------------------------- the summary


def stage_rows(out: str) -> dict[str, str]:
    """The rows of the stage table, by stage."""
    rows = re.findall(r"^(\w+) +\d+\.\d +[\d,]+ MiB *(.*?) *$", out, re.MULTILINE)
    return dict(rows)


def test_the_summary_tells_what_was_read_aligned_and_learned(trained: Training) -> None:
    ended = trained.finished
    assert (ended.code, ended.err) == (0, "")
    assert re.search(r"^Read +400 sentence pairs$", ended.out, re.MULTILINE)
    assert re.search(
        r"^Aligned +[\d,]+ links; \d+% of [\d,]+ target words", ended.out, re.MULTILINE
    )
    assert re.search(r"^Learned +600 pieces from [\d,]+ different", ended.out, re.MULTILINE)
    assert list(stage_rows(ended.out)) == STAGES
    for name in ("source", "target", "links"):
        assert len(re.findall(rf"^  {name} +\S", ended.out, re.MULTILINE)) == 3
    assert f"Kept     results of the stages in {trained.cache}\n" in ended.out
    assert f"Model    {trained.model}\n" in ended.out
    assert f"pairpiece encode {trained.model} " in ended.out
    assert f"pairpiece inspect {trained.model}\n" in ended.out


def test_the_summary_counts_what_was_left_out(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ended = call(capfd, *quick_corpus(troubled(tmp_path), tmp_path / "model"))
    assert re.search(r"^Read +101 sentence pairs, of which 100 are used$", ended.out, re.MULTILINE)


def test_the_model_that_was_promised_is_there(trained: Training) -> None:
    loaded = pairpiece.load(trained.model)
    assert loaded.vocab_size == 600
    assert loaded.has_priors
    said = "Il gatto dorme."
    assert loaded.decode(loaded.encode(said, source="Le chat dort.")) == said


# ---------------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("assignment", "expected"),
    [
        ("smoothing=2.5", {"smoothing": 2.5}),
        ("max-piece-length=7", {"max_piece_length": 7}),
        ("pruning=frequency", {"pruning": "frequency"}),
        ("whole_sentence=true", {"whole_sentence": True}),
        ("length_penalty=[1,2,3.5]", {"length_penalty": {"over": 1, "under": 2, "unlinked": 3.5}}),
        (
            "paired_length_penalty=[4,8,4]",
            {"paired_length_penalty": {"over": 4, "under": 8, "unlinked": 4}},
        ),
    ],
)
def test_options_of_learning_can_be_set(
    assignment: str,
    expected: dict[str, Any],
    trained: Training,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    ended = call(capfd, *quick(trained, tmp_path, "--quiet", "--set", assignment))
    assert ended == (0, "", "")
    learning = pairpiece.load(tmp_path).provenance["learning"]
    assert {name: learning[name] for name in expected} == expected


def test_options_of_text_can_be_set(
    trained: Training, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    settings = [
        "byte_fallback=false",
        "pad_id=-1",
        "split_digits=true",
        'user_defined_symbols=["<x>","<y>"]',
    ]
    command = quick(trained, tmp_path, *(word for value in settings for word in ("--set", value)))
    assert call(capfd, *command).code == 0
    found = pairpiece.load(tmp_path).options
    assert (found.byte_fallback, found.pad_id) == (False, -1)
    assert found.split_digits is True
    assert found.user_defined_symbols == ("<x>", "<y>")


@pytest.mark.parametrize(
    ("assignment", "expected"),
    [
        ("smothing=2", "'smothing'; did you mean smoothing?"),
        ("xyzzy=2", "there is no option 'xyzzy'"),
        ("smoothing", "expected NAME=VALUE"),
        ("smoothing=-1", "--set smoothing must be between 1e-09 and 1e+09"),
        ("byte_fallback=maybe", "byte_fallback must be of type bool"),
        ("hard_vocab_limit=maybe", "hard_vocab_limit must be"),
        ("length_penalty=4", "expected length_penalty=[over,under,unlinked]"),
        ("length_penalty=[4,8]", "expected length_penalty=[over,under,unlinked]"),
        ('length_penalty=[4,8,"x"]', "length_penalty must be between"),
        ("vocab_size=500", "--vocab-size"),
        ("num_threads=2", "--threads"),
    ],
)
def test_options_that_cannot_be_set_are_explained(
    assignment: str,
    expected: str,
    trained: Training,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    ended = call(capfd, *quick(trained, tmp_path / "model", "--set", assignment))
    assert expected in complaint(ended)
    assert not (tmp_path / "model").exists()


# ---------------------------------------------------------------------- text from elsewhere


def test_text_can_come_from_standard_input(
    trained: Training, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = text(*(f"{source}\t{target}" for source, target in begin_of_sample(400)))
    made = call(capfd, *quick(trained, tmp_path / "files", "--quiet"))
    piped = ["train", "--corpus", "-", "--output", tmp_path / "piped", "--vocab-size", 600]
    piped += ["--align", "none", "--quiet"]
    assert call(capfd, *piped, stdin=rows.encode()) == made == (0, "", "")
    first, second = (pairpiece.load(tmp_path / name) for name in ("files", "piped"))
    assert first.get_vocab() == second.get_vocab()
    assert first.lexicon() == second.lexicon()


def test_mistakes_in_standard_input_are_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ended = call(capfd, *quick_corpus("-", tmp_path / "model"), stdin=b"a\tb\nc\n")
    assert complaint(ended).startswith("standard input:2: ")


# ---------------------------------------------------------------------- what is kept


def test_ctrl_c_is_exit_code_130_and_one_line(trained: Training) -> None:
    assert trained.interrupted == (130, "", "pairpiece: interrupted\n")
    assert trained.left_after_interruption == ["a.fr", "a.it", "cache"]


def test_the_next_run_goes_on_where_the_last_was_stopped(trained: Training) -> None:
    reused = [stage for stage, how in stage_rows(trained.finished.out).items() if how == EARLIER]
    assert reused == ["read", "source", "words"]


def aligners(folder: Path) -> list[str]:
    """The processes of the aligner that work in a folder or below it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            name = (process / "comm").read_text().strip()
            place = (process / "cwd").readlink()
        except OSError:  # it has ended meanwhile
            continue
        if name.startswith("eflomal") and place.is_relative_to(folder):
            found.append(name)
    return found


@pytest.mark.skipif(not Path("/proc/self/comm").exists(), reason="needs /proc")
def test_an_interrupted_run_leaves_nothing_of_the_aligner(
    trained: Training, tmp_path: Path
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = ["train", *trained.text, "--output", tmp_path / "model", "--vocab-size", 600]
    process = start(
        *command,
        cache=tmp_path / "cache",
        env={"TMPDIR": str(temporary)},
    )
    stopped = stop_when(process, lambda: "eflomal" in aligners(tmp_path))
    assert stopped == (130, "", "pairpiece: interrupted\n")
    while aligners(tmp_path):  # fails by not ending
        time.sleep(0.01)
    assert list(temporary.iterdir()) == []


def test_no_cache_keeps_nothing(trained: Training, tmp_path: Path) -> None:
    for name in ("cache", "temporary"):
        (tmp_path / name).mkdir()
    ended = run(
        *quick(trained, tmp_path / "model", "--no-cache"),
        cache=tmp_path / "cache",
        env={"TMPDIR": str(tmp_path / "temporary")},
    )
    assert ended.code == 0
    assert "Kept" not in ended.out
    assert list((tmp_path / "cache").iterdir()) == []
    assert list((tmp_path / "temporary").iterdir()) == []
    assert pairpiece.load(tmp_path / "model").vocab_size == 600


def test_results_are_kept_in_the_work_dir(
    trained: Training,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PAIRPIECE_CACHE", str(tmp_path / "cache"))
    command = quick(trained, tmp_path / "model", "--work-dir", tmp_path / "work")
    ended = call(capfd, *command)
    made = {path.name.partition("-")[0] for path in (tmp_path / "work").glob("[!.]*")}
    assert made == {"read", "source", "words", "pairs", "learn"}
    assert not (tmp_path / "cache").exists()
    assert f"results of the stages in {tmp_path / 'work'}\n" in ended.out
    assert set(stage_rows(ended.out).values()) == {""}
    assert set(stage_rows(call(capfd, *command).out).values()) == {EARLIER}


# ---------------------------------------------------------------------- the aligner


def test_a_missing_aligner_is_explained(
    trained: Training,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    monkeypatch.setattr(shutil, "which", lambda _: None)
    command = ["train", *trained.text, "--output", tmp_path / "model", "--no-cache"]
    said = complaint(call(capfd, *command, "--vocab-size", 600))
    assert "Eflomal" in said
    assert 'pip install "pairpiece[align]"' in said
    assert "--align none" in said
    assert not (tmp_path / "model").exists()


def test_a_tokenizer_of_another_tool_is_not_replaced(
    trained: Training, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    theirs = tmp_path / "model" / "tokenizer.json"
    theirs.parent.mkdir()
    theirs.write_text("{}")
    said = "there is a tokenizer of another tool in this folder; choose another"
    assert said in complaint(call(capfd, *quick(trained, theirs.parent)))
    with pytest.raises(pairpiece.OptionError, match="of another tool"):
        pairpiece.train(trained.source, trained.target, output=theirs.parent)
    assert [*theirs.parent.iterdir()] == [theirs]
    assert theirs.read_text() == "{}"
