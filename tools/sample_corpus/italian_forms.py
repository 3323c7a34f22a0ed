"""Italian inflection: nouns, adjectives and the tenses of regular and irregular verbs."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from lexicon import NounForms, rows

PRESENT = {
    "are": "o i a iamo ate ano",
    "ere": "o i e iamo ete ono",
    "ire": "o i e iamo ite ono",
}
IMPERFECT = ("vo", "vi", "va", "vamo", "vate", "vano")
FUTURE = ("ò", "ai", "à", "emo", "ete", "anno")
CONDITIONAL = ("ei", "esti", "ebbe", "emmo", "este", "ebbero")
PAST_SUBJUNCTIVE = ("ssi", "ssi", "sse", "ssimo", "ste", "ssero")
IMPERATIVES = {"essere": ("sii", "siate"), "avere": ("abbi", "abbiate"), "dire": ("di'", "dite")}


class Paradigm(NamedTuple):
    """What cannot be guessed from a verb's infinitive; an empty field is regular."""

    present: str = ""
    future: str = ""
    participle: str = ""
    subjunctive: str = ""
    imperfect: str = ""
    past_subjunctive: str = ""


def noun(entry: str) -> NounForms:
    """Read ``word gender [plural[/gender]]``; ``=`` means no plural, ``pl`` no singular."""
    word, gender, plural, shifted = re.fullmatch(  # type: ignore[union-attr]
        r"(.+?) ([mf])(?: ([^/]+)(?:/([mf]))?)?", entry
    ).groups()
    feminine, feminine_plural = gender == "f", (shifted or gender) == "f"
    if plural == "pl":
        return NounForms("", word, feminine, feminine)
    if plural is None:
        plural = pluralize(word, feminine)
    return NounForms(word, plural.strip("="), feminine, feminine_plural)


def pluralize(word: str, feminine: bool) -> str:
    if not word.endswith(("a", "e", "o")) or word in ("moto", "foto", "cinema", "garage"):
        return word
    stem = word[:-1]
    if word.endswith("a") and feminine:
        if re.search(r"[^aeiou][cg]i$", stem):
            return stem[:-1] + "e"
        return stem + ("he" if stem.endswith(("c", "g")) else "e")
    if stem.endswith(("c", "g")) and not word.endswith("e"):
        return stem + "hi"
    return stem if stem.endswith("i") else stem + "i"


def adjective(entry: str) -> tuple[str, ...]:
    """Read ``masculine [plural [feminine plural]]`` and supply what is regular."""
    masculine, *plurals = entry.split()
    if masculine in ("blu", "rosa", "viola"):
        return (masculine,) * 4
    if masculine.endswith("e"):
        return (masculine, masculine, masculine[:-1] + "i", masculine[:-1] + "i")
    feminine = masculine[:-1] + "a"
    plural = re.sub(r"ichi$", "ici", pluralize(masculine, feminine=False))
    return (masculine, feminine, *(plurals or (plural, pluralize_feminine(feminine))))


def pluralize_feminine(word: str) -> str:
    """``grigia`` gives ``grigie``: an adjective keeps its i after a vowel."""
    return pluralize(word, feminine=True)


@cache
def irregular() -> dict[str, Paradigm]:
    """The verbs that need listing, and their compounds."""
    table = {}
    for lemmas, *cells in rows("italian_verbs"):
        base, *compounds = lemmas.split()
        for lemma in (base, *compounds):
            prefix = lemma.removesuffix(base)
            prefixed = (re.sub(r"(^|\s)(?=\S)", rf"\1{prefix}", cell) for cell in cells)
            table[lemma] = Paradigm(*prefixed)
    return table


def paradigm(lemma: str) -> Paradigm:
    return irregular().get(lemma, Paradigm())


def attach(stem: str, ending: str) -> str:
    """Keep the sound of the stem of an -are verb: cerchi, mangi, mangerò, studi."""
    if ending[0] in "ie":
        if stem.endswith(("c", "g")):
            return stem + "h" + ending
        if stem.endswith(("ci", "gi")) or (stem.endswith("i") and ending[0] == "i"):
            return stem[:-1] + ending
    return stem + ending


def present(lemma: str) -> list[str]:
    given = paradigm(lemma).present
    stem, group = lemma[:-3], lemma[-3:]
    if given and not given.endswith("isc"):
        return given.split()
    endings = PRESENT[group].split()
    if group == "are":
        return [attach(stem, ending) for ending in endings]
    if given:
        return [stem + ("" if i in (3, 4) else "isc") + ending for i, ending in enumerate(endings)]
    return [stem + ending for ending in endings]


def past_stem(lemma: str) -> str:
    return paradigm(lemma).imperfect or lemma[:-2]


def imperfect(lemma: str) -> list[str]:
    stem = past_stem(lemma)
    return stem.split() if " " in stem else [stem + ending for ending in IMPERFECT]


def future_stem(lemma: str) -> str:
    if paradigm(lemma).future:
        return paradigm(lemma).future
    return attach(lemma[:-3], "er") if lemma.endswith("are") else lemma[:-1]


def subjunctive(lemma: str) -> list[str]:
    forms = present(lemma)
    given = paradigm(lemma).subjunctive.split()
    if not given and lemma.endswith("are"):
        stem = attach(lemma[:-3], "i")
        given = [stem, stem + "no"]
    singular, plural = given or (forms[0][:-1] + "a", forms[0][:-1] + "ano")
    return [singular] * 3 + [forms[3], forms[3][:-2] + "te", plural]


def past_subjunctive(lemma: str) -> list[str]:
    stem = paradigm(lemma).past_subjunctive or lemma[:-2]
    return [stem + ending for ending in PAST_SUBJUNCTIVE]


def imperative(lemma: str, index: int) -> str:
    """The order given to tu (1), noi (3) or voi (4)."""
    if lemma in IMPERATIVES and index != 3:
        return IMPERATIVES[lemma][index == 4]
    regular_are = lemma.endswith("are") and not paradigm(lemma).present
    return present(lemma)[2 if index == 1 and regular_are else index]


def participle(lemma: str) -> str:
    if paradigm(lemma).participle:
        return paradigm(lemma).participle
    stem, group = lemma[:-3], lemma[-3:]
    if group == "ere" and stem.endswith("c"):
        return stem + "iuto"
    return stem + {"are": "ato", "ere": "uto", "ire": "ito"}[group]


def gerund(lemma: str) -> str:
    if lemma == "riempire":
        return "riempiendo"
    stem = past_stem(lemma)
    if lemma.endswith("are") and not paradigm(lemma).imperfect:
        return stem + "ndo"
    return ("esse" if " " in stem else stem)[:-1] + "endo"


@cache
def conjugation(lemma: str, tense: str) -> tuple[str, ...]:
    """The six persons of a simple tense."""
    if tense in ("future", "conditional"):
        endings = FUTURE if tense == "future" else CONDITIONAL
        return tuple(future_stem(lemma) + ending for ending in endings)
    tables = {
        "present": present,
        "imperfect": imperfect,
        "subjunctive": subjunctive,
        "past_subjunctive": past_subjunctive,
    }
    return tuple(tables[tense](lemma))
