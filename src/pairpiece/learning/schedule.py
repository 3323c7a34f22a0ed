"""Which pass comes when: count and prune until few enough pieces are left, then count again."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pairpiece.learning import pruning
from pairpiece.learning.engine import Engine
from pairpiece.learning.options import LearningOptions


@dataclass(frozen=True)
class Progress:
    """What a progress callback is told after every step of learning."""

    stage: str  # "seeds", "count" or "prune"
    iteration: int  # passes made so far
    vocab_size: int  # learned pieces there are now
    log_likelihood: float  # of the pairs in the last pass; NaN before the first
    table_entries: int  # stored c(t, s)
    seconds: float  # since the beginning


ProgressCallback = Callable[[Progress], object]


def follow_schedule(
    engine: Engine, options: LearningOptions, wanted: int, progress: ProgressCallback | None = None
) -> None:
    """Count and prune until `wanted` pieces are left, then count again."""
    started = time.monotonic()
    iteration = 0
    log_likelihood = float("nan")

    def report(stage: str) -> None:
        if progress is not None:
            size = len(engine.piece_counts())
            entries = int(engine.table_entries())
            seconds = time.monotonic() - started
            progress(Progress(stage, iteration, size, log_likelihood, entries, seconds))

    def count() -> None:
        nonlocal iteration, log_likelihood
        log_likelihood = engine.count()
        iteration += 1
        report("count")

    def keep(scores: pruning.Scores, size: int) -> None:
        if size < len(scores):
            engine.keep(pruning.keep_best(engine, scores, max(size, wanted)))
            report("prune")

    def drop_unused() -> None:
        counts = np.asarray(engine.piece_counts())
        enough = options.min_expected_count * (1 - 1e-9)  # up to rounding
        keep(counts, int((counts >= enough).sum()))

    engine.initialize()
    report("seeds")
    goal = int(wanted * options.pruning_margin)
    while (size := len(engine.piece_counts())) > goal:
        for _ in range(options.num_sub_iterations):
            count()
            drop_unused()
        if len(engine.piece_counts()) > size * options.shrinking_factor:
            scores = pruning.SCORES[options.pruning](engine, options.likelihood_weight)
            keep(scores, max(goal, int(size * options.shrinking_factor)))
    if size > wanted:
        for _ in range(options.num_sub_iterations):
            count()
        keep(np.asarray(engine.piece_counts()), wanted)
    for _ in range(options.num_final_iterations):
        count()


def passes_left(size: int, wanted: int, options: LearningOptions) -> int:
    """How many passes there are still to come at most, with `size` pieces of `wanted`."""
    prunings = max(0.0, math.log(size / wanted)) / -math.log(options.shrinking_factor)
    return math.ceil(prunings) * options.num_sub_iterations + options.num_final_iterations
