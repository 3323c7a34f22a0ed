"""The trials of an experiment: in several processes, each in its own folder, none done twice.

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
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from pairpiece import __version__, files
from pairpiece.downstream.settings import TrainingSettings
from pairpiece.downstream.training_loop import BEST, CHECKPOINT, Task, train_model
from pairpiece.errors import OptionError
from pairpiece.evaluation.scoring import Advance
from pairpiece.run.workspace import digest

RESULT = "result.json"
_POLL_SECONDS = 0.5


@dataclass(frozen=True)
class Trial:
    """One training: of one model, with one tokenizer, setting and seed."""

    tokenizer: str
    setting: str
    seed: int
    training: TrainingSettings
    text: Path  # as the ids of pieces
    folder: Path
    device: str
    threads: int
    work: Callable[[Trial, Callable[[int], object]], dict[str, Any]]
    """Does it in the folder, tells how many updates are done, and returns the result."""
    start: Path | None = None  # the model whose weights are gone on from

    def train(self, task: Task, told: Callable[[int], object]) -> tuple[Any, dict[str, Any]]:
        """The trained model, which is kept, and how it went."""
        model, history = train_model(task, self.training, self.seed, self.folder, self.device, told)
        model.save_pretrained(self.folder / "model")
        if self.start is not None:
            _copy_tokenizer(self.start, self.folder / "model")
        return model, {**history.summary(), "parameters": model.num_parameters()}

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


def _copy_tokenizer(start: Path, folder: Path) -> None:
    """All that lies beside a model and is not its weights, unless it has been written anew."""
    for path in start.iterdir():
        weights = path.name.startswith("model") and ".safetensors" in path.name
        if path.is_file() and not weights and not (folder / path.name).exists():
            shutil.copyfile(path, folder / path.name)


def folder_name(name: str, depends_on: dict[str, Any]) -> str:
    """A name to recognise, with a digest of all that the result depends on."""
    readable = re.sub(r"[^\w.-]+", "-", name).strip("-")[:60]
    return f"{readable}-{digest(depends_on)}"


def perform(trials: Sequence[Trial], jobs: int, advance: Advance | None) -> list[dict[str, Any]]:
    """The results of all trials, those that are there already included."""
    pending = list({trial.folder: trial for trial in trials if trial.result() is None}.values())
    pending.sort(key=lambda trial: trial.seed)  # who stops early can compare fewer seeds
    done = {trial.folder: trial.training.updates for trial in trials if trial not in pending}
    total = sum(trial.training.updates for trial in trials)

    def report(trial: Trial, updates: int) -> None:
        done[trial.folder] = updates
        if advance is not None:
            advance(f"training {len(trials)} models", sum(done.values()), total)

    if jobs == 1 or len(pending) < 2:
        for trial in pending:
            _perform(trial, functools.partial(report, trial))
    else:
        _in_processes(pending, jobs, report)
    results = [trial.result() for trial in trials]
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


def _perform(trial: Trial, told: Callable[[int], object]) -> None:
    """Do one trial, keep its result, and remove what only served to go on."""
    import torch
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.set_num_threads(trial.threads)
    trial.folder.mkdir(parents=True, exist_ok=True)
    result = {**trial.work(trial, told), "versions": _versions()}
    files.write(trial.folder / RESULT, json.dumps(result, ensure_ascii=False).encode("utf-8"))
    for name in (CHECKPOINT, BEST):
        (trial.folder / name).unlink(missing_ok=True)
    told(trial.training.updates)


# ---------------------------------------------------------------------- processes

_worker: Any = None
"""In a process that does trials: where it tells how far it is, and who may stop it."""


def _in_processes(
    pending: Sequence[Trial], jobs: int, report: Callable[[Trial, int], object]
) -> None:
    context = multiprocessing.get_context("spawn")  # torch does not survive a fork
    queue, stop = context.SimpleQueue(), context.Event()
    with ProcessPoolExecutor(
        min(jobs, len(pending)), context, initializer=_begin, initargs=(queue, stop, os.getpid())
    ) as pool:
        futures: list[Future[None]] = []
        try:
            with _without_ctrl_c():
                futures += (pool.submit(_perform_there, i, t) for i, t in enumerate(pending))
            waiting = set(futures)
            while waiting:
                ended, waiting = wait(waiting, _POLL_SECONDS)
                while not queue.empty():
                    number, updates = queue.get()
                    report(pending[number], updates)
                for future in ended:
                    future.result()
        except BrokenProcessPool:
            raise OptionError(
                "a process that trained a model was ended from outside; if memory was short, train "
                "fewer models at a time (jobs)",
                ["jobs"],
            ) from None
        except BaseException:
            stop.set()  # those that are at work leave after their update
            for future in futures:
                future.cancel()
            raise


@contextlib.contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Processes that begin meanwhile are never interrupted, not even while they import."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(queue: Any, stop: Any, parent: int) -> None:
    global _worker
    _worker = (queue, stop, parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted too, and says stop


def _perform_there(number: int, trial: Trial) -> None:
    queue, stop, parent = _worker

    def told(updates: int) -> None:
        if stop.is_set() or os.getppid() != parent:  # or the parent was killed
            os._exit(1)
        queue.put((number, updates))

    _perform(trial, told)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Nobody else uses the folder meanwhile."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise OptionError(f"{folder}: another experiment is writing to it") from None
    try:
        yield
    finally:
        lock.release()
