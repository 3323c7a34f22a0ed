"""What has to agree: the core with the oracle, our ids with those of other tools."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
from hypothesis import strategies as st
from support.exported import Exported, assert_alike
from support.french_italian import PAIRS
from support.french_italian import TARGETS as TEXTS
from support.hostile import HOSTILE
from support.worlds import learning, pairs

import pairpiece
from attacks.target import Target
from pairpiece.learning.engine import compiled
from pairpiece.learning.options import MODES
from pairpiece.learning.oracle import Oracle
from pairpiece.learning.schedule import follow_schedule

_VARIANTS: dict[str, dict[str, Any]] = {
    "small": {},
    "dummy prefix": {"add_dummy_prefix": True},
    "symbols": {"user_defined_symbols": ("<sep>", "<sep><sep>", "ﬁ", "\n")},
    "no bytes": {"byte_fallback": False},
    "squeezed": {"remove_extra_spaces": True, "add_dummy_prefix": True},
    "digits split": {"split_digits": True},
    "spaces": {"pretokenization": "spaces", "normalization": "nfc"},
    "paper": {"mode": "paper"},
}


@hypothesis.settings(database=None, deadline=None, phases=())
@hypothesis.given(mode=st.sampled_from(MODES), data=st.data())
def _same_training(mode: str, data: st.DataObject) -> None:
    world = data.draw(pairs(aligned=mode.startswith("paper")))
    options = learning(mode, min_seed_count=1.0)
    if options.source_side == "none":
        world = world.without_source()
    core, oracle = compiled(world, options, ["ab c"], threads=2), Oracle(world, options, ["ab c"])
    wanted = core.characters() + data.draw(st.integers(0, 8))
    for engine in (core, oracle):
        follow_schedule(engine, options, min(wanted, len(engine.pieces())))
    assert core.pieces() == oracle.pieces()
    for ours, theirs in zip(core.table(), oracle.table(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-12)


def _oracle(data: bytes) -> object:
    """Bytes are what hypothesis draws a training from; None where they are too few."""
    return _same_training.hypothesis.fuzz_one_input(data) is not None  # type: ignore[attr-defined]


def _draws() -> list[bytes]:
    generator = np.random.default_rng(1)
    return [generator.bytes(300) for _ in range(8)]


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


@functools.cache
def _exported(name: str) -> Exported:
    options = _VARIANTS[name]
    size = 500 if options.get("byte_fallback", True) else 250
    made = pairpiece.train_from_pairs(PAIRS, size, **options)
    return Exported.of(made, Path(_folder().name) / name)


def _exports(data: bytes) -> object:
    """Which model, and a text."""
    name = list(_VARIANTS)[data[0] % len(_VARIANTS)] if data else "small"
    text = data[1:].decode("utf-8", "replace")
    exported = _exported(name)
    ids = exported.ours.encode(text)
    if exported.ours.options.byte_fallback:
        assert exported.ours.decode(ids) == exported.ours.normalize(text)
    return name, [assert_alike(exported, tool, [text]) for tool in ("sentencepiece", "tokenizers")]


def _texts() -> list[bytes]:
    texts = [text.encode("utf-8", "replace") for text in (*TEXTS, *HOSTILE)]
    return [bytes([i]) + text for i, text in enumerate(texts)]


TARGETS = [
    Target("oracle", _oracle, _draws),
    Target("exports", _exports, _texts),
]
