"""The trained tokenizer, and where it comes from."""

from __future__ import annotations

import dataclasses
import itertools
import json
import logging
import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from pairpiece.errors import ModelFormatError, OptionError
from pairpiece.foreign.function import FunctionTokenizer, Tokenize
from pairpiece.foreign.huggingface import HuggingFaceTokenizer
from pairpiece.foreign.protocol import Source, SubwordTokenizer
from pairpiece.foreign.sentencepiece import SentencePieceTokenizer
from pairpiece.foreign.taking_over import ROLES
from pairpiece.model import opening, saving
from pairpiece.model.calibration import Advance, CalibrationText, calibrated, fitted, misses
from pairpiece.model.encoder import Encoder
from pairpiece.model.encoding import Encoding, Links, check_threads, listed
from pairpiece.model.loading import load_as
from pairpiece.model.source_weights import TOP, SourceWeights
from pairpiece.model.state import ModelState
from pairpiece.model.tables import BigramTable
from pairpiece.model.token_links import Alignment, Lexicon
from pairpiece.options import check_balance, check_whole
from pairpiece.text.words import PreTokenizer

logger = logging.getLogger("pairpiece")

SourceTokenizer: TypeAlias = Tokenize | SubwordTokenizer
"""A function from raw text to tokens, flat or grouped by word, or any tokenizer."""


class Tokenizer(Encoder):
    """An immutable tokenizer; safe to share between threads, to fork with and to pickle.

    Made by `train_from_pairs` or `load`.
    """

    @cached_property
    def source_tokenizer(self) -> SourceTokenizer | None:
        """What turns raw source text into source tokens."""
        source = self.state.source_tokenizer
        if isinstance(source, FunctionTokenizer):
            return source.function
        if isinstance(source, Encoder) and not isinstance(source, Tokenizer):
            return Tokenizer(source.state)
        return source

    def align(
        self, source: Source, target: str, *, alignment: Links | None = None, min_score: float = 0.0
    ) -> Alignment:
        """Link every token of the target to the source token that it most likely comes from.

        The score of a link is p(t|s) among the pieces that are substrings of the target (eq. 20).
        A target token that was never seen with any of the source tokens, or whose best score is not
        above `min_score`, has no link.
        """
        if not isinstance(min_score, int | float) or not 0 <= min_score <= 1:
            raise OptionError(
                f"min_score must be a probability, from 0 to 1, not {min_score!r}", ["min_score"]
            )
        table = self.cooccurrences()
        words = listed("the source", self.source_words(source))
        ids: list[int] = self.encode(target, source=words, alignment=alignment)
        tokens = [token for word in words for token in ([word] if isinstance(word, str) else word)]
        text = self._inputs([target])[0]
        source_ids = [table.source_ids.get(token, -1) for token in tokens]
        counts, sums = self._core.link_counts(text, table.core, source_ids, ids)
        with np.errstate(invalid="ignore"):
            scores = np.nan_to_num(counts.reshape(len(tokens), len(ids)) / sums[:, None])
        pieces = [self.state.vocabulary.pieces[i] for i in ids]
        return Alignment.best(tokens, pieces, scores, min_score)

    def lexicon(self, k: int = 5) -> Lexicon:
        """The `k` likeliest source tokens of every piece, and pieces of every source token."""
        if type(k) is not int or k < 1:
            raise OptionError(f"k must be at least 1, not {k}", ["k"])
        return Lexicon.from_table(self.cooccurrences(), self.state.vocabulary, k)

    def source_weights(self, top: int = TOP) -> SourceWeights:
        """p(s|t) of the `top` likeliest source tokens of every piece, by id.

        Made for embeddings: the row of a piece is the mean of the rows of its source tokens by
        these weights.  `pairpiece.transfer` does that for whole models.
        """
        check_whole("top", top, 1, 10**6)
        translations = self.state.translations
        return SourceWeights.of(
            self.state.vocabulary.pieces,
            self.cooccurrences(),
            None if translations is None else translations.value,
            top,
        )

    def distill_bigram(
        self,
        targets: Sequence[str],
        sources: Sequence[Source] | None = None,
        *,
        alignments: Sequence[Links | None] | None = None,
        num_threads: int = 1,
    ) -> Tokenizer:
        """A copy of this tokenizer with a bigram model of how it tokenizes the given text.

        With `sources` the text is tokenized paired, and ``encode(..., model="bigram")`` imitates
        paired tokenization where there is no source.
        """
        encodings = self.encode_batch(
            targets, sources, alignments=alignments, out_type=Encoding, num_threads=num_threads
        )

        def words() -> Iterable[list[int]]:
            for encoding in encodings:
                word: list[int] = []
                previous = -1
                for id_, number in zip(encoding.ids, encoding.word_ids, strict=True):
                    if number != previous and word:
                        yield word
                        word = []
                    word.append(id_)
                    previous = number
                if word:
                    yield word

        return self._replaced(bigram=BigramTable.from_words(self.state.vocabulary, words()))

    def calibrate(
        self,
        targets: Sequence[str],
        sources: Sequence[Source] | None = None,
        *,
        alignments: Sequence[Links | None] | None = None,
        reference: SourceTokenizer | str | PathLike[str] | int,
        balance: float = 1.0,
        num_threads: int = 1,
    ) -> Tokenizer:
        """A copy that makes `balance` times as many tokens of the text as `reference` does.

        `reference` is another tokenizer or a path to one, any function from text to tokens, or a
        number of tokens.
        A `balance` below 1 asks for compression, above 1 for more tokens to align.  Fits
        target-only encoding; with `sources` also paired encoding, and with `alignments` also that
        with links given.  What comes out is in ``provenance["calibration"]``; where it is not the
        number asked for, a warning to the logger ``pairpiece`` says how far it came and why.
        `source_weights` stays what it was, for text as it was cut before; ``train`` with a balance
        learns it anew.
        """
        check_threads(num_threads)
        if isinstance(targets, str) or not targets:
            raise OptionError("the text to calibrate on must be a list of sentences, not empty")
        check_balance(balance)
        text = CalibrationText(list(targets), sources, alignments)
        tokens = reference if isinstance(reference, int) else _count_tokens(reference, text.targets)
        if tokens < 1:
            raise OptionError(f"reference must make at least one token of the text, not {tokens}")
        record = self.calibration(text, tokens, balance, num_threads)
        for miss in misses(record):
            logger.warning("%s", miss)
        return Tokenizer(calibrated(self.state, record))

    def calibration(
        self,
        text: CalibrationText,
        reference: float,
        balance: float,
        num_threads: int = 1,
        *,
        marginal: bool = True,
        advance: Advance | None = None,
    ) -> dict[str, Any]:
        """The penalties with which the text has `balance` times as many tokens as `reference`.

        Without `marginal`, target-only encoding is to stay as it is.
        """
        uses = ["target_only"] if marginal else []
        if text.sources is not None and self.is_paired:
            uses += ["with_source", "with_links"] if text.links is not None else ["with_source"]
            words = [self.source_words(source) for source in text.sources]
            links = text.links and [None if row is None else list(row) for row in text.links]
            text = dataclasses.replace(text, sources=words, links=links)

        def count(state: ModelState, use: str) -> float:
            return text.tokens(Tokenizer(state).encode_batch, num_threads, use)

        wanted = balance * reference
        found = fitted(self.state, uses, count, wanted, advance)
        return {"sentences": len(text.targets), "balance": balance, "wanted": wanted, **found}

    def _replaced(self, **changes: Any) -> Tokenizer:
        return Tokenizer(dataclasses.replace(self.state, **changes))

    def save(self, directory: str | PathLike[str]) -> None:
        """Write the model to a directory, made if it is not there; see docs/format.md."""
        saving.save(self.state, Path(directory))


def _count_tokens(reference: Any, texts: Sequence[str]) -> int:
    """How many tokens a tokenizer, wherever it comes from, makes of the texts."""
    if not (isinstance(reference, str | PathLike | SubwordTokenizer) or callable(reference)):
        raise OptionError(
            f"reference must be a tokenizer or a path to one, a function or a number of tokens, "
            f"not {reference!r}"
        )
    tokenizer = opening.open_tokenizer(reference)
    if not isinstance(tokenizer, FunctionTokenizer):
        return sum(map(len, tokenizer.tokenize_batch(texts)))
    tokens = itertools.chain.from_iterable(map(tokenizer.function, texts))
    return sum(1 if isinstance(token, str | int) else len(token) for token in tokens)


def load(
    directory: str | PathLike[str],
    *,
    source_tokenizer: SourceTokenizer | None = None,
    pretokenizer: PreTokenizer | None = None,
) -> Tokenizer:
    """Read a model that `Tokenizer.save` wrote; safe with files from strangers.

    The co-occurrence table is read when paired encoding first needs it.  A Python function that the
    model was trained with, as source tokenizer or pre-tokenizer, is not saved and has to be given
    again.  Raises `ModelFormatError` for anything that is not an intact model.
    """
    source = None if source_tokenizer is None else opening.open_tokenizer(source_tokenizer)
    return load_as(Tokenizer, Path(directory), source, pretokenizer)


def open_vocabulary(what: Any) -> Tokenizer:
    """The tokenizer that `opening.open_tokenizer` would find, as PairPiece's own."""
    try:
        found = opening.found(what, Tokenizer)
    except OptionError as error:
        raise ModelFormatError(str(error)) from None
    return found if isinstance(found, Tokenizer) else _imported(found, str(what))


def _imported(tokenizer: SubwordTokenizer, name: str) -> Tokenizer:
    found = tokenizer.unigram()
    try:
        return Tokenizer(
            ModelState(
                found.vocabulary,
                found.options,
                found.charsmap,
                provenance={"imported": Path(name).name},
            )
        )
    except (ValueError, TypeError) as error:
        raise ModelFormatError(f"{name}: {error}") from None


def from_sentencepiece(model: str | os.PathLike[str] | bytes | Any) -> Tokenizer:
    """A SentencePiece unigram model, token for token as SentencePiece itself uses it.

    `model` is a ``.model`` file, its content, or a ``SentencePieceProcessor``.  Give the result to
    `train` or `train_from_pairs` as ``vocabulary=`` to learn c(t, s) for it, or as ``start_from=``.
    """
    name = "the SentencePiece model"
    if hasattr(model, "serialized_model_proto"):
        model = model.serialized_model_proto()
    elif isinstance(model, str | os.PathLike):
        name, model = str(model), opening.file_content(Path(model))
    if not isinstance(model, bytes):
        raise OptionError(f"a SentencePiece model is a path or bytes, not {model!r}")
    return _imported(SentencePieceTokenizer(model, name), name)


def from_huggingface(tokenizer: str | os.PathLike[str] | Any) -> Tokenizer:
    """A Unigram tokenizer of Hugging Face.

    `tokenizer` is a ``tokenizer.json``, a directory with one, a ``tokenizers.Tokenizer`` or a fast
    tokenizer of transformers.  See `from_sentencepiece` for what to do with the result.
    """
    if isinstance(tokenizer, str | os.PathLike):
        path = Path(tokenizer)
        return _imported(
            opening.huggingface_at(path), str(path / "tokenizer.json" if path.is_dir() else path)
        )
    roles = {f"{role}_token": getattr(tokenizer, f"{role}_token", None) for role in ROLES}
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    try:
        content = backend.to_str().encode("utf-8")
    except AttributeError:
        raise ModelFormatError(
            f"{tokenizer!r} is neither a path nor a fast tokenizer of Hugging Face"
        ) from None
    name = "the Hugging Face tokenizer"
    return _imported(HuggingFaceTokenizer(content, name, json.dumps(roles).encode()), name)
