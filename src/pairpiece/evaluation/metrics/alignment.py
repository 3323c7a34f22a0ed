"""Metrics of how well target tokens correspond to source tokens, by the links of an aligner.

The aligner is stochastic, so each number is a list, one for each of its runs.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from pairpiece.evaluation.metric import Metric
from pairpiece.evaluation.tokenized import Links, Resample, Tokenized


class _Alignment(Metric):
    needs_aligner = True

    def value(self, resample: Resample) -> list[float] | None:
        """One for each run."""
        if resample.tokenized.source_lengths is None or not resample.tokenized.runs:
            return None
        return [self.of_run(resample, run) for run in resample.tokenized.runs]

    @abstractmethod
    def of_run(self, resample: Resample, run: Links) -> float:
        """What a run has to say about the resample."""

    def options(self, tokenized: Tokenized) -> dict[str, Any]:
        """What the aligner was given, and what became of its two directions."""
        settings = tokenized.settings
        return {
            "aligner": settings.aligner,
            "runs": settings.runs,
            "dev": settings.dev,
            "joint": settings.joint,
            "links": settings.symmetrization,
            "source": settings.source,
        }


class OneToOne(_Alignment):
    """Hämmerl et al. (2025), on the source side as in the paper."""

    name, place, better = "one_to_one", 100, "higher"
    about = "share of source tokens linked with one target token that is linked with no other"

    def of_run(self, resample: Resample, run: Links) -> float:
        """Such tokens / source tokens."""
        return resample.ratio(run.one_to_one, resample.tokenized.source_total)


class Unaligned(_Alignment):
    """The paper's."""

    name, place, better = "unaligned", 101, "lower"
    about = "share of source tokens without a link"

    def of_run(self, resample: Resample, run: Links) -> float:
        """Such tokens / source tokens."""
        return 1 - resample.ratio(run.sources, resample.tokenized.source_total)


class EflomalScore(_Alignment):
    """Vázquez et al. (2019), used by Hämmerl et al. (2025)."""

    name, place, better = "eflomal_score", 102, "lower"
    about = "Eflomal's score of a sentence, averaged over sentences and both directions"

    def of_run(self, resample: Resample, run: Links) -> float:
        """The mean."""
        return resample.ratio(run.scores, run.scored)


class OneToOneTarget(_Alignment):
    """The twin of `OneToOne` that does not reward needless tokens."""

    name, place, better = "one_to_one_target", 103, "higher"
    about = "the same share of target tokens"

    def of_run(self, resample: Resample, run: Links) -> float:
        """Tokens linked one to one / target tokens."""
        return resample.ratio(run.one_to_one, resample.tokenized.lengths)


class UnalignedTarget(_Alignment):
    """The twin of `Unaligned`."""

    name, place, better = "unaligned_target", 104, "lower"
    about = "share of target tokens without a link"

    def of_run(self, resample: Resample, run: Links) -> float:
        """Such tokens / target tokens."""
        return 1 - resample.ratio(run.targets, resample.tokenized.lengths)


class LinkF(_Alignment):
    """Fair to both sides: needless tokens on either lower it."""

    name, place, better = "link_f", 105, "higher"
    about = "links that both directions of the aligner agree on, in proportion to all tokens"

    def of_run(self, resample: Resample, run: Links) -> float:
        """Twice the links / (source tokens + target tokens)."""
        tokens = resample.tokenized.lengths + resample.tokenized.source_total
        return 2 * resample.ratio(run.certain, tokens)


class OwnOneToOne(Metric):
    """No aligner but the model."""

    name, place = "own_one_to_one", 110
    about = "one-to-one by the links that the PairPiece model itself finds"

    def value(self, resample: Resample) -> float | None:
        """Source tokens linked one to one / source tokens."""
        own = resample.tokenized.own_links
        if own is None:
            return None
        return resample.ratio(own.one_to_one, own.source_total)
