"""French inflection: nouns, adjectives and the tenses of regular and irregular verbs."""

from __future__ import annotations

import re
from functools import cache

from lexicon import NounForms, rows

PRESENT = {
    "er": "e es e ons ez ent",
    "ir": "is is it issons issez issent",
    "re": "s s - ons ez ent",
}
IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")
FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
SUBJUNCTIVE = ("e", "es", "e", "", "", "ent")
DOUBLING = ("appeler", "jeter", "rappeler")
GERUNDS = {"être": "étant", "avoir": "ayant", "savoir": "sachant"}
IMPERATIVES = {"être": ("sois", "soyons", "soyez"), "avoir": ("aie", "ayons", "ayez")}


def noun(entry: str) -> NounForms:
    """Read ``word gender [plural]``; ``=`` says there is no plural, ``pl`` no singular."""
    word, gender, plural = re.fullmatch(r"(.+?) ([mf])(?: (.+))?", entry).groups()  # type: ignore[union-attr]
    feminine = gender == "f"
    if plural == "pl":
        return NounForms("", word, feminine, feminine)
    return NounForms(word, "" if plural == "=" else plural or pluralize(word), feminine, feminine)


def pluralize(word: str) -> str:
    if word[-1] in "sxz":
        return word
    if word.endswith("al"):
        return word[:-1] + "ux"
    return word + ("x" if word.endswith(("eau", "eu")) and word != "bleu" else "s")


def adjective(entry: str) -> tuple[str, ...]:
    """Read ``masculine [feminine [plural [feminine plural]]]`` and supply what is regular."""
    given = entry.split()
    masculine = given[0]
    feminine = given[1] if len(given) > 1 else feminize(masculine)
    regular = (masculine, feminine, pluralize(masculine), pluralize(feminine))
    return (*given, *regular[len(given) :])


def feminize(word: str) -> str:
    for ending, replacement in (("e", "e"), ("er", "ère"), ("eux", "euse"), ("f", "ve")):
        if word.endswith(ending):
            return word.removesuffix(ending) + replacement
    return word + "e"


@cache
def irregular() -> dict[str, tuple[list[str], str, str, list[str]]]:
    """Present, future stem, participle and subjunctive of the verbs that need listing."""
    table = {}
    for lemmas, present, future, participle, subjunctive in rows("french_verbs"):
        base, *compounds = lemmas.split()
        for lemma in (base, *compounds):
            prefix = lemma.removesuffix(base)
            forms = [prefix + form for form in present.split()]
            table[lemma] = (forms, prefix + future, prefix + participle, subjunctive.split())
    return table


def silent_stem(lemma: str) -> str:
    """The stem of an -er verb before a silent ending: achèt-, appell-, préfèr-, nettoi-."""
    stem = lemma[:-2]
    if lemma in DOUBLING:
        return stem + stem[-1]
    if re.search(r"[aou]y$", stem):
        return stem[:-1] + "i"
    return re.sub(r"[eé]((?:[bcdfglmnprstv]|ch|br|tr|gn))$", r"è\1", stem)


def soften(stem: str, ending: str) -> str:
    """Keep c and g soft before a and o: commençons, mangeons."""
    if ending[0] in "ao" and stem.endswith(("c", "g")):
        stem = stem[:-1] + "ç" if stem.endswith("c") else stem + "e"
    return stem + ending


def present(lemma: str) -> list[str]:
    if lemma in irregular():
        return irregular()[lemma][0]
    endings = [ending.strip("-") for ending in PRESENT[lemma[-2:]].split()]
    if not lemma.endswith("er"):
        return [lemma[:-2] + ending for ending in endings]
    silent = silent_stem(lemma)
    return [
        soften(lemma[:-2], ending) if ending in ("ons", "ez") else silent + ending
        for ending in endings
    ]


def past_stem(lemma: str) -> str:
    """The stem of the imperfect and of the gerund."""
    return "ét" if lemma == "être" else present(lemma)[3].removesuffix("ons")


def imperfect(lemma: str) -> list[str]:
    stem = past_stem(lemma)
    if stem.endswith("ge") and lemma.endswith("ger"):
        stem = stem[:-1]
    if stem.endswith("ç") and lemma.endswith("cer"):
        stem = stem[:-1] + "c"
    return [soften(stem, ending) if lemma.endswith("er") else stem + ending for ending in IMPERFECT]


def future_stem(lemma: str) -> str:
    if lemma in irregular():
        return irregular()[lemma][1]
    if lemma.endswith("er"):
        return (lemma[:-2] if re.search(r"é[^aeiou]+er$", lemma) else silent_stem(lemma)) + "er"
    return lemma.removesuffix("e")


def subjunctive(lemma: str) -> list[str]:
    listed = irregular()[lemma][3] if lemma in irregular() else []
    if listed:
        return listed
    stem, past = present(lemma)[5].removesuffix("ent"), imperfect(lemma)
    return [stem + e if e else past[i] for i, e in enumerate(SUBJUNCTIVE)]


def imperative(lemma: str, index: int) -> str:
    """The order given to tu (1), nous (3) or vous (4)."""
    if lemma in IMPERATIVES:
        return IMPERATIVES[lemma][{1: 0, 3: 1, 4: 2}[index]]
    form = present(lemma)[index]
    return form[:-1] if index == 1 and form.endswith(("es", "as")) else form


def participle(lemma: str) -> str:
    if lemma in irregular():
        return irregular()[lemma][2]
    return lemma[:-2] + {"er": "é", "ir": "i", "re": "u"}[lemma[-2:]]


def gerund(lemma: str) -> str:
    return GERUNDS.get(lemma) or past_stem(lemma) + "ant"


@cache
def conjugation(lemma: str, tense: str) -> tuple[str, ...]:
    """The six persons of a simple tense."""
    if tense in ("future", "conditional"):
        endings = FUTURE if tense == "future" else IMPERFECT
        return tuple(future_stem(lemma) + ending for ending in endings)
    return tuple(
        {"present": present, "imperfect": imperfect, "subjunctive": subjunctive}[tense](lemma)
    )
