"""A text as a system tokenizes it, and resamples of its sentences for the bootstrap."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pairpiece.evaluation.parallel_text import Array, ParallelText
from pairpiece.evaluation.systems import System
from pairpiece.links.symmetrization import Link
from pairpiece.text.options import BYTE_PIECES, MARKER


@dataclass(frozen=True)
class Links:
    """Links between source and target tokens, and what there is to count about them."""

    pairs: list[list[Link]]
    certain: Array  # links that both directions of the aligner agree on
    scores: Array  # Eflomal's; 0 where it has none
    scored: Array  # 1 where it has one
    one_to_one: Array  # tokens linked with one that is linked with no other
    sources: Array  # source tokens that are linked
    targets: Array  # target tokens that are linked
    source_total: Array  # source tokens

    @classmethod
    def of(
        cls,
        pairs: list[list[Link]],
        source_total: Array,
        certain: Array | None = None,
        scores: Array | None = None,
    ) -> Links:
        """Count the links of each sentence."""
        one_to_one, sources, targets, none = (np.zeros(len(pairs)) for _ in range(4))
        for i, linked in enumerate(pairs):
            of_source = Counter(source for source, _ in linked)
            of_target = Counter(target for _, target in linked)
            one_to_one[i] = sum(of_source[s] == 1 and of_target[t] == 1 for s, t in linked)
            sources[i], targets[i] = len(of_source), len(of_target)
        scores = np.full(len(pairs), np.nan) if scores is None else scores
        return cls(
            pairs,
            none if certain is None else certain,
            np.nan_to_num(scores),
            np.isfinite(scores).astype(np.float64),
            one_to_one,
            sources,
            targets,
            source_total,
        )


@dataclass(frozen=True)
class Settings:
    """What can be set about metrics."""

    renyi_power: float = 3.0
    symmetrization: str = "grow-diag-final-and"
    aligner: str = "none"
    runs: int = 0
    dev: str = "none"  # digest of the text that the aligner gets its priors from
    joint: str = "none"  # digest of all tokenizers whose tokens are aligned together
    source: str = "none"  # digest of the tokenizer of the source text
    baseline: str = "none"  # digest of the tokenizer that ratios refer to


@dataclass(eq=False, repr=False)
class Tokenized:
    """A text as a system tokenizes it; arrays have a number for each sentence."""

    system: System
    text: ParallelText
    tokens: list[list[str]]
    source_tokens: list[list[str]] | None
    settings: Settings
    runs: list[Links] = field(default_factory=list)

    def __post_init__(self) -> None:
        types: dict[str, int] = {}
        flat = [types.setdefault(token, len(types)) for row in self.tokens for token in row]
        self.types = list(types)
        self.token_ids = np.array(flat, np.int64)
        self.lengths = np.array([len(row) for row in self.tokens], np.float64)
        numbers = np.arange(len(self.tokens))
        self.sentence_of_token = np.repeat(numbers, self.lengths.astype(np.int64))

    def count(self, tokens: Sequence[bool]) -> Array:
        """How many tokens of each sentence are of the types marked in a list like `types`."""
        marked = np.array([*tokens, False], np.float64)[self.token_ids]
        return _counted(self.sentence_of_token, marked, len(self.tokens))

    @cached_property
    def source_lengths(self) -> Array | None:
        """Source tokens."""
        if self.source_tokens is None:
            return None
        return np.array([len(row) for row in self.source_tokens], np.float64)

    @property
    def source_total(self) -> Array:
        """Source tokens, where there is a source."""
        assert self.source_lengths is not None
        return self.source_lengths

    @cached_property
    def single_characters(self) -> Array:
        """Tokens of one character, besides the mark of a space or of a word that goes on."""
        return self.count([len(bare(token)) == 1 for token in self.types])

    @cached_property
    def unknown(self) -> Array:
        """Tokens that stand for what the vocabulary does not have, and tokens that are bytes."""
        marked = [token == self.system.unknown or token in _BYTES for token in self.types]
        return self.count(marked)

    @cached_property
    def languages(self) -> list[Array] | None:
        """Tokens of the target, the source and the other languages; None if it cannot say."""
        alone = self.system.tokenize_alone
        texts = [*([] if self.text.sources is None else [self.text.sources]), *self.text.others]
        if alone is None or len(texts) < 2 or not self.text.others:
            return None
        return [self.lengths] + [
            np.array([len(row) for row in alone(text)], np.float64) for text in texts
        ]

    @cached_property
    def own_links(self) -> Links | None:
        """The links that a PairPiece model itself finds between tokens."""
        model, sources = self.system.model, self.text.sources
        if model is None or sources is None or not self.system.uses_source:
            return None
        if self.system.way == "wrong":  # these would be links with the right one
            return None
        found = [
            model.align(source, target)
            for source, target in zip(sources, self.text.targets, strict=True)
        ]
        total = np.array([len(one.source_tokens) for one in found], np.float64)
        return Links.of([one.links for one in found], total)


_BYTES = frozenset(BYTE_PIECES)


def bare(token: str) -> str:
    """A token without the marks of spaces and of words that go on."""
    token = token.replace(MARKER, "").removesuffix("@@")
    return token.removeprefix("##") if len(token) > 2 else token


class Resample:
    """Sentences of a tokenized text, each drawn some number of times; once, unless said."""

    def __init__(
        self, tokenized: Tokenized, weights: Array | None = None, baseline: Resample | None = None
    ) -> None:
        self.tokenized = tokenized
        self.weights = np.ones(len(tokenized.tokens)) if weights is None else weights
        self.baseline = baseline  # the same sentences, by the tokenizer that ratios refer to

    def total(self, by_sentence: Array) -> float:
        """The sum over the sentences drawn."""
        return float(self.weights @ by_sentence)

    def ratio(self, above: Array, below: Array) -> float:
        """One sum divided by another; not a number if there is nothing to divide by."""
        total = self.total(below)
        return self.total(above) / total if total > 0 else math.nan

    @cached_property
    def counts(self) -> Array:
        """How often each token occurs, for those that do."""
        text = self.tokenized
        counts = _counted(text.token_ids, self.weights[text.sentence_of_token], 0)
        return counts[counts > 0]


def _counted(numbers: npt.NDArray[np.int64], weights: Array, size: int) -> Array:
    """The sum of the weights for each number."""
    return np.bincount(numbers, weights, size).astype(np.float64, copy=False)
