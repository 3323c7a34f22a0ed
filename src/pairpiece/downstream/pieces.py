"""Text as the ids of a tokenizer's pieces, and back."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pairpiece.downstream.rows import Rows
from pairpiece.errors import OptionError
from pairpiece.evaluation.parallel_text import ParallelText
from pairpiece.evaluation.systems import System
from pairpiece.foreign.protocol import SubwordTokenizer, flat

_SPACE_BEFORE = re.compile(r" +(?=[.,;:!?…%)\]}»”’])")
"""What the paper's preprocessing puts before punctuation, where no writer would."""


class TargetPieces:
    """The pieces of a target tokenizer, numbered from 0."""

    def __init__(self, system: System) -> None:
        if system.tokenizer is None:
            raise OptionError(
                f"{system.name}: a model needs a tokenizer with a vocabulary, not tokenized text"
            )
        self._system = system
        self._tokenizer = system.tokenizer
        self.pieces = system.tokenizer.token_list()
        self._id_of = {piece: i for i, piece in enumerate(self.pieces)}
        self.unknown = self._id_of.get(system.unknown or "")

    def rows(self, text: ParallelText) -> Rows:
        """The ids of every target sentence."""
        if self._system.model is None:  # the system's own tokens are made readable
            tokens = self._tokenizer.tokenize_batch(text.targets)
        else:
            tokens = self._system.tokenize(text)
        return Rows.of([self._id_of[token] for token in row] for row in tokens)

    def readable(self, ids: Sequence[int]) -> list[str]:
        """The pieces as people read them."""
        return [self._tokenizer.readable(self.pieces[i]) for i in ids]

    def texts(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """The text of every list of ids."""
        texts = self._tokenizer.detokenize_batch([[self.pieces[i] for i in row] for row in rows])
        model = self._system.model
        if model is None or model.options.pretokenization != "paper":
            return texts
        return [_SPACE_BEFORE.sub("", text) for text in texts]


class SourcePieces:
    """The pieces that a source tokenizer makes of the training text; the first is for others."""

    def __init__(self, tokenizer: SubwordTokenizer, sentences: list[str]) -> None:
        self._tokenizer = tokenizer
        self._id_of: dict[str, int] = {"": 0}
        self.training = Rows.of(
            [self._id_of.setdefault(token, len(self._id_of)) for token in flat(tokenizer, sentence)]
            for sentence in sentences
        )
        self.pieces = list(self._id_of)

    def rows(self, sentences: list[str]) -> Rows:
        """The ids of every sentence."""
        return Rows.of(
            [self._id_of.get(token, 0) for token in flat(self._tokenizer, sentence)]
            for sentence in sentences
        )
