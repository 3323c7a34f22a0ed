"""What a training says while it works: bars on a terminal, events in a log, or nothing."""

from __future__ import annotations

import json
import os
import pty
import re
from pathlib import Path
from typing import Any

import pytest
from support.command_line import (
    EARLIER,
    Ended,
    Training,
    call,
    complaint,
    quick,
    quick_corpus,
    start,
    troubled,
)
from support.listener import STAGES

import pairpiece

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")


pytestmark = pytest.mark.usefixtures("own_cache")


# ---------------------------------------------------------------------- terminals


def on_a_terminal(*arguments: object, cache: Path) -> tuple[Ended, str]:
    """A command whose standard error is a terminal, and what can be read there."""
    ours, theirs = pty.openpty()
    shown = b""
    environment = {"TERM": "xterm", "COLUMNS": "120"}
    with start(*arguments, cache=cache, stderr=theirs, env=environment) as process:
        os.close(theirs)
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # Linux: the other end is closed
                break
            if not part:
                break
            shown += part
        out, _ = process.communicate()
    os.close(ours)
    return Ended(process.returncode, out.decode(), ""), shown.decode()


def test_no_bars_and_no_colours_where_there_is_no_terminal(trained: Training) -> None:
    assert not CONTROL.search(trained.finished.out + trained.finished.err)


def test_bars_on_a_terminal(trained: Training, tmp_path: Path) -> None:
    command = quick(trained, tmp_path, "--set", "max_piece_length=9")
    ended, shown = on_a_terminal(*command, cache=trained.cache)
    assert ended.code == 0
    assert "learning the pieces" in shown
    assert "━" in shown
    assert "✓" in shown
    assert re.search(rf"read .*{EARLIER}", shown)
    assert re.search(r"learn .*\d\.\d s", shown)
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l"), "the cursor is gone"
    assert not CONTROL.search(ended.out)


def test_quiet_shows_no_bars_on_a_terminal(trained: Training, tmp_path: Path) -> None:
    ended, shown = on_a_terminal(*quick(trained, tmp_path, "--quiet"), cache=trained.cache)
    assert (ended.code, ended.out, shown) == (0, "", "")


def test_an_error_takes_the_bar_away(trained: Training, tmp_path: Path) -> None:
    (tmp_path / "bad.tsv").write_bytes(b"a\tb\n" * 5000 + b"\xff\n")
    command = quick_corpus(tmp_path / "bad.tsv", tmp_path / "model")
    ended, shown = on_a_terminal(*command, cache=trained.cache)
    assert (ended.code, ended.out) == (1, "")
    assert "reading the text" in shown
    assert "Traceback" not in shown
    after = shown[shown.rindex("\x1b[?25h") :]
    assert "\x1b[?25l" not in after
    assert f"pairpiece: {tmp_path / 'bad.tsv'}:5001: " in after


@pytest.mark.parametrize("option", ["--quiet", "-q"])
def test_quiet_says_nothing(
    option: str, trained: Training, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert call(capfd, *quick(trained, tmp_path, option)) == (0, "", "")
    assert pairpiece.load(tmp_path).vocab_size == 600


# ---------------------------------------------------------------------- logs


def events(ended: Ended) -> list[dict[str, Any]]:
    assert ended.out == ""
    assert ended.err.endswith("\n")
    return [json.loads(line) for line in ended.err.splitlines()]


def test_a_json_log_has_every_stage_and_a_summary(
    trained: Training, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    again = ["train", *trained.text, "--output", tmp_path, "--vocab-size", 600, "--keep-priors"]
    ended = call(capfd, *again, "--log-format", "json")
    assert ended.code == 0
    *log, summary = events(ended)
    assert [(event["event"], event["stage"]) for event in log if event["event"] != "progress"] == [
        (kind, stage) for stage in STAGES for kind in ("begin", "end")
    ]
    assert all(event["reused"] for event in log if event["event"] == "end")
    assert summary["event"] == "summary"
    assert summary["model"] == str(tmp_path)
    assert [stage["stage"] for stage in summary["stages"]] == STAGES
    assert summary["stages"][0]["used"] == 400
    assert summary["stages"][-1]["vocab_size"] == 600


def test_a_json_log_has_warnings(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    corpus = troubled(tmp_path)
    ended = call(capfd, *quick_corpus(corpus, tmp_path / "model", "--log-format", "json"))
    [message] = [event["message"] for event in events(ended) if event["event"] == "warning"]
    assert ended.code == 0
    assert "1 pair has an empty side" in message
    assert f"{corpus}:3" in message


def test_a_balance_is_reported_with_how_far_it_came(
    trained: Training, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ended = call(capfd, *quick(trained, tmp_path / "more", "--balance", 1.2))
    assert re.search(r"^Balanced 1\.2 asked for: 1\.\d+ target only, 1\.\d+ with ", ended.out, re.M)
    assert ended.err == ""
    few = quick(trained, tmp_path / "few", "--balance", 0.5)
    ended = call(capfd, *few)
    came_to = re.search(r"^Balanced 0\.5 asked for: (0\.\d+) target only", ended.out, re.M)
    assert came_to is not None
    told = f"target only: a balance of 0.5 was asked for and {came_to[1]} reached: "
    assert f"warning: {told}" in ended.err
    assert "the pieces cannot make fewer" in ended.err
    *log, summary = events(call(capfd, *few, "--log-format", "json"))
    assert any(e["event"] == "warning" and e["message"].startswith(told) for e in log)
    assert summary["stages"][-1]["target_only"]["limit"] == "fewest"


def test_a_json_log_ends_with_the_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    command = quick_corpus(troubled(tmp_path), tmp_path / "model", "--strict")
    ended = call(capfd, *command, "--log-format", "json")
    assert ended.code == 1
    assert events(ended)[-1]["event"] == "error"
    assert "empty side" in events(ended)[-1]["message"]


def test_a_model_that_cannot_be_written_is_an_error_of_the_log_too(
    trained: Training, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    ended = call(capfd, *quick(trained, tmp_path / "file", "--log-format", "json"))
    assert ended.code == 1
    assert events(ended)[-1]["event"] == "error"
    assert str(tmp_path / "file") in events(ended)[-1]["message"]


def test_all_events_have_a_time(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    command = quick_corpus(troubled(tmp_path), tmp_path / "model", "--strict")
    for event in events(call(capfd, *command, "--log-format", "json")):
        assert event["time"] > 1e9, event


def test_a_warning_names_the_first_case(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "it[fr] :cat:"
    folder.mkdir()
    corpus = troubled(folder)
    ended = call(capfd, *quick_corpus(corpus, folder / "model"))
    assert ended.code == 0
    assert ended.err.startswith("warning: 1 pair has an empty side")
    assert ended.err.endswith(f" {corpus}:3\n")
    assert f"Model    {folder / 'model'}\n" in ended.out


def test_strict_makes_a_warning_an_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    corpus = troubled(tmp_path)
    said = complaint(call(capfd, *quick_corpus(corpus, tmp_path / "model", "--strict")))
    assert "empty side" in said
    assert f"{corpus}:3" in said
    assert "--strict" in said
    assert not (tmp_path / "model").exists()
