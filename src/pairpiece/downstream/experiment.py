"""An experiment: one model for each tokenizer, setting and seed, then the numbers."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pairpiece import __version__, files
from pairpiece.downstream.conditions import Conditions
from pairpiece.downstream.curves import Curve
from pairpiece.downstream.measures import Measure, Measured, scores
from pairpiece.downstream.pieces import TargetPieces
from pairpiece.downstream.results import Results
from pairpiece.downstream.rows import Rows
from pairpiece.downstream.settings import TrainingSettings
from pairpiece.downstream.trials import Trial, folder_name, locked, perform, versions_of
from pairpiece.downstream.written_text import WrittenText
from pairpiece.evaluation.parallel_text import Array, ParallelText
from pairpiece.evaluation.scores import Evaluation
from pairpiece.evaluation.scoring import Advance
from pairpiece.evaluation.systems import System
from pairpiece.run.workspace import digest

Found = dict[tuple[str, str, int], dict[str, Any]]
"""The results of trials by tokenizer, setting and seed."""


@dataclass(eq=False)
class Experiment(ABC):
    """Models trained on the same text with different tokenizers, and compared."""

    kind: ClassVar[str]

    conditions: Conditions
    training: TrainingSettings
    systems: list[System]
    baseline: System
    settings: list[str]

    def __post_init__(self) -> None:
        self.pieces = {system.name: TargetPieces(system) for system in self.systems}
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
    def written(self, tokenizer: str, setting: str, result: dict[str, Any]) -> list[WrittenText]:
        """Some of what a model has written."""

    @staticmethod
    @abstractmethod
    def work(trial: Trial, advance: Callable[[int], object]) -> dict[str, Any]:
        """Train a model and measure it, perhaps in another process."""

    def start_of(self, system: System) -> Path | None:
        """The model whose weights are gone on from, if it is not a new one."""
        del system
        return None

    def target_rows(
        self, system: System, texts: dict[str, ParallelText], first: int
    ) -> dict[str, Rows]:
        """Texts as ids, pieces from `first` on, and how many bytes each line has."""
        rows = {}
        for name, text in texts.items():
            rows[name] = self.pieces[system.name].rows(text).shifted(first)
            rows[f"{name}_bytes"] = Rows.of([text.bytes])
        return rows

    def conduct(self, advance: Advance | None) -> Results:
        """Train what is not trained yet, measure, and keep the results."""
        conditions = self.conditions
        with locked(conditions.output):
            trials = self._trials(advance)
            done = list(zip(trials, perform(trials, conditions.jobs, advance), strict=True))
            found = {(t.tokenizer, t.setting, t.seed): result for t, result in done}
            measured = self._measured(found)
            evaluation = Evaluation(
                {system.name: system.digest for system in self.systems},
                self.baseline.name,
                scores(measured, self.baseline.name, conditions.resamples, conditions.seeds[0]),
                len(measured[0].by_seed[0]),
                self.data(self.settings[0])["test"],
                self.notes,
                list({one.measure.name: one.measure for one in measured}.values()),
                runs_are="seeds",
            )
            results = Results(
                self.kind,
                evaluation,
                conditions.preset,
                self.training,
                versions_of([result for _, result in done]),
                [self._facts(trial, result, measured) for trial, result in done],
                [self._curve(trial, result) for trial, result in done],
                [
                    text
                    for trial, result in done
                    if trial.seed == conditions.seeds[0]
                    for text in self.written(trial.tokenizer, trial.setting, result)
                ],
            )
            results.save(conditions.output)
        return results

    def _trials(self, advance: Advance | None) -> list[Trial]:
        """All of them; their text is tokenized."""
        conditions = self.conditions
        trials = []
        for i, system in enumerate(self.systems):
            if advance is not None:
                advance("tokenizing", i, len(self.systems))
            tokenizer = {"tokenizer": system.digest, "version": __version__}
            start = self.start_of(system)
            if start is not None:
                tokenizer["start"] = weights_digest(start)
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
                        "settings": dataclasses.asdict(self.training),
                        "seed": seed,
                        "threads": conditions.threads,
                        "device": conditions.device,
                    }
                    name = folder_name(f"{system.name} {setting} {seed}", depends_on)
                    trials.append(
                        Trial(
                            system.name,
                            setting,
                            seed,
                            self.training,
                            path,
                            conditions.output / "runs" / name,
                            conditions.device,
                            conditions.threads,
                            type(self).work,
                            start,
                        )
                    )
        return trials

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
                        "settings": digest(dataclasses.asdict(self.training)),
                        "seeds": f"{seeds[0]}-{seeds[-1]}",
                    }
                    facts |= versions_of(results)
                    line = "|".join(f"{key}:{value}" for key, value in facts.items())
                    line = f"{measure.name}|{how}|{line}"
                    measured.append(Measured(measure, system.name, by_seed, line))
        order = list(dict.fromkeys(one.measure.name for one in measured))
        return sorted(measured, key=lambda one: order.index(one.measure.name))

    def _facts(
        self, trial: Trial, result: dict[str, Any], measured: list[Measured]
    ) -> dict[str, Any]:
        """What there is to say about a trial."""
        place = list(self.conditions.seeds).index(trial.seed)
        return {
            "tokenizer": trial.tokenizer,
            "setting": trial.setting,
            "seed": trial.seed,
            "folder": trial.folder.name,
            **{key: result[key] for key in ("parameters", "updates", "best_update", "seconds")},
            "values": {
                one.measure.name: one.values()[place]
                for one in measured
                if one.tokenizer == trial.tokenizer and trial.setting in one.measure.name
            },
        }

    def _curve(self, trial: Trial, result: dict[str, Any]) -> Curve:
        lines = self.training.batch * self.training.accumulation
        points = [(update * lines, loss / math.log(2)) for update, _, loss in result["curve"]]
        return Curve(trial.tokenizer, trial.setting, trial.seed, points)


def weights_digest(folder: Path) -> str:
    """What stands for the weights of a model."""
    paths = [folder / "config.json", *sorted(folder.glob("model*.safetensors"))]
    return digest({path.name: files.digest(path) for path in paths})
