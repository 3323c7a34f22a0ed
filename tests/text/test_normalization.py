"""Normalisation agrees with SentencePiece (nfkc) and with the Unicode standard (nfc)."""

from __future__ import annotations

import random
import re
import sys
import unicodedata
from itertools import permutations

import pytest
import sentencepiece
from support.french_italian import PAIRS
from support.hostile import HOSTILE, random_texts

import pairpiece

CHARACTERS = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000]
CHANGED = [c for c in CHARACTERS if unicodedata.normalize("NFD", c) != c]


@pytest.fixture(scope="module")
def sentencepiece_nfkc() -> sentencepiece.SentencePieceNormalizer:
    return sentencepiece.SentencePieceNormalizer(
        rule_name="nfkc",
        add_dummy_prefix=False,
        escape_whitespaces=False,
        remove_extra_whitespaces=False,
    )


@pytest.fixture(scope="module")
def nfc() -> pairpiece.Tokenizer:
    return pairpiece.train_from_pairs(PAIRS, vocab_size=500, normalization="nfc")


@pytest.fixture(scope="module")
def unnormalized() -> pairpiece.Tokenizer:
    return pairpiece.train_from_pairs(PAIRS, vocab_size=500, normalization="none")


def without_surrogates(text: str) -> str:
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def differences(texts: list[str], ours: list[str], theirs: list[str]) -> list[str]:
    rows = zip(texts, ours, theirs, strict=True)
    return [ascii(row) for row in rows if row[1] != row[2]][:10]


def test_nfkc_is_the_default(tokenizer: pairpiece.Tokenizer) -> None:
    assert tokenizer.options.normalization == "nfkc"
    assert tokenizer.normalize("ﬁ Ａ ① é e\u0301") == "fi A 1 é é"


def test_nfkc_of_every_character_is_that_of_sentencepiece(
    tokenizer: pairpiece.Tokenizer, sentencepiece_nfkc: sentencepiece.SentencePieceNormalizer
) -> None:
    ours = [tokenizer.normalize(c) for c in CHARACTERS]
    assert not differences(CHARACTERS, ours, sentencepiece_nfkc.normalize(CHARACTERS))


def test_nfkc_of_decomposed_characters_is_that_of_sentencepiece(
    tokenizer: pairpiece.Tokenizer, sentencepiece_nfkc: sentencepiece.SentencePieceNormalizer
) -> None:
    texts = [unicodedata.normalize(form, c) + "x" for c in CHANGED for form in ("NFD", "NFKD")]
    ours = [tokenizer.normalize(text) for text in texts]
    assert not differences(texts, ours, sentencepiece_nfkc.normalize(texts))


def test_nfkc_of_random_sequences_is_that_of_sentencepiece(
    tokenizer: pairpiece.Tokenizer, sentencepiece_nfkc: sentencepiece.SentencePieceNormalizer
) -> None:
    generator = random.Random(1)
    # Where the rules are dense: characters that decompose, in pieces and next to each other.
    letters = [unicodedata.normalize("NFD", generator.choice(CHANGED)) for _ in range(3_000)]
    letters += generator.sample(CHANGED, 3_000) + list("aeAE .\n\0" * 50)
    texts = ["".join(generator.choices(letters, k=generator.randint(1, 9))) for _ in range(20_000)]
    texts += ["".join(generator.sample(text, len(text))) for text in texts[:5_000]]
    texts += map(without_surrogates, [*HOSTILE, *random_texts(seed=2, count=5_000)])
    ours = [tokenizer.normalize(text) for text in texts]
    assert not differences(texts, ours, sentencepiece_nfkc.normalize(texts))


def test_nfc_of_every_character_is_that_of_unicode(nfc: pairpiece.Tokenizer) -> None:
    ours = [nfc.normalize(c) for c in CHARACTERS]
    assert not differences(CHARACTERS, ours, [unicodedata.normalize("NFC", c) for c in CHARACTERS])


def test_nfc_composes_every_decomposition(nfc: pairpiece.Tokenizer) -> None:
    # In context, so that a rule neither stops short nor eats what follows.
    texts = [f"{unicodedata.normalize('NFD', c)}x" for c in CHANGED]
    texts += [f"x {unicodedata.normalize('NFD', c)}" for c in CHANGED]
    ours = [nfc.normalize(text) for text in texts]
    theirs = [unicodedata.normalize("NFC", text) for text in texts]
    assert not differences(texts, ours, theirs)


def test_nfc_composes_marks_in_any_order_and_halfway(nfc: pairpiece.Tokenizer) -> None:
    texts = []
    for character in CHANGED:
        base, *marks = unicodedata.normalize("NFD", character)
        for order in permutations(marks):
            for split in range(len(order)):
                begin = unicodedata.normalize("NFC", base + "".join(order[:split]))
                spelling = begin + "".join(order[split:])
                if unicodedata.normalize("NFC", spelling) == character:
                    texts.append(spelling)
    assert len(texts) > len(CHANGED) / 2
    ours = [nfc.normalize(text) for text in texts]
    assert not differences(texts, ours, [unicodedata.normalize("NFC", text) for text in texts])


def test_nfc_leaves_compatibility_characters(nfc: pairpiece.Tokenizer) -> None:
    text = "ﬁ Ａ ① ² ｶﾞ … \u00a0 ™"
    assert nfc.normalize(text) == text


def test_none_changes_nothing_but_lone_surrogates(unnormalized: pairpiece.Tokenizer) -> None:
    everything = "".join(CHARACTERS)
    assert unnormalized.normalize(everything) == everything
    for text in [*HOSTILE, *random_texts(seed=3, count=5_000)]:
        assert unnormalized.normalize(text) == without_surrogates(text), ascii(text)


@pytest.mark.parametrize("normalization", ["nfkc", "nfc", "none"])
def test_a_lone_surrogate_becomes_the_replacement_character(normalization: str) -> None:
    tokenizer = pairpiece.train_from_pairs(PAIRS, vocab_size=500, normalization=normalization)
    for c in range(0xD800, 0xE000):
        assert tokenizer.normalize(f"a{chr(c)}b") == "a\ufffdb"
    assert tokenizer.normalize("\ud83d\ude00\ud83d") == "\ufffd\ufffd\ufffd"


@pytest.mark.parametrize("normalization", ["nfkc", "nfc", "none"])
@pytest.mark.parametrize(
    "text", [" ", "  ", " a", "a ", "  a  b   ", "\t\ta\n\nb\r\n", " \n ", "a \u200b b"]
)
def test_spaces_are_neither_collapsed_nor_stripped(normalization: str, text: str) -> None:
    tokenizer = pairpiece.train_from_pairs(PAIRS, vocab_size=500, normalization=normalization)
    assert tokenizer.normalize(text) == text


def test_nfkc_makes_other_spaces_plain_but_keeps_them(tokenizer: pairpiece.Tokenizer) -> None:
    assert tokenizer.normalize("\u00a0a\u3000\u2003b\u202f") == " a  b "


def test_unknown_normalization_is_an_error() -> None:
    with pytest.raises(pairpiece.OptionError, match="nfkc, nfc, none"):
        pairpiece.train_from_pairs(PAIRS, vocab_size=500, normalization="nfd")
