"""Italian syntax: noun phrases, clitics, auxiliaries, articles and articulated prepositions."""

from __future__ import annotations

import re

import italian_forms as forms
from language import NEGATIVE, Language, spaced
from lexicon import Adjective, Agreement, NounForms, VerbPhrase
from phrases import Action, Complement, Mode, Nominal, NounPhrase, Pronoun

OVERT = ("io", "tu", "lui", "noi", "voi", "loro", "io", "tu", "lei", "noi", "voi", "loro")
REFLEXIVES = ("mi", "ti", "si", "ci", "vi", "si")
DATIVES = ("mi", "ti", "gli", "ci", "vi", "gli")
OWNERS = (
    ("mio", "mia", "miei", "mie"),
    ("tuo", "tua", "tuoi", "tue"),
    ("suo", "sua", "suoi", "sue"),
    ("nostro", "nostra", "nostri", "nostre"),
    ("vostro", "vostra", "vostri", "vostre"),
    ("loro", "loro", "loro", "loro"),
)
# Forms before a consonant, before an impure s and the like, and before a vowel.
DETERMINERS = {
    "the": ("@il|lo|l’", "@la|la|l’", "@i|gli|gli", "@le"),
    "a": ("un|uno|un", "una|una|un’"),
    "this": ("questo|questo|quest’", "questa|questa|quest’", "questi", "queste"),
    "that": ("quel|quello|quell’", "quella|quella|quell’", "quei|quegli|quegli", "quelle"),
    "every": ("ogni",) * 4,
    "several": ("", "", "diversi", "diverse"),
    "many": ("molto", "molta", "molti", "molte"),
}
BEFORE_NOUN = {
    "bello": "bel|bello|bell’",
    "bella": "bella|bella|bell’",
    "belli": "bei|begli|begli",
    "buono": "buon|buono|buon",
}
MIDDLES = {
    "not": "",
    "nomore": "più",
    "never": "mai",
    "notyet": "ancora",
    "already": "già",
    "often": "spesso",
    "always": "sempre",
    "still": "ancora",
}
COMPOUND = {"past": "present", "recent": "present", "pluperfect": "imperfect"}
COMPOUND |= {"future_perfect": "future"}
PROGRESSIVE = {"progressive": "present", "past_progressive": "imperfect"}
WITH_ESSERE = frozenset(
    "andare venire arrivare partire uscire entrare tornare rientrare restare rimanere cadere "
    "salire scendere nascere diventare essere stare piacere passare guarire sparire".split()
)
SHORT_ORDERS = {"fai": "fa", "dai": "da", "di'": "di", "stai": "sta"}
ARTICULATED = {"di": "de", "a": "a", "da": "da", "in": "ne", "su": "su"}
AFTER_PREPOSITION = {"il": "l", "lo": "llo", "l’": "ll’", "la": "lla", "i": "i", "gli": "gli"}
AFTER_PREPOSITION |= {"le": "lle"}
AVERE = re.compile(r"(ho|hai|ha|hanno|abbiamo|avete|avev\w+|avr\w+)$")


class Italian(Language):
    """Italian, the second language of each pair."""

    column = 1

    def forms(self, phrase: NounPhrase) -> NounForms:
        return phrase.noun.italian

    def adjective_forms(self, adjective: Adjective) -> tuple[str, ...]:
        return adjective.italian

    def adjective_first(self, adjective: Adjective) -> bool:
        return adjective.italian_first

    def verb_phrase(self, action: Action) -> VerbPhrase:
        return action.frame.italian

    def inflect_adjective(self, lemma: str, agreement: Agreement) -> str:
        return forms.adjective(lemma)[agreement.feminine + 2 * agreement.plural]

    def determiner(self, phrase: NounPhrase, owner: Agreement, negated: bool) -> list[str]:
        agreement = self.agreement(phrase)
        column = agreement.feminine + 2 * agreement.plural
        article = DETERMINERS["the"][column]
        kind = phrase.determiner
        if kind in ("bare", "mass") or (kind == "some" and negated):
            return []
        if kind == "a" and agreement.plural and negated:
            return []
        if kind == "some" or (kind == "a" and agreement.plural):
            return ["di", article]
        if kind in ("own", "my"):
            index = (owner if kind == "own" else phrase.owner).index
            familiar = "kin" in phrase.noun.classes and not agreement.plural and index != 5
            possessive = OWNERS[index][column]
            return [possessive] if familiar and phrase.adjective is None else [article, possessive]
        if kind == "number":
            return [phrase.count[1]]
        if kind == "all":
            return ["tutte" if agreement.feminine else "tutti", article]
        return [DETERMINERS[kind][column]]

    def before_noun(self, form: str, plural: bool) -> str:  # noqa: ARG002
        return BEFORE_NOUN.get(form, form)

    def subject_pronoun(self, agreement: Agreement) -> list[str]:  # noqa: ARG002
        return []  # the verb says it

    def overt(self, nominal: Nominal) -> list[str]:
        """A subject that is said even if it is a pronoun, where the verb is ambiguous."""
        if isinstance(nominal, Pronoun) and nominal.agreement.index not in (3, 4):
            return [OVERT[nominal.agreement.index + 6 * nominal.agreement.feminine]]
        return self.nominal(nominal)

    def dative(self, nominal: Nominal) -> list[str]:
        """Whom something pleases: ``mi`` or ``a Maria``."""
        if isinstance(nominal, Pronoun):
            return [self.dative_pronoun(nominal.agreement)]
        return ["a", *self.nominal(nominal)]

    def object_pronoun(self, agreement: Agreement) -> str:
        return ("lo", "la", "li", "le")[agreement.feminine + 2 * agreement.plural]

    def dative_pronoun(self, agreement: Agreement) -> str:
        feminine = agreement.feminine and agreement.index == 2
        return "le" if feminine else DATIVES[agreement.index]

    def reflexive_pronoun(self, agreement: Agreement) -> str:
        return REFLEXIVES[agreement.index]

    def verb_group(
        self, lemma: str, subject: Agreement, mode: Mode, complement: Complement, reflexive: bool
    ) -> list[str]:
        clitics = complement.clitics
        negated = mode.polarity in NEGATIVE
        before = ["non"] if negated else []
        middle = MIDDLES[mode.polarity].split() if mode.polarity else []
        if mode.tense == "infinitive":
            return [*before, enclitic(lemma, clitics), *middle]
        if mode.tense == "past_infinitive":
            with_essere = reflexive or lemma in WITH_ESSERE
            auxiliary = enclitic("essere", clitics) if with_essere else "aver"
            participle = agree(forms.participle(lemma), subject if with_essere else Agreement())
            return [auxiliary, participle]
        if mode.tense == "gerund":
            return [forms.gerund(lemma) + "".join(clitics)]
        if mode.tense == "imperative":
            if negated and subject.index == 1:
                return [*before, enclitic(lemma, clitics), *middle]
            return [*before, ordered(forms.imperative(lemma, subject.index), clitics), *middle]
        if mode.tense in PROGRESSIVE:
            finite = forms.conjugation("stare", PROGRESSIVE[mode.tense])[subject.index]
            return [*before, *clitics, finite, *middle, forms.gerund(lemma)]
        if mode.tense == "near":
            finite = forms.conjugation("stare", "present")[subject.index]
            return [*before, finite, *middle, "per", enclitic(lemma, clitics)]
        if mode.tense in COMPOUND:
            with_essere = reflexive or lemma in WITH_ESSERE
            auxiliary = forms.conjugation(
                "essere" if with_essere else "avere", COMPOUND[mode.tense]
            )
            agreement = subject if with_essere else Agreement()
            if complement.preceding and mode.object == "clitic":
                agreement = complement.preceding
            middle = ["appena"] if mode.tense == "recent" else middle
            participle = agree(forms.participle(lemma), agreement)
            return [*before, *clitics, auxiliary[subject.index], *middle, participle]
        return [*before, *clitics, forms.conjugation(lemma, mode.tense)[subject.index], *middle]

    def passive(self, action: Action, agent: Agreement, tense: str) -> list[str]:
        assert action.direct is not None
        subject = self.agreement(action.direct)
        group = self.verb_group("essere", subject, Mode(tense), Complement(), False)
        rest = self.complement(action, agent, Mode(object="gap")).words
        return [*group, agree(forms.participle(action.frame.italian.lemma), subject), *rest]

    def there_is(self, phrase: Nominal, tense: str) -> list[str]:
        """``c'è`` or ``ci sono``."""
        form = forms.conjugation("essere", tense)[self.agreement(phrase).index]
        return ["c’", form] if form[0] in "eè" else ["ci", form]

    def join(self, words: list[str]) -> str:
        done: list[str] = []  # from the last word to the first
        for word in reversed(words):
            following = done[-1] if done else ""
            word = shape(word, following)
            if word in ARTICULATED and following.startswith("@"):
                done[-1] = ARTICULATED[word] + AFTER_PREPOSITION[following[1:]]
            elif word.lower() == "dove" and following[:1] in ("è", "e"):
                done.append(word[:-1] + "’")
            elif word in ("lo", "la") and AVERE.match(following):
                done.append("l’")
            elif (word == "a" and following[:1] in ("a", "A")) or (
                word == "e" and following[:1] in ("e", "E")
            ):
                done.append(word + "d")
            else:
                done.append(word)
        return spaced([word.strip("@") for word in reversed(done)])


def shape(word: str, following: str) -> str:
    """Choose among the forms of ``il|lo|l’`` by the word that follows."""
    if "|" not in word:
        return word
    plain, impure, vowel = word.strip("@").split("|")
    following = following.strip("@").lower()
    chosen = plain
    if re.match(r"[aeouàèéìòùh]|i(?![aeou])", following):
        chosen = vowel
    elif re.match(r"s[^aeiou]|z|gn|ps|pn|x|y|i[aeou]", following):
        chosen = impure
    return "@" + chosen if word.startswith("@") else chosen


def enclitic(infinitive: str, clitics: list[str]) -> str:
    """``alzare`` and ``mi`` give ``alzarmi``; ``tradurre`` and ``lo`` give ``tradurlo``."""
    if not clitics:
        return infinitive
    stem = infinitive[:-2] if infinitive.endswith("rre") else infinitive[:-1]
    return stem + clitics[0]


def ordered(form: str, clitics: list[str]) -> str:
    """An order with its pronoun: ``prendilo``, ``fallo``."""
    if not clitics:
        return form
    pronoun = clitics[0]
    if form in SHORT_ORDERS:
        return SHORT_ORDERS[form] + ("" if pronoun == "gli" else pronoun[0]) + pronoun
    return form + pronoun


def agree(participle: str, agreement: Agreement) -> str:
    return participle[:-1] + "oaie"[agreement.feminine + 2 * agreement.plural]
