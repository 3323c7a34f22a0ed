"""What learning c(t, s) for an existing SentencePiece vocabulary brings.

    python benchmarks/fixed_vocabulary.py ../shared/data/fra-ita --work-dir /tmp/pairpiece-bench

The vocabulary stays SentencePiece's; paired encoding chooses among its pieces.  One-to-one is
measured with Eflomal on the split itself.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from fertility import fertility, sentencepiece_model
from prepare import prepare, sentences, training_pairs

import pairpiece
from pairpiece.evaluation.token_links import token_links


def main() -> None:
    parser = argparse.ArgumentParser(description="paired encoding with a fixed vocabulary")
    parser.add_argument("corpus", type=Path, nargs="+")
    parser.add_argument("--work-dir", type=Path, default=Path("/tmp/pairpiece-bench"))
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--split", default="dev", help="held-out split to measure on")
    options = parser.parse_args()
    print("| corpus | tokenizer | tokens per word | one-to-one |")
    print("|---|---|---|---|")
    for corpus in options.corpus:
        folder = prepare(corpus, options.work_dir)
        heldout = list(sentences(folder, options.split))
        texts = [sentence.target for sentence in heldout]
        sources = [sentence.source for sentence in heldout]
        tokens = [[token for word in source for token in word] for source in sources]
        links = [sentence.links for sentence in heldout]
        theirs = sentencepiece_model(folder, options.vocab_size)
        paired = pairpiece.train_from_pairs(
            training_pairs(folder), vocabulary=pairpiece.from_sentencepiece(theirs)
        )
        for name, pieces in {
            "SentencePiece": theirs.encode(texts, out_type=str),
            "the same, target only": paired.encode_batch(texts, out_type=str),
            "the same, links inferred": paired.encode_batch(texts, sources, out_type=str),
            "the same, links given": paired.encode_batch(
                texts, sources, alignments=links, out_type=str
            ),
        }.items():
            linked = token_links(tokens, pieces, len(pieces)).one_to_one
            print(f"| {corpus.name} | {name} | {fertility(texts, pieces):.3f} | {linked:.3f} |")


if __name__ == "__main__":
    main()
