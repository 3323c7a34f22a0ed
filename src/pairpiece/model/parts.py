"""The parts of a model beside its manifest: found, held, checked and read."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import weakref
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from pairpiece.errors import ModelFormatError
from pairpiece.model.tables import (
    BigramTable,
    CooccurrenceTable,
    PairedSettings,
    TranslationTable,
)
from pairpiece.text import packing
from pairpiece.text.vocabulary import PieceType, Vocabulary

MAX_TABLE_BYTES = 2**36

LARGE = 1e30  # no count is larger; beyond it, and below its inverse, products would overflow

_HELD = Path("/proc/self/fd")
"""Where files that this process holds open can be opened again; on Linux only."""


class Part:
    """A file, or the manifest of a folder, that a manifest describes.

    A file that is there is held open until the part is forgotten: it can be read when a new model
    has taken the place of this one.  Where that cannot be, it is looked for again when it is read.
    """

    def __init__(self, path: Path, size: int, digest: str) -> None:
        self.path, self.size = path, size
        self._digest = digest
        self._place = path
        descriptor = _held(path)
        self.is_there = descriptor is not None or path.exists()
        if descriptor is not None:
            weakref.finalize(self, os.close, descriptor)
            self._place = _HELD / str(descriptor)

    def check(self) -> None:
        """Raise `ModelFormatError` unless the file is the one described."""
        try:
            self._check(self._place, self.path)
        except ModelFormatError:
            if self._place == self.path:
                raise
            self._place = self.path  # perhaps it was repaired
            self._check(self._place, self.path)

    def check_manifest(self, path: Path) -> None:
        """Raise `ModelFormatError` unless the manifest of a part that is a folder is intact."""
        self._check(path, path)

    def _check(self, place: Path, name: Path) -> None:
        digest = hashlib.sha256()
        try:
            if not place.is_file():
                raise ModelFormatError(
                    f"{name}: this part of the model is missing; if another model was saved there "
                    f"since this one was loaded, load that"
                )
            found = place.stat().st_size
            if found != self.size or found > MAX_TABLE_BYTES:
                raise ModelFormatError(f"{name}: {found} bytes long where {self.size} are expected")
            with place.open("rb") as file:
                while chunk := file.read(2**20):
                    digest.update(chunk)
        except OSError as error:
            raise ModelFormatError(f"{name}: {error.strerror}") from None
        if digest.hexdigest() != self._digest:
            raise ModelFormatError(f"{name}: damaged, its digest does not match")

    def content(self) -> bytes:
        """The bytes of the file."""
        self.check()
        try:
            return self._place.read_bytes()
        except OSError as error:
            raise ModelFormatError(f"{self.path}: {error.strerror}") from None

    def arrays(self, dtypes: dict[str, Any]) -> dict[str, Any]:
        """Tables of counts."""
        path = self.path
        self.check()
        try:
            arrays = load_file(self._place)
        except (SafetensorError, OSError, ValueError, LookupError, TypeError, AttributeError) as e:
            raise ModelFormatError(f"{path}: not a safetensors file: {e}") from None
        for name, dtype in dtypes.items():
            array = arrays.get(name)
            if array is None or array.dtype != dtype or array.ndim != 1:
                raise ModelFormatError(f"{path}: {name} is missing or of the wrong type")
            if array.dtype.kind == "f" and not ((array >= 0) & (array < LARGE)).all():
                raise ModelFormatError(f"{path}: {name} has values that are not counts")
        if not (arrays["count"] > 0).all():
            raise ModelFormatError(f"{path}: a count is zero")
        return {name: arrays[name] for name in dtypes}

    def arrays_with_base(self, vocabulary: Vocabulary, dtypes: dict[str, Any]) -> dict[str, Any]:
        """Tables of counts with a base distribution over these pieces."""
        arrays = self.arrays({**_ROWS, "base": np.float64, **dtypes})
        learned = np.array([kind == PieceType.NORMAL for kind in vocabulary.types])
        base = arrays["base"]
        if len(base) != len(learned) or not (base[learned] > 1 / LARGE).all():
            raise ModelFormatError(
                f"{self.path}: the base distribution does not agree with the pieces"
            )
        return arrays

    def checked(self, table: _Table) -> _Table:
        """A table that the core can use."""
        try:
            _ = table.core
        except ValueError as error:
            raise ModelFormatError(f"{self.path}: {error}") from None
        return table


def _held(path: Path) -> int | None:
    """A descriptor of a regular file, where the system can open it again later."""
    if not _HELD.is_dir():
        return None
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe would not be waited for
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
    return None


_Table = TypeVar("_Table", CooccurrenceTable, BigramTable)
_ROWS = {"row_begin": np.uint64, "count": np.float32}


def read_table(part: Part, settings: PairedSettings, vocabulary: Vocabulary) -> CooccurrenceTable:
    """The table of co-occurrences."""
    path = part.path
    dtypes = {"source": np.uint32, "source_count": np.float64}
    named = {"source_token_bytes": np.uint8, "source_token_begin": np.uint64}
    arrays = part.arrays_with_base(vocabulary, {**dtypes, **named})
    try:
        tokens = packing.unpacked(*(arrays.pop(name) for name in named))
    except ValueError as error:
        raise ModelFormatError(f"{path}: the source tokens are damaged: {error}") from None
    if len(tokens) != len(arrays["source_count"]) or tokens[:1] != [""]:
        raise ModelFormatError(f"{path}: the source tokens do not agree with their counts")
    sources = np.unique(arrays["source"])
    if (sources >= len(tokens)).any() or (arrays["source_count"][sources] < 1 / LARGE).any():
        raise ModelFormatError(f"{path}: the source counts do not agree with the counts")
    return part.checked(CooccurrenceTable(tokens, **arrays, settings=settings))


def read_translations(
    part: Part, table: CooccurrenceTable, vocabulary: Vocabulary
) -> TranslationTable:
    """What each piece stands for, in the source tokens of this table."""
    arrays = part.arrays({**_ROWS, "source": np.uint32, "piece_count": np.float64})
    begin, sources, used = arrays["row_begin"], arrays["source"], arrays["piece_count"]
    if len(begin) != len(vocabulary) + 1 or len(used) != len(vocabulary):
        raise ModelFormatError(f"{part.path}: there are not as many rows as pieces")
    if begin[0] != 0 or (begin[1:] < begin[:-1]).any() or begin[-1] != len(sources):
        raise ModelFormatError(f"{part.path}: the rows do not follow each other")
    if len(sources) != len(arrays["count"]) or (sources >= len(table.source_tokens)).any():
        raise ModelFormatError(f"{part.path}: the source tokens do not agree with the counts")
    found = TranslationTable(**arrays)
    if ((sources[1:] <= sources[:-1]) & (np.diff(found.piece_ids) == 0)).any():
        raise ModelFormatError(f"{part.path}: the source tokens of a row are not in order")
    return found


def read_bigram(part: Part, vocabulary: Vocabulary) -> BigramTable:
    """The bigram counts."""
    return part.checked(BigramTable(**part.arrays_with_base(vocabulary, {"next": np.uint32})))
