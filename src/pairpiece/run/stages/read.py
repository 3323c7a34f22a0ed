"""Parallel text → ``source.txt``, ``target.txt``: the pairs that passed the checks.

``numbers.txt`` says which pairs of the corpus they are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairpiece import files
from pairpiece.corpus.checks import Checks, sample
from pairpiece.corpus.reading import SentencePair
from pairpiece.run.job import Job
from pairpiece.run.reporting import Reporter
from pairpiece.run.stages.stage import Stage
from pairpiece.text.words import without_surrogates


@dataclass(frozen=True)
class Read(Stage):
    """Reads the text."""

    name = "read"
    doing = "reading the text"

    job: Job

    def depends_on(self) -> dict[str, Any] | None:
        """The files, and which part of them."""
        corpus = self.job.corpus
        if not corpus.rereadable:
            return None
        return {
            "files": [[str(path), files.digest(path)] for path in corpus.files],
            "format": [corpus.format, corpus.source_column, corpus.target_column],
            "max_lines": self.job.max_lines,
            "seed": self.job.plan.seed if self.job.max_lines else None,
            "tell_spaces": not self.job.plan.text.remove_extra_spaces,
        }

    def make(self, folder: Path, reporter: Reporter) -> dict[str, Any]:
        """Check, sample and write the pairs."""
        found = Checks(tell_spaces=not self.job.plan.text.remove_extra_spaces)
        pairs: Iterable[SentencePair] = found.passing(self._watched(reporter))
        if self.job.max_lines is not None:
            pairs = sample(pairs, self.job.max_lines, self.job.plan.seed)
        used = 0
        characters = [0, 0]
        with (
            (folder / "source.txt").open("w", encoding="utf-8", newline="\n") as sources,
            (folder / "target.txt").open("w", encoding="utf-8", newline="\n") as targets,
            (folder / "numbers.txt").open("w", newline="\n") as numbers,
        ):
            for pair in pairs:
                sources.write(without_surrogates(pair.source) + "\n")
                targets.write(without_surrogates(pair.target) + "\n")
                numbers.write(f"{pair.number}\n")
                used += 1
                characters[0] += len(pair.source)
                characters[1] += len(pair.target)
        return {
            "read": found.read,
            "used": used,
            "source_characters": characters[0],
            "target_characters": characters[1],
            "findings": [dataclasses.asdict(finding) for finding in found.findings.values()],
        }

    def _watched(self, reporter: Reporter) -> Iterator[SentencePair]:
        corpus = self.job.corpus
        total = sum(path.stat().st_size for path in corpus.files) if corpus.rereadable else None
        before = files.bytes_read()
        for number, pair in enumerate(corpus):
            if number % 4096 == 0:
                if total is None:
                    reporter.advance(number, None, "pairs")
                else:
                    done = files.bytes_read() - before
                    reporter.advance(min(done, total), total, "bytes")
            yield pair
