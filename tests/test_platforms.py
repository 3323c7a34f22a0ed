"""The commands run where the modules and functions of POSIX systems are missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import Training, begin_of_sample, text

from pairpiece import commands
from pairpiece.run import memory

ABSENT_MODULES = ("curses", "fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")
"""That Python has not on Windows."""

ABSENT_FUNCTIONS = (
    *("chown", "fork", "forkpty", "getegid", "geteuid", "getgid", "getloadavg", "getpgid"),
    *("getpriority", "getuid", "killpg", "lchown", "mkfifo", "nice", "pathconf"),
    *("posix_fadvise", "sched_getaffinity", "sched_setaffinity", "sendfile", "setpgid", "setsid"),
    *("statvfs", "sync", "sysconf", "uname", "wait", "wait3", "wait4"),
)
"""That Python's `os` has not on Windows; those that its own subprocess needs here are left."""

ABSENT_SIGNALS = ("SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGUSR1", "SIGUSR2")

PROGRAM = """
import sys
modules, functions, signals, calls = __import__("json").loads(sys.argv[1])
for name in modules:
    sys.modules[name] = None
import os, signal, subprocess, numpy, sentencepiece  # which ask what system this is
for module, names in (os, functions), (signal, signals):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
from pairpiece.commands import main
for call in calls:
    try:
        code = main(call)
    except SystemExit as ended:
        code = ended.code
    if code:
        sys.exit(f"{call}: {code}")
"""


def elsewhere(
    *calls: list[object], cache: Path, modules: tuple[str, ...] = (), windows: bool = False
) -> str:
    """What commands print, one after the other, in a Python that lacks something."""
    lacks = [modules, ABSENT_FUNCTIONS if windows else (), ABSENT_SIGNALS if windows else ()]
    said = json.dumps([*lacks, [list(map(str, call)) for call in calls]])
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, said],
        env={**os.environ, "PAIRPIECE_CACHE": str(cache)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr.decode()
    return ended.stdout.decode()


@pytest.fixture(params=[False, True], ids=["modules", "functions too"])
def windows(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_these_are_modules_that_could_be_imported() -> None:
    assert "resource" in sys.modules, "else the tests below would hold for nothing"
    assert memory.resource is not None


def test_every_command_shows_its_help(windows: bool, tmp_path: Path) -> None:
    calls: list[list[object]] = [["--help"], *([name, "--help"] for name in commands._COMMANDS)]
    printed = elsewhere(*calls, cache=tmp_path, modules=ABSENT_MODULES, windows=windows)
    for name in commands._COMMANDS:
        assert f"usage: pairpiece {name}" in printed


def test_a_model_is_used(trained: Training, windows: bool, tmp_path: Path) -> None:
    model, ids, lines = trained.model, tmp_path / "ids", begin_of_sample(3)
    for name, side in zip(("fr", "it"), zip(*lines, strict=True), strict=True):
        (tmp_path / name).write_text(text(*side), encoding="utf-8")
    both = ["-i", tmp_path / "it", "--source", tmp_path / "fr"]
    printed = elsewhere(
        ["encode", model, *both, "-o", ids],
        ["decode", model, "-i", ids],
        ["align", model, *both, "-o", tmp_path / "links"],
        ["inspect", model, "--piece", "di"],
        ["export", model, "--to", "sentencepiece", "-o", tmp_path / "it.model"],
        ["export", model, "--to", "hf", "-o", tmp_path / "hf"],
        ["evaluate", "--target", tmp_path / "it", "--tokenizer", model, "--no-align"],
        cache=tmp_path,
        modules=ABSENT_MODULES,
        windows=windows,
    )
    assert printed.splitlines()[:3] == [target for _, target in lines]
    assert "p(s|t)" in printed
    assert "fertility" in printed
    assert len((tmp_path / "links").read_text().splitlines()) == 3
    assert (tmp_path / "it.model").stat().st_size > 1000
    assert (tmp_path / "hf" / "tokenizer.json").is_file()


def test_a_tokenizer_is_learned(trained: Training, windows: bool, tmp_path: Path) -> None:
    command = ["train", *trained.text, "--vocab-size", 600, "--align", "none"]
    printed = elsewhere(
        [*command, "--output", tmp_path / "model"],
        [*command, "--output", tmp_path / "again"],
        cache=tmp_path / "cache",
        modules=ABSENT_MODULES,
        windows=windows,
    )
    assert printed.count("from an earlier run") == 5
    assert (tmp_path / "model" / "pairpiece.json").is_file()


def test_memory_that_nobody_can_measure_is_not_made_up(
    trained: Training,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(memory, "resource", None)
    monkeypatch.setattr(memory, "_SELF", tmp_path / "no such folder")
    assert memory.peak_bytes() is None
    command = ["train", *trained.text, "--vocab-size", 600, "--align", "none", "--no-cache"]
    assert commands.main([*map(str, command), "--output", str(tmp_path / "model")]) == 0
    printed = capfd.readouterr().out
    assert [line.split()[2] for line in printed.splitlines() if line.startswith("learn ")] == ["–"]
    assert "MiB" not in printed
