"""The part of the syntax that French and Italian share."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import replace

from lexicon import Adjective, Agreement, NounForms, VerbPhrase
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

    column: int  # 0 for the first language of a pair of strings, 1 for the second

    @abstractmethod
    def forms(self, phrase: NounPhrase) -> NounForms: ...

    @abstractmethod
    def adjective_forms(self, adjective: Adjective) -> tuple[str, ...]: ...

    @abstractmethod
    def adjective_first(self, adjective: Adjective) -> bool: ...

    @abstractmethod
    def verb_phrase(self, action: Action) -> VerbPhrase: ...

    @abstractmethod
    def determiner(self, phrase: NounPhrase, owner: Agreement, negated: bool) -> list[str]: ...

    @abstractmethod
    def before_noun(self, form: str, plural: bool) -> str:
        """The shape of an adjective that stands before its noun."""

    @abstractmethod
    def subject_pronoun(self, agreement: Agreement) -> list[str]: ...

    @abstractmethod
    def object_pronoun(self, agreement: Agreement) -> str: ...

    @abstractmethod
    def dative_pronoun(self, agreement: Agreement) -> str: ...

    @abstractmethod
    def reflexive_pronoun(self, agreement: Agreement) -> str: ...

    @abstractmethod
    def verb_group(
        self, lemma: str, subject: Agreement, mode: Mode, complement: Complement, reflexive: bool
    ) -> list[str]:
        """A verb with its clitics, its negation and its auxiliary, but nothing after them."""

    @abstractmethod
    def passive(self, action: Action, agent: Agreement, tense: str) -> list[str]: ...

    @abstractmethod
    def join(self, words: list[str]) -> str: ...

    def agreement(self, nominal: Nominal) -> Agreement:
        if isinstance(nominal, Pronoun):
            return nominal.agreement
        if isinstance(nominal, Name):
            return Agreement(3, False, nominal.feminine)
        return self.forms(nominal).agreement(nominal.plural)

    def nominal(
        self, nominal: Nominal, owner: Agreement = Agreement(), negated: bool = False
    ) -> list[str]:
        if isinstance(nominal, Pronoun):
            return self.subject_pronoun(nominal.agreement)
        if isinstance(nominal, Name):
            return [nominal.text]
        return self.determiner(nominal, owner, negated) + self.bare(nominal)

    def bare(self, phrase: NounPhrase) -> list[str]:
        """The noun and its adjective, without the determiner."""
        forms = self.forms(phrase)
        words = forms.form(phrase.plural).split()
        if phrase.adjective is None:
            return words
        agreement = forms.agreement(phrase.plural)
        form = self.agree(phrase.adjective, agreement)
        if self.adjective_first(phrase.adjective):
            return [self.before_noun(form, agreement.plural), *words]
        return [*words, form]

    def agree(self, adjective: Adjective, agreement: Agreement) -> str:
        return self.adjective_forms(adjective)[agreement.feminine + 2 * agreement.plural]

    @abstractmethod
    def inflect_adjective(self, lemma: str, agreement: Agreement) -> str: ...

    def complement(self, action: Action, subject: Agreement, mode: Mode) -> Complement:
        """Say what follows the verb, turning objects into clitics as the mode asks."""
        result = Complement()
        phrase = self.verb_phrase(action)
        if phrase.reflexive:
            result.clitics.append(self.reflexive_pronoun(subject))
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
        negated = mode.polarity in NEGATIVE
        for word in phrase.complement:
            if word.startswith("{"):
                filler = action.fillers[word[1:-1]]
                if filler is not skipped:
                    direct = negated and filler is action.direct
                    if direct and filler.determiner == "a" and mode.tense not in PERFECT:
                        filler = replace(filler, plural=True)
                    result.words += self.nominal(filler, subject, direct)
                elif mode.object == "dative":
                    result.words.pop()  # the preposition
            elif word.startswith("~"):
                result.words.append(self.inflect_adjective(word[1:], subject))
            else:
                result.words.append(word)
        return result

    def clause(self, action: Action, subject: Agreement, mode: Mode) -> list[str]:
        """A predicate: the verb group of an action and everything that follows it."""
        phrase = self.verb_phrase(action)
        complement = self.complement(action, subject, mode)
        group = self.verb_group(phrase.lemma, subject, mode, complement, phrase.reflexive)
        return group + complement.words


def spaced(words: list[str]) -> str:
    """Join words, attaching punctuation and elided words, and start with a capital."""
    text = ""
    for word in words:
        attached = not text or word in PUNCTUATION or text.endswith("’")
        text += word if attached else " " + word
    text = text.replace("’", "'")
    return re.sub(r"(?:^|[.?!] )\w", lambda start: start[0].upper(), text)
