"""Processes whose writing goes wrong at a call of one's choice: see ``faults.c``."""

from __future__ import annotations

import errno
import functools
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pairpiece.model.folder import LOCK, STAGE

_LAYOUT = struct.Struct("=iiii1024s1024s")
_SOURCE = Path(__file__).with_suffix(".c")


@dataclass(frozen=True)
class Fault:
    """What goes wrong at the n-th call that writes: an error, or a kill if that is 0."""

    at: int
    error: int
    half: bool = False  # of what is to be written is written before

    def __str__(self) -> str:
        what = errno.errorcode[self.error] if self.error else "kill"
        return f"{what} at {self.at}{' with half of it written' if self.half else ''}"


@dataclass(frozen=True)
class Call:
    """A call that writes."""

    number: int
    name: str
    path: Path


@functools.cache
def _library() -> Path:
    """The library, compiled; or the test is skipped."""
    compiler = shutil.which("cc")
    if sys.platform != "linux" or compiler is None:
        pytest.skip("faults are injected on Linux only, and with a C compiler (cc)")
    folder = tempfile.TemporaryDirectory(prefix="pairpiece-faults-")
    _kept.append(folder)
    library = Path(folder.name) / "faults.so"
    how = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([compiler, *how, "-o", library, _SOURCE, "-ldl"], check=True)
    return library


_kept: list[tempfile.TemporaryDirectory[str]] = []


class Faults:
    """Faults in what processes with this `environment` write below a folder."""

    def __init__(self, root: Path, own: Path) -> None:
        self.root = root.resolve()
        self._plan, self._log = own / "plan", own / "calls"
        preloaded = ":".join(filter(None, (str(_library()), os.environ.get("LD_PRELOAD"))))
        self.environment = {
            **os.environ,
            "LD_PRELOAD": preloaded,
            "FAULTS_PLAN": str(self._plan),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self._plan.write_bytes(bytes(_LAYOUT.size))
        self.plan(None)

    def plan(self, fault: Fault | None) -> None:
        """Say what is to happen from now on; the count begins anew."""
        self._log.unlink(missing_ok=True)
        numbers = (0, fault.at, fault.error, fault.half) if fault else (0, 0, 0, 0)
        paths = (os.fsencode(path) for path in (self.root, self._log))
        with self._plan.open("r+b") as file:  # it is mapped into processes: no other file will do
            file.write(_LAYOUT.pack(*numbers, *paths))

    def calls(self) -> list[Call]:
        """The calls that there were."""
        if not self._log.exists():
            return []
        rows = (line.split("\t") for line in self._log.read_text().splitlines())
        return [Call(int(number), name, Path(path)) for number, name, path in rows]


def all_faults(calls: list[Call]) -> Iterator[Fault]:
    """Each call fails, or is the last; of what is written half may have been written."""
    for call in calls:
        for error in (errno.ENOSPC, 0):
            yield Fault(call.number, error)
            if call.name == "write":
                yield Fault(call.number, error, half=True)


@dataclass
class Tally:
    """How many faults there were, at which calls, and what came of them."""

    rows: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def add(self, call: str, fault: Fault, outcome: str) -> None:
        what = "kill" if fault.error == 0 else "error"
        key = (call, what, outcome)
        self.rows[key] = self.rows.get(key, 0) + 1

    def __str__(self) -> str:
        lines = [f"{sum(self.rows.values())} faults"]
        lines += [f"{n:>6}  {' → '.join(key)}" for key, n in sorted(self.rows.items())]
        return "\n".join(lines)


_SERVER = """
import importlib, json, os, sys
import pairpiece
from pairpiece.commands import main

models = {}


def loaded(path):
    if path not in models:
        models[path] = pairpiece.load(path)
        for part in ("table", "translations", "priors"):
            if (deferred := getattr(models[path].state, part)) is not None:
                deferred.read()
    return models[path]


def done(task):
    if "arguments" in task:
        return main(task["arguments"])
    try:
        loaded(task["model"]).save(task["folder"])
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


for module in sys.argv[2:]:
    importlib.import_module(module)
for line in sys.stdin:
    task = json.loads(line)
    if "model" in task:
        loaded(task["model"])
    child = os.fork()
    if child == 0:
        said = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(said, 2)
        code = done(task)
        sys.stderr.flush()
        os._exit(code)
    print(os.waitpid(child, 0)[1], flush=True)
"""


class Ended(NamedTuple):
    """How a process ended, as in `Popen`, and what it said of errors."""

    code: int
    err: str


class Server:
    """Does things again and again, each time in a process of its own that need not import much."""

    def __init__(self, faults: Faults, said: Path, *modules: str, **environment: str) -> None:
        pipe = subprocess.PIPE
        self._said = said
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVER, said, *modules],
            env={**faults.environment, **environment},
            stdin=pipe,
            stdout=pipe,
            text=True,
        )

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def save(self, model: Path, folder: Path) -> Ended:
        """Save a model to a folder."""
        return self._done(model=str(model), folder=str(folder))

    def run(self, *arguments: object) -> Ended:
        """Run a command."""
        return self._done(arguments=list(map(str, arguments)))

    def _done(self, **task: Any) -> Ended:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(task), file=self._process.stdin, flush=True)
        status = self._process.stdout.readline()
        assert status, "the server has died"
        code = os.waitstatus_to_exitcode(int(status))
        return Ended(code, self._said.read_text(encoding="utf-8"))


KILLED = -signal.SIGKILL


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def check_ending(ended: Ended, fault: Fault) -> None:
    """Dead, if it was killed; or code 1 and one line; or 0 if nothing is amiss."""
    if ended.code == KILLED:
        assert fault.error == 0
        assert ended.err == ""
    else:
        assert (ended.code, ended.err.count("\n")) in {(0, 0), (1, 1)}, ended
        assert STAGE not in ended.err
        assert LOCK not in ended.err
