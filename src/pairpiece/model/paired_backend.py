"""What a fast tokenizer of transformers asks its backend for, answered with the source's help."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pairpiece.errors import OptionError
from pairpiece.foreign.huggingface import tokenizers_library
from pairpiece.foreign.protocol import Source
from pairpiece.model.encoding import Encoding, Links
from pairpiece.model.tokenizer import Tokenizer


@dataclass(frozen=True)
class Conditions:
    """What the texts of a batch are conditioned on: `None` for target only."""

    sources: Sequence[Source] | None
    links: Sequence[Links | None] | None = None


class PairedBackend:
    """Stands in for a ``tokenizers.Tokenizer`` whose texts, of one batch, have sources.

    Tokens that were added to it are found in texts as it finds them, and what it does after
    segmenting (templates, cutting, filling up) it does here too.  In all else it is that tokenizer.
    """

    def __init__(self, backend: Any, model: Tokenizer, text: Conditions, pair: Conditions) -> None:
        vars(self).update(backend=backend, model=model, conditions=(text, pair))

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["backend"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.backend, name, value)

    def encode_batch(
        self, inputs: Sequence[Any], add_special_tokens: bool = True, is_pretokenized: bool = False
    ) -> list[Any]:
        """The encodings of texts, or of pairs of texts."""
        if is_pretokenized:
            raise OptionError("with a source a text is a string: join its words first")
        pairs = [(item, None) if isinstance(item, str) else tuple(item) for item in inputs]
        columns: list[list[Any]] = []
        for number, conditions in enumerate(self.conditions):
            texts = [pair[number] for pair in pairs]
            if any(text is not None for text in texts):
                columns.append(self._segmented([text or "" for text in texts], conditions, number))
            else:
                columns.append([None] * len(texts))
        encodings = [
            self.backend.post_process(first, second, add_special_tokens)
            for first, second in zip(*columns, strict=True)
        ]
        padding = self.backend.padding
        if padding is not None and padding["length"] is None and encodings:  # to the longest
            options = {key: padding[key] for key in ("direction", "pad_id", "pad_type_id")}
            length = max(map(len, encodings))
            for encoding in encodings:
                encoding.pad(length, pad_token=padding["pad_token"], **options)
        return encodings

    def _segmented(self, texts: list[str], conditions: Conditions, type_id: int) -> list[Any]:
        for name, values in (("source", conditions.sources), ("alignment", conditions.links)):
            if values is not None and len(values) != len(texts):
                raise OptionError(f"there are {len(texts)} texts but {len(values)} of {name}")
        parts = self._parts(texts)
        found: list[list[_Part]] = [[] for _ in texts]
        for part in parts:
            found[part.row].append(part)
        if conditions.links is not None:
            for row in found:
                self._number_words(row)
        texts_only = [part for part in parts if part.encoding is None]
        self._encode(self.model, [part for part in texts_only if part.begin == 0], conditions)
        self._encode(self._inside, [part for part in texts_only if part.begin > 0], conditions)
        return [_encoding(text, row, type_id) for text, row in zip(texts, found, strict=True)]

    @functools.cached_property
    def _inside(self) -> Tokenizer:
        """The model without the dummy prefix, which stands at the beginning of a text only."""
        options = dataclasses.replace(self.model.options, add_dummy_prefix=False)
        return Tokenizer(dataclasses.replace(self.model.state, options=options))

    def _number_words(self, parts: list[_Part]) -> None:
        """Number the words of a text that has several parts; an added token is one word."""
        first = 0
        for part in parts if len(parts) > 1 else ():
            model = self.model if part.begin == 0 else self._inside
            count = len(model.words(part.text)) if part.encoding is None else 1
            part.words = range(first, first + count)
            first += count

    def _parts(self, texts: list[str]) -> list[_Part]:
        """The texts, cut at tokens that were added to the backend, and at special tokens."""
        added = list(self.backend.get_added_tokens_decoder().items())
        library = tokenizers_library()
        finder = library.Tokenizer(library.models.WordLevel({"": 0}, unk_token=""))
        finder.normalizer = self.backend.normalizer
        finder.add_tokens([token for _, token in added])  # with numbers from 1 on
        finder.encode_special_tokens = self.backend.encode_special_tokens
        parts = []
        for row, found in enumerate(finder.encode_batch(texts, add_special_tokens=False)):
            text, end = texts[row], 0
            for number, token, (a, b) in zip(found.ids, found.tokens, found.offsets, strict=True):
                if number > 0:
                    if end < a:
                        parts.append(_Part(row, end, text[end:a]))
                    id_ = added[number - 1][0]
                    encoding = Encoding([id_], [token], [(0, b - a)], [0], log_prob=0.0)
                    parts.append(_Part(row, a, text[a:b], encoding))
                    end = b
            if end < len(text):
                parts.append(_Part(row, end, text[end:]))
        return parts

    def _encode(self, model: Tokenizer, parts: list[_Part], conditions: Conditions) -> None:
        """Segment the parts that are text."""
        if not parts:
            return
        sources, links = conditions.sources, conditions.links
        encodings: list[Encoding] = model.encode_batch(
            [part.text for part in parts],
            None if sources is None else [sources[part.row] for part in parts],
            alignments=None if links is None else [part.own(links[part.row]) for part in parts],
            out_type=Encoding,
        )
        for part, encoding in zip(parts, encodings, strict=True):
            part.encoding = encoding


@dataclass
class _Part:
    """A stretch of a text between added tokens, or one of these; and its tokens, once known."""

    row: int
    begin: int
    text: str
    encoding: Encoding | None = None
    words: range | None = None  # their numbers in the whole text, if it has several parts

    def own(self, links: Links | None) -> Links | None:
        """The links of its words, by their numbers in the part."""
        if links is None or self.words is None:
            return links
        first = self.words.start
        return [(s, t - first) for s, t in links if t in self.words]


@dataclass
class _Word:
    """Characters of a text that belong together, and their tokens."""

    number: tuple[int, int]
    begin: int
    end: int
    tokens: list[tuple[int, str, int, int]] = field(default_factory=list)


def _encoding(text: str, parts: list[_Part], type_id: int) -> Any:
    """The tokens of a text as Hugging Face's library keeps them."""
    words = list(_words(text, parts))
    library = tokenizers_library()
    whole = library.PreTokenizedString(text)
    whole.split(lambda _, string: [string[word.begin : word.end] for word in words])
    rows = iter(words)

    def tokens_of(_: str) -> list[Any]:
        word = next(rows)
        return [
            library.Token(number, piece, (bytes_to(word, a), bytes_to(word, b)))
            for number, piece, a, b in word.tokens
        ]

    def bytes_to(word: _Word, place: int) -> int:
        return len(text[word.begin : place].encode("utf-8"))

    whole.tokenize(tokens_of)
    return whole.to_encoding(type_id)


def _words(text: str, parts: list[_Part]) -> Iterator[_Word]:
    """Words that share a character, which normalisation may make several words of, are one."""
    word: _Word | None = None
    for part_number, part in enumerate(parts):
        assert part.encoding is not None
        for token in _tokens(part.encoding):
            number, piece, (a, b), in_part = token
            a, b = a + part.begin, b + part.begin
            place = (part_number, in_part)
            is_new = word is None or (
                place != word.number and a >= word.end and word.begin < word.end
            )
            if word is None or is_new:
                if word is not None:
                    yield word
                word = _Word(place, a, b)
            word.number = place
            word.end = max(word.end, b)
            word.tokens.append((number, piece, a, b))
    if word is not None:
        if word.begin == word.end:  # nothing but a prefix: give it a character to stand at
            word.begin, word.end = max(0, min(word.begin, len(text) - 1)), len(text)
        yield word


def _tokens(encoding: Encoding) -> Iterator[tuple[int, str, tuple[int, int], int]]:
    return zip(encoding.ids, encoding.pieces, encoding.offsets, encoding.word_ids, strict=True)
