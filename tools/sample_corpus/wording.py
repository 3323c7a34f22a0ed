"""Saying a pattern in one language: what every ``{slot.part.part}`` stands for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from italian import Italian
from language import POLARITIES, Language
from lexicon import Adjective, Agreement
from phrases import Action, Mode, Nominal, NounPhrase

if TYPE_CHECKING:
    from templates import Filling

PIECE = re.compile(r"\{[^}]*\}|[,.;:?!]|[^\s,.;:?!{}]+")


class Wording:
    """A filling, to be said in a language."""

    def __init__(self, language: Language, filling: Filling) -> None:
        self.language = language
        self.filling = filling

    def sentence(self, pattern: str) -> str:
        """The pattern, said and spelled."""
        return self.language.join(self.words(pattern))

    def words(self, pattern: str) -> list[str]:
        """The words of a pattern, before elision and contraction."""
        words: list[str] = []
        for piece in PIECE.findall(pattern):
            words += self.placeholder(piece[1:-1]) if piece.startswith("{") else [piece]
        return words

    def placeholder(self, text: str) -> list[str]:
        """What a slot holds, put as the parts after its letter ask."""
        slot, *parts = text.split(".")
        value = self.filling.values[slot]
        if isinstance(value, tuple):
            return self.words(value[self.language.index])
        if isinstance(value, Adjective):
            noun = self.filling.nominal(parts[0])
            return [self.language.agree(value, self.language.agreement(noun))]
        if isinstance(value, Action):
            return self.action(value, self.filling.subject(self.language, slot), parts)
        return self.nominal(value, parts, self.filling.subject(self.language, "a"))

    def action(self, action: Action, subject: Agreement, parts: list[str]) -> list[str]:
        """A predicate, or the object or the receiver of an action."""
        if parts[0] == "object":
            assert action.direct is not None
            return self.nominal(action.direct, parts[1:], subject)
        if parts[0] == "receiver":
            assert action.indirect is not None
            return self.language.nominal(action.indirect, subject)
        if parts[0] == "passive":
            return self.language.passive(action, subject, parts[1])
        return self.language.clause(action, subject, mode_of(parts))

    def nominal(self, nominal: Nominal, parts: list[str], owner: Agreement) -> list[str]:
        """A nominal, a word that agrees with it, or a verb whose subject it is."""
        language, agreement = self.language, self.language.agreement(nominal)
        if not parts:
            return language.nominal(nominal, owner)
        head, *rest = parts
        if head == "bare":
            assert isinstance(nominal, NounPhrase)
            return language.bare(nominal)
        if head == "pronoun":
            return language.subject_pronoun(agreement)
        if head == "article":
            return [language.object_pronoun(agreement)]  # le, la, les
        if head.startswith("~"):
            return [language.inflect(head[1:], agreement)]
        if isinstance(language, Italian):
            if head == "there":
                return language.there_is(nominal, rest[0])
            if head == "overt":
                return language.overt(nominal)
            if head == "contrast":
                return language.contrast(nominal)
            if head == "dative":
                return language.dative(nominal)
        return language.verb_group(head, agreement, mode_of(rest))


def mode_of(parts: list[str]) -> Mode:
    """Read ``tense[.polarity][.object]``."""
    tense, *options = parts
    polarity = next((option for option in options if option in POLARITIES), "")
    target = next((option for option in options if option in ("clitic", "gap", "dative")), "")
    return Mode(tense, polarity, target)
