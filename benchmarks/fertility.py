"""Tokens per word on held-out text: every mode against SentencePiece.

    python benchmarks/fertility.py ../shared/data/fra-ita --work-dir /tmp/pairpiece-bench

All tokenizers are trained on the same text with the same vocabulary size; the paper's modes see one
pair per word link, as in the paper.  Words are what white space separates.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import sentencepiece
from prepare import SOURCE_SETTINGS, Sentence, prepare, sentences, training_pairs

import pairpiece


def main() -> None:
    parser = argparse.ArgumentParser(description="tokens per word of every mode")
    parser.add_argument("corpus", type=Path, nargs="+")
    parser.add_argument("--work-dir", type=Path, default=Path("/tmp/pairpiece-bench"))
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--split", default="test", help="held-out split to measure on")
    parser.add_argument("--num-threads", type=int, default=2)
    options = parser.parse_args()
    print("| corpus | tokenizer | target only | paired: links given | inferred | whole sentence |")
    print("|---|---|---|---|---|---|")
    for corpus in options.corpus:
        folder = prepare(corpus, options.work_dir)
        heldout = list(sentences(folder, options.split))
        baseline = sentencepiece_model(folder, options.vocab_size)
        texts = [sentence.target for sentence in heldout]
        row(corpus.name, "SentencePiece", [fertility(texts, baseline.encode(texts))])
        words = training_pairs(folder)
        links = training_pairs(folder, per_link=True)
        for mode in ("unigram", "paper", "paper-hard", "default"):
            tokenizer = pairpiece.train_from_pairs(
                links if mode.startswith("paper") else words,
                options.vocab_size,
                mode,
                num_threads=options.num_threads,
                pretokenization="lossless",
                add_dummy_prefix=False,
            )
            row(corpus.name, mode, measure(tokenizer, heldout, options.num_threads))


def sentencepiece_model(folder: Path, vocab_size: int) -> sentencepiece.SentencePieceProcessor:
    prefix = folder / f"target-{vocab_size}"
    if not prefix.with_suffix(".model").exists():
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "target.txt"),
            model_prefix=str(prefix),
            vocab_size=vocab_size,
            **SOURCE_SETTINGS,
        )
    return sentencepiece.SentencePieceProcessor(model_file=f"{prefix}.model")


def measure(
    tokenizer: pairpiece.Tokenizer, heldout: list[Sentence], num_threads: int
) -> list[float]:
    texts = [sentence.target for sentence in heldout]
    sources = [sentence.source for sentence in heldout]
    links = [sentence.links for sentence in heldout]
    results = [fertility(texts, tokenizer.encode_batch(texts, num_threads=num_threads))]
    if tokenizer.is_paired:
        for condition in (
            {"alignments": links},
            {"whole_sentence": False},
            {"whole_sentence": True},
        ):
            tokens = tokenizer.encode_batch(texts, sources, num_threads=num_threads, **condition)
            results.append(fertility(texts, tokens))
    return results


def fertility(texts: list[str], tokens: list[list[int]]) -> float:
    return sum(map(len, tokens)) / sum(len(text.split()) for text in texts)


def row(corpus: str, name: str, values: list[float]) -> None:
    cells = [f"{value:.3f}" for value in values] + ["–"] * (4 - len(values))
    print(f"| {corpus} | {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
