"""Tokenizers of other tools to take over, and text to compare them on."""

from __future__ import annotations

import functools
import json
import random
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
import sentencepiece
import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers

import pairpiece
from pairpiece import files
from pairpiece.corpus import sample
from pairpiece.text.protobuf import Fields, fields_of, message
from support import peers
from support.hostile import HOSTILE

Processor = sentencepiece.SentencePieceProcessor
Fast = tokenizers.Tokenizer
Json = dict[str, Any]
REFUSED = pytest.raises(pairpiece.ModelFormatError)

# ---------------------------------------------------------------------- text


@functools.cache
def italian() -> list[str]:
    return list(files.lines(sample.ITALIAN))


def repetitive(seed: int, count: int) -> Iterator[str]:
    """Runs of few characters, whose segmentations are often tied."""
    generator = random.Random(seed)
    for _ in range(count):
        runs = generator.randint(1, 8)
        yield "".join(generator.choice("000aa1. ") * generator.randint(1, 11) for _ in range(runs))


def mixed(seed: int, count: int) -> Iterator[str]:
    """Words, spaces in all places, and what NFKC changes."""
    generator = random.Random(seed)
    parts = [*"aelL'0. \t\nﬁ½²Ａ１…Ωà😀\u3000\u200b", " il", "gatto", "e\u0301", "  ", "<x>", "<x>"]
    for _ in range(count):
        size = generator.randint(0, 14)
        yield "".join(
            generator.choice(parts) * generator.choice((1, 1, 1, 2, 5)) for _ in range(size)
        )


TEXTS: dict[str, Callable[[], Iterable[str]]] = {
    "sample": lambda: italian()[1000:1400],
    "hostile": lambda: HOSTILE,
    "random": lambda: [*repetitive(1, 1000), *mixed(2, 1000)],
}


@functools.cache
def texts(kind: str) -> list[str]:
    """Without lone surrogates, which other tools do not take, and without ▁, shown below."""
    return [text for text in TEXTS[kind]() if not re.search("[\ud800-\udfff▁]", text)]


# ---------------------------------------------------------------------- models


def of_sentencepiece(size: int = 400, **settings: Any) -> bytes:
    text = [*italian()[:500], *repetitive(0, 200)]
    return peers.sentencepiece_model(text, size, **settings)


SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "bytes": {"byte_fallback": True, "size": 700},
    "all spaces": {"remove_extra_whitespaces": False},
    "no prefix": {"add_dummy_prefix": False},
    "no prefix, all spaces": {"add_dummy_prefix": False, "remove_extra_whitespaces": False},
    "identity": {"normalization_rule_name": "identity"},
    "not split": {"split_by_whitespace": False, "normalization_rule_name": "identity"},
    "case folded": {"normalization_rule_name": "nmt_nfkc_cf"},
    "nfkc": {"normalization_rule_name": "nfkc"},
    "digits split": {"split_digits": True},
    "control symbols": {"control_symbols": ("<2it>", "<mask>")},
    "symbols": {"user_defined_symbols": ("<x>", "<y z>")},
    "symbols and bytes": {
        "user_defined_symbols": ("<x>", "😀"),
        "byte_fallback": True,
        "size": 700,
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
    },
    "other ids": {"unk_id": 3, "bos_id": 0, "eos_id": -1, "pad_id": 1, "unk_piece": "[U]"},
}


@functools.cache
def trained(settings: str) -> bytes:
    return of_sentencepiece(**SETTINGS[settings])


@functools.cache
def taken_over(settings: str) -> pairpiece.Tokenizer:
    return pairpiece.from_sentencepiece(trained(settings))


def parts_of(model: bytes) -> tuple[list[tuple[str, float]], bytes]:
    """Pieces with scores, and the normalisation table."""
    entries = [dict(fields_of(value)) for number, value in fields_of(model) if number == 1]
    [normalizer] = [dict(fields_of(value)) for number, value in fields_of(model) if number == 3]
    return [(entry[1].decode(), entry[2]) for entry in entries], normalizer.get(2, b"")


def as_text(prefix: bool = True) -> Any:
    """A decoder that takes pieces as they are, bytes too."""
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    return decoders.Sequence([*steps, decoders.Strip(" ", 1, 0)] if prefix else steps)


def fast(
    settings: str = "default",
    normalizer: Any = None,
    pre_tokenizer: Any = None,
    decoder: Any = None,
) -> Fast:
    """A tokenizer of Hugging Face with the pieces of a SentencePiece model."""
    pieces, _ = parts_of(trained(settings))
    made = Fast(
        models.Unigram(pieces, unk_id=0, byte_fallback="byte_fallback" in SETTINGS[settings])
    )
    made.add_special_tokens(["<unk>", "<s>", "</s>"])
    if normalizer is not None:
        made.normalizer = normalizer
    if pre_tokenizer is not None:
        made.pre_tokenizer = pre_tokenizer
    made.decoder = as_text() if decoder is None else decoder
    return made


def precompiled(*more: Any) -> Any:
    table = normalizers.Precompiled(parts_of(trained("default"))[1])
    return normalizers.Sequence([table, *more])


def squeezing() -> Any:
    return normalizers.Replace(tokenizers.Regex(" {2,}"), " ")


Metaspace = pre_tokenizers.Metaspace
VARIANTS: dict[str, Callable[[], Fast]] = {
    "split": lambda: fast(pre_tokenizer=Metaspace(), decoder=decoders.Metaspace()),
    "whole": lambda: fast(pre_tokenizer=Metaspace(split=False), decoder=decoders.Metaspace()),
    "first": lambda: fast(pre_tokenizer=Metaspace(prepend_scheme="first")),
    "never, split": lambda: fast(
        pre_tokenizer=Metaspace(prepend_scheme="never"),
        decoder=decoders.Metaspace(prepend_scheme="never"),
    ),
    "never, whole": lambda: fast(
        pre_tokenizer=Metaspace(prepend_scheme="never", split=False), decoder=as_text(prefix=False)
    ),
    "pieces with spaces": lambda: fast("not split", pre_tokenizer=Metaspace(split=False)),
    "squeezed": lambda: fast(
        normalizer=precompiled(squeezing(), normalizers.Strip()),
        pre_tokenizer=Metaspace(),
        decoder=decoders.Metaspace(),
    ),
    "converted by transformers": lambda: fast(
        normalizer=precompiled(
            normalizers.Strip(left=False), normalizers.Replace(tokenizers.Regex(" {2,}"), "▁")
        ),
        pre_tokenizer=Metaspace(),
    ),
    "squeezed, not stripped": lambda: fast(
        normalizer=precompiled(squeezing()), pre_tokenizer=Metaspace()
    ),
    "white space": lambda: fast(
        normalizer=precompiled(),
        pre_tokenizer=pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), Metaspace()]),
    ),
    "bytes, split": lambda: fast("bytes", precompiled(), Metaspace()),
    "bytes, whole": lambda: fast("bytes", precompiled(), Metaspace(split=False)),
    "bytes, in the normalizer": lambda: fast(
        "bytes", normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    ),
    "nfkc": lambda: fast(normalizer=normalizers.NFKC(), pre_tokenizer=Metaspace()),
    "nfc": lambda: fast(normalizer=normalizers.NFC(), pre_tokenizer=Metaspace()),
}


@functools.cache
def variant(name: str) -> tuple[Fast, pairpiece.Tokenizer]:
    made = VARIANTS[name]()
    return made, pairpiece.from_huggingface(made)


def normalized(theirs: Fast, text: str) -> str:
    """What reaches the pre-tokenizer, with spaces for ▁."""
    found = text if theirs.normalizer is None else theirs.normalizer.normalize_str(text)
    return found.replace("▁", " ")


def is_comparable(theirs: Fast, ours: pairpiece.Tokenizer, text: str) -> bool:
    """Whether none of the known differences, each shown below, can touch a text."""
    if any(token in text for token in ("<s>", "</s>", "<unk>")) or re.search("<0x..>", text):
        return False
    seen, expected = normalized(theirs, text), ours.normalize(text)
    prefix = " " if normalized(theirs, "a") == " a" else ""
    if not ours.options.remove_extra_spaces:
        starts_otherwise = ours.options.add_dummy_prefix and not prefix and seen.startswith(" ")
        return seen.removeprefix(prefix) == expected and not starts_otherwise
    words = [word for word in expected.split(" ") if word]
    return seen.split() == words and not seen.endswith(" ")


def ids_of(theirs: Fast, batch: list[str]) -> list[list[int]]:
    return [found.ids for found in theirs.encode_batch(batch, add_special_tokens=False)]


def assert_same(ours: pairpiece.Tokenizer, batch: list[str], theirs: list[list[int]]) -> None:
    for text, mine, other in zip(batch, ours.encode_batch(batch), theirs, strict=True):
        assert mine == other, ascii(text[:200])


def small_model(
    *more: Fields,
    without: str = "",
    trainer: Fields | None = None,
    normalizer: Fields | None = None,
) -> bytes:
    special: list[Fields] = [
        [(1, "<unk>"), (2, 0.0), (3, 2)],
        [(1, "<s>"), (2, 0.0), (3, 3)],
        [(1, "</s>"), (2, 0.0), (3, 3)],
    ]
    scores = {"▁": -2.0, "a": -3.0, "b": -3.5, "▁ab": -4.0}
    learned: list[Fields] = [
        [(1, piece), (2, score)] for piece, score in scores.items() if piece != without
    ]
    return message(
        [
            *((1, message(entry)) for entry in [*special, *learned, *more]),
            (2, message(trainer or [])),
            (3, message(normalizer or [])),
        ]
    )


@functools.cache
def small_json() -> str:
    """A tokenizer.json that has a little of everything."""
    vocabulary: list[Any] = [["<unk>", 0.0], ["<s>", 0.0], ["</s>", 0.0]]
    vocabulary += [[f"<0x{byte:02X}>", 0.0] for byte in range(256)]
    vocabulary += [
        [piece, -2.5 - i / 7] for i, piece in enumerate(["▁", "a", "b", "c", "▁ab", "bc", "▁il"])
    ]
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    added = [
        {"id": i, "content": content, **flags, "special": special}
        for i, content, special in (
            (0, "<unk>", True),
            (1, "<s>", True),
            (2, "</s>", True),
            (len(vocabulary), "<x>", False),
            (len(vocabulary) + 1, "<mask>", True),
        )
    ]
    steps: list[Json] = [
        {"type": "NFC"},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
        {"type": "Strip", "strip_left": True, "strip_right": True},
    ]
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": metaspace,
        "post_processor": None,
        "decoder": None,
        "model": {"type": "Unigram", "unk_id": 0, "vocab": vocabulary, "byte_fallback": True},
    }
    return json.dumps(content, ensure_ascii=False)


def works_or_refused(read: Callable[[Any], pairpiece.Tokenizer], given: Any) -> bool:
    """A file may be odd, but then its tokenizer works; True if there is one."""
    try:
        tokenizer = read(given)
    except pairpiece.ModelFormatError:
        return False
    for text in ("il  gatto <x>", "ﬁ½ 000", "<mask>ab\tbc"):
        found = tokenizer.encode(text, out_type=pairpiece.Encoding)
        assert found.ids == tokenizer.encode(text)
        back = tokenizer.decode(found.ids)
        if tokenizer.options.byte_fallback:
            assert back == tokenizer.normalize(text)
    return True
