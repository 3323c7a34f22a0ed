"""A new folder, which appears when all that belongs in it is written."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from filelock import Timeout

from pairpiece import files, locks
from pairpiece.errors import OptionError
from pairpiece.model import saving


def check_new(destination: Path) -> None:
    """The output can be written, and nothing is there that would be lost."""
    if destination.is_dir() and any(destination.iterdir()):
        raise OptionError(f"{destination}: there is something in this folder; choose another")
    saving.check_destination(destination)
    saving.check_destination(destination.absolute().parent)


@contextlib.contextmanager
def appearing(destination: Path) -> Iterator[Path]:
    """A folder to write to that gets its name when it is complete, and not before."""
    parent = destination.absolute().parent
    parent.mkdir(parents=True, exist_ok=True)
    place = parent / f".{destination.name}.transfer"
    with _alone(destination, parent / f"{place.name}.lock"):
        if place.is_symlink():
            place.unlink()
        try:
            shutil.rmtree(place, ignore_errors=True)  # of a run that was killed
            with files.naming(destination):
                place.mkdir()
                yield place
                for path in (*place.rglob("*"), place):
                    files.flush(path)
            check_new(destination)  # again: it took a while
            if os.name == "nt" and destination.is_dir():
                destination.rmdir()  # which fails unless it is empty
            files.rename(place, destination)
            files.flush(parent)
        except OSError as error:
            if str(error.filename).startswith(str(place)):
                error.filename = str(destination) + str(error.filename)[len(str(place)) :]
            raise
        finally:
            shutil.rmtree(place, ignore_errors=True)


@contextlib.contextmanager
def _alone(destination: Path, lock: Path) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locks.held(lock, wait=False))
        except Timeout:
            raise OptionError(f"{destination}: another process is writing to it") from None
        except OSError as error:
            error.filename = str(destination)
            raise
        yield
