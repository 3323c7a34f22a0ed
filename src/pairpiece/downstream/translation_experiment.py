"""Translation into different target tokens: the same sentences, the same order, several seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np

from pairpiece import files
from pairpiece.downstream import translation_scores
from pairpiece.downstream.conditions import Conditions, installed
from pairpiece.downstream.experiment import Experiment
from pairpiece.downstream.measures import Measure
from pairpiece.downstream.results import Results
from pairpiece.downstream.rows import Rows, load_rows, save_rows
from pairpiece.downstream.settings import TranslationSettings, translation_settings
from pairpiece.downstream.translation import (
    FIRST,
    TranslationTask,
    negative_log_likelihoods,
    translate,
)
from pairpiece.downstream.translation_text import read_splits, source_rows
from pairpiece.downstream.trials import Trial
from pairpiece.downstream.written_text import WrittenText
from pairpiece.evaluation.parallel_text import Array, ParallelText, Sentences
from pairpiece.evaluation.scoring import Advance
from pairpiece.evaluation.systems import System, baseline_of, named_systems, source_side
from pairpiece.foreign.protocol import digest_of
from pairpiece.run.workspace import digest

_SHOWN = 8  # translations


def translations(
    tokenizers: Sequence[Any],
    source: Sentences,
    target: Sentences,
    dev_source: Sentences,
    dev_target: Sentences,
    test_source: Sentences,
    test_target: Sentences,
    *,
    output: str | PathLike[str],
    source_tokenizer: Any = None,
    baseline: str | None = None,
    comet: str | PathLike[str] | None = None,
    preset: str = "tiny",
    seeds: int = 3,
    seed: int = 1,
    jobs: int | None = None,
    threads: int = 1,
    device: str = "auto",
    resamples: int = 1000,
    advance: Advance | None = None,
    **changes: Any,
) -> Results:
    """Train Transformers from scratch with each target tokenizer, and measure translations.

    * `tokenizers`: of the target language, as in `pairpiece.evaluate`; PairPiece models tokenize
      the text to learn from with its source.  At test time the model writes pieces, so no source is
      needed to tokenize.
    * The source text is tokenized by `source_tokenizer`, else by that of a PairPiece model.
    * `comet`: a COMET model on this disk, or its name if it was downloaded before.
    * `preset`: ``tiny``, ``small`` or ``paper``; `changes` replace fields of
      `pairpiece.downstream.settings.TranslationSettings`.
    * `seeds` models are trained with each tokenizer, `jobs` at a time with `threads` each.

    All is kept in `output`: what was killed goes on, what is done is not done again.
    """
    training = translation_settings(preset, **changes)
    conditions = Conditions.checked(
        output, preset, seeds, seed, jobs, threads, device, resamples, "mt"
    )
    installed("sacrebleu", "mt")
    comet_model = None if comet is None else translation_scores.comet_model(comet)
    systems = named_systems(tokenizers, ["paired"])
    return Translations(
        conditions,
        training,
        systems,
        baseline_of(systems, baseline),
        [""],
        read_splits((source, target), (dev_source, dev_target), (test_source, test_target)),
        source_tokenizer,
        comet_model,
    ).conduct(advance)


@dataclass(eq=False)
class Translations(Experiment):
    """The experiment."""

    texts: dict[str, ParallelText]
    source_tokenizer: Any
    comet: Any

    kind = "translation"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._source_tokenizer = source_side(self.source_tokenizer, self.systems)
        self._data = {name: text.digest for name, text in self.texts.items()}
        self._data["source_tokenizer"] = digest(digest_of(self._source_tokenizer) or "function")

    @cached_property
    def _sources(self) -> tuple[dict[str, Rows], list[str]]:
        return source_rows(self._source_tokenizer, self.texts)

    def data(self, setting: str) -> dict[str, str]:  # noqa: ARG002
        """Digests of all text and tokenizers, besides that of the target, that a model sees."""
        return self._data

    def write_text(self, system: System, path: Path) -> None:
        """Put all text into a file; the pieces of either side come after the special tokens."""
        sources, source_pieces = self._sources
        rows = self.target_rows(system, self.texts, FIRST)
        rows |= {f"{name}_source": source.shifted(FIRST) for name, source in sources.items()}
        sizes = {
            "source_pieces": FIRST + len(source_pieces),
            "pieces": FIRST + len(self.pieces[system.name].pieces),
        }
        save_rows(path, rows, sizes)

    def measured(
        self,
        system: System,
        setting: str,  # noqa: ARG002
        results: list[dict[str, Any]],
    ) -> list[tuple[Measure, list[Array], str]]:
        """The scores of translations, and how probable the references are."""
        text = self.texts["test"]
        written = [self._texts_of(system.name, result) for result in results]
        for seed, lines in zip(self.conditions.seeds, written, strict=True):
            self._keep(system.name, seed, lines)
        longest = cast(TranslationSettings, self.training).max_length
        if cut := sum(tokens > longest for tokens in results[0]["tokens"]):
            self.notes.append(
                f"{system.name}: {cut:,} references have more than {longest} tokens and count only "
                f"up to there in bits per byte"
            )
        found = translation_scores.measured(written, text.targets)
        found.append(
            (
                translation_scores.BITS_PER_BYTE,
                [np.stack([np.array(result["nats"]), text.bytes], 1) for result in results],
                "references",
            )
        )
        if self.comet is not None:
            found.append(
                translation_scores.comet_measured(
                    self.comet, written, text.targets, text.given_sources, self.conditions.device
                )
            )
        return found

    def written(
        self,
        tokenizer: str,
        setting: str,  # noqa: ARG002
        result: dict[str, Any],
    ) -> list[WrittenText]:
        """The first translations."""
        text = self.texts["test"]
        return [
            WrittenText(
                (("source", text.given_sources[i]), ("target", text.targets[i])),
                tokenizer,
                [],
                self.pieces[tokenizer].readable([token - FIRST for token in tokens]),
            )
            for i, tokens in enumerate(result["translations"][:_SHOWN])
        ]

    def _texts_of(self, tokenizer: str, result: dict[str, Any]) -> list[str]:
        """All translations, a line each."""
        rows = [[token - FIRST for token in row] for row in result["translations"]]
        return [" ".join(line.split()) for line in self.pieces[tokenizer].texts(rows)]

    def _keep(self, tokenizer: str, seed: int, lines: list[str]) -> None:
        """Write the translations, for other tools to look at."""
        folder = self.conditions.output / "translations"
        folder.mkdir(exist_ok=True)
        name = tokenizer.replace("/", "-")
        content = "".join(f"{line}\n" for line in lines).encode("utf-8")
        files.write(folder / f"{name}.{seed}.txt", content)

    @staticmethod
    def work(trial: Trial, advance: Callable[[int], object]) -> dict[str, Any]:
        """Train one model, and let it translate the test text."""
        rows, facts = load_rows(trial.text)
        settings = cast(TranslationSettings, trial.training)
        task = TranslationTask(
            settings,
            (facts["source_pieces"], facts["pieces"]),
            (rows["train_source"], rows["train"]),
            rows["train_bytes"].flat.astype(np.int64),
            (rows["dev_source"], rows["dev"]),
            int(rows["dev_bytes"].flat.sum()),
        )
        model, history = trial.train(task, advance)
        source, target = rows["test_source"], rows["test"]
        return {
            **history,
            "nats": negative_log_likelihoods(model, source, target, settings.max_length).tolist(),
            "tokens": [len(row) for row in target],
            "translations": translate(model, source, settings),
        }
