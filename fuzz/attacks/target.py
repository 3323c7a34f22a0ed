"""What is attacked: a function of bytes, with seeds to begin with and a way to change them."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from attacks import mutation

Mutate = Callable[[bytes, random.Random], bytes]


@dataclass(frozen=True)
class Target:
    """A door of the package for what anybody may have written.

    `attack` gives an input to it and says in a word what came of it; inputs of which something new
    comes are gone on from.  A `PairPieceError` is a right answer, and any other exception is a
    finding.
    """

    name: str
    attack: Callable[[bytes], object]
    seeds: Callable[[], list[bytes]]
    mutate: Mutate = mutation.of_bytes


@contextmanager
def file_of(content: bytes, name: str) -> Iterator[Path]:
    """A file with this content, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        yield path
