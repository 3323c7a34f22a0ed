"""What a sentence is made of before it is said: nominals, actions and the mode of a clause."""

from __future__ import annotations

from dataclasses import dataclass, field

from lexicon import THIRD, Adjective, Agreement, Frame, Noun


@dataclass(frozen=True)
class Pronoun:
    """A personal pronoun, as the subject of a clause."""

    agreement: Agreement


@dataclass(frozen=True)
class Name:
    """A first name; it is the same in both languages."""

    text: str
    feminine: bool


@dataclass(frozen=True)
class NounPhrase:
    """A noun with its determiner, its number and perhaps an adjective.

    ``owner`` is the person of a possessive determiner; the determiner ``own`` takes the subject
    of the clause instead.  ``count`` is the number word, in both languages.
    """

    noun: Noun
    determiner: str
    plural: bool = False
    adjective: Adjective | None = None
    owner: Agreement = THIRD
    count: tuple[str, str] = ("", "")


Nominal = Pronoun | Name | NounPhrase


@dataclass(frozen=True)
class Action:
    """A frame whose noun slots have been filled."""

    frame: Frame
    fillers: dict[str, NounPhrase]

    @property
    def direct(self) -> NounPhrase | None:
        """The direct object."""
        slot = self.frame.direct_slot
        return self.fillers[slot] if slot else None

    @property
    def indirect(self) -> NounPhrase | None:
        """The person something is given or said to."""
        slot = self.frame.indirect_slot
        return self.fillers[slot] if slot else None


@dataclass(frozen=True)
class Mode:
    """How a clause is put: its tense, its polarity, and what becomes of its object.

    ``object`` is ``clitic`` (the direct object becomes a pronoun), ``gap`` (it is left out, being
    the antecedent of a relative clause), ``dative`` (the indirect object becomes a pronoun) or
    empty.
    """

    tense: str = "present"
    polarity: str = ""
    object: str = ""


@dataclass
class Complement:
    """What surrounds a verb once objects have been pronominalised."""

    clitics: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    preceding: Agreement | None = None  # of a direct object that precedes the participle
