"""Language models with different tokenizers: the same text, the same order, several seeds."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np

from pairpiece.downstream import measures
from pairpiece.downstream.conditions import Conditions
from pairpiece.downstream.experiment import Experiment
from pairpiece.downstream.language_model import (
    END,
    Ends,
    LanguageModelTask,
    context_of,
    continuations,
    model_config,
    negative_log_likelihoods,
)
from pairpiece.downstream.measures import Measure
from pairpiece.downstream.pieces import SourcePieces
from pairpiece.downstream.results import Results
from pairpiece.downstream.rows import Rows, load_rows, save_rows
from pairpiece.downstream.settings import LanguageModelSettings, language_model_settings
from pairpiece.downstream.trials import Trial
from pairpiece.downstream.written_text import WrittenText
from pairpiece.errors import OptionError
from pairpiece.evaluation.parallel_text import Array, ParallelText, Sentences
from pairpiece.evaluation.scoring import Advance
from pairpiece.evaluation.systems import (
    System,
    baseline_of,
    name_and_path,
    named_systems,
    source_side,
)
from pairpiece.foreign.protocol import digest_of
from pairpiece.run.workspace import digest

MONOLINGUAL, BILINGUAL = "monolingual", "bilingual"
_PROMPTS, _WRITTEN_TOKENS = 8, 16


def language_models(
    tokenizers: Sequence[Any],
    target: Sentences,
    dev_target: Sentences,
    test_target: Sentences,
    source: Sentences | None = None,
    *,
    output: str | PathLike[str],
    init: Sequence[Any] = (),
    source_tokenizer: Any = None,
    settings: Sequence[str] | None = None,
    baseline: str | None = None,
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
    """Train language models with each tokenizer, and measure their bits per byte.

    * `tokenizers`: as in `pairpiece.evaluate`; PairPiece models are used target only.  Each gets a
      new GPT-2 model.
    * `init`: folders of models that `pairpiece.transfer` has written, ``name=folder`` to give them
      a name; they go on from their weights, with the tokenizers that lie in them.
    * `target`, `dev_target`, `test_target`: text to learn from, to stop by and to measure on.
    * `source`: text of the source language for the bilingual setting, where it is mixed with the
      target text, in the pieces of `source_tokenizer` (else that of a PairPiece model).  The number
      of lines that a model sees stays the same.
    * `settings`: ``"monolingual"``, ``"bilingual"``; both if there is a `source`.
    * `preset`: ``tiny``, ``small`` or ``paper``; `changes` replace fields of
      `pairpiece.downstream.settings.LanguageModelSettings`.
    * `seeds` models are trained with each tokenizer, `jobs` at a time with `threads` each.

    All is kept in `output`: what was killed goes on, what is done is not done again.
    """
    training = language_model_settings(preset, **changes)
    conditions = Conditions.checked(
        output, preset, seeds, seed, jobs, threads, device, resamples, "lm"
    )
    systems = named_systems([*tokenizers, *init], ["marginal"])
    started = systems[len(systems) - len(init) :]
    if settings is None:
        settings = [MONOLINGUAL] if source is None else [MONOLINGUAL, BILINGUAL]
    wanted = list(dict.fromkeys(settings))
    return LanguageModels(
        conditions,
        training,
        systems,
        baseline_of(systems, baseline),
        wanted,
        {"train": target, "dev": dev_target, "test": test_target},
        source if BILINGUAL in wanted else None,
        source_tokenizer,
        {system.name: _model_folder(one) for system, one in zip(started, init, strict=True)},
    ).conduct(advance)


def _model_folder(given: Any) -> Path:
    """Where a model lies; a name may stand before."""
    path = Path(name_and_path(os.fspath(given))[1])
    if not (path / "config.json").is_file():
        raise OptionError(f"{path}: there is no model to go on from: no config.json")
    return path


@dataclass(eq=False)
class LanguageModels(Experiment):
    """The experiment."""

    texts: dict[str, Sentences]
    source: Sentences | None
    source_tokenizer: Any
    starts: dict[str, Path]  # models to go on from, by the names of their tokenizers

    kind = "language models"

    def __post_init__(self) -> None:
        for setting in self.settings:
            if setting not in (MONOLINGUAL, BILINGUAL):
                raise OptionError(f"a setting is {MONOLINGUAL} or {BILINGUAL}, not {setting!r}")
        if BILINGUAL in self.settings and self.source is None:
            raise OptionError(
                "the bilingual setting needs text of the source language: source=", ["source"]
            )
        if BILINGUAL in self.settings and self.starts:
            raise OptionError("models that go on from weights read the target language alone")
        for system in self.systems:
            if system.uses_source:
                raise OptionError(
                    f"{system.name}: a language model has no source text to tokenize with"
                )
        super().__post_init__()
        self._texts = {name: _lines(text) for name, text in self.texts.items()}
        self._source = self._source_tokenizer = None
        if self.source is not None:
            self._source = _lines(self.source)
            self._source_tokenizer = source_side(self.source_tokenizer, self.systems)
        self._prompts = [_beginning(line) for line in self._texts["test"].targets[:_PROMPTS]]

    @cached_property
    def _source_pieces(self) -> SourcePieces:
        assert self._source is not None
        assert self._source_tokenizer is not None
        return SourcePieces(self._source_tokenizer, self._source.targets)

    def data(self, setting: str) -> dict[str, str]:
        """Digests of all text and tokenizers, besides that of the target, that a model sees."""
        seen = {name: text.digest for name, text in self._texts.items()}
        if setting == BILINGUAL and self._source is not None:
            seen["source"] = self._source.digest
            seen["source_tokenizer"] = digest(digest_of(self._source_tokenizer) or "function")
        return seen

    def start_of(self, system: System) -> Path | None:
        """The model whose weights are gone on from, if it is not a new one."""
        return self.starts.get(system.name)

    def _first(self, tokenizer: str) -> int:
        """The number of the first piece: in new models after the end of a line."""
        return 0 if tokenizer in self.starts else END + 1

    def write_text(self, system: System, path: Path) -> None:
        """Put all text into a file, as the model numbers pieces."""
        pieces, first = self.pieces[system.name], self._first(system.name)
        prompts = ParallelText(self._prompts)
        rows = self.target_rows(system, {**self._texts, "prompts": prompts}, first)
        unknown = -1 if pieces.unknown is None else first + pieces.unknown
        facts = {
            "unknown": int((rows["test"].flat == unknown).sum()),
            MONOLINGUAL: first + len(pieces.pieces),
        }
        if self._source is not None:
            # A piece that both languages have is one piece.
            number = {piece: i for i, piece in enumerate(pieces.pieces, 1)}
            source = self._source_pieces
            new = [number.setdefault(piece, 1 + len(number)) for piece in source.pieces]
            facts[BILINGUAL] = 1 + len(number)
            rows["source"] = source.training.renumbered(np.array(new, np.int32))
            rows["source_bytes"] = Rows.of([self._source.bytes])
        save_rows(path, rows, facts)

    def measured(
        self, system: System, setting: str, results: list[dict[str, Any]]
    ) -> list[tuple[Measure, list[Array], str]]:
        """Bits per byte, as they should be, and as the paper's code has them."""
        unknown = results[0]["unknown"]
        if unknown and setting == self.settings[0]:
            self.notes.append(
                f"{system.name}: {unknown:,} unknown tokens in the test text stand for anything, "
                f"so its numbers are too good; use a tokenizer with byte fallback"
            )
        sizes = self._texts["test"].bytes
        statistics = [measures.language_model_statistics(result, sizes) for result in results]
        context = cast(LanguageModelSettings, self.training).context
        return [
            (measure, [of_seed[k] for of_seed in statistics], f"window:{context}:{context // 2}")
            for k, measure in enumerate(measures.language_model_measures(setting))
        ]

    def written(self, tokenizer: str, setting: str, result: dict[str, Any]) -> list[WrittenText]:
        """How a model goes on after the beginnings of test lines."""
        lines = self._texts["test"].targets[:_PROMPTS]
        return [
            WrittenText(
                (("line", line),),
                f"{tokenizer}, {setting}",
                self._readable(tokenizer, prompt),
                self._readable(tokenizer, tokens),
            )
            for line, (prompt, tokens) in zip(lines, result["samples"], strict=True)
        ]

    def _readable(self, tokenizer: str, tokens: list[int]) -> list[str]:
        """The pieces that a model has written, those of the source language too."""
        pieces, first = self.pieces[tokenizer], self._first(tokenizer)
        known = [token for token in tokens if first <= token < first + len(pieces.pieces)]
        names = dict(zip(known, pieces.readable([token - first for token in known]), strict=True))
        if tokenizer in self.starts:  # a special token of the model may come after all pieces
            return [names.get(token, "</s>") for token in tokens]
        names[END] = "</s>"
        if any(token not in names for token in tokens):
            target = set(pieces.pieces)
            others = [piece for piece in self._source_pieces.pieces if piece not in target]
            names |= dict(enumerate(others, 1 + len(pieces.pieces)))
        return [names[token] for token in tokens]

    @staticmethod
    def work(trial: Trial, advance: Callable[[int], object]) -> dict[str, Any]:
        """Train one model, and measure it on the test text."""
        rows, facts = load_rows(trial.text)
        train, sizes = rows["train"], rows["train_bytes"]
        if trial.setting == BILINGUAL:
            train, sizes = train + rows["source"], sizes + rows["source_bytes"]
        training = cast(LanguageModelSettings, trial.training)
        ends = Ends()
        if trial.start is not None:
            config = model_config(trial.start)
            ends = Ends.of(config)
            training = replace(training, context=min(training.context, context_of(config)))
        task = LanguageModelTask(
            training,
            facts[trial.setting],
            train,
            sizes.flat.astype(np.int64),
            rows["dev"],
            int(rows["dev_bytes"].flat.sum()),
            ends,
            trial.start,
        )
        model, history = trial.train(task, advance)
        test = rows["test"]
        written = continuations(model, rows["prompts"], _WRITTEN_TOKENS)
        return {
            **history,
            "unknown": facts["unknown"],
            "nats": negative_log_likelihoods(model, test).tolist(),
            "tokens": [len(row) + 1 for row in test],
            "samples": [
                [prompt.tolist(), tokens]
                for prompt, tokens in zip(rows["prompts"], written, strict=True)
            ],
        }


def _lines(text: Sentences) -> ParallelText:
    """Those with something on them."""
    read = ParallelText.read(text)
    return ParallelText([line for line in read.targets if line.strip()])


def _beginning(line: str) -> str:
    """The first half of the words."""
    words = line.split()
    return " ".join(words[: max(1, len(words) // 2)])
