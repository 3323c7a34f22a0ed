"""What is wrong with parallel text: counted, with the place of the first case of each."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pairpiece.corpus.reading import SentencePair
from pairpiece.errors import CorpusError

MAX_CHARACTERS = 5000
"""Longer texts are documents rather than sentences; no word aligner can do much with them."""

MAX_RATIO = 9
"""Between the lengths of the two sides, in characters; beyond it they do not translate each other.
Texts of up to `SHORT` characters are left alone."""

SHORT = 30

_LINE_ENDS = re.compile(r"[\r\n]+")

_EMPTY, _RATIO, _LONG, _DUPLICATE, _SPACES = "empty", "ratio", "long", "duplicate", "spaces"

_DESCRIPTIONS = {
    _EMPTY: "an empty side (left out)",
    _RATIO: f"sides whose lengths differ more than {MAX_RATIO} times (left out)",
    _LONG: f"a side of more than {MAX_CHARACTERS:,} characters (left out)",
    _DUPLICATE: "the same text as an earlier pair (kept)",
    _SPACES: "spaces at an end of the target, which cost a token each time such a line is encoded "
    "(the option remove_extra_spaces leaves them out)",
}


@dataclass
class Finding:
    """One kind of trouble: in how many pairs, and where the first of them stands."""

    kind: str
    count: int
    first: str

    def __str__(self) -> str:
        pairs = "1 pair has" if self.count == 1 else f"{self.count:,} pairs have"
        return f"{pairs} {_DESCRIPTIONS[self.kind]}; the first is {self.first}"


@dataclass
class Checks:
    """Counts what is wrong with a corpus while its pairs go by.

    >>> checks = Checks()
    >>> pairs = [SentencePair("Oui.", "Sì.", "a:1"), SentencePair("Non.", " ", "a:2")]
    >>> [pair.target for pair in checks.passing(pairs)]
    ['Sì.']
    >>> print(checks.findings["empty"])
    1 pair has an empty side (left out); the first is a:2
    """

    tell_spaces: bool = False  # whether spaces at the ends of targets are trouble
    read: int = 0
    kept: int = 0
    findings: dict[str, Finding] = field(default_factory=dict)
    _seen: set[int] = field(default_factory=set, repr=False)

    def passing(self, pairs: Iterable[SentencePair]) -> Iterator[SentencePair]:
        """The pairs to use, each text on one line and without spaces around it."""
        for pair in pairs:
            self.read += 1
            source, target = _one_line(pair.source), _one_line(pair.target)
            wrong = _trouble(source, target)
            if wrong is not None:
                self._found(wrong, pair.place)
                continue
            key = hash((source, target))
            if key in self._seen:
                self._found(_DUPLICATE, pair.place)
            self._seen.add(key)
            if self.tell_spaces and len(target) < len(pair.target.strip("\r\n")):
                self._found(_SPACES, pair.place)
            self.kept += 1
            yield SentencePair(source, target, pair.place, self.read - 1)
        if self.kept == 0:
            raise CorpusError(
                "there are no sentence pairs to learn from"
                + "".join(f"; {finding}" for finding in self.findings.values())
            )

    def _found(self, kind: str, place: str) -> None:
        finding = self.findings.setdefault(kind, Finding(kind, 0, place))
        finding.count += 1


def _one_line(text: str) -> str:
    return _LINE_ENDS.sub(" ", text).strip()


def _trouble(source: str, target: str) -> str | None:
    if not source or not target:
        return _EMPTY
    shorter, longer = sorted((len(source), len(target)))
    if longer > MAX_CHARACTERS:
        return _LONG
    if longer > SHORT and longer > MAX_RATIO * shorter:
        return _RATIO
    return None


def sample(pairs: Iterable[SentencePair], size: int, seed: int) -> list[SentencePair]:
    """`size` of the pairs, drawn evenly in one pass and in memory for `size`, in their order."""
    draw = random.Random(seed)
    chosen: list[tuple[int, SentencePair]] = []
    for position, pair in enumerate(pairs):
        if position < size:
            chosen.append((position, pair))
        elif (place := draw.randrange(position + 1)) < size:
            chosen[place] = (position, pair)
    return [pair for _, pair in sorted(chosen)]
