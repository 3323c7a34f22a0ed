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


WITHOUT_A_LOCK = """
import sys
flags = sys.flags
class Flags:
    gil = {gil}
    __getattr__ = lambda _, name: getattr(flags, name)
sys.flags = Flags()
import pairpiece.text.words
print("imported")
"""


@pytest.mark.parametrize("gil", [None, 1])
def test_a_python_with_its_lock_will_do(gil: int | None) -> None:
    script = WITHOUT_A_LOCK.format(gil=gil)
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "imported\n"


def test_without_a_lock_it_says_that_it_needs_one() -> None:
    command = [sys.executable, "-c", WITHOUT_A_LOCK.format(gil=0)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.stdout == ""
    said = ended.stderr.splitlines()[-1]
    assert said.startswith("ImportError: PairPiece needs Python's global lock")
    assert "PYTHON_GIL=0" in said


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
