"""Results of stages, kept in a folder so that a run that was killed goes on where it was.

The result of a stage is a folder ``<stage>-<key>``, where the key stands for everything the result
depends on.  It is made under another name and renamed when it is complete, so what bears the name
is whole.  All of it can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairpiece import files, locks
from pairpiece.run import memory

RECORD = "stage.json"


@dataclass(frozen=True)
class Result:
    """What a stage has made, and what it cost at the time."""

    stage: str
    folder: Path
    content: str  # digest of all files of the folder
    details: dict[str, Any]
    seconds: float
    peak_bytes: int | None  # None if nobody knows
    reused: bool


def default_folder() -> Path:
    """``$PAIRPIECE_CACHE``, or ``pairpiece`` in the user's cache folder."""
    if folder := os.environ.get("PAIRPIECE_CACHE"):
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pairpiece"


class Workspace:
    """A folder with results of stages; several runs may use it at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def stage(
        self,
        name: str,
        depends_on: dict[str, Any] | None,
        make: Callable[[Path], dict[str, Any]],
    ) -> Result:
        """The result of a stage: the one that is there, or else made now.

        `make` fills a folder and returns details to remember.  If what the result depends on cannot
        be known (`None`), it is made each time and named after its content.
        """
        self._sweep(name)
        if depends_on is None:
            with self._locked(f"{name}-{uuid.uuid4().hex[:16]}") as folder:
                return self._made(name, folder, None, make)
        key = digest(depends_on)
        with self._locked(f"{name}-{key}") as folder:
            found = self.folder / f"{name}-{key}"
            if found.is_dir():
                with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
                    return _read(found)
                shutil.rmtree(found)  # somebody has been at it
            return self._made(name, folder, found, make)

    def _made(
        self,
        name: str,
        temporary: Path,
        folder: Path | None,
        make: Callable[[Path], dict[str, Any]],
    ) -> Result:
        started = time.monotonic()
        memory.reset_peak()
        details = make(temporary)
        content = _content(temporary)
        record: dict[str, Any] = {
            "stage": name,
            "content": content,
            "details": details,
            "seconds": round(time.monotonic() - started, 3),
            "peak_bytes": memory.peak_bytes(),
        }
        (temporary / RECORD).write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
        if folder is None:
            folder = self.folder / f"{name}-{digest({'content': content})}"
        for path in (*temporary.rglob("*"), temporary):
            files.flush(path)
        try:
            temporary.rename(folder)
        except OSError:
            if not folder.is_dir():  # else the same content is there already
                raise
        return Result(folder=folder, reused=False, **record)

    def _lock(self, name: str) -> Path:
        return self.folder / f".{name}.lock"

    @contextlib.contextmanager
    def _locked(self, name: str) -> Iterator[Path]:
        """An empty folder to make a result in; nobody else makes the same one meanwhile."""
        temporary = self.folder / f".{name}"
        with locks.held(self._lock(name)), files.naming(temporary):
            shutil.rmtree(temporary, ignore_errors=True)  # of a run that was killed
            temporary.mkdir()
            try:
                yield temporary
            finally:
                shutil.rmtree(temporary, ignore_errors=True)

    def _sweep(self, name: str) -> None:
        """Remove what runs that were killed have left of results of a stage."""
        for lock in self.folder.glob(f".{name}-{'[0-9a-f]' * 16}.lock"):
            with contextlib.suppress(OSError), locks.held(lock, wait=False):  # or its run is alive
                shutil.rmtree(lock.with_suffix(""), ignore_errors=True)


def _read(folder: Path) -> Result:
    """Raises ``ValueError``, ``TypeError`` or the like for what no stage has written."""
    record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    result = Result(folder=folder, reused=True, **record)
    if not all(isinstance(getattr(result, name), kind) for name, kind in _KINDS.items()):
        raise TypeError
    return result


_KINDS: dict[str, Any] = {
    "stage": str,
    "content": str,
    "details": dict,
    "seconds": int | float,
    "peak_bytes": int | None,
}


def digest(value: Any) -> str:
    """Sixteen hexadecimal digits that stand for plain data."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def _content(folder: Path) -> str:
    """A digest of all files of a folder, by name."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return digest({str(path.relative_to(folder)): files.digest(path) for path in paths})
