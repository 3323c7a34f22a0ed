"""How good translations are: chrF++, BLEU and TER by sacreBLEU, COMET where its model is."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from pairpiece.downstream.measures import Measure, bits_per_byte
from pairpiece.errors import OptionError
from pairpiece.evaluation.parallel_text import Array

BITS_PER_BYTE = Measure(
    "bits_per_byte",
    "lower",
    4,
    "negative log-likelihood of the references given the sources in bits, over their bytes",
    bits_per_byte,
)


def measured(
    written: Sequence[Sequence[str]], references: Sequence[str]
) -> list[tuple[Measure, list[Array], str]]:
    """chrF++, BLEU and TER with the paper's settings: statistics for each seed, and a signature."""
    from sacrebleu.metrics import BLEU, CHRF, TER

    found = []
    for name, metric, better, about in (
        ("chrf++", CHRF(word_order=2), "higher", "F-score of n-grams of characters and words"),
        ("bleu", BLEU(force=True), "higher", "precision of n-grams of words, with brevity penalty"),
        ("ter", TER(), "lower", "edits per word of the reference"),
    ):
        by_seed = [_statistics(metric, lines, references) for lines in written]
        measure = Measure(name, better, 2, about, functools.partial(_score, metric))
        label = f"{metric.corpus_score(written[0], [references]).name}|{metric.get_signature()}"
        found.append((measure, by_seed, label))
    return found


# What sacreBLEU's own bootstrap uses; its public functions score whole corpora only, a thousand of
# which would take hours.


def _statistics(metric: Any, lines: Sequence[str], references: Sequence[str]) -> Array:
    """A row for each sentence."""
    return np.array(metric._extract_corpus_statistics(lines, [references]), np.float64)


def _score(metric: Any, sums: Array) -> float:
    return float(metric._aggregate_and_compute([sums.tolist()]).score)


# ---------------------------------------------------------------------- COMET

_COMET = Measure(
    "comet",
    "higher",
    4,
    "estimate of a neural model that reads source, translation and reference",
    lambda sums: float(sums[0] / sums[1]),
)


def comet_model(given: str | PathLike[str]) -> Any:
    """A COMET model: a checkpoint on this disk, or one that was downloaded before, by name."""
    try:
        import comet
    except ImportError:
        raise OptionError(
            "COMET needs its package, and that an older transformers than translation does: say "
            'pip install "pairpiece[comet]" in an environment of its own, and run the same command '
            "there once the models are trained here: it takes them as they are"
        ) from None
    path = Path(given)
    try:
        if not path.is_file():
            path = Path(comet.download_model(str(given), local_files_only=True))
        model = comet.load_from_checkpoint(str(path))
    except Exception as error:  # whatever the hub, the file or the network comes up with
        raise OptionError(
            f"there is no COMET model {given} on this disk ({type(error).__name__}): download it "
            f"where there is a network (comet-score does), or give the path of its .ckpt"
        ) from None
    return str(given), model


def comet_measured(
    named: tuple[str, Any],
    written: Sequence[Sequence[str]],
    references: Sequence[str],
    sources: Sequence[str],
    device: str,
) -> tuple[Measure, list[Array], str]:
    """COMET's scores of the sentences."""
    name, model = named
    by_seed = []
    for lines in written:
        data = [
            {"src": source, "mt": line, "ref": reference}
            for source, line, reference in zip(sources, lines, references, strict=True)
        ]
        found = model.predict(data, batch_size=16, gpus=int(device != "cpu"))
        by_seed.append(np.stack([np.array(found.scores), np.ones(len(data))], 1))
    return _COMET, by_seed, f"COMET|model:{name}"
