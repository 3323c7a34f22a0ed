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
from pairpiece.model.encoder import Encoder
from pairpiece.model.folder import manifest_in_force
from pairpiece.model.loading import MAX_TOKENIZER_BYTES, load_as


def open_tokenizer(what: Any, own: type[Encoder] = Encoder) -> SubwordTokenizer:
    """A tokenizer that works.

    `what` is the path of a SentencePiece ``.model``, of a ``tokenizer.json``, of a directory with
    one of them, of a PairPiece model, which is opened as `own`; or ``"pretokenized"``, a tokenizer,
    or a function from text to tokens.
    """
    tokenizer = found(what, own)
    if isinstance(tokenizer, SentencePieceTokenizer | HuggingFaceTokenizer):
        tokenizer.tokens_by_word("a")  # a file that is no tokenizer is found out here
    return tokenizer


def as_tokenizer(given: Any) -> SubwordTokenizer:
    """The tokenizer that a Python object is; raises `OptionError` if it is none."""
    if isinstance(given, SubwordTokenizer):
        return given
    if not callable(given):
        raise OptionError(f"a source tokenizer is a path or a function, not {given!r}")
    return FunctionTokenizer(given)


def found(what: Any, own: type[Encoder] = Encoder) -> SubwordTokenizer:
    """What there is at a path, or the tokenizer that an object is; it may not work."""
    if what == Pretokenized.kind:
        return Pretokenized()
    if not isinstance(what, str | os.PathLike):
        return as_tokenizer(what)
    path = Path(what)
    if not path.is_dir():
        return _of_file(path)
    if manifest_in_force(path).is_file():
        return load_as(own, path)
    if (path / "tokenizer.json").is_file():
        return huggingface_at(path)
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
            f"{path}: there is no such file; a tokenizer is a SentencePiece .model (pairpiece "
            f"baseline trains one), a tokenizer.json, or a directory with one"
        )
    try:
        content = file_content(path)
    except ModelFormatError as error:
        raise OptionError(str(error)) from None
    kind = HuggingFaceTokenizer if content.lstrip()[:1] == b"{" else SentencePieceTokenizer
    return kind(content, str(path))


def huggingface_at(path: Path) -> HuggingFaceTokenizer:
    """The tokenizer of a directory, or of a ``tokenizer.json`` alone."""
    config = b"{}"
    if path.is_dir():
        if (path / "tokenizer_config.json").is_file():
            config = file_content(path / "tokenizer_config.json")
        path = path / "tokenizer.json"
    return HuggingFaceTokenizer(file_content(path), str(path), config)


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
