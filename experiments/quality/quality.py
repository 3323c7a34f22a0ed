"""Is the default as compact as SentencePiece, and better aligned?  One table for all directions.

    python experiments/quality/quality.py ../shared/data/* --split dev dev_ntrex
    python experiments/quality/quality.py ../shared/data/* --split test --dev dev --vocab-size 16000

Each folder has ``train.<language>.gz`` and the splits; both directions are trained.  A row tells
how a way to tokenize differs from SentencePiece on the same text: tokens in proportion, the
differences in one-to-one, unaligned and link F with 95 % intervals (over sentences and runs of the
aligner), bits per byte of target-only tokenization under an n-gram model.  In "matched" rows the
penalties per piece were fitted to SentencePiece's number of tokens on the text itself, so that
alignment is compared at equal length; nothing but that number is read from the text.

Configurations are in `CONFIGURATIONS`; models and results of stages are kept in ``--work-dir``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import sentencepiece
from ngram import bits_per_byte

import pairpiece
from pairpiece import files
from pairpiece.evaluation import evaluate
from pairpiece.evaluation.systems import LINKS_SEED
from pairpiece.foreign.sentencepiece import train_sentencepiece
from pairpiece.links.eflomal import TRAINING_LENGTH
from pairpiece.model.word_links import word_links
from pairpiece.options import LengthPenalty

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "no dummy prefix": {"add_dummy_prefix": False},
    "counts as scores": {"marginal": "best"},
    "rare pieces kept": {"min_expected_count": 0.3},
    "g_U 8": {"length_penalty": LengthPenalty(4, 8, 4)},
    "g_O 4 in encoding": {"paired_length_penalty": LengthPenalty(4, 0, 4)},
    "before": {
        "add_dummy_prefix": False,
        "marginal": "best",
        "min_expected_count": 0.3,
        "length_penalty": LengthPenalty(4, 8, 4),
        "paired_length_penalty": LengthPenalty(4, 0, 4),
    },
    "paper": {"mode": "paper"},
    "paper-hard": {"mode": "paper-hard"},
}
WAYS = {"marginal": "target only", "paired": "with source", "aligned": "with source and links"}
METRICS = ("one_to_one", "unaligned", "link_f")
EQUAL = 0.9985
"""Of SentencePiece's tokens: what counts as equally many, within 0.3 %."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, nargs="+", help="folders named source-target")
    parser.add_argument("--vocab-size", type=int, nargs="+", default=[8000])
    parser.add_argument("--configurations", nargs="+", default=["default"], choices=CONFIGURATIONS)
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument("--split", nargs="+", default=["dev"], help="text to measure on")
    parser.add_argument("--dev", help="split for the priors of the aligner, as in the paper")
    parser.add_argument("--directions", nargs="+", help="such as deu-hsb; all if not given")
    parser.add_argument("--matched-only", action="store_true", help="leave raw rows out")
    parser.add_argument("--runs", type=int, default=5, help="of the aligner")
    parser.add_argument("--aligner-length", type=float, default=TRAINING_LENGTH)
    parser.add_argument("--work-dir", type=Path, default=Path("/tmp/pairpiece-quality"))
    options = parser.parse_args()
    print("| direction | size | tokenizer | tokens | one-to-one | unaligned | link F | bits/byte |")
    print("|---" * 8 + "|")
    for size in options.vocab_size:
        for corpus in options.corpus:
            first, second = corpus.name.split("-")
            for source, target in ((first, second), (second, first)):
                name = f"{source}-{target}"
                if options.directions and name not in options.directions:
                    continue
                for row in Direction(corpus, source, target, size, options).rows():
                    print(f"| {source} → {target} | {size // 1000}k | {row} |", flush=True)


class Direction:
    """A language pair in one direction, and a vocabulary size."""

    def __init__(
        self, corpus: Path, source: str, target: str, size: int, options: argparse.Namespace
    ) -> None:
        self._options = options
        self._size = size
        self._train = [corpus / f"train.{language}.gz" for language in (source, target)]
        self._text = [
            [line for split in options.split for line in _lines(corpus / f"{split}.{language}.gz")]
            for language in (source, target)
        ]
        self._dev = None
        if options.dev is not None:
            self._dev = [_lines(corpus / f"{options.dev}.{name}.gz") for name in (source, target)]
        self._folder = options.work_dir / f"{source}-{target}" / str(size)

    def rows(self) -> list[str]:
        """A row for SentencePiece and for each way to use each configuration."""
        peer = self._sentencepiece()
        plain = sentencepiece.SentencePieceProcessor(model_file=str(peer))
        tokens = sum(map(len, plain.encode(self._text[1])))
        systems, models = [f"SentencePiece={peer}"], {}
        for name in self._options.configurations:
            model = self._model(name)
            if not self._options.matched_only:
                for way in self._options.ways:
                    label = f"{name}, {WAYS[way]}"
                    systems.append(f"{label}={self._folder / name}/@{way}")
                    models[label] = model
            if model.provenance["mode"] != "default":
                continue  # the paper's modes are measured as they are
            matched = self._matched(name, model, tokens)
            for way in self._options.ways:
                label = f"{name}, {WAYS[way]}, matched"
                systems.append(f"{label}={self._folder / name}-matched/@{way}")
                models[label] = matched
        found = evaluate(
            systems,
            self._text[1],
            self._text[0],
            dev_source=None if self._dev is None else self._dev[0],
            dev_target=None if self._dev is None else self._dev[1],
            metrics=["fertility", *METRICS],
            runs=self._options.runs,
        )
        self._keep(found)
        train = list(files.lines(self._train[1]))
        text = self._text[1]
        base = bits_per_byte(plain.encode(train), plain.encode(text), text, plain.vocab_size())
        values = [found.score("SentencePiece", m).value for m in ("fertility", *METRICS)]
        lines = ["SentencePiece | " + " | ".join(f"{v:.3f}" for v in (*values, base))]
        for label, model in models.items():
            cells = [f"{found.score(label, 'fertility').value / values[0]:.3f}"]
            for metric in METRICS:
                c = found.score(label, metric).comparison
                cells.append(f"{c.difference:+.3f} [{c.low:+.3f}, {c.high:+.3f}]")
            cells.append("–")
            if "target only" in label:
                both = [model.encode_batch(lines, num_threads=2) for lines in (train, text)]
                bits = bits_per_byte(*both, text, model.vocab_size)
                cells[-1] = f"{bits / base - 1:+.2%}"
            lines.append(f"{label} | " + " | ".join(cells))
        return lines

    def _sentencepiece(self) -> Path:
        path = self._folder / "sp.model"
        if not path.is_file():
            model = train_sentencepiece(files.lines(self._train[1]), self._size)
            path.parent.mkdir(parents=True, exist_ok=True)
            files.write(path, model.content)
        return path

    def _model(self, name: str) -> pairpiece.Tokenizer:
        folder = self._folder / name
        if not (folder / "pairpiece.json").is_file():
            pairpiece.train(
                *self._train,
                vocab_size=self._size,
                keep_priors=True,
                aligner_length=self._options.aligner_length,
                hard_vocab_limit=False,
                output=folder,
                work_dir=self._options.work_dir / "stages",
                **CONFIGURATIONS[name],
            )
        return pairpiece.load(folder)

    def _matched(self, name: str, model: pairpiece.Tokenizer, tokens: int) -> pairpiece.Tokenizer:
        source, target = self._text
        links = None
        if "aligned" in self._options.ways:
            links = word_links(model, zip(source, target, strict=True), seed=LINKS_SEED)
        matched = model.calibrate(
            target,
            source,
            alignments=links,
            reference=tokens,
            balance=EQUAL,
            num_threads=2,
        )
        matched.save(self._folder / f"{name}-matched")
        return matched

    def _keep(self, found: Any) -> None:
        """All scores, for those who want more than the table has."""
        scores = [
            {
                "tokenizer": score.tokenizer,
                "metric": score.metric,
                "value": score.value,
                "runs": score.runs,
                "difference": score.comparison and score.comparison.difference,
            }
            for score in found.scores
        ]
        split = "+".join(self._options.split)
        content = json.dumps(scores, ensure_ascii=False, indent=1).encode()
        files.write(self._folder / f"scores-{split}.json", content)


def _lines(path: Path) -> list[str]:
    return list(files.lines(path)) if path.is_file() else []


if __name__ == "__main__":
    main()
