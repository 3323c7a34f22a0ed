"""A tokenizer as the files of the Hugging Face libraries, made without them."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

from pairpiece.exports.sentencepiece import check_exportable
from pairpiece.options import MARKER
from pairpiece.tokenizer import Tokenizer
from pairpiece.vocabulary import PieceType

_SPECIAL = (PieceType.UNKNOWN, PieceType.CONTROL)
_TOKENS = ("unk", "bos", "eos", "pad")


def tokenizer_json(tokenizer: Tokenizer) -> dict[str, Any]:
    """What ``tokenizer.json`` says: normalizer, Unigram model with byte fallback, decoder."""
    check_exportable(tokenizer, "Hugging Face")
    options = tokenizer.options
    kinds = [PieceType(kind) for kind in tokenizer.piece_types()]
    pieces = list(tokenizer.get_vocab())
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": i,
                "content": piece,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": kind in _SPECIAL,
            }
            for i, (piece, kind) in enumerate(zip(pieces, kinds, strict=True))
            if kind in (*_SPECIAL, PieceType.USER_DEFINED)
        ],
        "normalizer": {"type": "Sequence", "normalizers": _normalizers(tokenizer)},
        "pre_tokenizer": _nothing_but_text(tokenizer),
        "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": _decoders(tokenizer)},
        "model": {
            "type": "Unigram",
            "unk_id": options.unk_id,
            "vocab": [
                [piece, tokenizer.score(i) if kind == PieceType.NORMAL else 0.0]
                for i, (piece, kind) in enumerate(zip(pieces, kinds, strict=True))
            ],
            "byte_fallback": options.byte_fallback,
        },
    }


def _nothing_but_text(tokenizer: Tokenizer) -> dict[str, Any]:
    """Splits text that reads as a special or byte piece, such as ``<0x41>``, where a word ends.

    To Hugging Face's Unigram model these are pieces like any other, and it would find them.
    """
    breaks = ["<(?=0x[0-9A-F]{2}>)"] if tokenizer.options.byte_fallback else []
    for piece in tokenizer.options.special_tokens().values():
        first = len(tokenizer.words(piece)[0])
        if 0 < first < len(piece):
            breaks.append(f"{re.escape(piece[:first])}(?={re.escape(piece[first:])})")
    return {
        "type": "Split",
        "pattern": {"Regex": "|".join(breaks) or "(?!)"},
        "behavior": "MergedWithPrevious",
        "invert": False,
    }


def _normalizers(tokenizer: Tokenizer) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    if tokenizer.charsmap:
        table = base64.b64encode(tokenizer.charsmap).decode("ascii")
        steps.append({"type": "Precompiled", "precompiled_charsmap": table})
    if tokenizer.options.add_dummy_prefix:
        steps.append({"type": "Prepend", "prepend": " "})
    steps.append({"type": "Replace", "pattern": {"String": " "}, "content": MARKER})
    return steps


def _decoders(tokenizer: Tokenizer) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = [
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Replace", "pattern": {"String": MARKER}, "content": " "},
    ]
    if tokenizer.options.add_dummy_prefix:
        steps.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return steps


def tokenizer_config(tokenizer: Tokenizer) -> dict[str, Any]:
    """What ``tokenizer_config.json`` says, for ``AutoTokenizer``."""
    options = tokenizer.options
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "model_max_length": 10**30,
        **{
            f"{name}_token": getattr(options, f"{name}_piece")
            for name in _TOKENS
            if getattr(options, f"{name}_id") >= 0
        },
    }


FILES = ("tokenizer.json", "tokenizer_config.json")


def files_for(tokenizer: Tokenizer) -> dict[str, bytes]:
    """The files by name."""
    contents = (tokenizer_json(tokenizer), tokenizer_config(tokenizer))
    return dict(zip(FILES, map(_bytes, contents), strict=True))


def _bytes(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode("utf-8")
