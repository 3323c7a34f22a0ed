"""Many trainings: in several processes, each in a folder of its own, none done twice.

A folder is named after everything that the result depends on, so a command that was killed goes on,
and one with a further tokenizer or seed trains only what is new.
"""

from __future__ import annotations

import contextlib
import functools
import json
import multiprocessing
import os
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairpiece import __version__, files
from pairpiece.downstream.settings import LearningSettings
from pairpiece.errors import OptionError
from pairpiece.run.workspace import digest

RESULT = "result.json"
_POLL_SECONDS = 0.5


@dataclass(frozen=True)
class Run:
    """One training: of one model, with one tokenizer, setting and seed."""

    tokenizer: str
    setting: str
    seed: int
    learning: LearningSettings
    text: Path  # as the ids of pieces
    folder: Path
    device: str
    threads: int
    work: Callable[[Run, Callable[[int], object]], dict[str, Any]]
    """Does it in the folder, tells how many updates are done, and returns the result."""

    def result(self) -> dict[str, Any] | None:
        """What it has found, if it is done."""
        path = self.folder / RESULT
        if not path.is_file():
            return None
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            found = None
        if not isinstance(found, dict) or "versions" not in found:
            raise OptionError(f"{path}: damaged: delete it and start again")
        return found


def folder_name(name: str, depends_on: dict[str, Any]) -> str:
    """A name to recognise, with a digest of all that the result depends on."""
    readable = re.sub(r"[^\w.-]+", "-", name).strip("-")[:60]
    return f"{readable}-{digest(depends_on)}"


def perform(
    runs: Sequence[Run], jobs: int, advance: Callable[[str, int, int], object] | None
) -> list[dict[str, Any]]:
    """The results of all runs, those that are there already included."""
    pending = list({run.folder: run for run in runs if run.result() is None}.values())
    pending.sort(key=lambda run: run.seed)  # who stops early can compare fewer seeds
    done = {run.folder: run.learning.updates for run in runs if run not in pending}
    total = sum(run.learning.updates for run in runs)

    def report(run: Run, updates: int) -> None:
        done[run.folder] = updates
        if advance is not None:
            advance(f"training {len(runs)} models", sum(done.values()), total)

    if jobs == 1 or len(pending) < 2:
        for run in pending:
            _perform(run, functools.partial(report, run))
    else:
        _in_processes(pending, jobs, report)
    results = [run.result() for run in runs]
    return [result for result in results if result is not None]


def versions_of(results: Sequence[dict[str, Any]]) -> dict[str, str]:
    """What the models were trained with; several versions of the same thing are possible."""
    return {
        name: "+".join(sorted({result["versions"][name] for result in results}))
        for name in results[0]["versions"]
    }


def _versions() -> dict[str, str]:
    import torch
    import transformers

    return {
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "pairpiece": __version__,
    }


def _perform(run: Run, told: Callable[[int], object]) -> None:
    """Do one run, keep its result, and remove what only served to go on."""
    import torch
    from transformers.utils import logging

    from pairpiece.downstream.learning import BEST, CHECKPOINT

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.set_num_threads(run.threads)
    run.folder.mkdir(parents=True, exist_ok=True)
    result = {**run.work(run, told), "versions": _versions()}
    files.write(run.folder / RESULT, json.dumps(result, ensure_ascii=False).encode("utf-8"))
    for name in (CHECKPOINT, BEST):
        (run.folder / name).unlink(missing_ok=True)
    told(run.learning.updates)


# ---------------------------------------------------------------------- processes

_worker: Any = None
"""In a process that does runs: where it tells how far it is, and who may stop it."""


def _in_processes(pending: Sequence[Run], jobs: int, report: Callable[[Run, int], object]) -> None:
    context = multiprocessing.get_context("spawn")  # torch does not survive a fork
    queue, stop = context.SimpleQueue(), context.Event()
    with ProcessPoolExecutor(
        min(jobs, len(pending)), context, initializer=_begin, initargs=(queue, stop, os.getpid())
    ) as pool:
        futures = [pool.submit(_perform_there, i, run) for i, run in enumerate(pending)]
        waiting = set(futures)
        try:
            while waiting:
                ended, waiting = wait(waiting, _POLL_SECONDS)
                while not queue.empty():
                    number, updates = queue.get()
                    report(pending[number], updates)
                for future in ended:
                    future.result()
        except BaseException:
            stop.set()  # those that are at work leave after their update
            for future in futures:
                future.cancel()
            raise


def _begin(queue: Any, stop: Any, parent: int) -> None:
    global _worker
    _worker = (queue, stop, parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted too, and says stop


def _perform_there(number: int, run: Run) -> None:
    queue, stop, parent = _worker

    def told(updates: int) -> None:
        if stop.is_set() or os.getppid() != parent:  # or the parent was killed
            os._exit(1)
        queue.put((number, updates))

    _perform(run, told)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Nobody else uses the folder meanwhile."""
    import fcntl

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise OptionError(f"{folder}: another experiment is writing to it") from None
        yield
