"""How far the scores of token links can be trusted: how many lie inside the word links of Eflomal.

    python benchmarks/link_scores.py it-fr/ --source dev.fr --target dev.it

The model must have been trained with ``--keep-priors``.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import pairpiece
from pairpiece.files import lines
from pairpiece.model.word_links import word_links

BOUNDS = (0.1, 0.3, 0.5, 0.8, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description="token links by their scores")
    parser.add_argument("model", type=Path)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--target", type=Path, required=True)
    options = parser.parse_args()
    tokenizer = pairpiece.load(options.model)
    pairs = list(zip(lines(options.source), lines(options.target), strict=True))
    found: Counter[float] = Counter()
    inside: Counter[float] = Counter()
    for (source, target), linked in zip(pairs, word_links(tokenizer, pairs), strict=True):
        words = [i for i, word in enumerate(tokenizer.source_words(source)) for _ in word]
        encoding = tokenizer.encode(target, source=source, out_type=pairpiece.Encoding)
        alignment = tokenizer.align(source, target)
        for (i, j), score in zip(alignment.links, alignment.scores, strict=True):
            bound = next(bound for bound in BOUNDS if score <= bound + 1e-9)
            found[bound] += 1
            inside[bound] += (words[i], encoding.word_ids[j]) in linked
    print("| score up to | links | inside linked words |")
    print("|---|---|---|")
    for bound in BOUNDS:
        share = inside[bound] / max(1, found[bound])
        print(f"| {bound} | {found[bound]:,} | {share:.2f} |")


if __name__ == "__main__":
    main()
