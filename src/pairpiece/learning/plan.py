"""What is to be learned: the arguments of `train_from_pairs`, parsed and checked once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pairpiece.errors import OptionError
from pairpiece.learning.options import PRESETS, LearningOptions, options_for
from pairpiece.model.encoding import check_seed, check_threads
from pairpiece.model.tokenizer import Tokenizer
from pairpiece.options import check_positive
from pairpiece.text.normalization import charsmap
from pairpiece.text.options import MARKER, TextOptions

DEFAULT_SIZE = 8000
"""Of a vocabulary, everything included."""


@dataclass(frozen=True)
class Plan:
    """Everything that learning depends on besides the pairs, and how to go about it."""

    mode: str
    text: TextOptions
    learning: LearningOptions
    vocab_size: int
    vocabulary: Tokenizer | None = None  # learn what its pieces go with, nothing else
    allowed: list[str] | None = None  # choose the pieces among these
    hard_vocab_limit: bool = True
    num_threads: int = 1
    seed: int = 0
    memory_limit: int | None = None

    @classmethod
    def of(
        cls,
        mode: str,
        options: dict[str, Any],
        *,
        vocab_size: int | None = None,
        vocabulary: Any = None,
        start_from: Any = None,
        **how: Any,
    ) -> Plan:
        """The plan that arguments of `train_from_pairs` make; `options` are by name."""
        check_threads(how["num_threads"])
        check_seed(how["seed"])
        check_positive("vocab_size", vocab_size)
        limit = how["memory_limit"]
        if limit is not None and (type(limit) is not int or limit < 0):
            raise OptionError(
                f"memory_limit must be a number of bytes, not {limit!r}", ["memory_limit"]
            )
        text, learning = _text_and_learning(mode, options, vocabulary)
        if vocabulary is None:
            allowed = _pieces_of(start_from)
        else:
            _check_fixed(vocab_size, start_from)
            vocab_size = len(vocabulary)
            allowed = _pieces_of(vocabulary) or []
            learning = _with_all_pieces(learning, allowed)
        return cls(mode, text, learning, vocab_size or DEFAULT_SIZE, vocabulary, allowed, **how)

    def plain(self, vocab_size: int) -> Plan:
        """The plan for a unigram tokenizer of about this size that treats text the same way."""
        return dataclasses.replace(
            self,
            mode="unigram",
            learning=PRESETS["unigram"].learning,
            vocab_size=vocab_size,
            allowed=None,
            hard_vocab_limit=False,
            seed=0,
            memory_limit=None,
        )

    def charsmap(self) -> bytes:
        """The normalisation table."""
        if self.vocabulary is not None:
            return self.vocabulary.charsmap
        return charsmap(self.text.normalization)


def _text_and_learning(
    mode: str, options: dict[str, Any], vocabulary: Tokenizer | None
) -> tuple[TextOptions, LearningOptions]:
    """The options of a run; those about text are the vocabulary's, if there is one."""
    text, learning = options_for(mode, options)
    if vocabulary is None:
        return text, learning
    if not isinstance(vocabulary, Tokenizer):
        raise OptionError(f"vocabulary must be a tokenizer, not {vocabulary!r}")
    own = {field.name for field in dataclasses.fields(TextOptions)} | _ABOUT_PIECES.keys()
    for name in options:
        if name in own:
            raise OptionError(f"{name} cannot be set: the vocabulary has its own", [name])
    if learning.source_side == "none":
        raise OptionError("without a source side there is nothing to learn for a vocabulary")
    return vocabulary.options, learning


def check_special_ids(text: TextOptions, size: int) -> None:
    """Raise an `OptionError` for special tokens that lie beyond all ids."""
    for name in ("unk_id", "bos_id", "eos_id", "pad_id"):
        if getattr(text, name) >= size:
            given = getattr(text, name)
            raise OptionError(f"{name} {given} lies outside the {size} ids there are", [name])


def _check_fixed(vocab_size: int | None, start_from: object) -> None:
    """Raise an `OptionError` for what has no meaning with a fixed vocabulary."""
    if vocab_size is not None:
        raise OptionError(
            "vocab_size cannot be set with vocabulary, which stays as it is; start_from takes "
            "another one as a beginning",
            ["vocab_size", "vocabulary", "start_from"],
        )
    if start_from is not None:
        raise OptionError(
            "vocabulary and start_from exclude each other", ["vocabulary", "start_from"]
        )


def _pieces_of(given: Tokenizer | Iterable[str] | None) -> list[str] | None:
    """The learned pieces of a tokenizer, or the given ones."""
    if given is None:
        return None
    if isinstance(given, Tokenizer):
        return given.vocabulary.normal()
    pieces = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [None]
    if not all(isinstance(piece, str) for piece in pieces):
        raise OptionError(f"start_from must be a tokenizer or a list of pieces, not {given!r}")
    return [piece.replace(" ", MARKER) for piece in pieces if piece]


def _with_all_pieces(learning: LearningOptions, pieces: list[str]) -> LearningOptions:
    """The options with which no piece is left out."""
    longest = max(map(len, pieces), default=1)
    return dataclasses.replace(learning, **{**_ABOUT_PIECES, "max_piece_length": min(longest, 63)})


_ABOUT_PIECES: dict[str, Any] = {
    "max_piece_length": 63,
    "min_seed_count": 0.0,
    "max_seeds": 0,
    "character_coverage": 1.0,
    "min_expected_count": 0.0,
}
"""With these options no piece is left out."""
