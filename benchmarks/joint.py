"""What a tokenizer with the pieces of a second language in it does with text of either.

    python benchmarks/joint.py ../shared/data/fra-ita ../shared/data/ces-ukr --splits dev

The tokenizers that are extended are trained on the source side of the training text: byte-level
BPE with the words of Llama 3, and BPE and unigram models of SentencePiece.  The control gets as
many new tokens by going on with byte-pair encoding on the target text.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from collections import Counter
from collections.abc import Callable
from itertools import islice, pairwise
from pathlib import Path

import sentencepiece
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

import pairpiece
from pairpiece.foreign import joint_vocabulary

_LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
Encode = Callable[[list[str]], list[list[int]]]


def main() -> None:
    parser = argparse.ArgumentParser(description="tokenizers of two languages")
    parser.add_argument("corpus", type=Path, nargs="+")
    parser.add_argument("--splits", nargs="+", default=["dev"])
    parser.add_argument("--lines", type=int, default=40000, help="of training text")
    parser.add_argument("--their-size", type=int, default=16000)
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--lowered", type=float, nargs="*", default=[joint_vocabulary.LOWERED])
    options = parser.parse_args()
    print("| corpus | text | tokenizer | tokens | target | source | source words cut anew |")
    print("|---|---|---|---|---|---|---|")
    for corpus in options.corpus:
        with tempfile.TemporaryDirectory() as name:
            _compare(corpus, Path(name), options)


def _compare(corpus: Path, folder: Path, options: argparse.Namespace) -> None:
    source, target = corpus.resolve().name.split("-")
    for language in (source, target):
        text = islice(_lines(corpus / f"train.{language}.gz"), options.lines)
        (folder / language).write_text("\n".join(text) + "\n", encoding="utf-8")
    for kind in ("byte-level", "bpe", "unigram"):
        theirs = _their_tokenizer(kind, folder / source, folder / kind, options.their_size)
        tokenizer = pairpiece.train(
            folder / source,
            folder / target,
            source_tokenizer=theirs,
            vocab_size=options.vocab_size,
            output=folder / f"ours-{kind}",
            work_dir=folder / "stages",
        )
        systems: dict[str, tuple[int, Encode]] = {f"{kind}, as it was": (0, _encoder(theirs))}
        for lowered in options.lowered if kind == "unigram" else [0.0]:
            joint_vocabulary.LOWERED = lowered
            output = folder / f"joint-{kind}-{lowered}{theirs.suffix}"
            joint = pairpiece.extend_tokenizer(theirs, tokenizer, output)
            added = f", lowered by {lowered:g}" if kind == "unigram" else ""
            systems[f"{kind}, joint{added}"] = len(joint.tokens), _encoder(output)
        if kind == "byte-level":
            output = folder / "gone-on"
            _go_on(theirs, folder / target, len(joint.tokens), output)
            systems["byte-level, gone on with"] = len(joint.tokens), _encoder(output)
        systems["ours alone"] = len(tokenizer), tokenizer.encode_batch
        for split in options.splits:
            texts = [list(_lines(corpus / f"{split}.{side}.gz")) for side in (target, source)]
            for system, (new, encode) in systems.items():
                lengths = (f"{_tokens_per_word(encode, text):.3f}" for text in texts)
                anew = f"{_cut_anew(_encoder(theirs), encode, texts[1]):.1%}"
                row = [corpus.resolve().name, split, system, f"{new:,}", *lengths, anew]
                print("| " + " | ".join(row) + " |", flush=True)


def _lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file]


def _their_tokenizer(kind: str, text: Path, path: Path, size: int) -> Path:
    if kind != "byte-level":
        sentencepiece.SentencePieceTrainer.train(
            input=str(text),
            model_prefix=str(path),
            model_type=kind,
            vocab_size=size,
            hard_vocab_limit=False,  # little text may have too little to offer
            byte_fallback=True,
            minloglevel=2,
        )
        return path.with_suffix(".model")
    tokenizer = Tokenizer(models.BPE())
    words = pre_tokenizers.Split(Regex(_LLAMA3), "isolated")
    spelled = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([words, spelled])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=["<|begin|>", "<|end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train([str(text)], trainer)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(path)
    return path


def _go_on(theirs: Path, text: Path, size: int, output: Path) -> None:
    """Byte-pair encoding learned further: the most frequent pair of tokens is the next one."""
    content = json.loads((theirs / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer = Tokenizer.from_file(str(theirs / "tokenizer.json"))
    lines = text.read_text(encoding="utf-8").splitlines()
    splitter = tokenizer.pre_tokenizer
    counts = Counter(w for line in lines for w, _ in splitter.pre_tokenize_str(line))
    words = [[token.value for token in tokenizer.model.tokenize(word)] for word in counts]
    weights = list(counts.values())
    pairs: Counter[tuple[str, str]] = Counter()
    places: dict[tuple[str, str], set[int]] = {}
    for i, word in enumerate(words):
        for pair in pairwise(word):
            pairs[pair] += weights[i]
            places.setdefault(pair, set()).add(i)
    vocabulary = content["model"]["vocab"]
    goal = max(vocabulary.values()) + size
    while max(vocabulary.values()) < goal or len(vocabulary) <= goal:
        pair, _ = max(pairs.items(), key=lambda item: (item[1], item[0]))
        content["model"]["merges"].append(list(pair))
        vocabulary.setdefault("".join(pair), len(vocabulary))
        for i in places.pop(pair):
            for old in pairwise(words[i]):
                pairs[old] -= weights[i]
            joined: list[str] = []
            for symbol in words[i]:
                if joined and (joined[-1], symbol) == pair:
                    joined[-1] += symbol
                else:
                    joined.append(symbol)
            words[i] = joined
            for new in pairwise(joined):
                pairs[new] += weights[i]
                places.setdefault(new, set()).add(i)
        del pairs[pair]
    output.mkdir()
    (output / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")


def _encoder(path: Path) -> Encode:
    if path.suffix == ".model":
        processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
        return lambda texts: processor.encode(texts)
    tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
    return lambda texts: [found.ids for found in tokenizer.encode_batch(texts)]


def _tokens_per_word(encode: Encode, texts: list[str]) -> float:
    return sum(map(len, encode(texts))) / sum(len(text.split()) for text in texts)


def _cut_anew(before: Encode, after: Encode, texts: list[str]) -> float:
    """The share of words, each by itself after a space, of which the tokens are others."""
    counts = Counter(f" {word}" for text in texts for word in text.split())
    words = list(counts)
    both = zip(words, before(words), after(words), strict=True)
    return sum(counts[w] for w, old, new in both if old != new) / counts.total()


if __name__ == "__main__":
    main()
