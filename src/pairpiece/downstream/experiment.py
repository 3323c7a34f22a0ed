"""What both experiments share: one model for each tokenizer, setting and seed, then the numbers."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from pairpiece import __version__
from pairpiece.downstream.conditions import Conditions
from pairpiece.downstream.curves import Curve
from pairpiece.downstream.measures import Measure, Measured, scores
from pairpiece.downstream.results import Results
from pairpiece.downstream.runs import Run, folder_name, locked, perform, versions_of
from pairpiece.downstream.samples import Sample
from pairpiece.downstream.settings import LearningSettings
from pairpiece.evaluation.parallel_text import Array
from pairpiece.evaluation.scores import Evaluation
from pairpiece.evaluation.scoring import Advance
from pairpiece.evaluation.systems import System
from pairpiece.run.workspace import digest

Found = dict[tuple[str, str, int], dict[str, Any]]
"""The results of runs by tokenizer, setting and seed."""


class Experiment(ABC):
    """Models trained on the same text with different tokenizers, and compared."""

    kind: ClassVar[str]

    def __init__(
        self,
        conditions: Conditions,
        learning: LearningSettings,
        systems: list[System],
        baseline: System,
        settings: list[str],
    ) -> None:
        self.conditions = conditions
        self.learning = learning
        self.systems = systems
        self.baseline = baseline
        self.settings = settings
        self.notes: list[str] = []

    @abstractmethod
    def data(self, setting: str) -> dict[str, str]:
        """Digests of all text and tokenizers, besides that of the target, that a model sees."""

    @abstractmethod
    def write_text(self, system: System, path: Path) -> None:
        """Put all text into a file, as the ids of pieces."""

    @abstractmethod
    def measured(
        self, system: System, setting: str, results: list[dict[str, Any]]
    ) -> list[tuple[Measure, list[Array], str]]:
        """What is measured, its statistics for each seed, and a part of its signature."""

    @abstractmethod
    def samples(self, found: Found) -> list[Sample]:
        """What models have written."""

    @staticmethod
    @abstractmethod
    def work(run: Run, advance: Callable[[int], object]) -> dict[str, Any]:
        """Train a model and measure it, perhaps in another process."""

    def conduct(self, advance: Advance | None) -> Results:
        """Train what is not trained yet, measure, and keep the results."""
        with locked(self.conditions.output):
            runs = self._runs(advance)
            done = perform(runs, self.conditions.jobs, advance)
            found = {
                (run.tokenizer, run.setting, run.seed): result
                for run, result in zip(runs, done, strict=True)
            }
            measured = self._measured(found)
            evaluation = Evaluation(
                {system.name: system.digest for system in self.systems},
                self.baseline.name,
                scores(
                    measured,
                    self.baseline.name,
                    self.conditions.resamples,
                    self.conditions.seeds[0],
                ),
                len(measured[0].by_seed[0]),
                self.data(self.settings[0])["test"],
                self.notes,
                list({one.measure.name: one.measure for one in measured}.values()),
                runs_are="seeds",
            )
            results = Results(
                self.kind,
                evaluation,
                self.conditions.preset,
                self.learning,
                versions_of(done),
                [
                    self._facts(run, result, measured)
                    for run, result in zip(runs, done, strict=True)
                ],
                [self._curve(run, result) for run, result in zip(runs, done, strict=True)],
                self.samples(found),
            )
            results.save(self.conditions.output)
        return results

    def _runs(self, advance: Advance | None) -> list[Run]:
        """All of them; their text is tokenized."""
        conditions = self.conditions
        runs = []
        for i, system in enumerate(self.systems):
            if advance is not None:
                advance("tokenizing", i, len(self.systems))
            tokenizer = {"tokenizer": system.digest, "version": __version__}
            text = {**tokenizer, **{s: self.data(s) for s in self.settings}}
            path = conditions.output / "text" / f"{folder_name(system.name, text)}.safetensors"
            path.parent.mkdir(exist_ok=True)
            if not path.is_file():
                self.write_text(system, path)
            for setting in self.settings:
                for seed in conditions.seeds:
                    depends_on = {
                        **tokenizer,
                        **self.data(setting),
                        "setting": setting,
                        "settings": dataclasses.asdict(self.learning),
                        "seed": seed,
                        "threads": conditions.threads,
                        "device": conditions.device,
                    }
                    name = folder_name(f"{system.name} {setting} {seed}", depends_on)
                    runs.append(
                        Run(
                            system.name,
                            setting,
                            seed,
                            self.learning,
                            path,
                            conditions.output / "runs" / name,
                            conditions.device,
                            conditions.threads,
                            type(self).work,
                        )
                    )
        return runs

    def _measured(self, found: Found) -> list[Measured]:
        measured = []
        seeds = self.conditions.seeds
        for setting in self.settings:
            for system in self.systems:
                results = [found[system.name, setting, seed] for seed in seeds]
                for measure, by_seed, how in self.measured(system, setting, results):
                    facts = {
                        "tokenizer": system.digest,
                        **self.data(setting),
                        "preset": self.conditions.preset,
                        "settings": digest(dataclasses.asdict(self.learning)),
                        "seeds": f"{seeds[0]}-{seeds[-1]}",
                    }
                    facts |= versions_of(results)
                    line = "|".join(f"{key}:{value}" for key, value in facts.items())
                    line = f"{measure.name}|{how}|{line}"
                    measured.append(Measured(measure, system.name, by_seed, line))
        order = list(dict.fromkeys(one.measure.name for one in measured))
        return sorted(measured, key=lambda one: order.index(one.measure.name))

    def _facts(self, run: Run, result: dict[str, Any], measured: list[Measured]) -> dict[str, Any]:
        """What there is to say about a run."""
        place = list(self.conditions.seeds).index(run.seed)
        return {
            "tokenizer": run.tokenizer,
            "setting": run.setting,
            "seed": run.seed,
            "folder": run.folder.name,
            **{key: result[key] for key in ("parameters", "updates", "best_update", "seconds")},
            "values": {
                one.measure.name: one.values()[place]
                for one in measured
                if one.tokenizer == run.tokenizer and run.setting in one.measure.name
            },
        }

    def _curve(self, run: Run, result: dict[str, Any]) -> Curve:
        lines = self.learning.batch * self.learning.accumulation
        points = [(update * lines, loss / math.log(2)) for update, _, loss in result["curve"]]
        return Curve(run.tokenizer, run.setting, run.seed, points)
