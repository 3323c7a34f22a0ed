"""Saved models as other tools load them, and what must be alike there."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest
import sentencepiece
import tokenizers

import pairpiece
from pairpiece.foreign.sentencepiece_format import to_sentencepiece


@dataclass(frozen=True)
class Tool:
    """Another implementation of a tokenizer."""

    encode_batch: Callable[[list[str]], list[list[int]]]
    decode_batch: Callable[[list[list[int]]], list[str]]

    def encode(self, text: str) -> list[int]:
        return self.encode_batch([text])[0]

    def decode(self, ids: list[int]) -> str:
        return self.decode_batch([ids])[0]


@dataclass(frozen=True)
class Exported:
    """A tokenizer, and what other tools make of it."""

    ours: pairpiece.Tokenizer
    folder: Path

    @classmethod
    def of(cls, ours: pairpiece.Tokenizer, folder: Path) -> Exported:
        ours.save(folder)
        return cls(ours, folder)

    @cached_property
    def fast(self) -> tokenizers.Tokenizer:
        return tokenizers.Tokenizer.from_file(str(self.folder / "tokenizer.json"))

    @cached_property
    def processor(self) -> sentencepiece.SentencePieceProcessor:
        processor = sentencepiece.SentencePieceProcessor()
        processor.LoadFromSerializedProto(to_sentencepiece(self.ours))
        return processor

    def loaded(self, tool: str) -> Tool:
        if tool == "sentencepiece":
            return Tool(self.processor.encode, self.processor.decode)
        if tool == "tokenizers":
            fast = self.fast
            return Tool(lambda texts: [e.ids for e in fast.encode_batch(texts)], fast.decode_batch)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            transformers = pytest.importorskip("transformers")
            auto = transformers.AutoTokenizer.from_pretrained(self.folder)
        return Tool(
            lambda texts: auto(texts, add_special_tokens=False)["input_ids"],
            lambda batch: auto.batch_decode(batch, skip_special_tokens=True),
        )


def is_comparable(exported: Exported, tool: str, text: str) -> bool:
    """Whether none of the known differences, each shown by a test, can touch a text."""
    if "▁" in text:
        return False
    if tool == "sentencepiece":
        is_paper = exported.ours.options.pretokenization == "paper"
        return not is_paper or exported.ours.normalize(text) == " ".join(
            part for part in exported.ours.normalize(text).split(" ") if part
        )
    special = exported.ours.options.special_tokens().values()
    return not any(piece in text for piece in special) and not is_normalized_otherwise(
        exported, text
    )


def is_normalized_otherwise(exported: Exported, text: str) -> bool:
    """Whether the Precompiled normalizer of Hugging Face changes a text in a way of its own."""
    symbols = sorted(exported.ours.options.user_defined_symbols, key=len, reverse=True)
    parts = re.split("|".join(map(re.escape, symbols)), text) if symbols else [text]
    normalizer = exported.fast.normalizer
    prefix = " " if exported.ours.options.remove_extra_spaces else ""  # a space that may stay
    return any(
        normalizer.normalize_str(part).removeprefix(prefix) != exported.ours.normalize(part)
        for part in parts
        if part
    )


def assert_alike(exported: Exported, tool: str, texts: Iterable[str]) -> int:
    """Same ids and same decoded text; returns how many texts could be compared."""
    ours, other = exported.ours, exported.loaded(tool)
    compared = [text for text in texts if is_comparable(exported, tool, text)]
    encoded = ours.encode_batch(compared)
    for text, ids, theirs in zip(compared, encoded, other.encode_batch(compared), strict=True):
        assert theirs == ids, ascii(text[:200])
    if not ours.options.byte_fallback and tool != "sentencepiece":
        encoded = [[i for i in ids if i != ours.unk_id] for ids in encoded]
    decoded = zip(ours.decode_batch(encoded), other.decode_batch(encoded), strict=True)
    for text, (back, theirs_back) in zip(compared, decoded, strict=True):
        assert theirs_back == back, ascii(text[:200])
    return len(compared)
