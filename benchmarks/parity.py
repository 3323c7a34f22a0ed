"""How many texts other tools tokenize, or decode, otherwise than PairPiece does.

    python benchmarks/parity.py it-fr/ --data ../shared/data

Compares a saved model with its exports in SentencePiece, tokenizers and transformers, and a
SentencePiece model trained on the spot with what `from_sentencepiece` makes of it, on all dev and
test files of the data and on 10,000 random Unicode strings.
"""

from __future__ import annotations

import argparse
import io
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

import sentencepiece
import tokenizers
import transformers

import pairpiece
from pairpiece import files
from pairpiece.foreign.sentencepiece_format import to_sentencepiece

Ids = list[list[int]]


def main() -> None:
    parser = argparse.ArgumentParser(description="parity with other tools")
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    model = pairpiece.load(options.model)
    real = [
        line
        for path in sorted(options.data.glob("*/*.gz"))
        if not path.name.startswith("train.") and ".source." not in path.name
        for line in files.lines(path)
    ]
    texts = real + random_texts(10_000)
    print("| tool | real texts | ids differ | random strings | ids differ | decoded differently |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        model.save(folder)
        theirs = sentencepiece.SentencePieceProcessor(model_proto=to_sentencepiece(model))
        fast = tokenizers.Tokenizer.from_file(f"{folder}/tokenizer.json")
        auto = transformers.AutoTokenizer.from_pretrained(folder)
    compare("SentencePiece", model, texts, len(real), theirs.encode, theirs.decode)
    compare(
        "tokenizers",
        model,
        texts,
        len(real),
        lambda batch: [row.ids for row in fast.encode_batch(batch, add_special_tokens=False)],
        fast.decode_batch,
    )
    compare(
        "transformers",
        model,
        texts,
        len(real),
        lambda batch: auto(batch, add_special_tokens=False)["input_ids"],
        auto.batch_decode,
    )
    trained = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(real[: len(real) // 2]),
        model_writer=trained,
        vocab_size=8000,
        byte_fallback=True,
        character_coverage=0.999,
        minloglevel=2,
    )
    other = sentencepiece.SentencePieceProcessor(model_proto=trained.getvalue())
    ours = pairpiece.from_sentencepiece(other)
    compare("from_sentencepiece", ours, texts, len(real), other.encode, other.decode)


def compare(
    tool: str,
    ours: pairpiece.Tokenizer,
    texts: list[str],
    real: int,
    encode: Callable[[list[str]], Ids],
    decode: Callable[[Ids], list[str]],
) -> None:
    ids = ours.encode_batch(texts)
    different = [a != b for a, b in zip(ids, encode(texts), strict=True)]
    decoded = sum(a != b for a, b in zip(ours.decode_batch(ids), decode(ids), strict=True))
    print(
        f"| {tool} | {real:,} | {sum(different[:real])} | {len(texts) - real:,} | "
        f"{sum(different[real:])} | {decoded} |",
        flush=True,
    )


def random_texts(count: int) -> list[str]:
    """A third of ASCII, a third of Latin with combining marks, the rest of anything."""
    generator = random.Random(0)
    pools = (
        [(0x20, 0x7F)],
        [(0x20, 0x7F), (0xA0, 0x250), (0x300, 0x370)],
        [(0, 0xD800), (0xE000, 0x110000), (0x20, 0x7F)],
    )

    def text(pool: list[tuple[int, int]]) -> str:
        length = generator.randint(0, 30)
        return "".join(chr(generator.randrange(*generator.choice(pool))) for _ in range(length))

    return [text(pools[i % 3]) for i in range(count)]


if __name__ == "__main__":
    main()
