"""How well two tokenized texts are linked, with nothing else than the texts."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pairpiece.evaluation.aligned import write_tokens
from pairpiece.evaluation.tokenized import Links
from pairpiece.links.eflomal import Eflomal, symmetrized_links


class Linked(NamedTuple):
    """Shares of tokens, as the metrics of the same names."""

    one_to_one: float
    link_f: float


def token_links(
    sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]], last: int
) -> Linked:
    """One-to-one of the source side (Hämmerl et al., 2025) and link F.

    All sentences are aligned, token by token, with Eflomal and grow-diag-final-and; the `last` ones
    are counted.
    """
    with tempfile.TemporaryDirectory(prefix="pairpiece-") as name:
        folder = Path(name)
        write_tokens(folder, "source", sources)
        write_tokens(folder, "target", targets)
        Eflomal().align(folder)
        links = list(symmetrized_links(folder, "grow-diag-final-and"))[-last:]
        certain = sum(map(len, list(symmetrized_links(folder, "intersection"))[-last:]))
    lengths = np.array([len(tokens) for tokens in sources[-last:]], np.float64)
    tokens = lengths.sum() + sum(map(len, targets[-last:]))
    one_to_one = Links.of(links, lengths).one_to_one.sum() / lengths.sum()
    return Linked(float(one_to_one), float(2 * certain / tokens))
