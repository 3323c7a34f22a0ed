"""The one door for tokenizers: what a path, a name or a Python object stands for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pairpiece.errors import ModelFormatError, OptionError
from pairpiece.foreign.function import FunctionTokenizer
from pairpiece.foreign.huggingface import HuggingFaceTokenizer, byte_level_tokenizer
from pairpiece.foreign.pretokenized import Pretokenized
from pairpiece.foreign.protocol import SubwordTokenizer
from pairpiece.foreign.sentencepiece import SentencePieceTokenizer
from pairpiece.foreign.tokenizer_json import named_tokens
from pairpiece.model.encoder import Encoder
from pairpiece.model.loading import MAX_TOKENIZER_BYTES, load_as
from pairpiece.model.saving import MANIFEST
from pairpiece.model.state import ModelState


def open_tokenizer(what: Any) -> SubwordTokenizer:
    """A tokenizer that works.

    `what` is the path of a SentencePiece ``.model``, of a ``tokenizer.json``, of a directory with
    one of them, of a PairPiece model; or ``"pretokenized"``, a tokenizer, or a function from text
    to tokens.
    """
    found = _found(what)
    if isinstance(found, SentencePieceTokenizer | HuggingFaceTokenizer):
        found.tokens_by_word("a")  # a file that is no tokenizer is found out here
    return found


def open_unigram(what: Any) -> ModelState:
    """The pieces, ids and scores of what `open_tokenizer` takes, which must be a unigram model."""
    found = _found(what)
    return found.state if isinstance(found, Encoder) else imported(found, str(what))


def as_tokenizer(given: Any) -> SubwordTokenizer:
    """The tokenizer that a Python object is; raises `OptionError` if it is none."""
    if isinstance(given, SubwordTokenizer):
        return given
    if not callable(given):
        raise OptionError(f"a source tokenizer is a path or a function, not {given!r}")
    return FunctionTokenizer(given)


def _found(what: Any) -> SubwordTokenizer:
    if what == Pretokenized.kind:
        return Pretokenized()
    if not isinstance(what, str | os.PathLike):
        return as_tokenizer(what)
    path = Path(what)
    if not path.is_dir():
        return _of_file(path)
    if (path / MANIFEST).is_file():
        return load_as(Encoder, path)
    if (path / "tokenizer.json").is_file():
        return _of_file(path / "tokenizer.json")
    models = sorted(path.glob("*.model"))
    if len(models) == 1:
        return _of_file(models[0])
    if (path / "vocab.json").is_file() and (path / "merges.txt").is_file():
        return byte_level_tokenizer(path)
    raise OptionError(
        f"{path}: there is no tokenizer.json in it, no single .model, and no vocab.json with "
        f"merges.txt; a slow Hugging Face tokenizer becomes a tokenizer.json when it is loaded "
        f"with AutoTokenizer and saved with save_pretrained"
    )


def _of_file(path: Path) -> SubwordTokenizer:
    if not path.is_file():
        raise OptionError(
            f"{path}: there is no such file; a tokenizer is a SentencePiece .model, a "
            f"tokenizer.json, a directory with one, or {Pretokenized.kind!r}"
        )
    content = file_content(path)
    if content.lstrip()[:1] != b"{":
        return SentencePieceTokenizer(content, str(path))
    config = path.with_name("tokenizer_config.json")
    roles = named_tokens(file_content(config), str(config)) if config.is_file() else None
    return HuggingFaceTokenizer(content, str(path), roles)


def file_content(path: Path) -> bytes:
    """What a file of a tokenizer holds; raises `ModelFormatError` if it is out of the question."""
    try:
        if not path.is_file():
            raise ModelFormatError(f"{path}: there is no such file")
        if path.stat().st_size > MAX_TOKENIZER_BYTES:
            raise ModelFormatError(f"{path}: too large for a tokenizer")
        return path.read_bytes()
    except OSError as error:
        raise ModelFormatError(f"{path}: {error.strerror}") from None
    except ValueError as error:  # no name of a file
        raise ModelFormatError(f"{str(path)!r}: {error}") from None


def imported(tokenizer: SubwordTokenizer, name: str) -> ModelState:
    """The tokenizer of another tool as PairPiece's own."""
    found = tokenizer.unigram()
    return ModelState(
        found.vocabulary,
        found.options,
        found.charsmap,
        provenance={"imported": Path(name).name},
    )
