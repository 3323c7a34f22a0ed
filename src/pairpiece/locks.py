"""Locks between processes: whoever holds one is alone at work, and no lock file is left behind."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout, UnixFileLock

_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP}
"""What file systems say that know no locks; one writer at a time is then up to the user."""


@contextlib.contextmanager
def held(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock of this name; without `wait`, `filelock.Timeout` if somebody else does.

    The system releases the locks of a process that dies.
    """
    if path.is_symlink():
        path.unlink()  # or what it points to would be locked
    lock = FileLock(path)
    try:
        lock.acquire(timeout=-1 if wait else 0)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            if not isinstance(error, Timeout):
                error.filename = str(path.parent)
            raise
        yield
        return
    with contextlib.ExitStack() as stack:
        stack.callback(lock.release)
        if isinstance(lock, UnixFileLock):
            # Who has opened the file meanwhile finds that what it locks bears no name any more, and
            # tries again.  Locks of other kinds are the file itself.
            stack.callback(_remove, path)
        yield


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
