"""Sentence templates: patterns with slots, filled once and said in both languages.

A line of ``data/templates.tsv`` declares slots and gives one pattern per language:

    s=any a=home w=past    {w}, {s} {a.past}.    {w}, {s} {a.past}.

The first letter of a slot tells what it holds: ``s`` and ``t`` a subject; ``a`` and ``b`` an
action of ``s``, ``c`` and ``d`` one of ``t``; ``n``, ``m`` and ``o`` a noun phrase; ``q`` an
adjective that fits the slot it names; ``v``, ``w`` and ``x`` a fixed expression.  ``$=p,q`` makes
one template out of several: one of the values stands for every ``$``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from french import French
from italian import Italian
from language import POLARITIES, Language
from lexicon import Adjective, Agreement, rows
from phrases import Action, Complement, Mode, Name, Nominal, NounPhrase, Pronoun
from sampling import Sampler, adjectives

LANGUAGES: tuple[Language, Language] = (French(), Italian())
Value = Nominal | Action | Adjective | tuple[str, str]
SUBJECT_OF = {"a": "s", "b": "s", "c": "t", "d": "t"}
PIECE = re.compile(r"\{[^}]*\}|[,.;:?!]|[^\s,.;:?!{}]+")


@dataclass(frozen=True)
class Template:
    """One line of the template file."""

    slots: tuple[tuple[str, str], ...]
    patterns: tuple[str, str]


@cache
def templates() -> list[Template]:
    table = []
    for header, french, italian in rows("templates"):
        slots = tuple(tuple(slot.split("=", 1)) for slot in header.split())
        table.append(Template(slots, (french, italian)))  # type: ignore[arg-type]
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
        self.check()

    def check(self) -> None:
        """Refuse a sentence that says a thing twice, or an owner where there is none."""
        actions = [value for value in self.values.values() if isinstance(value, Action)]
        nominals = [value for value in self.values.values() if not isinstance(value, Action)]
        fillers = [filler for action in actions for filler in action.fillers.values()]
        drawn = [value.noun if isinstance(value, NounPhrase) else value for value in nominals]
        drawn += [filler.noun for filler in fillers]
        drawn += [action.frame.french.lemma for action in actions]
        if any(value in drawn[:place] for place, value in enumerate(drawn)):
            raise UnfitError
        if not self.values.keys() & {"s", "t"} and any(f.determiner == "own" for f in fillers):
            raise UnfitError
        if not all(
            self.suits(slot) and self.dressed(slot) for slot in "abcd" if slot in self.values
        ):
            raise UnfitError
        subjects = [value.agreement for value in nominals if isinstance(value, Pronoun)]
        if len({agreement.person for agreement in subjects}) < len(subjects):
            raise UnfitError

    def suits(self, slot: str) -> bool:
        """Whether the subject of an action may do it: few grandfathers have homework."""
        action, subject = self.values[slot], self.values.get(SUBJECT_OF[slot])
        if not isinstance(action, Action) or not isinstance(subject, NounPhrase):
            return True
        if "school" in action.frame.tags:
            return bool(subject.noun.classes & {"learner", "pupil", "student"})
        return not ("sport" in action.frame.tags and "elder" in subject.noun.classes)

    def dressed(self, slot: str) -> bool:
        """Whether nobody wears what is usually worn by others."""
        action = self.values[slot]
        if not isinstance(action, Action):
            return True
        feminine = self.subject_agreement(LANGUAGES[0], slot).feminine
        unusual = "mens" if feminine else "womens"
        return not any(
            unusual in filler.noun.classes
            and (filler.determiner == "own" or action.frame.tags & {"wear", "warm"})
            for filler in action.fillers.values()
        )

    def draw(self, slot: str, request: str, sampler: Sampler) -> Value:
        if slot in "st":
            return sampler.subject(request)
        if slot in "abcd":
            return sampler.action(request)
        if slot in "nmo":
            return sampler.noun_phrase(request)
        if slot != "q":
            return sampler.expression(request)
        if request in self.values:
            phrase = self.nominal(request)
            fitting = sampler.fitting(phrase.noun) if isinstance(phrase, NounPhrase) else []
            fitting = [item for item in fitting if item.french[0] != "nouveau"]  # "neuf" here
            if not fitting:
                raise UnfitError
            return sampler.one(fitting)
        wanted = request.split("/")
        return sampler.one([item for item in adjectives() if item.french[0] in wanted])

    def nominal(self, slot: str) -> Nominal:
        """The nominal in a slot; for an action, its direct object."""
        value = self.values[slot]
        if isinstance(value, Action):
            assert value.direct is not None
            return value.direct
        assert isinstance(value, Pronoun | Name | NounPhrase)
        return value

    def sentences(self, template: Template) -> tuple[str, str]:
        french, italian = (
            language.join(self.words(language, pattern))
            for language, pattern in zip(LANGUAGES, template.patterns, strict=True)
        )
        return french, italian

    def words(self, language: Language, pattern: str) -> list[str]:
        words = []
        for piece in PIECE.findall(pattern):
            if piece.startswith("{"):
                words += self.say(language, piece[1:-1])
            else:
                words.append(piece)
        return words

    def say(self, language: Language, placeholder: str) -> list[str]:
        slot, *parts = placeholder.split(".")
        value = self.values[slot]
        if isinstance(value, tuple):
            return self.words(language, value[language.column])
        if isinstance(value, Adjective):
            return [language.agree(value, language.agreement(self.nominal(parts[0])))]
        if isinstance(value, Action):
            subject = self.subject_agreement(language, slot)
            return self.say_action(language, value, subject, parts)
        owner = self.subject_agreement(language, "a")
        return self.say_nominal(language, value, parts, owner)

    def subject_agreement(self, language: Language, slot: str) -> Agreement:
        subject = SUBJECT_OF[slot]
        return language.agreement(self.nominal(subject)) if subject in self.values else Agreement()

    def say_action(
        self, language: Language, action: Action, subject: Agreement, parts: list[str]
    ) -> list[str]:
        if parts[0] == "object":
            assert action.direct is not None
            return self.say_nominal(language, action.direct, parts[1:], subject)
        if parts[0] == "receiver":
            assert action.indirect is not None
            return language.nominal(action.indirect, subject)
        if parts[0] == "passive":
            return language.passive(action, subject, parts[1])
        return language.clause(action, subject, mode_of(parts))

    def say_nominal(
        self, language: Language, nominal: Nominal, parts: list[str], owner: Agreement
    ) -> list[str]:
        agreement = language.agreement(nominal)
        if not parts:
            return language.nominal(nominal, owner)
        if parts[0] == "bare":
            assert isinstance(nominal, NounPhrase)
            return language.bare(nominal)
        if parts[0] == "pronoun":
            return language.subject_pronoun(agreement)
        if parts[0] == "article":
            return [language.object_pronoun(agreement)]
        if parts[0] == "there":
            assert isinstance(language, Italian)
            return language.there_is(nominal, parts[1])
        if parts[0] in ("overt", "contrast", "dative"):
            assert isinstance(language, Italian)
            return {
                "overt": language.overt,
                "contrast": language.contrast,
                "dative": language.dative,
            }[parts[0]](nominal)
        if parts[0].startswith("~"):
            return [language.inflect_adjective(parts[0][1:], agreement)]
        lemma, *mode = parts
        return language.verb_group(lemma, agreement, mode_of(mode), Complement(), False)


class UnfitError(Exception):
    """The values drawn cannot make a sentence; draw again."""


def mode_of(parts: list[str]) -> Mode:
    """Read ``tense[.polarity][.object]``."""
    tense, *options = parts
    polarity = next((option for option in options if option in POLARITIES), "")
    target = next((option for option in options if option in ("clitic", "gap", "dative")), "")
    return Mode(tense, polarity, target)
