"""The share of source tokens linked one to one."""

from __future__ import annotations

from pairpiece.evaluation.one_to_one import one_to_one

WORDS = ["un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix"]
SENTENCES = [
    [WORDS[(i * k + j) % 10] for j in range(2 + (i * 7) % 5)] for i in range(40) for k in (1, 3)
]


def test_a_translation_word_by_word_is_one_to_one() -> None:
    targets = [[f"{word}!" for word in sentence] for sentence in SENTENCES]
    assert one_to_one(SENTENCES, targets, 20) > 0.9


def test_words_cut_in_two_are_not() -> None:
    targets = [[part for word in s for part in (f"{word}!", f"{word}?")] for s in SENTENCES]
    assert one_to_one(SENTENCES, targets, 20) < 0.3


def test_only_the_last_sentences_count() -> None:
    whole = [[f"{word}!" for word in sentence] for sentence in SENTENCES]
    halved = [[part for word in s for part in (f"{word}!", f"{word}?")] for s in SENTENCES]
    mixed = halved[:-30] + whole[-30:]
    assert one_to_one(SENTENCES, mixed, 30) > one_to_one(SENTENCES, mixed, len(SENTENCES))
