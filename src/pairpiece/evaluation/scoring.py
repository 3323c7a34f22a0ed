"""From tokenized texts to scores: every metric on the text, and on resamples of its sentences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from pairpiece.evaluation import bootstrap
from pairpiece.evaluation.metric import Metric, Value
from pairpiece.evaluation.parallel_text import Array
from pairpiece.evaluation.scores import Comparison, Score
from pairpiece.evaluation.tokenized import Resample, Tokenized

Advance: TypeAlias = Callable[[str, int, int], object]
"""Told what is done, how much of it, and of how much."""


def scores(
    tokenized: list[Tokenized],
    metrics: list[Metric],
    baseline: int,
    resamples: int,
    seed: int,
    advance: Advance | None,
) -> list[Score]:
    """What every metric says about every text; `baseline` is the number of that to compare with."""
    found = _values(tokenized, metrics, baseline, None)
    resampled = np.full((resamples, len(metrics), len(tokenized)), np.nan)
    runs = np.random.default_rng(seed % 2**64 + 1)
    drawing = [k for k, metric in enumerate(metrics) if metric.of_text]
    for i, weights in enumerate(bootstrap.draws(len(tokenized[0].tokens), resamples, seed)):
        if advance is not None and i % 50 == 0:
            advance("drawing sentences again", i, resamples)
        values = _values(tokenized, [metrics[k] for k in drawing], baseline, weights)
        for k, row in zip(drawing, values, strict=True):
            resampled[i, k] = [_mean(bootstrap.drawn_again(value, runs)) for value in row]
    return [
        _score(text, metric, found[k], resampled[:, k], j, baseline)
        for k, metric in enumerate(metrics)
        for j, text in enumerate(tokenized)
        if math.isfinite(_mean(found[k][j]))
    ]


def _score(
    text: Tokenized, metric: Metric, found: list[Value], resampled: Array, j: int, baseline: int
) -> Score:
    """The score of tokenizer `j`, given those of all on the text and on the resamples."""
    value, theirs = _mean(found[j]), _mean(found[baseline])
    low = high = value
    comparison = None
    if metric.of_text:
        low, high = bootstrap.interval(value, resampled[:, j])
        if j != baseline and math.isfinite(theirs):
            differences = resampled[:, j] - resampled[:, baseline]
            comparison = Comparison.of(value - theirs, differences)
    by_run = found[j]
    runs = by_run if isinstance(by_run, list) else []
    name = text.system.name
    return Score(name, metric.name, value, low, high, runs, metric.signature(text), comparison)


def _mean(value: Value) -> float:
    if isinstance(value, list):
        return sum(value) / len(value)
    return math.nan if value is None else value


def _values(
    tokenized: list[Tokenized], metrics: list[Metric], baseline: int, weights: Array | None
) -> list[list[Value]]:
    """What each metric says about each text, for the sentences drawn."""
    resamples = [Resample(text, weights) for text in tokenized]
    for resample in resamples:
        resample.baseline = resamples[baseline]
    return [[metric.value(resample) for resample in resamples] for metric in metrics]
