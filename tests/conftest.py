"""What several files of tests use: a tokenizer, saved models, a trained command line."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from support.command_line import Training, training
from support.french_italian import PAIRS
from support.tampering import saved

import pairpiece

# A processor for each of the processes that run tests: more threads would wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The same examples in every run: a run of the tests must not fail by the luck of the draw.  `make
# nightly` draws others each time, and prints how to have those that fail again.
hypothesis.settings.register_profile("repeatable", derandomize=True)
hypothesis.settings.register_profile("nightly", derandomize=False, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# Programs that are started in the background of a shell ignore Ctrl-C, and so would all that the
# tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def pairs() -> pairpiece.Pairs:
    return pairpiece.Pairs.from_iterable(PAIRS)


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


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Training:
    """A model that the command line has trained."""
    return training(tmp_path_factory.getbasetemp())


@pytest.fixture
def own_cache(trained: Training, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps the commands away from the cache of whoever runs the tests."""
    monkeypatch.setenv("PAIRPIECE_CACHE", str(trained.cache))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The default work directory, which must not be the user's."""
    monkeypatch.setenv("PAIRPIECE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
