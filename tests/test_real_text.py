"""On real parallel text, where it lies beside the project."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest
import sentencepiece
from support.listener import Listener

import pairpiece

DATA = Path(__file__).parents[2] / "shared" / "data" / "fra-ita"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no parallel text at {DATA}"),
]


def lines(name: str) -> list[str]:
    with gzip.open(DATA / name, "rt", encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for line in file]


def parts_of(words: Counter[str]) -> list[tuple[str, int]]:
    """What occurs twice in the words, as long as a piece may be, what covers most text first."""
    parts: Counter[str] = Counter()
    for word, count in words.items():
        for begin in range(len(word)):
            for end in range(begin + 2, min(len(word), begin + 16) + 1):
                parts[word[begin:end]] += count
    found = [(part, count) for part, count in parts.items() if count > 1 and part.isprintable()]
    return sorted(found, key=lambda row: (-len(row[0]) * row[1], row[0]))


def test_unigram_mode_is_as_compact_as_sentencepiece(tmp_path: Path) -> None:
    training, heldout = lines("train.ita.gz"), lines("dev.ita.gz")
    words = Counter(word for line in training for word in pairpiece.split_words(line))
    # SentencePiece 0.2.3 would by itself never try a word that is followed by spaces only.
    seeds = tmp_path / "seeds.tsv"
    seeds.write_text("".join(f"{part}\t{count}\n" for part, count in parts_of(words)), "utf-8")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(training),
        model_prefix=str(tmp_path / "peer"),
        vocab_size=8000,
        character_coverage=1.0,
        byte_fallback=True,
        normalization_rule_name="nfkc",
        allow_whitespace_only_pieces=True,
        add_dummy_prefix=False,
        seed_sentencepieces_file=str(seeds),
        minloglevel=2,
    )
    peer = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "peer.model"))
    ours = pairpiece.train_from_pairs(
        (((), word, count) for word, count in words.items()), 8000, "unigram", num_threads=2
    )
    ratio = sum(map(len, ours.encode_batch(heldout))) / sum(map(len, peer.encode(heldout)))
    assert 0.985 < ratio < 1.01  # SentencePiece 0.2.3 finds 1.3% more tokens than 0.2.2 did
    assert ours.decode_batch(ours.encode_batch(heldout)) == list(map(ours.normalize, heldout))


@pytest.mark.parametrize(("source", "target"), [("fra", "ita"), ("ita", "fra")])
def test_a_run_from_raw_text_says_nothing_to_worry_about(source: str, target: str) -> None:
    listener = Listener()
    tokenizer = pairpiece.train(
        DATA / f"train.{source}.gz",
        DATA / f"train.{target}.gz",
        vocab_size=4000,
        max_lines=10_000,
        cache=False,
        reporter=listener,
    )
    assert listener.warnings == []
    texts, sources = lines(f"dev.{target}.gz"), lines(f"dev.{source}.gz")
    for encoded in (tokenizer.encode_batch(texts), tokenizer.encode_batch(texts, sources)):
        assert tokenizer.decode_batch(encoded) == [tokenizer.normalize(text) for text in texts]
