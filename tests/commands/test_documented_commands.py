"""The commands in README.md and docs/ do what they are shown for, typed as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import peers
from support.command_line import begin_of_sample, text

DOCUMENTS = Path(__file__).parents[2]
CATS = [pair for pair in begin_of_sample(6_000) if "gatti" in pair[1]]
SMALLER = {"--vocab-size 8000": "--vocab-size 600", "--balance": "--vocab-size 600 --balance"}
"""Sizes for a text of some hundred lines."""


def shown(document: str, first: str) -> str:
    """The commands of the block of a document that begins with a line."""
    content = (DOCUMENTS / document).read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", content, re.MULTILINE | re.DOTALL)
    block = next(block for block in blocks if block.startswith(first))
    for size, smaller in SMALLER.items():
        block = block.replace(size, smaller)
    return re.sub(r"^pip install .*\n", "", block, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Text by the names that the documents use, and a model of it."""
    folder = tmp_path_factory.mktemp("documented")
    pairs = begin_of_sample(500)
    splits = {"train": pairs[:400] + 3 * CATS, "dev": pairs[400:450], "test": pairs[450:]}
    for split, rows in splits.items():
        for side, lines in zip(("fr", "it"), zip(*rows, strict=True), strict=True):
            (folder / f"{split}.{side}").write_text(text(*lines), encoding="utf-8")
    return folder


def typed(commands: str, folder: Path) -> str:
    """What a shell says to commands; fails with the first that fails."""
    program = f'pairpiece() {{ "{sys.executable}" -m pairpiece "$@"; }}\n'
    environment = {**os.environ, "PAIRPIECE_CACHE": str(folder / "cache")}
    done = subprocess.run(
        ["sh", "-eu", "-c", program + commands],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def is_page(path: Path) -> bool:
    return path.read_text(encoding="utf-8").startswith("<!doctype html>")


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def trained(folder: Path) -> Path:
    """The folder when the first command of the README has been typed."""
    said = typed(shown("README.md", 'pip install ".[align,report]"\npairpiece train'), folder)
    assert "Model    it-fr\n" in said
    return folder


def test_the_readme_goes_from_text_to_numbers(trained: Path) -> None:
    said = typed(shown("README.md", 'echo "Abbiamo topi'), trained)
    assert said.startswith("▁A")
    assert len(lines_of(trained / "test.ids")) == len(lines_of(trained / "test.it"))
    assert (trained / "test.it").read_text(encoding="utf-8") in said  # decoded again
    assert "one to one ↑" in said
    assert is_page(trained / "report.html")


def test_the_dial_is_turned_as_shown(trained: Path) -> None:
    assert "Balanced 1.03 asked for" in typed(shown("docs/training.md", "pairpiece train"), trained)


@pytest.mark.slow
def test_tokenizers_are_measured_as_shown(trained: Path) -> None:
    said = typed(shown("docs/evaluation.md", 'pip install ".[align,report]"'), trained)
    assert "one to one ↑" in said
    assert is_page(trained / "report.html")
    assert {path.suffix for path in (trained / "figures").iterdir()} == {".svg", ".pdf", ".png"}


def test_tokens_are_linked_as_shown(trained: Path) -> None:
    typed(shown("docs/exports.md", "pairpiece align"), trained)
    links, probabilities, sure = (
        [line.split() for line in lines_of(trained / name)]
        for name in ("test.links", "test.probs", "sure.links")
    )
    assert list(map(len, links)) == list(map(len, probabilities))
    assert sum(map(len, sure)) == sum(float(p) > 0.5 for row in probabilities for p in row)


def test_models_are_written_for_other_tools_as_shown(trained: Path) -> None:
    (trained / "llama").mkdir()
    theirs = peers.unigram(lines_of(trained / "train.fr"), 300)
    theirs.add_special_tokens(["<|im_start|>"])
    theirs.save(str(trained / "llama" / "tokenizer.json"))
    typed("pairpiece baseline --text train.fr --vocab-size 400 -o fr.model", trained)
    document = (DOCUMENTS / "docs" / "exports.md").read_text(encoding="utf-8")
    commands = re.findall("`(pairpiece export [^`]+)`", document)
    commands = [command for command in commands if " --to " in command]
    typed("\n".join(commands), trained)
    kinds = {command.split(" --to ")[1].split()[0] for command in commands}
    assert kinds == {"hf", "sentencepiece", "marian", "fairseq", "lexicon", "table"}
    for command in commands:
        assert (trained / command.split(" -o ")[1]).exists()
    said = typed(shown("docs/exports.md", "pairpiece export it-fr/ --into"), trained)
    assert said.count("new pieces") == 2
    assert (trained / "llama-it" / "tokenizer.json").exists()
    assert (trained / "joint.model").exists()
