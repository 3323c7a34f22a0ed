"""The results of an evaluation, as plain data."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pairpiece.evaluation import bootstrap
from pairpiece.evaluation.parallel_text import Array
from pairpiece.evaluation.tokenized import Tokenized


class Described(Protocol):
    """What tables say about a metric."""

    @property
    def name(self) -> str:
        """With underscores for spaces."""

    @property
    def better(self) -> str:
        """Which values are: "lower", "higher", or neither."""

    @property
    def digits(self) -> int:
        """After the point."""

    @property
    def about(self) -> str:
        """What it measures."""


@dataclass(frozen=True)
class Comparison:
    """How far a score is from that of the baseline, by a paired bootstrap."""

    difference: float
    low: float  # of the 95 % interval
    high: float
    p: float  # of a difference as large by chance, two-sided

    @classmethod
    def of(cls, difference: float, resampled: Array) -> Comparison:
        """From the differences on resamples."""
        low, high = bootstrap.interval(difference, resampled)
        return cls(difference, low, high, bootstrap.p_value(difference, resampled))


@dataclass(frozen=True)
class Score:
    """What a metric says about a tokenizer."""

    tokenizer: str
    metric: str
    value: float
    low: float  # of the 95 % interval, by a bootstrap over sentences
    high: float
    runs: list[float]  # of the aligner, or of training, for metrics that depend on it
    signature: str
    comparison: Comparison | None = None


@dataclass(frozen=True)
class Evaluation:
    """All scores, and what they were measured on."""

    digests: dict[str, str]  # by the names of the tokenizers
    baseline: str
    scores: list[Score]
    sentences: int
    data: str  # digest
    notes: list[str]
    metrics: Sequence[Described] = field(repr=False)
    tokenized: list[Tokenized] = field(repr=False, default_factory=list)
    runs_are: str = "runs of the aligner"
    languages: str = ""  # what a title calls them

    @property
    def tokenizers(self) -> list[str]:
        """Their names."""
        return list(self.digests)

    def score(self, tokenizer: str, metric: str) -> Score | None:
        """One of the scores, if there is such a one."""
        found = (s for s in self.scores if (s.tokenizer, s.metric) == (tokenizer, metric))
        return next(found, None)

    def best(self, metric: Described) -> list[str]:
        """The tokenizers with the best score, as far as shown; none if no value is better."""
        values = {
            score.tokenizer: round(score.value, metric.digits)
            for score in self.scores
            if score.metric == metric.name
        }
        if not metric.better or len(values) < 2:
            return []
        wanted = (min if metric.better == "lower" else max)(values.values())
        return [name for name, value in values.items() if value == wanted]

    def shown_metrics(self) -> list[Described]:
        """The metrics that there are scores of."""
        found = {score.metric for score in self.scores}
        return [metric for metric in self.metrics if metric.name in found]

    def as_dict(self) -> dict[str, Any]:
        """Everything but the text, ready for JSON."""
        return {
            "tokenizers": [
                {"name": name, "digest": digest} for name, digest in self.digests.items()
            ],
            "baseline": self.baseline,
            "sentences": self.sentences,
            "data": self.data,
            "notes": self.notes,
            "metrics": {
                metric.name: {"about": metric.about, "better": metric.better}
                for metric in self.shown_metrics()
            },
            "scores": [dataclasses.asdict(score) for score in self.scores],
        }
