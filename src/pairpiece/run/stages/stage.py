"""What a stage is, and how stages are done one after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from pairpiece.run.reporting import Reporter
from pairpiece.run.workspace import Result, Workspace

VERSION = 4
"""Of what the stages make; results of other versions are not used again."""


class Stage(ABC):
    """A step of a run whose result is a folder; its fields are all that it needs."""

    name: ClassVar[str]
    doing: ClassVar[str]  # what people are told meanwhile

    @abstractmethod
    def depends_on(self) -> dict[str, Any] | None:
        """Plain data that stands for all that the result depends on; None if nobody can know."""

    @abstractmethod
    def make(self, folder: Path, reporter: Reporter) -> dict[str, Any]:
        """Fill the folder; what is returned is remembered with it."""


@dataclass
class Doing:
    """Does stages, or finds that they were done before."""

    workspace: Workspace
    reporter: Reporter
    results: list[Result] = field(default_factory=list)

    def __call__(self, stage: Stage) -> Result:
        """The result of a stage."""
        self.reporter.begin(stage.name, stage.doing)
        depends_on = stage.depends_on()
        result = self.workspace.stage(
            stage.name,
            None if depends_on is None else {"version": VERSION, **depends_on},
            lambda folder: stage.make(folder, self.reporter),
        )
        self.results.append(result)
        self.reporter.end(result)
        return result


def sentences(text: Result, reporter: Reporter, *sides: Iterable[Any]) -> Iterator[Any]:
    """What there is of each sentence of a text, side by side."""
    total = text.details["used"]
    for number, sentence in enumerate(zip(*sides, strict=True)):
        if number % 1024 == 0:
            reporter.advance(number, total, "sentences")
        yield sentence
