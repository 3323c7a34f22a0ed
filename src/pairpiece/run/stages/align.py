"""Words → ``forward.links``, ``reverse.links`` and, if wanted, ``priors.gz``, by Eflomal."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairpiece.links.eflomal import for_aligner
from pairpiece.run.job import Job
from pairpiece.run.reporting import Reporter
from pairpiece.run.stages.stage import Stage
from pairpiece.run.stages.words import read_words
from pairpiece.run.workspace import Result


@dataclass(frozen=True)
class AlignWords(Stage):
    """Links the words of both sides."""

    name = "align"
    doing = "aligning words with Eflomal"

    job: Job
    words: Result

    def depends_on(self) -> dict[str, Any]:
        """The words and the settings of the aligner."""
        aligner = self.job.aligner
        return {
            "words": self.words.content,
            "aligner": ["eflomal", aligner.samplers, aligner.seed, aligner.length],
            "priors": self.job.links.keep_priors,
        }

    def make(self, folder: Path, reporter: Reporter) -> dict[str, Any]:
        """Align in both directions."""
        aligner = self.job.aligner
        inputs = [folder / name for name in ("source.words", "target.words")]
        for path in inputs:
            with path.open("w", encoding="utf-8", newline="\n") as file:
                for words in read_words(self.words.folder / path.name):
                    file.write(for_aligner(words) + "\n")
        aligner.align(
            folder,
            num_threads=self.job.plan.num_threads,
            advance=lambda done, total: reporter.advance(done, total, "iterations"),
        )
        if self.job.links.keep_priors:
            priors = aligner.make_priors(folder)
            # No time and no name in the header: the same priors are the same bytes.
            content = gzip.compress(priors.read_bytes(), 6, mtime=0)
            (folder / "priors.gz").write_bytes(content)
            priors.unlink()
        for path in inputs:
            path.unlink()
        return {"version": aligner.version, "repeatable": aligner.repeatable}
