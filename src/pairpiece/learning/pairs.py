"""Aligned word pairs: what a tokenizer learns from.

A *pair* is a target word together with the source tokens it is aligned with.  In a word, ▁ (or a
space) stands for a space of the text.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file, save_file

from pairpiece import files
from pairpiece.errors import PairError
from pairpiece.options import LEAST, MOST
from pairpiece.text import packing

NULL = 0
"""Id of the source "token" that unaligned words are paired with."""


class Pair(NamedTuple):
    """One training example.

    ``expected_length`` is the number of pieces the word is expected to have (m in
    docs/algorithm.md); ``None`` means the number of source tokens.  An empty source side stands for
    an unaligned word.
    """

    source: Sequence[str]
    target: str
    count: float = 1.0  # type: ignore[assignment]
    expected_length: float | None = None


_MAX_EXPECTED = 1e9

_TEXTS = ("words", "source_tokens")

PairLike: TypeAlias = Pair | Sequence[Any]
"""A `Pair`, or a (source tokens, target word[, count[, expected length]]) tuple."""


@dataclass(frozen=True)
class Pairs:
    """Distinct pairs with their counts, as arrays; the order of the input leaves no trace.

    ``source_tokens[0]`` is the empty string and stands for no source at all.  Pair p is about word
    w where ``pair_begin[w] <= p < pair_begin[w + 1]``; its source tokens are
    ``source[source_begin[p]:source_begin[p + 1]]``, distinct and ascending, each standing
    ``multiplicity`` times in the pair.

    >>> rows = [(["▁le", "s"], "▁i", 2), (["▁souris"], "▁topi"), ([], "▁topi")]
    >>> pairs = Pairs.from_iterable(rows)
    >>> pairs.words
    ['▁i', '▁topi']
    >>> len(pairs), pairs.total
    (3, 4.0)
    """

    words: list[str]
    source_tokens: list[str]
    pair_begin: npt.NDArray[np.uint64]
    count: npt.NDArray[np.float64]
    expected: npt.NDArray[np.float64]
    source_begin: npt.NDArray[np.uint64]
    source: npt.NDArray[np.uint32]
    multiplicity: npt.NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.count)

    @property
    def total(self) -> float:
        """The number of examples, repetitions included."""
        return float(self.count.sum())

    @classmethod
    def from_iterable(cls, pairs: Iterable[PairLike]) -> Pairs:
        """Merge (source tokens, target word[, count[, expected length]]) tuples."""
        merged: dict[Example, float] = defaultdict(float)
        for position, pair in enumerate(pairs):
            key, count = _checked(pair, position)
            merged[key] += count
        return cls._from_merged(merged)

    @classmethod
    def from_examples(cls, examples: Iterable[Example]) -> Pairs:
        """Merge examples that are known to be well-formed."""
        merged: dict[Example, float] = defaultdict(float)
        for word, tokens, expected in examples:
            merged[word, tokens if len(tokens) < 2 else tuple(sorted(tokens)), expected] += 1.0
        return cls._from_merged(merged)

    @classmethod
    def _from_merged(cls, merged: dict[Example, float]) -> Pairs:
        source_tokens = ["", *sorted({token for _, source, _ in merged for token in source})]
        id_of = {token: i for i, token in enumerate(source_tokens)}
        rows = sorted(
            (word, tuple(map(id_of.__getitem__, source)) or (NULL,), expected, count)
            for (word, source, expected), count in merged.items()
        )
        return cls._from_rows(rows, source_tokens)

    @classmethod
    def from_ids(
        cls,
        source: Sequence[Sequence[int]] | Sequence[npt.NDArray[Any]],
        target: Sequence[int] | npt.NDArray[Any],
        *,
        source_tokens: Sequence[str],
        words: Sequence[str],
        count: Sequence[float] | npt.NDArray[Any] | None = None,
        expected_length: Sequence[float] | npt.NDArray[Any] | None = None,
    ) -> Pairs:
        """Merge pairs given as ids: ``source[i]`` of ``source_tokens``, ``target[i]`` of ``words``.

        >>> Pairs.from_ids([[0], [0, 1]], [0, 0], source_tokens=["▁la", "▁da"], words=["▁la"]).words
        ['▁la']
        """
        for name, values in (
            ("source", source),
            ("count", count),
            ("expected_length", expected_length),
        ):
            if values is not None and len(values) != len(target):
                raise PairError(f"{len(target)} targets but {len(values)} values of {name}")

        def named(position: int) -> PairLike:
            try:
                tokens = [source_tokens[_id(i)] for i in source[position]]
                word = words[_id(target[position])]
            except IndexError:
                raise PairError(f"pair {position}: an id is out of range") from None
            except TypeError:
                raise PairError(f"pair {position}: source and target must be ids") from None
            return (
                tokens,
                word,
                1.0 if count is None else count[position],
                None if expected_length is None else expected_length[position],
            )

        return cls.from_iterable(map(named, range(len(target))))

    @classmethod
    def _from_rows(
        cls, rows: list[tuple[str, tuple[int, ...], float, float]], source_tokens: list[str]
    ) -> Pairs:
        words: list[str] = []
        pair_begin: list[int] = []
        sizes: list[int] = []
        source: list[int] = []
        multiplicity: list[int] = []
        for p, (word, ids, _, _) in enumerate(rows):
            if not words or words[-1] != word:
                words.append(word)
                pair_begin.append(p)
            before = len(source)
            for i in ids:  # ascending
                if len(source) > before and source[-1] == i:
                    multiplicity[-1] += 1
                else:
                    source.append(i)
                    multiplicity.append(1)
            sizes.append(len(source) - before)
        return cls(
            words=words,
            source_tokens=source_tokens,
            pair_begin=np.array([*pair_begin, len(rows)], np.uint64),
            count=np.array([row[3] for row in rows], np.float64),
            expected=np.array([row[2] for row in rows], np.float64),
            source_begin=np.array([0, *accumulate(sizes)], np.uint64),
            source=np.array(source, np.uint32),
            multiplicity=np.array(multiplicity, np.uint32),
        )

    def save(self, path: Path) -> None:
        """Write the pairs to a safetensors file."""
        arrays = {name: value for name, value in self.__dict__.items() if name not in _TEXTS}
        for name in _TEXTS:
            content, begin = packing.packed(getattr(self, name))
            arrays |= {f"{name}_bytes": content, f"{name}_begin": begin}
        with files.naming(path):
            save_file(arrays, path)

    @classmethod
    def load(cls, path: Path) -> Pairs:
        """Read what `save` wrote."""
        fields: dict[str, Any] = load_file(path)
        for name in _TEXTS:
            fields[name] = packing.unpacked(
                fields.pop(f"{name}_bytes"), fields.pop(f"{name}_begin")
            )
        return cls(**fields)

    def rows(self) -> Iterator[tuple[str, list[int], float, float]]:
        """(word, source ids with repetitions, expected length, count) of every distinct pair."""
        bounds = self.pair_begin.tolist()
        expected, count = self.expected.tolist(), self.count.tolist()
        ids = np.repeat(self.source, self.multiplicity).tolist()
        ends = np.cumsum(self.multiplicity)[self.source_begin[1:].astype(np.int64) - 1].tolist()
        begin = 0
        for w, word in enumerate(self.words):
            for p in range(bounds[w], bounds[w + 1]):
                yield word, ids[begin : ends[p]], expected[p], count[p]
                begin = ends[p]

    def with_words(self, words: Iterable[Sequence[str]]) -> Pairs:
        """The same pairs with other words in the place of each, in order.

        Several words share the expected length of the one they come from; with none its pairs are
        dropped.  Pairs that become equal are merged.
        """
        new_words = dict(zip(self.words, words, strict=True))
        if all([old] == list(new) for old, new in new_words.items()):
            return self
        return self._remade(
            (word, tuple(ids), expected / len(new_words[old]), count)
            for old, ids, expected, count in self.rows()
            for word in new_words[old]
        )

    def without_source(self) -> Pairs:
        """Every word unaligned: what a plain unigram tokenizer learns from."""
        remade = self._remade((word, (NULL,), 0.0, n) for word, _, _, n in self.rows())
        return Pairs(**{**remade.__dict__, "source_tokens": [""]})

    def aligned(self) -> Pairs:
        """Only the pairs with a source side."""
        return self._remade((w, tuple(ids), m, n) for w, ids, m, n in self.rows() if ids != [NULL])

    def _remade(self, rows: Iterable[tuple[str, tuple[int, ...], float, float]]) -> Pairs:
        merged: dict[tuple[str, tuple[int, ...], float], float] = defaultdict(float)
        for word, ids, expected, count in rows:
            merged[word, ids, expected] += count
        return self._from_rows(
            sorted((*key, count) for key, count in merged.items()), self.source_tokens
        )


def pairs_from_links(
    source_words: Sequence[Sequence[str]],
    target_words: Sequence[str],
    links: Iterable[tuple[int, int]],
    *,
    per_link: bool = False,
) -> Iterator[Pair]:
    """The pairs of one sentence from its word alignment, links as (source word, target word).

    One pair per target word: its source side is the tokens of all words linked to it, and a source
    word shared by k target words adds only 1/k of its tokens to the expected length.  With
    `per_link` one pair per link instead, and none for unaligned words, as in the paper.

    >>> list(pairs_from_links([["▁sou", "ris"]], ["▁topi", "▁!"], [(0, 0)]))[0]
    Pair(source=('▁sou', 'ris'), target='▁topi', count=1.0, expected_length=2.0)
    """
    try:
        distinct = {(operator.index(source), operator.index(target)) for source, target in links}
    except (TypeError, ValueError):
        raise PairError("a link is a pair of numbers, (source word, target word)") from None
    for source, target in distinct:
        if not (0 <= source < len(source_words) and 0 <= target < len(target_words)):
            raise PairError(
                f"the alignment links {source}-{target} but there are {len(source_words)} source "
                f"and {len(target_words)} target words"
            )
    rows = examples_of_links(source_words, target_words, sorted(distinct), per_link=per_link)
    return (Pair(tokens, word, 1.0, expected) for word, tokens, expected in rows)


Example: TypeAlias = tuple[str, tuple[str, ...], float]
"""A target word, its source tokens, and its expected length (0 without source tokens)."""


def examples_of_links(
    source_words: Sequence[Sequence[str]],
    target_words: Sequence[str],
    links: Iterable[tuple[int, int]],
    *,
    per_link: bool = False,
) -> Iterator[Example]:
    """What `pairs_from_links` gives, for links that are distinct, in order and inside the words."""
    linked: list[list[int]] = [[] for _ in target_words]
    fan_out = [0] * len(source_words)
    for source, target in links:
        linked[target].append(source)
        fan_out[source] += 1
    for word, sources in zip(target_words, linked, strict=True):
        if per_link:
            for i in sources:
                yield word, tuple(source_words[i]), float(len(source_words[i]))
        elif len(sources) == 1:  # the commonest case by far
            [i] = sources
            yield word, tuple(source_words[i]), len(source_words[i]) / fan_out[i]
        else:
            tokens = tuple(token for i in sources for token in source_words[i])
            yield word, tokens, sum((len(source_words[i]) / fan_out[i] for i in sources), 0.0)


def pairs_from_sentence(
    source_tokens: Sequence[str], target_words: Sequence[str]
) -> Iterator[Pair]:
    """The pairs of a sentence that has no word alignment: every word with the whole source.

    Costs more than aligned pairs: every piece meets every source token of the sentence.
    """
    for word, tokens, expected in examples_of_sentence(source_tokens, target_words):
        yield Pair(tokens, word, 1.0, expected)


def examples_of_sentence(
    source_tokens: Sequence[str], target_words: Sequence[str]
) -> Iterator[Example]:
    """What `pairs_from_sentence` gives."""
    tokens = tuple(source_tokens)
    expected = len(tokens) / max(1, len(target_words))
    for word in target_words:
        yield word, tokens, expected


def _id(value: Any) -> int:
    index = operator.index(value)
    if index < 0:
        raise IndexError(index)
    return index


def _checked(pair: PairLike, position: int) -> tuple[Example, float]:
    """The merging key (word, sorted source, expected length) and the count of one input tuple."""
    values: list[Any]
    try:
        if isinstance(pair, dict | set):
            raise TypeError
        values = [*pair, *(1.0, None)[len(pair) - 2 :]]
        word, count, expected = values[1:]
        source = tuple(sorted(values[0]))
    except (TypeError, ValueError, IndexError):
        raise PairError(
            f"pair {position}: expected (source tokens, target word[, count[, expected length]]), "
            f"not {pair!r}"
        ) from None
    if isinstance(values[0], str):
        raise PairError(f"pair {position}: the source side must be a list of tokens, not a string")
    if not isinstance(word, str) or not word:
        raise PairError(
            f"pair {position}: the target word must be a non-empty string, not {word!r}"
        )
    if not all(isinstance(token, str) and token for token in source):
        raise PairError(f"pair {position}: source tokens must be non-empty strings: {source!r}")
    try:
        count = float(count)
        expected = float(len(source) if expected is None else expected)
    except (TypeError, ValueError, OverflowError):
        raise PairError(f"pair {position}: count and expected length must be numbers") from None
    if not LEAST <= count <= MOST:
        raise PairError(
            f"pair {position}: the count must be positive, {LEAST:g} to {MOST:g}, not {count}"
        )
    if not source:
        expected = 0.0
    elif not LEAST <= expected <= _MAX_EXPECTED:
        raise PairError(
            f"pair {position}: the expected length of an aligned word must be between {LEAST:g} "
            f"and {_MAX_EXPECTED:g}, not {expected}"
        )
    return (word, source, expected), count
