"""A new folder, which appears when all that belongs in it is written."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

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
    place = Path(tempfile.mkdtemp(dir=parent, prefix=f".{destination.name}."))
    try:
        yield place
        umask = os.umask(0)
        os.umask(umask)
        place.chmod(0o777 & ~umask)
        if destination.is_dir():
            destination.rmdir()  # which fails unless it is empty
        elif destination.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(destination))
        place.replace(destination)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
