"""Pairs → the model and, to calibrate it by, a plain unigram tokenizer in ``plain``."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairpiece.foreign.protocol import digest_of
from pairpiece.learning.schedule import Progress, passes_left
from pairpiece.learning.training import learn_tokenizer
from pairpiece.model.saving import save_alone
from pairpiece.model.state import known
from pairpiece.run.aligned_text import AlignedText
from pairpiece.run.job import Job
from pairpiece.run.provenance import provenance
from pairpiece.run.reporting import Reporter
from pairpiece.run.stages.pairs import read_pairs
from pairpiece.run.stages.stage import Stage
from pairpiece.run.workspace import Result

PLAIN = "plain"


@dataclass(frozen=True)
class Learn(Stage):
    """Learns the pieces and c(t, s)."""

    name = "learn"
    doing = "learning the pieces"

    job: Job
    aligned: AlignedText
    pairs: Result

    def depends_on(self) -> dict[str, Any]:
        """The pairs, the plan, and what the model remembers of its origin."""
        plan = self.job.plan
        priors = self._priors()
        return {
            "pairs": self.pairs.content,
            "vocab_size": plan.vocab_size,
            "vocabulary": digest_of(plan.vocabulary),
            "allowed": plan.allowed,
            "seed": plan.seed,
            "mode": plan.mode,
            "text": dataclasses.asdict(plan.text),
            "learning": dataclasses.asdict(plan.learning),
            "hard_vocab_limit": plan.hard_vocab_limit,
            "priors": None if priors is None else priors.content,
            "provenance": provenance(self.job, self.aligned, self.pairs),
            "plain": self.job.balance is not None,
        }

    def make(self, folder: Path, reporter: Reporter) -> dict[str, Any]:
        """Learn and save."""
        plan = self.job.plan

        def progress(event: Progress) -> None:
            left = passes_left(event.vocab_size, plan.vocab_size, plan.learning)
            reporter.advance(event.iteration, event.iteration + left, "passes")

        pairs = read_pairs(self.pairs)
        state = learn_tokenizer(pairs, plan, progress, self.aligned.source).state
        origin = {**state.provenance, **provenance(self.job, self.aligned, self.pairs)}
        state = dataclasses.replace(state, provenance=origin)
        if (links := self._priors()) is not None:
            priors = known((links.folder / "priors.gz").read_bytes())
            state = dataclasses.replace(state, priors=priors)
        save_alone(state, folder)
        if self.job.balance is not None and plan.vocabulary is None:
            plain = learn_tokenizer(pairs, plan.plain(len(state.vocabulary)))
            save_alone(plain.state, folder / PLAIN)
        return {"vocab_size": len(state.vocabulary)}

    def _priors(self) -> Result | None:
        """The alignment whose priors the model keeps."""
        return self.aligned.links if self.job.links.keep_priors else None
