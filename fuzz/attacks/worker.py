"""Attacks one target in this process, within limits: ``python -m attacks.worker``.

The same seed makes the same inputs as long as they come to the same.  The input that runs lies in
the file ``current`` of the findings, after the number of inputs so far, for whoever finds this
process dead.  Every exception that is no `PairPieceError` is kept with its input, one a place.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import resource
import struct
import sys
import time
import traceback
from collections.abc import Hashable
from pathlib import Path

from attacks.catalogue import TARGETS
from attacks.target import Target
from pairpiece import PairPieceError

MEMORY = 2**30  # more than the process has at the beginning
SECONDS = 5  # of processor time, and one more for every so many bytes
BYTES_PER_SECOND = 10_000
HEADER = struct.Struct("<QQd")  # inputs, KiB that memory has grown by, seconds of the slowest one
_MOST = 2000  # inputs to go on from


class Attack:
    """Inputs for a target, one after the other."""

    def __init__(self, target: Target, seed: int, findings: Path) -> None:
        self.target = target
        self.generator = random.Random(f"{seed} {target.name}")
        self.findings = findings
        self.waiting = [b"", *target.seeds()]
        self.pool = list(self.waiting)
        self.outcomes: set[Hashable] = set()
        self.count = self.grown = 0
        self.slowest = 0.0
        self.current = os.open(findings / "current", os.O_RDWR | os.O_CREAT)

    def step(self) -> None:
        """One input more."""
        data = self.waiting.pop() if self.waiting else self._changed()
        self.write(data)
        _limit_time(len(data))
        begin = _used_seconds()
        outcome = self._outcome(data)
        if self.count:  # the first loads and makes what is there once
            self.slowest = max(self.slowest, _used_seconds() - begin)
        if outcome not in self.outcomes:
            self.outcomes.add(outcome)
            self.pool.append(data)
        self.count += 1

    def write(self, data: bytes = b"") -> None:
        """Say how far this is, and with which input."""
        content = HEADER.pack(self.count, self.grown, self.slowest) + data
        os.pwrite(self.current, content, 0)
        os.ftruncate(self.current, len(content))

    def _changed(self) -> bytes:
        # What came late has come far.
        recent = self.pool[-20:] if self.generator.random() < 0.3 else self.pool[-_MOST:]
        data = self.generator.choice(recent)
        for _ in range(self.generator.choice((1, 1, 2, 5))):
            data = self.target.mutate(data, self.generator)
        return data

    def _outcome(self, data: bytes) -> Hashable:
        try:
            return repr(self.target.attack(data))
        except PairPieceError as error:
            return _place(error)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # what tests raise is not an Exception
            place = _place(error)
            if place not in self.outcomes:
                self._keep(data, error)
            return place

    def _keep(self, data: bytes, error: BaseException) -> None:
        name = f"{type(error).__name__}-{hashlib.sha256(data).hexdigest()[:12]}"
        (self.findings / name).write_bytes(data)
        (self.findings / f"{name}.txt").write_text("".join(traceback.format_exception(error)))


def _place(error: BaseException) -> Hashable:
    """The lines of ours that an error has come through."""
    frames = traceback.walk_tb(error.__traceback__)
    own = [
        (f.f_code.co_filename, line) for f, line in frames if "pairpiece" in f.f_code.co_filename
    ]
    return type(error), tuple(own)


def _used_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _most_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB


def _limit_time(size: int) -> None:
    limit = int(_used_seconds()) + 1 + SECONDS + size // BYTES_PER_SECOND
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


def main() -> None:
    """Attack for so many inputs or seconds, whichever end first; or with the inputs of files."""
    parser = argparse.ArgumentParser(description="attack one target in this process")
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--findings", type=Path, required=True)
    parser.add_argument("--inputs", type=int, default=sys.maxsize)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.fsync = lambda _: None  # what is saved need not outlive this
    attack = Attack(TARGETS[options.target], options.seed, options.findings)
    attack.step()  # what is loaded and made once counts for nobody
    _limit_memory()
    before, end = _most_memory(), time.monotonic() + options.seconds
    while attack.count < options.inputs and time.monotonic() < end:
        attack.step()
        attack.grown = _most_memory() - before
    attack.write()


if __name__ == "__main__":
    main()
