"""Tokenizers of the Hugging Face tokenizers library."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pairpiece.errors import OptionError
from pairpiece.foreign.byte_level import byte_alphabet, readable_bytes
from pairpiece.foreign.protocol import ForeignTokenizer, Words
from pairpiece.foreign.regular_expressions import check_expressions
from pairpiece.foreign.source_words import by_word, source_words
from pairpiece.foreign.tokenizer_json import read_tokenizer_json
from pairpiece.text.vocabulary import Unigram
from pairpiece.text.words import without_surrogates


class HuggingFaceTokenizer(ForeignTokenizer):
    """A ``tokenizer.json`` of the Hugging Face tokenizers library.

    Tokens are the strings of its vocabulary; `readable` shows those of byte-level vocabularies as
    text.
    """

    kind = "huggingface"
    finds_own_words = False

    def __init__(
        self, content: bytes, name: str = "source tokenizer", config: bytes = b"{}"
    ) -> None:
        super().__init__(content, name)
        self._config = config  # what tokenizer_config.json beside it says

    @functools.cached_property
    def _tokenizer(self) -> Any:
        tokenizers = tokenizers_library()
        check_expressions(self.content, self._name)
        with self._asked("not a Hugging Face tokenizer"):
            tokenizer = tokenizers.Tokenizer.from_str(self.content.decode("utf-8"))
        tokenizer.no_truncation()  # a file may say how to cut and fill up batches
        tokenizer.no_padding()
        return tokenizer

    @contextlib.contextmanager
    def _asked(self, what: str = "the library tokenizers cannot use it") -> Iterator[None]:
        """What the library raises, plain Exception and worse, as an `OptionError`."""
        try:
            yield
        except BaseException as error:
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise OptionError(f"{self._name}: {what}: {error}") from None

    @functools.cached_property
    def is_byte_level(self) -> bool:
        """Whether tokens spell bytes in the alphabet of GPT-2."""
        settings = json.loads(self._tokenizer.to_str())
        return '"ByteLevel"' in json.dumps([settings["pre_tokenizer"], settings["decoder"]])

    def tokens_by_word(self, text: str, words: Sequence[str] | None = None) -> Words:
        """The tokens of every word of the text."""
        text = without_surrogates(text)
        tokenizer = self._tokenizer
        with self._asked():
            encoding = tokenizer.encode(text, add_special_tokens=False)
        words = source_words(text) if words is None else words
        return by_word(words, encoding.tokens, encoding.offsets)

    def tokenize_batch(self, texts: Sequence[str]) -> list[list[str]]:
        """The tokens of texts; unknown ones as the unknown token, not as they are written."""
        tokenizer = self._tokenizer
        with self._asked():
            found = tokenizer.encode_batch(
                list(map(without_surrogates, texts)), add_special_tokens=False
            )
        return [[tokenizer.id_to_token(number) for number in row.ids] for row in found]

    def detokenize_batch(self, rows: Sequence[Sequence[str]]) -> list[str]:
        """The texts of lists of tokens; special ones are left out."""
        tokenizer = self._tokenizer
        ids = [[tokenizer.token_to_id(token) for token in row] for row in rows]
        with self._asked():
            return list(tokenizer.decode_batch(ids))

    def token_list(self) -> list[str]:
        """All tokens, by id."""
        known: dict[str, int] = self._tokenizer.get_vocab()
        return sorted(known, key=known.__getitem__)

    @property
    def unknown(self) -> str | None:
        """The token for what is not in the vocabulary, if there is one."""
        model = json.loads(self._tokenizer.to_str())["model"]
        if isinstance(model.get("unk_token"), str):
            return str(model["unk_token"])
        number = model.get("unk_id")
        return None if number is None else str(self._tokenizer.id_to_token(number))

    def readable(self, token: str) -> str:
        """A token as people read it: ▁ for a space, ``<0xE2>`` for a piece of a character."""
        return readable_bytes(token) if self.is_byte_level else token

    def unigram(self) -> Unigram:
        """Its pieces and scores; raises `ModelFormatError` if they cannot be used as they are."""
        return read_tokenizer_json(self.content, self._config, self._name)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_config": self._config}


def byte_level_tokenizer(path: Path) -> HuggingFaceTokenizer:
    """The two files of a GPT-2 style vocabulary, as a ``tokenizer.json``."""
    tokenizers = tokenizers_library()
    try:
        bpe = tokenizers.models.BPE.from_file(str(path / "vocab.json"), str(path / "merges.txt"))
    except Exception as error:  # the library raises plain Exception
        raise OptionError(f"{path}: not a vocabulary of byte-pair encoding: {error}") from None
    tokenizer = tokenizers.Tokenizer(bpe)
    if not all(tokenizer.token_to_id(c) is not None for c in byte_alphabet()):
        raise OptionError(
            f"{path}: vocab.json lacks the 256 bytes, so it is not a byte-level vocabulary: load "
            f"it with AutoTokenizer and save it with save_pretrained for a tokenizer.json"
        )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return HuggingFaceTokenizer(tokenizer.to_str().encode("utf-8"), str(path))


def tokenizers_library() -> Any:
    """The library, or an error that says how to install it."""
    try:
        import tokenizers
        import tokenizers.decoders
        import tokenizers.models
        import tokenizers.pre_tokenizers
    except ImportError:
        raise OptionError(
            'a Hugging Face tokenizer needs the library tokenizers: pip install "pairpiece[hf]"'
        ) from None
    return tokenizers
