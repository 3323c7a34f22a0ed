"""The trained tokenizer."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np

from pairpiece import _core
from pairpiece.alignment import Alignment, Lexicon
from pairpiece.encoding import (
    EncodeOptions,
    Encoding,
    Links,
    Source,
    check_out_type,
    check_seed,
    check_text,
    check_threads,
)
from pairpiece.errors import OptionError
from pairpiece.options import MARKER, TextOptions, check_balance
from pairpiece.tables import BigramTable, CooccurrenceTable
from pairpiece.vocabulary import Vocabulary
from pairpiece.words import SPLITTINGS

if TYPE_CHECKING:
    from typing_extensions import Unpack

SourceTokenizer: TypeAlias = "Callable[[str], Sequence[str] | Sequence[Sequence[str]]] | Tokenizer"
"""Raw text to tokens, flat or grouped by word."""

PreTokenizer: TypeAlias = Callable[[str], Sequence[str]]
"""Normalised text to words that add up to it."""


class Tokenizer:
    """An immutable tokenizer; safe to share between threads, to fork with and to pickle.

    Made by `train_from_pairs` or `load`.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        text: TextOptions,
        charsmap: bytes,
        *,
        table: CooccurrenceTable | Callable[[], CooccurrenceTable] | None = None,
        bigram: BigramTable | None = None,
        source_tokenizer: SourceTokenizer | None = None,
        pretokenizer: PreTokenizer | None = None,
        seed: int = 0,
        provenance: dict[str, Any] | None = None,
        priors: bytes | Callable[[], bytes] | None = None,
    ) -> None:
        self._vocabulary = vocabulary
        self._text = text
        self._charsmap = charsmap
        self._table = table
        self._bigram = bigram
        self._source_tokenizer = source_tokenizer
        self._pretokenizer = pretokenizer
        self._seed = seed
        self._provenance = provenance or {}
        self._priors = priors
        self._core = core_tokenizer(charsmap, text, vocabulary)

    # ------------------------------------------------------------------ vocabulary

    @property
    def vocab_size(self) -> int:
        """The number of ids, everything included."""
        return len(self._vocabulary)

    def __len__(self) -> int:
        return self.vocab_size

    @property
    def unk_id(self) -> int:
        """The id of ``<unk>``."""
        return self._text.unk_id

    @property
    def bos_id(self) -> int:
        """The id of ``<s>``; -1 if there is none."""
        return self._text.bos_id

    @property
    def eos_id(self) -> int:
        """The id of ``</s>``; -1 if there is none."""
        return self._text.eos_id

    @property
    def pad_id(self) -> int:
        """The id of ``<pad>``; -1 if there is none."""
        return self._text.pad_id

    @property
    def options(self) -> TextOptions:
        """How this tokenizer treats text."""
        return self._text

    @property
    def provenance(self) -> dict[str, Any]:
        """What the tokenizer was trained with."""
        return dict(self._provenance)

    @property
    def is_paired(self) -> bool:
        """Whether the tokenizer can encode with a source."""
        return self._table is not None

    @property
    def source_tokenizer(self) -> SourceTokenizer | None:
        """What turns raw source text into source tokens."""
        return self._source_tokenizer

    @property
    def has_priors(self) -> bool:
        """Whether the model has kept what the word aligner has learned."""
        return self._priors is not None

    @property
    def priors(self) -> bytes | None:
        """What the word aligner has learned, compressed with gzip; for aligning new text."""
        if callable(self._priors):
            self._priors = self._priors()
        return self._priors

    @functools.cached_property
    def _id_of(self) -> dict[str, int]:
        return {piece: i for i, piece in enumerate(self._vocabulary.pieces)}

    def piece_to_id(self, piece: str) -> int:
        """The id of a piece; `unk_id` if there is no such piece."""
        return self._id_of.get(piece, self._text.unk_id)

    def id_to_piece(self, id: int) -> str:  # noqa: A002
        """The piece with an id."""
        if not 0 <= id < self.vocab_size:
            raise OptionError(f"id {id} is not in the vocabulary of {self.vocab_size} pieces")
        return self._vocabulary.pieces[id]

    def get_vocab(self) -> dict[str, int]:
        """All pieces with their ids."""
        return dict(self._id_of)

    @property
    def vocabulary(self) -> Vocabulary:
        """Pieces, types and scores by id."""
        return self._vocabulary

    @property
    def charsmap(self) -> bytes:
        """The normalisation table, as SentencePiece and Hugging Face take it; empty for none."""
        return self._charsmap

    def piece_types(self) -> list[int]:
        """What each piece is, by id: a `PieceType`."""
        return list(self._vocabulary.types)

    def score(self, id: int) -> float:  # noqa: A002
        """The target-only log-probability of a piece, in nats."""
        self.id_to_piece(id)
        return self._vocabulary.scores[id]

    # ------------------------------------------------------------------ text

    def normalize(self, text: str) -> str:
        """The text that decoding an encoding of `text` gives back.

        Lone surrogates, which are not Unicode text, become U+FFFD.
        """
        check_text(text)
        return self._core.splitter.normalize(text)

    def words(self, text: str) -> list[str]:
        """The words of a text, with ▁ for spaces: what the target side of an alignment numbers."""
        return [word.replace(" ", MARKER) for word in self._split(text)]

    def _split(self, text: str) -> list[str]:
        check_text(text)
        split: list[str] = []
        for part, is_symbol in self._core.splitter.words(text):
            if self._pretokenizer is None or is_symbol:
                split.append(part)
                continue
            words = list(self._pretokenizer(part))
            if not all(isinstance(word, str) for word in words) or "".join(words) != part:
                raise OptionError(
                    f"the words of the pre-tokenizer must add up to the text {part!r}: {words!r}"
                )
            split += [word for word in words if word]
        return split

    def _inputs(self, texts: Sequence[str]) -> list[Any]:
        if isinstance(texts, str):
            raise OptionError("a batch is a list of texts, not one text: use encode for that")
        if self._pretokenizer is None:
            return texts if isinstance(texts, list) else list(texts)
        return [(text, self._split(text)) for text in texts]

    # ------------------------------------------------------------------ encoding

    @overload
    def encode(
        self, text: str, *, out_type: type[int] = ..., **options: Unpack[EncodeOptions]
    ) -> list[int]: ...
    @overload
    def encode(
        self, text: str, *, out_type: type[str], **options: Unpack[EncodeOptions]
    ) -> list[str]: ...
    @overload
    def encode(
        self, text: str, *, out_type: type[Encoding], **options: Unpack[EncodeOptions]
    ) -> Encoding: ...

    def encode(
        self,
        text: str,
        *,
        source: Source | None = None,
        alignment: Links | None = None,
        out_type: type[Any] = int,
        model: Literal["unigram", "bigram"] = "unigram",
        whole_sentence: bool | None = None,
        add_bos: bool = False,
        add_eos: bool = False,
    ) -> Any:
        """Tokenize one text: target only, or conditioned on its source.

        `source` is raw text (for the source tokenizer the model knows), a list of tokens, or the
        tokens of each source word.  With `alignment`, (source word, target word) pairs, each target
        word is conditioned on its own source words; without, the model finds for each word the
        source tokens that explain it best; with ``whole_sentence=True`` every word is conditioned
        on all of them, as in the paper.  In a flat list of tokens each counts as a word of the
        alignment.

        `out_type` is ``int`` for ids, ``str`` for pieces or `Encoding` for all there is.
        """
        fast = source is None and alignment is None and model == "unigram"
        if fast and self._pretokenizer is None and (out_type is int or out_type is str):
            check_text(text)
            found: Any = self._core.encode(text, out_type is str)
            return self._framed(found, out_type, add_bos, add_eos)
        return self.encode_batch(
            [text],
            sources=None if source is None else [source],
            alignments=None if alignment is None else [alignment],
            out_type=out_type,
            model=model,
            whole_sentence=whole_sentence,
            add_bos=add_bos,
            add_eos=add_eos,
        )[0]

    def encode_batch(
        self,
        targets: Sequence[str],
        sources: Sequence[Source] | None = None,
        *,
        alignments: Sequence[Links | None] | None = None,
        out_type: type[Any] = int,
        model: Literal["unigram", "bigram"] = "unigram",
        whole_sentence: bool | None = None,
        add_bos: bool = False,
        add_eos: bool = False,
        num_threads: int = 1,
    ) -> list[Any]:
        """Tokenize many texts on several threads; the result does not depend on their number."""
        check_out_type(out_type)
        check_threads(num_threads)
        inputs = self._inputs(targets)
        bigram = self._bigram_for(model, sources)
        paired = self._paired_arguments(len(inputs), sources, alignments, whole_sentence)
        tokens: list[Any]
        try:
            if out_type is Encoding:
                rows = self._core.segment_batch(
                    inputs,
                    **paired,
                    bigram=bigram,
                    alpha=None,
                    seed=0,
                    count=0,
                    threads=num_threads,
                )
                tokens = [self._encoding(row) for row in rows]
            elif sources is not None:
                as_pieces = out_type is str
                tokens = self._core.encode_paired_batch(
                    inputs, **paired, as_pieces=as_pieces, threads=num_threads
                )
            else:
                tokens = self._core.encode_batch(inputs, bigram, out_type is str, num_threads)
        except ValueError as error:  # texts, sources or links that are not what they should be
            raise OptionError(str(error)) from None
        if not add_bos and not add_eos:
            return tokens
        return [self._framed(row, out_type, add_bos, add_eos) for row in tokens]

    def nbest(
        self,
        text: str,
        n: int = 10,
        *,
        source: Source | None = None,
        alignment: Links | None = None,
        out_type: type[Any] = int,
        whole_sentence: bool | None = None,
    ) -> list[Any]:
        """Up to `n` different segmentations, best first; the first is what `encode` gives."""
        if type(n) is not int or not 1 <= n <= 1024:
            raise OptionError(f"n must be between 1 and 1024, not {n}")
        found: list[Any] = self._alternatives(
            text, source, alignment, out_type, whole_sentence, alpha=None, seed=0, count=n
        )
        return found

    def sample(
        self,
        text: str,
        *,
        source: Source | None = None,
        alignment: Links | None = None,
        out_type: type[Any] = int,
        whole_sentence: bool | None = None,
        alpha: float = 0.1,
        seed: int | None = None,
    ) -> Any:
        """A segmentation drawn at random, for subword regularisation.

        `alpha` is the exponent of the probabilities: 1 samples from the model, 0 evenly among all
        segmentations.  The same seed gives the same result.
        """
        if not isinstance(alpha, int | float) or not 0 <= alpha <= 100:
            raise OptionError(f"alpha must be between 0 and 100, not {alpha}")
        seed = self._seed if seed is None else seed
        check_seed(seed)
        return self._alternatives(
            text,
            source,
            alignment,
            out_type,
            whole_sentence,
            alpha=alpha,
            seed=seed % 2**64,
            count=0,
        )

    def _alternatives(
        self,
        text: str,
        source: Source | None,
        alignment: Links | None,
        out_type: type[Any],
        whole_sentence: bool | None,
        *,
        alpha: float | None,
        seed: int,
        count: int,
    ) -> Any:
        check_out_type(out_type)
        paired = self._paired_arguments(
            1,
            None if source is None else [source],
            None if alignment is None else [alignment],
            whole_sentence,
        )
        try:
            [found] = self._core.segment_batch(
                self._inputs([text]),
                **paired,
                bigram=None,
                alpha=alpha,
                seed=seed,
                count=count,
                threads=1,
            )
        except ValueError as error:
            raise OptionError(str(error)) from None
        choose = {
            int: lambda row: row[0],
            str: lambda row: [self._vocabulary.pieces[i] for i in row[0]],
            Encoding: self._encoding,
        }[out_type]
        return choose(found) if count == 0 else [choose(row) for row in found]

    def _encoding(self, row: tuple[list[int], list[int], list[tuple[int, int]], float]) -> Encoding:
        ids, words, offsets, log_prob = row
        return Encoding(ids, [self._vocabulary.pieces[i] for i in ids], offsets, words, log_prob)

    def _framed(self, tokens: Any, out_type: type[Any], add_bos: bool, add_eos: bool) -> Any:
        """The tokens between ``<s>`` and ``</s>``."""
        for wanted, id_, name in ((add_bos, self.bos_id, "bos"), (add_eos, self.eos_id, "eos")):
            if wanted and id_ < 0:
                raise OptionError(f"this tokenizer has no {name} token")
        first = [self.bos_id] if add_bos else []
        last = [self.eos_id] if add_eos else []
        if out_type is int:
            return first + tokens + last
        names = self._vocabulary.pieces
        first_names, last_names = [names[i] for i in first], [names[i] for i in last]
        if out_type is str:
            return first_names + tokens + last_names
        return tokens.between(first, first_names, last, last_names)

    # ------------------------------------------------------------------ source side

    def _paired_arguments(
        self,
        size: int,
        sources: Sequence[Source] | None,
        alignments: Sequence[Links | None] | None,
        whole_sentence: bool | None,
    ) -> dict[str, Any]:
        if sources is None:
            if alignments is not None:
                raise OptionError("an alignment needs the source it aligns with")
            return {
                "model": None,
                "source_ids": {},
                "sources": [],
                "tokenize": None,
                "links": [],
                "whole_sentence": False,
            }
        if len(sources) != size or (alignments is not None and len(alignments) != size):
            raise OptionError(
                f"{size} targets but {len(sources)} sources"
                + ("" if alignments is None else f" and {len(alignments)} alignments")
            )
        table = self.cooccurrences()
        if whole_sentence is None:
            whole_sentence = table.settings.whole_sentence
        return {
            "model": table.core,
            "source_ids": table.source_ids,
            "sources": list(sources),
            "tokenize": self._tokenize_source,
            "links": [] if alignments is None else list(alignments),
            "whole_sentence": whole_sentence,
        }

    def cooccurrences(self) -> CooccurrenceTable:
        """The table c(t, s) that the tokenizer has learned."""
        if self._table is None:
            raise OptionError(
                "this tokenizer was trained without a source side (mode unigram) and can only "
                "encode the target alone"
            )
        if not isinstance(self._table, CooccurrenceTable):
            self._table = self._table()
        return self._table

    def source_words(self, source: Source) -> Sequence[str] | Sequence[Sequence[str]]:
        """The tokens of each word of a source text; tokens are returned as they are."""
        return self._tokenize_source(source) if isinstance(source, str) else source

    def _tokenize_source(self, text: str) -> Sequence[str] | Sequence[Sequence[str]]:
        tokenizer = self._source_tokenizer
        if tokenizer is None:
            raise OptionError(
                "the source is raw text but this model knows no source tokenizer: pass a list of "
                "source tokens, or train or load with source_tokenizer="
            )
        if not isinstance(tokenizer, Tokenizer):
            return tokenizer(text)
        return tokenizer.tokens_by_word(text)

    def tokens_by_word(self, text: str) -> list[list[str]]:
        """The pieces of each word: what a tokenizer of the source language has to give."""
        encoding = self.encode(text, out_type=Encoding)
        words: list[list[str]] = [[] for _ in range(max(encoding.word_ids, default=-1) + 1)]
        for piece, word in zip(encoding.pieces, encoding.word_ids, strict=True):
            words[word].append(piece)
        return words

    # ------------------------------------------------------------------ decoding

    def decode(self, ids: Sequence[int]) -> str:
        """The text of a list of ids; special tokens are left out."""
        return self.decode_batch([ids])[0]

    def decode_batch(self, batch: Sequence[Sequence[int]], num_threads: int = 1) -> list[str]:
        """The texts of many lists of ids."""
        check_threads(num_threads)
        try:
            return self._core.decode_batch(list(batch), num_threads)
        except ValueError as error:
            raise OptionError(f"these are not ids of this tokenizer: {error}") from None

    # ------------------------------------------------------------------ alignment

    def align(
        self, source: Source, target: str, *, alignment: Links | None = None, min_score: float = 0.0
    ) -> Alignment:
        """Link every token of the target to the source token that it most likely comes from.

        The score of a link is p(t|s) among the pieces that are substrings of the target (eq. 18).
        A target token that was never seen with any of the source tokens, or whose best score is not
        above `min_score`, has no link.
        """
        table = self.cooccurrences()
        words = self.source_words(source)
        ids: list[int] = self.encode(target, source=words, alignment=alignment)
        tokens = [token for word in words for token in ([word] if isinstance(word, str) else word)]
        text = self._inputs([target])[0]
        source_ids = [table.source_ids.get(token, -1) for token in tokens]
        counts, sums = self._core.link_counts(text, table.core, source_ids, ids)
        with np.errstate(invalid="ignore"):
            scores = np.nan_to_num(counts.reshape(len(tokens), len(ids)) / sums[:, None])
        pieces = [self._vocabulary.pieces[i] for i in ids]
        return Alignment.best(tokens, pieces, scores, min_score)

    def lexicon(self, k: int = 5) -> Lexicon:
        """The `k` likeliest source tokens of every piece, and pieces of every source token."""
        if type(k) is not int or k < 1:
            raise OptionError(f"k must be at least 1, not {k}")
        return Lexicon.from_table(self.cooccurrences(), self._vocabulary, k)

    # ------------------------------------------------------------------ bigram model

    @property
    def has_bigram(self) -> bool:
        """Whether ``model="bigram"`` can be used."""
        return self._bigram is not None

    def _bigram_for(self, model: str, sources: object) -> _core.BigramModel | None:
        if model == "unigram":
            return None
        if model != "bigram":
            raise OptionError(f"model must be unigram or bigram, not {model!r}")
        if sources is not None:
            raise OptionError("the bigram model encodes the target alone: leave the source out")
        if self._bigram is None:
            raise OptionError("this tokenizer has no bigram model: make one with distill_bigram")
        return self._bigram.core

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

        return self._replaced(bigram=BigramTable.from_words(self._vocabulary, words()))

    # ------------------------------------------------------------------ calibration

    def calibrate(
        self,
        targets: Sequence[str],
        sources: Sequence[Source] | None = None,
        *,
        alignments: Sequence[Links | None] | None = None,
        reference: SourceTokenizer | int,
        balance: float = 1.0,
        num_threads: int = 1,
    ) -> Tokenizer:
        """A copy that makes `balance` times as many tokens of the text as `reference` does.

        `reference` is another tokenizer, any function from text to tokens, or a number of tokens.
        A `balance` below 1 asks for compression, above 1 for more tokens to align.  Fits
        target-only encoding; with `sources` also paired encoding, and with `alignments` also that
        with links given.  What comes out is in ``provenance["calibration"]``.
        """
        from pairpiece.calibration import Text, calibrated

        check_threads(num_threads)
        if isinstance(targets, str) or not targets:
            raise OptionError("the text to calibrate on must be a list of sentences, not empty")
        check_balance(balance)
        text = Text(list(targets), sources, alignments)
        tokens = reference if isinstance(reference, int) else _count_tokens(reference, text.targets)
        if tokens < 1:
            raise OptionError(f"reference must make at least one token of the text, not {tokens}")
        return calibrated(self, text, balance * tokens, num_threads)

    def _replaced(self, **changes: Any) -> Tokenizer:
        state = {**self.__getstate__(), **changes}
        copy = Tokenizer.__new__(Tokenizer)
        copy.__setstate__(state)
        return copy

    # ------------------------------------------------------------------ saving and copying

    def save(self, directory: str | PathLike[str]) -> None:
        """Write the model to a directory, made if it is not there; see docs/format.md."""
        from pairpiece import storage

        storage.save(self, directory)

    def __getstate__(self) -> dict[str, Any]:
        return {
            "vocabulary": self._vocabulary,
            "text": self._text,
            "charsmap": self._charsmap,
            "table": None if self._table is None else self.cooccurrences(),
            "bigram": self._bigram,
            "source_tokenizer": self._source_tokenizer,
            "pretokenizer": self._pretokenizer,
            "seed": self._seed,
            "provenance": self._provenance,
            "priors": self.priors,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        self.__init__(  # type: ignore[misc]
            state.pop("vocabulary"), state.pop("text"), state.pop("charsmap"), **state
        )

    def __copy__(self) -> Tokenizer:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tokenizer:
        return self

    def __repr__(self) -> str:
        kind = "paired" if self.is_paired else "target-only"
        return f"<pairpiece.Tokenizer: {self.vocab_size} pieces, {kind}>"


def core_tokenizer(table: bytes, options: TextOptions, vocabulary: Vocabulary) -> _core.Tokenizer:
    """The compiled part of a tokenizer with this normalisation table."""
    return _core.Tokenizer(
        charsmap=table,
        splitting=SPLITTINGS[options.pretokenization],
        dummy_prefix=options.add_dummy_prefix,
        squeeze=options.remove_extra_spaces,
        pieces=vocabulary.pieces,
        types=vocabulary.types,
        scores=vocabulary.scores,
        summation=_core.Summation[vocabulary.summation],
    )


def _count_tokens(reference: SourceTokenizer, texts: Sequence[str]) -> int:
    """How many tokens a tokenizer makes of the texts."""
    if isinstance(reference, Tokenizer):
        return sum(map(len, reference.encode_batch(texts)))
    if not callable(reference):
        raise OptionError(
            f"reference must be a tokenizer, a function or a number of tokens, not {reference!r}"
        )
    tokens = itertools.chain.from_iterable(map(reference, texts))
    return sum(1 if isinstance(token, str | int) else len(token) for token in tokens)
