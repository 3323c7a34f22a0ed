"""Does a translation model that writes one language help one that is to write another?

    python experiments/transfer/translation.py ../shared/data --seeds 3

A Transformer learns to translate French to Italian.  Then its decoder is given Maltese pieces, with
rows by what they stand for in Italian–Maltese text, and it goes on with French–Maltese lines: those
whose Italian side is the same in the two corpora.  No such line was among those that it has learned
French–Italian from.  Dev lines, for curves, are among those that the tokenizer has learned from;
test lines are not.  Each result is a line of JSON in ``--results``.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
import torch
from safetensors.torch import load_file, save_file
from starts import Case, linked_tokens, with_translations
from transfer import BATCH, Results

import pairpiece
from pairpiece import files
from pairpiece.downstream.rows import Rows
from pairpiece.downstream.settings import TranslationSettings, translation_settings
from pairpiece.downstream.training_loop import train_model
from pairpiece.downstream.translation import (
    END,
    FIRST,
    PADDING,
    TranslationTask,
    negative_log_likelihoods,
    translate,
)
from pairpiece.model.state import known

FRENCH, ITALIAN, MALTESE = "fra", "ita", "mlt"
LINES, EPOCHS, DEV_LINES, TEST_LINES, VOCAB_SIZE = 50_000, 3, 500, 500, 8000
IDS = {"pad_id": PADDING, "eos_id": END, "unk_id": FIRST, "bos_id": -1}
MODEL: dict[str, Any] = {"layers": 2, "width": 128, "heads": 4, "inner_width": 512}
STARTS = ("new model", "random rows", "trans-tokenization", "PairPiece")

Text = tuple[list[str], list[str]]


def main() -> None:
    """Measure what has not been measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with fra-ita and ita-mlt")
    parser.add_argument("--starts", nargs="+", choices=STARTS, default=list(STARTS))
    parser.add_argument("--lines", type=int, default=10_240, help="of the new language")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--work-dir", type=Path, default=Path("/tmp/pairpiece-transfer"))
    parser.add_argument(
        "--results", type=Path, default=Path(__file__).with_name("translation.jsonl")
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    results = Results(options.results)
    experiment = Experiment(options.data, options.work_dir / "translation", options.lines)
    for start in options.starts:
        for seed in range(options.seeds):
            key = ["fra-ita-mlt", VOCAB_SIZE, "test", options.lines, start, seed]
            if key not in results:
                results.add(key, **experiment.measured(start, seed))


@dataclass(frozen=True)
class Task(TranslationTask):
    """Translation by a new model, or by one that goes on from weights."""

    start: Path | None = None  # type: ignore[assignment]

    def model(self) -> Any:
        """The model to begin with."""
        from transformers import MarianMTModel

        return super().model() if self.start is None else MarianMTModel.from_pretrained(self.start)


class Experiment:
    """French to Italian, and then to Maltese."""

    def __init__(self, data: Path, folder: Path, lines: int) -> None:
        self._folder, self._lines = folder, lines
        folder.mkdir(parents=True, exist_ok=True)
        french, italian = (_read(data / "fra-ita", "train", side) for side in (FRENCH, ITALIAN))
        self._aligned = tuple(_read(data / "ita-mlt", "train", side) for side in (ITALIAN, MALTESE))
        domain = [_read(data / "ita-mlt", "test_domain", side) for side in (ITALIAN, MALTESE)]
        in_french = dict(zip(italian, french, strict=True))
        through = {*self._aligned[0], *domain[0]}
        pairs = [pair for pair in zip(french, italian, strict=True) if pair[1] not in through]
        self._first: Text = tuple(map(list, zip(*pairs, strict=True)))  # type: ignore[assignment]

        def joined(sides: Any) -> Text:
            found = [(in_french[s], t) for s, t in zip(*sides, strict=True) if s in in_french]
            return [s for s, _ in found], [t for _, t in found]

        second = joined(self._aligned)
        self._dev: Text = second[0][:DEV_LINES], second[1][:DEV_LINES]
        self._second: Text = second[0][DEV_LINES:], second[1][DEV_LINES:]
        test = joined(domain)
        self._test: Text = test[0][:TEST_LINES], test[1][:TEST_LINES]
        print(f"{len(pairs):,} lines French–Italian, {len(self._second[0]):,} French–Maltese")

    def measured(self, start: str, seed: int) -> dict[str, Any]:
        """The curve on dev text, and what the best of it makes of the test text."""
        import sacrebleu

        settings = translation_settings(
            "tiny",
            **MODEL,
            examples=self._lines,
            batch=BATCH,
            learning_rate=1e-3,
            schedule="inverse-sqrt",
            warmup=50,
            evaluate_every=64,
            patience=0,
        )
        folder = None if start == "new model" else self._begun(start)
        task = self._task(settings, self._maltese, self._second, self._dev, folder)
        name = f"{start}-{self._lines}-{seed}".replace(" ", "-")
        run = self._folder / "runs" / name
        run.mkdir(parents=True, exist_ok=True)
        model, history = train_model(task, settings, seed, run)
        source, target = self._rows(self._maltese, self._test)
        bits = negative_log_likelihoods(model, source, target, settings.max_length).sum()
        bits /= np.log(2) * sum(len(line.encode()) for line in self._test[1])
        written = self._maltese.decode_batch(translate(model, source, settings))
        chrf = sacrebleu.metrics.CHRF(word_order=2).corpus_score(written, [self._test[1]])
        curve = [(update * BATCH, loss / np.log(2)) for update, _, loss in history.curve]
        return {"curve": curve, "bits_per_byte": float(bits), "chrF++": chrf.score}

    def _task(
        self,
        settings: TranslationSettings,
        target: pairpiece.Tokenizer,
        train: Text,
        dev: Text,
        start: Path | None,
    ) -> Task:
        return Task(
            settings,
            (len(self._french), len(target)),
            self._rows(target, train),
            np.array([len(line.encode()) for line in train[1]]),
            self._rows(target, dev),
            sum(len(line.encode()) for line in dev[1]),
            start,
        )

    def _rows(self, target: pairpiece.Tokenizer, text: Text) -> tuple[Rows, Rows]:
        return Rows.of(self._french.encode_batch(text[0])), Rows.of(target.encode_batch(text[1]))

    @cached_property
    def _french(self) -> pairpiece.Tokenizer:
        return self._sentencepiece(FRENCH, self._first[0])

    @cached_property
    def _italian(self) -> pairpiece.Tokenizer:
        return self._sentencepiece(ITALIAN, self._first[1])

    def _sentencepiece(self, name: str, lines: list[str]) -> pairpiece.Tokenizer:
        path = self._folder / f"{name}.model"
        if not path.is_file():
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=islice(lines, LINES),
                model_prefix=str(path.with_suffix("")),
                vocab_size=VOCAB_SIZE,
                byte_fallback=True,
                minloglevel=2,
                **IDS,
            )
        return pairpiece.from_sentencepiece(path)

    @cached_property
    def _maltese(self) -> pairpiece.Tokenizer:
        _ = self._italian
        folder = self._folder / MALTESE
        if not (folder / "pairpiece.json").is_file():
            pairpiece.train(
                corpus=zip(*self._aligned, strict=True),
                source_tokenizer=self._folder / f"{ITALIAN}.model",
                vocab_size=VOCAB_SIZE,
                hard_vocab_limit=False,
                output=folder,
                cache=False,
                **IDS,
            )
        return pairpiece.load(folder)

    @cached_property
    def _model(self) -> Path:
        """French to Italian."""
        folder = self._folder / "model"
        if not folder.is_dir():
            settings = translation_settings(
                "tiny",
                **MODEL,
                examples=EPOCHS * LINES,
                batch=32,
                learning_rate=2e-3,
                evaluate_every=500,
                patience=0,
            )
            french, italian = self._first
            dev = french[-DEV_LINES:], italian[-DEV_LINES:]
            task = self._task(settings, self._italian, (french[:LINES], italian[:LINES]), dev, None)
            run = self._folder / "runs" / "italian"
            run.mkdir(parents=True, exist_ok=True)
            model, history = train_model(task, settings, 0, run)
            print(f"French–Italian: {history.best_loss / np.log(2):.3f} bits per byte")
            model.save_pretrained(folder)
        return folder

    def _begun(self, start: str) -> Path:
        """The model with Maltese pieces."""
        folder = self._folder / start.replace(" ", "-")
        if folder.is_dir():
            return folder
        tokenizer, options = self._maltese, {}
        if start == "trans-tokenization":
            case = Case(self._model, self._model, tokenizer, *self._aligned, Path)
            tokenizer = with_translations(tokenizer, known(linked_tokens(case)))
            options = {"traits": 0.0}
        theirs = self._folder / "italian-tokenizer"
        self._italian.save(theirs)
        pairpiece.transfer(self._model, tokenizer, folder, model_tokenizer=theirs, **options)
        if start == "random rows":
            _randomize(folder / "model.safetensors", self._model / "model.safetensors")
        return folder


def _read(folder: Path, split: str, language: str) -> list[str]:
    return list(files.lines(folder / f"{split}.{language}.gz"))


def _randomize(new: Path, old: Path) -> None:
    """Rows of pieces drawn from the normal distribution that fits the old ones."""
    tensors = {name: tensor.clone() for name, tensor in load_file(new).items()}
    before = load_file(old)
    for name in ("model.decoder.embed_tokens.weight", "lm_head.weight"):
        if name in tensors:
            rows = before[name].double().numpy()
            drawn = np.random.default_rng(0)
            size = len(tensors[name]) - FIRST
            some = drawn.multivariate_normal(rows.mean(0), np.cov(rows.T), size=size)
            tensors[name][FIRST:] = torch.from_numpy(some).float()
    save_file(tensors, new, {"format": "pt"})


if __name__ == "__main__":
    main()
