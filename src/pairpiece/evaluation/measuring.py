"""Measure tokenizers on the same text."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pairpiece.errors import OptionError
from pairpiece.evaluation import aligned, bootstrap
from pairpiece.evaluation.metric import Metric, Value, chosen_metrics
from pairpiece.evaluation.parallel_text import Array, ParallelText, Sentences
from pairpiece.evaluation.scores import Comparison, Evaluation, Score
from pairpiece.evaluation.systems import System, source_side, systems_of
from pairpiece.evaluation.tokenized import Sample, Settings, Tokenized
from pairpiece.foreign.protocol import SubwordTokenizer, digest_of, flat
from pairpiece.links.eflomal import Eflomal
from pairpiece.links.symmetrization import SYMMETRIZATIONS
from pairpiece.model.encoding import check_seed
from pairpiece.options import check_choice, check_whole

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
    for given, what in ((tokenizers, "tokenizers"), (metrics, "metrics")):
        if isinstance(given, str):
            raise OptionError(f"{what} must be a list, not {given!r}")
    chosen = chosen_metrics(metrics)
    text = ParallelText.read(target, source, other_languages)
    if (dev_target is None) != (dev_source is None):
        raise OptionError("the dev text needs both sides: --dev-source and --dev-target")
    dev = None if dev_target is None else ParallelText.read(dev_target, dev_source)
    notes: list[str] = []
    systems = _usable(with_names([s for one in tokenizers for s in systems_of(one)]), text, notes)
    first = baseline_of(systems, baseline)
    align = align and text.sources is not None and any(m.needs_aligner for m in chosen)
    by_source = None if text.sources is None else source_side(source_tokenizer, systems)
    settings = Settings(
        renyi_power,
        symmetrization,
        source=_digest(digest_of(by_source) or "function"),
        reference=first.digest,
    )
    if align:
        Eflomal.check_installed()
        aligner = Eflomal(seed=seed)
        settings = dataclasses.replace(
            settings,
            aligner=f"eflomal-{aligner.version}:seed-{seed}",
            runs=runs,
            dev="none" if dev is None else dev.digest,
            joint=_digest(" ".join(system.digest for system in systems)),
        )
        if not aligner.repeatable:
            notes.append("the aligner cannot be repeated on this system")
    elif text.sources is not None:
        notes.append("no aligner: alignment metrics are left out")
    sources = _source_tokens(by_source, text)
    tokenized = []
    for i, system in enumerate(systems):
        if advance is not None:
            advance("tokenizing", i, len(systems))
        tokenized.append(Tokenized(system, text, system.tokenize(text), sources, settings))
    if align:
        before = None
        if dev is not None:
            dev_sources = _source_tokens(by_source, dev)
            before = [
                None
                if system.one_text
                else Tokenized(system, dev, system.tokenize(dev), dev_sources, settings)
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
    scores = _scores(tokenized, chosen, systems.index(first), resamples, seed, advance)
    notes += _warnings(scores)
    return Evaluation(
        {system.name: system.digest for system in systems},
        first.name,
        scores,
        len(text),
        text.digest,
        notes,
        chosen,
        tokenized,
    )


def _usable(systems: list[System], text: ParallelText, notes: list[str]) -> list[System]:
    """Those that can tokenize the text; the others need a source that is not there."""
    if text.sources is not None:
        return systems
    usable = [system for system in systems if not system.uses_source]
    if not usable:
        raise OptionError("these tokenizers need the source text: give it with --source")
    left_out = ["parity and alignment", *(s.name for s in systems if s.uses_source)]
    notes.append(f"no source text: {'; '.join(left_out)} left out")
    return usable


def _warnings(scores: list[Score]) -> list[str]:
    """What makes the numbers doubtful."""
    spread = max(
        (max(s.runs) - min(s.runs) for s in scores if s.metric == "link_f" and s.runs), default=0
    )
    if spread <= _DOUBTFUL_SPREAD:
        return []
    return [
        f"the runs of the aligner differ by {spread:.2f} in link f: give it more text "
        f"(--dev-source, --dev-target) or more --runs"
    ]


_DOUBTFUL_SPREAD = 0.05


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]


def _check(
    runs: object, resamples: object, seed: int, renyi_power: float, symmetrization: str
) -> None:
    check_whole("runs", runs, 1, 1000)
    bootstrap.check_resamples(resamples)
    if type(renyi_power) not in (int, float) or not 0 <= renyi_power <= 100:
        raise OptionError(f"renyi_power must be between 0 and 100, not {renyi_power!r}")
    check_seed(seed)
    check_choice("symmetrization", symmetrization, SYMMETRIZATIONS)


def with_names(systems: list[System]) -> list[System]:
    """Different names: a number after those that come twice."""
    if not systems:
        raise OptionError("there is nothing to evaluate: give at least one tokenizer")
    names: set[str] = set()
    named = []
    for system in systems:
        name = system.name
        for number in itertools.count(2):
            if name not in names:
                break
            name = f"{system.name} ({number})"
        names.add(name)
        named.append(dataclasses.replace(system, name=name))
    return named


def baseline_of(systems: list[System], name: str | None) -> System:
    """The one that others are compared with."""
    if name is None:
        return systems[0]
    check_choice("baseline", name, [system.name for system in systems])
    return next(system for system in systems if system.name == name)


def _source_tokens(
    tokenizer: SubwordTokenizer | None, text: ParallelText
) -> list[list[str]] | None:
    if tokenizer is None or text.sources is None:
        return None
    return [flat(tokenizer, sentence) for sentence in text.sources]


def _scores(
    tokenized: list[Tokenized],
    metrics: list[Metric],
    baseline: int,
    resamples: int,
    seed: int,
    advance: Advance | None,
) -> list[Score]:
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
    value, reference = _mean(found[j]), _mean(found[baseline])
    low = high = value
    comparison = None
    if metric.of_text:
        low, high = bootstrap.interval(value, resampled[:, j])
        if j != baseline and math.isfinite(reference):
            differences = resampled[:, j] - resampled[:, baseline]
            comparison = Comparison.of(value - reference, differences)
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
