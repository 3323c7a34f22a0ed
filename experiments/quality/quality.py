"""Is the default better for language models, and better aligned?  All measures, all directions.

    python experiments/quality/quality.py ../shared/data/* --measure alignment ngrams neural
    python experiments/quality/tables.py

Each folder has ``train.<language>.gz`` and the splits (`texts`); both directions are trained, with
SentencePiece, with a plain ``unigram`` model as the control for whatever is not ours, and with the
configurations in `CONFIGURATIONS`.  Everything is measured on text like the training and on text
from elsewhere; nothing is fitted to either.

* ``alignment``: one-to-one, unaligned and link F by Eflomal (several runs) and by fast_align,
  target only, with the source and with a wrong source, as differences with 95 % intervals.
* ``ngrams``: bits per byte of a trigram model that has learned from a part of the training.
* ``neural``: bits per byte of a small neural language model, with several seeds.

Each result is a line of JSON in ``--results``; what is there already is not measured again.
Models and results of stages are kept in ``--work-dir``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
from ngram import bits_per_byte
from texts import Texts, read_texts

import pairpiece
from pairpiece import files
from pairpiece.evaluation import evaluate
from pairpiece.evaluation.aligned import ALIGNERS
from pairpiece.evaluation.metric import chosen_metrics
from pairpiece.evaluation.scoring import scores
from pairpiece.foreign.sentencepiece_training import train_sentencepiece
from pairpiece.options import LengthPenalty

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "unigram": {"mode": "unigram"},
    "default": {},
    "λ 0": {"likelihood_weight": 0.0},
    "λ 1": {"likelihood_weight": 1.0},
    "fitted scores": {"marginal": "fitted"},
    "p(t|S) as score": {
        "paired_scoring": "conditional",
        "paired_smoothing": 1.0,
        "paired_length_penalty": LengthPenalty(12.0, 0.0, 12.0),
    },
    "0.4.0": {
        "likelihood_weight": 0.0,
        "marginal": "fitted",
        "paired_scoring": "conditional",
        "paired_smoothing": 1.0,
        "paired_length_penalty": LengthPenalty(12.0, 0.0, 12.0),
        "balance": 0.99,
    },
}
SP = "SentencePiece"
METRICS = ("tokens", "one_to_one", "unaligned", "link_f")
KINDS = ("like", "elsewhere")
AMOUNTS = (64, 16, 4, 1)
"""Of the training, one part in so many is what n-gram models learn from."""

Encode = Callable[[list[str]], list[list[int]]]


def main() -> None:
    """Measure what has not been measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, nargs="+", help="folders named source-target")
    parser.add_argument("--measure", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--vocab-size", type=int, nargs="+", default=[8000])
    parser.add_argument(
        "--configurations", nargs="+", default=["unigram", "default"], choices=CONFIGURATIONS
    )
    parser.add_argument("--directions", nargs="+", help="such as deu-hsb; all if not given")
    parser.add_argument("--split", choices=("dev", "test"), default="dev", help="read test once")
    parser.add_argument("--runs", type=int, default=3, help="of Eflomal")
    parser.add_argument("--seeds", type=int, default=8, help="of neural language models")
    parser.add_argument("--work-dir", type=Path, default=Path("/tmp/pairpiece-quality"))
    parser.add_argument("--results", type=Path, default=Path(__file__).with_name("results.jsonl"))
    options = parser.parse_args()
    results = Results(options.results)
    for size in options.vocab_size:
        for corpus in options.corpus:
            texts = read_texts(corpus, options.work_dir)
            for source, target in (texts.languages, texts.languages[::-1]):
                name = f"{source}-{target}"
                if options.directions is None or name in options.directions:
                    direction = Direction(texts, source, target, size, options)
                    for measure in options.measure:
                        MEASURES[measure](direction, results)


def parser_of(description: str) -> argparse.ArgumentParser:
    """The arguments of experiments with the test text and the default alone."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("corpus", type=Path, nargs="+", help="folders named source-target")
    parser.add_argument("--directions", nargs="+", help="such as deu-hsb; all if not given")
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    parser.add_argument("--work-dir", type=Path, default=Path("/tmp/pairpiece-quality"))
    return parser


def directions_of(options: argparse.Namespace) -> Iterator[Direction]:
    """Both directions of every corpus, or those that were named."""
    for corpus in options.corpus:
        texts = read_texts(corpus, options.work_dir)
        for source, target in (texts.languages, texts.languages[::-1]):
            if options.directions is None or f"{source}-{target}" in options.directions:
                yield Direction(texts, source, target, options.vocab_size, options)


class Results:
    """Lines of JSON; each belongs to a key, and is there once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = files.lines(path) if path.is_file() else iter(())
        self._known = {json.dumps(json.loads(line)["key"]) for line in lines}

    def __contains__(self, key: list[Any]) -> bool:
        return json.dumps(key) in self._known

    def add(self, key: list[Any], **found: Any) -> None:
        """Keep a result at once."""
        self._known.add(json.dumps(key))
        line = json.dumps({"key": key, **found, "version": pairpiece.__version__})
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        print(line, flush=True)


class Direction:
    """A language pair in one direction, and a vocabulary size."""

    def __init__(
        self, texts: Texts, source: str, target: str, size: int, options: argparse.Namespace
    ) -> None:
        self.options = options
        self.name = f"{source}-{target}"
        self.size = size
        self._sides = texts.side(source), texts.side(target)
        self.paths = [texts.train[side] for side in self._sides]
        self._texts = texts
        self._folder: Path = options.work_dir / self.name / str(size)

    def text(self, kind: str, split: str | None = None) -> tuple[list[str], list[str]]:
        """Source and target sentences, to measure on if it is not said otherwise."""
        both = self._texts.splits[split or self.options.split, kind]
        return both[self._sides[0]], both[self._sides[1]]

    def kinds(self) -> Iterator[str]:
        """The kinds of text that there are."""
        return (kind for kind in KINDS if self.text(kind)[0])

    @cached_property
    def train(self) -> list[str]:
        """The target side of the training."""
        return list(files.lines(self.paths[1]))

    def key(self, *what: Any) -> list[Any]:
        """What stands for a result."""
        return [self.name, self.size, self.options.split, *what]

    @property
    def systems(self) -> list[str]:
        """Names of tokenizers, target only."""
        return [SP, *self.options.configurations]

    def encoder(self, name: str) -> tuple[Encode, int]:
        """A tokenizer of the target alone, and the size of its vocabulary."""
        if name == SP:
            plain = sentencepiece.SentencePieceProcessor(model_file=str(self.sentencepiece()))
            return plain.encode, plain.vocab_size()
        model = self.model(name)
        return model.encode_batch, model.vocab_size

    def sentencepiece(self) -> Path:
        """A unigram model of the target."""
        path = self._folder / "sp.model"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            files.write(path, train_sentencepiece(iter(self.train), self.size).content)
        return path

    def folder(self, name: str) -> Path:
        """Where the model of a configuration is, trained if it was not."""
        folder = self._folder / name.replace(" ", "").replace("|", "-")
        if not (folder / "pairpiece.json").is_file():
            pairpiece.train(
                *self.paths,
                vocab_size=self.size,
                aligner_length=1.0,
                hard_vocab_limit=False,
                output=folder,
                work_dir=self.options.work_dir / "stages",
                **CONFIGURATIONS[name],
            )
        return folder

    def model(self, name: str) -> pairpiece.Tokenizer:
        """The model of a configuration."""
        return pairpiece.load(self.folder(name))


def alignment(direction: Direction, results: Results) -> None:
    """Tokens and links, compared with SentencePiece, with target only, and with the control."""
    for kind in direction.kinds():
        for aligner in ALIGNERS:
            if direction.key("alignment", kind, aligner) in results:
                continue
            systems = [f"{SP}={direction.sentencepiece()}"]
            for name in direction.options.configurations:
                systems.append(f"{name}={direction.folder(name)}/@marginal")
                if name != "unigram":
                    systems.append(f"{name}, source={direction.folder(name)}/@paired")
            source, target = direction.text(kind)
            paired = next(n for n in direction.options.configurations if n != "unigram")
            found = evaluate(
                systems,
                target,
                source,
                source_tokenizer=direction.model(paired).source_tokenizer,
                metrics=METRICS,
                aligner=aligner,
                runs=direction.options.runs,
            )
            results.add(direction.key("alignment", kind, aligner), scores=_differences(found))


def _differences(found: Any) -> dict[str, Any]:
    """By tokenizer and metric: the value, and how it differs from every other tokenizer."""
    names = [text.system.name for text in found.tokenized]
    table: dict[str, Any] = {name: {} for name in names}
    for number, other in enumerate(names):
        compared = scores(found.tokenized, chosen_metrics(METRICS), number, 1000, 0, None)
        for score in compared:
            of_metric = table[score.tokenizer].setdefault(score.metric, {"value": score.value})
            if score.comparison is not None:
                c = score.comparison
                of_metric[other] = [round(x, 5) for x in (c.difference, c.low, c.high)]
    return table


def ngrams(direction: Direction, results: Results) -> None:
    """Bits per byte of trigram models."""
    kinds = list(direction.kinds())
    order = np.random.default_rng(0).permutation(len(direction.train))
    for name in direction.systems:
        if direction.key("ngrams", name) in results:
            continue
        encode, size = direction.encoder(name)
        train = encode(direction.train)
        tests = {kind: (direction.text(kind)[1], encode(direction.text(kind)[1])) for kind in kinds}
        bits: dict[str, list[float]] = {kind: [] for kind in kinds}
        for part in AMOUNTS:
            lines = [train[number] for number in order[: len(order) // part]]
            for kind, (text, tokens) in tests.items():
                bits[kind].append(bits_per_byte(lines, tokens, text, size))
        results.add(direction.key("ngrams", name), amounts=AMOUNTS, bits=bits)


def neural(direction: Direction, results: Results) -> None:
    """Bits per byte of neural language models, seed by seed."""
    import neural
    import torch

    torch.set_num_threads(1)
    kinds = list(direction.kinds())
    for seed in range(direction.options.seeds):
        for name in direction.systems:
            if direction.key("neural", name, seed) in results:
                continue
            encode, size = direction.encoder(name)
            texts = [direction.text(kind)[1] for kind in kinds]
            tests = [(encode(text), text) for text in texts]
            bits = neural.bits_per_byte(encode(direction.train), direction.train, tests, size, seed)
            found = dict(zip(kinds, bits, strict=True))
            results.add(direction.key("neural", name, seed), bits=found)


MEASURES: dict[str, Callable[[Direction, Results], None]] = {
    "alignment": alignment,
    "ngrams": ngrams,
    "neural": neural,
}


if __name__ == "__main__":
    main()
