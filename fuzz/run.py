"""Attacks every target for so many seconds, and prints a table of what was found (``make fuzz``).

    python fuzz/run.py                              # the targets in Python, 20 seconds each
    python fuzz/run.py --core BUILD/fuzz/core       # those in C++ too, built with libFuzzer
    python fuzz/run.py manifest core/trie --seconds 600 --core BUILD/fuzz/core
    python fuzz/run.py manifest --replay FILE       # one input again
    python fuzz/run.py --seeds FOLDER               # what the targets begin with, as files

Inputs with which something is wrong lie in a folder for each target below --findings.  Needs what
the tests need.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

from attacks.campaign import Outcome, attack_core, attack_python, write_seeds  # noqa: E402
from attacks.catalogue import TARGETS  # noqa: E402
from attacks.core_seeds import SEEDS  # noqa: E402

from pairpiece import PairPieceError  # noqa: E402

CORE = [f"core/{name}" for name in SEEDS]


def main() -> None:
    """Attack, or do again what was found."""
    parser = argparse.ArgumentParser(description="attack every target for so many seconds")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=" ".join([*TARGETS, *CORE]))
    parser.add_argument("--seconds", type=float, default=20, help="for each target (20)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--core", type=Path, help="the folder with the programs fuzz_…")
    parser.add_argument("--findings", type=Path, help="a new folder below /tmp by default")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="one input, for one target")
    parser.add_argument("--seeds", type=Path, metavar="FOLDER", help="write the seeds, do no more")
    options = parser.parse_args()
    if unknown := set(options.targets) - {*TARGETS, *CORE}:
        parser.error(f"there is no target {min(unknown)}")
    if options.replay:
        [name] = options.targets
        try:
            print(TARGETS[name].attack(options.replay.read_bytes()))
        except PairPieceError as error:
            print(f"refused: {error}")
    elif options.seeds:
        write_all_seeds(options.seeds)
    else:
        wanted = options.targets or [*TARGETS, *(CORE if options.core else [])]
        findings = options.findings or Path(tempfile.mkdtemp(prefix="pairpiece-fuzz-"))
        sys.exit(0 if attack_all(wanted, options, findings) else 1)


def attack_all(targets: list[str], options: argparse.Namespace, findings: Path) -> bool:
    """Attack one target after the other; whether nothing was found."""
    print(f"findings in {findings}, seed {options.seed}, {options.seconds:g} seconds each")
    print(
        f"{'target':20} {'inputs':>12} {'crashes':>8} {'hangs':>8} {'exceptions':>11} {'MiB':>6} "
        f"{'slowest':>8}",
        flush=True,
    )
    found = []
    for name in targets:
        how = {"seed": options.seed, "seconds": options.seconds}
        if name in TARGETS:
            found.append(attack_python(name, findings, **how))
        else:
            program = options.core / f"fuzz_{name.removeprefix('core/')}"
            found.append(attack_core(program, findings, **how))
        print(row(found[-1]), flush=True)
    counts = (sum(column) for column in zip(*map(numbers, found), strict=True))
    most = {name: max(getattr(one, name) for one in found) for name in ("memory", "slowest")}
    print(row(Outcome("all", *counts, **most)))
    return all(outcome.is_good for outcome in found)


def numbers(outcome: Outcome) -> tuple[int, int, int, int]:
    """What can be added up."""
    return outcome.inputs, outcome.crashes, outcome.hangs, outcome.exceptions


def row(outcome: Outcome) -> str:
    """A line of the table."""
    inputs, crashes, hangs, exceptions = numbers(outcome)
    return (
        f"{outcome.target:20} {inputs:12,} {crashes:8} {hangs:8} {exceptions:11} "
        f"{outcome.memory:6} {outcome.slowest:7.2f}s"
    )


def write_all_seeds(folder: Path) -> None:
    """A folder for each target, with a file for each seed."""
    for name in TARGETS:
        (folder / name).mkdir(parents=True, exist_ok=True)
        for number, data in enumerate(TARGETS[name].seeds()):
            (folder / name / f"{number:03}").write_bytes(data)
    for name in SEEDS:
        (folder / "core" / name).mkdir(parents=True, exist_ok=True)
        write_seeds(name, folder / "core" / name)


if __name__ == "__main__":
    main()
