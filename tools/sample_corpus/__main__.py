"""Write the French-Italian sample corpus: ``python tools/sample_corpus --output DIR``."""

from __future__ import annotations

import argparse
from pathlib import Path

from checks import check
from generate import corpus


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="directory of sample.fr and .it")
    parser.add_argument("--pairs", type=int, default=6000, help="number of sentence pairs")
    arguments = parser.parse_args()
    pairs = corpus(arguments.pairs)
    check(pairs)
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, lines in zip(("sample.fr", "sample.it"), zip(*pairs, strict=True), strict=True):
        (arguments.output / name).write_text(
            "\n".join(lines) + "\n", encoding="utf-8", newline="\n"
        )


if __name__ == "__main__":
    main()
