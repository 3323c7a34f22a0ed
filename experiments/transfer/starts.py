"""Ways to begin: the rows of new tokens, by PairPiece and by what others do.

Each is a function of a `Case` that returns the matrix of all new rows.  What is not a learned piece
(special tokens, bytes) has the same rows in all of them, those that `pairpiece.transfer` gives it.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import static_vectors
import torch
from safetensors.torch import load_file

import pairpiece
from pairpiece.evaluation.aligned import write_tokens
from pairpiece.foreign.protocol import flat
from pairpiece.links import fast_align
from pairpiece.model.state import known
from pairpiece.model.tables import TranslationTable
from pairpiece.pretrained.model_tokenizer import ModelTokenizer
from pairpiece.pretrained.transferring import TRAITS
from pairpiece.text.options import MARKER
from pairpiece.text.vocabulary import PieceType
from pairpiece.text.words import split_words

Matrix = npt.NDArray[np.float64]
EMBEDDINGS = "transformer.wte.weight"


@dataclass(frozen=True)
class Case:
    """A model, a tokenizer of the new language, and the parallel text that it comes from."""

    model: Path
    transferred: Path  # by PairPiece, for what is the same in all ways
    tokenizer: pairpiece.Tokenizer
    source: list[str]
    target: list[str]
    donor: Callable[[], Path]  # a model of the new language alone

    @cached_property
    def old(self) -> Matrix:
        """The rows of the model's tokens."""
        return _embeddings(self.model)

    @cached_property
    def ours(self) -> Matrix:
        """The rows that PairPiece has given the new tokens."""
        return _embeddings(self.transferred)

    @cached_property
    def ids(self) -> dict[str, int]:
        """The model's tokens."""
        return dict(ModelTokenizer.open(self.model).ids)

    @property
    def learned(self) -> Iterator[tuple[int, str]]:
        """The pieces whose rows are in question."""
        kinds = self.tokenizer.piece_types()
        for i, piece in enumerate(self.tokenizer.vocabulary.pieces):
            if kinds[i] == PieceType.NORMAL:
                yield i, piece

    @property
    def alike(self) -> dict[int, int]:
        """Pieces that the model's tokenizer has too, and the ids they have there."""
        return {i: self.ids[piece] for i, piece in self.learned if piece in self.ids}

    def rows(self, row: Callable[[int, str], Matrix]) -> Matrix:
        """All rows, where those of learned pieces come from a function."""
        found = self.ours.copy()
        for i, piece in self.learned:
            found[i] = row(i, piece)
        return found


def _embeddings(folder: Path) -> Matrix:
    return np.asarray(load_file(folder / "model.safetensors")[EMBEDDINGS].double())


def random(case: Case) -> Matrix:
    """As transformers does it: drawn from the normal distribution that fits the old rows."""
    drawn = np.random.default_rng(0)
    mean, covariance = case.old.mean(0), np.cov(case.old.T)
    rows = drawn.multivariate_normal(mean, covariance, size=len(case.ours))
    return case.rows(lambda i, _: rows[i])


def mean(case: Case) -> Matrix:
    """The mean of the old rows."""
    return case.rows(lambda *_: case.old.mean(0))


def identical(case: Case) -> Matrix:
    """Rows of pieces that both languages spell alike are copied; others are drawn at random."""
    others = random(case)
    return case.rows(lambda i, piece: case.old[case.ids[piece]] if piece in case.ids else others[i])


def spelling(case: Case) -> Matrix:
    """The mean of the rows of the tokens that the source tokenizer makes of a piece."""
    source = case.tokenizer.state.source_tokenizer
    assert source is not None

    def row(_: int, piece: str) -> Matrix:
        tokens = flat(source, piece.replace(MARKER, " "))
        known = [case.ids[token] for token in tokens if token in case.ids]
        return case.old[known].mean(0) if known else case.old.mean(0)

    return case.rows(row)


def focus(case: Case) -> Matrix:
    """FOCUS: identical pieces are copied, others are means of them."""
    target = case.tokenizer.encode_batch(case.target, out_type=str)
    rows = static_vectors.focus(dict(case.learned), case.alike, target, case.old)
    return case.rows(lambda i, _: rows[i])


def tokensurgeon(case: Case) -> Matrix:
    """OMP: combinations of identical pieces that a model of the new language says are alike."""
    donor = _embeddings(case.donor())
    rows = static_vectors.orthogonal_matching_pursuit(
        dict(case.learned), case.alike, donor, case.old
    )
    return case.rows(lambda i, _: rows[i])


def wechsel(case: Case) -> Matrix:
    """WECHSEL: the nearest source tokens in vectors that a dictionary has brought together."""
    links: Counter[tuple[str, str]] = Counter()
    words = [[split_words(line) for line in side] for side in (case.source, case.target)]
    with tempfile.TemporaryDirectory(prefix="pairpiece-") as name:
        for side, rows in zip(("source", "target"), words, strict=True):
            write_tokens(Path(name), side, rows)
        for found, one, other in zip(fast_align.align(Path(name)), *words, strict=True):
            links.update((one[s], other[t]) for s, t in found)
    rows_of = static_vectors.wechsel(
        {i: piece.strip(MARKER) or piece for i, piece in case.learned},
        {i: token.strip(MARKER) or token for token, i in case.ids.items()},
        (case.source, case.target),
        static_vectors.dictionary_of(links),
        case.old,
    )
    return case.rows(lambda i, _: rows_of[i])


def linked_tokens(case: Case) -> TranslationTable:
    """Remy et al. (2024): how often tokens are linked, aligned token by token with fast_align.

    Their cut at 20 links leaves most pieces of a small text without any, so there is none; as in
    the trial that found it best, the ten source tokens with most links count.
    """
    counts: Counter[tuple[int, int]] = Counter()
    source = case.tokenizer.state.source_tokenizer
    assert source is not None
    table = case.tokenizer.cooccurrences()
    sources = source.tokenize_batch(case.source)
    targets = case.tokenizer.encode_batch(case.target)
    pieces = case.tokenizer.encode_batch(case.target, out_type=str)
    with tempfile.TemporaryDirectory(prefix="pairpiece-") as name:
        write_tokens(Path(name), "source", sources)
        write_tokens(Path(name), "target", pieces)
        for links, one, other in zip(fast_align.align(Path(name)), sources, targets, strict=True):
            counts.update((other[t], table.source_ids.get(one[s], 0)) for s, t in links)
    keys = sorted(key for key in counts if key[1])
    rows = np.bincount([row for row, _ in keys], minlength=len(case.tokenizer))
    return TranslationTable(
        np.concatenate([[0], np.cumsum(rows)]).astype(np.uint64),
        np.array([column for _, column in keys], np.uint32),
        np.array([counts[key] for key in keys], np.float32),
        case.tokenizer.source_weights().counts,
    )


def trans_tokenization(case: Case, traits: float = 0.0) -> Matrix:
    """The rule of Remy et al., alone or with PairPiece's step for traits."""
    return transferred(case, known(linked_tokens(case)), traits=traits)


def with_translations(tokenizer: pairpiece.Tokenizer, table: Any) -> pairpiece.Tokenizer:
    """A tokenizer with another table in the place of r(t, s), or none."""
    return pairpiece.Tokenizer(replace(tokenizer.state, translations=table))


def transferred(case: Case, translations: Any, **options: Any) -> Matrix:
    """The rows of `pairpiece.transfer` with another table in the place of r(t, s)."""
    tokenizer = with_translations(case.tokenizer, translations)
    with tempfile.TemporaryDirectory(prefix="pairpiece-") as name:
        pairpiece.transfer(case.model, tokenizer, Path(name, "model"), **options)
        return _embeddings(Path(name, "model"))


STARTS: dict[str, Callable[[Case], Matrix]] = {
    "random": random,
    "mean": mean,
    "identical strings": identical,
    "spelling": spelling,
    "FOCUS": focus,
    "WECHSEL": wechsel,
    "OMP": tokensurgeon,
    "trans-tokenization": trans_tokenization,
    "trans-tokenization with traits": partial(trans_tokenization, traits=TRAITS),
    "PairPiece, c(t, s)": lambda case: transferred(case, None),
    "PairPiece, means alone": lambda case: transferred(
        case, case.tokenizer.state.translations, traits=0
    ),
    "PairPiece": lambda case: case.ours,
}


def write(case: Case, matrix: Matrix, folder: Path) -> None:
    """A model with these rows."""
    from transformers import GPT2LMHeadModel

    model: Any = GPT2LMHeadModel.from_pretrained(case.transferred)
    model.transformer.wte.weight.data = torch.from_numpy(matrix).float()
    model.save_pretrained(folder)
