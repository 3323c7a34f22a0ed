"""All that a tokenizer is made of, as plain data."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, SupportsIndex, TypeVar, cast

from pairpiece.errors import OptionError
from pairpiece.foreign.protocol import SubwordTokenizer
from pairpiece.model.tables import BigramTable, CooccurrenceTable, TranslationTable
from pairpiece.text.options import TextOptions
from pairpiece.text.vocabulary import Unigram, Vocabulary
from pairpiece.text.words import PreTokenizer

_T = TypeVar("_T")


class Deferred(Generic[_T]):
    """A value that is read when it is first asked for; a pickle of it holds the value."""

    def __init__(self, read: Callable[[], _T]) -> None:
        self._read: Callable[[], _T] | None = read
        self._value: _T | None = None

    @property
    def value(self) -> _T:
        """The value; threads that ask for it at once may read it twice, but need no lock."""
        if (read := self._read) is not None:
            self._value = read()
            self._read = None  # and with it goes what it is read from
        return cast(_T, self._value)

    def read(self) -> None:
        """Read the value now: what it is read from may go."""
        _ = self.value

    def __reduce__(self) -> tuple[Any, ...]:
        return known, (self.value,)


def known(value: _T) -> Deferred[_T]:
    """A value that is there already."""
    return Deferred(lambda: value)


@dataclass(frozen=True)
class ModelState(Unigram):
    """A unigram tokenizer and what it has learned about another language."""

    table: Deferred[CooccurrenceTable] | None = None
    translations: Deferred[TranslationTable] | None = None  # models up to 0.4.0 have none
    bigram: BigramTable | None = None
    source_tokenizer: SubwordTokenizer | None = None
    pretokenizer: PreTokenizer | None = None
    seed: int = 0
    provenance: dict[str, Any] = field(default_factory=dict)
    priors: Deferred[bytes] | None = None  # what the word aligner has learned, gzipped


class StatefulTokenizer(SubwordTokenizer):
    """PairPiece's own tokenizer, as far as it is data: its vocabulary, options and origin."""

    kind = "pairpiece"

    def __init__(self, state: ModelState) -> None:
        self.state = state

    @property
    def vocab_size(self) -> int:
        """The number of ids, everything included."""
        return len(self.state.vocabulary)

    def __len__(self) -> int:
        return self.vocab_size

    @property
    def unk_id(self) -> int:
        """The id of ``<unk>``."""
        return self.state.options.unk_id

    @property
    def bos_id(self) -> int:
        """The id of ``<s>``; -1 if there is none."""
        return self.state.options.bos_id

    @property
    def eos_id(self) -> int:
        """The id of ``</s>``; -1 if there is none."""
        return self.state.options.eos_id

    @property
    def pad_id(self) -> int:
        """The id of ``<pad>``; -1 if there is none."""
        return self.state.options.pad_id

    @property
    def options(self) -> TextOptions:
        """How this tokenizer treats text."""
        return self.state.options

    @property
    def provenance(self) -> dict[str, Any]:
        """What the tokenizer was trained with."""
        return dict(self.state.provenance)

    @property
    def is_paired(self) -> bool:
        """Whether the tokenizer can encode with a source."""
        return self.state.table is not None

    @property
    def has_priors(self) -> bool:
        """Whether the model has kept what the word aligner has learned."""
        return self.state.priors is not None

    @property
    def priors(self) -> bytes | None:
        """What the word aligner has learned, compressed with gzip; for aligning new text."""
        return None if self.state.priors is None else self.state.priors.value

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {piece: i for i, piece in enumerate(self.state.vocabulary.pieces)}

    def piece_to_id(self, piece: str) -> int:
        """The id of a piece; `unk_id` if there is no such piece."""
        return self._id_of.get(piece, self.state.options.unk_id)

    def id_to_piece(self, id: int) -> str:  # noqa: A002
        """The piece with an id."""
        if not isinstance(id, SupportsIndex) or not 0 <= operator.index(id) < self.vocab_size:
            raise OptionError(f"id {id!r} is not in the vocabulary of {self.vocab_size} pieces")
        return self.state.vocabulary.pieces[id]

    def get_vocab(self) -> dict[str, int]:
        """All pieces with their ids."""
        return dict(self._id_of)

    @property
    def vocabulary(self) -> Vocabulary:
        """Pieces, types and scores by id."""
        return self.state.vocabulary

    @property
    def charsmap(self) -> bytes:
        """The normalisation table, as SentencePiece and Hugging Face take it; empty for none."""
        return self.state.charsmap

    def piece_types(self) -> list[int]:
        """What each piece is, by id: a `PieceType`."""
        return list(self.state.vocabulary.types)

    def score(self, id: int) -> float:  # noqa: A002
        """The target-only log-probability of a piece, in nats."""
        self.id_to_piece(id)
        return self.state.vocabulary.scores[id]

    @property
    def has_bigram(self) -> bool:
        """Whether ``model="bigram"`` can be used."""
        return self.state.bigram is not None

    def token_list(self) -> list[str]:
        """All pieces, by id."""
        return self.state.vocabulary.pieces

    @property
    def unknown(self) -> str:
        """The unknown piece."""
        return self.state.options.unk_piece

    def unigram(self) -> ModelState:
        """All there is to the tokenizer."""
        return self.state
