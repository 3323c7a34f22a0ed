"""The one door: a tokenizer from a path, a name or a Python object."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, TypeAlias

from pairpiece.errors import OptionError
from pairpiece.foreign.huggingface import HuggingFaceTokenizer, byte_level_tokenizer
from pairpiece.foreign.pretokenized import PRETOKENIZED, Pretokenized
from pairpiece.foreign.sentencepiece import SentencePieceTokenizer
from pairpiece.foreign.words import Words, source_words

MAX_TOKENIZER_BYTES = 2**30

SavedSource: TypeAlias = SentencePieceTokenizer | HuggingFaceTokenizer | Pretokenized
"""The source tokenizers that a model carries with it."""


def source_tokenizer(what: object) -> Any:
    """The source tokenizer that a path, ``"pretokenized"`` or a Python object stands for.

    A path is a SentencePiece ``.model``, a ``tokenizer.json``, a Hugging Face directory, or a
    PairPiece model.
    """
    if callable(what) or hasattr(what, "tokens_by_word"):  # the latter is a pairpiece.Tokenizer
        return what
    if what == PRETOKENIZED:
        return Pretokenized()
    if not isinstance(what, str | os.PathLike):
        raise OptionError(f"a source tokenizer is a path or a function, not {what!r}")
    path = Path(what)
    if path.is_dir():
        return _from_directory(path)
    if not path.is_file():
        raise OptionError(
            f"{path}: there is no such file; a source tokenizer is a SentencePiece .model, a "
            f"tokenizer.json, a directory with one, or {PRETOKENIZED!r}"
        )
    if path.stat().st_size > MAX_TOKENIZER_BYTES:
        raise OptionError(f"{path}: too large for a tokenizer")
    content = path.read_bytes()
    if content.lstrip()[:1] == b"{":
        return _checked(HuggingFaceTokenizer(content, str(path)))
    return _checked(SentencePieceTokenizer(content, str(path)))


def _checked(source: Any) -> Any:
    source("a")  # a file that is no tokenizer is found out here
    return source


def _from_directory(path: Path) -> Any:
    from pairpiece.model import storage

    if (path / storage.MANIFEST).is_file():
        return storage.load(path)
    if (path / "tokenizer.json").is_file():
        return source_tokenizer(path / "tokenizer.json")
    models = sorted(path.glob("*.model"))
    if len(models) == 1:
        return source_tokenizer(models[0])
    if (path / "vocab.json").is_file() and (path / "merges.txt").is_file():
        return _checked(byte_level_tokenizer(path))
    raise OptionError(
        f"{path}: there is no tokenizer.json in it, no single .model, and no vocab.json with "
        f"merges.txt; a slow Hugging Face tokenizer becomes a tokenizer.json when it is loaded "
        f"with AutoTokenizer and saved with save_pretrained"
    )


def tokens_by_word(tokenizer: Any, text: str) -> Words:
    """The tokens of each word, whatever the tokenizer is; a flat list has one token per word."""
    found = tokenizer(text) if callable(tokenizer) else tokenizer.tokens_by_word(text)
    return [[word] if isinstance(word, str) else list(word) for word in found]


def flat(tokenizer: Any, text: str) -> list[str]:
    """All tokens of a text, one after the other."""
    return [token for word in tokens_by_word(tokenizer, text) for token in word]


def words_to_align(tokenizer: Any, text: str) -> list[str]:
    """The words whose tokens `tokens_by_word` gives, for a word aligner."""
    if finds_own_words(tokenizer):
        return ["".join(tokens) for tokens in tokens_by_word(tokenizer, text)]
    return source_words(text)


def finds_own_words(tokenizer: Any) -> bool:
    """Whether the tokenizer says what a word is, rather than `source_words`."""
    return not isinstance(tokenizer, SentencePieceTokenizer | HuggingFaceTokenizer)
