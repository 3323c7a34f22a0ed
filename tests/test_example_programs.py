"""The programs in examples/ run as their first lines say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import Ended, Training

for library in ("torch", "transformers", "accelerate", "peft"):
    pytest.importorskip(library)

from support import pretrained  # noqa: E402

pytestmark = pytest.mark.torch

EXAMPLES = Path(__file__).parents[1] / "examples"
PROGRAMS = sorted(path.name for path in EXAMPLES.glob("*.py"))


def run(program: str, *arguments: object) -> Ended:
    command = [sys.executable, str(EXAMPLES / program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    return Ended(done.returncode, done.stdout, done.stderr)


def test_these_are_all_programs() -> None:
    assert PROGRAMS == ["adapt.py", "tiny_gpt2.py"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_without_arguments_it_says_which_it_needs(program: str) -> None:
    ended = run(program)
    assert (ended.code, ended.out) == (2, "")
    assert re.search(rf"^{program}: error: .* required: model, text", ended.err, re.MULTILINE)


def test_a_tiny_model_learns_and_writes(trained: Training) -> None:
    ended = run("tiny_gpt2.py", trained.model, trained.target)
    assert ended.code == 0, ended.err
    *steps, written = ended.out.splitlines()
    losses = [float(line.split("loss ")[1]) for line in steps]
    assert losses == sorted(losses, reverse=True)
    assert written.startswith("Il")


def test_a_transferred_model_is_adapted(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    models = pretrained.Models(tmp_path_factory.mktemp("models"))
    text = tmp_path / "train.it"
    text.write_text("".join(f"{line}\n" for line in pretrained.italian(200)), encoding="utf-8")
    short = ["--embedding-steps", 4, "--steps", 4, "--context", 32, "--batch", 4, "--lines", 150]
    more = ["--learning-rate", 1e-3, "--lora", 4]
    output = tmp_path / "adapted"
    ended = run("adapt.py", models.extended("gpt2"), text, output, *short, *more)
    assert ended.code == 0, ended.err
    assert (output / "source_tokenizer" / "tokenizer.json").is_file()
    model = pretrained.loaded("gpt2", output)
    assert model.get_input_embeddings().weight.shape[0] > 600
