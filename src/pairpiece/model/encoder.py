"""Text in, tokens out: the tokenizer at work, with a source and without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, overload

from pairpiece import _core
from pairpiece.errors import OptionError
from pairpiece.foreign.protocol import Source, Words
from pairpiece.model import saving
from pairpiece.model.encoding import (
    EncodeOptions,
    Encoding,
    Links,
    check_alpha,
    check_out_type,
    check_seed,
    check_text,
    check_threads,
    listed,
    lists_of,
)
from pairpiece.model.state import ModelState, StatefulTokenizer
from pairpiece.model.tables import CooccurrenceTable
from pairpiece.options import check_choice, check_flag
from pairpiece.text.options import MARKER
from pairpiece.text.words import SPLITTINGS

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


T = TypeVar("T")
P = ParamSpec("P")


def _accepted(call: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """The result of the core; texts, sources or links that it refuses are an `OptionError`."""
    try:
        return call(*arguments, **options)
    except ValueError as error:
        raise OptionError(str(error)) from None


def _alone(value: T | None) -> list[T] | None:
    """A batch of one, if there is one."""
    return None if value is None else [value]


class Encoder(StatefulTokenizer):
    """An immutable encoder and decoder; safe to share between threads and to fork with."""

    def __init__(self, state: ModelState) -> None:
        super().__init__(state)
        vocabulary, text = state.vocabulary, state.options
        self._core = _core.Tokenizer(
            charsmap=state.charsmap,
            splitting=SPLITTINGS[text.pretokenization],
            dummy_prefix=text.add_dummy_prefix,
            squeeze=text.remove_extra_spaces,
            split_digits=text.split_digits,
            pieces=vocabulary.pieces,
            types=vocabulary.types,
            scores=vocabulary.scores,
            summation=_core.Summation[vocabulary.summation],
        )

    def normalize(self, text: str) -> str:
        """The text that decoding an encoding of `text` gives back.

        Lone surrogates, which are not Unicode text, become U+FFFD.
        """
        check_text(text)
        return _accepted(self._core.splitter.normalize, text)

    def words(self, text: str) -> list[str]:
        """The words of a text, with ▁ for spaces: what the target side of an alignment numbers."""
        return [word.replace(" ", MARKER) for word in self._split(text)]

    def _split(self, text: str) -> list[str]:
        check_text(text)
        split: list[str] = []
        for part, is_symbol in _accepted(self._core.splitter.words, text):
            if self.state.pretokenizer is None or is_symbol:
                split.append(part)
                continue
            words = list(self.state.pretokenizer(part))
            if not all(isinstance(word, str) for word in words) or "".join(words) != part:
                raise OptionError(
                    f"the words of the pre-tokenizer must add up to the text {part!r}: {words!r}"
                )
            split += [word for word in words if word]
        return split

    def _inputs(self, texts: list[str]) -> list[Any]:
        if self.state.pretokenizer is None:
            return texts
        return [(text, self._split(text)) for text in texts]

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
        alone = source is None and alignment is None
        alone = alone and (whole_sentence is None or whole_sentence is False)
        fast = alone and model == "unigram"
        if fast and self.state.pretokenizer is None and (out_type is int or out_type is str):
            check_text(text)
            try:
                found: Any = self._core.encode(text, out_type is str)
            except ValueError as error:
                raise OptionError(str(error)) from None
            return self._framed(found, out_type, add_bos, add_eos) if add_bos or add_eos else found
        return self.encode_batch(
            [text],
            sources=_alone(source),
            alignments=_alone(alignment),
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
        targets, sources, alignments = lists_of(targets, sources, alignments)
        inputs = self._inputs(targets)
        scores = self._scores(len(inputs), sources, alignments, whole_sentence, model)
        tokens: list[Any]
        if out_type is Encoding:
            rows = _accepted(self._core.segment_batch, inputs, scores, False, threads=num_threads)
            tokens = [self._encoding(row) for [row] in rows]
        else:
            as_pieces = out_type is str
            tokens = _accepted(self._core.encode_batch, inputs, scores, as_pieces, num_threads)
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
        given = _alone(source), _alone(alignment)
        [found] = self._alternatives([text], *given, out_type, whole_sentence, count=n)
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
        return self.sample_batch(
            [text],
            _alone(source),
            alignments=_alone(alignment),
            out_type=out_type,
            whole_sentence=whole_sentence,
            alpha=alpha,
            seed=seed,
        )[0]

    def sample_batch(
        self,
        targets: Sequence[str],
        sources: Sequence[Source] | None = None,
        *,
        alignments: Sequence[Links | None] | None = None,
        out_type: type[Any] = int,
        whole_sentence: bool | None = None,
        alpha: float = 0.1,
        seed: int | None = None,
        add_bos: bool = False,
        add_eos: bool = False,
        num_threads: int = 1,
    ) -> list[Any]:
        """A segmentation of each text; that of text i is what `sample` draws with `seed` + i."""
        check_threads(num_threads)
        check_alpha(alpha)
        seed = self.state.seed if seed is None else seed
        check_seed(seed)
        wanted = {"alpha": alpha, "seed": seed % 2**64, "threads": num_threads}
        drawn = self._alternatives(targets, sources, alignments, out_type, whole_sentence, **wanted)
        if not add_bos and not add_eos:
            return [row for [row] in drawn]
        return [self._framed(row, out_type, add_bos, add_eos) for [row] in drawn]

    def _alternatives(
        self,
        texts: Sequence[str],
        sources: Sequence[Source] | None,
        alignments: Sequence[Links | None] | None,
        out_type: type[Any],
        whole_sentence: bool | None,
        **wanted: Any,
    ) -> list[list[Any]]:
        check_out_type(out_type)
        texts, sources, alignments = lists_of(texts, sources, alignments)
        inputs = self._inputs(texts)
        scores = self._scores(len(inputs), sources, alignments, whole_sentence)
        ids_alone = out_type is not Encoding
        found = _accepted(self._core.segment_batch, inputs, scores, ids_alone, **wanted)
        if out_type is Encoding:
            return [[self._encoding(row) for row in rows] for rows in found]
        if out_type is int:
            return found
        names = self.state.vocabulary.pieces
        return [[[names[i] for i in ids] for ids in rows] for rows in found]

    def _encoding(self, row: tuple[list[int], list[int], list[tuple[int, int]], float]) -> Encoding:
        ids, words, offsets, log_prob = row
        return Encoding(
            ids, [self.state.vocabulary.pieces[i] for i in ids], offsets, words, log_prob
        )

    def _framed(self, tokens: Any, out_type: type[Any], add_bos: bool, add_eos: bool) -> Any:
        """The tokens between ``<s>`` and ``</s>``."""
        for wanted, id_, name in ((add_bos, self.bos_id, "bos"), (add_eos, self.eos_id, "eos")):
            check_flag(f"add_{name}", wanted)
            if wanted and id_ < 0:
                raise OptionError(f"this tokenizer has no {name} token")
        first = [self.bos_id] if add_bos else []
        last = [self.eos_id] if add_eos else []
        if out_type is int:
            return first + tokens + last
        names = self.state.vocabulary.pieces
        first_names, last_names = [names[i] for i in first], [names[i] for i in last]
        if out_type is str:
            return first_names + tokens + last_names
        return tokens.between(first, first_names, last, last_names)

    def _scores(
        self,
        size: int,
        sources: list[Source] | None,
        alignments: list[Links | None] | None,
        whole_sentence: bool | None,
        model: str = "unigram",
    ) -> _core.BigramModel | _core.Paired | None:
        """What so many texts are scored by, besides the vocabulary."""
        check_choice("model", model, ("unigram", "bigram"))
        bigram = self._bigram_model(sources) if model == "bigram" else None
        if whole_sentence is not None:
            check_flag("whole_sentence", whole_sentence)
        if sources is None:
            if alignments is not None:
                raise OptionError("an alignment needs the source it aligns with")
            if whole_sentence:
                raise OptionError(
                    "whole_sentence is about the source: give the source too", ["whole_sentence"]
                )
            return bigram
        if len(sources) != size or (alignments is not None and len(alignments) != size):
            raise OptionError(
                f"{size} targets but {len(sources)} sources"
                + ("" if alignments is None else f" and {len(alignments)} alignments")
            )
        table = self.cooccurrences()
        if whole_sentence is None:
            whole_sentence = table.settings.whole_sentence
        return _accepted(
            _core.Paired,
            table.core,
            table.source_ids,
            sources,
            self._tokenize_source,
            alignments,
            whole_sentence,
        )

    def _bigram_model(self, sources: object) -> _core.BigramModel:
        if sources is not None:
            raise OptionError("the bigram model encodes the target alone: leave the source out")
        if self.state.bigram is None:
            raise OptionError("this tokenizer has no bigram model: make one with distill_bigram")
        return self.state.bigram.core

    def cooccurrences(self) -> CooccurrenceTable:
        """The table c(t, s) that the tokenizer has learned."""
        if self.state.table is None:
            raise OptionError(
                "this tokenizer was trained without a source side (mode unigram) and can only "
                "encode the target alone"
            )
        return self.state.table.value

    def source_words(self, source: Source) -> Sequence[str] | Sequence[Sequence[str]]:
        """The tokens of each word of a source text; tokens are returned as they are."""
        return self._tokenize_source(source) if isinstance(source, str) else source

    def _tokenize_source(self, text: str) -> Source:
        if self.state.source_tokenizer is None:
            raise OptionError(
                "the source is raw text but this model knows no source tokenizer: pass a list of "
                "source tokens, or train or load with source_tokenizer="
            )
        return self.state.source_tokenizer.as_source(text)

    @property
    def digest(self) -> str:
        """``pairpiece:SHA-256`` of what would be saved."""
        return f"{self.kind}:{saving.packed(self.state).digest}"

    def tokens_by_word(self, text: str, words: Sequence[str] | None = None) -> Words:
        """The pieces of each word: what a tokenizer of the source language has to give."""
        del words  # this tokenizer has its own
        encoding = self.encode(text, out_type=Encoding)
        found: Words = [[] for _ in range(max(encoding.word_ids, default=-1) + 1)]
        for piece, word in zip(encoding.pieces, encoding.word_ids, strict=True):
            found[word].append(piece)
        return found

    def tokenize_batch(self, texts: Sequence[str]) -> list[list[str]]:
        """The pieces of texts, target only."""
        return self.encode_batch(texts, out_type=str)

    def detokenize_batch(self, rows: Sequence[Sequence[str]]) -> list[str]:
        """The texts of lists of pieces."""
        return self.decode_batch([[self.piece_to_id(piece) for piece in row] for row in rows])

    def decode(self, ids: Sequence[int]) -> str:
        """The text of a list of ids; special tokens are left out."""
        return self.decode_batch([ids])[0]

    def decode_batch(self, batch: Sequence[Sequence[int]], num_threads: int = 1) -> list[str]:
        """The texts of many lists of ids."""
        check_threads(num_threads)
        rows = listed("the ids", batch)
        try:
            return self._core.decode_batch(rows, num_threads)
        except ValueError as error:
            raise OptionError(f"these are not ids of this tokenizer: {error}") from None

    # ------------------------------------------------------------------ copying

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.state,)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        kind = "paired" if self.is_paired else "target-only"
        return f"<pairpiece.{type(self).__name__}: {self.vocab_size} pieces, {kind}>"
