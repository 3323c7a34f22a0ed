"""What both experiments share: one model for each tokenizer, setting and seed, then the numbers."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import json
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pairpiece import __version__, files
from pairpiece.downstream.measures import Array, Measure, Measured, scores
from pairpiece.downstream.runs import Run, folder_name, locked, perform
from pairpiece.downstream.samples import Sample
from pairpiece.downstream.settings import LearningSettings
from pairpiece.encoding import check_seed
from pairpiece.errors import OptionError
from pairpiece.evaluation.formats import to_markdown
from pairpiece.evaluation.measuring import Advance
from pairpiece.evaluation.scores import Evaluation
from pairpiece.evaluation.systems import System

Found = dict[tuple[str, str, int], dict[str, Any]]
"""The results of runs by tokenizer, setting and seed."""


@dataclass(frozen=True)
class Curve:
    """How a model got better on the dev text while it learned."""

    tokenizer: str
    setting: str
    seed: int
    points: list[tuple[int, float]]  # (lines seen, bits per byte)


@dataclass(frozen=True)
class Results:
    """Everything that an experiment has found."""

    experiment: str
    evaluation: Evaluation
    preset: str
    settings: LearningSettings
    versions: dict[str, str]
    runs: list[dict[str, Any]]
    curves: list[Curve]
    samples: list[Sample]

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "experiment": self.experiment,
            "preset": self.preset,
            "settings": dataclasses.asdict(self.settings),
            "versions": self.versions,
            **self.evaluation.as_dict(),
            "runs": self.runs,
            "curves": [dataclasses.asdict(curve) for curve in self.curves],
            "samples": [
                {**dataclasses.asdict(sample), "given": dict(sample.given)}
                for sample in self.samples
            ],
        }

    def save(self, folder: Path) -> None:
        """Write ``results.json``, ``results.md``, ``samples.md`` and the curves."""
        from pairpiece.downstream import curves, samples

        content = json.dumps(self.as_dict(), ensure_ascii=False, indent=1) + "\n"
        files.write(folder / "results.json", content.encode("utf-8"))
        files.write(folder / "results.md", to_markdown(self.evaluation).encode("utf-8"))
        files.write(folder / "samples.md", samples.to_markdown(self.samples).encode("utf-8"))
        for name, drawing in curves.files_for(self.curves).items():
            files.write(folder / name, drawing)


@dataclass(frozen=True)
class Conditions:
    """How runs are done, whatever they do."""

    output: Path
    preset: str
    seeds: Sequence[int]
    jobs: int
    threads: int
    device: str
    resamples: int
    versions: dict[str, str]

    @classmethod
    def checked(
        cls,
        output: str | os.PathLike[str],
        preset: str,
        seeds: object,
        seed: int,
        jobs: int | None,
        threads: int,
        device: str,
        resamples: int,
    ) -> Conditions:
        """With sensible values for what was not said, and an error for what makes no sense."""
        check_seed(seed)
        if type(seeds) is not int or not 1 <= seeds <= 1000:
            raise OptionError(f"seeds must be between 1 and 1000, not {seeds!r}")
        for name, number in (("threads", threads), ("jobs", 1 if jobs is None else jobs)):
            if type(number) is not int or not 1 <= number <= 1000:
                raise OptionError(f"{name} must be between 1 and 1000, not {number!r}")
        if type(resamples) is not int or not 10 <= resamples <= 100_000:
            raise OptionError(f"resamples must be between 10 and 100,000, not {resamples!r}")
        torch, transformers = installed("torch"), installed("transformers")
        installed("matplotlib")
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            torch.zeros(1, device=device)
        except (RuntimeError, AssertionError) as error:
            raise OptionError(f"there is no device {device!r} here: {error}") from None
        if jobs is None:
            jobs = max(1, (os.cpu_count() or 1) // threads) if device == "cpu" else 1
        versions = {
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "pairpiece": __version__,
        }
        return cls(
            Path(output),
            preset,
            range(seed, seed + seeds),
            jobs,
            threads,
            device,
            resamples,
            versions,
        )


def installed(module: str, extra: str = "lm") -> Any:
    """The module, or an `OptionError` that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise OptionError(
            f'this experiment needs {module}: pip install "pairpiece[{extra}]"'
        ) from None


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
                self.conditions.versions,
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
                        **conditions.versions,
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
                    facts |= self.conditions.versions
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


def digest(value: Any) -> str:
    """Twelve hexadecimal digits that stand for plain data."""
    content = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(content.encode("utf-8")).hexdigest()[:12]
