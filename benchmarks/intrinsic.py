"""The paper's intrinsic table: every tokenizer, on both directions of every pair.

    python benchmarks/intrinsic.py ../shared/data/* --work-dir /tmp/pairpiece-intrinsic

Trains SentencePiece and PairPiece in its modes on the training text of each direction, with a
source tokenizer of the same size, and measures them with `pairpiece.evaluate`: the aligner gets
its priors from the dev text, tokenized by all of them, and aligns the test text.  Models are kept
in the work directory.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pairpiece
from pairpiece import files
from pairpiece.errors import VocabularySizeError
from pairpiece.evaluation import Evaluation, evaluate
from pairpiece.foreign.sentencepiece_training import train_sentencepiece

MODES = ("default", "paper", "paper-hard")
TOKENIZERS = {
    "SentencePiece": "sp.model",
    "paper": "paper/@paired",
    "paper-hard": "paper-hard/@paired",
    "paper, target only": "paper/@marginal",
    "default": "default/@paired",
    "default, links given": "default/@aligned",
    "default, target only": "default/@marginal",
}
METRICS = {
    "fertility": "fertility",
    "parity": "parity",
    "one-to-one": "one_to_one",
    "unaligned": "unaligned",
    "one-to-one, target side": "one_to_one_target",
    "link F": "link_f",
    "Rényi ratio": "renyi_ratio",
    "single characters": "single_characters",
}


def main() -> None:
    parser = argparse.ArgumentParser(description="the paper's intrinsic table")
    parser.add_argument("corpus", type=Path, nargs="+", help="folders named source-target")
    parser.add_argument("--work-dir", type=Path, default=Path("/tmp/pairpiece-intrinsic"))
    parser.add_argument("--vocab-size", type=int, nargs="+", default=[8000])
    parser.add_argument("--split", default="test", help="held-out split to measure on")
    parser.add_argument("--runs", type=int, default=5, help="of the aligner")
    parser.add_argument("--no-align", action="store_true", help="leave alignment metrics out")
    options = parser.parse_args()
    print("| direction | size | tokenizer | " + " | ".join(METRICS) + " |")
    print("|---" * (3 + len(METRICS)) + "|")
    for size in options.vocab_size:
        for corpus in options.corpus:
            first, second = corpus.name.split("-")
            for source, target in ((first, second), (second, first)):
                models = options.work_dir / f"{source}-{target}" / str(size)
                try:
                    train(corpus, source, target, models, size, options.work_dir)
                except VocabularySizeError as error:
                    print(f"| {source} → {target} | {size // 1000}k | not reached: {error} |")
                    continue
                found = measure(corpus, source, target, models, options)
                for row in rows(found):
                    print(f"| {source} → {target} | {size // 1000}k | {row} |", flush=True)


def train(corpus: Path, source: str, target: str, models: Path, size: int, work_dir: Path) -> None:
    texts = [corpus / f"train.{language}.gz" for language in (source, target)]
    for mode in MODES:
        if not (models / mode / "pairpiece.json").is_file():
            pairpiece.train(
                *texts,
                vocab_size=size,
                mode=mode,
                keep_priors=True,
                aligner_length=1.0,
                output=models / mode,
                work_dir=work_dir / "stages",
            )
    if not (models / "sp.model").is_file():
        files.write(models / "sp.model", train_sentencepiece(files.lines(texts[1]), size).content)


def measure(
    corpus: Path, source: str, target: str, models: Path, options: argparse.Namespace
) -> Evaluation:
    split = options.split
    return evaluate(
        [f"{name}={models / path}" for name, path in TOKENIZERS.items()],
        corpus / f"{split}.{target}.gz",
        corpus / f"{split}.{source}.gz",
        dev_target=corpus / f"dev.{target}.gz",
        dev_source=corpus / f"dev.{source}.gz",
        metrics=list(METRICS.values()),
        align=not options.no_align,
        runs=options.runs,
    )


def rows(found: Evaluation) -> list[str]:
    """A row for each tokenizer; * where it differs from SentencePiece."""
    lines = []
    for name in found.tokenizers:
        cells = []
        for metric in METRICS.values():
            score = found.score(name, metric)
            if score is None:
                cells.append("–")
                continue
            star = "*" if score.comparison is not None and score.comparison.p < 0.05 else ""
            cells.append(f"{score.value:.3f}{star}")
        lines.append(f"{name} | " + " | ".join(cells))
    return lines


if __name__ == "__main__":
    main()
