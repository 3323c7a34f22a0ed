"""How the speed suite measures: CPU seconds, side by side, and what a section of it says."""

from __future__ import annotations

import json
import math
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Spread:
    """The median of some measurements, and their range."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """That of all values."""
        found = sorted(values)
        return cls(statistics.median(found), found[0], found[-1])

    @classmethod
    def parse(cls, text: str) -> Spread:
        """What `str` wrote."""
        median, low, high = re.findall(r"[\d.,]+", text)
        return cls(*(float(found.replace(",", "")) for found in (median, low, high)))

    def __str__(self) -> str:
        return f"{number(self.median)} ({number(self.low)}–{number(self.high)})"


def number(value: float) -> str:
    """Two or three digits that count."""
    if value >= 99.5:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.95 else f"{value:.2f}"


def cpu_seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def wall_seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def growth(sizes: list[float], costs: list[float]) -> float:
    """The exponent with which a cost grows from the smallest size to the largest."""
    return math.log(costs[-1] / costs[0]) / math.log(sizes[-1] / sizes[0])


def child(script: str, **arguments: Any) -> dict[str, Any]:
    """What `script --child ARGUMENTS`, a process of its own, prints as JSON."""
    command = [sys.executable, script, "--child", json.dumps(arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@dataclass(frozen=True)
class Target:
    """Something that is to hold, and what was measured."""

    work: str
    goal: str
    measured: str
    met: bool


@dataclass(frozen=True)
class Section:
    """A part of the results: text in Markdown, and the targets it is about."""

    title: str
    text: str
    targets: list[Target] = field(default_factory=list)
    commit: str = ""  # that was measured

    def save(self, path: Path) -> None:
        """Keep it, so that another section can be measured alone."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), ensure_ascii=False, indent=1), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Section:
        """Read what `save` wrote."""
        values = json.loads(path.read_text(encoding="utf-8"))
        values["targets"] = [Target(**target) for target in values["targets"]]
        return cls(**values)


@dataclass(frozen=True)
class Settings:
    """What all sections are run with."""

    data: Path  # folders named SOURCE-TARGET
    work_dir: Path
    plots: Path  # the folder for pictures
    quick: bool = False

    @property
    def corpus(self) -> Path:
        """The one that speed is measured on."""
        return self.data / "fra-ita"

    @property
    def repeat(self) -> int:
        """How many rounds there are of what is quick to measure."""
        return 3 if self.quick else 7


def table(header: list[str], rows: Iterable[Iterable[object]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def tables(text: str) -> list[list[list[str]]]:
    """The rows of every table in Markdown that `table` wrote, without the headers."""
    found: list[list[list[str]]] = []
    before = ""
    for line in text.splitlines():
        if line.startswith("|"):
            if not before.startswith("|"):
                found.append([])
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        before = line
    return [rows[2:] for rows in found]
