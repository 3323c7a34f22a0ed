"""The weights of a model in safetensors files: what changes is replaced, the rest stays on disk."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

from safetensors import SafetensorError, safe_open

from pairpiece.errors import ModelFormatError

SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"

_CHUNK = 2**24
_MAX_HEADER = 100_000_000  # bytes; the limit of the safetensors library


@dataclass(frozen=True)
class Tensor:
    """A tensor in a file."""

    file: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int  # bytes, from the end of the header


@dataclass(frozen=True)
class Replacement:
    """What takes the place of a tensor: its shape, and its bytes, part by part."""

    shape: tuple[int, ...]
    content: Callable[[], Iterator[bytes]]


class WeightFiles:
    """The safetensors files of a folder, of which only the headers are read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._index = _index(folder)
        self._headers = {name: _header(folder / name) for name in self._file_names()}
        self.tensors = {
            name: tensor
            for file, (_, header) in self._headers.items()
            for name, tensor in _tensors(folder / file, header).items()
        }

    def _file_names(self) -> list[str]:
        if self._index is not None:
            return sorted(set(self._index["weight_map"].values()))
        if (self.folder / SINGLE).is_file():
            return [SINGLE]
        others = [path.name for path in self.folder.glob("*.bin")]
        hint = (
            f"; {others[0]} holds Python objects: load the model with transformers and save it "
            f"with save_pretrained"
            if others
            else ""
        )
        raise ModelFormatError(f"{self.folder}: there is no {SINGLE} and no {INDEX}{hint}")

    def read(self, name: str) -> Any:
        """A tensor, as one of PyTorch in its own type."""
        with safe_open(self.folder / self.tensors[name].file, framework="pt") as file:
            return file.get_tensor(name)

    def write(self, folder: Path, replaced: dict[str, Replacement]) -> None:
        """All files, with some tensors replaced; those without any are linked, or else copied."""
        changed = {self.tensors[name].file for name in replaced}
        for file in self._headers:
            if file in changed:
                with (folder / file).open("wb") as output:
                    self._rewrite(file, output, replaced)
            else:
                _link(self.folder / file, folder / file)
        if self._index is not None:
            index = json.loads(json.dumps(self._index))
            sizes, counts = zip(*map(self._growth, replaced.items()), strict=True)
            metadata = index.setdefault("metadata", {})
            for key, more in (("total_size", sum(sizes)), ("total_parameters", sum(counts))):
                if key in metadata:
                    metadata[key] += more
            text = json.dumps(index, indent=2, ensure_ascii=False)
            (folder / INDEX).write_text(f"{text}\n", encoding="utf-8")

    def _growth(self, item: tuple[str, Replacement]) -> tuple[int, int]:
        """Bytes and numbers that come with a replacement."""
        old, new = self.tensors[item[0]], prod(item[1].shape)
        numbers = prod(old.shape)
        return (old.end - old.begin) // numbers * (new - numbers), new - numbers

    def _rewrite(self, file: str, output: BinaryIO, replaced: dict[str, Replacement]) -> None:
        start, header = self._headers[file]
        described: dict[str, Any] = {}
        position = 0
        order = sorted(_tensors(self.folder / file, header).items(), key=lambda item: item[1].begin)
        for name, tensor in order:
            shape, size = tensor.shape, tensor.end - tensor.begin
            if name in replaced:
                size = size // prod(shape) * prod(replaced[name].shape)
                shape = replaced[name].shape
            described[name] = {
                "dtype": tensor.dtype,
                "shape": list(shape),
                "data_offsets": [position, position + size],
            }
            position += size
        if "__metadata__" in header:
            described["__metadata__"] = header["__metadata__"]
        text = json.dumps(described, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
        text += b" " * (-len(text) % 8)
        output.write(len(text).to_bytes(8, "little") + text)
        with (self.folder / file).open("rb") as source:
            for name, tensor in order:
                if name in replaced:
                    output.writelines(replaced[name].content())
                else:
                    source.seek(start + tensor.begin)
                    _copy(source, output, tensor.end - tensor.begin)


def _index(folder: Path) -> dict[str, Any] | None:
    path = folder / INDEX
    if (folder / SINGLE).is_file() or not path.is_file():
        return None
    try:
        index = json.loads(path.read_bytes())
        files = set(index["weight_map"].values())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ModelFormatError(f"{path}: not an index of safetensors files") from None
    for name in sorted(files, key=str):
        if not isinstance(name, str) or Path(name).name != name:
            raise ModelFormatError(f"{path}: {name!r} is not the name of a file beside it")
        if not (folder / name).is_file():
            raise ModelFormatError(f"{path}: {name} is missing; the download may not be complete")
    return dict(index)


def _header(path: Path) -> tuple[int, dict[str, Any]]:
    """Where the data begins, and what there is; the library has checked that they agree."""
    try:
        with safe_open(path, framework="np"):
            pass
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            if size > _MAX_HEADER:
                raise ValueError
            return 8 + size, json.loads(file.read(size))
    except (SafetensorError, ValueError, RecursionError) as error:
        raise ModelFormatError(f"{path}: not an intact safetensors file: {error}") from None
    except OSError as error:
        raise ModelFormatError(f"{path}: {error.strerror or error}") from None


def _tensors(path: Path, header: dict[str, Any]) -> dict[str, Tensor]:
    return {
        name: Tensor(path.name, entry["dtype"], tuple(entry["shape"]), *entry["data_offsets"])
        for name, entry in header.items()
        if name != "__metadata__"
    }


def _link(old: Path, new: Path) -> None:
    with contextlib.suppress(OSError):  # on another disk, or where there are no links
        os.link(old.resolve(), new)
        return
    shutil.copyfile(old, new)


def _copy(source: BinaryIO, output: BinaryIO, size: int) -> None:
    while size:
        chunk = source.read(min(size, _CHUNK))
        if not chunk:
            raise ModelFormatError(f"{source.name}: the file has become shorter")
        output.write(chunk)
        size -= len(chunk)
