"""How frequent a token is can be read off its row in an output layer, and can be set there.

Models learn first which tokens are frequent, so log c(s) is close to a linear function of the row
of s.  The mean of the rows of frequent source tokens says that a piece is as frequent as they are,
even if it is rare; moved along the gradient of that function, it says what is true of the piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_RIDGE = 1e-3  # of the mean variance of a dimension
_MIN_COUNT = 1.0
_MIN_TOKENS = 4  # for each dimension, or nothing can be said


@dataclass(frozen=True)
class FrequencyDirection:
    """log c ≈ `level` + `slope` · (row - `centre`)."""

    slope: Any
    centre: Any
    level: float

    @classmethod
    def of(cls, matrix: Any, counts: npt.NDArray[np.float64]) -> FrequencyDirection | None:
        """By ridge regression over tokens that were counted; None if they are too few."""
        import torch

        seen = np.flatnonzero(counts >= _MIN_COUNT)
        if matrix.dim() != 2 or len(seen) < _MIN_TOKENS * matrix.shape[1]:
            return None
        width = matrix.shape[1]
        logs = torch.from_numpy(np.log(counts[seen]))
        products = torch.zeros(width, width, dtype=torch.float64)
        sums, with_logs = torch.zeros(2, width, dtype=torch.float64)
        parts = torch.split(torch.from_numpy(seen), 4096)
        for ids, of_ids in zip(parts, torch.split(logs, 4096), strict=True):
            rows = matrix[ids].double()
            products += rows.T @ rows
            sums += rows.sum(0)
            with_logs += of_ids @ rows
        centre = sums / len(seen)
        products -= len(seen) * torch.outer(centre, centre)
        with_logs -= logs.sum() * centre
        products.diagonal().add_(_RIDGE * products.diagonal().mean())
        slope = torch.linalg.solve(products, with_logs)
        return cls(slope.float(), centre.float(), float(logs.mean()))

    def move(self, rows: Any, counts: npt.NDArray[np.float64], part: float) -> None:
        """Take rows a part of the way to where `counts` are; those of count 0 stay."""
        import torch

        counted = torch.from_numpy(counts >= _MIN_COUNT)
        wanted = torch.from_numpy(np.log(np.maximum(counts, _MIN_COUNT))).float()
        missing = wanted - (self.level + (rows - self.centre) @ self.slope)
        step = torch.where(counted, part * missing, torch.zeros_like(missing))
        rows += torch.outer(step / (self.slope @ self.slope), self.slope)
