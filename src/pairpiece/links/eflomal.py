"""Word alignment with Eflomal, run as a program of its own.

Eflomal (Östling & Tiedemann, 2016) takes its random seed from the system and has no option for it.
On Linux it is run so that it reads the seed from a file of ours (aligner/fixed_random.c), and the
same text and seed give the same links for any number of threads.  Elsewhere every run differs a
little, and only the work directory, which keeps the links, makes a training repeatable.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import IO

from pairpiece import _core, files
from pairpiece.errors import AlignerError, OptionError
from pairpiece.links.symmetrization import SYMMETRIZATIONS, Link

MAX_WORDS = 1023
"""Of a sentence; Eflomal leaves longer ones unaligned."""

_INSTALL = 'install it with pip install "pairpiece[align]" (it needs a C compiler)'

TRAINING_LENGTH = 0.4
"""Of the alignment that a tokenizer is learned from: it is as good as with Eflomal's own number of
iterations, at less than half the cost (``benchmarks/aligners.py``)."""

Advance = Callable[[int, int], object]
"""Told how much is done, and of how much."""


@dataclass(frozen=True)
class Eflomal:
    """How to align: more samplers cost proportionally more and agree slightly better.

    `length` is the number of iterations in proportion to Eflomal's own.
    """

    samplers: int = 1
    seed: int = 0
    length: float = 1.0

    def __post_init__(self) -> None:
        if type(self.samplers) is not int or not 1 <= self.samplers <= 64:
            raise OptionError(
                f"samplers must be between 1 and 64, not {self.samplers!r}", ["samplers"]
            )
        if type(self.length) not in (int, float) or not 0.01 <= self.length <= 100:
            raise OptionError(
                f"aligner_length must be between 0.01 and 100, not {self.length!r}",
                ["aligner_length"],
            )

    @property
    def version(self) -> str:
        """The version that is installed, as far as this Python knows."""
        try:
            return metadata.version("eflomal")
        except metadata.PackageNotFoundError:
            return "unknown"

    @staticmethod
    def check_installed(instead: str = "", options: Iterable[str] = ()) -> None:
        """Raise an `AlignerError` if it is not there: how to install it, or what to do instead.

        `options` are the names of arguments in what is to be done instead.
        """
        try:
            _program("eflomal-align")
        except AlignerError as error:
            raise AlignerError(f"{error}, or {instead}" if instead else error, options) from None

    @property
    def repeatable(self) -> bool:
        """Whether the same text and seed give the same links on this system."""
        return _FIXED_RANDOM.is_file()

    def align(
        self,
        folder: Path,
        *,
        priors: Path | None = None,
        scores: bool = False,
        num_threads: int = 2,
        advance: Advance | None = None,
    ) -> None:
        """Align ``source.words`` with ``target.words`` of a folder, words separated by spaces.

        Writes ``forward.links`` and ``reverse.links``, a line of Pharaoh links for each sentence;
        with `scores` also ``forward.scores`` and ``reverse.scores``, a number for each.
        """
        arguments = ["-v", "--overwrite", "--n-samplers", str(self.samplers)]
        arguments += ["--length", str(self.length)]
        arguments += ["-s", "source.words", "-t", "target.words"]
        arguments += ["-f", "forward.links", "-r", "reverse.links"]
        if scores:
            arguments += ["-F", "forward.scores", "-R", "reverse.scores"]
        if priors is not None:
            arguments += ["-p", str(priors.absolute())]
        random = folder / "random"
        random.write_bytes((self.seed % 2**63 * 2 + 1).to_bytes(8, "little"))
        environment = {
            **os.environ,
            # One thread for each direction: with more, samplers would race for random numbers.
            "OMP_THREAD_LIMIT": str(min(num_threads, 2)),
            "PAIRPIECE_RANDOM": str(random.absolute()),
            "TMPDIR": str(folder.absolute()),
        }
        if self.repeatable:
            preloaded = (str(_FIXED_RANDOM), os.environ.get("LD_PRELOAD", ""))
            environment["LD_PRELOAD"] = ":".join(filter(None, preloaded))
        _run("eflomal-align", arguments, folder, environment, _Iterations(advance))
        random.unlink()
        expected = sum(1 for _ in files.lines(folder / "source.words"))
        written = ["links", "scores"] if scores else ["links"]
        for name in (f"{side}.{what}" for what in written for side in ("forward", "reverse")):
            found = _complete_lines(folder / name)
            if found != expected:
                raise AlignerError(
                    f"Eflomal wrote the {name} of {found:,} of {expected:,} sentences; is there "
                    f"enough memory, and enough room in {folder}?"
                )

    @staticmethod
    def make_priors(folder: Path) -> Path:
        """What an alignment has learned about words, for aligning new text later."""
        arguments = ["-s", "source.words", "-t", "target.words"]
        arguments += ["-f", "forward.links", "-r", "reverse.links", "-p", "priors"]
        _run("eflomal-makepriors", arguments, folder, dict(os.environ), None)
        return folder / "priors"


_FIXED_RANDOM = Path(_core.__file__).with_name("_fixed_random.so")


def _program(name: str) -> str:
    """Where a program is: beside this Python, or wherever the shell would find it."""
    beside = Path(sys.executable).with_name(f"{name}.exe" if sys.platform == "win32" else name)
    found = str(beside) if beside.is_file() else shutil.which(name)
    if found is None:
        raise AlignerError(f"the word aligner Eflomal ({name}) is not installed: {_INSTALL}")
    return found


def _run(
    name: str,
    arguments: list[str],
    folder: Path,
    environment: dict[str, str],
    listener: _Iterations | None,
) -> None:
    try:
        process = subprocess.Popen(
            [_program(name), *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # so that all of it can be ended at once
        )
    except OSError as error:
        raise AlignerError(f"{name} cannot be run ({error.strerror}): {_INSTALL}") from None
    with process:
        try:
            said = _listen(process, listener)
        except BaseException:
            _end(process)
            raise
    if process.returncode != 0:
        for number in _REFUSED:
            if os.strerror(number) in said or process.returncode == _TOO_LARGE.get(number):
                raise OSError(number, os.strerror(number), str(folder))
        raise AlignerError(
            f"{name} failed with exit code {process.returncode} and said: {said or 'nothing'}. If "
            f"it was killed, there may not be enough memory: try fewer lines (max_lines). "
            f"Otherwise {_INSTALL}",
            ["max_lines"],
        )


_REFUSED = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
"""What is wrong with the disk, and not with the aligner, which reports it in its own way."""

_TOO_LARGE = {errno.EFBIG: -signal.SIGXFSZ} if hasattr(signal, "SIGXFSZ") else {}


def _complete_lines(path: Path) -> int:
    """How many lines a file has; one that breaks off is none."""
    if not path.is_file():
        return 0
    with path.open("rb") as file:
        return sum(line.endswith(b"\n") for line in file)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program, with those that it has started where the system knows which they are."""
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _listen(process: subprocess.Popen[bytes], listener: _Iterations | None) -> str:
    """Pass on what a program says, and the time when it says nothing; its last words."""
    last: deque[str] = deque(maxlen=5)
    said: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_pass_on, args=(process.stderr, said), daemon=True).start()
    while True:
        with contextlib.suppress(queue.Empty):
            line = said.get(timeout=0.5)
            if line is None:
                return "; ".join(filter(None, last))
            last.append(line)
            if listener is not None:
                listener.line(line)
        if listener is not None:
            listener.tick()


def _pass_on(stream: IO[bytes], said: queue.SimpleQueue[str | None]) -> None:
    """The lines of a stream, and None at its end: a pipe cannot be waited for on all systems."""
    with contextlib.suppress(OSError, ValueError):  # it was closed here meanwhile
        for raw in stream:
            said.put(raw.decode("utf-8", "replace").strip())
    said.put(None)


class _Iterations:
    """Follows what Eflomal prints: how many iterations of which model have been made.

    It tells when a model begins and is done; in between the time so far is the best guess.
    """

    _BEGUN = re.compile(r"Aligning with model (\d) \((\d+) iterations\)")
    _PLANNED = re.compile(r" -1 (\d+) -2 (\d+) -3 (\d+) ")

    def __init__(self, advance: Advance | None) -> None:
        self._advance = advance
        self._total = 0
        self._done = 0
        self._seconds = 0.0  # that the iterations done have taken
        self._running: deque[tuple[int, float]] = deque()  # iterations, and when they began

    def line(self, line: str) -> None:
        if found := self._PLANNED.search(line):
            self._total = 2 * sum(map(int, found.groups()))
        elif found := self._BEGUN.search(line):
            self._running.append((int(found[2]), time.monotonic()))
        elif line.startswith("Done:") and self._running:
            iterations, begun = self._running.popleft()
            self._done += iterations
            self._seconds += time.monotonic() - begun

    def tick(self) -> None:
        if self._advance is None or self._done == 0:
            return
        speed = self._done / max(self._seconds, 1e-3)
        guessed = sum(
            min(0.98 * iterations, speed * (time.monotonic() - begun))
            for iterations, begun in self._running
        )
        done = self._done + int(guessed)
        self._advance(done, max(self._total, done))


def symmetrized_links(folder: Path, symmetrization: str, step: int = 1) -> Iterator[list[Link]]:
    """The links of every (`step`-th) sentence that `Eflomal.align` has aligned, in order."""
    symmetrize = SYMMETRIZATIONS[symmetrization]
    both = (files.lines(folder / name) for name in ("forward.links", "reverse.links"))
    for forward, reverse in itertools.islice(zip(*both, strict=True), 0, None, step):
        yield symmetrize(_own_links(forward), _own_links(reverse))


def _own_links(line: str) -> set[Link]:
    """The links of a line that Eflomal wrote, where nothing needs to be checked."""
    numbers = map(int, line.replace("-", " ").split())
    return set(zip(numbers, numbers, strict=True))


def for_aligner(words: Iterable[str]) -> str:
    """The words of a sentence on a line; none may vanish or hold a space, or the links shift."""
    return " ".join("".join(word.strip("▁").split()) or "_" for word in words)
