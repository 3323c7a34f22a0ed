"""Which symmetrization of the two directions of the word aligner gives the best tokenizer?

    python benchmarks/symmetrization.py ../shared/data/fra-ita ../shared/data/deu-hsb

trains the default mode at 8k with each, on up to 40,000 sentence pairs, and prints tokens per word
and the share of source tokens linked one to one on dev text, target only and with the source,
beside SentencePiece.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

from pairpiece import files
from pairpiece.evaluation.token_links import token_links
from pairpiece.foreign.protocol import flat
from pairpiece.foreign.sentencepiece_training import train_sentencepiece
from pairpiece.links.symmetrization import SYMMETRIZATIONS
from pairpiece.run import pipeline
from pairpiece.run.job import prepare

LINES = 40_000


def main() -> None:
    parser = argparse.ArgumentParser(description="compare symmetrizations")
    parser.add_argument("corpora", nargs="+", type=Path, help="folders named SOURCE-TARGET")
    parser.add_argument("--work-dir", type=Path, default=Path("/tmp/pairpiece-bench"))
    options = parser.parse_args()
    print("| | symmetrization | target only | one-to-one | with source | one-to-one |")
    print("|---|---|---|---|---|---|")
    for corpus in options.corpora:
        compare(corpus, options.work_dir)


def compare(corpus: Path, work_dir: Path) -> None:
    source, target = corpus.name.split("-")
    sides = [
        list(itertools.islice(files.lines(corpus / f"train.{language}.gz"), LINES))
        for language in (source, target)
    ]
    dev = [list(files.lines(corpus / f"dev.{language}.gz")) for language in (source, target)]
    sources, targets = sides[0] + dev[0], sides[1] + dev[1]
    words = sum(len(line.split()) for line in dev[1])
    source_tokens: list[list[str]] = []

    def measured(tokens: list[list[str]]) -> str:
        fertility = sum(len(row) for row in tokens[-len(dev[1]) :]) / words
        return f"{fertility:.3f} | {token_links(source_tokens, tokens, len(dev[1])).one_to_one:.4f}"

    for symmetrization in SYMMETRIZATIONS:
        job = prepare(
            corpus=zip(*sides, strict=True), symmetrization=symmetrization, hard_vocab_limit=False
        )
        tokenizer = pipeline.run(job, work_dir=work_dir).tokenizer
        if not source_tokens:
            source_tokens += [flat(tokenizer.source_tokenizer, line) for line in sources]
            peer = train_sentencepiece(sides[1], 8000)
            baseline = measured([flat(peer, line) for line in targets])
            print(f"| {corpus.name} | SentencePiece | {baseline} | | |")
        alone = measured(tokenizer.encode_batch(targets, out_type=str, num_threads=2))
        paired = measured(tokenizer.encode_batch(targets, sources, out_type=str, num_threads=2))
        print(f"| {corpus.name} | {symmetrization} | {alone} | {paired} |", flush=True)


if __name__ == "__main__":
    main()
