"""French syntax: noun phrases, clitics, negation, periphrases, elision and contraction."""

from __future__ import annotations

import re
from typing import ClassVar

import french_forms as forms
from language import NEGATIVE, Language, spaced
from lexicon import THIRD, Agreement
from phrases import Complement, Mode, NounPhrase

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
    "": (),
    "not": ("pas",),
    "nomore": ("plus",),
    "never": ("jamais",),
    "notyet": ("pas", "encore"),
    "already": ("déjà",),
    "often": ("souvent",),
    "always": ("toujours",),
    "still": ("encore",),
}
PERIPHRASES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "near": ("aller", "present", ()),
    "recent": ("venir", "present", ("de",)),
    "progressive": ("être", "present", ("en", "train", "de")),
    "past_progressive": ("être", "imperfect", ("en", "train", "de")),
}
COMPOUND = {"past": "present", "pluperfect": "imperfect", "future_perfect": "future"}
WITH_ETRE = frozenset(
    {
        "aller",
        "arriver",
        "descendre",
        "devenir",
        "entrer",
        "monter",
        "partir",
        "passer",
        "rentrer",
        "rester",
        "retourner",
        "revenir",
        "sortir",
        "tomber",
        "venir",
    }
)
AFTER_ORDER = {1: "toi", 3: "nous", 4: "vous"}
ELIDED = frozenset({"le", "la", "je", "me", "te", "se", "ne", "de", "que"})
ASPIRATED = re.compile(r"h(aricot|éros|ibou|aut|uit|ors|onte|âte|asard|ollande)")
CONTRACTIONS = {
    ("de", "@le"): "du",
    ("de", "@les"): "des",
    ("à", "@le"): "au",
    ("à", "@les"): "aux",
}


class French(Language):
    """French, the first language of each pair."""

    index = 0
    be = "être"
    subjects = (
        "je",
        "tu",
        "il",
        "nous",
        "vous",
        "ils",
        "je",
        "tu",
        "elle",
        "nous",
        "vous",
        "elles",
    )
    objects = ("le", "la", "les", "les")
    datives = ("me", "te", "lui", "nous", "vous", "leur") * 2
    reflexives = ("me", "te", "se", "nous", "vous", "se")
    before_noun: ClassVar[dict[tuple[str, bool], str]] = {
        ("beau", False): "beau|bel",
        ("nouveau", False): "nouveau|nouvel",
        ("vieux", False): "vieux|vieil",
    }

    def inflect(self, lemma: str, agreement: Agreement) -> str:
        """An adjective; an irregular feminine is given after an underscore."""
        return forms.adjective(lemma.replace("_", " "))[agreement.column]

    def participle(self, lemma: str, agreement: Agreement) -> str:
        """A past participle: its gender, then its number unless it already ends in s."""
        form = forms.participle(lemma) + "e" * agreement.feminine
        return form + "s" * (agreement.plural and not form.endswith("s"))

    def determiner(self, phrase: NounPhrase, owner: Agreement, negated: bool) -> list[str]:
        """The determiner, where ``some`` is partitive and ``a`` may be plural."""
        agreement = self.agreement(phrase)
        column = 2 if agreement.plural else int(agreement.feminine)
        kind = phrase.determiner
        if kind == "bare":
            return []
        if kind in ("a", "some", "mass"):
            if negated or (agreement.plural and phrase.adjective and phrase.adjective.first[0]):
                return ["de"]
            partitive = kind != "a" and not agreement.plural
            return ["de", DETERMINERS["the"][column]] if partitive else [DETERMINERS["a"][column]]
        if kind in ("own", "my"):
            return [OWNERS[(owner if kind == "own" else phrase.owner).row][column]]
        if kind == "number":
            return [phrase.count[0]]
        if kind == "many":
            return ["beaucoup", "de"]
        if kind == "all":
            return ["toutes" if agreement.feminine else "tous", "@les"]
        return [DETERMINERS[kind][column]]

    def verb_group(
        self,
        lemma: str,
        subject: Agreement,
        mode: Mode,
        complement: Complement | None = None,
        reflexive: bool = False,
    ) -> list[str]:
        """A verb with its clitics, between the two halves of its negation."""
        complement = complement or Complement()
        clitics = complement.clitics
        before = ["ne"] if mode.polarity in NEGATIVE else []
        middle = MIDDLES[mode.polarity]
        with_etre = reflexive or lemma in WITH_ETRE
        agreement = complement.preceding or (subject if with_etre else THIRD)
        if reflexive and lemma == "faire":  # elle s'est fait mal
            agreement = THIRD
        if mode.tense == "infinitive":
            return [*before, *middle, *clitics, lemma]
        if mode.tense == "past_infinitive":
            auxiliary = "être" if with_etre else "avoir"
            return [*clitics, auxiliary, self.participle(lemma, agreement)]
        if mode.tense == "gerund":
            return ["en", *clitics, forms.gerund(lemma)]
        if mode.tense == "imperative":
            form = forms.imperative(lemma, subject.row)
            if before or not clitics:
                return [*before, *clitics, form, *middle]
            return [f"{form}-{AFTER_ORDER[subject.row] if reflexive else clitics[0]}"]
        if mode.tense in PERIPHRASES:
            head, tense, link = PERIPHRASES[mode.tense]
            finite = forms.conjugation(head, tense)[subject.row]
            return [*before, finite, *middle, *link, *clitics, lemma]
        if mode.tense in COMPOUND:
            auxiliaries = forms.conjugation("être" if with_etre else "avoir", COMPOUND[mode.tense])
            participle = self.participle(lemma, agreement)
            return [*before, *clitics, auxiliaries[subject.row], *middle, participle]
        return [*before, *clitics, forms.conjugation(lemma, mode.tense)[subject.row], *middle]

    def join(self, words: list[str]) -> str:
        """Elide and contract from the last word to the first, then put spaces."""
        done: list[str] = []
        for word in reversed(words):
            following = done[-1] if done else ""
            vowel = starts_with_vowel(following)
            shaped = word.split("|")[-1 if vowel else 0]
            if (shaped, following) in CONTRACTIONS:
                done[-1] = CONTRACTIONS[shaped, following]
            elif vowel and shaped.strip("@").lower() in ELIDED:
                done.append(shaped[:-1] + "’")
            elif shaped.lower() == "si" and following in ("il", "ils"):
                done.append(shaped[0] + "’")
            else:
                done.append(shaped)
        return spaced([word.strip("@") for word in reversed(done)])


def starts_with_vowel(word: str) -> bool:
    """Whether the word before elides: a vowel or a mute h, but not onze or oui."""
    word = word.strip("@").lower()
    if word.startswith("h"):
        return not ASPIRATED.match(word)
    return bool(re.match(r"(?!onz|oui$)[aeiouàâéèêëîïôûœæ]|y$", word))
