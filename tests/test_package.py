"""What `import pairpiece` brings, and what it does not."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pairpiece


def test_importing_the_package_imports_nothing_heavy() -> None:
    script = "import sys, pairpiece; print({'numpy', 'rich', 'sentencepiece'} & {*sys.modules})"
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "set()"


def test_every_public_name_can_be_had() -> None:
    assert {*pairpiece.__all__, "PairPieceTokenizer"} == {*pairpiece._MODULE_OF}
    for name in pairpiece.__all__:
        assert name in dir(pairpiece)
        assert getattr(pairpiece, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pairpiece.nothing


WITHOUT = """
import sys
sys.modules["transformers"] = None
import pairpiece
try:
    {statement}
except pairpiece.PairPieceError as error:
    print(*[kind.__name__ for kind in type(error).__mro__], error)
"""


def without_transformers(statement: str) -> str:
    """What a statement prints, or says is missing, where transformers is not installed."""
    script = WITHOUT.format(statement=statement)
    return subprocess.check_output([sys.executable, "-c", script], text=True).strip()


def test_a_name_that_needs_a_library_is_not_there_without_it() -> None:
    name = '"PairPieceTokenizer"'
    assert without_transformers(f"print(hasattr(pairpiece, {name}))") == "False"
    assert without_transformers(f"print(getattr(pairpiece, {name}, 7))") == "7"


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("pairpiece.PairPieceTokenizer", "AttributeError"),
        ("from pairpiece import PairPieceTokenizer", "ImportError"),
        ("from pairpiece import load, PairPieceTokenizer", "ImportError"),
    ],
)
def test_who_asks_for_it_learns_how_to_install_it(statement: str, kind: str) -> None:
    said = without_transformers(statement)
    assert kind in said.split()
    assert 'pip install "pairpiece[transformers]"' in said
