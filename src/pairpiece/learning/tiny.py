"""The whole algorithm in plain Python, to be read in one sitting: train, encode, align.

A tokenizer of a target language is learned from its words, each paired with the source tokens it
translates.  A table c(t, s) counts how often piece t goes with source token s.  It says how likely
a piece is given the source, this says how words are segmented, and the segmentations give a better
table: that is EM.  In between, pieces are dropped that neither the source nor the text needs.

Equation numbers are those of docs/algorithm.md.  Text is a list of words, with ▁ for spaces, whose
characters were all seen in training.  The compiled core does the same; around it there are also
normalisation, bytes, special tokens and calibration, and core/word_links.cpp, which finds the links
between the words of two sentences where none are given.

>>> pairs = [(["▁non"], "▁no", 50, 1), (["▁ne"], "▁non", 50, 1)]
>>> tokenizer = train(pairs + [(["▁noir"], "nero", 50, 1), (["▁étais"], "ero", 50, 1)], 12)
>>> tokenizer.encode(["▁nonero"])
['▁no', 'nero']
>>> tokenizer.encode(["▁nonero"], source=[["▁ne", "▁étais"]], links=[(0, 0)])
['▁non', 'ero']
>>> tokenizer.align(["▁nonero"], [["▁ne", "▁étais"]], [(0, 0)])
[(0, 0), (1, 1)]
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from math import exp, floor, inf, log
from typing import NamedTuple, TypeAlias

NULL = ""  # the source token of a word that is linked to none
MAX_PIECE_LENGTH, MIN_SEED_COUNT, MIN_EXPECTED_COUNT, MIN_TABLE_COUNT = 16, 2, 1, 0.001
SUB_ITERATIONS, SHRINKING_FACTOR, FINAL_ITERATIONS = 2, 0.75, 4
PRUNING_PASSES, SCORING_PASSES, LAMBDA = 2, 6, 3.0  # of a plain model, and its weight (eq. 13)
KAPPA, ENCODING_KAPPA, EPSILON = 1.0, 20.0, 0.01  # how much p₀ counts; what it adds to c(t) (eq. 6)
TRAINING, ENCODING = (4.0, 2.0, 4.0), (2.0, 2.0, 0.0)  # g_O, g_U and g_N (eq. 8)
MAX_COUNTED, UNCOUNTED = 12, [0.0]  # pieces are counted so far, or with this prior not at all
TIE = 1e-9  # what differs by less is equal: rounding decides nothing
Pair: TypeAlias = tuple[Sequence[str], str, float, float]  # tokens S, word T, count n, length m
State: TypeAlias = tuple[int, int]  # within a word: characters passed, pieces passed
Source: TypeAlias = Sequence[Sequence[str]]  # the tokens of each source word
Links: TypeAlias = Sequence[tuple[int, int]]  # (source, target): words as input, tokens as output


def spans(word: str) -> Iterator[tuple[int, int, str]]:
    """Everything that could be a piece of the word, with where it begins and ends."""
    for i in range(len(word)):
        for j in range(i + 1, min(len(word), i + MAX_PIECE_LENGTH) + 1):
            yield i, j, word[i:j]


def lattice(word: str, pieces: Container[str], last: int) -> list[tuple[State, State, str]]:
    """All steps by a piece from one state to the next; more than `last` pieces count as `last`."""
    found = [(i, j, t) for i, j, t in spans(word) if t in pieces]
    return [((i, k), (j, min(k + 1, last)), t) for i, j, t in found for k in range(last + 1)]


def log_prior(m: float, over: float, under: float, unlinked: float) -> list[float]:
    """The log prior of 0, 1, 2… pieces where m are expected, 0 if there is no source (eq. 8)."""
    if m == 0:
        return [-unlinked * max(0, k - 1) for k in range(MAX_COUNTED + 1)]
    return [-over * max(0.0, k - m) - under * max(0.0, m - k) for k in range(MAX_COUNTED + 1)]


def expected_uses(word: str, log_p: Mapping[str, float], log_q: list[float]) -> dict[str, float]:
    """How often each piece is used, in the mean over all segmentations (eq. 4 and 5)."""
    steps = lattice(word, log_p, len(log_q) - 1)
    alpha = defaultdict(float, {(0, 0): 1.0})  # the probability of all ways to get there
    for here, there, t in steps:
        alpha[there] += alpha[here] * exp(log_p[t])
    beta = defaultdict(float, {(len(word), k): exp(log_q[k]) for k in range(len(log_q))})
    flow: dict[str, float] = defaultdict(float)
    for here, there, t in reversed(steps):
        beta[here] += exp(log_p[t]) * beta[there]  # and of all ways to go on from there
        flow[t] += alpha[here] * exp(log_p[t]) * beta[there]
    return {t: through / beta[0, 0] for t, through in flow.items()}  # β(0, 0) is Z


def best_segmentation(word: str, log_p: Mapping[str, float], log_q: list[float]) -> list[str]:
    """Eq. 1, by Viterbi; of equals the one whose last piece is longer."""
    best: dict[State, tuple[float, list[str]]] = {(0, 0): (0.0, [])}
    for here, there, t in lattice(word, log_p, len(log_q) - 1):
        if here in best:
            score, pieces = best[here][0] + log_p[t], [*best[here][1], t]
            if there not in best or score > best[there][0] + TIE:
                best[there] = score, pieces
    reached = [k for k in range(len(log_q)) if (len(word), k) in best]
    k = max(reached, key=lambda k: round(best[len(word), k][0] + log_q[k], 9))
    return best[len(word), k][1]


class Table:
    """c(t, s) with its sums c(t) and c(s), and p₀, whose keys are the vocabulary."""

    def __init__(self, c: Mapping[tuple[str, str], float], base: Mapping[str, float]) -> None:
        self.c, self.base = c, base
        self.of_piece = dict.fromkeys(base, 0.0)
        self.of_source: dict[str, float] = defaultdict(float)
        for (t, s), n in c.items():
            self.of_piece[t] += n
            self.of_source[s] += n

    def probability(self, t: str, s: str, kappa: float = KAPPA) -> float:
        """The smoothed p(t|s) (eq. 6)."""
        count, total = self.c.get((t, s), 0.0), self.of_source.get(s, 0.0)
        return (count + kappa * self.base[t]) / (total + kappa)

    def log_given(self, source: Sequence[str], word: str, kappa: float = KAPPA) -> dict[str, float]:
        """The log of p(t|S), a mixture over the source tokens, for all pieces of a word (eq. 7)."""
        pieces = (t for *_, t in spans(word) if t in self.base)
        p = {t: sum(self.probability(t, s, kappa) for s in source) for t in pieces}
        return {t: log(p_sum / len(source)) for t, p_sum in p.items()}

    def keep(self, pieces: Container[str]) -> Table:
        """The rows of these pieces, with p₀ ∝ c(t) + ε taken anew (eq. 6)."""
        c = {(t, s): n for (t, s), n in self.c.items() if t in pieces}
        counts = {t: n + EPSILON for t, n in self.of_piece.items() if t in pieces}
        total = sum(counts.values())
        return Table(c, {t: n / total for t, n in counts.items()})

    def keep_best(self, size: int, score: Mapping[str, float]) -> Table:
        """The characters and then the pieces with the best scores; of equals the earlier ones."""
        ranked = sorted(self.base, key=lambda t: (len(t) > 1, -round(score[t], 9)))
        return self.keep(set(ranked[:size]))


def initial_table(pairs: list[Pair]) -> Table:
    """Seeds, which are spans that occur often enough, with the tokens of their words (eq. 10)."""
    c: dict[tuple[str, str], float] = defaultdict(float)
    for source, word, n, _ in pairs:
        for _, _, t in spans(word):
            for s in source:
                c[t, s] += n / len(source)
    table = Table(c, dict.fromkeys((t for t, _ in c), 0.0))
    often = {t for t, n in table.of_piece.items() if n > MIN_SEED_COUNT - TIE}
    return table.keep(often | {t for t in table.base if len(t) == 1})


def em_pass(pairs: list[Pair], table: Table) -> Table:
    """Expected counts, shared among the source tokens by how well each explains a piece (eq. 9)."""
    c: dict[tuple[str, str], float] = defaultdict(float)
    for source, word, n, m in pairs:
        log_p = table.log_given(source, word)
        for t, uses in expected_uses(word, log_p, log_prior(m, *TRAINING)).items():
            p = [table.probability(t, s) for s in source]
            for s, p_of_s in zip(source, p, strict=True):
                c[t, s] += n * uses * p_of_s / sum(p)
    return Table(c, table.base)


def plain_counts(pairs: list[Pair], base: Mapping[str, float], passes: int) -> dict[str, float]:
    """How often a model of the words without a source expects each piece, by EM from p₀."""
    counts = dict(base)
    for _ in range(passes):
        log_total = log(sum(counts.values()))
        log_p = {t: log(n + 1e-300) - log_total for t, n in counts.items()}
        counts = dict.fromkeys(base, 0.0)
        for _, word, n, _ in pairs:
            for t, uses in expected_uses(word, log_p, UNCOUNTED).items():
                counts[t] += n * uses
    return counts


def pruning_scores(pairs: list[Pair], table: Table) -> dict[str, float]:
    """What a piece tells about the source, less d(t), and λ times the likelihood it is worth."""
    log_p0 = {t: log(p) for t, p in table.base.items()}
    multiple = [t for t in table.base if len(t) > 1]
    splits = {t: best_segmentation(t, {**log_p0, t: -inf}, UNCOUNTED) for t in multiple}
    score, everything = dict.fromkeys(table.base, 0.0), sum(table.of_source.values())
    for (t, s), n in table.c.items():  # mutual information (eq. 11)
        if n > 0:
            score[t] += n * log(n * everything / (table.of_piece[t] * table.of_source[s]))
    for word, same_word in groupby(pairs, lambda pair: pair[1]):
        log_p: dict[str, float] = defaultdict(float)  # one segmentation for all pairs of the word
        log_q = [0.0] * (MAX_COUNTED + 1)
        for source, _, n, m in same_word:
            for t, value in table.log_given(source, word).items():
                log_p[t] += n * value
            log_q = [a + n * b for a, b in zip(log_q, log_prior(m, *TRAINING), strict=True)]
        pieces = best_segmentation(word, log_p, log_q)
        for t in (t for t in pieces if len(t) > 1):  # what its split would gain (eq. 12)
            longer = min(len(pieces) + len(splits[t]) - 1, MAX_COUNTED)
            score[t] -= log_q[longer] - log_q[min(len(pieces), MAX_COUNTED)]
    counts = plain_counts(pairs, table.base, PRUNING_PASSES)
    total = sum(counts.values())
    for t in (t for t in multiple if counts[t] > 0):  # its uses would go to its split (eq. 14)
        n, more = counts[t], len(splits[t]) - 1
        log_split = sum(log((counts[u] + n) / (total + n * more)) for u in splits[t])
        score[t] += LAMBDA * n * (log(n) - log(total) - log_split)
    return score


def train(pairs: Iterable[Pair], vocab_size: int) -> Tokenizer:
    """Count and prune until `vocab_size` pieces are left, characters included."""
    pairs = [(source or [NULL], word, n, m) for source, word, n, m in pairs]
    pairs.sort(key=lambda pair: pair[1])  # by word
    table = initial_table(pairs)
    vocab_size = max(vocab_size, sum(len(t) == 1 for t in table.base))
    while (size := len(table.base)) > vocab_size:
        for _ in range(SUB_ITERATIONS):
            table = em_pass(pairs, table)
            enough = sum(n > MIN_EXPECTED_COUNT - TIE for n in table.of_piece.values())
            if enough < len(table.base):  # what is hardly used goes at once
                table = table.keep_best(max(enough, vocab_size), table.of_piece)
        smaller = max(int(size * SHRINKING_FACTOR), vocab_size)
        if smaller < len(table.base):
            table = table.keep_best(smaller, pruning_scores(pairs, table))
    for _ in range(FINAL_ITERATIONS):
        table = em_pass(pairs, table)
    counts = {t: n + 0.1 for t, n in plain_counts(pairs, table.base, SCORING_PASSES).items()}
    total = sum(counts.values())  # the likeliest scores for words alone, in 1/256 (eq. 16)
    scores = {t: floor(log(n / total) * 256 + 0.5) / 256 for t, n in counts.items()}
    table = table.keep(table.base)  # with p₀ of the last counts
    table.c = {cell: n for cell, n in table.c.items() if n >= MIN_TABLE_COUNT}  # c(s) stays
    return Tokenizer(table, scores)


class Tokenizer(NamedTuple):
    """A table for words with a source, and scores for words without."""

    table: Table
    scores: dict[str, float]

    def encode(self, text: list[str], source: Source = (), links: Links = ()) -> list[str]:
        """The pieces of a text; words linked to source words by what the table says of those."""
        pieces, shared_by = [], Counter(i for i, _ in links)
        for j, word in enumerate(text):
            linked = [i for i, target in links if target == j]
            tokens = [s for i in linked for s in source[i]]
            score, log_q = self.scores, UNCOUNTED
            if any(s in self.table.of_source for s in tokens):
                m = sum(len(source[i]) / shared_by[i] for i in linked)
                log_q = log_prior(m, *ENCODING)
                log_p = self.table.log_given(tokens, word, ENCODING_KAPPA)
                score = {t: score[t] + p - log(self.table.base[t]) for t, p in log_p.items()}
            pieces += best_segmentation(word, score, log_q)
        return pieces

    def align(self, text: list[str], source: Source, links: Links) -> Links:
        """Link each piece t with the source token s that has the highest p(t|s) (eq. 20)."""
        c, tokens = self.table.c, [s for word in source for s in word]
        inside = [t for t in self.scores if any(t in word for word in text)]
        sums = {s: sum(c.get((t, s), 0.0) for t in inside) for s in tokens}
        found, pieces = [], self.encode(text, source, links)
        for j, t in enumerate(pieces):
            diagonal = (j + 0.5) / len(pieces) * len(tokens) - 0.5  # of equals the nearest to it
            if p := {i: round(c[t, s] / sums[s], 9) for i, s in enumerate(tokens) if (t, s) in c}:
                found.append((max(p, key=lambda i: (p[i], -abs(i - diagonal))), j))
        return sorted(found)
