"""What anybody may have written makes nothing crash, hang or raise what is no error of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("resource")  # of POSIX

from attacks.campaign import Outcome, attack_python
from attacks.catalogue import TARGETS
from attacks.core_seeds import SEEDS

INPUTS = 100
CORE = Path(__file__).parents[1] / "fuzz" / "core"

BAD_WORKER = """
import ctypes, os, sys
from attacks import worker
from attacks.target import Target

def attack(data):
    if data == b"bad":
        {bad}

worker.TARGETS["bad"] = Target("bad", attack, lambda: [b"bad", b"good"])
worker.main()
"""

BAD: dict[str, tuple[str, Outcome]] = {
    "crashes": ("ctypes.string_at(0)", Outcome("bad", 2, crashes=1)),
    "aborts": ("os.abort()", Outcome("bad", 2, crashes=1)),
    "hangs": ("while True: pass", Outcome("bad", 2, hangs=1)),
    "raises": ("data.no_such_method()", Outcome("bad", 2, exceptions=1)),
    "breaks a promise": ("assert not data", Outcome("bad", 2, exceptions=1)),
    "takes memory": ("bytearray(3 * 2**30)", Outcome("bad", 2, exceptions=1)),
}


@pytest.mark.parametrize("name", TARGETS)
def test_hostile_input_does_no_harm(name: str, tmp_path: Path) -> None:
    found = attack_python(name, tmp_path, inputs=INPUTS)
    assert found == Outcome(name, inputs=INPUTS), [
        path.read_text() for path in tmp_path.rglob("*.txt")
    ]


@pytest.mark.parametrize("case", BAD)
def test_harm_is_found(case: str, tmp_path: Path) -> None:
    code, expected = BAD[case]
    script = tmp_path / "worker.py"
    script.write_text(BAD_WORKER.format(bad=code))
    assert attack_python("bad", tmp_path, inputs=2, worker=[script]) == expected
    [kept] = [path for path in (tmp_path / "bad").glob("*-*") if path.suffix != ".txt"]
    assert kept.read_bytes() == b"bad"


def test_every_target_has_seeds_of_its_own() -> None:
    for name, target in TARGETS.items():
        assert target.seeds() == target.seeds(), name
        assert target.seeds(), name
    programs = {path.stem for path in CORE.glob("*.cpp")} - {"standalone"}
    assert programs == set(SEEDS)
