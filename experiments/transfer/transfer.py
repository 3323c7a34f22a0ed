"""Which rows should a model begin a new language with?  Curves of bits per byte, method by method.

    python experiments/transfer/transfer.py ../shared/data/fra-ita --split test --seeds 3

A GPT-2 of 3 layers of 128 learns the source language from 50,000 lines; then it is given the pieces
of the target language with rows from each of `STARTS` and goes on with text of that language, all
in the same order.  Each curve is a line of JSON in ``--results``; what is there already is not
measured again.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any

from starts import STARTS, Case, write

import pairpiece
from pairpiece import files
from pairpiece.commands.console import progress_bar
from pairpiece.downstream import language_models

sys.path.insert(0, str(Path(__file__).parents[1] / "quality"))
from quality import Results
from texts import Texts, read_texts

SOURCE_LINES, TEST_LINES = 50_000, 500
MODEL = {"n_layer": 3, "n_embd": 128, "n_head": 4, "n_positions": 256}
BATCH, EVERY = 8, 64  # lines to an update, updates between points of a curve
PRETRAINING: dict[str, Any] = {"batch": 16, "learning_rate": 2e-3, "evaluate_every": 1000}
ADAPTING: dict[str, Any] = {
    "batch": BATCH,
    "learning_rate": 1e-3,
    "schedule": "inverse-sqrt",
    "warmup": 50,
    "evaluate_every": EVERY,
}


def main() -> None:
    """Measure what has not been measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, nargs="+", help="folders named source-target")
    parser.add_argument("--starts", nargs="+", choices=STARTS, default=list(STARTS))
    parser.add_argument("--pieces", nargs="+", choices=("ours", "SentencePiece"), default=["ours"])
    parser.add_argument("--split", choices=("dev", "test"), default="dev", help="read test once")
    parser.add_argument("--lines", type=int, default=10_240, help="of the new language")
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--work-dir", type=Path, default=Path("/tmp/pairpiece-transfer"))
    parser.add_argument("--results", type=Path, default=Path(__file__).with_name("results.jsonl"))
    options = parser.parse_args()
    results = Results(options.results)
    for corpus in options.corpus:
        pair = Pair(read_texts(corpus, options.work_dir), options)
        for pieces in options.pieces:
            for start in options.starts:
                keys = [pair.key(pieces, start, seed) for seed in range(options.seeds)]
                if not all(key in results for key in keys):
                    for key, curve in zip(keys, pair.curves(pieces, start), strict=True):
                        if key not in results:
                            results.add(key, curve=curve)


class Pair:
    """A language pair: a model of the first language, and ways to begin the second with it."""

    def __init__(self, texts: Texts, options: argparse.Namespace) -> None:
        self.options = options
        self.texts = texts
        self.folder: Path = options.work_dir / "-".join(texts.languages)
        self.folder.mkdir(parents=True, exist_ok=True)

    def key(self, *what: Any) -> list[Any]:
        """What stands for a result."""
        name = "-".join(self.texts.languages)
        return [name, self.options.vocab_size, self.options.split, self.options.lines, *what]

    def curves(self, pieces: str, start: str) -> list[list[tuple[int, float]]]:
        """Bits per byte of the test text after so many lines, for each seed."""
        folder = self._start(pieces, start)
        test = self._written("test", self._text(1))
        with progress_bar(quiet=False) as advance:
            found = language_models(
                [],
                self.texts.train[1],
                test,
                test,
                init=[f"{start}={folder}"],
                output=self.folder / "adapted",
                examples=self.options.lines,
                seeds=self.options.seeds,
                seed=0,
                jobs=self.options.jobs,
                resamples=10,
                advance=advance,
                **ADAPTING,
            )
        return [curve.points for curve in found.curves]

    def _text(self, side: int) -> list[str]:
        return self.texts.splits[self.options.split, "like"][side][:TEST_LINES]

    def _written(self, name: str, lines: list[str]) -> Path:
        path = self.folder / f"{name}-{self.options.split}.txt"
        files.write(path, "".join(f"{line}\n" for line in lines).encode())
        return path

    @cached_property
    def tokenizer(self) -> pairpiece.Tokenizer:
        """The default of PairPiece."""
        return self._trained("ours")

    def _trained(self, pieces: str) -> pairpiece.Tokenizer:
        folder = self.folder / f"tokenizer-{pieces}"
        if not (folder / "pairpiece.json").is_file():
            kept: dict[str, Any] = {"vocab_size": self.options.vocab_size}
            if pieces == "SentencePiece":
                kept = {"vocabulary": self._sentencepiece()}
                kept["source_tokenizer"] = self.tokenizer.source_tokenizer
            pairpiece.train(
                *self.texts.train,
                hard_vocab_limit=False,
                aligner_length=1.0,
                output=folder,
                work_dir=self.options.work_dir / "stages",
                **kept,
            )
        return pairpiece.load(folder)

    def _sentencepiece(self) -> Path:
        from pairpiece.foreign.sentencepiece_training import train_sentencepiece

        path = self.folder / "sp.model"
        if not path.is_file():
            lines = files.lines(self.texts.train[1])
            files.write(path, train_sentencepiece(lines, self.options.vocab_size).content)
        return path

    @cached_property
    def model(self) -> Path:
        """A model of the source language."""
        folder = self.folder / "source-model"
        if not (folder / "model.safetensors").is_file():
            source: Any = self.tokenizer.source_tokenizer
            self._pretrain(pairpiece.from_sentencepiece(source.content), 0, "source", folder)
        return folder

    def _donor(self, pieces: str) -> Path:
        """A model of the target language alone, with the new pieces; for OMP."""
        folder = self.folder / f"donor-{pieces}"
        if not (folder / "model.safetensors").is_file():
            self._pretrain(self._trained(pieces), 1, f"donor-{pieces}", folder)
        return folder

    def _pretrain(self, tokenizer: pairpiece.Tokenizer, side: int, name: str, folder: Path) -> None:
        text = self._written(name, list(islice(files.lines(self.texts.train[side]), SOURCE_LINES)))
        dev_lines = self.texts.splits["dev", "like"][side][:TEST_LINES]
        dev = self._written(f"{name}-dev", dev_lines)
        new = self._new_model(tokenizer, f"new-{name}")
        output = self.folder / f"pretrained-{name}"
        language_models(
            [],
            text,
            dev,
            dev,
            init=[f"{name}={new}"],
            output=output,
            examples=SOURCE_LINES,
            seeds=1,
            resamples=10,
            **PRETRAINING,
        )
        [found] = (output / "runs").glob("*/model")
        shutil.copytree(found, folder, dirs_exist_ok=True)

    def _new_model(self, tokenizer: pairpiece.Tokenizer, name: str) -> Path:
        """A model that knows nothing, with a tokenizer."""
        import torch
        from transformers import GPT2Config, GPT2LMHeadModel

        folder = self.folder / name
        tokenizer.save(folder)
        torch.manual_seed(0)
        ends = {"bos_token_id": tokenizer.bos_id, "eos_token_id": tokenizer.eos_id}
        config = GPT2Config(vocab_size=len(tokenizer), pad_token_id=None, **ends, **MODEL)
        GPT2LMHeadModel(config).save_pretrained(folder)
        return folder

    def _start(self, pieces: str, start: str) -> Path:
        """A model with the new vocabulary, and rows as `start` says."""
        transferred = self.folder / f"transferred-{pieces}"
        tokenizer = self._trained(pieces)
        if not transferred.is_dir():
            pairpiece.transfer(self.model, tokenizer, transferred)
        if start == "PairPiece":
            return transferred
        folder = self.folder / f"{start.replace(' ', '-')}-{pieces}"
        if not folder.is_dir():
            sides = [list(files.lines(path)) for path in self.texts.train]
            donor = partial(self._donor, pieces)
            case = Case(self.model, transferred, tokenizer, sides[0], sides[1], donor)
            rows = STARTS[start](case)
            unfinished = folder.with_suffix(".unfinished")
            shutil.copytree(transferred, unfinished, dirs_exist_ok=True)
            write(case, rows, unfinished)
            unfinished.rename(folder)
        return folder


if __name__ == "__main__":
    main()
