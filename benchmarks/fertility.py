"""Tokens per word on held-out text: every mode against SentencePiece.

    python benchmarks/fertility.py ../shared/data/fra-ita --work-dir /tmp/pairpiece-bench

All tokenizers are trained on the same text with the same vocabulary size; the paper's modes see one
pair per word link, as in the paper.  Words are what white space separates.  In brackets: the share
of words that are segmented just as with the links of the word aligner.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import sentencepiece
from prepare import Sentence, prepare, sentences, training_pairs

import pairpiece
from pairpiece.foreign.sentencepiece_training import SOURCE_SETTINGS

MODES: dict[str, tuple[str, dict[str, Any]]] = {
    mode: (mode, {}) for mode in ("unigram", "paper", "paper-hard", "default")
}
NO_LENGTH: dict[str, Any] = {
    "length_penalty": pairpiece.LengthPenalty(),
    "paired_length_penalty": pairpiece.LengthPenalty(),
    "paired_piece_penalty": 0.0,
    "pruning": "information",
}
ABLATION: dict[str, tuple[str, dict[str, Any]]] = {
    "paper": ("paper", {}),
    "paper + posteriors": ("paper", {"counting": "posterior"}),
    "default − length prior": ("default", NO_LENGTH),
    "default − length pruning": ("default", {"pruning": "information"}),
    "default": ("default", {}),
}

KNOBS: dict[str, tuple[str, dict[str, Any]]] = {
    "default": ("default", {}),
    **{
        f"{name} {value}": ("default", {name: value})
        for name, values in {
            "smoothing": (0.1, 10.0),
            "base_offset": (0.001, 0.1),
            "max_piece_length": (8, 24),
            "min_seed_count": (1.0, 5.0),
            "min_expected_count": (0.0, 1.0),
            "shrinking_factor": (0.5, 0.9),
            "num_sub_iterations": (1, 4),
            "num_final_iterations": (1, 8),
            "pruning": ("loss", "frequency"),
            "marginal": ("expected",),
            "min_table_count": (0.0, 0.1),
        }.items()
        for value in values
    },
    **{
        f"length_penalty.under {under:g}": (
            "default",
            {"length_penalty": pairpiece.LengthPenalty(4.0, under, 4.0)},
        )
        for under in (1.0, 4.0)
    },
}


def main() -> None:
    parser = argparse.ArgumentParser(description="tokens per word of every mode")
    parser.add_argument("corpus", type=Path, nargs="+")
    parser.add_argument("--work-dir", type=Path, default=Path("/tmp/pairpiece-bench"))
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--split", default="test", help="held-out split to measure on")
    parser.add_argument("--num-threads", type=int, default=2)
    parser.add_argument(
        "--ablation", action="store_true", help="from paper to default, step by step"
    )
    parser.add_argument("--knobs", action="store_true", help="the default with one knob turned")
    parser.add_argument("--no-prefix", action="store_true", help="SentencePiece without, too")
    parser.add_argument("--paired-piece-penalty", type=float, help="of the default mode")
    options = parser.parse_args()
    print("| corpus | tokenizer | target only | paired: links given | inferred | whole sentence |")
    print("|---|---|---|---|---|---|")
    for corpus in options.corpus:
        folder = prepare(corpus, options.work_dir)
        heldout = list(sentences(folder, options.split))
        baseline = sentencepiece_model(folder, options.vocab_size)
        texts = [sentence.target for sentence in heldout]
        row(corpus.name, "SentencePiece", [f"{fertility(texts, baseline.encode(texts)):.3f}"])
        if options.no_prefix:
            like_ours = sentencepiece_model(folder, options.vocab_size, add_dummy_prefix=False)
            value = fertility(texts, like_ours.encode(texts))
            row(corpus.name, "SentencePiece, no dummy prefix", [f"{value:.3f}"])
        words = training_pairs(folder)
        links = training_pairs(folder, per_link=True)
        default: dict[str, Any] = {}
        if options.paired_piece_penalty is not None:
            default["paired_piece_penalty"] = options.paired_piece_penalty
        modes = {**MODES, "default": ("default", default)}
        if options.ablation or options.knobs:
            modes = ABLATION if options.ablation else KNOBS
        for name, (mode, changes) in modes.items():
            tokenizer = pairpiece.train_from_pairs(
                links if mode.startswith("paper") else words,
                options.vocab_size,
                mode,
                num_threads=options.num_threads,
                pretokenization="lossless",
                add_dummy_prefix=False,
                **changes,
            )
            row(corpus.name, name, measure(tokenizer, heldout, options.num_threads))


def sentencepiece_model(
    folder: Path, vocab_size: int, *, add_dummy_prefix: bool = True
) -> sentencepiece.SentencePieceProcessor:
    prefix = folder / (f"target-{vocab_size}" + ("" if add_dummy_prefix else "-plain"))
    if not prefix.with_suffix(".model").exists():
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "target.txt"),
            model_prefix=str(prefix),
            vocab_size=vocab_size,
            add_dummy_prefix=add_dummy_prefix,
            **SOURCE_SETTINGS,
        )
    return sentencepiece.SentencePieceProcessor(model_file=f"{prefix}.model")


def measure(tokenizer: pairpiece.Tokenizer, heldout: list[Sentence], num_threads: int) -> list[str]:
    texts = [sentence.target for sentence in heldout]
    sources = [sentence.source for sentence in heldout]
    links = [sentence.links for sentence in heldout]
    if not tokenizer.is_paired:
        return [f"{fertility(texts, tokenizer.encode_batch(texts)):.3f}"]
    encoded = [
        tokenizer.encode_batch(
            texts, out_type=pairpiece.Encoding, num_threads=num_threads, **condition
        )
        for condition in (
            {"sources": sources, "alignments": links},
            {},
            {"sources": sources, "whole_sentence": False},
            {"sources": sources, "whole_sentence": True},
        )
    ]
    linked = [word for encoding in encoded[0] for word in segmented_words(encoding)]
    results = []
    for encodings in encoded:
        words = [word for encoding in encodings for word in segmented_words(encoding)]
        same = sum(a == b for a, b in zip(words, linked, strict=True)) / len(linked)
        tokens = [encoding.ids for encoding in encodings]
        results.append(f"{fertility(texts, tokens):.3f} ({same:.3f})")
    return [results[1], results[0].split()[0], results[2], results[3]]


def segmented_words(encoding: pairpiece.Encoding) -> list[list[int]]:
    words: list[list[int]] = [[] for _ in range(max(encoding.word_ids, default=-1) + 1)]
    for token, word in zip(encoding.ids, encoding.word_ids, strict=True):
        words[word].append(token)
    return words


def fertility(texts: list[str], tokens: list[list[int]]) -> float:
    return sum(map(len, tokens)) / sum(len(text.split()) for text in texts)


def row(corpus: str, name: str, values: list[str]) -> None:
    cells = values + ["–"] * (4 - len(values))
    print(f"| {corpus} | {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
