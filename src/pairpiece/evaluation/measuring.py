"""`evaluate`: measure tokenizers on the same text, and compare them."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Sequence
from typing import Any

from pairpiece.errors import OptionError
from pairpiece.evaluation import aligned, bootstrap
from pairpiece.evaluation.aligned import ALIGNERS, EFLOMAL
from pairpiece.evaluation.language_names import languages
from pairpiece.evaluation.metric import chosen_metrics
from pairpiece.evaluation.parallel_text import ParallelText, Sentences
from pairpiece.evaluation.scores import Evaluation, Score
from pairpiece.evaluation.scoring import Advance, scores
from pairpiece.evaluation.systems import (
    System,
    baseline_of,
    named_systems,
    source_side,
    with_controls,
)
from pairpiece.evaluation.tokenized import Settings, Tokenized
from pairpiece.foreign.protocol import SubwordTokenizer, digest_of, flat
from pairpiece.links import fast_align
from pairpiece.links.eflomal import Eflomal
from pairpiece.links.symmetrization import SYMMETRIZATIONS
from pairpiece.model.encoding import check_seed
from pairpiece.options import check_choice, check_whole


def evaluate(
    tokenizers: Sequence[Any],
    target: Sentences,
    source: Sentences | None = None,
    *,
    source_tokenizer: Any = None,
    source_language: str | None = None,
    target_language: str | None = None,
    dev_target: Sentences | None = None,
    dev_source: Sentences | None = None,
    other_languages: Sequence[Sentences] = (),
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    align: bool = True,
    aligner: str = EFLOMAL,
    control: bool = True,
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
    * `source_language`, `target_language`: what the title of a report calls them; if not given, it
      goes by the names of the files: ``test.fr`` is fr.
    * `dev_target`, `dev_source`: the text that the aligner gets its priors from, as in the paper;
      without, it aligns the text alone.  `aligner` is ``"eflomal"``, of which there are `runs`
      with different seeds, or ``"fast_align"``, which is always the same; `align` says whether one
      is used at all.
    * `control`: measure PairPiece models that are aligned with a source also with a wrong one, the
      source of another sentence of about the same length.
    * `other_languages`: translations of the same text, for `gini`.
    * `baseline`: the name of the tokenizer that others are compared with, and that ratios refer to;
      the first one if not given.
    * `metrics`: names of those wanted, all if not given.

    The result is plain data: ``evaluate(["it.model"], "test.it").score("it.model", "fertility")``.
    """
    _check(runs, resamples, seed, renyi_power, symmetrization)
    check_choice("aligner", aligner, ALIGNERS)
    for given, what in ((tokenizers, "tokenizers"), (metrics, "metrics")):
        if isinstance(given, str):
            raise OptionError(f"{what} must be a list, not {given!r}")
    chosen = chosen_metrics(metrics)
    names = languages(
        target, source, target_language=target_language, source_language=source_language
    )
    text = ParallelText.read(target, source, other_languages)
    if (dev_target is None) != (dev_source is None):
        raise OptionError(
            "the dev text needs both sides: dev_source and dev_target", ["dev_source", "dev_target"]
        )
    dev = None if dev_target is None else ParallelText.read(dev_target, dev_source)
    notes: list[str] = []
    systems = _usable(named_systems(tokenizers), text, notes)
    align = align and text.sources is not None and any(m.needs_aligner for m in chosen)
    if align and control and len(text) > 1:
        systems = with_controls(systems)
    first = baseline_of(systems, baseline)
    by_source = None if text.sources is None else source_side(source_tokenizer, systems)
    settings = Settings(
        renyi_power,
        symmetrization,
        source=_digest(digest_of(by_source) or "function"),
        baseline=first.digest,
    )
    if align:
        settings = _with_aligner(settings, aligner, seed, runs, systems, dev, notes)
    elif text.sources is not None:
        notes.append("no aligner: alignment metrics are left out")
    sources = _source_tokens(by_source, text)
    tokenized = []
    for i, system in enumerate(systems):
        if advance is not None:
            advance("tokenizing", i, len(systems))
        tokenized.append(Tokenized(system, text, system.tokenize(text), sources, settings))
    if align:
        aligned.align(
            tokenized,
            None if dev is None else _dev_texts(systems, dev, by_source, settings),
            aligner=aligner,
            runs=runs,
            seed=seed,
            symmetrization=symmetrization,
            advance=None if advance is None else functools.partial(advance, "aligning"),
        )
    found = scores(tokenized, chosen, systems.index(first), resamples, seed, advance)
    notes += _warnings(found)
    return Evaluation(
        {system.name: system.digest for system in systems},
        first.name,
        found,
        len(text),
        text.digest,
        notes,
        chosen,
        tokenized,
        languages=names,
    )


def _with_aligner(
    settings: Settings,
    aligner: str,
    seed: int,
    runs: int,
    systems: list[System],
    dev: ParallelText | None,
    notes: list[str],
) -> Settings:
    """The settings with what the links of the aligner depend on."""
    if aligner == EFLOMAL:
        Eflomal.check_installed(
            'measure without links (align=False) or with those of aligner="fast_align"',
            ["align", "aligner"],
        )
        if not Eflomal().repeatable:
            notes.append("the aligner cannot be repeated on this system")
        name = f"{aligner}-{Eflomal().version}:seed-{seed}"
    else:
        fast_align.check_installed()
        name, runs = f"{aligner}-{fast_align.version()}", 1
        settings = dataclasses.replace(settings, symmetrization="its-own")
    return dataclasses.replace(
        settings,
        aligner=name,
        runs=runs,
        dev="none" if dev is None else dev.digest,
        joint=_digest(" ".join(system.digest for system in systems)),
    )


def _dev_texts(
    systems: list[System], dev: ParallelText, by_source: SubwordTokenizer | None, settings: Settings
) -> list[Tokenized | None]:
    """The dev text of each system that can tokenize it."""
    sources = _source_tokens(by_source, dev)
    return [
        None if system.one_text else Tokenized(system, dev, system.tokenize(dev), sources, settings)
        for system in systems
    ]


def _usable(systems: list[System], text: ParallelText, notes: list[str]) -> list[System]:
    """Those that can tokenize the text; the others need a source that is not there."""
    if text.sources is not None:
        return systems
    usable = [system for system in systems if not system.uses_source]
    if not usable:
        raise OptionError("these tokenizers need the source text: give source=", ["source"])
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
        f"of this kind (dev text), or more runs"
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
        raise OptionError(
            f"renyi_power must be between 0 and 100, not {renyi_power!r}", ["renyi_power"]
        )
    check_seed(seed)
    check_choice("symmetrization", symmetrization, SYMMETRIZATIONS)


def _source_tokens(
    tokenizer: SubwordTokenizer | None, text: ParallelText
) -> list[list[str]] | None:
    if tokenizer is None or text.sources is None:
        return None
    return [flat(tokenizer, sentence) for sentence in text.sources]
