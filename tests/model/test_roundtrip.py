"""Decoding gives back the normalised text, whatever the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from support.french_italian import PAIRS, SENTENCES
from support.hostile import HOSTILE, TEXT_VARIANTS, random_texts

import pairpiece

SYMBOLS = ["<sep>", "<sep><sep>", "▁▁", "[A B]", "é", "ﬁ", "😀", "gatt", "\n"]
PRETOKENIZERS: dict[str, Callable[[str], list[str]]] = {
    "characters": list,
    "lines": lambda text: text.splitlines(keepends=True),
    "whitespace": lambda text: re.split(r"(?<=\s)", text),
    "chunks with empty words": lambda text: [
        part for i in range(0, len(text), 3) for part in (text[i : i + 3], "")
    ],
}
VARIANTS: dict[str, dict[str, Any]] = {
    **TEXT_VARIANTS,
    "not split, dummy prefix": {"pretokenization": "none", "add_dummy_prefix": True},
    "symbols": {"user_defined_symbols": SYMBOLS},
    "symbols, dummy prefix": {"user_defined_symbols": SYMBOLS, "add_dummy_prefix": True},
    "symbols, not split": {"user_defined_symbols": SYMBOLS, "pretokenization": "none"},
    "rare characters as bytes": {"character_coverage": 0.8},
    "unigram": {"mode": "unigram"},
    **{name: {"pretokenizer": function} for name, function in PRETOKENIZERS.items()},
    "characters, symbols and dummy prefix": {
        "pretokenizer": list,
        "user_defined_symbols": SYMBOLS,
        "add_dummy_prefix": True,
    },
}


def trained(**options: Any) -> pairpiece.Tokenizer:
    return pairpiece.train_from_pairs(PAIRS, vocab_size=500, **options)


def without_surrogates(text: str) -> str:
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def assert_round_trip(tokenizer: pairpiece.Tokenizer, texts: list[str], encoded: list[Any]) -> None:
    special = {tokenizer.unk_id, tokenizer.bos_id, tokenizer.eos_id, tokenizer.pad_id}
    decoded = tokenizer.decode_batch(encoded)
    for text, ids, back in zip(texts, encoded, decoded, strict=True):
        assert back == tokenizer.normalize(text), ascii(text)
        assert special.isdisjoint(ids), ascii(text)


@pytest.fixture(scope="module", params=VARIANTS)
def variant(request: pytest.FixtureRequest) -> pairpiece.Tokenizer:
    return trained(**VARIANTS[request.param])


def test_hostile_texts(variant: pairpiece.Tokenizer) -> None:
    assert_round_trip(variant, HOSTILE, [variant.encode(text) for text in HOSTILE])


def test_random_texts(variant: pairpiece.Tokenizer) -> None:
    texts = list(random_texts(seed=1, count=2_000))
    assert_round_trip(variant, texts, [variant.encode(text) for text in texts])


def test_ten_thousand_random_texts(tokenizer: pairpiece.Tokenizer) -> None:
    texts = list(random_texts(seed=2, count=12_000))
    assert len(set(texts)) > 10_000
    assert_round_trip(tokenizer, texts, [tokenizer.encode(text) for text in texts])


@pytest.mark.parametrize("seed", range(3))
def test_batches_on_several_threads(variant: pairpiece.Tokenizer, seed: int) -> None:
    texts = [*HOSTILE, *random_texts(seed=3 + seed, count=300)]
    batch = variant.encode_batch(texts, num_threads=4)
    assert batch == [variant.encode(text) for text in texts]
    assert_round_trip(variant, texts, batch)
    assert variant.decode_batch(batch, num_threads=4) == [variant.decode(ids) for ids in batch]


def test_one_tokenizer_in_several_threads(tokenizer: pairpiece.Tokenizer) -> None:
    texts = [*HOSTILE, *random_texts(seed=13, count=300)]
    with ThreadPoolExecutor(4) as pool:
        batches = list(pool.map(tokenizer.encode_batch, [texts] * 16))
        single = list(pool.map(tokenizer.encode, texts))
    assert all(batch == single for batch in batches)
    assert_round_trip(tokenizer, texts, single)


def test_pieces_and_encodings_have_the_same_ids(variant: pairpiece.Tokenizer) -> None:
    for text in [*HOSTILE, *random_texts(seed=4, count=300)]:
        ids = variant.encode(text)
        encoding = variant.encode(text, out_type=pairpiece.Encoding)
        assert encoding.ids == ids, ascii(text)
        assert encoding.pieces == variant.encode(text, out_type=str)
        assert [variant.piece_to_id(piece) for piece in encoding.pieces] == ids
        assert [variant.id_to_piece(id_) for id_ in ids] == encoding.pieces


@pytest.mark.parametrize(
    "source",
    [["▁chat", "s"], ["▁le", "▁chat", "▁est", "▁noir", "."], [["▁sou", "ris"], []], ["unseen"], []],
    ids=repr,
)
@pytest.mark.parametrize("whole_sentence", [False, True])
def test_paired_encoding(
    tokenizer: pairpiece.Tokenizer, source: list[Any], whole_sentence: bool
) -> None:
    texts = [*HOSTILE, *random_texts(seed=5, count=500)]
    batch = tokenizer.encode_batch(
        texts, [source] * len(texts), whole_sentence=whole_sentence, num_threads=2
    )
    assert_round_trip(tokenizer, texts, batch)
    for text, ids in zip(texts[:100], batch[:100], strict=True):
        assert tokenizer.encode(text, source=source, whole_sentence=whole_sentence) == ids


def test_paired_encoding_of_every_variant(variant: pairpiece.Tokenizer) -> None:
    texts = [*HOSTILE, *random_texts(seed=6, count=300)]
    sources = [["▁chat", "s", "▁noir", "s"]] * len(texts)
    if not variant.is_paired:
        with pytest.raises(pairpiece.OptionError, match="without a source side"):
            variant.encode_batch(texts, sources)
        return
    assert_round_trip(variant, texts, variant.encode_batch(texts, sources))


def test_aligned_sentences(tokenizer: pairpiece.Tokenizer) -> None:
    for source, target, links in SENTENCES:
        ids = tokenizer.encode(target, source=source, alignment=links)
        assert tokenizer.decode(ids) == target


def test_samples_and_alternatives(variant: pairpiece.Tokenizer) -> None:
    texts = [text for text in [*HOSTILE, *random_texts(seed=7, count=100)] if len(text) < 1_000]
    for text in texts:
        drawn = [variant.sample(text, alpha=alpha, seed=8) for alpha in (0.0, 0.1, 1.0)]
        for ids in drawn + variant.nbest(text, 3):
            assert variant.decode(ids) == variant.normalize(text), ascii(text)


def test_without_normalization_only_lone_surrogates_change() -> None:
    tokenizer = trained(normalization="none")
    for text in [*HOSTILE, *random_texts(seed=9, count=2_000)]:
        assert tokenizer.decode(tokenizer.encode(text)) == without_surrogates(text)


def test_bos_and_eos_leave_no_trace_in_the_text(tokenizer: pairpiece.Tokenizer) -> None:
    for text in HOSTILE:
        ids = tokenizer.encode(text, add_bos=True, add_eos=True)
        assert ids == [tokenizer.bos_id, *tokenizer.encode(text), tokenizer.eos_id]
        assert tokenizer.decode(ids) == tokenizer.normalize(text)


@pytest.mark.parametrize("text", ["<s>", "</s>", "<unk>", "<pad>", "<0x41>", "<0xC3><0xA9>"])
def test_text_that_spells_a_special_piece_is_only_text(text: str) -> None:
    # Words that spell the pieces are in the training data too.
    pairs = [*PAIRS, (["x"], text, 500), (["x"], "▁" + text, 500)]
    tokenizer = pairpiece.train_from_pairs(pairs, vocab_size=500)
    pieces = tokenizer.encode(text, out_type=str)
    assert not set(pieces) & {"<s>", "</s>", "<unk>", "<pad>", "<0x41>", "<0xC3>", "<0xA9>"}
    assert "".join(pieces) == text
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_a_literal_marker_is_not_a_space(tokenizer: pairpiece.Tokenizer) -> None:
    assert tokenizer.encode("▁gatto") != tokenizer.encode(" gatto")
    assert tokenizer.encode("▁", out_type=str) == ["<0xE2>", "<0x96>", "<0x81>"]
    assert tokenizer.encode(" ", out_type=str) == ["▁"]


def test_the_longest_user_defined_symbol_is_one_token() -> None:
    tokenizer = trained(user_defined_symbols=["<sep>", "<sep><sep>", "ﬁ"])
    pieces = tokenizer.encode("<sep><sep><sep>gatto ﬁ", out_type=str)
    assert pieces[:2] == ["<sep><sep>", "<sep>"]
    assert pieces[-2:] == ["▁", "ﬁ"]
    # Found before the normalisation, which leaves them alone.
    assert tokenizer.normalize("ﬁ ﬂ") == "ﬁ fl"


def test_the_marker_cannot_be_a_user_defined_symbol() -> None:
    with pytest.raises(pairpiece.OptionError, match="▁"):
        trained(user_defined_symbols=["▁"])


@pytest.mark.parametrize("symbol", ["a", "à", " ", "▁il", " il", "<sep>"])
def test_a_user_defined_symbol_is_no_learned_piece_as_well(symbol: str) -> None:
    tokenizer = trained(user_defined_symbols=[symbol])
    assert len(tokenizer.get_vocab()) == tokenizer.vocab_size == 500


def test_a_user_defined_symbol_cannot_be_named_like_a_byte() -> None:
    with pytest.raises(pairpiece.OptionError):
        trained(user_defined_symbols=["<0x41>"])
    tokenizer = pairpiece.train_from_pairs(
        PAIRS, vocab_size=250, byte_fallback=False, user_defined_symbols=["<0x41>"]
    )
    assert tokenizer.encode("<0x41>", out_type=str) == ["<0x41>"]


def test_a_dummy_prefix_makes_the_first_word_like_any_other() -> None:
    tokenizer = trained(add_dummy_prefix=True)
    assert tokenizer.encode("gatto", out_type=str)[0].startswith("▁")
    assert tokenizer.encode("gatto") == trained().encode(" gatto")
    assert tokenizer.decode(tokenizer.encode("gatto")) == "gatto"
    assert tokenizer.decode(tokenizer.encode(" gatto")) == " gatto"
    assert tokenizer.encode("") == []


@pytest.fixture(scope="module", params=["paper", "paper-hard"])
def paper(request: pytest.FixtureRequest) -> pairpiece.Tokenizer:
    return trained(mode=request.param)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a, b", "a , b"),
        ("a , b", "a , b"),
        ("a,b", "a ,b"),
        ("no?!", "no ? !"),
        ("...", ". . ."),
        ("…", ". . ."),
        (",", ","),
        (" ,", " ,"),
        ("l'ora", "l 'ora"),
        ("a  b ", "a  b "),
        ("2+2", "2 +2"),
        ("gatto", "gatto"),
        ("", ""),
    ],
)
def test_paper_splitting_puts_a_space_before_punctuation(
    paper: pairpiece.Tokenizer, text: str, expected: str
) -> None:
    assert paper.decode(paper.encode(text)) == expected
    assert paper.normalize(text) == expected


def test_paper_splitting_puts_a_space_at_the_beginning(paper: pairpiece.Tokenizer) -> None:
    assert paper.words("gatto, cane") == ["▁gatto", "▁,", "▁cane"]
    assert paper.words(", cane") == ["▁,", "▁cane"]
    assert paper.words(" cane") == ["▁", "▁cane"]


def test_paper_splitting_loses_nothing_but_spacing(paper: pairpiece.Tokenizer) -> None:
    texts = [*HOSTILE, *random_texts(seed=10, count=1_000)]
    batch = paper.encode_batch(texts, num_threads=2)
    assert_round_trip(paper, texts, batch)
    lossless = trained()
    for text, back in zip(texts, paper.decode_batch(batch), strict=True):
        assert back.replace(" ", "") == lossless.normalize(text).replace(" ", ""), ascii(text)
        assert paper.normalize(back) == back or lossless.normalize(back) != back, ascii(text)


@pytest.fixture(scope="module", params=[0, 7])
def without_bytes(request: pytest.FixtureRequest) -> pairpiece.Tokenizer:
    return pairpiece.train_from_pairs(
        PAIRS, vocab_size=250, byte_fallback=False, unk_id=request.param
    )


@pytest.mark.parametrize("text", ["漢", "漢字", "漢字。😀", "\0\ud800", "😀" * 1_000])
def test_without_bytes_a_run_of_unknown_characters_is_one_unknown(
    without_bytes: pairpiece.Tokenizer, text: str
) -> None:
    unk = without_bytes.unk_id
    assert without_bytes.encode(text) == [unk]
    assert without_bytes.encode_batch([text]) == [[unk]]
    assert without_bytes.encode(text, out_type=str) == ["<unk>"]
    assert without_bytes.encode(text, source=["▁chat"]) == [unk]
    assert without_bytes.encode(text, out_type=pairpiece.Encoding).ids == [unk]
    assert without_bytes.sample(text, seed=1) == [unk]
    assert without_bytes.nbest(text, 2) == [[unk]]
    assert without_bytes.decode([unk]) == " ⁇ "


def test_without_bytes_known_characters_separate_unknown_ones(
    without_bytes: pairpiece.Tokenizer,
) -> None:
    assert without_bytes.encode("漢 字", out_type=str) == ["<unk>", "▁", "<unk>"]
    known = without_bytes.encode(" gatto")
    unk = without_bytes.unk_id
    assert without_bytes.encode("漢字 gatto漢") == [unk, *known, unk]


def test_without_bytes_known_text_comes_back(without_bytes: pairpiece.Tokenizer) -> None:
    for _, target, _ in SENTENCES:
        if "O" not in target:  # not a character of the pairs
            assert without_bytes.decode(without_bytes.encode(target)) == target
