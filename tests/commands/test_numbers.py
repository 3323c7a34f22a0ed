"""Nonsense for every number of every command is told in a line that names the option."""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command_line import Training, call, complaint, text

import pairpiece
from pairpiece import commands

NONSENSE = ("-1", "0", "9" * 20, "nan", "inf", "-inf", "1e999", "many", "")

SENSIBLE = {
    *(("--seed", "-1"), ("--seed", "0"), ("--alpha", "0"), ("--min-score", "0")),
    *(("--seed", "9" * 20), ("--renyi-power", "0"), ("--traits", "0")),
    *(("--max-lines", "9" * 20), ("-k", "9" * 20)),
}
"""That mean something."""

REFUSED = {(c, "--seed", value) for c in ("lm", "mt") for value in ("-1", "9" * 20)}
"""By the libraries that train models."""

NOWHERE = {
    "train": ["--source", "nowhere", "--target", "nowhere", "-o", "new", "--align", "none"],
    "baseline": ["--text", "nowhere", "-o", "new"],
    "evaluate": ["--target", "nowhere", "--tokenizer", "nowhere"],
    "lm": [
        *("--target", "nowhere", "--dev-target", "nowhere", "--test-target", "nowhere"),
        *("--tokenizer", "nowhere", "-o", "new"),
    ],
    "mt": [
        *("--source", "nowhere", "--target", "nowhere", "--dev-source", "nowhere"),
        *("--dev-target", "nowhere", "--test-source", "nowhere", "--test-target", "nowhere"),
        *("--tokenizer", "nowhere", "-o", "new"),
    ],
    "transfer": ["nowhere", "--tokenizer", "nowhere", "-o", "new"],
    "encode": ["MODEL", "-i", "empty", "--sample"],
    "decode": ["MODEL", "-i", "empty"],
    "align": ["MODEL", "-i", "empty", "--source", "empty"],
    "inspect": ["MODEL", "--piece", "di"],
    "demo": ["--quiet"],
    "export": ["MODEL", "--to", "hf", "-o", "new"],
}
"""Arguments with which a command has nothing to do, whatever number it is given besides."""


def numbers(command: str) -> Iterator[argparse.Action]:
    """The options of a command that are numbers."""
    parser = argparse.ArgumentParser()
    importlib.import_module(f"pairpiece.commands.{command}").add_arguments(parser)
    return (action for action in parser._actions if action.type in (int, float))


OPTIONS = [
    (command, max(action.option_strings, key=len))
    for command in commands._COMMANDS
    for action in numbers(command)
]


def test_all_commands_and_many_numbers_are_tried() -> None:
    assert set(NOWHERE) == set(commands._COMMANDS)
    assert len(OPTIONS) > 25


@pytest.mark.parametrize("value", NONSENSE)
@pytest.mark.parametrize(("command", "option"), OPTIONS, ids=map(" ".join, OPTIONS))
def test_a_number_that_is_none_is_told(
    command: str,
    option: str,
    value: str,
    trained: Training,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").write_bytes(b"")
    arguments = [str(trained.model) if name == "MODEL" else name for name in NOWHERE[command]]
    given = f"{option}={value}" if option.startswith("--") else option + value
    if option == "-k" and not value:
        pytest.skip("an option without a value takes the next argument")
    ended = call(capfd, command, *arguments, given)
    assert "Traceback" not in ended.err
    if (option, value) in SENSIBLE and (command, option, value) not in REFUSED:
        assert ended.code == 0 or "nowhere" in complaint(ended)
    elif ended.code == 2:
        assert re.search(rf"error: argument (-\w/)?{option}: invalid", ended.err)
    else:
        said = complaint(ended)
        assert said.startswith(f"{option} must be ")
        assert "_" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty"]


SETTINGS = {
    "max_seeds": ("-1", "1e300", "9" * 20),
    "num_sub_iterations": ("0", "9" * 20, "many"),
    "num_final_iterations": ("-1", "9" * 20),
    "smoothing": ("-1", "1e300", "NaN"),
    "paired_smoothing": ("-1", "1001"),
    "base_offset": ("0", "Infinity"),
    "min_table_count": ("-1", "1e300"),
    "bos_id": ("-2", "9" * 20, "8000"),
    "memory_limit": ("-1", "0.5", "many"),
    "length_penalty": ("[1,2]", "[1,2,1e300]", "[" * 100_000),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in SETTINGS.items() for value in values],
    ids=lambda part: part[:20],
)
def test_a_setting_that_is_no_number_is_told_before_anything_is_done(
    name: str,
    value: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text(text("uno", "due"))
    command = ["train", "--source", "text", "--target", "text", "-o", "new", "--align", "none"]
    said = complaint(call(capfd, *command, "--set", f"{name}={value}"))
    assert said.startswith(f"--set {name}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["text"]


def test_the_same_in_python_names_the_argument(tmp_path: Path) -> None:
    with pytest.raises(pairpiece.OptionError, match=r"^num_threads must be"):
        pairpiece.train(corpus=[("a", "b")], num_threads=0)
    with pytest.raises(pairpiece.OptionError, match=r"^vocab_size must be"):
        pairpiece.train(corpus=[("a", "b")], vocab_size=10**20)
    with pytest.raises(pairpiece.OptionError, match="dev_source and dev_target"):
        pairpiece.train(corpus=[("a", "b")], dev_source=tmp_path / "x")
