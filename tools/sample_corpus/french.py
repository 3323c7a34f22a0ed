"""French syntax: noun phrases, clitics, negation, periphrases, elision and contraction."""

from __future__ import annotations

import re

import french_forms as forms
from language import NEGATIVE, Language, spaced
from lexicon import Adjective, Agreement, NounForms, VerbPhrase
from phrases import Action, Complement, Mode, NounPhrase

SUBJECTS = ("je", "tu", "il", "nous", "vous", "ils", "je", "tu", "elle", "nous", "vous", "elles")
REFLEXIVES = ("me", "te", "se", "nous", "vous", "se")
AFTER_ORDER = {1: "toi", 3: "nous", 4: "vous"}
OWNERS = (
    ("mon", "ma|mon", "mes"),
    ("ton", "ta|ton", "tes"),
    ("son", "sa|son", "ses"),
    ("notre", "notre", "nos"),
    ("votre", "votre", "vos"),
    ("leur", "leur", "leurs"),
)
DETERMINERS = {
    "the": ("@le", "@la", "@les"),
    "a": ("un", "une", "des"),
    "this": ("ce|cet", "cette", "ces"),
    "that": ("ce|cet", "cette", "ces"),
    "every": ("chaque", "chaque", "chaque"),
    "several": ("plusieurs",) * 3,
}
MIDDLES = {
    "not": "pas",
    "nomore": "plus",
    "never": "jamais",
    "notyet": "pas encore",
    "already": "déjà",
    "often": "souvent",
    "always": "toujours",
    "still": "encore",
}
PERIPHRASES = {
    "near": ("aller", "present", ()),
    "recent": ("venir", "present", ("de",)),
    "progressive": ("être", "present", ("en", "train", "de")),
    "past_progressive": ("être", "imperfect", ("en", "train", "de")),
}
COMPOUND = {"past": "present", "pluperfect": "imperfect", "future_perfect": "future"}
WITH_ETRE = frozenset(
    "aller venir revenir devenir arriver partir sortir entrer rentrer rester tomber monter "
    "descendre retourner passer naître".split()
)
BEFORE_NOUN = {"beau": "beau|bel", "nouveau": "nouveau|nouvel", "vieux": "vieux|vieil"}
ELIDED = frozenset("le la je me te se ne de que jusque lorsque puisque quoique".split())
ASPIRATED = re.compile(r"h(aricot|éros|ibou|aut|uit|ors|onte|âte|asard|ollande|uées?\b|arpe)")
CONTRACTIONS = {
    ("de", "@le"): "du",
    ("de", "@les"): "des",
    ("à", "@le"): "au",
    ("à", "@les"): "aux",
}


class French(Language):
    """French, the first language of each pair."""

    column = 0

    def forms(self, phrase: NounPhrase) -> NounForms:
        return phrase.noun.french

    def adjective_forms(self, adjective: Adjective) -> tuple[str, ...]:
        return adjective.french

    def adjective_first(self, adjective: Adjective) -> bool:
        return adjective.french_first

    def verb_phrase(self, action: Action) -> VerbPhrase:
        return action.frame.french

    def inflect_adjective(self, lemma: str, agreement: Agreement) -> str:
        return forms.adjective(lemma.replace("_", " "))[agreement.feminine + 2 * agreement.plural]

    def determiner(self, phrase: NounPhrase, owner: Agreement, negated: bool) -> list[str]:
        agreement = self.agreement(phrase)
        column = 2 if agreement.plural else int(agreement.feminine)
        kind = phrase.determiner
        if kind == "bare":
            return []
        if kind in ("a", "some", "mass") and negated:
            return ["de"]
        if kind in ("some", "mass") and not agreement.plural:
            return ["de", DETERMINERS["the"][column]]
        if kind in ("a", "some", "mass"):
            prenominal = phrase.adjective is not None and phrase.adjective.french_first
            return ["de"] if agreement.plural and prenominal else [DETERMINERS["a"][column]]
        if kind in ("own", "my"):
            return [OWNERS[(owner if kind == "own" else phrase.owner).index][column]]
        if kind == "number":
            return [phrase.count[0]]
        if kind == "many":
            return ["beaucoup", "de"]
        if kind == "all":
            return ["toutes" if agreement.feminine else "tous", "@les"]
        return [DETERMINERS[kind][column]]

    def before_noun(self, form: str, plural: bool) -> str:
        return form if plural else BEFORE_NOUN.get(form, form)

    def subject_pronoun(self, agreement: Agreement) -> list[str]:
        return [SUBJECTS[agreement.index + 6 * agreement.feminine]]

    def object_pronoun(self, agreement: Agreement) -> str:
        return "les" if agreement.plural else "la" if agreement.feminine else "le"

    def dative_pronoun(self, agreement: Agreement) -> str:
        return "leur" if agreement.plural else "lui"

    def reflexive_pronoun(self, agreement: Agreement) -> str:
        return REFLEXIVES[agreement.index]

    def verb_group(
        self, lemma: str, subject: Agreement, mode: Mode, complement: Complement, reflexive: bool
    ) -> list[str]:
        clitics = complement.clitics
        negated = mode.polarity in NEGATIVE
        before = ["ne"] if negated else []
        middle = MIDDLES[mode.polarity].split() if mode.polarity else []
        if mode.tense == "infinitive":
            return [*before, *middle, *clitics, lemma]
        if mode.tense == "past_infinitive":
            with_etre = reflexive or lemma in WITH_ETRE
            participle = agree(forms.participle(lemma), subject if with_etre else Agreement())
            return [*clitics, "être" if with_etre else "avoir", participle]
        if mode.tense == "gerund":
            return ["en", *clitics, forms.gerund(lemma)]
        if mode.tense == "imperative":
            form = forms.imperative(lemma, subject.index)
            if negated or not clitics:
                return [*before, *(clitics if negated else ()), form, *middle]
            pronoun = AFTER_ORDER[subject.index] if reflexive else clitics[0]
            return [f"{form}-{pronoun}", *middle]
        if mode.tense in PERIPHRASES:
            head, tense, link = PERIPHRASES[mode.tense]
            finite = forms.conjugation(head, tense)[subject.index]
            return [*before, finite, *middle, *link, *clitics, lemma]
        if mode.tense in COMPOUND:
            with_etre = reflexive or lemma in WITH_ETRE
            auxiliary = forms.conjugation("être" if with_etre else "avoir", COMPOUND[mode.tense])
            agreement = complement.preceding or (subject if with_etre else Agreement())
            if reflexive and lemma == "faire":  # elle s'est fait mal
                agreement = Agreement()
            participle = agree(forms.participle(lemma), agreement)
            return [*before, *clitics, auxiliary[subject.index], *middle, participle]
        return [*before, *clitics, forms.conjugation(lemma, mode.tense)[subject.index], *middle]

    def passive(self, action: Action, agent: Agreement, tense: str) -> list[str]:
        assert action.direct is not None
        subject = self.agreement(action.direct)
        group = self.verb_group("être", subject, Mode(tense), Complement(), False)
        rest = self.complement(action, agent, Mode(object="gap")).words
        return [*group, agree(forms.participle(action.frame.french.lemma), subject), *rest]

    def join(self, words: list[str]) -> str:
        done: list[str] = []  # from the last word to the first
        for word in reversed(words):
            following = done[-1] if done else ""
            vowel = starts_with_vowel(following)
            word = word.split("|")[-1 if vowel else 0]
            if (word, following) in CONTRACTIONS:
                done[-1] = CONTRACTIONS[word, following]
            elif vowel and word.strip("@") in ELIDED:
                done.append(word[:-1] + "’")
            elif word.lower() == "si" and following in ("il", "ils"):
                done.append(word[0] + "’")
            else:
                done.append(word)
        return spaced([word.strip("@") for word in reversed(done)])


def agree(participle: str, agreement: Agreement) -> str:
    participle = participle.replace("dû", "du") if agreement != Agreement() else participle
    feminine = participle + "e" * agreement.feminine
    return feminine + "s" * (agreement.plural and not feminine.endswith("s"))


def starts_with_vowel(word: str) -> bool:
    """Whether the word before elides: a vowel or a mute h, but not onze, oui or yaourt."""
    word = word.strip("@").lower()
    if word.startswith("h"):
        return not ASPIRATED.match(word)
    if word in ("onze", "onzième", "oui"):
        return False
    return word == "y" or bool(re.match(r"[aeiouàâéèêëîïôûœæ]", word))
