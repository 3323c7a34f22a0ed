"""Cheap checks of the written text: what no correct sentence of the corpus contains."""

from __future__ import annotations

import re

VOWEL = "aeiouâàéèêëîïôûœ"
NOT_ELIDING = r"(?!onz|oui\b|uns?\b)"
ASPIRATED = r"h(?!aricot|éros|ibou|aut|uit|ors|onte|âte|asard|anté)"

FRENCH = {
    "a missing elision": rf"(?i)(?<!-)\b(le|la|je|me|te|se|ne|de|que) {NOT_ELIDING}([{VOWEL}]|{ASPIRATED})",
    "an elision before a consonant": r"(?i)\b([ldjmtsnc]|qu|jusqu)'(?![aeiouyh\u00e0-\u00ff\u0153])",
    "a missing contraction": r"\b(à|de) (le|les) (?!\w+(er|ir|re)\b)",
    "si il": r"\bsi ils?\b",
    "a hiatus before a noun": rf"\b(ma|ta|sa|ce|beau|nouveau|vieux) (?!était|est\b|à\b|et\b|ou\b)[{VOWEL}]",
    "an avoidable des": r"\bde des\b",
}
ITALIAN = {
    "a missing articulated preposition": r"\b(di|a|da|in|su) (il|lo|i|gli|l')\b(?! loro)",
    "il before an impure consonant": r"\b(il|un|del|al|dal|nel|sul|quel|bel|i|dei|ai|dai|nei|sui|quei|bei) (s[bcdfglmnpqrtv]|z|gn|ps)",
    "il before a vowel": r"\b(il|del|al|dal|nel|sul|quel|bel|i|dei|ai|dai|nei|sui|quei) [aeiouàèé]",
    "lo before a plain consonant": r"\b(uno|dello|allo|dallo|nello|sullo|degli|agli|dagli|negli|sugli|quegli) [bcdfglmnpqrtv](?!n|s)",
    "a missing elision": r"\b(della|alla|dalla|nella|sulla|una|quella|dello|allo|uno) (?!a una)[aeiouàèé]",
    "an elision before a consonant": r"\b(un|dell|all|dall|nell|sull|quell|quest|l|c)'[bcdfglmnpqrstvz]",
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
