"""The part of the syntax that French and Italian share."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar

from lexicon import THIRD, Adjective, Agreement, VerbPhrase
from phrases import Action, Complement, Mode, Name, Nominal, NounPhrase, Pronoun

NEGATIVE = frozenset({"not", "nomore", "never", "notyet"})
POLARITIES = NEGATIVE | {"already", "often", "always", "still"}
PERFECT = frozenset({"past", "pluperfect"})
PUNCTUATION = frozenset(",.;:?!")


class Language(ABC):
    """Says nominals and clauses as lists of words, and joins words into a sentence.

    A word that starts with ``@`` is an article, which a preposition may swallow.  A word such as
    ``beau|bel`` has a form for what follows it.  ``’`` marks an elision made on the way, so that
    no space is put after it.
    """

    index: int  # of the language in every pair of the lexicon
    be: str  # the verb of the passive
    subjects: tuple[str, ...]  # by person, the feminine ones after the masculine ones
    objects: tuple[str, ...]  # by number and gender
    datives: tuple[str, ...]  # like the subjects
    reflexives: tuple[str, ...]  # by person
    before_noun: ClassVar[dict[tuple[str, bool], str]]  # an adjective and whether it is plural

    @abstractmethod
    def determiner(self, phrase: NounPhrase, owner: Agreement, negated: bool) -> list[str]:
        """The determiner of a noun phrase, perhaps in the scope of a negation."""

    @abstractmethod
    def inflect(self, lemma: str, agreement: Agreement) -> str:
        """An adjective that need not be in the lexicon."""

    @abstractmethod
    def participle(self, lemma: str, agreement: Agreement) -> str:
        """A past participle that agrees."""

    @abstractmethod
    def verb_group(
        self,
        lemma: str,
        subject: Agreement,
        mode: Mode,
        complement: Complement | None = None,
        reflexive: bool = False,
    ) -> list[str]:
        """A verb with its clitics, its negation and its auxiliary, but nothing after them."""

    @abstractmethod
    def join(self, words: list[str]) -> str:
        """The sentence, with its elisions, contractions and capitals."""

    def subject_pronoun(self, agreement: Agreement) -> list[str]:
        """The pronoun before a verb, where the language says it."""
        pronoun = self.subjects[agreement.row + 6 * agreement.feminine]
        return [pronoun] if pronoun else []

    def object_pronoun(self, agreement: Agreement) -> str:
        """The direct object as a clitic."""
        return self.objects[agreement.column]

    def dative_pronoun(self, agreement: Agreement) -> str:
        """The indirect object as a clitic."""
        return self.datives[agreement.row + 6 * agreement.feminine]

    def verb_phrase(self, action: Action) -> VerbPhrase:
        """What an action is called in the language."""
        return action.frame.phrases[self.index]

    def agreement(self, nominal: Nominal) -> Agreement:
        """What the words that depend on a nominal agree with."""
        if isinstance(nominal, Pronoun):
            return nominal.agreement
        if isinstance(nominal, Name):
            return Agreement(3, False, nominal.feminine)
        return nominal.noun.forms[self.index].agreement(nominal.plural)

    def nominal(
        self, nominal: Nominal, owner: Agreement = THIRD, negated: bool = False
    ) -> list[str]:
        """A pronoun, a name or a noun phrase, with its determiner."""
        if isinstance(nominal, Pronoun):
            return self.subject_pronoun(nominal.agreement)
        if isinstance(nominal, Name):
            return [nominal.text]
        return self.determiner(nominal, owner, negated) + self.bare(nominal)

    def bare(self, phrase: NounPhrase) -> list[str]:
        """The noun and its adjective, without the determiner."""
        words = phrase.noun.forms[self.index].form(phrase.plural).split()
        if phrase.adjective is None:
            return words
        agreement = self.agreement(phrase)
        form = self.agree(phrase.adjective, agreement)
        if phrase.adjective.first[self.index]:
            return [self.before_noun.get((form, agreement.plural), form), *words]
        return [*words, form]

    def agree(self, adjective: Adjective, agreement: Agreement) -> str:
        """The form of an adjective."""
        return adjective.forms[self.index][agreement.column]

    def complement(self, action: Action, subject: Agreement, mode: Mode) -> Complement:
        """Say what follows the verb, turning objects into clitics as the mode asks."""
        result = Complement()
        phrase = self.verb_phrase(action)
        if phrase.reflexive:
            result.clitics.append(self.reflexives[subject.row])
        skipped = {"clitic": action.direct, "gap": action.direct, "dative": action.indirect}.get(
            mode.object
        )
        if skipped is not None:
            agreement = self.agreement(skipped)
            if mode.object == "dative":
                result.clitics.append(self.dative_pronoun(agreement))
            else:
                result.preceding = agreement
            if mode.object == "clitic":
                result.clitics.append(self.object_pronoun(agreement))
        for word in phrase.complement:
            if word.startswith("{"):
                filler = action.fillers[word[1:-1]]
                if filler is not skipped:
                    result.words += self.filler(action, filler, subject, mode)
                elif mode.object == "dative":
                    result.words.pop()  # the preposition
            elif word.startswith("~"):
                result.words.append(self.inflect(word[1:], subject))
            else:
                result.words.append(word)
        return result

    def filler(
        self, action: Action, filler: NounPhrase, subject: Agreement, mode: Mode
    ) -> list[str]:
        """A noun phrase after the verb; a negation bears on the direct object."""
        negated = mode.polarity in NEGATIVE and filler is action.direct
        if negated and filler.determiner == "a" and mode.tense not in PERFECT:
            filler = replace(filler, plural=True)
        return self.nominal(filler, subject, negated)

    def clause(self, action: Action, subject: Agreement, mode: Mode) -> list[str]:
        """A predicate: the verb group of an action and everything that follows it."""
        phrase = self.verb_phrase(action)
        complement = self.complement(action, subject, mode)
        group = self.verb_group(phrase.lemma, subject, mode, complement, phrase.reflexive)
        return group + complement.words

    def passive(self, action: Action, agent: Agreement, tense: str) -> list[str]:
        """A passive predicate, whose subject is the direct object of the action."""
        assert action.direct is not None
        subject = self.agreement(action.direct)
        group = self.verb_group(self.be, subject, Mode(tense))
        rest = self.complement(action, agent, Mode(object="gap")).words
        return [*group, self.participle(self.verb_phrase(action).lemma, subject), *rest]


def spaced(words: list[str]) -> str:
    """Join words, attaching punctuation and elided words, and start sentences with a capital."""
    text = ""
    for word in words:
        attached = not text or word in PUNCTUATION or text.endswith("’")
        text += word if attached else " " + word
    text = text.replace("’", "'")
    return re.sub(r"(?:^|[.?!] )\w", lambda start: start[0].upper(), text)
