"""Text and tokenizers of every kind, and an evaluation of all of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import browser as chromium
from support import peers, tampering
from support.command_line import text
from support.evaluations import (
    KINDS,
    WAYS,
    Diagonal,
)
from support.french_italian import LETTERS, SOURCES, TARGETS

from pairpiece import evaluate
from pairpiece.evaluation import Evaluation


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Text, and tokenizers of every kind."""
    folder = tmp_path_factory.mktemp("evaluation")
    (folder / "text.it").write_text(text(*TARGETS), encoding="utf-8")
    (folder / "text.fr").write_text(text(*SOURCES), encoding="utf-8")
    shutil.copytree(tampering.saved().name, folder / "model")
    (folder / "sp.model").write_bytes(peers.sentencepiece_model(TARGETS * 3, 70))
    for make, size in ((peers.unigram, 70), (peers.wordpiece, 80), (peers.byte_level, 330)):
        make(TARGETS * 3, size).save(str(folder / f"hf_{make.__name__}.json"))
    (folder / "words").write_text(text(*TARGETS), encoding="utf-8")
    (folder / "letters").write_text(text(*LETTERS), encoding="utf-8")
    return folder


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the folder of the text and the tokenizers."""
    monkeypatch.chdir(folder)


@pytest.fixture(scope="session")
def everything(folder: Path) -> Evaluation:
    """All tokenizers, with the aligner and a dev text."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return evaluate(
            [*WAYS, *KINDS],
            "text.it",
            "text.fr",
            dev_target=TARGETS[:6],
            dev_source=SOURCES[:6],
            other_languages=[SOURCES],
            resamples=50,
            runs=2,
        )


@pytest.fixture
def diagonal(monkeypatch: pytest.MonkeyPatch) -> Diagonal:
    return Diagonal(monkeypatch)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from chromium.started()
