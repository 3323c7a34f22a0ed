"""Make aligned word pairs from raw parallel text, for the benchmarks.

    python benchmarks/prepare.py ../shared/data/fra-ita --work-dir /tmp/pairpiece-bench

reads ``<split>.<language>.gz``, trains a SentencePiece unigram model on the source side, aligns the
words of all splits at once with Eflomal (both directions, grow-diag-final-and) and writes to
``WORK/<pair>/``

* ``<split>.jsonl.gz``: sentences, each with its target text and words, the tokens of its source
  words, and the word links;
* ``source.model``, the source tokenizer; ``target.txt``, the target side of the training text.

A finished folder is used again rather than made anew.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pairpiece import files
from pairpiece.foreign.sentencepiece_training import train_sentencepiece
from pairpiece.foreign.source_words import source_words
from pairpiece.learning.pairs import Pairs, pairs_from_links
from pairpiece.links.eflomal import Eflomal, for_aligner, symmetrized_links
from pairpiece.links.symmetrization import Link
from pairpiece.text.words import split_words


def main() -> None:
    parser = argparse.ArgumentParser(description="aligned word pairs for the benchmarks")
    parser.add_argument(
        "corpus", type=Path, help="folder named SOURCE-TARGET with <split>.<language>.gz"
    )
    parser.add_argument("--work-dir", type=Path, default=Path("/tmp/pairpiece-bench"))
    parser.add_argument("--vocab-size", type=int, default=8000, help="of the source tokenizer")
    parser.add_argument("--samplers", type=int, default=1, help="Eflomal samplers")
    options = parser.parse_args()
    print(prepare(options.corpus, options.work_dir, options.vocab_size, options.samplers))


def prepare(corpus: Path, work: Path, vocab_size: int = 8000, samplers: int = 1) -> Path:
    """Return the folder with the prepared data of `corpus`, making it if it is not there."""
    folder = work / corpus.name
    done = folder / "done"
    if done.exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    started = time.process_time()
    source, target = corpus.name.split("-")
    splits = sorted(path.name.split(".")[0] for path in corpus.glob(f"*.{source}.gz"))
    sources = {split: list(files.lines(corpus / f"{split}.{source}.gz")) for split in splits}
    targets = {split: list(files.lines(corpus / f"{split}.{target}.gz")) for split in splits}
    (folder / "target.txt").write_text("\n".join(targets["train"]) + "\n", encoding="utf-8")
    tokenizer = train_sentencepiece(sources["train"], vocab_size)
    (folder / "source.model").write_bytes(tokenizer.content)
    links = align(
        folder,
        (source_words(line) for split in splits for line in sources[split]),
        (split_words(line) for split in splits for line in targets[split]),
        samplers,
    )
    for split in splits:
        with gzip.open(folder / f"{split}.jsonl.gz", "wt", 3, encoding="utf-8") as file:
            for source_line, line in zip(sources[split], targets[split], strict=True):
                record = {
                    "target": line,
                    "words": split_words(line),
                    "source": tokenizer(source_line),
                    "links": next(links),
                }
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
    done.write_text(json.dumps({"cpu_seconds": time.process_time() - started}))
    return folder


def align(
    folder: Path, sources: Iterator[list[str]], targets: Iterator[list[str]], samplers: int
) -> Iterator[list[Link]]:
    for name, sentences_of_words in (("source.words", sources), ("target.words", targets)):
        with (folder / name).open("w", encoding="utf-8") as file:
            file.writelines(for_aligner(words) + "\n" for words in sentences_of_words)
    Eflomal(samplers).align(folder)
    yield from symmetrized_links(folder, "grow-diag-final-and")
    for name in ("source.words", "target.words", "forward.links", "reverse.links"):
        (folder / name).unlink()


@dataclass(frozen=True)
class Sentence:
    """One prepared sentence pair."""

    target: str
    words: list[str]
    source: list[list[str]]
    links: list[Link]


def sentences(folder: Path, split: str) -> Iterator[Sentence]:
    with gzip.open(folder / f"{split}.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            links = [(source, target) for source, target in record["links"]]
            yield Sentence(record["target"], record["words"], record["source"], links)


def training_pairs(folder: Path, *, per_link: bool = False) -> Pairs:
    """The training pairs: one per target word, or one per link as in the paper."""
    return Pairs.from_iterable(
        pair
        for sentence in sentences(folder, "train")
        for pair in pairs_from_links(
            sentence.source, sentence.words, sentence.links, per_link=per_link
        )
    )


if __name__ == "__main__":
    main()
