"""The share of source tokens linked one to one, for two tokenized texts and nothing else."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pairpiece.evaluation.aligned import write_tokens
from pairpiece.evaluation.tokenized import Links
from pairpiece.links.eflomal import Eflomal, symmetrized_links


def one_to_one(
    sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]], last: int
) -> float:
    """The share of source tokens linked with one target token that is linked with no other.

    All sentences are aligned, token by token, with Eflomal and grow-diag-final-and; the `last` ones
    are counted.  The metric is that of Hämmerl et al. (2025), on the source side as in the paper.
    """
    with tempfile.TemporaryDirectory(prefix="pairpiece-") as name:
        folder = Path(name)
        write_tokens(folder, "source", sources)
        write_tokens(folder, "target", targets)
        Eflomal().align(folder)
        links = list(symmetrized_links(folder, "grow-diag-final-and"))[-last:]
    lengths = np.array([len(tokens) for tokens in sources[-last:]], np.float64)
    return float(Links.of(links, lengths).one_to_one.sum() / lengths.sum())
