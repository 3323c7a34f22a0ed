"""The systems that are compared: ways to tokenize target text, each with a name and a digest."""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairpiece import files
from pairpiece.errors import CorpusError, OptionError
from pairpiece.evaluation.parallel_text import ParallelText
from pairpiece.foreign.pretokenized import Pretokenized
from pairpiece.foreign.protocol import SubwordTokenizer
from pairpiece.model.opening import open_tokenizer
from pairpiece.model.tokenizer import Tokenizer
from pairpiece.model.word_links import word_links
from pairpiece.options import check_choice

_TOKENS_IN = f"{Pretokenized.kind}:"

Tokens = list[list[str]]

LINKS_SEED = 1_000_003
"""Of the word links that paired encoding is given: not those of a run that scores it."""


@dataclass(frozen=True)
class System:
    """A way to tokenize: `tokenize` gives the tokens of every target sentence, ▁ for spaces."""

    name: str
    digest: str
    tokenize: Callable[[ParallelText], Tokens]
    tokenize_alone: Callable[[list[str]], Tokens] | None  # of any text, without a source
    vocabulary: list[str] | None = None  # None if nobody knows
    unknown: str | None = None
    uses_source: bool = False
    one_text: bool = False  # knows the tokens of the text it is given and of no other
    way: str = ""  # in which a PairPiece model is used
    tokenizer: SubwordTokenizer | None = None  # what tokenizes, unless it is done already

    @property
    def model(self) -> Tokenizer | None:
        """What tokenizes, if it is a PairPiece model."""
        return self.tokenizer if isinstance(self.tokenizer, Tokenizer) else None


def systems_of(given: Any, ways: Sequence[str] = ("marginal", "paired")) -> list[System]:
    """The ways to tokenize that a path or a tokenizer stands for.

    A PairPiece model stands for as many as there are `ways`, unless the path says which:
    ``model/@marginal``, ``@paired``, ``@aligned`` (word links by Eflomal), ``@wrong`` (the source
    of another sentence, a control) or ``@bigram``.  ``name=path`` gives a name.
    ``pretokenized:file`` has the tokens of the target text, separated by spaces.
    """
    if isinstance(given, Tokenizer):
        return _of_model(given, "", "pairpiece", "", ways)
    if isinstance(given, System):
        return [given]
    if isinstance(given, SubwordTokenizer):
        return [_foreign(given.kind, given)]
    if not isinstance(given, str | os.PathLike):
        raise OptionError(f"a tokenizer is a path or a PairPiece tokenizer, not {given!r}")
    given = os.fspath(given)
    name, path = name_and_path(given)
    if not (name or given).isprintable():
        raise OptionError(f"{name or given!r}: a name must be text on one line")
    if path.startswith(_TOKENS_IN):
        return [_pretokenized(name, Path(path.removeprefix(_TOKENS_IN)))]
    way = ""
    if "@" in Path(path).name and not Path(path).exists():
        path, _, way = path.rpartition("@")
    loaded = open_tokenizer(path, Tokenizer)
    own_name = path.rstrip("/").removesuffix("/tokenizer.json").rpartition("/")[2]
    if isinstance(loaded, Tokenizer):
        return _of_model(loaded, name, own_name, way, ways)
    if way:
        raise OptionError(f"{given}: only a PairPiece model has different ways to tokenize")
    return [_foreign(name or own_name, loaded)]


def name_and_path(given: str) -> tuple[str, str]:
    """The two parts of ``name=path``; the name is empty if there is none."""
    name, equals, path = given.partition("=")
    return ("", given) if not equals or "/" in name else (name, path)


def named_systems(
    tokenizers: Sequence[Any], ways: Sequence[str] = ("marginal", "paired")
) -> list[System]:
    """All that the tokenizers stand for, with different names: a number after those that recur."""
    systems = [system for given in tokenizers for system in systems_of(given, ways)]
    if not systems:
        raise OptionError("there is nothing to evaluate: give at least one tokenizer")
    return _named(systems)


def _named(systems: list[System]) -> list[System]:
    names: set[str] = set()
    named = []
    for system in systems:
        name = system.name
        for number in itertools.count(2):
            if name not in names:
                break
            name = f"{system.name} ({number})"
        names.add(name)
        named.append(dataclasses.replace(system, name=name))
    return named


def baseline_of(systems: list[System], name: str | None) -> System:
    """The one that others are compared with."""
    if name is None:
        return systems[0]
    check_choice("baseline", name, [system.name for system in systems])
    return next(system for system in systems if system.name == name)


# ---------------------------------------------------------------------- PairPiece

_WAYS = {
    "marginal": "target only",
    "paired": "with source",
    "aligned": "with source and links",
    "wrong": "wrong source",
    "bigram": "bigram",
}


def _of_model(
    model: Tokenizer, name: str, own_name: str, way: str, ways: Sequence[str]
) -> list[System]:
    """One way to use a model, or several; `name` is the one given, if any."""
    if way and way not in _WAYS:
        raise OptionError(f"{own_name}@{way}: the ways to tokenize are {', '.join(_WAYS)}")
    if not way and not model.is_paired:
        return [_pairpiece(model, name or own_name, "marginal")]
    if not way and len(ways) == 1:
        return [_pairpiece(model, name or own_name, ways[0])]
    if way and name:
        return [_pairpiece(model, name, way)]
    ways = [way] if way else ways
    return [_pairpiece(model, f"{name or own_name}, {_WAYS[way]}", way) for way in ways]


def _pairpiece(model: Tokenizer, name: str, way: str) -> System:
    """One way to use a model."""

    def alone(texts: list[str]) -> Tokens:
        return model.encode_batch(
            texts, out_type=str, model="bigram" if way == "bigram" else "unigram"
        )

    def with_source(text: ParallelText) -> Tokens:
        if text.sources is None:
            raise OptionError(f"{name} needs the source text: give source=", ["source"])
        links = None
        if way == "aligned":
            pairs = list(zip(text.sources, text.targets, strict=True))
            links = word_links(model, pairs, seed=LINKS_SEED)
        sources = text.wrong_sources if way == "wrong" else text.sources
        return model.encode_batch(text.targets, sources, alignments=links, out_type=str)

    if way in ("marginal", "bigram"):
        return _system(name, model, lambda text: alone(text.targets), alone, way)
    return _system(name, model, with_source, None, way)


def with_controls(systems: list[System]) -> list[System]:
    """The systems, and after each that uses the source the same with a wrong one.

    What a wrong source brings as well is no knowledge of the source.
    """
    found = []
    for system in systems:
        found.append(system)
        if system.model is not None and system.way == "paired":
            name = system.name.removesuffix(f", {_WAYS['paired']}")
            found.append(_pairpiece(system.model, f"{name}, {_WAYS['wrong']}", "wrong"))
    return _named(found)


# ---------------------------------------------------------------------- others


def _foreign(name: str, tokenizer: SubwordTokenizer) -> System:
    def alone(texts: list[str]) -> Tokens:
        return [list(map(tokenizer.readable, row)) for row in tokenizer.tokenize_batch(texts)]

    return _system(name, tokenizer, lambda text: alone(text.targets), alone)


def _system(
    name: str,
    tokenizer: SubwordTokenizer,
    tokenize: Callable[[ParallelText], Tokens],
    alone: Callable[[list[str]], Tokens] | None,
    way: str = "",
) -> System:
    seed = f":{LINKS_SEED}" if way == "aligned" else ""
    return System(
        name,
        short_digest(tokenizer) + (f"@{way}{seed}" if way else ""),
        tokenize,
        alone,
        list(map(tokenizer.readable, tokenizer.token_list())),
        tokenizer.unknown,
        uses_source=alone is None,
        way=way,
        tokenizer=tokenizer,
    )


def short_digest(tokenizer: SubwordTokenizer) -> str:
    """Twelve hexadecimal digits that stand for a tokenizer."""
    return (tokenizer.digest or "").rpartition(":")[2][:12]


def _pretokenized(name: str, path: Path) -> System:
    if not path.is_file():
        raise CorpusError(f"{path}: there is no such file")

    def tokenize(text: ParallelText) -> Tokens:
        tokens = [line.split() for line in files.lines(path)]
        if len(tokens) != len(text):
            raise CorpusError(
                f"{path} has {len(tokens):,} lines but the target text has {len(text):,}"
            )
        return tokens

    return System(name or path.name, files.digest(path)[:12], tokenize, None, one_text=True)


def source_side(given: Any, systems: list[System]) -> SubwordTokenizer:
    """The tokenizer of the source text: the given one, or that of a PairPiece model."""
    if given is not None:
        return open_tokenizer(given)
    for system in systems:
        if system.model is not None and system.model.state.source_tokenizer is not None:
            return system.model.state.source_tokenizer
    raise OptionError(
        "the source text needs a tokenizer: give source_tokenizer=, or a PairPiece model "
        "among the tokenizers",
        ["source_tokenizer"],
    )
