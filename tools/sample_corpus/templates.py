"""Sentence templates: patterns with slots, filled once and said in both languages.

A line of ``data/templates.tsv`` declares slots and gives one pattern per language:

    s=any a=home w=past    {w}, {s} {a.past}.    {w} {s} {a.past}.

The letter of a slot tells what it holds: ``s`` and ``t`` a subject; ``a`` and ``b`` an action of
``s``, ``c`` and ``d`` one of ``t``; ``n``, ``m`` and ``o`` a noun phrase; ``q`` an adjective, one
of those listed or one that fits the slot it names; any other letter a fixed expression, a date or
a number.  ``$=p,q`` makes several templates out of one: p or q stands for every ``$``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from french import French
from italian import Italian
from language import Language
from lexicon import THIRD, Adjective, Agreement, rows
from phrases import Action, Name, Nominal, NounPhrase, Pronoun
from sampling import Sampler, adjectives
from wording import Wording

Value = Nominal | Action | Adjective | tuple[str, str]
LANGUAGES: tuple[Language, Language] = (French(), Italian())
SUBJECT_OF = {"a": "s", "b": "s", "c": "t", "d": "t"}


class UnfitError(Exception):
    """The values drawn cannot make a sentence; draw again."""


@dataclass(frozen=True)
class Template:
    """One line of the template file."""

    slots: tuple[tuple[str, str], ...]
    patterns: tuple[str, str]

    def draw(self, sampler: Sampler) -> tuple[str, str]:
        """A sentence in both languages; ``UnfitError`` if it would not make sense."""
        filling = Filling(self, sampler)
        filling.check()
        french, italian = LANGUAGES
        return (
            Wording(french, filling).sentence(self.patterns[0]),
            Wording(italian, filling).sentence(self.patterns[1]),
        )


@cache
def templates() -> list[Template]:
    """Every template, in the order of the file."""
    table = []
    for header, french, italian in rows("templates"):
        slots = (slot.partition("=") for slot in header.split())
        pairs = tuple((letter, request) for letter, _, request in slots)
        table.append(Template(pairs, (french, italian)))
    return table


class Filling:
    """The values drawn for the slots of one sentence."""

    def __init__(self, template: Template, sampler: Sampler) -> None:
        self.values: dict[str, Value] = {}
        variant = ""
        for slot, request in template.slots:
            if slot == "$":
                variant = sampler.one(request.split(","))
            else:
                self.values[slot] = self.draw(slot, request.replace("$", variant), sampler)

    def draw(self, slot: str, request: str, sampler: Sampler) -> Value:
        """A value for one slot."""
        if slot in "st":
            return sampler.subject(request)
        if slot in "abcd":
            return sampler.action(request)
        if slot in "nmo":
            return sampler.noun_phrase(request)
        if slot == "q":
            return sampler.one(self.candidates(request, sampler))
        return sampler.expression(request)

    def candidates(self, request: str, sampler: Sampler) -> list[Adjective]:
        """The adjectives listed, or those that can be said of what a slot holds."""
        if request not in self.values:
            wanted = request.split("/")
            return [adjective for adjective in adjectives() if adjective.lemma in wanted]
        phrase = self.nominal(request)
        fitting = sampler.fitting(phrase.noun) if isinstance(phrase, NounPhrase) else []
        fitting = [adjective for adjective in fitting if adjective.lemma != "nouveau"]
        if not fitting:
            raise UnfitError
        return fitting

    def nominal(self, slot: str) -> Nominal:
        """The nominal in a slot; for an action, its direct object."""
        value = self.values[slot]
        if isinstance(value, Action):
            assert value.direct is not None
            return value.direct
        assert isinstance(value, Pronoun | Name | NounPhrase)
        return value

    def actions(self) -> dict[str, Action]:
        """The slots that hold an action."""
        return {slot: value for slot, value in self.values.items() if isinstance(value, Action)}

    def subject(self, language: Language, slot: str) -> Agreement:
        """The agreement of whoever does the action in a slot."""
        subject = SUBJECT_OF[slot]
        return language.agreement(self.nominal(subject)) if subject in self.values else THIRD

    def check(self) -> None:
        """Refuse a sentence that does not make sense."""
        if self.repeats() or self.lacks_owner() or self.ages():
            raise UnfitError
        for slot, action in self.actions().items():
            if not self.suits(slot, action) or not self.dressed(slot, action):
                raise UnfitError

    def repeats(self) -> bool:
        """Whether a thing, an expression, a verb or a grammatical person is there twice."""
        drawn: list[object] = []
        for value in self.values.values():
            if isinstance(value, Action):
                drawn.append(value.frame.phrases[0].lemma)
                drawn += [filler.noun for filler in value.fillers.values()]
            elif isinstance(value, NounPhrase):
                drawn.append(value.noun)
            else:
                drawn.append(value.agreement.person if isinstance(value, Pronoun) else value)
        return any(value in drawn[:place] for place, value in enumerate(drawn))

    def lacks_owner(self) -> bool:
        """Whether something belongs to the subject of an impersonal sentence."""
        if self.values.keys() & {"s", "t"}:
            return False
        fillers = [f for action in self.actions().values() for f in action.fillers.values()]
        return any(filler.determiner == "own" for filler in fillers)

    def ages(self) -> bool:
        """Whether a grandparent has an elder relative of their own."""
        subject = self.values.get("s")
        if not isinstance(subject, NounPhrase) or "elder" not in subject.noun.classes:
            return False
        phrases = [value for value in self.values.values() if isinstance(value, NounPhrase)]
        phrases += [f for action in self.actions().values() for f in action.fillers.values()]
        return any(p.determiner == "own" and "senior" in p.noun.classes for p in phrases)

    def suits(self, slot: str, action: Action) -> bool:
        """Whether the subject of an action may do it: few grandfathers have homework."""
        subject = self.values.get(SUBJECT_OF[slot])
        if not isinstance(subject, NounPhrase):
            return True
        if "school" in action.frame.tags:
            return bool(subject.noun.classes & {"learner", "pupil", "student"})
        return not ("sport" in action.frame.tags and "elder" in subject.noun.classes)

    def dressed(self, slot: str, action: Action) -> bool:
        """Whether people wear what is usual."""
        unusual = "mens" if self.subject(LANGUAGES[0], slot).feminine else "womens"
        return not any(
            unusual in filler.noun.classes
            and (filler.determiner == "own" or action.frame.tags & {"wear", "warm"})
            for filler in action.fillers.values()
        )
