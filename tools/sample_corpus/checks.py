"""Cheap checks of the written text: what no correct sentence of the corpus contains."""

from __future__ import annotations

import re

VOWEL = "[aeiouâàéèêëîïôûœ]"
MUTE = r"h(?!aricot|éros|ibou|aut|uit|ors|onte|âte|asard|anté)"
IMPURE = "(s[bcdfglmnpqrtv]|z|gn|ps)"
BEFORE_CONSONANT = r"\b(il|del|al|dal|nel|sul|quel|bel|i|dei|ai|dai|nei|sui|quei|bei)"
BEFORE_IMPURE = r"\b(uno|dello|allo|dallo|nello|sullo|degli|agli|dagli|negli|sugli|quegli)"
BEFORE_FEMININE = r"\b(una|della|alla|dalla|nella|sulla|quella|uno|dello|allo)"

FRENCH = {
    "a missing elision": rf"(?i)(?<!-)\b(le|la|je|me|te|se|ne|de|que) (?!onz|oui)({VOWEL}|{MUTE})",
    "an elision before a consonant": r"(?i)\b([ldjmtsnc]|qu)'(?![aeiouyhà-öø-ÿœ])",
    "a missing contraction": r"\b(à|de) (le|les) (?!\w+(er|ir|re)\b)",
    "a missing s'il": r"\bsi ils?\b",
    "a hiatus": rf"\b(ma|ta|sa|ce|beau|nouveau|vieux) (?!est\b|était|à\b|et\b|ou\b){VOWEL}",
    "a plural article after de": r"\bde des\b",
}
ITALIAN = {
    "a missing articulated preposition": r"\b(di|a|da|in|su) (il|lo|i|gli|l')\b",
    "il before an impure consonant": rf"({BEFORE_CONSONANT}|\bun) {IMPURE}",
    "il before a vowel": rf"{BEFORE_CONSONANT} [aeiouàèé]",
    "lo before a plain consonant": rf"{BEFORE_IMPURE} [bcdfglmnpqrtv](?!n|s)",
    "a missing elision": rf"{BEFORE_FEMININE} (?!a una)[aeiouàèé]",
    "an elision before a consonant": r"\b(un|dell|all|dall|nell|sull|quell|quest|l|c)'[^aeiouhàèé]",
}
BOTH = {
    "an unfilled pattern": r"[{}|@~_’]",
    "a doubled space": r"  |^ | $",
    "a doubled word": r"\b(?!nous\b|vous\b)(\w+) \1\b",
    "a space before punctuation": r" [,.;:?!]",
    "a small initial": r"^[a-zà-ÿ]|[.?!] [a-zà-ÿ]",
    "a missing final stop": r"[^.?!]$",
}


def check(pairs: list[tuple[str, str]]) -> None:
    """Raise ``ValueError`` at the first sentence that cannot be right."""
    if len(set(pairs)) < len(pairs):
        raise ValueError("a sentence pair occurs twice")
    for column, rules in enumerate((FRENCH | BOTH, ITALIAN | BOTH)):
        faults = [(name, re.compile(rule)) for name, rule in rules.items()]
        for pair in pairs:
            for name, rule in faults:
                if rule.search(pair[column]):
                    raise ValueError(f"{name}: {pair[column]}")
