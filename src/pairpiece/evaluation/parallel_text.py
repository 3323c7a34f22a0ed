"""The text that tokenizers are measured on."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pairpiece import files
from pairpiece.errors import CorpusError, OptionError
from pairpiece.text.words import without_surrogates

Array: TypeAlias = npt.NDArray[np.float64]

Sentences: TypeAlias = "str | os.PathLike[str] | Sequence[str]"
"""A file with a sentence on each line, or the sentences."""


@dataclass(frozen=True)
class ParallelText:
    """Target sentences, their sources if there are any, and translations into other languages."""

    targets: list[str]
    sources: list[str] | None = None
    others: list[list[str]] = field(default_factory=list)

    @classmethod
    def read(
        cls, target: Sentences, source: Sentences | None = None, others: Sequence[Sentences] = ()
    ) -> ParallelText:
        """The text of line-aligned files, or of sentences in memory."""
        sides = {"target": target, "source": source} | {
            f"other language {i}": other for i, other in enumerate(others, 1)
        }
        read = {name: _sentences(name, side) for name, side in sides.items() if side is not None}
        names = {name: _name(name, sides[name]) for name in read}
        for name, sentences in read.items():
            if not any(sentence.strip() for sentence in sentences):
                raise CorpusError(f"{names[name]}: there is no text in it")
            if len(sentences) != len(read["target"]):
                raise CorpusError(
                    f"{names[name]} has {len(sentences):,} lines but {names['target']} has "
                    f"{len(read['target']):,}: line n of one must translate line n of the other"
                )
        targets, sources = read.pop("target"), read.pop("source", None)
        return cls(targets, sources, list(read.values()))

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def given_sources(self) -> list[str]:
        """The sources, of a text that has them."""
        assert self.sources is not None
        return self.sources

    @cached_property
    def wrong_sources(self) -> list[str]:
        """For each sentence the source of another one of about the same length."""
        sources = self.given_sources
        lengths = [(len(s), len(t)) for s, t in zip(sources, self.targets, strict=True)]
        order = sorted(range(len(self)), key=lengths.__getitem__)
        wrong = list(sources)
        for place, number in enumerate(order):
            neighbour = place ^ 1 if place ^ 1 < len(order) else place - 1
            wrong[number] = sources[order[neighbour]]
        return wrong

    @cached_property
    def digest(self) -> str:
        """Twelve hexadecimal digits of a SHA-256 of all sentences."""
        sha = hashlib.sha256()
        for side in (self.targets, self.sources or [], *self.others):
            for sentence in side:
                sha.update(sentence.encode("utf-8") + b"\n")
            sha.update(b"\0")
        return sha.hexdigest()[:12]

    @cached_property
    def words(self) -> Array:
        """How many words, separated by white space, each target sentence has."""
        return np.array([len(sentence.split()) for sentence in self.targets], np.float64)

    @cached_property
    def characters(self) -> Array:
        """How many characters each target sentence has."""
        return np.array([len(sentence) for sentence in self.targets], np.float64)

    @cached_property
    def bytes(self) -> Array:
        """How many bytes each target sentence has in UTF-8."""
        return np.array([len(sentence.encode("utf-8")) for sentence in self.targets], np.float64)


def _sentences(name: str, side: Sentences) -> list[str]:
    if isinstance(side, str | os.PathLike):
        path = Path(side)
        if not path.is_file():
            raise CorpusError(f"{path}: there is no such file")
        return list(map(without_surrogates, files.lines(path)))
    sentences = list(side)
    for i, sentence in enumerate(sentences):
        if not isinstance(sentence, str):
            raise OptionError(f"{name} sentence {i} is not a string but {sentence!r}")
    return list(map(without_surrogates, sentences))


def _name(name: str, side: Sentences | None) -> str:
    return os.fspath(side) if isinstance(side, str | os.PathLike) else f"the {name} text"
