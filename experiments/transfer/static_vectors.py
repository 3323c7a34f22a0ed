"""Starts that need vectors of the new language: FOCUS, WECHSEL and OMP, as their papers say.

Vectors are trained here, on the training text alone, with the fastText of gensim or, for OMP, as
the embeddings of a small model (``pip install gensim scikit-learn``); the published tools take
vectors and models that were trained on far more text.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from pairpiece.text.words import split_words

Matrix = npt.NDArray[np.float64]

_WIDTH, _EPOCHS, _SEED = 100, 5, 1
_NEAREST, _TEMPERATURE = 10, 0.1  # of WECHSEL
_COMBINED = 8  # pieces in a combination of OMP; 4, 16, 32 are worse on dev text


def vectors(rows: list[list[str]]) -> Any:
    """The fastText model of tokens or words."""
    from gensim.models import FastText

    return FastText(
        rows,
        vector_size=_WIDTH,
        epochs=_EPOCHS,
        min_count=1,
        sg=1,
        workers=1,
        seed=_SEED,
        bucket=200_000,
    ).wv


def focus(
    pieces: dict[int, str], known: dict[int, int], target: list[list[str]], old: Matrix
) -> dict[int, Matrix]:
    """Dobler and de Melo (2023): means of the rows of pieces that both vocabularies have.

    Weights are sparsemax of the cosine between static vectors of pieces in the new language.
    """
    static = vectors(target)
    shared = [i for i in known if pieces[i] in static.key_to_index]
    anchors = _normed(np.array([static[pieces[i]] for i in shared]))
    rows = old[[known[i] for i in shared]]
    found: dict[int, Matrix] = {i: old[k] for i, k in known.items()}
    for i, piece in pieces.items():
        if i not in found:
            weights = sparsemax(anchors @ _normed(static[piece][None])[0])
            found[i] = weights @ rows
    return found


def orthogonal_matching_pursuit(
    pieces: dict[int, str], known: dict[int, int], donor: Matrix, old: Matrix
) -> dict[int, Matrix]:
    """Goddard and Fernandes Neto (2025), as in mergekit's tokensurgeon.

    The embedding of a piece in a model of the new language, the donor, is put together from few
    embeddings of pieces that both vocabularies have; the same combination of old rows is its row.
    """
    from sklearn.linear_model import orthogonal_mp

    shared = list(known)
    rows = old[[known[i] for i in shared]]
    others = [i for i in pieces if i not in known]
    found: dict[int, Matrix] = {i: old[k] for i, k in known.items()}
    for begin in range(0, len(others), 500):
        some = others[begin : begin + 500]
        factors = orthogonal_mp(donor[shared].T, donor[some].T, n_nonzero_coefs=_COMBINED)
        found |= dict(zip(some, factors.T @ rows, strict=True))
    return found


def sparsemax(scores: Matrix) -> Matrix:
    """The nearest point of the simplex (Martins and Astudillo, 2016)."""
    ranked = np.sort(scores)[::-1]
    sums = np.cumsum(ranked) - 1
    size = np.arange(1, len(scores) + 1)
    last = np.flatnonzero(ranked * size > sums)[-1]
    return np.asarray(np.maximum(scores - sums[last] / (last + 1), 0.0))


def wechsel(
    pieces: dict[int, str],
    tokens: dict[int, str],
    text: tuple[list[str], list[str]],
    dictionary: list[tuple[str, str]],
    old: Matrix,
) -> dict[int, Matrix]:
    """Minixhofer et al. (2022): means of the rows of the ten source tokens that are nearest.

    Static vectors of both languages are brought together by a dictionary (orthogonal Procrustes);
    the vector of a piece is that of its characters.
    """
    both = [vectors([split_words(line) for line in side]) for side in text]
    matched = [(both[0][s], both[1][t]) for s, t in dictionary]
    ours, theirs = (_normed(np.array(side)) for side in zip(*matched, strict=True))
    left, _, right = np.linalg.svd(ours.T @ theirs)
    rotation = left @ right
    ids = sorted(tokens)
    anchors = _normed(np.array([both[0][tokens[i]] for i in ids]) @ rotation)
    found = {}
    for i, piece in pieces.items():
        near = anchors @ _normed(both[1][piece][None])[0]
        best = np.argsort(-near)[:_NEAREST]
        weights = np.exp((near[best] - near[best[0]]) / _TEMPERATURE)
        found[i] = (weights / weights.sum()) @ old[[ids[k] for k in best]]
    return found


def dictionary_of(links: Counter[tuple[str, str]], size: int = 5000) -> list[tuple[str, str]]:
    """Word pairs that are linked most, each word once."""
    seen: tuple[set[str], set[str]] = (set(), set())
    found = []
    for (s, t), count in links.most_common():
        if count > 1 and s not in seen[0] and t not in seen[1]:
            seen[0].add(s)
            seen[1].add(t)
            found.append((s, t))
    return found[:size]


def _normed(rows: Matrix) -> Matrix:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
