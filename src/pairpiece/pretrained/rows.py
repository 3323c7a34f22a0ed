"""Where the rows of new tokens come from: means of rows of source tokens, by weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pairpiece.errors import OptionError
from pairpiece.foreign.byte_level import byte_alphabet
from pairpiece.foreign.protocol import SubwordTokenizer, flat
from pairpiece.model.source_weights import SourceWeights
from pairpiece.model.tokenizer import Tokenizer
from pairpiece.pretrained.model_tokenizer import ModelTokenizer
from pairpiece.pretrained.traits import Traits, slopes, traits_of
from pairpiece.text.options import BYTE_PIECES, MARKER
from pairpiece.text.vocabulary import PieceType

KEPT, SPECIAL, BYTE, WEIGHTED = "kept", "special", "byte", "weighted"
CONTAINING, SPELLING, MEAN = "containing", "spelling", "mean"
KINDS = (KEPT, SPECIAL, BYTE, WEIGHTED, CONTAINING, SPELLING, MEAN)
"""A row is that of a token that stays, of a special token or of a byte; or it is the mean of the
source tokens that the piece was seen with; of those that longer pieces with it inside were seen
with; of the tokens that the source tokenizer spells the piece with; or of all tokens."""

MIN_EVIDENCE = 1.0
"""Source tokens that a piece must stand for, in all, to be judged by what it was seen with."""

Weights = list[tuple[int, float]]
"""Ids of tokens of the model, and what each counts."""


@dataclass(frozen=True)
class Rows:
    """For each new token its kind, and the weights of the model's tokens; none for the mean."""

    kinds: list[str]
    weights: list[Weights]
    lacking: Traits  # what the mean of source tokens lacks to have the traits of the new token
    source_traits: Traits  # of the model's tokens, by id
    seen: npt.NDArray[np.int64]  # the ids of tokens of which there were some in the source text
    known: npt.NDArray[np.int64]  # the ids that there are tokens for

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def by_kind(self) -> dict[str, int]:
        """How many rows there are of each kind."""
        return {kind: count for kind in KINDS if (count := Counter(self.kinds)[kind])}

    @property
    def entropy(self) -> float:
        """The mean entropy of the weights of pieces that have some, in bits."""
        found = [
            -sum(w * np.log2(w) for _, w in weights)
            for kind, weights in zip(self.kinds, self.weights, strict=True)
            if kind == WEIGHTED
        ]
        return float(np.mean(found)) if found else 0.0

    def after(self, kept: int, chosen: Sequence[int]) -> Rows:
        """The first rows of the model as they are, and after them some of these."""
        lacking = self.lacking[list(chosen)]
        return replace(
            self,
            kinds=[*[KEPT] * kept, *(self.kinds[i] for i in chosen)],
            weights=[*([(i, 1.0)] for i in range(kept)), *(self.weights[i] for i in chosen)],
            lacking=np.concatenate([np.zeros((kept, lacking.shape[1])), lacking]),
        )

    def with_special(self, ids: Sequence[int]) -> Rows:
        """These rows, and after them those of special tokens of the model."""
        return replace(
            self,
            kinds=[*self.kinds, *[SPECIAL] * len(ids)],
            weights=[*self.weights, *([(i, 1.0)] for i in ids)],
            lacking=np.concatenate([self.lacking, np.zeros((len(ids), self.lacking.shape[1]))]),
        )

    def blocks(self, matrix: Any, traits: float = 0.0, size: int = 256) -> Iterator[Any]:
        """The new rows of a matrix of PyTorch, so many at a time, in its own type.

        `traits` says how far rows are moved to have the traits of their tokens (eq. 23).
        """
        import torch

        mean = self._mean(matrix)
        slope = slopes(matrix, self.source_traits, self.seen) if traits else None
        for begin in range(0, len(self), size):
            block = self.weights[begin : begin + size]
            ids = torch.tensor([i for weights in block for i, _ in weights], dtype=torch.int64)
            factors = torch.tensor([w for weights in block for _, w in weights])
            owner = torch.tensor([k for k, weights in enumerate(block) for _ in weights])
            rows = torch.zeros(len(block), *matrix.shape[1:])
            if len(ids):
                parts = matrix[ids].float() * factors.float().reshape(-1, *[1] * (matrix.dim() - 1))
                rows.index_add_(0, owner, parts)
            for k, weights in enumerate(block):
                if not weights:
                    rows[k] = mean
            if slope is not None:
                lacking = torch.from_numpy(self.lacking[begin : begin + size]).float()
                rows += torch.tensordot(traits * lacking, slope, 1)
            yield rows.to(matrix.dtype)

    def _mean(self, matrix: Any, size: int = 4096) -> Any:
        import torch

        total = torch.zeros(matrix.shape[1:], dtype=torch.float64)
        for begin in range(0, len(self.known), size):
            total += matrix[torch.from_numpy(self.known[begin : begin + size])].double().sum(0)
        return (total / max(1, len(self.known))).float()


def rows_of(
    tokenizer: Tokenizer, model: ModelTokenizer, top: int, parts: Sequence[str] = ()
) -> Rows:
    """The rows of all pieces of a tokenizer, and of parts of pieces after them.

    Their weights are for the ids of a model's tokens.
    """
    plan = _Plan(tokenizer, model, top)
    found = [*map(plan.row, range(len(tokenizer))), *map(plan.part, parts)]
    known = np.array(sorted(set(model.ids.values())), np.int64)
    counts = plan.source_counts(int(known[-1]) + 1)
    tokens = dict(zip(model.ids.values(), model.ids, strict=True))
    theirs = traits_of([model.readable(tokens.get(i, "")) for i in range(len(counts))], counts)
    # A token is as frequent as its share of the text says, whatever was counted of either side.
    scale = counts.sum() / max(1.0, plan.table.counts.sum())
    our_counts = np.concatenate([plan.table.counts, np.zeros(len(parts))])
    ours = traits_of([*tokenizer.vocabulary.pieces, *parts], scale * our_counts)
    lacking = np.zeros_like(ours)
    for i, (kind, weights) in enumerate(found):
        if kind in (WEIGHTED, CONTAINING, SPELLING):
            lacking[i] = ours[i] - sum(weight * theirs[s] for s, weight in weights)
    kinds, all_weights = map(list, zip(*found, strict=True))
    return Rows(kinds, all_weights, lacking, theirs, np.flatnonzero(counts >= 1), known)


class _Plan:
    def __init__(self, tokenizer: Tokenizer, model: ModelTokenizer, top: int) -> None:
        self._model = model
        self._vocabulary = tokenizer.vocabulary
        self._source = source_tokenizer_of(tokenizer)
        self.table = tokenizer.source_weights(top)
        self._ids = source_ids(self.table, self._source, model)
        options = tokenizer.options
        self._roles = {
            getattr(options, f"{role}_id"): role for role in ("unk", "bos", "eos", "pad")
        }
        self._containing = _Containing(self._vocabulary.pieces, self.table)
        self._characters = {byte: character for character, byte in byte_alphabet().items()}

    def source_counts(self, size: int) -> npt.NDArray[np.float64]:
        """How often each token of the model was seen."""
        counts = np.zeros(size)
        for number, count in zip(self._ids, self.table.source_counts, strict=True):
            if number is not None:
                counts[number] += count
        return counts

    def row(self, number: int) -> tuple[str, Weights]:
        """The kind and the weights of a piece."""
        piece, kind = self._vocabulary.pieces[number], self._vocabulary.types[number]
        if kind in (PieceType.UNKNOWN, PieceType.CONTROL):
            return self._special(number, piece)
        if kind == PieceType.BYTE:
            return self._byte(piece)
        if self.table.evidence[number] >= MIN_EVIDENCE and (seen := self._weights([number])):
            return WEIGHTED, seen
        return self.part(piece)

    def part(self, piece: str) -> tuple[str, Weights]:
        """The kind and the weights of what is known by longer pieces, and its spelling, alone."""
        if longer := self._weights(self._containing.pieces_with(piece)):
            return CONTAINING, longer
        return self._spelled(piece)

    def _special(self, number: int, piece: str) -> tuple[str, Weights]:
        special = self._model.special_ids
        if (same := self._model.ids.get(piece)) in special:
            return SPECIAL, [(same, 1.0)]
        role = self._roles.get(number)
        near = None if role is None else self._model.role(role)
        return (MEAN, []) if near is None else (SPECIAL, [(near, 1.0)])

    def _byte(self, piece: str) -> tuple[str, Weights]:
        number = self._model.ids.get(piece)
        if number is None and self._model.is_byte_level:
            number = self._model.ids[self._characters[BYTE_PIECES.index(piece)]]
        return (MEAN, []) if number is None else (BYTE, [(number, 1.0)])

    def _spelled(self, piece: str) -> tuple[str, Weights]:
        tokens = flat(self._source, piece.replace(MARKER, " "))
        unknown = self._model.config.get("unk_token")
        ids = [self._model.ids[t] for t in tokens if t in self._model.ids and t != unknown]
        return (SPELLING, _proportions(Counter(ids))) if ids else (MEAN, [])

    def _weights(self, pieces: Sequence[int]) -> Weights:
        table = self.table
        sums: Counter[int] = Counter()
        for piece in pieces:
            part = slice(*table.row_begin[piece : piece + 2])
            for source, weight in zip(table.sources[part], table.weights[part], strict=True):
                if (number := self._ids[source]) is not None:
                    sums[number] += weight * table.evidence[piece]
        return _proportions(sums)


class _Containing:
    """Longer pieces with a piece inside, among those with evidence."""

    def __init__(self, pieces: list[str], table: SourceWeights) -> None:
        self._pieces = [
            (i, piece) for i, piece in enumerate(pieces) if table.evidence[i] >= MIN_EVIDENCE
        ]

    def pieces_with(self, part: str) -> list[int]:
        """The ids of longer pieces that have this one inside."""
        return [i for i, piece in self._pieces if part in piece]


def _proportions(counts: Mapping[int, float]) -> Weights:
    total = sum(counts.values())
    return [(i, float(count / total)) for i, count in sorted(counts.items())]


def source_tokenizer_of(tokenizer: Tokenizer) -> SubwordTokenizer:
    """What turns raw source text into source tokens."""
    source = tokenizer.state.source_tokenizer
    if source is None or not tokenizer.is_paired:
        raise OptionError(
            "the tokenizer knows nothing of a source language: train it with `pairpiece train "
            "--source-tokenizer MODEL/`, where MODEL is the model to be transferred"
        )
    return source


def source_ids(
    table: SourceWeights, source: SubwordTokenizer, model: ModelTokenizer
) -> list[int | None]:
    """The model's id of each source token, None for characters that the source tokenizer lacks.

    Raises an `OptionError` if the tokens are not the model's.
    """
    ids = [model.ids.get(token) for token in table.source_tokens]
    try:
        own = set(source.token_list())
    except OptionError:  # a function, or text that is tokens already
        own = set(table.source_tokens)
    special = {source.unknown, ""}
    missing = [
        token
        for token, number in zip(table.source_tokens, ids, strict=True)
        if number is None and token in own and token not in special
    ]
    if missing:
        examples = ", ".join(map(repr, missing[:5]))
        raise OptionError(
            f"the source tokenizer of the tokenizer is not that of the model: {len(missing):,} of "
            f"its {len(ids) - 1:,} tokens are not in the model's vocabulary ({examples}); train "
            f"the tokenizer with `--source-tokenizer {model.name}`"
        )
    return ids
