"""Code that lies beside a model is not run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pairpiece.errors import PairPieceError

pytest.importorskip("transformers")

from pairpiece.pretrained.model_tokenizer import ModelTokenizer
from pairpiece.pretrained.transferring import transfer

EVIL = "from pathlib import Path\nPath({!r}).touch()\nclass Evil: pass\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model that wants code of its own to be loaded."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "evil.py").write_text(EVIL.format(str(tmp_path / "ran")))
    config = {"model_type": "evil", "auto_map": {"AutoConfig": "evil.Evil"}}
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer = {"tokenizer_class": "Evil", "auto_map": {"AutoTokenizer": ["evil.Evil", None]}}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    return folder


def test_the_code_of_a_tokenizer_is_not_run(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(PairPieceError, match="cannot be loaded"):
        ModelTokenizer.open(folder)
    assert not (tmp_path / "ran").exists()


def test_the_code_of_a_model_is_not_run(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(PairPieceError):
        transfer(folder, folder, tmp_path / "new")
    assert not (tmp_path / "ran").exists()
