"""The examples in the documentation of every module run, and give what they say."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

import pairpiece

PACKAGE = Path(pairpiece.__file__).parent
EXAMPLES = {
    ".".join(("pairpiece", *path.relative_to(PACKAGE).with_suffix("").parts)): written
    for path in sorted(PACKAGE.rglob("*.py"))
    if (written := len(re.findall("^ *>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)))
}


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_in_the_documentation_run(name: str) -> None:
    module = importlib.import_module(name.removesuffix(".__init__"))
    assert doctest.testmod(module) == (0, EXAMPLES[name])
