"""A tokenizer trained on the sample, for the tests that only use one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import sample
from tampering import saved

import pairpiece


@pytest.fixture(scope="session")
def pairs() -> pairpiece.Pairs:
    return pairpiece.Pairs.from_iterable(sample.PAIRS)


@pytest.fixture(scope="session")
def tokenizer(pairs: pairpiece.Pairs) -> pairpiece.Tokenizer:
    return pairpiece.train_from_pairs(pairs, vocab_size=640)


@pytest.fixture(scope="module")
def no_fsync() -> Iterator[None]:
    """For models that need not survive a power cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A saved model with all parts, to tamper with."""
    return Path(shutil.copytree(saved().name, tmp_path / "model"))
