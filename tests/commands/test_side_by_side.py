"""Sentences side by side: what is linked looks alike, and what is not does not."""

from __future__ import annotations

import io
import re
from typing import Any
from unittest import mock

import pytest
from rich.console import Console

from pairpiece.commands.side_by_side import side_by_side
from pairpiece.model.token_links import Alignment

SYSTEMS = ("standard", "256", "truecolor", "windows")


def looks(size: int, system: Any) -> list[list[str]]:
    """The codes that a terminal is sent for each token of both lines, token n linked with n."""
    console = Console(file=io.StringIO(), force_terminal=True, color_system=system, width=999)
    tokens = [f"t{i}" for i in range(size)]
    alignment = Alignment(tokens, tokens, [(i, i) for i in range(size)], [1.0] * size)
    tokenizer = mock.Mock(**{"align.return_value": alignment, "state.source_tokenizer": None})
    lines = side_by_side(tokenizer, "", "", console.color_system)
    shown = []
    for line in lines[:2]:
        with console.capture() as capture:
            console.print(line)
        shown.append(re.findall(r"\x1b\[([\d;]+)mt\d+\x1b\[0m", capture.get()))
    return shown


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("size", [8, 20])
def test_different_tokens_look_different(system: str, size: int) -> None:
    source, target = looks(size, system)
    assert len(source) == size
    assert source == target
    assert len(set(source)) == size


@pytest.mark.parametrize("system", SYSTEMS)
def test_text_can_be_told_from_its_background(system: str) -> None:
    for codes in looks(20, system)[0]:
        colours = re.findall(r"(?:^|;)3(8;[25];[\d;]+|[0-7])(?:;|$)", codes)
        assert len(colours) == 1, "a colour of its own for the text"
        assert f"4{colours[0]}" not in codes.split(";")
