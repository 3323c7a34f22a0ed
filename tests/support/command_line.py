"""Commands, run in a process of their own or in this one; and a model that they have trained."""

from __future__ import annotations

import functools
import io
import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest

from pairpiece import files
from pairpiece.commands import main
from pairpiece.corpus import sample

_TERMINAL = ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")

EARLIER = "from an earlier run"


class Ended(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


def start(*arguments: object, cache: Path, **how: Any) -> subprocess.Popen[bytes]:
    """Begin a command in a process of its own; `env` adds to this environment."""
    inherited = {name: value for name, value in os.environ.items() if name not in _TERMINAL}
    environment = {**inherited, "PAIRPIECE_CACHE": str(cache), **how.pop("env", {})}
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = [sys.executable, "-m", "pairpiece", *map(str, arguments)]
    return subprocess.Popen(command, env=environment, **{**streams, **how})


def run(*arguments: object, cache: Path, **how: Any) -> Ended:
    """Run a command in a process of its own."""
    with start(*arguments, cache=cache, **how) as process:
        out, err = process.communicate()
    return Ended(process.returncode, (out or b"").decode(), (err or b"").decode())


def call(capfd: pytest.CaptureFixture[str], *arguments: object, stdin: bytes = b"") -> Ended:
    """Run a command in this process."""
    capfd.readouterr()
    try:
        with mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin))):
            code: Any = main([str(argument) for argument in arguments])
    except SystemExit as stopped:
        code = stopped.code
    return Ended(code, *capfd.readouterr())


def said(capfd: pytest.CaptureFixture[str], *arguments: object, stdin: bytes = b"") -> str:
    """What a command that has nothing to complain about prints."""
    ended = call(capfd, *arguments, stdin=stdin)
    assert (ended.code, ended.err) == (0, "")
    return ended.out


def complaint(ended: Ended) -> str:
    """The message of a command that failed as it should: one line, and nothing else."""
    assert ended.code == 1
    assert ended.out == ""
    assert ended.err.startswith("pairpiece: ")
    assert ended.err.endswith("\n")
    assert ended.err.count("\n") == 1
    return ended.err.removeprefix("pairpiece: ").removesuffix("\n")


def text(*lines: str) -> str:
    return "".join(line + "\n" for line in lines)


def begin_of_sample(size: int) -> list[tuple[str, str]]:
    both = zip(files.lines(sample.FRENCH), files.lines(sample.ITALIAN), strict=True)
    return list(itertools.islice(both, size))


def stop_when(process: subprocess.Popen[bytes], ready: Callable[[], object]) -> Ended:
    """Interrupt a command when it has come so far."""
    with process:
        while process.poll() is None and not ready():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    return Ended(process.returncode, out.decode(), err.decode())


@dataclass(frozen=True)
class Training:
    """A training that was interrupted while it aligned, and started again."""

    source: Path
    target: Path
    cache: Path
    model: Path
    interrupted: Ended
    left_after_interruption: list[str]
    finished: Ended

    @property
    def text(self) -> list[object]:
        """The arguments that name its text."""
        return ["--source", self.source, "--target", self.target]


@functools.cache
def training(base: Path) -> Training:
    """Made once, in a folder of what all tests have for temporary files."""
    folder = base / "training"
    folder.mkdir()
    source, target, cache, model = (folder / name for name in ("a.fr", "a.it", "cache", "model"))
    for path, lines in zip((source, target), zip(*begin_of_sample(400), strict=True), strict=True):
        path.write_text(text(*lines), encoding="utf-8")
    command = ["train", "--source", source, "--target", target, "--output", model]
    command += ["--vocab-size", "600", "--keep-priors"]
    process = start(*command, cache=cache)
    interrupted = stop_when(process, lambda: list(cache.glob(".align-*/random")))
    left = sorted(path.name for path in folder.iterdir())
    finished = run(*command, cache=cache)
    return Training(source, target, cache, model, interrupted, left, finished)


def quick(trained: Training, model: Path, *options: object) -> list[object]:
    """Arguments of a training that need not wait for the aligner."""
    size = ["--vocab-size", 600, "--align", "none"]
    return ["train", *trained.text, "--output", model, *size, *options]


def troubled(folder: Path) -> Path:
    """Text with an empty side in line 3."""
    rows = [f"{source}\t{target}" for source, target in begin_of_sample(100)]
    path = folder / "troubled.tsv"
    path.write_text(text(*rows[:2], "vide\t", *rows[2:]), encoding="utf-8")
    return path


def quick_corpus(corpus: object, model: Path, *options: object) -> list[object]:
    size = ["--vocab-size", 450, "--align", "none"]
    return ["train", "--corpus", corpus, "--output", model, *size, *options]
