"""SentencePiece models, of whatever type."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import sentencepiece

from pairpiece.errors import OptionError
from pairpiece.foreign.protocol import ForeignTokenizer, Words
from pairpiece.foreign.sentencepiece_format import read_model
from pairpiece.foreign.source_words import by_word, source_words
from pairpiece.text.vocabulary import Unigram
from pairpiece.text.words import without_surrogates


class SentencePieceTokenizer(ForeignTokenizer):
    """A SentencePiece model, of whatever type."""

    kind = "sentencepiece"
    finds_own_words = False

    @functools.cached_property
    def processor(self) -> Any:
        """What SentencePiece makes of the model."""
        processor = sentencepiece.SentencePieceProcessor()
        try:
            loaded = bool(self.content) and processor.LoadFromSerializedProto(self.content)
        except (RuntimeError, ValueError):
            loaded = False
        if not loaded:
            raise OptionError(f"{self._name}: not a SentencePiece model")
        return processor

    @property
    def vocab_size(self) -> int:
        """The number of pieces."""
        return int(self.processor.vocab_size())

    def tokens_by_word(self, text: str, words: Sequence[str] | None = None) -> Words:
        """The tokens of every word of the text."""
        text = without_surrogates(text)
        found = self.processor.encode(text, return_type="offset_mapping")
        words = source_words(text) if words is None else words
        return by_word(words, found["pieces"], found["offsets"])

    def tokenize_batch(self, texts: Sequence[str]) -> list[list[str]]:
        """The pieces of texts, what is unknown as the unknown piece."""
        pieces = self._pieces
        rows = self.processor.encode(list(map(without_surrogates, texts)))
        return [[pieces[i] for i in row] for row in rows]

    def detokenize_batch(self, rows: Sequence[Sequence[str]]) -> list[str]:
        """The texts of lists of pieces."""
        number_of = self.processor.piece_to_id
        return [self.processor.decode([number_of(piece) for piece in row]) for row in rows]

    @functools.cached_property
    def _pieces(self) -> list[str]:
        return [self.processor.id_to_piece(i) for i in range(self.vocab_size)]

    def token_list(self) -> list[str]:
        """All pieces, by id."""
        return self._pieces

    @property
    def unknown(self) -> str:
        """The unknown piece."""
        return str(self.processor.id_to_piece(self.processor.unk_id()))

    def unigram(self) -> Unigram:
        """Its pieces and scores; raises `ModelFormatError` if they cannot be used as they are."""
        return read_model(self.content, self._name)
