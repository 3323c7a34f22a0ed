"""What is asked of a tokenizer, whoever made it and whichever language it is for."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

from pairpiece.errors import OptionError
from pairpiece.text.vocabulary import Unigram

Words: TypeAlias = list[list[str]]
"""The tokens of each word of a text."""

Source: TypeAlias = str | Sequence[str] | Sequence[Sequence[str]]
"""Raw text, a flat list of source tokens, or the tokens of each source word."""


class SubwordTokenizer(ABC):
    """Text to tokens, which are strings, and back.

    PairPiece's own tokenizer is one, and so are SentencePiece models, Hugging Face tokenizers, text
    that is tokens already, and functions.  What one of them cannot do it refuses in words.
    """

    kind: ClassVar[str]
    finds_own_words: ClassVar[bool] = True  # rather than to be told them by `source_words`

    @property
    def digest(self) -> str | None:
        """``kind:SHA-256`` of all that makes the tokenizer; None where nobody can know."""
        return None

    @abstractmethod
    def tokens_by_word(self, text: str, words: Sequence[str] | None = None) -> Words:
        """The tokens of every word of a text; `words`, if given, are its `source_words`."""

    def as_source(self, text: str) -> Source:
        """A text as paired encoding takes it."""
        return self.tokens_by_word(text)

    def tokenize_batch(self, texts: Sequence[str]) -> list[list[str]]:
        """The tokens of texts as the vocabulary has them, what is unknown as the unknown token."""
        return [flat(self, text) for text in texts]

    def detokenize_batch(self, rows: Sequence[Sequence[str]]) -> list[str]:
        """The texts of lists of tokens; special ones are left out."""
        del rows
        raise OptionError(f"a {self.kind} tokenizer cannot turn tokens back into text")

    def token_list(self) -> list[str]:
        """All tokens there are, by id."""
        raise OptionError(f"a {self.kind} tokenizer does not say which tokens there are")

    @property
    def unknown(self) -> str | None:
        """The token for what is not in the vocabulary, if there is one."""
        return None

    def readable(self, token: str) -> str:
        """A token as people read it: ▁ for a space, ``<0xE2>`` for a piece of a character."""
        return token

    def unigram(self) -> Unigram:
        """Pieces with scores, if that is what the tokenizer goes by."""
        raise OptionError(f"a {self.kind} tokenizer has no pieces with scores to take over")


def digest_of(tokenizer: SubwordTokenizer | None) -> str | None:
    """What a tokenizer is, as a string; ``"none"`` for none, None for what may be anything."""
    return "none" if tokenizer is None else tokenizer.digest


def flat(tokenizer: SubwordTokenizer, text: str) -> list[str]:
    """All tokens of a text, one after the other."""
    return [token for word in tokenizer.tokens_by_word(text) for token in word]


class ForeignTokenizer(SubwordTokenizer):
    """The tokenizer of another tool, kept as the bytes of its file so that a model can carry it."""

    def __init__(self, content: bytes = b"", name: str = "source tokenizer") -> None:
        self.content = content
        self._name = name

    def __getstate__(self) -> dict[str, Any]:
        return {"content": self.content, "_name": self._name}

    @property
    def digest(self) -> str:
        """``kind:SHA-256`` of the file."""
        return f"{self.kind}:{hashlib.sha256(self.content).hexdigest()}"

    def __call__(self, text: str) -> Words:
        """The tokens of every word of the text."""
        return self.tokens_by_word(text)
