"""Folders from which Marian trains; a stand-in for Marian runs the scripts."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import Training, begin_of_sample, call, complaint

import pairpiece
from pairpiece.commands import main
from pairpiece.foreign.sentencepiece_training import train_sentencepiece

PAPER = re.findall(
    r"(\S+) (\S+)",
    """
    type transformer                dim-emb 512             enc-depth 6         dec-depth 6
    tied-embeddings true            transformer-heads 8     beam-size 8         normalize 0.6
    transformer-dim-ffn 2048        transformer-ffn-activation relu             mini-batch 1000
    transformer-preprocess ""       transformer-postprocess dan                 max-length 512
    transformer-dropout 0.1         valid-mini-batch 16     mini-batch-fit true maxi-batch 1000
    cost-type ce-mean-words         lr-warmup 16000         lr-report true      label-smoothing 0.1
    lr-decay-inv-sqrt 16000         clip-norm 1.0           early-stopping 10   sync-sgd true
    learn-rate 0.0003               exponential-smoothing 0.0001                shuffle-in-ram true
    after 1000000u                  valid-freq 100000u      disp-freq 10000u
    """,
)

MARIAN = """#!/bin/sh
# Leaves what it was told where the model would be.
while [ $# -gt 0 ]; do case $1 in --model) model=$2;; --seed) seed=$2;; --config) config=$2;; esac
shift; done
cp "$config" "$model.best-chrf.npz.decoder.yml"
echo "$seed" > "$model"
"""

DECODER = """#!/bin/sh
# A translation is what the training text has on the same line.
while [ $# -gt 0 ]; do case $1 in --output) output=$2;; --config) test -f "$2" || exit 3;; esac
shift; done
head -n 8 train.target > "$output"
"""


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("text")
    lines = begin_of_sample(60)
    for split, part in (("train", lines[:40]), ("dev", lines[40:52]), ("test", lines[52:])):
        for side, sentences in zip(("source", "target"), zip(*part, strict=True), strict=True):
            content = "\n".join(sentences) + "\n"
            (folder / f"{split}.{side}").write_text(content, encoding="utf-8")
    model = train_sentencepiece([target for _, target in lines], 330)
    (folder / "it.model").write_bytes(model.content)
    return folder


def arguments(text: Path, trained: Training, output: Path) -> list[str]:
    found = ["mt", "--marian", "--preset", "paper", "--output", str(output)]
    found += ["--tokenizer", f"sp={text / 'it.model'}", "--tokenizer", f"ours={trained.model}"]
    for side in ("source", "target"):
        found += [f"--{side}", str(text / f"train.{side}")]
        found += [f"--dev-{side}", str(text / f"dev.{side}")]
        found += [f"--test-{side}", str(text / f"test.{side}")]
    return found


@pytest.fixture(scope="module")
def written(text: Path, trained: Training, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("marian")
    assert main(arguments(text, trained, folder)) == 0
    return folder


def config(path: Path) -> dict[str, str]:
    lines = (path / "config.yml").read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines if line)


def test_the_options_are_the_papers(written: Path) -> None:
    found = config(written / "ours")
    assert found == config(written / "sp")
    for name, value in PAPER:
        assert found[name] == value, name
    assert found["optimizer-params"] == "[0.9, 0.98, 1.0e-09]"
    assert found["valid-metrics"] == "[ce-mean-words, bleu, perplexity, translation, chrf]"


@pytest.mark.parametrize("name", ["sp", "ours"])
def test_all_tokens_are_in_the_vocabularies(written: Path, name: str) -> None:
    for side in ("source", "target"):
        lines = (written / name / f"vocab.{side}.yml").read_text(encoding="utf-8").splitlines()
        vocabulary = [json.loads(line.rpartition(": ")[0]) for line in lines]
        assert [int(line.rpartition(": ")[2]) for line in lines] == list(range(len(lines)))
        assert vocabulary[:2] == ["</s>", "<unk>"]
        assert len(set(vocabulary)) == len(vocabulary)
        for split in ("train", "dev"):
            content = (written / name / f"{split}.{side}").read_text(encoding="utf-8")
            used = {token for line in content.splitlines() for token in line.split(" ")}
            assert used <= set(vocabulary)


def test_targets_are_tokenized_with_their_source(
    written: Path, text: Path, trained: Training
) -> None:
    model = pairpiece.load(trained.model)
    french, italian = (
        (text / f"train.{side}").read_text(encoding="utf-8").splitlines()
        for side in ("source", "target")
    )
    lines = (written / "ours" / "train.target").read_text(encoding="utf-8").splitlines()
    expected = model.encode_batch(italian, french, out_type=str)
    assert [line.split(" ") for line in lines] == expected


@pytest.mark.parametrize("name", ["sp", "ours"])
def test_the_scripts_train_translate_and_score(written: Path, name: str, tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    for program, content in (("marian", MARIAN), ("marian-decoder", DECODER)):
        (tmp_path / program).write_text(content, encoding="utf-8")
        (tmp_path / program).chmod(0o755)
    programs = f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": programs, "PYTHONUTF8": "1"}
    folder = written / name
    for script in ("train.sh", "translate.sh"):
        done = subprocess.run(
            ["sh", str(folder / script), "7"], env=environment, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
    assert (folder / "model-7" / "model.npz").read_text().strip() == "7"
    source = (folder / "model-7" / "test.txt").read_text(encoding="utf-8").splitlines()
    original = [target for _, target in begin_of_sample(8)]
    assert source == original
    assert {score["name"] for score in json.loads(done.stdout)} == {"BLEU", "chrF2++", "TER"}


def test_other_tokenizers_are_refused(
    text: Path, trained: Training, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    bpe = tokenizers.ByteLevelBPETokenizer()
    bpe.train_from_iterator(["il gatto"], vocab_size=280)
    bpe.save(str(tmp_path / "tokenizer.json"))
    capfd.readouterr()
    ended = call(
        capfd,
        *arguments(text, trained, tmp_path / "out"),
        *("--tokenizer", f"hf={tmp_path / 'tokenizer.json'}"),
    )
    assert "hf: Marian can be given PairPiece and SentencePiece models" in complaint(ended)
    assert not (tmp_path / "out").exists()
