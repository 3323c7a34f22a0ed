"""Measure tokenizers on the same text."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pairpiece.encoding import check_seed
from pairpiece.errors import OptionError
from pairpiece.evaluation import aligned, bootstrap
from pairpiece.evaluation.metric import Metric, Value, chosen_metrics
from pairpiece.evaluation.parallel_text import ParallelText, Sentences
from pairpiece.evaluation.scores import Comparison, Evaluation, Score
from pairpiece.evaluation.systems import System, source_side, systems_of
from pairpiece.evaluation.tokenized import Array, Sample, Settings, Tokenized
from pairpiece.options import check_choice
from pairpiece.source_tokenizers import flat
from pairpiece.symmetrization import SYMMETRIZATIONS
from pairpiece.word_aligner import Eflomal

Advance = Callable[[str, int, int], object]
"""Told what is done, how much of it, and of how much."""


def evaluate(
    tokenizers: Sequence[Any],
    target: Sentences,
    source: Sentences | None = None,
    *,
    source_tokenizer: Any = None,
    dev_target: Sentences | None = None,
    dev_source: Sentences | None = None,
    other_languages: Sequence[Sentences] = (),
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    align: bool = True,
    runs: int = 3,
    symmetrization: str = "grow-diag-final-and",
    renyi_power: float = 3.0,
    resamples: int = 1000,
    seed: int = 0,
    advance: Advance | None = None,
) -> Evaluation:
    """Measure every tokenizer on the same text; a file has a sentence on each line.

    * `tokenizers`: PairPiece models, SentencePiece models, Hugging Face tokenizers, tokenized text:
      see `pairpiece.evaluation.systems.systems_of`.
    * Without `source`, what depends on it is left out.  The source text is tokenized by
      `source_tokenizer`, else by that of a PairPiece model.
    * `dev_target`, `dev_source`: the text that the aligner gets its priors from, as in the paper;
      without, it aligns the text alone.  `runs` of the aligner with different seeds; `align` says
      whether it is used at all.
    * `other_languages`: translations of the same text, for `gini`.
    * `baseline`: the name of the tokenizer that others are compared with, and the reference of
      ratios; the first one if not given.
    * `metrics`: names of those wanted, all if not given.

    The result is plain data: ``evaluate(["it.model"], "test.it").score("it.model", "fertility")``.
    """
    _check(runs, resamples, seed, renyi_power, symmetrization)
    chosen = chosen_metrics(metrics)
    text = ParallelText.read(target, source, other_languages)
    dev = None
    if (dev_target is None) != (dev_source is None):
        raise OptionError("the dev text needs both sides: --dev-source and --dev-target")
    if dev_target is not None:
        dev = ParallelText.read(dev_target, dev_source)
    systems = _with_names([system for given in tokenizers for system in systems_of(given)])
    if text.sources is None and any(system.uses_source for system in systems):
        if not all(system.uses_source for system in systems):
            systems = [system for system in systems if not system.uses_source]
        else:
            raise OptionError("these tokenizers need the source text: give it with --source")
    first = _baseline(systems, baseline)
    notes: list[str] = []
    align = align and text.sources is not None and any(m.place in _ALIGNER for m in chosen)
    settings = Settings(renyi_power, symmetrization)
    if text.sources is None:
        notes.append("no source text: parity and alignment are left out")
    elif not align:
        notes.append("no aligner: alignment metrics are left out")
    else:
        Eflomal.check_installed()
        aligner = Eflomal(seed=seed)
        settings = dataclasses.replace(
            settings,
            aligner=f"eflomal-{aligner.version}:seed-{seed}",
            runs=runs,
            dev="none" if dev is None else dev.digest,
        )
        if not aligner.repeatable:
            notes.append("the aligner cannot be repeated on this system")
    by_source = None if text.sources is None else source_side(source_tokenizer, systems)
    tokenized = []
    for i, system in enumerate(systems):
        if advance is not None:
            advance("tokenizing", i, len(systems))
        tokenized.append(_tokenized(system, text, by_source, settings))
    if align:
        before = None
        if dev is not None:
            before = [
                None if system.one_text else _tokenized(system, dev, by_source, settings)
                for system in systems
            ]
        aligned.align(
            tokenized,
            before,
            runs=runs,
            seed=seed,
            symmetrization=symmetrization,
            advance=None if advance is None else lambda done, of: advance("aligning", done, of),
        )
    drawn = bootstrap.draws(len(text), resamples, seed)
    scores = _scores(tokenized, chosen, systems.index(first), drawn, advance)
    return Evaluation(
        [system.name for system in systems],
        first.name,
        scores,
        len(text),
        text.digest,
        notes,
        chosen,
        tokenized,
    )


_ALIGNER = range(100, 110)  # places of the metrics that need one


def _check(
    runs: object, resamples: object, seed: int, renyi_power: float, symmetrization: str
) -> None:
    if type(runs) is not int or not 1 <= runs <= 1000:
        raise OptionError(f"runs must be between 1 and 1000, not {runs!r}")
    if type(resamples) is not int or not 10 <= resamples <= 100_000:
        raise OptionError(f"resamples must be between 10 and 100,000, not {resamples!r}")
    if type(renyi_power) not in (int, float) or not 0 <= renyi_power <= 100:
        raise OptionError(f"renyi_power must be between 0 and 100, not {renyi_power!r}")
    check_seed(seed)
    check_choice("symmetrization", symmetrization, SYMMETRIZATIONS)


def _with_names(systems: list[System]) -> list[System]:
    """Different names: a number after those that come twice."""
    if not systems:
        raise OptionError("there is nothing to evaluate: give at least one tokenizer")
    seen: dict[str, int] = {}
    named = []
    for system in systems:
        seen[system.name] = seen.get(system.name, 0) + 1
        number = f" ({seen[system.name]})" if seen[system.name] > 1 else ""
        named.append(dataclasses.replace(system, name=system.name + number))
    return named


def _baseline(systems: list[System], name: str | None) -> System:
    if name is None:
        return systems[0]
    check_choice("baseline", name, [system.name for system in systems])
    return next(system for system in systems if system.name == name)


def _tokenized(system: System, text: ParallelText, by_source: Any, settings: Settings) -> Tokenized:
    sources = None
    if by_source is not None and text.sources is not None:
        sources = [flat(by_source, sentence) for sentence in text.sources]
    return Tokenized(system, text, system.tokenize(text), sources, settings)


def _scores(
    tokenized: list[Tokenized],
    metrics: list[Metric],
    baseline: int,
    drawn: Array,
    advance: Advance | None,
) -> list[Score]:
    found = _values(tokenized, metrics, baseline, None)
    resampled = np.full((len(drawn), len(metrics), len(tokenized)), np.nan)
    drawing = [k for k, metric in enumerate(metrics) if metric.of_text]
    for i, weights in enumerate(drawn):
        if advance is not None and i % 50 == 0:
            advance("drawing sentences again", i, len(drawn))
        values = _values(tokenized, [metrics[k] for k in drawing], baseline, weights)
        resampled[i, drawing] = [[_mean(value) for value in row] for row in values]
    return [
        _score(text, metric, found[k], resampled[:, k], j, baseline)
        for k, metric in enumerate(metrics)
        for j, text in enumerate(tokenized)
        if found[k][j] is not None
    ]


def _score(
    text: Tokenized, metric: Metric, found: list[Value], resampled: Array, j: int, baseline: int
) -> Score:
    """The score of tokenizer `j`, given those of all on the text and on the resamples."""
    value, reference = _mean(found[j]), _mean(found[baseline])
    low = high = value
    comparison = None
    if metric.of_text:
        low, high = bootstrap.interval(resampled[:, j])
        if j != baseline and found[baseline] is not None:
            differences = resampled[:, j] - resampled[:, baseline]
            comparison = Comparison(
                value - reference,
                *bootstrap.interval(differences),
                bootstrap.p_value(value - reference, differences),
            )
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
    reference = Sample(tokenized[baseline], weights)
    samples = [
        reference if i == baseline else Sample(text, weights) for i, text in enumerate(tokenized)
    ]
    for sample in samples:
        sample.reference = reference
    return [[metric.value(sample) for sample in samples] for metric in metrics]
