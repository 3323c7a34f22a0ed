"""One model in the place of another, in a folder that others read and write meanwhile.

All of it is written to a folder inside that of the model first.  Then its parts get their places,
which no other model's can have; and then it is put in force by one rename (`pairpiece.model.folder`
says which).  What fails before that is undone, and what was killed is undone, or done, by whoever
writes there next.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from pathlib import Path

from pairpiece import files, locks
from pairpiece.errors import OptionError
from pairpiece.model.folder import (
    CONFIG,
    LOCK,
    MANIFEST,
    PART,
    STAGE,
    TOKENIZER,
    Packed,
    content_of,
    manifest_in_force,
    manifest_with,
)

_OLD = "old-"  # before the names of files that were moved out of the way
_BESIDE = (TOKENIZER, CONFIG)
_WAITING = re.compile(r"[0-9a-f]{12}\.json")  # a manifest that is not in force yet


def put(model: Packed, folder: Path, beside: dict[str, bytes] | None = None) -> None:
    """Make a folder hold a model, and `beside` it the files for Hugging Face.

    Those that are not given are removed; if none of it is given, what is there is left alone.
    Links in the folder are replaced, not followed.  Waits for others who write there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stage = folder / STAGE
    with files.naming(folder), locks.held(folder / LOCK):
        _recover(folder)
        placed: list[Path] = []
        try:
            _check_places(model, folder)
            _stage(model, folder, beside)
            _place(model, stage, folder, placed)
            files.flush(folder)
            _switch(folder, beside)
        except BaseException as error:
            manifest = manifest_in_force(folder)
            if manifest.parent == folder:  # else the new model is in force, and lies in the stage
                _undo(folder, [] if content_of(manifest) == model.manifest else placed)
            if isinstance(error, OSError) and str(error.filename).startswith(str(stage)):
                error.filename = str(folder / Path(error.filename).relative_to(stage))
            raise
        try:
            files.flush(folder)
        finally:
            with contextlib.suppress(OSError):  # else the next one does it
                _remove(stage)
        with contextlib.suppress(OSError):
            _remove_stale(folder, set(model.parts))


def _check_places(model: Packed, folder: Path) -> None:
    for name, content in model.parts.items():
        path = folder / name
        is_folder = path.is_dir() and not path.is_symlink()
        if isinstance(content, Packed) and os.path.lexists(path) and not is_folder:
            raise OptionError(
                f"{path}: not a folder, where that of the source tokenizer has to be: remove it"
            )


def _stage(model: Packed, folder: Path, beside: dict[str, bytes] | None) -> None:
    """Write everything; the manifest comes last, under a name that says what puts it in force."""
    stage, manifest = folder / STAGE, MANIFEST
    stage.mkdir()
    if beside is not None:
        for name, content in beside.items():
            files.write_new(stage / name, content)
        if content_of(folder / TOKENIZER) != beside.get(TOKENIZER):
            manifest = manifest_with(beside.get(TOKENIZER))
    _write(model, stage, manifest)


def _write(model: Packed, folder: Path, manifest: str = MANIFEST) -> None:
    for name, content in model.parts.items():
        if isinstance(content, Packed):
            (folder / name).mkdir()
            _write(content, folder / name)
        else:
            files.write_new(folder / name, content)
    files.write_new(folder / manifest, model.manifest)
    files.flush(folder)


def _place(model: Packed, stage: Path, folder: Path, placed: list[Path]) -> None:
    """Give the parts their places; the list is of those that were not there before."""
    for name, content in model.parts.items():
        path = folder / name
        if isinstance(content, Packed) and path.is_dir():
            _place(content, stage / name, path, placed)
            files.rename(stage / name / MANIFEST, path / MANIFEST)
            files.flush(path)
            continue
        if not os.path.lexists(path):
            placed.append(path)
        files.rename(stage / name, path)


def _switch(folder: Path, beside: dict[str, bytes] | None) -> None:
    """Put the staged model in force."""
    stage = folder / STAGE
    if (stage / MANIFEST).exists():
        if beside is not None:
            for name in _BESIDE:
                if name in beside:
                    files.rename(stage / name, folder / name)
                else:
                    (folder / name).unlink(missing_ok=True)
        files.rename(stage / MANIFEST, folder / MANIFEST)
        return
    assert beside is not None
    if not _is(folder / CONFIG, beside.get(CONFIG)):
        # Two names cannot change at once: in between there is no tokenizer.json, so that nobody
        # takes one model's special tokens for the other's.
        for name in _BESIDE:
            if os.path.lexists(folder / name):
                files.rename(folder / name, stage / f"{_OLD}{name}")
        if CONFIG in beside:
            files.rename(stage / CONFIG, folder / CONFIG)
    if TOKENIZER in beside:
        files.rename(stage / TOKENIZER, folder / TOKENIZER)
    files.rename(stage / manifest_with(beside.get(TOKENIZER)), folder / MANIFEST)


def _is(path: Path, content: bytes | None) -> bool:
    """Whether a file is there, and no link, and holds this; or is not there, if it should not."""
    return not path.is_symlink() and content_of(path) == content


def _recover(folder: Path) -> None:
    """Do what a process was killed in the middle of, or undo it."""
    stage = folder / STAGE
    if stage.is_symlink():
        stage.unlink()
    elif stage.exists():
        manifest = manifest_in_force(folder)
        if manifest.parent == stage:
            files.rename(manifest, folder / MANIFEST)
        _undo(folder, [])


def _undo(folder: Path, placed: list[Path]) -> None:
    """Give the files of the old model their places again, and remove what is new."""
    stage = folder / STAGE
    with contextlib.suppress(OSError):  # else all stays where it is for the next one
        if any(_WAITING.fullmatch(path.name) for path in stage.iterdir()):
            if not (stage / CONFIG).exists():
                files.rename(folder / CONFIG, stage / CONFIG)
            for name in reversed(_BESIDE):
                if os.path.lexists(stage / f"{_OLD}{name}"):
                    files.rename(stage / f"{_OLD}{name}", folder / name)
        for path in placed:
            _remove(path)
        _remove(stage)


def _remove(path: Path) -> None:
    """Remove a file, a link or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _remove_stale(folder: Path, used: set[str]) -> None:
    for path in folder.iterdir():
        if path.name in used or not PART.fullmatch(path.name) or path.is_symlink():
            continue
        if path.is_file():
            path.unlink()
        elif path.is_dir():
            _remove_stale(path, set())
            (path / MANIFEST).unlink(missing_ok=True)
            if not any(path.iterdir()):
                path.rmdir()
