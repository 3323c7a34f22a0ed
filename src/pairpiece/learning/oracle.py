"""The oracle: each step of learning in plain Python, for the compiled core to be tested against.

Everything here is written for clarity: tables are dictionaries, loops are loops.  The compiled core
must give the same numbers (tests/learning/test_oracle.py).  Equations are in docs/algorithm.md.

A *segmentation* of a word is a list of pieces that add up to it.  A *log prior* is a list of
log-probabilities: entry k belongs to k pieces, the last entry to that many or more; a list of one
entry does not count pieces at all.
"""

from __future__ import annotations

import heapq
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pairpiece.learning.options import LearningOptions
from pairpiece.learning.pairs import Pairs
from pairpiece.options import LengthPenalty

MAX_COUNTED_PIECES = 12
TIE = 1e-9  # scores closer than this are equal
SMALLEST = sys.float_info.min  # what is smaller cannot be divided by
UNKNOWN = ""  # stands for a character that may not become a piece

Edge = tuple[int, int, str]  # where a piece begins and ends in a word, and the piece

# ---------------------------------------------------------------------- one word


def edges_of(word: str, vocabulary: set[str], longest: int) -> list[Edge]:
    """The lattice of a word: every piece at every place, by beginning and then by length."""
    edges = []
    for begin in range(len(word)):
        if word[begin] not in vocabulary:
            edges.append((begin, begin + 1, UNKNOWN))
        ends = range(begin + 1, min(len(word), begin + longest) + 1)
        edges += [(begin, end, word[begin:end]) for end in ends if word[begin:end] in vocabulary]
    return edges


def log_length_prior(penalty: LengthPenalty, length: int, expected: float) -> list[float]:
    """The log prior of 0, 1, 2… pieces for a word of `length` characters (eq. 8)."""
    if penalty == LengthPenalty():
        return [0.0]
    return [log_prior_of(penalty, k, expected) for k in range(min(length, MAX_COUNTED_PIECES) + 1)]


def log_prior_of(penalty: LengthPenalty, pieces: int, expected: float) -> float:
    """Eq. 8; a word with no source side expects 0 pieces."""
    pieces = min(pieces, MAX_COUNTED_PIECES)
    if expected == 0:
        return -penalty.unlinked * max(0, pieces - 1)
    over, under = max(0.0, pieces - expected), max(0.0, expected - pieces)
    return -penalty.over * over - penalty.under * under


def lattice_sums(
    length: int, edges: list[Edge], weight: list[float], log_prior: list[float]
) -> tuple[float, list[float]]:
    """The probability of all segmentations, and of those through each edge (eq. 4–5)."""
    last = len(log_prior) - 1
    before = [[0.0] * len(log_prior) for _ in range(length + 1)]  # α: of all ways to get here
    after = [[0.0] * len(log_prior) for _ in range(length + 1)]  # β: of all ways to go on
    before[0][0] = 1.0
    for (begin, end, _), p in zip(edges, weight, strict=True):
        for k in range(len(log_prior)):
            before[end][min(k + 1, last)] += before[begin][k] * p
    after[length] = [math.exp(value) for value in log_prior]
    for (begin, end, _), p in reversed(list(zip(edges, weight, strict=True))):
        for k in range(len(log_prior)):
            after[begin][k] += p * after[end][min(k + 1, last)]
    through = [
        sum(before[begin][k] * p * after[end][min(k + 1, last)] for k in range(len(log_prior)))
        for (begin, end, _), p in zip(edges, weight, strict=True)
    ]
    return after[0][0], through


def best_path(
    length: int, edges: list[Edge], log_weight: list[float], log_prior: list[float]
) -> tuple[float, list[Edge]]:
    """The best segmentation (Viterbi); of equals the one that ends in the longer piece (eq. 1)."""
    last = len(log_prior) - 1
    best: dict[tuple[int, int], tuple[float, list[Edge]]] = {(0, 0): (0.0, [])}
    for edge, w in zip(edges, log_weight, strict=True):
        begin, end, _ = edge
        for k in range(len(log_prior)):
            if (begin, k) not in best or w == -math.inf:
                continue
            score, path = best[begin, k]
            state = end, min(k + 1, last)
            if state not in best or score + w > best[state][0] + TIE:
                best[state] = score + w, [*path, edge]
    winner: tuple[float, list[Edge]] = (-math.inf, [])
    for k in range(len(log_prior)):
        if (length, k) in best:
            score, path = best[length, k]
            if winner[0] == -math.inf or score + log_prior[k] > winner[0] + TIE:
                winner = score + log_prior[k], path
    return winner


def best_paths(
    length: int, edges: list[Edge], log_weight: list[float], log_prior: list[float], count: int
) -> list[tuple[float, list[str]]]:
    """The `count` best segmentations, from all there are."""
    found: list[tuple[float, list[str]]] = []
    unfinished: list[tuple[int, float, list[str]]] = [(0, 0.0, [])]
    while unfinished:
        position, score, pieces = unfinished.pop()
        if position == length:
            found.append((score + log_prior[min(len(pieces), len(log_prior) - 1)], pieces))
        for (begin, end, piece), w in zip(edges, log_weight, strict=True):
            if begin == position:
                unfinished.append((end, score + w, [*pieces, piece]))
    return heapq.nlargest(count, found)


# ---------------------------------------------------------------------- learning


class Oracle:
    """Learns c(t, s); the same steps as the compiled engine (see `learning.engine.Engine`)."""

    def __init__(
        self, pairs: Pairs, options: LearningOptions, reserved: Sequence[str] = ()
    ) -> None:
        self.options = options
        self.rows = list(pairs.rows())  # (word, source ids, expected length, count)
        self.sources = len(pairs.source_tokens)
        self._pieces, self._characters = self._seeds(set(reserved))
        self.cells: dict[tuple[str, int], float] = {}  # c(t, s)
        self._base: dict[str, float] = {}  # p0

    def _seeds(self, reserved: set[str]) -> tuple[list[str], int]:
        """All spans of the words that occur often enough; the single characters first."""
        options = self.options
        characters: dict[str, float] = defaultdict(float)
        for word, _, _, n in self.rows:
            for character in word:
                characters[character] += n
        covered: list[str] = []
        needed = (options.character_coverage - TIE) * sum(characters.values())
        for character in sorted(characters, key=lambda c: (-np.float32(characters[c]), c)):
            if options.character_coverage == 1 or sum(characters[c] for c in covered) < needed:
                covered.append(character)
        covered = [character for character in covered if character not in reserved]
        spans: dict[str, float] = defaultdict(float)
        for word, _, _, n in self.rows:
            for begin in range(len(word)):
                for end in range(begin + 1, min(len(word), begin + options.max_piece_length) + 1):
                    if not set(word[begin:end]) <= set(covered):
                        break
                    spans[word[begin:end]] += n
        seeds = [
            span
            for span, n in spans.items()
            if len(span) > 1 and n >= options.min_seed_count * (1 - TIE) and span not in reserved
        ]
        if options.max_seeds:
            chosen = sorted(seeds, key=lambda t: -np.float32(spans[t] * len(t)))[
                : options.max_seeds
            ]
            seeds = [span for span in seeds if span in set(chosen)]
        return sorted(covered) + seeds, len(covered)

    def table_bytes(self) -> int:
        return 0

    def table_entries(self) -> int:
        return len(self.cells)

    def pieces(self) -> list[str]:
        return list(self._pieces)

    def characters(self) -> int:
        return self._characters

    def piece_counts(self) -> list[float]:
        """c(t)."""
        sums: dict[str, float] = defaultdict(float)
        for (t, _), c in self.cells.items():
            sums[t] += c
        return [sums[t] for t in self._pieces]

    def source_counts(self) -> list[float]:
        """c(s)."""
        sums = [0.0] * self.sources
        for (_, s), c in self.cells.items():
            sums[s] += c
        return sums

    def base(self) -> list[float]:
        return [self._base[t] for t in self._pieces]

    def _update_base(self) -> None:
        """p0 ∝ c(t) + ε (eq. 6); kept until the next pruning so that passes have one objective."""
        counts = [c + self.options.base_offset for c in self.piece_counts()]
        self._base = {t: c / sum(counts) for t, c in zip(self._pieces, counts, strict=True)}

    def _edges(self, word: str) -> list[Edge]:
        return edges_of(word, set(self._pieces), self.options.max_piece_length)

    def initialize(self) -> None:
        """Every span with every source token it occurs with (eq. 10)."""
        self.cells = defaultdict(float)
        for word, sources, _, n in self.rows:
            share = n / len(sources) if self.options.conditional == "mixture" else n
            for _, _, t in self._edges(word):
                for s in sources:
                    if t != UNKNOWN:
                        self.cells[t, s] += share
        self._update_base()

    def probability(self) -> Callable[[str, int], float]:
        """p(t|s) of the mixture (eq. 6) under the present table."""
        totals, kappa = self.source_counts(), self.options.smoothing

        def p(t: str, s: int) -> float:
            return (self.cells.get((t, s), 0.0) + kappa * self._base[t]) / (totals[s] + kappa)

        return p

    def conditional(self) -> Callable[[str, list[int]], float]:
        """p(t|S): a mixture over the source tokens (eq. 7), or the paper's pooled counts (2)."""
        totals, p = self.source_counts(), self.probability()

        def given(t: str, sources: list[int]) -> float:
            if t == UNKNOWN:
                return 1.0
            if self.options.conditional == "mixture":
                return sum(p(t, s) for s in sources) / len(sources)
            below = sum(totals[s] for s in sources)
            return (
                sum(self.cells.get((t, s), 0.0) for s in sources) / below
                if below >= SMALLEST
                else 0.0
            )

        return given

    def part(self) -> Callable[[str, int], float]:
        """What one source token adds to p(t|S), up to a factor that is the same for all."""
        if self.options.conditional == "mixture":
            return self.probability()
        return lambda t, s: self.cells.get((t, s), 0.0)

    def count(self) -> float:
        """One pass (E-step); the counts become the new table (M-step)."""
        new: dict[tuple[str, int], float] = dict.fromkeys(self.cells, 0.0)
        given, part = self.conditional(), self.part()
        log_likelihood = 0.0
        for word, sources, expected, n in self.rows:
            edges = self._edges(word)
            weight = [given(t, sources) for _, _, t in edges]
            log_prior = log_length_prior(self.options.length_penalty, len(word), expected)
            if self.options.counting == "best":
                score, path = best_path(len(word), edges, [_log(w) for w in weight], log_prior)
                if score > -math.inf:
                    log_likelihood += n * score
                for _, _, t in path:
                    for s in sources:
                        if t != UNKNOWN:
                            new[t, s] += n
                continue
            total, through = lattice_sums(len(word), edges, weight, log_prior)
            if total < SMALLEST:
                continue
            log_likelihood += n * math.log(total)
            for (_, _, t), flow in zip(edges, through, strict=True):
                if t == UNKNOWN or flow == 0:
                    continue
                for s in sources:
                    if self.options.counting == "printed":  # eq. 3
                        new[t, s] += n * flow / len(sources)
                    else:  # eq. 9
                        responsibility = part(t, s) / sum(part(t, other) for other in sources)
                        new[t, s] += n * flow / total * responsibility
        self.cells = new
        return log_likelihood

    def log_table_prior(self) -> float:
        """Eq. 15, its second sum."""
        if self.options.conditional == "pooled" or self.options.smoothing == 0:
            return 0.0
        p, totals = self.probability(), self.source_counts()
        return self.options.smoothing * sum(
            self._base[t] * math.log(p(t, s))
            for s in range(self.sources)
            if totals[s] > 0
            for t in self._pieces
        )

    # -------------------------------------------------------------- pruning

    def mutual_information(self) -> list[float]:
        """Eq. 11."""
        of_piece = dict(zip(self._pieces, self.piece_counts(), strict=True))
        of_source = self.source_counts()
        everything = sum(of_source)
        score: dict[str, float] = defaultdict(float)
        for (t, s), c in self.cells.items():
            if c > 0:
                # As a sum of logarithms: the paper's counts may be too small to multiply.
                logs = (
                    math.log(c),
                    math.log(everything),
                    math.log(of_piece[t]),
                    math.log(of_source[s]),
                )
                score[t] += c * (logs[0] + logs[1] - logs[2] - logs[3])
        return [score[t] for t in self._pieces]

    def alternative(self, piece: str) -> tuple[float, list[str]]:
        """The best split of a piece into other pieces, under p0."""
        edges = [edge for edge in self._edges(piece) if edge[2] != piece]
        score, path = best_path(len(piece), edges, [_log(self._base[t]) for *_, t in edges], [0.0])
        return score, [t for _, _, t in path]

    def tied_uses(self) -> tuple[Any, Any, Any, Any, Any]:
        """Uses of each piece in the best segmentations of word types, and d(t) (eq. 12)."""
        penalty = self.options.length_penalty
        given = self.conditional()
        splits = [self.alternative(t) if len(t) > 1 else (-math.inf, []) for t in self._pieces]
        parts = {t: len(split) for t, (_, split) in zip(self._pieces, splits, strict=True)}
        uses: dict[str, float] = defaultdict(float)
        gain: dict[str, float] = defaultdict(float)
        by_word: dict[str, list[tuple[list[int], float, float]]] = defaultdict(list)
        for word, sources, expected, n in self.rows:
            by_word[word].append((sources, expected, n))
        for word, examples in by_word.items():
            edges = self._edges(word)
            log_weight = [sum(n * _log(given(t, s)) for s, _, n in examples) for *_, t in edges]
            log_priors = [
                log_length_prior(penalty, len(word), expected) for _, expected, _ in examples
            ]
            log_prior = [
                sum(n * one[k] for one, (_, _, n) in zip(log_priors, examples, strict=True))
                for k in range(len(log_priors[0]))
            ]
            _, path = best_path(len(word), edges, log_weight, log_prior)
            for _, _, t in path:
                for _, expected, n in examples:
                    uses[t] += n
                    if parts.get(t):
                        longer = log_prior_of(penalty, len(path) + parts[t] - 1, expected)
                        gain[t] += n * (longer - log_prior_of(penalty, len(path), expected))
        numbers = {t: i for i, t in enumerate(self._pieces)}
        begin = [0]
        flat: list[int] = []
        for _, split in splits:
            flat += [numbers[t] for t in split]
            begin.append(len(flat))
        likelier = [
            int(score > _log(self._base[t]) + TIE)
            for t, (score, _) in zip(self._pieces, splits, strict=True)
        ]
        return (
            [uses[t] for t in self._pieces],
            [gain[t] for t in self._pieces],
            begin,
            flat,
            likelier,
        )

    def keep(self, flags: Sequence[int]) -> None:
        self._pieces = [t for i, t in enumerate(self._pieces) if flags[i] or i < self._characters]
        kept = set(self._pieces)
        self.cells = {(t, s): c for (t, s), c in self.cells.items() if t in kept}
        self._update_base()

    # -------------------------------------------------------------- the finished table

    def best_counts(
        self, over: float, under: float, unlinked: float, piece_penalty: float
    ) -> list[float]:
        """Counts of the pieces in best segmentations: f(t) of eq. 17."""
        given = self.conditional()
        counts: dict[str, float] = defaultdict(float)
        for word, sources, expected, n in self.rows:
            edges = self._edges(word)
            log_weight = [_log(given(t, sources)) - piece_penalty for *_, t in edges]
            log_prior = log_length_prior(LengthPenalty(over, under, unlinked), len(word), expected)
            for *_, t in best_path(len(word), edges, log_weight, log_prior)[1]:
                counts[t] += n
        return [counts[t] for t in self._pieces]

    def unigram_counts(self, scores: Sequence[float]) -> list[float]:
        """Expected counts of the pieces under a unigram model with these scores (eq. 16)."""
        weight_of = {t: math.exp(score) for t, score in zip(self._pieces, scores, strict=True)}
        counts: dict[str, float] = defaultdict(float)
        for word, _, _, n in self.rows:
            edges = self._edges(word)
            weight = [weight_of.get(t, 1.0) for *_, t in edges]
            total, through = lattice_sums(len(word), edges, weight, [0.0])
            for (*_, t), flow in zip(edges, through, strict=True):
                counts[t] += n * flow / total
        return [counts[t] for t in self._pieces]

    def table(self) -> tuple[Any, Any, Any]:
        begin, sources, counts = [0], [], []
        for t in self._pieces:
            for s in sorted(s for (piece, s) in self.cells if piece == t):
                sources.append(s)
                counts.append(self.cells[t, s])
            begin.append(len(sources))
        return begin, sources, counts


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf
