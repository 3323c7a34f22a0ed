"""Targets attacked in processes of their own, and what came of it."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from attacks.core_seeds import SEEDS
from attacks.worker import HEADER

HERE = Path(__file__).parents[1]
_PATIENCE = 600  # seconds for a process that does not even use its processor
_MOST_DEATHS = 20
_UNCAUGHT = 1  # what Python exits with
_TIMEOUT = 70  # and libFuzzer


@dataclass(frozen=True)
class Outcome:
    """How many inputs a target has had, and what it should not have done with them."""

    target: str
    inputs: int = 0
    crashes: int = 0
    hangs: int = 0
    exceptions: int = 0  # that are no PairPieceError, or broken promises
    memory: int = field(default=0, compare=False)  # MiB it has grown by; in C++ all of it
    slowest: float = field(default=0.0, compare=False)  # seconds of an input; in C++ whole ones

    @property
    def is_good(self) -> bool:
        """Whether nothing was found."""
        return self.crashes == self.hangs == self.exceptions == 0


def attack_python(
    name: str,
    findings: Path,
    *,
    seed: int = 0,
    inputs: int | None = None,
    seconds: float = 1e9,
    worker: Sequence[object] = ("-m", "attacks.worker"),
) -> Outcome:
    """Attack a target in Python for so many inputs or seconds, whichever end first."""
    folder = findings / name
    folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + seconds
    found = Outcome(name)
    for death in range(_MOST_DEATHS):
        left = end - time.monotonic()
        if (inputs is not None and found.inputs >= inputs) or left <= 0:
            break
        command = [sys.executable, *worker, name, "--findings", folder]
        command += ["--seconds", f"{left:.1f}", "--seed", seed * _MOST_DEATHS + death]
        command += [] if inputs is None else ["--inputs", inputs - found.inputs]
        (folder / "current").write_bytes(b"")
        code, said = _run(command, left)
        count, grown, slowest, data = _current(folder)
        found = replace(
            found,
            inputs=found.inputs + count + (code != 0),
            memory=max(found.memory, grown // 1024),
            slowest=max(found.slowest, slowest),
        )
        if code == 0:
            break
        if not data or code == _UNCAUGHT:  # an error of these programs themselves
            raise RuntimeError(f"{name}: {said}")
        hangs = code in (-signal.SIGXCPU, None)
        kind = "hang" if hangs else "crash"
        (folder / f"{kind}-{hashlib.sha256(data).hexdigest()[:12]}").write_bytes(data)
        (folder / f"{kind}.txt").write_text(said)
        found = replace(found, hangs=found.hangs + hangs, crashes=found.crashes + (not hangs))
    return replace(found, exceptions=len(list(folder.glob("*-*.txt"))))


def _run(command: Iterable[object], seconds: float) -> tuple[int | None, str]:
    """The exit code, None if the process did nothing for too long, and what it said."""
    path = os.pathsep.join(map(str, (HERE, HERE.parent / "tests")))
    try:
        ended = subprocess.run(
            list(map(str, command)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
            timeout=min(seconds, 1e6) + _PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        return None, (expired.stderr or b"").decode("utf-8", "replace")
    return ended.returncode, ended.stderr.decode("utf-8", "replace")


def _current(folder: Path) -> tuple[int, int, float, bytes]:
    """What a worker says of the inputs it has come through, and the one it was at."""
    content = (folder / "current").read_bytes()
    if len(content) < HEADER.size:
        return 0, 0, 0.0, b""
    return *HEADER.unpack_from(content), content[HEADER.size :]


def attack_core(program: Path, findings: Path, *, seed: int = 1, seconds: float) -> Outcome:
    """Attack a target in C++ that was built with libFuzzer; it stops at the first finding."""
    name = program.stem.removeprefix("fuzz_")
    folder = findings / "core" / name
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    write_seeds(name, corpus)
    code, said = _run(
        [
            program,
            f"-max_total_time={max(1, round(seconds))}",
            f"-seed={seed}",
            "-timeout=10",
            "-rss_limit_mb=2048",
            "-max_len=4096",
            "-print_final_stats=1",
            f"-dict={HERE / 'core' / 'text.dict'}",
            f"-artifact_prefix={folder}/",
            corpus,
        ],
        seconds,
    )
    executed, slowest, memory = (
        int(stated[1]) if (stated := re.search(rf"stat::{name}:\s*(\d+)", said)) else 0
        for name in ("number_of_executed_units", "slowest_unit_time_sec", "peak_rss_mb")
    )
    hangs = code in (_TIMEOUT, None)
    crashes = code != 0 and not hangs
    if crashes or hangs:
        (folder / "finding.txt").write_text(said)
    return Outcome(f"core/{name}", executed, crashes, hangs, memory=memory, slowest=float(slowest))


def write_seeds(name: str, folder: Path) -> None:
    """The inputs that a target in C++ begins with, each in a file named after its content."""
    for data in SEEDS[name]():
        (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
