"""The folder of a model: the names in it, and which model it holds while another takes its place.

While a model is put into a folder, the new one lies in a folder inside it.  It is in force from the
moment that ``tokenizer.json``, which other tools open by its name, is that of the new model; where
that file stays the same, from the moment that the manifest is the new one.  Either is one rename.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pairpiece.foreign.huggingface_files import FILES

MANIFEST = "pairpiece.json"
TOKENIZER, CONFIG = FILES

PART = re.compile(
    r"(cooccurrence|translation|bigram)-[0-9a-f]{12}\.safetensors|source-[0-9a-f]{12}(\.model|\.json)?|priors-[0-9a-f]{12}\.gz"
)
"""The names of parts: each holds the digest of its content, so that no older file is touched."""

STAGE, LOCK = ".pairpiece-saving", ".pairpiece.lock"
"""What is there only while a model is saved, or where a process that did so was killed."""


@dataclass(frozen=True)
class Packed:
    """The files of a model; a part that is a folder is a model itself."""

    manifest: bytes
    parts: dict[str, bytes | Packed]  # by file name

    @property
    def digest(self) -> str:
        """The SHA-256 of the manifest, which has those of all parts."""
        return hashlib.sha256(self.manifest).hexdigest()


def manifest_with(tokenizer_json: bytes | None) -> str:
    """What the manifest of a new model is called until it has its place.

    The name says with which ``tokenizer.json`` beside it the new model is in force.
    """
    if tokenizer_json is None:
        return "none.json"
    return f"{hashlib.sha256(tokenizer_json).hexdigest()[:12]}.json"


def content_of(path: Path) -> bytes | None:
    """What a file holds; None if there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def manifest_in_force(folder: Path) -> Path:
    """The manifest of the model that a folder holds, if it holds any."""
    try:
        waiting = [name for name in os.listdir(folder / STAGE) if name.endswith(".json")]  # noqa: PTH208
        if waiting and (name := manifest_with(content_of(folder / TOKENIZER))) in waiting:
            return folder / STAGE / name
    except OSError:  # as nearly always: nobody is saving
        pass
    return folder / MANIFEST


def is_in_force(file: BinaryIO, folder: Path) -> bool:
    """Whether an open manifest is still that of the model in a folder."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), manifest_in_force(folder).stat())
    except OSError:
        return False


def state_of(folder: Path) -> tuple[object, ...]:
    """What is another if another model was put into a folder meanwhile."""
    return tuple(
        _stated(path) for path in (manifest_in_force(folder), *(folder / name for name in FILES))
    )


def _stated(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
