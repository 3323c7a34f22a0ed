"""A tokenizer as the files of the Hugging Face libraries, made without them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from pairpiece.errors import ModelFormatError
from pairpiece.foreign.sentencepiece_format import check_exportable
from pairpiece.foreign.special_tokens import add_special_tokens, added_token
from pairpiece.text import word_pattern
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
            added_token(i, piece, special=kind in _SPECIAL)
            for i, (piece, kind) in enumerate(zip(pieces, kinds, strict=True))
            if kind in (*_SPECIAL, PieceType.USER_DEFINED)
        ],
        "normalizer": {"type": "Sequence", "normalizers": _normalizers(tokenizer)},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": _pre_tokenizers(tokenizer)},
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


def _pre_tokenizers(tokenizer: Unigram) -> list[dict[str, Any]]:
    """Spaces become ▁, the dummy prefix is put before the text, and words are set apart.

    All of it happens after tokens that were added are found, so that these are found anywhere.
    """
    options = tokenizer.options
    if options.add_dummy_prefix and options.remove_extra_spaces:
        steps = [_PREFIX_UNLESS_SPACE]  # the normalizer has left one space at the beginning
    elif options.add_dummy_prefix:
        steps = [_SPACES_TO_MARKERS, PREFIX, _SPACES_TO_MARKERS]
    else:
        steps = [_SPACES_TO_MARKERS]
    apart = ""
    if options.split_digits:
        apart = digits_apart(tokenizer.vocabulary.pieces, options.byte_fallback)
    pattern = _word_pattern(tokenizer, apart)
    if pattern is not None:
        steps.append(words_apart(pattern))
    if pattern != word_pattern.lossless(apart) and options.pretokenization != "paper":
        steps.append(_nothing_but_text(tokenizer))  # elsewhere its parts are words
    return steps


def _metaspace(replacement: str, scheme: str) -> dict[str, Any]:
    return {
        "type": "Metaspace",
        "replacement": replacement,
        "prepend_scheme": scheme,
        "split": False,
    }


_SPACES_TO_MARKERS = _metaspace(MARKER, "never")
_PREFIX_UNLESS_SPACE = _metaspace(MARKER, "first")
# Metaspace puts no prefix before its own replacement, so that a space at the beginning would have
# none.  When this one comes, spaces have become ▁: it always puts a space.
PREFIX = _metaspace(" ", "first")


def words_apart(pattern: str) -> dict[str, Any]:
    """A pre-tokenizer that makes a word of each match."""
    return {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated",
        "invert": False,
    }


def digits_apart(pieces: Sequence[str], byte_fallback: bool) -> str:
    """The digits that can be words of their own: without bytes those that are pieces.

    Unknown characters beside each other are one token, whatever the words they lie in.
    """
    known = frozenset(pieces)
    return "".join(digit for digit in word_pattern.digits() if byte_fallback or digit in known)


def _word_pattern(tokenizer: Unigram, apart: str) -> str | None:
    """What finds the words that the model's pieces keep to; none if these keep to no words.

    Unknown characters beside each other are one token, also at the end of a word, so they are
    split off only where a space is a piece.
    """
    options, vocabulary = tokenizer.options, tokenizer.vocabulary
    by_words = vocabulary.summation == "words" and options.pretokenization != "none"
    if by_words and options.pretokenization == "lossless" and options.byte_fallback:
        return word_pattern.lossless(apart)
    if (by_words or vocabulary.summation == "spaces") and MARKER in vocabulary.pieces:
        return word_pattern.by_spaces(apart)
    return word_pattern.between(apart) if apart else None


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
    known = frozenset(added)

    def is_break(part: str) -> bool:
        unescaped = re.sub(r"\\(.)", r"\1", part.replace("(?=", "", 1)[:-1], flags=re.DOTALL)
        first = len(re.sub(r"\\(.)", r"\1", part.partition("(?=")[0], flags=re.DOTALL))
        is_within = 0 < first < len(unescaped)
        return is_within and unescaped in known and part == _break(unescaped, first)

    return (
        {**step, "pattern": None} == {**_SPLIT, "pattern": None}
        and isinstance(pattern.get("Regex"), str)
        and all(
            part in (_BYTE_BREAK, _NEVER) or is_break(part)
            for part in re.split(r"(?<!\\)\|", pattern["Regex"])
        )
    )


def _normalizers(tokenizer: Unigram) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    if tokenizer.charsmap:
        table = base64.b64encode(tokenizer.charsmap).decode("ascii")
        steps.append({"type": "Precompiled", "precompiled_charsmap": table})
    if tokenizer.options.pretokenization == "paper":
        steps.append(spaces_before_symbols(prefix=tokenizer.options.add_dummy_prefix))
    if tokenizer.options.remove_extra_spaces:
        steps.append({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})
        left = not tokenizer.options.add_dummy_prefix  # else the space may be the prefix
        steps.append({"type": "Strip", "strip_left": left, "strip_right": True})
    return steps


def spaces_before_symbols(*, prefix: bool) -> dict[str, Any]:
    """A normalizer that does what the paper does; not where a dummy prefix will stand."""
    place = word_pattern.AFTER_CHARACTER if prefix else word_pattern.NOT_AFTER_SPACE
    pattern = word_pattern.before_symbols(place)
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": " "}


def _decoders(tokenizer: Unigram) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    if tokenizer.vocabulary.special[PieceType.UNUSED]:
        steps.append({"type": "Replace", "pattern": {"Regex": "^ (?=.)"}, "content": ""})
    steps += [
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
    take its roles: its ``bos_token`` is the new one's, and so on.  What it puts around texts, and
    its chat template, come with them.
    """
    if special_tokens_from is None:
        return files_with(tokenizer, {}, {})
    path = Path(special_tokens_from)
    path = path / FILES[0] if path.is_dir() else path
    theirs, their_config = _read_json(path), {}
    if (path.parent / FILES[1]).is_file():
        their_config = _read_json(path.parent / FILES[1])
    try:
        return files_with(tokenizer, theirs, their_config)
    except (KeyError, TypeError, AttributeError):
        raise ModelFormatError(f"{path}: not a tokenizer of Hugging Face") from None


def files_with(
    tokenizer: Unigram, theirs: dict[str, Any], their_config: dict[str, Any]
) -> dict[str, bytes]:
    """The files by name, with the special tokens of what other files say; see `special_tokens`."""
    content, config = tokenizer_json(tokenizer), tokenizer_config(tokenizer)
    add_special_tokens(content, config, theirs, their_config)
    return dict(zip(FILES, map(_bytes, (content, config)), strict=True))


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise ModelFormatError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ModelFormatError(f"{path}: not a tokenizer of Hugging Face") from None


def _bytes(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode("utf-8")
