"""The results of an experiment, as data and as files."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairpiece import files
from pairpiece.downstream import curves, written_text
from pairpiece.downstream.curves import Curve
from pairpiece.downstream.settings import TrainingSettings
from pairpiece.downstream.written_text import WrittenText
from pairpiece.evaluation.formats import to_markdown
from pairpiece.evaluation.scores import Evaluation


@dataclass(frozen=True)
class Results:
    """Everything that an experiment has found."""

    experiment: str
    evaluation: Evaluation
    preset: str
    settings: TrainingSettings
    versions: dict[str, str]
    runs: list[dict[str, Any]]
    curves: list[Curve]
    samples: list[WrittenText]

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
                {**dataclasses.asdict(text), "given": dict(text.given)} for text in self.samples
            ],
        }

    def to_json(self) -> str:
        """Everything."""
        return json.dumps(self.as_dict(), ensure_ascii=False, indent=1) + "\n"

    def save(self, folder: Path) -> None:
        """Write ``results.json``, ``results.md``, ``samples.md`` and the curves."""
        contents = {
            "results.json": self.to_json().encode("utf-8"),
            "results.md": to_markdown(self.evaluation).encode("utf-8"),
            "samples.md": written_text.to_markdown(self.samples).encode("utf-8"),
            **curves.files_for(self.curves),
        }
        files.write_all({folder / name: content for name, content in contents.items()})
