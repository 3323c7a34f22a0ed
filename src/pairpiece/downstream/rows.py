"""Token ids of many lines, as arrays that go into one file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy

from pairpiece import files
from pairpiece.errors import CorpusError

Ids = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Rows(Sequence[Ids]):
    """Lists of token ids, one after the other."""

    flat: Ids
    ends: npt.NDArray[np.int64]

    @classmethod
    def of(cls, rows: Iterable[npt.ArrayLike]) -> Rows:
        """Put lists together."""
        arrays = [np.asarray(row, np.int32) for row in rows]
        ends = np.cumsum([len(row) for row in arrays], dtype=np.int64)
        return cls(np.concatenate([np.zeros(0, np.int32), *arrays]), ends)

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, i: int) -> Ids:  # type: ignore[override]
        return self.flat[self.ends[i - 1] if i else 0 : self.ends[i]]

    def __iter__(self) -> Iterator[Ids]:
        return (self[i] for i in range(len(self)))

    def __add__(self, other: Rows) -> Rows:
        ends = other.ends + len(self.flat)
        return Rows(np.concatenate([self.flat, other.flat]), np.concatenate([self.ends, ends]))

    def shifted(self, by: int) -> Rows:
        """The rows with every id raised."""
        return Rows(self.flat + by, self.ends)

    def renumbered(self, new: Ids) -> Rows:
        """The rows with ``new[id]`` in the place of every id."""
        return Rows(new[self.flat], self.ends)


def save_rows(path: Path, rows: dict[str, Rows], facts: dict[str, int]) -> None:
    """Write several by name, and numbers to know about them."""
    arrays: dict[str, npt.NDArray[Any]] = {f"{name}.flat": r.flat for name, r in rows.items()}
    arrays |= {f"{name}.ends": part.ends for name, part in rows.items()}
    files.write(path, safetensors.numpy.save(arrays, {"facts": json.dumps(facts)}))


def load_rows(path: Path) -> tuple[dict[str, Rows], dict[str, int]]:
    """Read what `save_rows` has written."""
    try:
        with safetensors.safe_open(path, "numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            facts = json.loads(file.metadata()["facts"])
        names = [name.removesuffix(".ends") for name in arrays if name.endswith(".ends")]
        return {name: Rows(arrays[f"{name}.flat"], arrays[f"{name}.ends"]) for name in names}, facts
    except (safetensors.SafetensorError, KeyError, TypeError, ValueError) as error:
        raise CorpusError(f"{path}: damaged ({error}): delete it and start again") from None
