"""A tokenizer as the files of the Hugging Face libraries, made without them."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from pairpiece.errors import ModelFormatError
from pairpiece.foreign.sentencepiece_format import check_exportable
from pairpiece.text.options import MARKER
from pairpiece.text.vocabulary import PieceType, Unigram
from pairpiece.text.words import WordSplitter

_SPECIAL = (PieceType.UNKNOWN, PieceType.CONTROL)
_TOKENS = ("unk", "bos", "eos", "pad")


def tokenizer_json(tokenizer: Unigram) -> dict[str, Any]:
    """What ``tokenizer.json`` says: normalizer, Unigram model with byte fallback, decoder."""
    check_exportable(tokenizer, "Hugging Face")
    options = tokenizer.options
    vocabulary = tokenizer.vocabulary
    pieces, kinds = vocabulary.pieces, vocabulary.types
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            _added_token(i, piece, special=kind in _SPECIAL)
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
                [piece, score if kind == PieceType.NORMAL else 0.0]
                for piece, kind, score in zip(pieces, kinds, vocabulary.scores, strict=True)
            ],
            "byte_fallback": options.byte_fallback,
        },
    }


def _nothing_but_text(tokenizer: Unigram) -> dict[str, Any]:
    """Splits text that reads as a special or byte piece, such as ``<0x41>``, where a word ends.

    To Hugging Face's Unigram model these are pieces like any other, and it would find them.
    """
    options = tokenizer.options
    # A dummy prefix would belong to the first word, but not to the piece.
    splitter = WordSplitter(replace(options, add_dummy_prefix=False), tokenizer.charsmap)
    breaks = [_BYTE_BREAK] if options.byte_fallback else []
    for piece in (*options.special_tokens().values(), *options.control_symbols):
        first = len(splitter.words(piece)[0])
        if 0 < first < len(piece):
            breaks.append(_break(piece, first))
    return {**_SPLIT, "pattern": {"Regex": "|".join(breaks) or _NEVER}}


_SPLIT = {"type": "Split", "behavior": "MergedWithPrevious", "invert": False}
_BYTE_BREAK = "<(?=0x[0-9A-F]{2}>)"
_NEVER = "(?!)"


def _break(piece: str, first: int) -> str:
    return f"{re.escape(piece[:first])}(?={re.escape(piece[first:])})"


def keeps_text_apart(step: dict[str, Any], added: list[str]) -> bool:
    """Whether a pre-tokenizer is one that PairPiece has written for these added tokens."""
    pattern = step.get("pattern") or {}
    known = {_BYTE_BREAK, _NEVER}
    known.update(_break(piece, k) for piece in added for k in range(1, len(piece)))
    return (
        {**step, "pattern": None} == {**_SPLIT, "pattern": None}
        and isinstance(pattern.get("Regex"), str)
        and set(re.split(r"(?<!\\)\|", pattern["Regex"])) <= known
    )


def _normalizers(tokenizer: Unigram) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    if tokenizer.charsmap:
        table = base64.b64encode(tokenizer.charsmap).decode("ascii")
        steps.append({"type": "Precompiled", "precompiled_charsmap": table})
    if tokenizer.options.remove_extra_spaces:
        steps.append({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})
        steps.append({"type": "Strip", "strip_left": True, "strip_right": True})
    if tokenizer.options.add_dummy_prefix:
        steps.append({"type": "Prepend", "prepend": " "})
    steps.append({"type": "Replace", "pattern": {"String": " "}, "content": MARKER})
    return steps


def _decoders(tokenizer: Unigram) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = [
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Replace", "pattern": {"String": MARKER}, "content": " "},
    ]
    if tokenizer.options.add_dummy_prefix:
        steps.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return steps


def tokenizer_config(tokenizer: Unigram) -> dict[str, Any]:
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


def files_for(
    tokenizer: Unigram, special_tokens_from: str | PathLike[str] | None = None
) -> dict[str, bytes]:
    """The files by name.

    Special tokens of another Hugging Face tokenizer are added with ids after those there are, and
    take its roles: its ``bos_token`` is the new one's, and so on.
    """
    content, config = tokenizer_json(tokenizer), tokenizer_config(tokenizer)
    if special_tokens_from is not None:
        _add_special_tokens(content, config, Path(special_tokens_from))
    return dict(zip(FILES, map(_bytes, (content, config)), strict=True))


def _add_special_tokens(ours: dict[str, Any], config: dict[str, Any], other: Path) -> None:
    """Merge what the files of another tokenizer say about special tokens into ours."""
    path = other / FILES[0] if other.is_dir() else other
    theirs, their_config = _read_json(path), {}
    if (path.parent / FILES[1]).is_file():
        their_config = _read_json(path.parent / FILES[1])
    known = {token["content"] for token in ours["added_tokens"]}
    number_of = {piece: i for i, (piece, _) in enumerate(ours["model"]["vocab"])}
    try:
        special = [token for token in theirs.get("added_tokens") or [] if token["special"]]
        for token in sorted(special, key=lambda token: token["id"]):
            content = token["content"]
            if not isinstance(content, str) or content == "":
                raise TypeError
            if content not in known:
                # A piece that is there already keeps its id.
                number = number_of.setdefault(content, len(number_of))
                ours["added_tokens"].append(_added_token(number, content, special=True, like=token))
                known.add(content)
        for key in _ROLE_KEYS:
            if token_text(their_config.get(key)) in known:
                config[key] = token_text(their_config[key])
        more = [token for token in map(token_text, _extra_tokens(their_config)) if token in known]
        if more:
            config["additional_special_tokens"] = more
    except (KeyError, TypeError, AttributeError):
        raise ModelFormatError(f"{path}: not a tokenizer of Hugging Face") from None
    ours["added_tokens"].sort(key=lambda token: token["id"])


def _extra_tokens(config: dict[str, Any]) -> list[Any]:
    """Special tokens without a role, under the name that older or newer versions have for them."""
    found: list[Any] = []
    for key in ("additional_special_tokens", "extra_special_tokens"):
        tokens = config.get(key) or []
        found += tokens.values() if isinstance(tokens, dict) else tokens
    return found


def _added_token(
    number: int, content: str, *, special: bool, like: dict[str, Any] | None = None
) -> dict[str, Any]:
    flags = {name: bool((like or {}).get(name)) for name in ("single_word", "lstrip", "rstrip")}
    return {
        "id": number,
        "content": content,
        **flags,
        "normalized": False,
        "special": special,
    }


_ROLE_KEYS = [f"{role}_token" for role in ("bos", "eos", "pad", "cls", "sep", "mask")]


def token_text(token: Any) -> str | None:
    """The text of a token in ``tokenizer_config.json``, where it may come with settings."""
    text: str | None = token["content"] if isinstance(token, dict) else token
    return text


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise ModelFormatError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ModelFormatError(f"{path}: not a tokenizer of Hugging Face") from None


def _bytes(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode("utf-8")
