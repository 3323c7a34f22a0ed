"""``transfer`` with every option that is documented does what the function does."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from support import pretrained  # noqa: E402
from support.command_line import call  # noqa: E402
from support.pretrained import Models  # noqa: E402

import pairpiece  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:Recommended"),  # sacremoses, for Marian
]


def files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ([], {}),
        (["--top", 3, "--traits", 0], {"top": 3, "traits": 0}),
        (["--traits", 0.5], {"traits": 0.5}),
        (["--extend"], {"extend": True}),
        (["--side", "both"], {"side": "both"}),
    ],
    ids=str,
)
def test_options_are_those_of_the_function(
    options: list[object],
    arguments: dict[str, Any],
    models: Models,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    model, tokenizer = models.model("llama"), models.tokenizer("byte-fallback")
    command = ["transfer", model, "--tokenizer", tokenizer, "--output", tmp_path / "typed"]
    ended = call(capfd, *command, *options)
    assert ended.code == 0, ended.err
    done = pairpiece.transfer(model, tokenizer, tmp_path / "called", **arguments)
    assert f"LlamaForCausalLM: {done.old_size:,} tokens → {done.new_size:,}\n" in ended.out
    assert files(tmp_path / "typed") == files(tmp_path / "called")
    assert (tmp_path / "typed" / "source_tokenizer").is_dir() == ("--extend" in options)


@pytest.mark.parametrize("side", ["decoder", "encoder"])
def test_a_side_with_a_vocabulary_of_its_own(
    side: str, models: Models, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(models.model_tokenizer("marian"), tmp_path / "model"))
    pretrained.save_model(
        "marian", folder, share_encoder_decoder_embeddings=False, tie_word_embeddings=False
    )
    command = ["transfer", folder, "--tokenizer", models.tokenizer("marian"), "--side", side]
    ended = call(capfd, *command, "--output", tmp_path / "new")
    assert ended.code == 0, ended.err
    old = transformers.AutoConfig.from_pretrained(folder)
    new = pretrained.loaded("marian", tmp_path / "new")
    rows = {
        name: getattr(new.model, name).embed_tokens.weight.shape[0]
        for name in ("encoder", "decoder")
    }
    pieces = pairpiece.load(models.tokenizer("marian")).vocab_size
    other = {"encoder": "decoder", "decoder": "encoder"}[side]
    assert rows[side] == pieces != old.vocab_size
    assert rows[other] == old.vocab_size
