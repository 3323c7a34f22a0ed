"""Drawing nominals, actions and expressions at random, within what makes sense."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from random import Random
from typing import TypeVar

import french_forms
import italian_forms
from lexicon import Adjective, Agreement, Frame, Noun, VerbPhrase, expressions, names, rows
from phrases import Action, Name, Nominal, NounPhrase, Pronoun

T = TypeVar("T")
MONTHS = (
    ("janvier", "gennaio"),
    ("février", "febbraio"),
    ("mars", "marzo"),
    ("avril", "aprile"),
    ("mai", "maggio"),
    ("juin", "giugno"),
    ("juillet", "luglio"),
    ("août", "agosto"),
    ("septembre", "settembre"),
    ("octobre", "ottobre"),
    ("novembre", "novembre"),
    ("décembre", "dicembre"),
)
NUMBERS = (
    ("deux", "due"),
    ("trois", "tre"),
    ("quatre", "quattro"),
    ("cinq", "cinque"),
    ("six", "sei"),
    ("sept", "sette"),
    ("huit", "otto"),
    ("dix", "dieci"),
    ("douze", "dodici"),
    ("quinze", "quindici"),
    ("vingt", "venti"),
)
DAYS = (*range(2, 8), 9, 10, *range(12, 29))  # not those that elide or have an ordinal
ADDRESSED = {
    "je": Agreement(1),
    "tu": Agreement(2),
    "nous": Agreement(1, True),
    "vous": Agreement(2, True),
}
OWNERS = (Agreement(1), Agreement(2), Agreement(3), Agreement(1, True), Agreement(2, True))
DAILY = frozenset(
    {"home", "kitchen", "shop", "work", "school", "leisure", "social", "garden", "travel"}
)
ADJECTIVE_SHARE = 0.3
PLURAL_SHARE = 0.35


@cache
def nouns() -> dict[str, list[Noun]]:
    table: dict[str, list[Noun]] = {}
    for classes, french, italian in rows("nouns"):
        group = frozenset(classes.split(","))
        noun = Noun(group, (french_forms.noun(french), italian_forms.noun(italian)))
        for name in sorted(group):
            table.setdefault(name, []).append(noun)
    return table


@cache
def adjectives() -> list[Adjective]:
    table = []
    for french, italian, position, classes in rows("adjectives"):
        first, _, second = position.partition("/")
        table.append(
            Adjective(
                (french_forms.adjective(french), italian_forms.adjective(italian)),
                (first == "pre", (second or first) == "pre"),
                frozenset(classes.split(",")),
            )
        )
    return table


def verb_phrase(text: str) -> VerbPhrase:
    """Read an infinitive and its complement; ``se`` or ``-rsi`` makes it reflexive."""
    words = text.split()
    if words[0] == "se":
        return VerbPhrase(words[1], True, tuple(words[2:]))
    if words[0].endswith("rsi"):
        return VerbPhrase(words[0][:-2] + "e", True, tuple(words[1:]))
    return VerbPhrase(words[0], False, tuple(words[1:]))


@cache
def frames() -> list[Frame]:
    table = []
    for tags, french, italian in rows("actions"):
        topics = frozenset(tags.split(","))
        topics |= {"daily"} if topics & DAILY else set()
        frame = Frame(topics, (verb_phrase(french), verb_phrase(italian)))
        if sorted(frame.phrases[0].slots) != sorted(frame.phrases[1].slots):
            raise ValueError(f"the two sides have different slots: {french} / {italian}")
        table.append(frame)
    return table


class Sampler:
    """Draws the parts of a sentence from the lexicon."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def one(self, items: Sequence[T]) -> T:
        """One of several things."""
        return self.random.choice(items)

    def noun_phrase(self, request: str) -> NounPhrase:
        """Draw for ``class/class[:determiner,determiner[:flags]]``.

        The flag ``s`` asks for the singular, ``p`` for the plural, ``n`` for no adjective, ``q``
        for one, ``j`` for one before the noun if any, and ``f`` for a small number.
        """
        classes, determiners, flags = (*request.split(":"), "", "")[:3]
        noun = self.one(nouns()[self.one(classes.split("/"))])
        determiner = self.one((determiners or "the,the,the,a,a,a,this").split(","))
        plural = "s" not in flags and ("p" in flags or self.random.random() < PLURAL_SHARE)
        if determiner in ("number", "several", "all") and not noun.countable:
            determiner = "the"
        if determiner in ("number", "several", "all", "many"):
            plural = True
        if determiner == "every":
            plural = False
        if not noun.countable and determiner == "a":
            determiner = "some"
        if noun.countable and determiner == "some":
            determiner = "a"
        return NounPhrase(
            noun,
            determiner,
            plural,
            self.attribute(noun, flags),
            self.one(OWNERS),
            self.one(NUMBERS[: 6 if "f" in flags else None]),
        )

    def attribute(self, noun: Noun, flags: str) -> Adjective | None:
        """Perhaps an adjective to go with the noun."""
        if "n" in flags or ("q" not in flags and self.random.random() > ADJECTIVE_SHARE):
            return None
        fitting = [item for item in self.fitting(noun) if item.first[0] or "j" not in flags]
        return self.one(fitting) if fitting else None

    def fitting(self, noun: Noun) -> list[Adjective]:
        """The adjectives that can be said of the noun."""
        return [adjective for adjective in adjectives() if adjective.classes & noun.classes]

    def subject(self, kind: str) -> Nominal:
        """Draw someone for ``any``, ``third``, ``named``, a pronoun or a class of nouns."""
        if kind in ADDRESSED:
            return Pronoun(ADDRESSED[kind])
        me, you, them = (partial(self.pronoun, person) for person in (1, 2, 3))
        drawers: dict[str, tuple[Callable[[], Nominal], ...]] = {
            "any": (self.pronoun, self.pronoun, self.name, self.person, self.kin),
            "third": (them, self.name, self.person, self.kin),
            "named": (self.name, self.person, self.kin),
            "close": (self.name, self.kin),
            "partner": (self.name, self.kin, you),
            "pronoun": (self.pronoun,),
            "speaker": (me,),
            "other": (you, them),
            "name": (self.name,),
            "kin": (self.kin,),
        }
        return self.one(drawers[kind])() if kind in drawers else self.noun_phrase(kind)

    def pronoun(self, person: int = 0) -> Nominal:
        """A pronoun of some number and gender."""
        plural, feminine = self.random.random() < 0.4, self.random.random() < 0.5
        return Pronoun(Agreement(person or self.one((1, 2, 3)), plural, feminine))

    def name(self) -> Nominal:
        """A first name."""
        return Name(*self.one(names()))

    def kin(self) -> Nominal:
        """Someone's relative."""
        return self.noun_phrase("kin:my:n")

    def person(self) -> Nominal:
        """Someone known by what they do."""
        return self.noun_phrase(self.one(("person:the:n", "person:the:n", "close:my:n")))

    def action(self, request: str) -> Action:
        """Draw for ``tag/tag[!tag][:direct]``: some tag, none of those after ``!``.

        What follows the colon says which object the action must have.
        """
        tags, _, need = request.partition(":")
        listed, *excluded = tags.split("!")
        wanted, unwanted = set(listed.split("/")), set(excluded)
        fitting = [
            frame
            for frame in frames()
            if frame.tags & wanted
            and not frame.tags & unwanted
            and (need != "direct" or (frame.direct_slot and ":mass" not in frame.direct_slot))
            and (need != "dative" or frame.indirect_slot)
        ]
        frame = self.one(fitting)
        fillers = {slot: self.noun_phrase(slot) for slot in sorted(set(frame.slots))}
        if need == "direct" and frame.direct_slot:
            fillers[frame.direct_slot] = definite(fillers[frame.direct_slot])
        return Action(frame, fillers)

    def expression(self, group: str) -> tuple[str, str]:
        """Draw a fixed expression, a date, a year, an hour or a price."""
        if group in ("year", "birth-year"):
            year = str(self.random.randrange(1850, 2020 if group == "year" else 1995))
            return year, year
        if group == "price":
            price = self.random.randrange(3, 90)
            return f"{price} euros", f"{price} euro"
        if group == "kilo-price":
            french, italian = self.one(NUMBERS[:7])
            return f"{french} euros", f"{italian} euro"
        if group == "date":
            day, (french, italian) = self.one(DAYS), self.one(MONTHS)
            return f"le {day} {french}", f"il {day} {italian}"
        if group == "number":
            return self.one(NUMBERS)
        return self.one(expressions()[group])


def definite(phrase: NounPhrase) -> NounPhrase:
    """Something both speakers know: an object fit to be taken up by a pronoun."""
    kept = phrase.determiner in ("the", "this") or phrase.noun.classes & {"kin", "close"}
    return replace(phrase, determiner=phrase.determiner if kept else "the", adjective=None)
