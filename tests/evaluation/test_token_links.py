"""How well two tokenized texts are linked."""

from __future__ import annotations

from pairpiece.evaluation.token_links import token_links

WORDS = ["un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix"]
SENTENCES = [
    [WORDS[(i * k + j) % 10] for j in range(2 + (i * 7) % 5)] for i in range(40) for k in (1, 3)
]


def test_a_translation_word_by_word_is_one_to_one() -> None:
    targets = [[f"{word}!" for word in sentence] for sentence in SENTENCES]
    linked = token_links(SENTENCES, targets, 20)
    assert min(linked) > 0.9


def test_words_cut_in_two_are_not() -> None:
    targets = [[part for word in s for part in (f"{word}!", f"{word}?")] for s in SENTENCES]
    linked = token_links(SENTENCES, targets, 20)
    assert linked.one_to_one < 0.3
    assert linked.link_f < 0.7  # two thirds of the tokens, at best


def test_only_the_last_sentences_count() -> None:
    whole = [[f"{word}!" for word in sentence] for sentence in SENTENCES]
    halved = [[part for word in s for part in (f"{word}!", f"{word}?")] for s in SENTENCES]
    mixed = halved[:-30] + whole[-30:]
    some, every = (token_links(SENTENCES, mixed, last) for last in (30, len(SENTENCES)))
    assert some.one_to_one > every.one_to_one
    assert some.link_f > every.link_f
