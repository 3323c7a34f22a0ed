"""The measures of trained models: a value per seed, the mean, and what chance may have done."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pairpiece.evaluation import bootstrap
from pairpiece.evaluation.parallel_text import Array
from pairpiece.evaluation.scores import Comparison, Score


@dataclass(frozen=True)
class Measure:
    """A number that comes from sums over the sentences of a test text."""

    name: str
    better: str
    digits: int
    about: str
    of_sums: Callable[[Array], float]


@dataclass(frozen=True)
class Measured:
    """For one tokenizer: what each seed's model has to say about each sentence."""

    measure: Measure
    tokenizer: str
    by_seed: list[Array]  # a row for each sentence, the columns to be summed
    signature: str

    def values(self) -> list[float]:
        """The number for each seed."""
        return [self.measure.of_sums(statistics.sum(0)) for statistics in self.by_seed]

    def resampled(self, weights: Array, seeds: npt.NDArray[np.int64]) -> Array:
        """The mean over the seeds drawn, for each way to draw sentences."""
        by_seed = np.array(
            [
                [self.measure.of_sums(sums) for sums in weights @ statistics]
                for statistics in self.by_seed
            ]
        )
        return np.asarray(by_seed[seeds, np.arange(len(weights))].mean(0), np.float64)


def drawn_seeds(number: int, resamples: int, random: int) -> npt.NDArray[np.int64]:
    """The seeds for each resample, the same for all tokenizers: a seed decides which lines come
    when, so models with the same seed go together.

    Of n seeds n - 1 are drawn, which gives their mean the variance that it has; with n it would be
    too small (Rao and Wu, 1988).
    """
    size = (max(1, number - 1), resamples)
    return np.random.default_rng(random % 2**64).integers(0, number, size)


def scores(measured: Sequence[Measured], baseline: str, resamples: int, seed: int) -> list[Score]:
    """Every number with its interval, and how it differs from that of the baseline."""
    sentences = len(measured[0].by_seed[0])
    weights = np.stack(list(bootstrap.draws(sentences, resamples, seed)))
    seeds = drawn_seeds(len(measured[0].by_seed), resamples, seed + 1)
    resampled = [one.resampled(weights, seeds) for one in measured]
    means = [float(np.mean(one.values())) for one in measured]
    baselines = {o.measure.name: k for k, o in enumerate(measured) if o.tokenizer == baseline}
    found = []
    for one, value, drawn in zip(measured, means, resampled, strict=True):
        name = one.measure.name
        comparison = None
        if one.tokenizer != baseline:
            k = baselines[name]
            comparison = Comparison.of(value - means[k], drawn - resampled[k])
        low, high = bootstrap.interval(value, drawn)
        runs, signature = one.values(), one.signature
        found.append(Score(one.tokenizer, name, value, low, high, runs, signature, comparison))
    return found


# ---------------------------------------------------------------------- language models


def bits_per_byte(sums: Array) -> float:
    """Of (nats of all tokens and ends, bytes)."""
    return float(sums[0] / sums[1] / math.log(2))


def perplexity_per_byte(sums: Array) -> float:
    """Of (nats of all tokens and ends, bytes), or of the paper's (mean nats per token, bytes)."""
    return float(math.exp(sums[0] / sums[1]))


def language_model_measures(setting: str) -> list[Measure]:
    """The proper ones, and the paper's."""
    where = f"_{setting}"
    return [
        Measure(
            f"bits_per_byte{where}",
            "lower",
            4,
            "negative log-likelihood of all tokens and ends of lines in bits, over the bytes of "
            "the text: comparable between tokenizers",
            bits_per_byte,
        ),
        Measure(
            f"perplexity_per_byte{where}",
            "lower",
            4,
            "two to the power of the bits per byte",
            perplexity_per_byte,
        ),
        Measure(
            f"per_token_as_published{where}",
            "",  # neither is better: it is lower for whoever makes more tokens
            4,
            "what the paper's code computes: the mean loss per token of each line, summed over "
            "lines, over bytes, as exp; not comparable between tokenizers",
            perplexity_per_byte,
        ),
    ]


def language_model_statistics(result: dict[str, Any], sizes: Array) -> list[Array]:
    """For the three measures, from what a trial has found."""
    nats, tokens = np.array(result["nats"]), np.array(result["tokens"], np.float64)
    proper = np.stack([nats, sizes], 1)
    return [proper, proper, np.stack([nats / tokens, sizes], 1)]
