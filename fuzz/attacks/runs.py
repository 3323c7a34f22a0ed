"""What a run is told, and what it finds from runs before."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from attacks import mutation
from attacks.target import Target
from pairpiece.commands.assignments import assignment
from pairpiece.learning.options import MODES, options_for
from pairpiece.run.workspace import RECORD, Workspace, digest

_DEPENDS_ON = {"pairs": "x"}


def _settings(data: bytes) -> object:
    """A mode, and an assignment on each line."""
    mode, *lines = data.decode("utf-8", "surrogateescape").split("\n")
    options_for(mode, dict(map(assignment, lines)))
    return len(lines)


def _assignments() -> list[bytes]:
    lines = ["max_piece_length=12", "shrinking-factor=0.5", "user_defined_symbols=[\"<sep>\"]",
             "normalization=nfc", "split_digits=TRUE", "unk_id=3"]  # fmt: skip
    return ["\n".join([mode, *lines]).encode() for mode in MODES]


def _stage(data: bytes) -> object:
    """The record of a stage: what was made before is used, or it is made again."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / f"pairs-{digest(_DEPENDS_ON)}"
        result.mkdir()
        (result / RECORD).write_bytes(data)
        found = Workspace(Path(folder)).stage("pairs", _DEPENDS_ON, lambda _: {"made": "again"})
    kinds: dict[str, Any] = {"stage": str, "content": str, "details": dict, "seconds": float | int}
    for name, kind in kinds.items():
        assert isinstance(getattr(found, name), kind), f"{name} of a result is of another type"
    assert isinstance(found.peak_bytes, int | None)
    return found.reused


def _records() -> list[bytes]:
    record = {"stage": "pairs", "content": "0" * 16, "details": {"lines": 3, "name": "x"}}
    return [
        json.dumps({**record, "seconds": 0.5, "peak_bytes": peak}).encode() for peak in (None, 9)
    ]


TARGETS = [
    Target("settings", _settings, _assignments, mutation.with_tokens(b"=", b"[", b"1e999", b"NaN")),
    Target("stage", _stage, _records, mutation.of_json),
]
