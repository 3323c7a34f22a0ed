"""Italian syntax: noun phrases, clitics, auxiliaries, articles and articulated prepositions."""

from __future__ import annotations

import re
from typing import ClassVar

import italian_forms as forms
from language import NEGATIVE, Language, spaced
from lexicon import THIRD, Agreement
from phrases import Complement, Mode, Nominal, NounPhrase, Pronoun

OVERT = ("io", "tu", "lui", "noi", "voi", "loro", "io", "tu", "lei", "noi", "voi", "loro")
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
MIDDLES = {
    "": (),
    "not": (),
    "nomore": ("più",),
    "never": ("mai",),
    "notyet": ("ancora",),
    "already": ("già",),
    "often": ("spesso",),
    "always": ("sempre",),
    "still": ("ancora",),
}
COMPOUND = {
    "past": "present",
    "recent": "present",
    "pluperfect": "imperfect",
    "future_perfect": "future",
}
PROGRESSIVE = {"progressive": "present", "past_progressive": "imperfect"}
WITH_ESSERE = frozenset(
    {
        "andare",
        "arrivare",
        "cadere",
        "diventare",
        "entrare",
        "essere",
        "partire",
        "passare",
        "piacere",
        "restare",
        "rimanere",
        "salire",
        "scendere",
        "sparire",
        "stare",
        "tornare",
        "uscire",
        "venire",
    }
)
SHORT_ORDERS = {"fai": "fa", "dai": "da", "di'": "di", "stai": "sta"}
PREPOSITIONS = {"di": "de", "a": "a", "da": "da", "in": "ne", "su": "su"}
ARTICLES = {"il": "l", "lo": "llo", "l’": "ll’", "la": "lla", "i": "i", "gli": "gli", "le": "lle"}
AVERE = re.compile(r"(ho|hai|ha|hanno|abbiamo|avete|avev\w+|avr\w+)$")


class Italian(Language):
    """Italian, the second language of each pair."""

    index = 1
    be = "essere"
    subjects = ("",) * 12  # the verb says them
    objects = ("lo", "la", "li", "le")
    datives = ("mi", "ti", "gli", "ci", "vi", "gli", "mi", "ti", "le", "ci", "vi", "gli")
    reflexives = ("mi", "ti", "si", "ci", "vi", "si")
    before_noun: ClassVar[dict[tuple[str, bool], str]] = {
        ("bello", False): "bel|bello|bell’",
        ("bella", False): "bella|bella|bell’",
        ("belli", True): "bei|begli|begli",
        ("buono", False): "buon|buono|buon",
    }

    def inflect(self, lemma: str, agreement: Agreement) -> str:
        """An adjective, in one of its four forms."""
        return forms.adjective(lemma)[agreement.column]

    def participle(self, lemma: str, agreement: Agreement) -> str:
        """A past participle: every one ends like ``rosso``."""
        return forms.participle(lemma)[:-1] + "oaie"[agreement.column]

    def determiner(self, phrase: NounPhrase, owner: Agreement, negated: bool) -> list[str]:
        """The determiner; a possessive takes the article, but for one relative."""
        agreement = self.agreement(phrase)
        article = DETERMINERS["the"][agreement.column]
        kind = phrase.determiner
        if kind in ("bare", "mass"):
            return []
        if kind == "some" or (kind == "a" and agreement.plural):
            return [] if negated else ["di", article]
        if kind in ("own", "my"):
            row = (owner if kind == "own" else phrase.owner).row
            relative = "kin" in phrase.noun.classes and not agreement.plural and row != 5
            possessive = OWNERS[row][agreement.column]
            return [possessive] if relative else [article, possessive]
        if kind == "number":
            return [phrase.count[1]]
        if kind == "all":
            return ["tutte" if agreement.feminine else "tutti", article]
        return [DETERMINERS[kind][agreement.column]]

    def overt(self, nominal: Nominal) -> list[str]:
        """A subject that is said even if it is a pronoun, where the verb is ambiguous."""
        plural = isinstance(nominal, Pronoun) and nominal.agreement.plural
        return self.nominal(nominal) if plural else self.contrast(nominal)

    def contrast(self, nominal: Nominal) -> list[str]:
        """A subject that is always said, being opposed to another."""
        if isinstance(nominal, Pronoun):
            return [OVERT[nominal.agreement.row + 6 * nominal.agreement.feminine]]
        return self.nominal(nominal)

    def dative(self, nominal: Nominal) -> list[str]:
        """Whom something pleases: ``mi`` or ``a Maria``."""
        if isinstance(nominal, Pronoun):
            return [self.dative_pronoun(nominal.agreement)]
        return ["a", *self.nominal(nominal)]

    def there_is(self, nominal: Nominal, tense: str) -> list[str]:
        """``c'è`` or ``ci sono``."""
        form = forms.conjugation("essere", tense)[self.agreement(nominal).row]
        return ["c’" if form[0] in "eè" else "ci", form]

    def verb_group(
        self,
        lemma: str,
        subject: Agreement,
        mode: Mode,
        complement: Complement | None = None,
        reflexive: bool = False,
    ) -> list[str]:
        """A verb with its clitics, which follow an infinitive, a gerund or an order."""
        complement = complement or Complement()
        clitics = complement.clitics
        before = ["non"] if mode.polarity in NEGATIVE else []
        middle = ("appena",) if mode.tense == "recent" else MIDDLES[mode.polarity]
        with_essere = reflexive or lemma in WITH_ESSERE
        agreement = subject if with_essere else THIRD
        if complement.preceding and mode.object == "clitic":
            agreement = complement.preceding
        if mode.tense == "infinitive":
            return [*before, enclitic(lemma, clitics), *middle]
        if mode.tense == "past_infinitive":
            auxiliary = enclitic("essere", clitics) if with_essere else "aver"
            return [auxiliary, self.participle(lemma, agreement)]
        if mode.tense == "gerund":
            return [forms.gerund(lemma) + "".join(clitics)]
        if mode.tense == "imperative":
            if before and subject.row == 1:
                return [*before, enclitic(lemma, clitics), *middle]
            return [*before, ordered(forms.imperative(lemma, subject.row), clitics), *middle]
        if mode.tense in PROGRESSIVE:
            finite = forms.conjugation("stare", PROGRESSIVE[mode.tense])[subject.row]
            return [*before, *clitics, finite, *middle, forms.gerund(lemma)]
        if mode.tense == "near":
            finite = forms.conjugation("stare", "present")[subject.row]
            return [*before, finite, *middle, "per", enclitic(lemma, clitics)]
        if mode.tense in COMPOUND:
            tense = COMPOUND[mode.tense]
            auxiliaries = forms.conjugation("essere" if with_essere else "avere", tense)
            participle = self.participle(lemma, agreement)
            return [*before, *clitics, auxiliaries[subject.row], *middle, participle]
        return [*before, *clitics, forms.conjugation(lemma, mode.tense)[subject.row], *middle]

    def join(self, words: list[str]) -> str:
        """Choose articles and merge prepositions from the last word to the first."""
        done: list[str] = []
        for word in reversed(words):
            following = done[-1] if done else ""
            shaped = shape(word, following)
            if shaped in PREPOSITIONS and following.startswith("@"):
                done[-1] = PREPOSITIONS[shaped] + ARTICLES[following[1:]]
            elif shaped in ("lo", "la") and AVERE.match(following):
                done.append("l’")
            elif shaped.lower() == "dove" and following[:1] in ("è", "e"):
                done.append(shaped[:-1] + "’")
            elif shaped in ("a", "e") and following[:1].lower() == shaped:
                done.append(shaped + "d")
            else:
                done.append(shaped)
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
