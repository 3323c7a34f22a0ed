"""Other tools find the same tokens in a text as the tokenizer itself, and the same text in them."""

from __future__ import annotations

import gzip
import random
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.command_line import begin_of_sample
from support.exported import Exported, assert_alike, is_comparable, is_normalized_otherwise
from support.french_italian import PAIRS, TARGETS
from support.hostile import HOSTILE, random_texts

import pairpiece
from pairpiece.text.vocabulary import PieceType

DATA = Path(__file__).parents[3] / "shared" / "data"
TOOLS = ["sentencepiece", "tokenizers", "transformers"]
HUGGING_FACE = TOOLS[1:]
VARIANTS: dict[str, dict[str, Any]] = {
    "small": {},
    "dummy prefix": {"add_dummy_prefix": True},
    "symbols": {"user_defined_symbols": ("<sep>", "<sep><sep>", "[MASK]", "ﬁ", "😀", "\n")},
    "nfc": {"normalization": "nfc"},
    "no normalization": {"normalization": "none"},
    "no bytes": {"byte_fallback": False},
    "not split": {"pretokenization": "none"},
    "unigram": {"mode": "unigram"},
    "spaces": {"pretokenization": "spaces"},
    "paper": {"mode": "paper"},
    "paper, no prefix": {"mode": "paper", "add_dummy_prefix": False},
    "squeezed": {"remove_extra_spaces": True, "add_dummy_prefix": True},
    "rare characters as bytes": {"character_coverage": 0.8},
    "digits split": {"split_digits": True},
    "digits split, no bytes": {"split_digits": True, "byte_fallback": False},
    "only digits split": {"split_digits": True, "pretokenization": "none"},
    "digits and spaces": {"split_digits": True, "pretokenization": "spaces"},
    "paper, digits split": {"split_digits": True, "mode": "paper"},
    "other ids": {"unk_id": 2, "bos_id": -1, "eos_id": 0, "pad_id": 1, "eos_piece": "<eos>"},
}

NUMBERS: list[tuple[list[str], str, int]] = [
    (["▁", number], word, 9)
    for number in ("1", "12", "234", "2024")
    for word in (f"▁{number}", number)
]

HAND_WRITTEN: list[str] = [
    *TARGETS,
    'Il gatto, l\'acqua e 3 topi (non 4): "costa 1.234,56 €"!',
    "Ελληνικά, русский, українська, հայերեն, ქართული, አማርኛ",
    "العربية עברית हिन्दी বাংলা தமிழ் ไทย ລາວ ខ្មែរ မြန်မာ བོད་",
    "中文 日本語 한국어 ᠮᠣᠩᠭᠣᠯ 𐌲𐌿𐍄 𓀀 ꦗꦮ",
    "Straße, garçon, œuvre, Ħal Għaxaq, wśo, žłobik, İstanbul ı",
    "e\u0300 piu\u0300 citta\u0300 perche\u0301 n\u0303 A\u030a",
    "👩\u200d👩\u200d👧\u200d👦👍🏽 va bene 🏳️\u200d🌈",
    "a\x00b\x01\x02\x07\x08\x1b\x7f\x9fc",
    "riga\nriga\r\nriga\ttab\x0b\x0c\x85",
    "a  b   c    d          e",
    "   prima e dopo   ",
    "<0x41>",
    "<<0x41>",
    "<<<0x41>>>",
    "x<0x41><0x42>y <0xC3><0xA9>",
    "<0x4> <0xgg> <0x4a> <0x41 > <0X41>",
    "<0x41><0x4<0x41>1><0x",
    "＜0x41＞ ＜＜0x41＞",
    "<sep>gatto <sep><sep>[MASK]il <sep> ﬁ ﬂ",
    "x=1;y=2,3;z=-4.5e+6%7&8|9^10~11!12?13@14#15$16*17/18\\19_20`21'22\"23",
    "2024-02-29T12:34:56.789+01:00 192.168.0.1 https://a.it/b?c=d&e=f#g",
    "precipitevolissimevolmente" * 40,
    "Ж" * 700 + "漢" * 700 + "😀" * 700,
    ("Il gatto mangia il topo, e poi dorme in casa. " * 500)[:20_000],
]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, no_fsync: None) -> Exported:  # noqa: ARG001
    trained = pairpiece.train(corpus=begin_of_sample(2_000), vocab_size=1500, cache=False)
    return Exported.of(trained, tmp_path_factory.mktemp("real"))


@pytest.fixture(scope="module", params=VARIANTS)
def variant(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    no_fsync: None,  # noqa: ARG001
) -> Exported:
    options = VARIANTS[request.param]
    size = 500 if options.get("byte_fallback", True) else 250
    trained = pairpiece.train_from_pairs([*PAIRS, *NUMBERS], size, **options)
    return Exported.of(trained, tmp_path_factory.mktemp("variant"))


def scalar_values(texts: Iterable[str]) -> list[str]:
    """The texts that other tools take at all: those without lone surrogates."""
    return [text for text in texts if not re.search("[\ud800-\udfff]", text)]


def scalar_value(generator: random.Random) -> str:
    code = generator.randrange(0x110000 - 0x800)
    return chr(code if code < 0xD800 else code + 0x800)


def uniform(seed: int, count: int) -> list[str]:
    """Characters from all of Unicode, the likeliest being unassigned."""
    generator = random.Random(seed)
    sizes = [generator.randint(1, 20) for _ in range(count)]
    return ["".join(scalar_value(generator) for _ in range(size)) for size in sizes]


def latin(seed: int, count: int) -> list[str]:
    """Mostly letters, spaces and punctuation of Latin text, and now and then anything else."""
    generator = random.Random(seed)
    words = [word.replace("▁", " ") for _, word, _ in PAIRS]

    def part() -> str:
        kind = generator.choices(range(5), (5, 5, 2, 1, 1))[0]
        return (
            generator.choice(words),
            chr(generator.randint(0x20, 0x7E)),
            chr(generator.randint(0xA0, 0x24F)),
            chr(generator.randint(0x300, 0x36F)),
            scalar_value(generator),
        )[kind]

    return ["".join(part() for _ in range(generator.randint(1, 20))) for _ in range(count)]


# ---------------------------------------------------------------------- the same tokens


@pytest.mark.parametrize("tool", TOOLS)
def test_multilingual_and_hostile_texts(real: Exported, tool: str) -> None:
    texts = scalar_values([*HAND_WRITTEN, *HOSTILE])
    assert assert_alike(real, tool, texts) > len(texts) * 0.8


@pytest.mark.parametrize("texts", [uniform, latin, random_texts], ids=lambda make: make.__name__)
@pytest.mark.parametrize("tool", TOOLS)
def test_random_texts(
    real: Exported, tool: str, texts: Callable[[int, int], Iterable[str]]
) -> None:
    drawn = scalar_values(texts(17, 2_000))
    assert assert_alike(real, tool, drawn) > len(drawn) * 0.7


@pytest.mark.parametrize("tool", TOOLS)
def test_options(variant: Exported, tool: str) -> None:
    texts = scalar_values([*HAND_WRITTEN, *HOSTILE, *random_texts(5, 300), *latin(6, 300)])
    options = variant.ours.options
    if tool == "sentencepiece" and options.pretokenization == "paper":
        if not options.add_dummy_prefix:
            with pytest.raises(pairpiece.OptionError, match="add_dummy_prefix=true"):
                variant.loaded(tool)
            return
        assert assert_alike(variant, tool, texts) > len(texts) * 0.4
        return
    assert assert_alike(variant, tool, texts) > len(texts) * 0.7


def test_words_are_numbered_alike(variant: Exported) -> None:
    options = variant.ours.options
    texts = scalar_values([*HAND_WRITTEN, *HOSTILE, *random_texts(5, 300), *latin(6, 300)])
    if options.pretokenization in ("none", "spaces"):  # the name of a byte may be within a word
        texts = [text for text in texts if "<0x" not in variant.ours.normalize(text)]
    compared = [text for text in texts if is_comparable(variant, "tokenizers", text)]
    assert len(compared) > len(texts) * 0.7
    for text in compared:
        ours = variant.ours.encode(text, out_type=pairpiece.Encoding).word_ids
        theirs = variant.fast.encode(text).word_ids
        if options.byte_fallback:
            assert theirs == ours, ascii(text[:200])
        else:  # some of our words are one there
            assert len(set(zip(ours, theirs, strict=True))) == len(set(ours)), ascii(text[:200])


@pytest.mark.parametrize("pretokenization", ["lossless", "spaces", "none"])
@pytest.mark.parametrize("byte_fallback", [False, True])
def test_digits_are_words_there_too(
    pretokenization: str, byte_fallback: bool, tmp_path: Path
) -> None:
    trained = pairpiece.train_from_pairs(
        [*PAIRS, *NUMBERS],
        500 if byte_fallback else 250,
        split_digits=True,
        pretokenization=pretokenization,
        byte_fallback=byte_fallback,
    )
    text = "il 2024x ΩΩ12"
    found = Exported.of(trained, tmp_path).fast.encode(text)
    spans = [found.word_to_chars(i) for i in range(len(set(found.word_ids)))]
    expected = "il|_|2|0|2|4|x|_ΩΩ|1|2"
    if pretokenization == "none":
        expected = "il_|2|0|2|4|x_ΩΩ|1|2"
    assert "|".join(text[begin:end] for begin, end in spans).replace(" ", "_") == expected


def test_digits_that_are_no_pieces_are_unknown_as_elsewhere(tmp_path: Path) -> None:
    trained = pairpiece.train_from_pairs(PAIRS, 250, split_digits=True, byte_fallback=False)
    fast = Exported.of(trained, tmp_path).fast
    for text in ("ΩΩ12", "il 12Ω"):
        found = fast.encode(text)
        assert found.ids == trained.encode(text)
        assert found.ids.count(trained.unk_id) == 1
        assert len(set(found.word_ids)) == text.count(" ") + 1


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no parallel text at {DATA}")
@pytest.mark.parametrize("tool", TOOLS)
def test_real_texts(real: Exported, tool: str) -> None:
    paths = sorted(path for name in ("dev*", "test*") for path in DATA.rglob(f"{name}.???.gz"))
    texts = []
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
            texts += [line.rstrip("\n") for line in file]
    texts = list(dict.fromkeys(texts))  # some files are in several languages' folders
    assert len(paths) > 30
    assert assert_alike(real, tool, texts) > len(texts) * 0.99


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("score", ["all alike", "by length"])
def test_ties_are_broken_alike(
    tokenizer: pairpiece.Tokenizer, tool: str, score: str, tmp_path: Path
) -> None:
    vocabulary = tokenizer.vocabulary
    nats = [-5 if score == "all alike" else -len(piece) for piece in vocabulary.pieces]
    scores = [
        float(nat) if kind == PieceType.NORMAL else 0.0
        for nat, kind in zip(nats, vocabulary.types, strict=True)
    ]
    tied = tokenizer._replaced(vocabulary=replace(vocabulary, scores=scores))
    texts = [*HAND_WRITTEN, *latin(3, 500), *(word for _, word, _ in PAIRS)]
    exported = Exported.of(tied, tmp_path)
    two_best = (tied.nbest(text, 2) for text in texts)
    scores_of = [[sum(map(tied.score, ids)) for ids in rows] for rows in two_best]
    assert sum(len(two) == 2 and two[0] == two[1] for two in scores_of) > 0, "there are no ties"
    assert assert_alike(exported, tool, texts) > 500


# ---------------------------------------------------------------------- symbols


@pytest.fixture(scope="module")
def dashed(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    trained = pairpiece.train_from_pairs(
        PAIRS, 500, add_dummy_prefix=True, user_defined_symbols=("<sep>",)
    )
    return Exported.of(trained, tmp_path_factory.mktemp("dashed"))


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("text", ["il <sep>", "il<sep>gatto", "<sep>gatto", " <sep> il"])
def test_only_the_beginning_of_a_text_has_a_dummy_prefix(
    dashed: Exported, tool: str, text: str
) -> None:
    if tool == "sentencepiece" or not text.startswith("<sep>"):
        assert assert_alike(dashed, tool, [text]) == 1


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    ("symbol", "text"), [("<sep>", "il<sep>gatto <sep>"), ("[A B]", "il [A B]gatto")]
)
def test_symbols_are_found_where_they_are_written(
    tool: str, symbol: str, text: str, tmp_path: Path
) -> None:
    trained = pairpiece.train_from_pairs(PAIRS, 500, user_defined_symbols=(symbol,))
    assert assert_alike(Exported.of(trained, tmp_path), tool, [text, f"{text} {symbol}"]) == 2


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("piece", ["<s>", "</s>", "<unk>", "<pad>"])
def test_text_that_is_normalised_to_a_special_token_is_text(
    real: Exported, tool: str, piece: str
) -> None:
    wide = piece.translate({ord("<"): "＜", ord(">"): "＞"})
    assert real.ours.normalize(wide) == piece
    assert assert_alike(real, tool, [wide, f"il {wide}gatto"]) == 2


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("add_dummy_prefix", [False, True])
def test_text_that_is_normalised_to_a_special_token_keeps_its_words(
    tool: str, add_dummy_prefix: bool, tmp_path: Path
) -> None:
    pairs = [*PAIRS, ([], "<", 50), ([], "unk", 50), ([], ">", 50)]
    trained = pairpiece.train_from_pairs(pairs, 500, add_dummy_prefix=add_dummy_prefix)
    assert trained.encode("il＜unk＞", out_type=str)[-3:] == ["<", "unk", ">"]
    texts = ["＜unk＞", "il＜unk＞gatto", "il ＜unk＞＜unk＞"]
    assert assert_alike(Exported.of(trained, tmp_path), tool, texts) == 3


# ---------------------------------------------------------------------- known differences


@pytest.mark.parametrize("tool", TOOLS)
def test_a_marker_in_the_text_is_a_space_elsewhere(real: Exported, tool: str) -> None:
    assert real.loaded(tool).encode("il▁gatto ") == real.ours.encode("il gatto ")
    expected = [*real.ours.encode("il", out_type=str), "<0xE2>", "<0x96>", "<0x81>"]
    ours = real.ours.encode("il▁gatto ", out_type=str)
    assert ours[: len(expected)] == expected
    assert "".join(ours[len(expected) :]) == "gatto▁"


def test_a_marker_from_bytes_is_a_space_for_hugging_face(real: Exported) -> None:
    ids = real.ours.encode("il▁gatto")
    decoded = {tool: real.loaded(tool).decode(ids) for tool in TOOLS[:2]}
    assert decoded == {"sentencepiece": "il▁gatto", "tokenizers": "il gatto"}


@pytest.mark.parametrize("tool", TOOLS)
def test_special_tokens_in_the_text_are_special_for_hugging_face(real: Exported, tool: str) -> None:
    ours = real.ours
    found = real.loaded(tool).encode("<s>il gatto</s>")
    if tool == "sentencepiece":
        assert found == ours.encode("<s>il gatto</s>")
        assert {ours.bos_id, ours.eos_id}.isdisjoint(found)
    else:
        assert ours.options.add_dummy_prefix
        text = ours.encode("\x01il gatto")[len(ours.encode("\x01")) :]  # without the prefix
        assert found == [ours.bos_id, *text, ours.eos_id]


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(("text", "without"), [("²\u0312", "²"), ("x²\u0312 il", "x² il")])
def test_hugging_face_drops_a_mark_after_a_character_that_normalisation_changes(
    real: Exported, tool: str, text: str, without: str
) -> None:
    assert is_normalized_otherwise(real, text)
    assert not is_normalized_otherwise(real, without)
    kept = tool == "sentencepiece"
    assert real.loaded(tool).encode(text) == real.ours.encode(text if kept else without)
    assert real.ours.decode(real.ours.encode(text)) == unicodedata.normalize("NFKC", text)


@pytest.mark.parametrize("tool", TOOLS)
def test_unknown_characters_vanish_in_hugging_face(tool: str, tmp_path: Path) -> None:
    trained = pairpiece.train_from_pairs(PAIRS, 250, byte_fallback=False)
    other = Exported.of(trained, tmp_path).loaded(tool)
    ids = trained.encode("il Ω gatto")
    assert other.encode("il Ω gatto") == ids
    assert trained.decode(ids) == "il  ⁇  gatto"
    kept = tool == "sentencepiece"
    assert other.decode(ids) == ("il  ⁇  gatto" if kept else "il  gatto")


@pytest.mark.parametrize("tool", HUGGING_FACE)
def test_a_symbol_at_the_beginning_has_no_dummy_prefix_in_hugging_face(
    dashed: Exported, tool: str
) -> None:
    ours = dashed.ours
    found = ours.encode("<sep> gatto", out_type=str)
    assert found[0] == "▁"
    theirs = [ours.id_to_piece(i) for i in dashed.loaded(tool).encode("<sep> gatto")]
    assert theirs == found[1:]


def test_a_symbol_inside_a_learned_piece_is_not_found_by_sentencepiece(tmp_path: Path) -> None:
    trained = pairpiece.train_from_pairs(PAIRS, 500, user_defined_symbols=("gatt",))
    exported = Exported.of(trained, tmp_path)
    assert "gatt" in trained.encode("Il gatto", out_type=str)
    theirs = [trained.id_to_piece(i) for i in exported.loaded("sentencepiece").encode("Il gatto")]
    assert "gatt" not in theirs
    assert "▁gatto" in theirs


@pytest.mark.parametrize("tool", TOOLS)
def test_a_symbol_that_text_is_normalised_to_is_found_elsewhere(tool: str, tmp_path: Path) -> None:
    trained = pairpiece.train_from_pairs(PAIRS, 500, user_defined_symbols=("é",))
    symbol = trained.piece_to_id("é")
    assert Exported.of(trained, tmp_path).loaded(tool).encode("e\u0301") == [symbol]
    assert symbol not in trained.encode("e\u0301")


def test_sentencepiece_makes_one_space_of_two_with_the_papers_words(tmp_path: Path) -> None:
    trained = pairpiece.train_from_pairs(PAIRS, 500, "paper")
    exported = Exported.of(trained, tmp_path)
    theirs = exported.loaded("sentencepiece")
    assert (
        theirs.encode(" il  gatto.") == trained.encode("il gatto.") == theirs.encode("il gatto .")
    )
    assert trained.encode("il  gatto") != trained.encode("il gatto")
