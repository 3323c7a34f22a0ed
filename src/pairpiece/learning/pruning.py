"""Which pieces to give up: one score per piece, the lowest go first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from pairpiece.learning.engine import Engine

Scores = npt.NDArray[np.float64]


def information(engine: Engine) -> Scores:
    """Mutual information with the source tokens (eq. 11), as in the paper."""
    return np.asarray(engine.mutual_information(), np.float64)


def information_and_length(engine: Engine) -> Scores:
    """Mutual information less what the length prior would gain without the piece (eq. 12–13)."""
    _, length_gain, *_ = engine.tied_uses()
    return information(engine) - np.asarray(length_gain, np.float64)


def loss(engine: Engine) -> Scores:
    """How much likelihood the text would lose without the piece (eq. 14), as SentencePiece does."""
    uses, _, offsets, others, likelier = engine.tied_uses()
    count: Scores = np.asarray(uses, np.float64)
    begin, pieces = np.asarray(offsets, np.int64), np.asarray(others, np.int64)
    parts = np.diff(begin)
    total = count.sum()
    owner = np.repeat(np.arange(len(count)), parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        inherited = np.log(count[pieces] + count[owner])
        alternative = np.bincount(owner, inherited, minlength=len(count)).astype(np.float64)
        alternative -= parts * np.log(total + count * (parts - 1))
        scores: Scores = count * (np.log(count) - np.log(total) - alternative)
    scores[count == 0] = 0.0
    scores[np.asarray(likelier, bool)] = -np.inf
    return scores


def frequency(engine: Engine) -> Scores:
    """Expected count."""
    return np.asarray(engine.piece_counts(), np.float64)


SCORES: dict[str, Callable[[Engine], Scores]] = {
    "information": information,
    "information+length": information_and_length,
    "loss": loss,
    "frequency": frequency,
}


def keep_best(engine: Engine, scores: Scores, size: int) -> npt.NDArray[np.uint8]:
    """Flags of the `size` pieces to keep: the single characters in any case, then by score.

    Scores count as equal if they agree to about nine digits or differ by less than a trillionth of
    the largest count, so that rounding cannot decide; of equals the earlier piece is kept.
    """
    characters = engine.characters()
    flags = np.zeros(len(scores), np.uint8)
    flags[:characters] = 1
    _, largest = np.frexp(np.max(engine.piece_counts()))
    mantissa, exponent = np.frexp(scores[characters:])
    step = np.maximum(exponent - 30, largest - 40)
    rounded = np.ldexp(np.round(np.ldexp(mantissa, exponent - step)), step)
    order = np.argsort(-rounded, kind="stable")
    flags[characters:][order[: max(0, size - characters)]] = 1
    return flags
