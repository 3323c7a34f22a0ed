"""Splitting text into words."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.french_italian import PAIRS, SENTENCES
from support.hostile import HOSTILE, random_texts

import pairpiece

# A word over class names: a leading mark counts as a letter.
WORD = re.compile(" ?(?:[LM]+|S[SM]*|C[CM]*)| ")


def class_of(character: str) -> str:
    if character == " ":
        return " "
    category = unicodedata.category(character)
    if category[0] == "M" or category == "Cf":
        return "M"
    if category[0] in "PS":
        return "S"
    return "C" if category == "Cc" or category[0] == "Z" else "L"


def expected_words(text: str) -> list[str]:
    classes = "".join(map(class_of, text))
    return [text[match.start() : match.end()] for match in WORD.finditer(classes)]


def trained(**options: Any) -> pairpiece.Tokenizer:
    return pairpiece.train_from_pairs(PAIRS, vocab_size=500, **options)


@pytest.fixture(scope="module")
def unnormalized() -> pairpiece.Tokenizer:
    return trained(normalization="none")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("gatto", ["gatto"]),
        ("il gatto", ["il", " gatto"]),
        (" il gatto", [" il", " gatto"]),
        ("L'ora è tarda.", ["L", "'", "ora", " è", " tarda", "."]),
        ("2 gatti3", ["2", " gatti3"]),
        ("no?! (sì)", ["no", "?!", " (", "sì", ")"]),
        ("2+2=4€", ["2", "+", "2", "=", "4", "€"]),
        # Spaces.
        (" ", [" "]),
        ("   ", [" ", " ", " "]),
        ("a  b", ["a", " ", " b"]),
        ("a ", ["a", " "]),
        (" ,", [" ,"]),
        # Controls and separators.
        ("a\nb", ["a", "\n", "b"]),
        ("a\r\n\tb", ["a", "\r\n\t", "b"]),
        ("a \n b", ["a", " \n", " b"]),
        ("a\0b", ["a", "\0", "b"]),
        ("a\u2028\nb", ["a", "\u2028\n", "b"]),
        # Marks and format characters stay with the character before them.
        ("x\u0302y", ["x\u0302y"]),
        ("!\u0302a", ["!\u0302", "a"]),
        ("\n\u0302a", ["\n\u0302", "a"]),
        ("\u0302a", ["\u0302a"]),
        ("\u0302!", ["\u0302", "!"]),
        ("a \u0302b", ["a", " \u0302b"]),
        ("a\u200db\u00adc", ["a\u200db\u00adc"]),
        ("👩🏽‍🚀!a", ["👩🏽‍🚀!", "a"]),
        ("1\ufe0f\u20e3a", ["1\ufe0f\u20e3a"]),
        ("שָׁלוֹם\u200f!", ["שָׁלוֹם\u200f", "!"]),
        ("नमस्ते", ["नमस्ते"]),
        # Other scripts are not split.
        ("漢字かな", ["漢字かな"]),
        ("漢字。かな", ["漢字", "。", "かな"]),
        # A literal marker is a symbol.
        ("a▁b", ["a", "▁", "b"]),
        # Normalisation comes first.
        ("a…b", ["a", "...", "b"]),
        ("a\u00a0b", ["a", " b"]),
        ("x²", ["x2"]),
        ("\ud800a", ["\ufffd", "a"]),
    ],
    ids=ascii,
)
def test_lossless_words(tokenizer: pairpiece.Tokenizer, text: str, words: list[str]) -> None:
    marked = [word.replace(" ", "▁") for word in words]
    assert pairpiece.split_words(text) == tokenizer.words(text) == marked


def test_every_character_has_its_class(unnormalized: pairpiece.Tokenizer) -> None:
    assigned = [
        chr(c)
        for c in range(sys.maxunicode + 1)
        if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co") and c != 0x2581
    ]
    text = "".join(f" a{c} .{c} \n{c}" for c in [*assigned, "\ue000", "\U0010fffd"])
    words = [word.replace("▁", " ") for word in unnormalized.words(text)]
    pairs = zip(words, expected_words(text), strict=False)
    assert [ascii(pair) for pair in pairs if pair[0] != pair[1]][:10] == []


@settings(max_examples=500, deadline=None)
@given(
    text=st.text(
        st.characters(exclude_categories=["Cn", "Cs"])
        | st.sampled_from(" \n\t.,'aZ1\u0301\u200d▁é\u00a0😀")
    )
)
@example(text="\u0301 \u0301.\u0301")
def test_words_are_runs_of_one_class(unnormalized: pairpiece.Tokenizer, text: str) -> None:
    words = expected_words(text)
    assert "".join(words) == text
    assert unnormalized.words(text) == [word.replace(" ", "▁") for word in words]


def test_words_add_up_to_the_normalized_text(tokenizer: pairpiece.Tokenizer) -> None:
    for text in [*HOSTILE, *random_texts(seed=1, count=3_000)]:
        words = pairpiece.split_words(text)
        assert "".join(words) == tokenizer.normalize(text).replace(" ", "▁"), ascii(text)
        assert all(words), ascii(text)
        assert tokenizer.words(text) == words, ascii(text)


def test_links_of_a_sentence_number_the_words(tokenizer: pairpiece.Tokenizer) -> None:
    for source, target, links in SENTENCES:
        words = tokenizer.words(target)
        assert max(t for _, t in links) < len(words)
        assert max(s for s, _ in links) < len(source)


def test_a_dummy_prefix_belongs_to_the_first_word() -> None:
    tokenizer = trained(add_dummy_prefix=True)
    assert tokenizer.words("il gatto") == ["▁il", "▁gatto"]
    assert tokenizer.words(" il") == ["▁", "▁il"]
    assert tokenizer.words("") == []


def test_not_split() -> None:
    tokenizer = trained(pretokenization="none")
    assert tokenizer.words(" il gatto,\n no") == ["▁il▁gatto,\n▁no"]
    assert tokenizer.words("") == []


DIGITS_APART = {
    "lossless": "il ▁ 2 0 2 4 ▁x 1 2 y - ▁ 3 , 4 .",
    "spaces": "il ▁ 2 0 2 4 ▁x 1 2 y- ▁ 3 , 4 .",
    "paper": "il ▁ 2 0 2 4 ▁x 1 2 y ▁- ▁ 3 ▁, 4 ▁.",
    "none": "il▁ 2 0 2 4 ▁x 1 2 y-▁ 3 , 4 .",
}


@pytest.mark.parametrize("pretokenization", DIGITS_APART)
def test_a_digit_is_a_word_of_its_own_if_wanted(pretokenization: str) -> None:
    tokenizer = trained(pretokenization=pretokenization, split_digits=True)
    assert tokenizer.words("il 2024 x12y- 3,4.") == DIGITS_APART[pretokenization].split()
    assert tokenizer.words("12") == ["1", "2"]
    assert tokenizer.words(" 1 ") == ["▁", "1", "▁"]
    assert tokenizer.words("") == []
    together = trained(pretokenization=pretokenization)
    assert together.words("12") == ["12"]


def test_digits_are_found_after_normalisation_and_in_symbols_not_at_all() -> None:
    tokenizer = trained(split_digits=True, user_defined_symbols=["<10>"])
    assert tokenizer.words("x² ２４") == ["x", "2", "▁", "2", "4"]
    assert tokenizer.words("1<10>2") == ["1", "<10>", "2"]
    assert tokenizer.words("1\ufe0f\u20e3a") == ["1", "\ufe0f\u20e3a"]


def test_the_space_before_a_number_is_a_word_as_in_sentencepiece() -> None:
    tokenizer = trained(split_digits=True, add_dummy_prefix=True, remove_extra_spaces=True)
    assert tokenizer.words("12  3 ") == ["▁", "1", "2", "▁", "3"]


def test_the_digits_of_all_scripts_are_known() -> None:
    tokenizer = trained(normalization="none", split_digits=True)
    assigned = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) != "Cn"]
    digits = {c for c in assigned if unicodedata.category(c) == "Nd"}
    assert len(digits) > 600
    letters = {c for c in assigned if class_of(c) == "L" and unicodedata.category(c) != "Cs"}
    words = tokenizer.words("".join(f"a{c}{c}b " for c in sorted(letters)))
    assert {word for word in words if word in letters and word not in "ab"} == digits


def test_a_custom_pretokenizer_splits_digits_itself() -> None:
    with pytest.raises(pairpiece.OptionError, match="let it split digits"):
        trained(pretokenizer=list, split_digits=True)


@pytest.mark.parametrize("pretokenization", ["lossless", "paper", "none"])
def test_a_user_defined_symbol_is_a_word_of_its_own(pretokenization: str) -> None:
    tokenizer = trained(pretokenization=pretokenization, user_defined_symbols=["<sep>", "a b"])
    assert tokenizer.words("il<sep>gatto<sep>") == ["il", "<sep>", "gatto", "<sep>"]
    assert tokenizer.words("<sep>") == ["<sep>"]
    assert tokenizer.words("<sep><sep>il") == ["<sep>", "<sep>", "il"]
    assert tokenizer.words("la bella") == ["l", "a▁b", "ella"]
    before = ["il▁"] if pretokenization == "none" else ["il", "▁"]
    assert tokenizer.words("il <sep>gatto") == [*before, "<sep>", "gatto"]


def test_a_custom_pretokenizer_sees_normalized_text() -> None:
    seen: list[str] = []

    def split(text: str) -> list[str]:
        seen.append(text)
        return [text]

    tokenizer = trained(pretokenizer=split, add_dummy_prefix=True, user_defined_symbols=["<sep>"])
    assert tokenizer.options.pretokenization == "custom"
    tokenizer.words("ﬁne, <sep> sì")
    assert seen == [" fine, ", " sì"]


def test_text_that_normalizes_to_a_symbol_is_split_like_other_text() -> None:
    tokenizer = trained(pretokenizer=list, user_defined_symbols=["fi"])
    assert tokenizer.words("fi") == ["fi"]
    assert tokenizer.words("aﬁ") == ["a", "f", "i"]
    assert tokenizer.words("ﬁ") == ["f", "i"]


@pytest.mark.parametrize(
    ("split", "words"),
    [
        (list, ["i", "l", "▁", "g", "a", "t", "t", "o"]),
        (lambda text: [text], ["il▁gatto"]),
        (lambda text: ["", text[:4], "", text[4:], ""], ["il▁g", "atto"]),
        (lambda text: text.partition(" "), ["il", "▁", "gatto"]),
    ],
    ids=["characters", "whole", "empty words", "tuple"],
)
def test_words_of_a_custom_pretokenizer(
    split: Callable[[str], list[str]], words: list[str]
) -> None:
    tokenizer = trained(pretokenizer=split)
    assert tokenizer.words("il gatto") == words
    encoding = tokenizer.encode("il gatto", out_type=pairpiece.Encoding)
    assert encoding.word_ids[-1] == len(words) - 1
    assert tokenizer.words("") == []


@pytest.mark.parametrize(
    "split",
    [
        str.split,
        lambda _: [],
        lambda text: [text, "x"],
        lambda text: [text[:-1]],
        lambda text: [text.upper()],
        lambda text: [text.replace(" ", "▁")],
        lambda text: [text[::-1]],
    ],
    ids=["split", "nothing", "more", "less", "changed", "marker", "reversed"],
)
def test_words_that_do_not_add_up_are_an_error(split: Callable[[str], list[str]]) -> None:
    tokenizer = trained(pretokenizer=split)
    message = "must add up to the text 'il gatto'"
    with pytest.raises(pairpiece.OptionError, match=message):
        tokenizer.words("il gatto")
    with pytest.raises(pairpiece.OptionError, match=message):
        tokenizer.encode("il gatto")
    with pytest.raises(pairpiece.OptionError, match=message):
        tokenizer.encode_batch(["il gatto"], [["▁chat"]])
    with pytest.raises(pairpiece.OptionError, match=message):
        tokenizer.nbest("il gatto")
    with pytest.raises(pairpiece.OptionError, match=message):
        tokenizer.sample("il gatto")


def test_custom_pretokenization_needs_a_pretokenizer() -> None:
    with pytest.raises(pairpiece.OptionError, match="pretokenizer"):
        trained(pretokenization="custom")
    with pytest.raises(pairpiece.OptionError, match="lossless"):
        trained(pretokenization="words")
