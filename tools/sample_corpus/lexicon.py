"""The word lists of the sample corpus and the small records they are read into.

Every list is a tab-separated file under ``data/`` with one heading line; a line that starts with
``#`` is a remark.  An entry always holds both languages, so that whatever is drawn from the
lexicon can be said in French and in Italian.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).parent / "data"


class Agreement(NamedTuple):
    """Grammatical person (1 to 3), number and gender."""

    person: int = 3
    plural: bool = False
    feminine: bool = False

    @property
    def index(self) -> int:
        """The row of a six-person conjugation table."""
        return self.person - 1 + 3 * self.plural


@dataclass(frozen=True)
class NounForms:
    """One language's forms of a noun; a missing number is replaced by the one that exists."""

    singular: str
    plural: str
    feminine: bool
    feminine_plural: bool

    def agreement(self, plural: bool) -> Agreement:
        plural = (plural or not self.singular) and bool(self.plural)
        return Agreement(3, plural, self.feminine_plural if plural else self.feminine)

    def form(self, plural: bool) -> str:
        return self.plural if self.agreement(plural).plural else self.singular


@dataclass(frozen=True)
class Noun:
    """A noun in both languages and the semantic classes it belongs to."""

    classes: frozenset[str]
    french: NounForms
    italian: NounForms

    @property
    def countable(self) -> bool:
        return all(bool(forms.singular and forms.plural) for forms in (self.french, self.italian))


@dataclass(frozen=True)
class Adjective:
    """Four forms per language (m., f., m. pl., f. pl.) and the side of the noun they stand on."""

    french: tuple[str, ...]
    italian: tuple[str, ...]
    french_first: bool
    italian_first: bool
    classes: frozenset[str]


@dataclass(frozen=True)
class VerbPhrase:
    """A verb and what follows it: words, ``{noun slots}`` and ``~adjectives``."""

    lemma: str
    reflexive: bool
    complement: tuple[str, ...]

    @property
    def slots(self) -> tuple[str, ...]:
        return tuple(word[1:-1] for word in self.complement if word.startswith("{"))


@dataclass(frozen=True)
class Frame:
    """Something one can do, in both languages, with the topics it belongs to."""

    tags: frozenset[str]
    french: VerbPhrase
    italian: VerbPhrase

    @property
    def direct_slot(self) -> str | None:
        """The slot of the direct object, if both languages have one."""
        heads = {phrase.complement[:1] for phrase in (self.french, self.italian)}
        slots = self.french.slots
        return slots[0] if slots and heads == {("{" + slots[0] + "}",)} else None

    @property
    def indirect_slot(self) -> str | None:
        """The slot of a person who can become a dative pronoun in both languages."""
        for slot in self.french.slots:
            noun = "{" + slot + "}"
            if preceded(self.french.complement, noun, "à") and preceded(
                self.italian.complement, noun, "a"
            ):
                return slot
        return None


def preceded(words: tuple[str, ...], word: str, preposition: str) -> bool:
    place = words.index(word)
    return place > 0 and words[place - 1] == preposition


def rows(name: str) -> Iterator[list[str]]:
    """The cells of every line of a data file but its heading and its remarks."""
    lines = (DATA / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    for line in lines[1:]:
        if line and not line.startswith("#"):
            yield line.split("\t")


@cache
def expressions() -> dict[str, list[tuple[str, str]]]:
    """Fixed expressions by class: times, places, measures, weather."""
    table: dict[str, list[tuple[str, str]]] = {}
    for group, french, italian in rows("expressions"):
        table.setdefault(group, []).append((french, italian))
    return table


@cache
def names() -> list[tuple[str, bool]]:
    """First names, each with whether it is a woman's."""
    return [(name, gender == "f") for name, gender in rows("names")]


@cache
def sentences() -> list[tuple[str, str]]:
    """The sentences written by hand."""
    return [(french, italian) for french, italian in rows("sentences")]
