"""The word lists of the sample corpus and the small records they are read into.

Every list is a tab-separated file under ``data/`` with one heading line; a line that starts with
``#`` is a remark.  An entry always holds both languages, French first, so that whatever is drawn
from the lexicon can be said in either.
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
    def row(self) -> int:
        """The row of a table of the six persons."""
        return self.person - 1 + 3 * self.plural

    @property
    def column(self) -> int:
        """The column of a table of m., f., m. pl. and f. pl. forms."""
        return self.feminine + 2 * self.plural


THIRD = Agreement()


@dataclass(frozen=True)
class NounForms:
    """One language's forms of a noun; a missing number is replaced by the one that exists."""

    singular: str
    plural: str
    feminine: bool
    feminine_plural: bool

    def agreement(self, plural: bool) -> Agreement:
        """Number and gender when the noun is meant in the singular or in the plural."""
        plural = (plural or not self.singular) and bool(self.plural)
        return Agreement(3, plural, self.feminine_plural if plural else self.feminine)

    def form(self, plural: bool) -> str:
        """The written form in that number."""
        return self.plural if self.agreement(plural).plural else self.singular


@dataclass(frozen=True)
class Noun:
    """A noun in both languages and the semantic classes it belongs to."""

    classes: frozenset[str]
    forms: tuple[NounForms, NounForms]

    @property
    def countable(self) -> bool:
        """Whether both languages have both numbers."""
        return all(bool(forms.singular and forms.plural) for forms in self.forms)


@dataclass(frozen=True)
class Adjective:
    """Four forms per language, whether they precede the noun, and the nouns they suit."""

    forms: tuple[tuple[str, ...], tuple[str, ...]]
    first: tuple[bool, bool]
    classes: frozenset[str]

    @property
    def lemma(self) -> str:
        """The French masculine."""
        return self.forms[0][0]


@dataclass(frozen=True)
class VerbPhrase:
    """A verb and what follows it: words, ``{noun slots}`` and ``~adjectives``."""

    lemma: str
    reflexive: bool
    complement: tuple[str, ...]

    @property
    def slots(self) -> tuple[str, ...]:
        """The noun slots, without their braces."""
        return tuple(word[1:-1] for word in self.complement if word.startswith("{"))

    def preposition(self, slot: str) -> str:
        """The word before a slot."""
        place = self.complement.index("{" + slot + "}")
        return self.complement[place - 1] if place else ""


@dataclass(frozen=True)
class Frame:
    """Something one can do, in both languages, with the topics it belongs to."""

    tags: frozenset[str]
    phrases: tuple[VerbPhrase, VerbPhrase]

    @property
    def slots(self) -> tuple[str, ...]:
        """The noun slots, which are the same in both languages."""
        return self.phrases[0].slots

    @property
    def direct_slot(self) -> str | None:
        """The slot of the direct object, if it follows the verb in both languages."""
        heads = {phrase.complement[:1] for phrase in self.phrases}
        return next((slot for slot in self.slots if heads == {("{" + slot + "}",)}), None)

    @property
    def indirect_slot(self) -> str | None:
        """The slot of a person who can become a dative pronoun in both languages."""
        french, italian = self.phrases
        for slot in self.slots:
            if (french.preposition(slot), italian.preposition(slot)) == ("à", "a"):
                return slot
        return None


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
