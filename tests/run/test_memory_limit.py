"""A limit on memory that cannot be kept ends a run as early as anybody can know."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command_line import begin_of_sample, call, complaint
from support.listener import Listener

import pairpiece

pytestmark = pytest.mark.usefixtures("no_fsync", "cache")

PAIRS = begin_of_sample(100)


def begun(limit: int, **options: object) -> tuple[str, set[str]]:
    """What a run with a limit complains about, and the stages it has done by then."""
    listener = Listener()
    how = {"vocab_size": 500, "memory_limit": limit, "reporter": listener, **options}
    with pytest.raises(pairpiece.MemoryLimitError) as caught:
        pairpiece.train(corpus=PAIRS, **how)  # type: ignore[arg-type]
    return str(caught.value), set(listener.reused)


@pytest.mark.parametrize("limit", [0, 1000, 20_000])
def test_what_is_too_little_for_any_text_is_told_before_anything_is_done(limit: int) -> None:
    said, done = begun(limit)
    assert said.startswith("learning 240 pieces takes ")
    assert "lower vocab_size" in said
    assert not done


@pytest.mark.parametrize("mode", ["default", "unigram"])
def test_what_is_too_little_for_the_words_is_told_before_they_are_aligned(mode: str) -> None:
    said, done = begun(200_000, mode=mode)
    assert said.startswith("collecting the seeds may need ")
    assert "words" in done
    assert "align" not in done


def test_a_limit_that_is_kept_changes_nothing() -> None:
    how = {"vocab_size": 500, "align": "none", "hard_vocab_limit": False}
    limited = pairpiece.train(corpus=PAIRS, memory_limit=2**30, **how)  # type: ignore[arg-type]
    assert limited.get_vocab() == pairpiece.train(corpus=PAIRS, **how).get_vocab()  # type: ignore[arg-type]


def test_it_is_told_at_the_command_line_too(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("source", "target"):
        (tmp_path / name).write_text("uno\n", encoding="utf-8")
    text = ["--source", tmp_path / "source", "--target", tmp_path / "target"]
    command = ["train", *text, "-o", tmp_path / "new", "--align", "none"]
    said = complaint(call(capfd, *command, "--set", "memory_limit=0"))
    assert said.endswith("but --set memory_limit is 0.0 MiB: raise it, or lower --vocab-size")
