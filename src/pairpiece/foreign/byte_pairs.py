"""Byte-pair encoding: symbols are joined by rank, and new tokens are taught to be joined last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

Pair = tuple[str, str]


class Merges(Protocol):
    """Which symbols that stand beside each other are joined, and in which order."""

    def rank(self, pair: Pair) -> float | None:
        """The pair with the lowest rank is joined first; one without is never joined."""

    def append(self, pair: Pair) -> None:
        """Join this pair too, after all others."""


class PairMerges:
    """A list of pairs in the order of their ranks, as in ``tokenizer.json``."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._ranks = {pair: rank for rank, pair in enumerate(dict.fromkeys(pairs))}

    def rank(self, pair: Pair) -> float | None:
        """See `Merges`."""
        return self._ranks.get(pair)

    def append(self, pair: Pair) -> None:
        """See `Merges`."""
        self._ranks[pair] = len(self._ranks)

    def pairs(self) -> list[Pair]:
        """All pairs in order; those that were there at the beginning come first."""
        return list(self._ranks)


class TokenMerges:
    """Pairs that together are a token, that with the best score first: as SentencePiece has it."""

    def __init__(self, scores: dict[str, float]) -> None:
        self.scores = dict(scores)
        self._lowest = min(self.scores.values(), default=0.0)

    def rank(self, pair: Pair) -> float | None:
        """See `Merges`."""
        score = self.scores.get("".join(pair))
        return None if score is None else -score

    def append(self, pair: Pair) -> None:
        """See `Merges`."""
        self._lowest -= 1.0
        self.scores["".join(pair)] = self._lowest


def encoded(symbols: Iterable[str], merges: Merges) -> list[str]:
    """Symbols joined as far as they are.

    >>> encoded("banana", PairMerges([("a", "n"), ("an", "a")]))
    ['b', 'an', 'ana']
    """
    found = list(symbols)
    while len(found) > 1:
        ranks = [(merges.rank((a, b)), i) for i, (a, b) in enumerate(pairwise(found))]
        known = [(rank, i) for rank, i in ranks if rank is not None]
        if not known:
            break
        _, i = min(known)
        found[i : i + 2] = [found[i] + found[i + 1]]
    return found


@dataclass(frozen=True)
class Taught:
    """What became of new pieces."""

    tokens: list[str]  # what is in the vocabulary now and was not, in order
    parts: list[str]  # those of them that are no pieces: pieces are joined from them
    unreached: list[str]  # pieces that cannot be joined


def teach(pieces: Sequence[str], merges: Merges, known: Iterable[str]) -> Taught:
    """Append what joins the characters of each piece to one token; `known` are the tokens so far.

    Pairs that are appended come after all others, so that what was joined is joined as before,
    and is perhaps joined further.  A piece keeps being one token, whatever is appended after it:
    what comes later finds nothing left to join.  Short pieces come first, for longer ones to be
    joined from.

    >>> merges = PairMerges([("c", "a")])
    >>> teach(["casa", "sa"], merges, ["a", "c", "s", "ca"])
    Taught(tokens=['sa', 'casa'], parts=[], unreached=[])
    >>> merges.pairs()
    [('c', 'a'), ('s', 'a'), ('ca', 'sa')]
    """
    there, wanted = set(known), dict.fromkeys(pieces)
    tokens: list[str] = []
    unreached: list[str] = []
    for piece in sorted((piece for piece in wanted if piece not in there), key=len):
        new = _join(piece, merges, there)
        if not new:
            unreached.append(piece)
        tokens += new
    return Taught(tokens, [token for token in tokens if token not in wanted], unreached)


def _join(piece: str, merges: Merges, there: set[str]) -> list[str]:
    """Make one token of a piece: the tokens that are new for it, none if it cannot be done."""
    if len(piece) > 1 and not there.issuperset(piece):
        return []
    new = [piece] if len(piece) == 1 else []
    while len(symbols := encoded(piece, merges)) > 1:
        pair = _first_join(symbols, there)
        merges.append(pair)  # with the last rank: it is joined when all else is, here for one
        if (joined := "".join(pair)) not in there:
            new.append(joined)
            there.add(joined)
    there.add(piece)
    return new


def _first_join(symbols: list[str], there: set[str]) -> Pair:
    """A pair to begin with, where the fewest tokens are needed on the way that are not there."""
    cost = {(i, i + 1): 0 for i in range(len(symbols))}
    middle: dict[tuple[int, int], int] = {}
    for size in range(2, len(symbols) + 1):
        for i in range(len(symbols) - size + 1):
            k = i + size
            # Of equals the one that is joined from the left: words share beginnings.
            best, j = min((cost[i, j] + cost[j, k], -j) for j in range(i + 1, k))
            middle[i, k] = -j
            cost[i, k] = best + ("".join(symbols[i:k]) not in there)
    i, k = 0, len(symbols)
    while k - i > 2:
        j = middle[i, k]
        i, k = (i, j) if j - i > 1 else (j, k)
    return symbols[i], symbols[i + 1]
