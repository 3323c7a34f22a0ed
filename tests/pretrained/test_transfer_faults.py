"""Whatever goes wrong in a transfer, a whole model is there or none, and the next one works."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from support.faults import (
    Ended,
    Fault,
    Faults,
    Server,
    Tally,
    all_faults,
    check_ending,
    contents,
)
from support.pretrained import Models

import pairpiece
from pairpiece import locks

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

EVERY = int(os.environ.get("PAIRPIECE_FAULTS_EVERY", "5"))
_MODULES = (
    *("torch", "pairpiece.commands.transfer", "transformers.models.auto.tokenization_auto"),
    *("transformers.models.gpt2.modeling_gpt2", "tokenizers", "safetensors.torch"),
)


class TransferRuns:
    """A transfer, and what it makes when nobody disturbs it."""

    def __init__(self, models: Models, server: Server, faults: Faults) -> None:
        self._server, self._faults = server, faults
        self.output = faults.root / "new"
        self._command = ["transfer", models.model("gpt2"), "--extend", "-o", self.output]
        self._command += ["--tokenizer", models.tokenizer("byte-level")]
        assert self.run(None) == (0, "")
        self.calls = faults.calls()
        self.after = contents(self.output)

    def run(self, fault: Fault | None) -> Ended:
        """Transfer into an empty folder."""
        for path in self._faults.root.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.output.mkdir()
        return self.again(fault)

    def again(self, fault: Fault | None = None) -> Ended:
        """Transfer with what is there."""
        self._faults.plan(fault)
        return self._server.run(*self._command)

    def leftovers(self) -> set[str]:
        """What is there beside the output."""
        return {path.name for path in self._faults.root.iterdir()} - {self.output.name}

    def check(self, fault: Fault, tally: Tally) -> None:
        """Try a fault."""
        call = self.calls[fault.at - 1]
        place = f"{fault}: {call.name} {call.path}"
        ended = self.run(fault)
        try:
            check_ending(ended, fault)
            found = contents(self.output)
            if call.name in ("unlink", "rmdir") and fault.error:  # what cannot go stays
                found = {name: found[name] for name in found if not name.startswith(".pairpiece")}
            assert found in ({}, self.after)
            tally.add(call.name, fault, f"{ended.code}, {'the new one' if found else 'nothing'}")
            if ended.code == 1:
                assert ended.err.startswith(f"pairpiece: {self.output}")
                assert not self.leftovers()
            if ended.code == 0 or found:
                assert found == self.after
                shutil.rmtree(self.output)
            assert self.again() == (0, "")
            assert contents(self.output) == self.after
            assert not self.leftovers()
        except AssertionError as error:
            pytest.fail(f"{place}: {ended}: {error}")


@pytest.fixture(scope="module")
def runs(models: Models, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TransferRuns]:
    own = tmp_path_factory.mktemp("own")
    faults = Faults(tmp_path_factory.mktemp("below"), own)
    # Threads would not survive that the server becomes two processes.
    with Server(faults, own / "said", *_MODULES, OMP_NUM_THREADS="1") as server:
        yield TransferRuns(models, server, faults)


def test_some_faults_in_a_transfer(runs: TransferRuns) -> None:
    tally = Tally()
    faults = list(all_faults(runs.calls))
    for fault in faults[:: len(faults) // 8]:
        runs.check(fault, tally)
    print(tally)


@pytest.mark.slow
def test_more_faults_in_a_transfer(runs: TransferRuns) -> None:
    tally = Tally()
    for fault in list(all_faults(runs.calls))[::EVERY]:
        runs.check(fault, tally)
    print(tally)


def test_two_transfers_to_one_folder_do_not_mix(models: Models, tmp_path: Path) -> None:
    with (
        locks.held(tmp_path / ".new.transfer.lock"),
        pytest.raises(pairpiece.OptionError, match="new: another process is writing to it"),
    ):
        pairpiece.transfer(models.model("gpt2"), models.tokenizer("byte-level"), tmp_path / "new")
    assert list(tmp_path.iterdir()) == []
