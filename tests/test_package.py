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
