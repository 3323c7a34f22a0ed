"""Whatever goes wrong in a training, the next one makes of it what it would have made anyway."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command_line import begin_of_sample, text
from support.faults import (
    Call,
    Ended,
    Fault,
    Faults,
    Server,
    Tally,
    all_faults,
    check_ending,
    contents,
)

import pairpiece
from pairpiece.links.eflomal import Eflomal

EVERY = int(os.environ.get("PAIRPIECE_FAULTS_EVERY", "9"))
"""Of the long test: which of the faults are tried; ``make faults`` tries them all."""

_MODULES = ("pairpiece.commands.train", "rich.table", "sentencepiece")


class TrainingRuns:
    """A training over an older model, and what it makes when nobody disturbs it."""

    def __init__(self, folder: Path, server: Server, faults: Faults) -> None:
        self._server, self._faults = server, faults
        self.cache, self.model = faults.root / "cache", faults.root / "model"
        self._old = folder / "old"
        pairs = begin_of_sample(40)
        for name, side in zip(("fr", "it"), zip(*pairs, strict=True), strict=True):
            (folder / name).write_text(text(*side), encoding="utf-8")
        pairpiece.train(corpus=pairs, vocab_size=400, align="none", cache=False, output=self._old)
        self._command = ["train", "--source", folder / "fr", "--target", folder / "it", "-q"]
        self._command += ["--output", self.model, "--work-dir", self.cache, "--vocab-size", 420]
        self._command += ["--set", "normalization=none", "--keep-priors", "--aligner-length", 0.05]
        assert self.run(None) == (0, "")
        self.calls = faults.calls()
        self.before, self.after = contents(self._old), contents(self.model)
        self.digests = {
            pairpiece.load(place).digest: what
            for place, what in ((self._old, "old"), (self.model, "new"))
        }

    def run(self, fault: Fault | None) -> Ended:
        """Train over the older model, with nothing kept."""
        shutil.rmtree(self.cache, ignore_errors=True)
        shutil.rmtree(self.model, ignore_errors=True)
        shutil.copytree(self._old, self.model)
        self._faults.plan(fault)
        return self._server.run(*self._command)

    def again(self) -> Ended:
        """Train once more with what is there."""
        self._faults.plan(None)
        return self._server.run(*self._command)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrainingRuns]:
    if not Eflomal().repeatable:
        pytest.skip("the same text has the same links on Linux only")
    own = tmp_path_factory.mktemp("own")
    faults = Faults(tmp_path_factory.mktemp("below"), own)
    with Server(faults, own / "said", *_MODULES, OMP_NUM_THREADS="1") as server:
        yield TrainingRuns(own, server, faults)


def check(runs: TrainingRuns, fault: Fault, call: Call, tally: Tally) -> None:
    place = f"{fault}: {call.name} {call.path}"
    ended = runs.run(fault)
    try:
        check_ending(ended, fault)
        there = runs.digests[pairpiece.load(runs.model).digest]
        tally.add(call.name, fault, f"{ended.code}, {there}")
        assert ended.code != 0 or there == "new"
        if ended.code == 1 and there == "old":
            assert contents(runs.model) == runs.before
        if ended.code == 1:
            hidden = [path.name for path in runs.cache.glob(".*") if path.is_dir()]
            assert not hidden or call.name in ("unlink", "rmdir", "open")
        assert runs.again() == (0, "")
        assert contents(runs.model) == runs.after
        assert not list(runs.cache.glob(".*")), "leftovers"
    except (AssertionError, KeyError, pairpiece.PairPieceError) as error:
        pytest.fail(f"{place}: {ended}: {error!r}")


def test_there_is_much_that_can_go_wrong(runs: TrainingRuns) -> None:
    below = (call.path.parts[len(runs.cache.parts) :] for call in runs.calls)
    stages = {parts[0].split("-")[0] for parts in below if parts}
    assert stages >= {".read", ".source", ".words", ".align", ".pairs", ".learn"}
    links = [call for call in runs.calls if call.path.name == "forward.links"]
    assert {call.name for call in links} >= {"open", "write"}, "what Eflomal itself writes"


def test_faults_all_over_a_training(runs: TrainingRuns) -> None:
    tally = Tally()
    step = len(runs.calls) // 7
    for i, call in enumerate(runs.calls[step // 2 :: step]):
        check(runs, Fault(call.number, (errno.ENOSPC, 0)[i % 2]), call, tally)
    print(tally)


@pytest.mark.slow
def test_more_faults_in_a_training(runs: TrainingRuns) -> None:
    tally = Tally()
    for fault in list(all_faults(runs.calls))[::EVERY]:
        check(runs, fault, runs.calls[fault.at - 1], tally)
    print(tally)


@pytest.mark.parametrize("half", [False, True])
def test_what_eflomal_cannot_write_is_not_taken_for_links(half: bool, runs: TrainingRuns) -> None:
    written = (call for call in runs.calls if call.path.name == "forward.links")
    call = next(call for call in written if call.name == "write")
    ended = runs.run(Fault(call.number, errno.ENOSPC, half))
    assert ended.code == 1
    assert "is there enough memory, and enough room in" in ended.err
    assert str(runs.cache) in ended.err
