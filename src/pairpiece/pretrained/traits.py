"""Traits of tokens that show in their rows: how frequent, at the beginning of a word, capitalized.

What a token means is not all that its row in an output layer says.  The mean of the rows of source
tokens has the traits of these: it says that a piece is as frequent as they are, even if it shares
them with many others.  How rows differ with a trait is found by linear regression over the tokens
of the model, and by that much the row of a piece is moved to have the traits of the piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pairpiece.text.options import MARKER

_HALF = 0.5  # what counts for a token that was not seen at all
_MIN_TOKENS = 100
"""With fewer that were seen, nothing can be said."""

Traits = npt.NDArray[np.float64]
"""A row for each token, a column for each trait."""


def traits_of(tokens: Sequence[str], counts: npt.NDArray[np.float64]) -> Traits:
    """The traits of tokens, which are written with ▁ for spaces.

    In vocabularies that mark no beginnings, as WordPiece, no token has that trait; then rows do not
    differ with it, and it moves nothing.

    >>> traits_of(["▁Chat", "s"], np.array([1.0, 1.0]))
    array([[0., 1., 1.],
           [0., 0., 0.]])
    """
    begins = [token.startswith(MARKER) for token in tokens]
    capitals = [next((c for c in token if c.isalpha()), "").isupper() for token in tokens]
    return np.column_stack([np.log(np.maximum(counts, _HALF)), begins, capitals])


def slopes(matrix: Any, traits: Traits, seen: npt.NDArray[np.int64]) -> Any:
    """By how much the rows of a matrix differ with each trait; None if that cannot be known."""
    import torch

    if len(seen) < _MIN_TOKENS:
        return None
    centred = traits[seen] - traits[seen].mean(0)
    solution = torch.from_numpy(np.linalg.pinv(centred, rcond=1e-6))
    found = torch.zeros(traits.shape[1], *matrix.shape[1:], dtype=torch.float64)
    ids = torch.from_numpy(seen)
    for of_ids, part in zip(torch.split(ids, 4096), torch.split(solution, 4096, 1), strict=True):
        found += torch.tensordot(part, matrix[of_ids].double(), 1)
    return found.float() if bool(torch.isfinite(found).all()) else None
