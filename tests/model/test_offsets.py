"""Offsets are character positions of the text as it was given; word ids number its words."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.french_italian import PAIRS, SENTENCES
from support.hostile import HOSTILE, TEXT_VARIANTS, random_texts

import pairpiece

SYMBOLS = ["<sep>", "[A B]", "ﬁ", "e", "\n"]
VARIANTS: dict[str, dict[str, Any]] = {
    **TEXT_VARIANTS,
    "symbols": {"user_defined_symbols": SYMBOLS},
    "symbols, dummy prefix": {"user_defined_symbols": SYMBOLS, "add_dummy_prefix": True},
    "paper": {"mode": "paper"},
    "paper, symbols": {"mode": "paper", "user_defined_symbols": SYMBOLS},
    "paper without dummy prefix": {"mode": "paper", "add_dummy_prefix": False},
    "custom": {"pretokenizer": list},
    "custom, symbols, dummy prefix": {
        "pretokenizer": lambda text: re.split(r"(?<=\s)", text),
        "user_defined_symbols": SYMBOLS,
        "add_dummy_prefix": True,
    },
}
TEXTS = st.text(
    st.characters()
    | st.sampled_from("aeéilgto ,.'\n▁\0\u0301\u0323ﬁ…½ＡｶﾞÅ한\u1112\u1161\u11ab😀\u200d\ud800"),
    max_size=40,
) | st.lists(
    st.sampled_from([" gatto", "il", ", ", "e\u0301", "<sep>", "[A B]", "ﬁ", "...", "  ", "\ud83d"])
).map("".join)


def trained(**options: Any) -> pairpiece.Tokenizer:
    return pairpiece.train_from_pairs(PAIRS, vocab_size=500, **options)


def encoded(tokenizer: pairpiece.Tokenizer, text: str, **options: Any) -> pairpiece.Encoding:
    return tokenizer.encode(text, out_type=pairpiece.Encoding, **options)


def is_byte(piece: str) -> bool:
    return re.fullmatch("<0x[0-9A-F]{2}>", piece) is not None


def spelled(pieces: list[str]) -> str:
    """The text of pieces, a space for ▁."""
    spelling = b"".join(
        bytes.fromhex(piece[3:5]) if is_byte(piece) else piece.encode() for piece in pieces
    )
    return spelling.decode().replace("▁", " ")


def ranges(encoding: pairpiece.Encoding) -> list[tuple[int, int]]:
    """Offsets with the byte pieces of one character counted once."""
    return [offset for offset, _ in groupby(encoding.offsets)]


def assert_consistent(
    tokenizer: pairpiece.Tokenizer, text: str, encoding: pairpiece.Encoding
) -> None:
    ids, offsets = encoding.ids, encoding.offsets
    assert len(encoding) == len(ids) == len(encoding.pieces) == len(offsets)
    assert len(encoding.word_ids) == len(ids)
    assert [tokenizer.id_to_piece(id_) for id_ in ids] == encoding.pieces
    # In range, in order, and nothing left out: no character normalises to nothing.
    assert all(0 <= begin <= end <= len(text) for begin, end in offsets)
    assert offsets == sorted(offsets)
    assert [end for _, end in offsets] == sorted(end for _, end in offsets)
    covered = {i for begin, end in offsets for i in range(begin, end)}
    assert covered == set(range(len(text)))
    # The words are those of `words`, all of them, in order.
    words = tokenizer.words(text)
    assert [word for word, _ in groupby(encoding.word_ids)] == list(range(len(words)))
    for number, tokens in groupby(range(len(ids)), key=encoding.word_ids.__getitem__):
        pieces = [encoding.pieces[i] for i in tokens]
        assert spelled(pieces) == words[number].replace("▁", " ")


@pytest.fixture(scope="module", params=VARIANTS)
def variant(request: pytest.FixtureRequest) -> pairpiece.Tokenizer:
    return trained(**VARIANTS[request.param])


def test_hostile_and_random_texts(variant: pairpiece.Tokenizer) -> None:
    texts = [text for text in HOSTILE if len(text) < 1_000] + list(random_texts(1, 500))
    encodings = variant.encode_batch(texts, out_type=pairpiece.Encoding, num_threads=2)
    for text, encoding in zip(texts, encodings, strict=True):
        assert_consistent(variant, text, encoding)


@settings(max_examples=100, deadline=None)
@given(text=TEXTS)
def test_any_text(variant: pairpiece.Tokenizer, text: str) -> None:
    assert_consistent(variant, text, encoded(variant, text))


@settings(max_examples=50, deadline=None)
@given(text=TEXTS, seed=st.integers(0, 2**64 - 1))
def test_paired_sampled_and_alternative_encodings(
    variant: pairpiece.Tokenizer, text: str, seed: int
) -> None:
    kind = pairpiece.Encoding
    source = ["▁chat", "s", "▁et"]
    assert_consistent(variant, text, encoded(variant, text, source=source))
    assert_consistent(variant, text, variant.sample(text, out_type=kind, seed=seed))
    for encoding in variant.nbest(text, 3, source=source, out_type=kind):
        assert_consistent(variant, text, encoding)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"add_dummy_prefix": True},
        {"pretokenization": "none"},
        {"pretokenization": "paper"},
        {"pretokenization": "paper", "add_dummy_prefix": True},
        {"pretokenizer": list},
        {"user_defined_symbols": SYMBOLS},
    ],
    ids=str,
)
def test_slices_add_up_to_a_text_that_normalization_leaves(options: dict[str, Any]) -> None:
    tokenizer = trained(normalization="none", **options)
    for text in [*HOSTILE, *random_texts(seed=2, count=1_000)]:
        encoding = encoded(tokenizer, text)
        slices = [text[begin:end] for begin, end in ranges(encoding)]
        assert "".join(slices) == text, ascii(text)


def test_a_piece_is_its_slice(tokenizer: pairpiece.Tokenizer) -> None:
    for _, text, _ in SENTENCES:
        encoding = encoded(tokenizer, text)
        for piece, (begin, end) in zip(encoding.pieces, encoding.offsets, strict=True):
            assert is_byte(piece) or piece.replace("▁", " ") == text[begin:end]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Each row: a normalised character and the characters it comes from.
        ("ab", [("a", (0, 1)), ("b", (1, 2))]),
        ("aﬃ1", [("a", (0, 1)), ("f", (1, 2)), ("f", (1, 2)), ("i", (1, 2)), ("1", (2, 3))]),
        ("ＡＢ", [("A", (0, 1)), ("B", (1, 2))]),
        ("a…", [("a", (0, 1)), (".", (1, 2)), (".", (1, 2)), (".", (1, 2))]),
        ("½a", [("1", (0, 1)), ("⁄", (0, 1)), ("2", (0, 1)), ("a", (1, 2))]),
        ("xe\u0301y", [("x", (0, 1)), ("é", (1, 3)), ("y", (3, 4))]),
        ("e\u0301\u0301", [("é", (0, 2)), ("\u0301", (2, 3))]),
        ("a\u0323\u0302b", [("ậ", (0, 3)), ("b", (3, 4))]),
        ("\u1112\u1161\u11ab\u1100", [("한", (0, 3)), ("\u1100", (3, 4))]),
        ("ｶﾞx", [("ガ", (0, 2)), ("x", (2, 3))]),
        ("㍿", [("株", (0, 1)), ("式", (0, 1)), ("会", (0, 1)), ("社", (0, 1))]),
        ("\ud800a\udc00", [("\ufffd", (0, 1)), ("a", (1, 2)), ("\ufffd", (2, 3))]),
        ("😀\0a", [("😀", (0, 1)), ("\0", (1, 2)), ("a", (2, 3))]),
        ("\u00a0 a", [(" ", (0, 1)), (" ", (1, 2)), ("a", (2, 3))]),
    ],
    ids=ascii,
)
def test_a_character_points_to_the_characters_it_comes_from(
    text: str, expected: list[tuple[str, tuple[int, int]]]
) -> None:
    tokenizer = trained(pretokenizer=list)
    encoding = encoded(tokenizer, text)
    characters = []
    for _, tokens in groupby(range(len(encoding)), key=encoding.word_ids.__getitem__):
        numbers = list(tokens)
        [offset] = {encoding.offsets[i] for i in numbers}  # shared by the bytes of a character
        characters.append((spelled([encoding.pieces[i] for i in numbers]), offset))
    assert characters == expected


def test_bytes_of_one_character_share_its_range(tokenizer: pairpiece.Tokenizer) -> None:
    encoding = encoded(tokenizer, "a😀漢")
    assert [is_byte(piece) for piece in encoding.pieces] == [False] + [True] * 7
    assert encoding.offsets == [(0, 1)] + [(1, 2)] * 4 + [(2, 3)] * 3


def test_inserted_spaces_come_from_nowhere() -> None:
    tokenizer = trained(mode="paper")
    for text in ("il gatto, il cane.", ".", "...", "l'ora"):
        encoding = encoded(tokenizer, text)
        for piece, (begin, end) in zip(encoding.pieces, encoding.offsets, strict=True):
            if piece == "▁":
                assert text[begin:end] in ("", " ")
    assert tokenizer.words("a,") == ["▁a", "▁,"]
    encoding = encoded(tokenizer, "a,")
    by_word = {word: encoding.offsets[i] for i, word in enumerate(encoding.word_ids)}
    assert by_word == {0: (0, 1), 1: (1, 2)}


def test_inserted_spaces_inside_a_character_keep_the_order() -> None:
    tokenizer = trained(mode="paper")
    assert tokenizer.normalize("a…b") == "a . . .b"
    assert_consistent(tokenizer, "a…b", encoded(tokenizer, "a…b"))


def test_a_dummy_prefix_comes_from_nowhere() -> None:
    tokenizer = trained(add_dummy_prefix=True)
    encoding = encoded(tokenizer, "il gatto")
    assert encoding.pieces[0] == "▁il"
    assert encoding.offsets[0] == (0, 2)
    encoding = encoded(tokenizer, "😀")
    assert (encoding.pieces[0], encoding.offsets[0]) == ("▁", (0, 0))
    assert encoding.offsets[1:] == [(0, 1)] * 4
    assert encoding.word_ids == [0] * 5


@pytest.fixture(scope="module")
def with_symbols() -> pairpiece.Tokenizer:
    return trained(user_defined_symbols=SYMBOLS)


@settings(max_examples=200, deadline=None)
@given(parts=st.lists(st.sampled_from(["<sep>", "[A B]", "ﬁ", " gatto", "x", "ﬂ", "é", "  "])))
def test_user_defined_symbols_cover_themselves(
    with_symbols: pairpiece.Tokenizer, parts: list[str]
) -> None:
    text = "".join(parts)
    encoding = encoded(with_symbols, text)
    found = [
        (piece, text[begin:end])
        for piece, (begin, end) in zip(encoding.pieces, encoding.offsets, strict=True)
        if piece in SYMBOLS
    ]
    assert found == [(part, part) for part in parts if part in SYMBOLS]


def test_empty_text(variant: pairpiece.Tokenizer) -> None:
    empty = pairpiece.Encoding([], [], [], [], 0.0)
    assert encoded(variant, "") == empty
    assert encoded(variant, "", source=["▁le"]) == empty
    assert encoded(variant, "", source=[]) == empty
    assert variant.nbest("", out_type=pairpiece.Encoding) == [empty]
    assert variant.sample("", out_type=pairpiece.Encoding) == empty
    assert variant.encode("") == variant.encode("", out_type=str) == []
    assert variant.encode_batch([]) == []
    assert variant.encode_batch(["", ""]) == [[], []]


def test_bos_and_eos_belong_to_no_characters_and_no_word(variant: pairpiece.Tokenizer) -> None:
    for text in ("", "il gatto, ", "😀", "ﬁ"):
        plain = encoded(variant, text)
        framed = encoded(variant, text, add_bos=True, add_eos=True)
        assert framed.pieces == ["<s>", *plain.pieces, "</s>"]
        assert framed.offsets == [(0, 0), *plain.offsets, (len(text), len(text))]
        assert framed.word_ids == [-1, *plain.word_ids, -1]


def test_a_merged_unknown_covers_its_run() -> None:
    tokenizer = pairpiece.train_from_pairs(PAIRS, vocab_size=250, byte_fallback=False)
    encoding = encoded(tokenizer, "漢😀。字 il漢")
    assert encoding.pieces == ["<unk>", "▁il", "<unk>"]
    assert encoding.offsets == [(0, 4), (4, 7), (7, 8)]
    encoding = encoded(tokenizer, "\ud800ﬃ漢")
    assert spelled(encoding.pieces[1:-1]) == "ffi"
    assert encoding.offsets[0] == (0, 1)
    assert encoding.offsets[-1] == (2, 3)
