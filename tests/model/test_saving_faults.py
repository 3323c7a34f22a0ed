"""Whatever goes wrong at any call that writes, the old model is there, or the new one, whole."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.faults import (
    KILLED,
    Ended,
    Fault,
    Faults,
    Server,
    Tally,
    all_faults,
    check_ending,
    contents,
)
from support.french_italian import PAIRS, TARGETS

import pairpiece
from pairpiece.foreign.huggingface_files import FILES
from pairpiece.model import saving

pytestmark = pytest.mark.usefixtures("no_fsync")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Saved models: each differs from the first in what its name says."""
    options: dict[str, Any] = {"normalization": "none", "byte_fallback": False}
    source = pairpiece.train_from_pairs(
        [([], "".join(source), count) for source, _, count in PAIRS if source],
        100,
        "unigram",
        **options,
    )
    first = pairpiece.train_from_pairs(PAIRS, 120, source_tokenizer=source, **options)
    first = first.distill_bigram(TARGETS)
    other_source = source._replaced(seed=1)
    made = {
        "first": first,
        "tables": first._replaced(seed=2, source_tokenizer=other_source),
        "vocabulary": pairpiece.train_from_pairs(PAIRS, 100, **options),
        "special tokens": pairpiece.train_from_pairs(PAIRS, 120, bos_piece="<début>", **options),
    }
    folder = tmp_path_factory.mktemp("models")
    for name, model in made.items():
        model.save(folder / name)
    return {name: folder / name for name in made}


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Faults:
    return Faults(tmp_path_factory.mktemp("below"), tmp_path_factory.mktemp("own"))


@pytest.fixture(scope="module")
def saver(faults: Faults, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(faults, tmp_path_factory.mktemp("said") / "said") as saver:
        yield saver


def model_in(folder: Path) -> str | None:
    """The digest of a model all of which is read; None if nothing there says it is one."""
    try:
        return saving.packed(pairpiece.load(folder).state).digest
    except pairpiece.ModelFormatError as error:
        if "is not a PairPiece model" not in str(error):
            raise
        return None


CASES = [
    ("nothing", "first"),
    ("first", "tables"),
    ("first", "vocabulary"),
    ("first", "special tokens"),
    pytest.param("first", "first", marks=pytest.mark.slow),
    pytest.param("vocabulary", "first", marks=pytest.mark.slow),
    pytest.param("special tokens", "first", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("old", "new"), CASES)
def test_whatever_goes_wrong_the_old_model_is_there_or_the_new_one(
    old: str,
    new: str,
    models: dict[str, Path],
    faults: Faults,
    saver: Server,
) -> None:
    folder = faults.root / "model"
    may_lack = "special tokens" in (old, new) or old == "nothing"
    before = contents(models[old]) if old in models else {}
    after = contents(models[new])

    def saved(fault: Fault | None) -> Ended:
        shutil.rmtree(folder, ignore_errors=True)
        if before:
            shutil.copytree(models[old], folder)
        faults.plan(fault)
        return saver.save(models[new], folder)

    saved(None)
    assert saved(None) == (0, "")
    calls = faults.calls()
    assert contents(folder) == after
    assert {call.name for call in calls} >= {"open", "write", "fsync", "rename", "mkdir", "unlink"}
    outcomes = {model_in(models[name]): name for name in (old, new) if name in models}
    outcomes.setdefault(None, "nothing")
    tally = Tally()
    for fault in all_faults(calls):
        ended = saved(fault)
        code, said = ended
        call = calls[fault.at - 1]
        place = f"{fault}: {call.name} {call.path}: {said}"
        found = contents(folder)
        there = outcomes[model_in(folder)]
        tally.add(call.name, fault, f"{code}, {'new' if there == new else 'old'}")
        assert there in (old, new), place
        check_ending(ended, fault)
        assert (code == KILLED) == (fault.error == 0), place
        if code == 0:
            assert there == new, place
        if code == 1:
            assert said.startswith(str(folder)), place
        if code == 1 and there == old:
            assert found == before, place
        # What other tools find is the same model, or nothing.
        beside = {name: found[name] for name in FILES if name in found}
        if FILES[0] in beside or code != KILLED or not may_lack:
            expected = after if there == new else before
            assert beside == {name: expected[name] for name in FILES if name in expected}, place
        faults.plan(None)
        assert saver.save(models[new], folder) == (0, ""), place
        assert contents(folder) == after, place
    print(f"{old} → {new}: {tally}")


def test_the_harness_counts_nothing_elsewhere(
    models: dict[str, Path], faults: Faults, saver: Server, tmp_path: Path
) -> None:
    faults.plan(Fault(1, 0))
    assert saver.save(models["first"], tmp_path / "elsewhere") == (0, "")
    assert faults.calls() == []
