"""What is measured in the tests of evaluations, and an aligner that is easy to foresee."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pairpiece.evaluation import Evaluation
from pairpiece.evaluation.metric import all_metrics
from pairpiece.evaluation.parallel_text import ParallelText
from pairpiece.evaluation.systems import systems_of
from pairpiece.links.eflomal import Eflomal
from support.french_italian import SOURCES, TARGETS

QUICK: dict[str, Any] = {"resamples": 50, "runs": 1}
NO_ALIGNER = QUICK | {"align": False}
ALIGNER = {"one_to_one", "unaligned", "eflomal_score"}
ALIGNER |= {"one_to_one_target", "unaligned_target", "link_f"}
OF_TEXT = [metric.name for metric in all_metrics() if metric.of_text]

repeatable = pytest.mark.skipif(not Eflomal().repeatable, reason="the aligner has no seed here")

WAYS = [f"model/@{way}" for way in ("marginal", "paired", "aligned", "bigram")]
KINDS = [
    *("sp.model", "hf_unigram.json", "hf_wordpiece.json", "hf_byte_level.json"),
    *("pretokenized:words", "pretokenized:letters"),
]


def value(found: Evaluation, tokenizer: str, metric: str) -> float:
    score = found.score(tokenizer, metric)
    assert score is not None
    return score.value


def without(evaluation: Evaluation) -> set[str]:
    """The metrics that there are no scores of."""
    return {metric.name for metric in all_metrics()} - {s.metric for s in evaluation.scores}


def tokens_of(given: Any) -> list[list[list[str]]]:
    return [one.tokenize(ParallelText(TARGETS, SOURCES)) for one in systems_of(given)]


class Diagonal:
    """Stands for Eflomal: links word n with word n, and remembers what it was given."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.aligned: list[tuple[int, bool, list[str], list[str]]] = []
        patch.setattr(Eflomal, "align", lambda *given, **how: self.align(*given, **how))
        patch.setattr(Eflomal, "make_priors", lambda _, folder: folder / "source.words")

    def align(self, aligner: Eflomal, folder: Path, **how: Any) -> None:
        sources, targets = (
            (folder / f"{side}.words").read_text(encoding="utf-8").split("\n")[:-1]
            for side in ("source", "target")
        )
        self.aligned.append((aligner.seed, how.get("priors") is not None, sources, targets))
        for side in ("forward", "reverse"):
            with (folder / f"{side}.links").open("w") as file:
                for source, target in zip(sources, targets, strict=True):
                    both = range(min(len(source.split()), len(target.split())))
                    file.write(" ".join(f"{i}-{i}" for i in both) + "\n")
            (folder / f"{side}.scores").write_text("2.5\n" * len(sources))
