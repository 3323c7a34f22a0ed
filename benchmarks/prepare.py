"""Make aligned word pairs from raw parallel text, for the benchmarks.

    python benchmarks/prepare.py ../shared/data/fra-ita --work-dir /tmp/pairpiece-bench

reads ``<split>.<language>.gz``, trains a SentencePiece unigram model on the source side, aligns the
words of all splits at once with Eflomal (both directions, grow-diag-final-and) and writes to
``WORK/<pair>/``

* ``<split>.jsonl.gz``: sentences, each with its target text and words, the tokens of its source
  words, and the word links;
* ``source.model``, the source tokenizer; ``target.txt``, the target side of the training text.

Eflomal draws its random numbers from the system, so two runs give slightly different links; a
finished folder is used again rather than made anew.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import sentencepiece

from pairpiece.pairs import Pairs, pairs_from_links
from pairpiece.words import split_words

Links = list[tuple[int, int]]

# The paper's source tokenizer settings (its appendix B).
SOURCE_SETTINGS = {
    "model_type": "unigram",
    "character_coverage": 1.0,
    "shrinking_factor": 0.75,
    "num_sub_iterations": 2,
    "allow_whitespace_only_pieces": True,
    "byte_fallback": True,
    "normalization_rule_name": "nfkc",
    "minloglevel": 2,
}


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
    sources = {split: read_lines(corpus / f"{split}.{source}.gz") for split in splits}
    targets = {split: read_lines(corpus / f"{split}.{target}.gz") for split in splits}
    (folder / "target.txt").write_text("\n".join(targets["train"]) + "\n", encoding="utf-8")
    tokenizer = source_tokenizer(folder / "source", sources["train"], vocab_size)
    source_words = {split: [split_words(line) for line in sources[split]] for split in splits}
    target_words = {split: [split_words(line) for line in targets[split]] for split in splits}
    links = align(
        folder,
        [words for split in splits for words in source_words[split]],
        [words for split in splits for words in target_words[split]],
        samplers,
    )
    for split in splits:
        with gzip.open(folder / f"{split}.jsonl.gz", "wt", 3, encoding="utf-8") as file:
            for line, source_line, words, its_words in zip(
                targets[split],
                sources[split],
                target_words[split],
                source_words[split],
                strict=True,
            ):
                tokens = tokens_of_words(tokenizer, source_line, its_words)
                record = {"target": line, "words": words, "source": tokens, "links": next(links)}
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
    done.write_text(json.dumps({"cpu_seconds": time.process_time() - started}))
    return folder


def read_lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for line in file]


def source_tokenizer(
    prefix: Path, lines: list[str], vocab_size: int
) -> sentencepiece.SentencePieceProcessor:
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_prefix=str(prefix),
        vocab_size=vocab_size,
        **SOURCE_SETTINGS,
    )
    return sentencepiece.SentencePieceProcessor(model_file=f"{prefix}.model")


def tokens_of_words(
    tokenizer: sentencepiece.SentencePieceProcessor, line: str, words: list[str]
) -> list[list[str]]:
    """The source tokens of each word: a token belongs to the word its last character lies in."""
    tokens: list[list[str]] = [[] for _ in words]
    ends = []
    position = 0
    for word in words:
        position += len(word)
        ends.append(position)
    word = 0
    consumed = -1  # the dummy prefix is not part of the line
    for piece in tokenizer.encode(line, out_type=str):
        consumed += len(piece)
        while word + 1 < len(words) and consumed > ends[word]:
            word += 1
        tokens[word].append(piece)
    return tokens


def align(
    folder: Path, sources: list[list[str]], targets: list[list[str]], samplers: int
) -> Iterator[Links]:
    joined, forward, reverse = (folder / name for name in ("text", "forward", "reverse"))
    with joined.open("w", encoding="utf-8") as file:
        for source, target in zip(sources, targets, strict=True):
            file.write(f"{plain(source)} ||| {plain(target)}\n")
    command = f"eflomal-align --overwrite --n-samplers {samplers} -i text -f forward -r reverse"
    subprocess.run(
        command.split(),
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with forward.open() as forwards, reverse.open() as reverses:
        for ahead, back in zip(forwards, reverses, strict=True):
            yield grow_diag_final_and(pharaoh(ahead), pharaoh(back))
    for path in (joined, forward, reverse):
        path.unlink()


def plain(words: list[str]) -> str:
    """Lower-cased words without the space marker; a word must not vanish or the indices shift."""
    return " ".join("".join(word.lower().strip("▁").split()) or "_" for word in words)


def pharaoh(line: str) -> set[tuple[int, int]]:
    links = (link.split("-") for link in line.split())
    return {(int(source), int(target)) for source, target in links}


def grow_diag_final_and(forward: set[tuple[int, int]], reverse: set[tuple[int, int]]) -> Links:
    """Koehn et al. (2003): grow the intersection along neighbours, then add links of free words."""
    union = forward | reverse
    links = forward & reverse
    source_linked = {source for source, _ in links}
    target_linked = {target for _, target in links}

    def add(link: tuple[int, int]) -> None:
        links.add(link)
        source_linked.add(link[0])
        target_linked.add(link[1])

    neighbours = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]
    grown = True
    while grown:
        grown = False
        for source, target in sorted(links):
            for down, right in neighbours:
                link = (source + down, target + right)
                free = link[0] not in source_linked or link[1] not in target_linked
                if link in union and link not in links and free:
                    add(link)
                    grown = True
    for direction in (forward, reverse):
        for link in sorted(direction):
            if link[0] not in source_linked and link[1] not in target_linked:
                add(link)
    return sorted(links)


@dataclass(frozen=True)
class Sentence:
    """One prepared sentence pair."""

    target: str
    words: list[str]
    source: list[list[str]]
    links: Links


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
