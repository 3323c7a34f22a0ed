"""Source tokenizers of every kind give the tokens of each word, and a model carries them."""

from __future__ import annotations

import functools
import json
import pickle
import re
import sys
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from support import peers, tampering
from support.french_italian import PAIRS
from tokenizers import normalizers, pre_tokenizers, processors

import pairpiece
from pairpiece.foreign.byte_level import byte_alphabet, readable_bytes
from pairpiece.foreign.huggingface import HuggingFaceTokenizer
from pairpiece.foreign.pretokenized import Pretokenized
from pairpiece.foreign.sentencepiece import SentencePieceTokenizer
from pairpiece.foreign.source_words import source_words, words_to_align
from pairpiece.model.opening import as_tokenizer, open_tokenizer
from pairpiece.text.protobuf import message

TEXT = [
    "Le chat mange la souris.",
    "Les souris mangent du fromage.",
    "L'eau est belle, le chat dort.",
] * 10
RAW = "Les chats, é😀 L'eau"


# ---------------------------------------------------------------------- the tokenizers


def sentencepiece_unigram() -> bytes:
    """Written, not trained: what SentencePiece learns from so little is up to its release."""
    pieces = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)]
    pieces += [(f"<0x{byte:02X}>", 0.0, 6) for byte in range(256)]
    words = ["▁Le", "▁le", "▁la", "▁chat", "▁souris", "▁L", "▁", "mange", "s", "ou", "ris"]
    letters = sorted(set("".join(TEXT)) - {" "} - set(words))
    pieces += [(piece, -2.0 - i / 8, 1) for i, piece in enumerate([*words, *letters])]
    model = message([(1, message(list(enumerate(piece, 1)))) for piece in pieces])
    model += message([(2, message([(3, 1), (35, True)]))])  # unigram, byte_fallback
    normalizer = sentencepiece.SentencePieceNormalizer(
        rule_name="nmt_nfkc",
        add_dummy_prefix=True,
        escape_whitespaces=True,
        remove_extra_whitespaces=True,
    )
    return model + bytes(normalizer.serialized_model_proto())


def hf_wordpiece() -> Any:
    """Like BERT's, with tokens around a sentence that belong to no word."""
    ends = [("[CLS]", 1), ("[SEP]", 2)]
    return peers.wordpiece(
        TEXT,
        60,
        special=["[UNK]", "[CLS]", "[SEP]"],
        normalizer=normalizers.BertNormalizer(),
        pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
        post_processor=processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=ends),
    )


@functools.cache
def content_of(kind: str) -> bytes:
    """A tokenizer as the content of its file."""
    if kind == "unigram":
        return sentencepiece_unigram()
    if kind == "bpe":
        return peers.sentencepiece_model(TEXT, 300, model_type=kind, byte_fallback=True)
    trimming = processors.ByteLevel(trim_offsets=True)
    make: dict[str, Callable[[], tokenizers.Tokenizer]] = {
        "hf-unigram": lambda: peers.unigram(TEXT, 60, normalizer=normalizers.NFKC()),
        "wordpiece": hf_wordpiece,
        "byte-level": lambda: peers.byte_level(TEXT, 300, post_processor=trimming),
    }
    return make[kind]().to_str().encode()


def library_tokens(kind: str, text: str) -> list[str]:
    """What the library itself says the tokens are."""
    if kind in ("unigram", "bpe"):
        processor = sentencepiece.SentencePieceProcessor(model_proto=content_of(kind))
        return list(processor.encode(text, out_type=str))
    tokenizer = tokenizers.Tokenizer.from_str(content_of(kind).decode())
    return list(tokenizer.encode(text, add_special_tokens=False).tokens)


@functools.cache
def source_of(kind: str) -> Any:
    content = content_of(kind)
    return (HuggingFaceTokenizer if content.startswith(b"{") else SentencePieceTokenizer)(content)


KINDS = ["unigram", "bpe", "hf-unigram", "wordpiece", "byte-level"]
SUFFIXES = {"unigram": "spm.model", "bpe": "spm.model"}


def written(kind: str, folder: Path) -> Path:
    path = folder / SUFFIXES.get(kind, "tokenizer.json")
    path.write_bytes(content_of(kind))
    return path


def flat(words: list[list[str]]) -> list[str]:
    return list(chain.from_iterable(words))


# ---------------------------------------------------------------------- tokens by word


@pytest.mark.parametrize("kind", KINDS)
def test_every_token_belongs_to_the_word_of_its_last_character(kind: str, tmp_path: Path) -> None:
    raw = "Le chat, la souris"
    found = open_tokenizer(written(kind, tmp_path))(raw)
    assert source_words(raw) == ["Le", "▁chat", ",", "▁la", "▁souris"]
    spelled = ["".join(word).replace("##", "").lstrip("▁Ġ").lower() for word in found]
    assert spelled == ["le", "chat", ",", "la", "souris"]
    assert flat(found) == library_tokens(kind, raw)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("unigram", [["▁chat", "s"], [","], ["▁", "<0xCE>", "<0xA9>"]]),
        ("wordpiece", [["chat", "##s"], [","], ["[UNK]"]]),
        ("byte-level", [["Ġchat", "s"], [","], ["Ġ", "Î", "©"]]),
    ],
)
def test_tokens_by_word_without_those_around_a_sentence(
    kind: str, expected: list[list[str]]
) -> None:
    assert source_of(kind)(" chats, Ω") == expected


ODD = "aeéL'.,-1 \u00a0\u2003\u3000\t▁Ġ@😀👩\u200d\u0301\u0308한国語ﬁ½ß\u202e\u0000\n"
TEXTS = st.text(
    st.one_of(st.sampled_from(ODD), st.characters(exclude_categories=["Cs"]))
) | st.lists(
    st.sampled_from(["Le", "chat", "souris", " ", "\u00a0", "  ", "é", "😀", "e\u0301", "国", "'"])
).map("".join)


@pytest.mark.parametrize("kind", KINDS)
@given(text=TEXTS)
def test_every_token_appears_once_and_in_order(kind: str, text: str) -> None:
    found = source_of(kind)(text)
    assert flat(found) == library_tokens(kind, text)
    assert len(found) == len(source_words(text))


@given(text=TEXTS)
def test_source_words_together_are_the_text(text: str) -> None:
    joined = "".join(source_words(text))
    spaces = dict.fromkeys(map(ord, "\t\u00a0\u1680\u2003\u202f\u205f\u3000 "), "▁")
    spaces.update(dict.fromkeys(range(0x2000, 0x200B), "▁"))
    assert joined == text.translate(spaces)


def byte_pieces(kind: str, tokens: list[str]) -> bytes:
    """The bytes that the tokens of a word stand for, other pieces left out."""
    if kind == "byte-level":
        alphabet = byte_alphabet()
        return bytes(alphabet[character] for character in "".join(tokens))
    return bytes(int(t[3:5], 16) for t in tokens if re.fullmatch("<0x[0-9A-F]{2}>", t))


@pytest.mark.parametrize("kind", ["unigram", "bpe", "byte-level"])
@given(text=TEXTS)
def test_the_bytes_of_a_character_stay_in_one_word(kind: str, text: str) -> None:
    for word in source_of(kind)(text):
        byte_pieces(kind, word).decode("utf-8")  # raises if a character is cut


@pytest.mark.parametrize("setting", ["truncation", "padding"])
def test_truncation_and_padding_of_a_tokenizer_json_are_not_applied(setting: str) -> None:
    tokenizer = tokenizers.Tokenizer.from_str(content_of("wordpiece").decode())
    if setting == "truncation":
        tokenizer.enable_truncation(2)
    else:
        tokenizer.enable_padding(length=32)
    found = HuggingFaceTokenizer(tokenizer.to_str().encode())("Les chats")
    assert found == [["le", "##s"], ["chat", "##s"]]


@pytest.mark.parametrize("kind", ["unigram", "wordpiece"])
def test_lone_surrogates_are_replaced(kind: str) -> None:
    source = source_of(kind)
    assert source("le \ud800 chat") == source("le \ufffd chat")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("▁Les ▁sou ris .", [["▁Les"], ["▁sou", "ris"], ["."]]),
        ("ĠLes Ġsou ris .", [["ĠLes"], ["Ġsou", "ris"], ["."]]),
        ("Les sou@@ ris .", [["Les"], ["sou@@", "ris"], ["."]]),
        ("Les souris .", [["Les"], ["souris"], ["."]]),
        ("L'eau est", [["L'eau"], ["est"]]),
        ("▁L ' eau", [["▁L"], ["'"], ["eau"]]),
        ("Les ▁chat ▁ dort", [["Les"], ["▁chat"], ["▁", "dort"]]),
        ("", []),
        ("▁", [["▁"]]),
    ],
)
def test_pretokenized_text_by_word(text: str, expected: list[list[str]]) -> None:
    assert open_tokenizer("pretokenized")(text) == expected


@given(st.lists(st.sampled_from(["▁", "▁a", "b", "é@@", "@@", "Ġc", "Ġ", ",", "▁▁d", "国", "▁'"])))
def test_every_pretokenized_token_appears_once_and_in_order(tokens: list[str]) -> None:
    assert flat(Pretokenized()(" ".join(tokens))) == tokens


@pytest.mark.parametrize("grouped", [False, True])
def test_a_function_may_give_flat_or_grouped_tokens(grouped: bool) -> None:
    def tokenize(text: str) -> list[Any]:
        return [[word[:1], word[1:]] if grouped else word for word in text.split()]

    found = open_tokenizer(tokenize).tokens_by_word("les chats")
    assert found == ([["l", "es"], ["c", "hats"]] if grouped else [["les"], ["chats"]])
    assert words_to_align(open_tokenizer(tokenize), "les chats") == ["les", "chats"]


@pytest.mark.parametrize("kind", KINDS)
def test_there_is_a_word_to_align_for_the_tokens_of_each_word(kind: str) -> None:
    assert len(words_to_align(source_of(kind), RAW)) == len(source_of(kind)(RAW))


# ---------------------------------------------------------------------- places


def fill(kind: str, folder: Path) -> None:
    """Put a tokenizer into a directory as Hugging Face does."""
    if kind == "byte-level":
        made = tokenizers.Tokenizer.from_str(content_of(kind).decode())
        made.model.save(str(folder))  # vocab.json and merges.txt
    else:
        written(kind, folder)


@pytest.mark.parametrize("kind", KINDS)
def test_a_directory_stands_for_the_tokenizer_in_it(kind: str, tmp_path: Path) -> None:
    fill(kind, tmp_path)
    assert open_tokenizer(str(tmp_path))(RAW) == source_of(kind)(RAW)


def test_a_tokenizer_json_comes_before_other_files_of_a_directory(tmp_path: Path) -> None:
    for kind in ("wordpiece", "unigram", "byte-level"):
        fill(kind, tmp_path)
    assert open_tokenizer(tmp_path)(RAW) == source_of("wordpiece")(RAW)


def test_a_pairpiece_model(tmp_path: Path) -> None:
    words = [([], "".join(source), count) for source, _, count in PAIRS if source]
    french = pairpiece.train_from_pairs(words, 420, "unigram")
    french.save(tmp_path)
    found = open_tokenizer(tmp_path).tokens_by_word("Le chat, la souris")
    assert flat(found) == french.encode("Le chat, la souris", out_type=str)
    assert ["".join(word) for word in found] == ["Le", "▁chat", ",", "▁la", "▁souris"]


# ---------------------------------------------------------------------- for people


@pytest.mark.parametrize(
    ("token", "readable"),
    [
        ("Ġchat", "▁chat"),
        ("cafÃ©", "café"),
        ("âĢ", "<0xE2><0x80>"),
        ("ðŁĺĢ", "😀"),
        ("aÃ", "a<0xC3>"),
        ("<|endoftext|>", "<|endoftext|>"),
        ("▁chat", "▁chat"),  # not of this alphabet
        ("", ""),
    ],
)
def test_byte_level_tokens_can_be_read(token: str, readable: str) -> None:
    assert readable_bytes(token) == readable
    assert source_of("byte-level").readable(token) == readable


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="▁")))
def test_every_text_can_be_read_back_from_its_byte_level_tokens(text: str) -> None:
    assert readable_bytes("".join(library_tokens("byte-level", text))) == text.replace(" ", "▁")


def test_tokens_that_are_text_already_stay_as_they_are() -> None:
    assert source_of("wordpiece").readable("Ã©") == "Ã©"


# ---------------------------------------------------------------------- saved and loaded


@functools.cache
def paired(kind: str) -> pairpiece.Tokenizer:
    source = Pretokenized() if kind == "pretokenized" else source_of(kind)
    rows = [
        (tokens, word, 5)
        for french, italian in (("le chat", "il gatto"), ("les souris", "i topi"))
        for tokens, word in zip(source(french), pairpiece.split_words(italian), strict=True)
    ]
    return pairpiece.train_from_pairs(rows, 276, source_tokenizer=source)


def seen_of(tokenizer: pairpiece.Tokenizer) -> list[Any]:
    raw = "les souris, le chat é😀"
    return [
        tokenizer.encode("il gatto, i topi", source=raw, out_type=pairpiece.Encoding),
        tokenizer.align(raw, "i topi"),
    ]


@pytest.mark.parametrize("kind", [*KINDS, "pretokenized"])
def test_a_model_carries_its_source_tokenizer(kind: str, tmp_path: Path) -> None:
    expected = seen_of(paired(kind))
    assert expected[1].links, "the source has to matter"
    paired(kind).save(tmp_path)
    loaded = pairpiece.load(tmp_path)
    assert seen_of(loaded) == expected
    assert seen_of(pickle.loads(pickle.dumps(loaded))) == expected


def test_a_function_has_to_be_given_again(tmp_path: Path) -> None:
    source = source_of("unigram")
    paired("unigram")._replaced(source_tokenizer=as_tokenizer(lambda text: source(text))).save(
        tmp_path
    )
    with pytest.raises(pairpiece.OptionError, match="source_tokenizer="):
        pairpiece.load(tmp_path).encode("il gatto", source="le chat")
    again = pairpiece.load(tmp_path, source_tokenizer=lambda text: source(text))
    assert seen_of(again) == seen_of(paired("unigram"))


def damaged(folder: Path) -> None:
    [part] = folder.glob("source-*")
    content = part.read_bytes()
    part.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def removed(folder: Path) -> None:
    [part] = folder.glob("source-*")
    part.unlink()


def exchanged(folder: Path) -> None:
    kinds = {"sentencepiece": "huggingface", "huggingface": "sentencepiece"}
    with_kind(kinds[tampering.manifest_of(folder)["source_tokenizer"]])(folder)


def with_source(**changes: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        manifest = tampering.manifest_of(folder)
        manifest["parts"]["source"].update(changes)
        tampering.write_manifest(folder, manifest)

    return change


def with_kind(kind: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        manifest = tampering.manifest_of(folder)
        manifest["source_tokenizer"] = kind
        tampering.write_manifest(folder, manifest)

    return change


@pytest.mark.parametrize("kind", ["unigram", "wordpiece"])
@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (damaged, "digest"),
        (removed, "missing"),
        (with_source(sha256="0" * 64), "digest"),
        (with_source(bytes=7), "7 are expected"),
        (with_source(bytes=2**31), "too large"),
        (with_source(file="source-0123456789ab.exe"), "not a name"),
        (with_source(file="../source-0123456789ab.model"), "not a name"),
        (with_source(file="source-0123456789ab"), "not a source tokenizer of kind"),
        (exchanged, "not a source tokenizer of kind"),
        (with_kind("pairpiece"), "not a source tokenizer of kind"),
        (with_kind("pretokenised"), "unknown kind"),
        (with_kind(["sentencepiece"]), "unknown kind"),
    ],
)
def test_a_source_part_that_was_tampered_with_is_refused(
    kind: str, harm: Callable[[Path], None], message: str, tmp_path: Path
) -> None:
    paired(kind).save(tmp_path)
    harm(tmp_path)
    assert message in tampering.refused(tmp_path)


# ---------------------------------------------------------------------- unfit files


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("spm.model", b"This is text.\n", "not a SentencePiece model"),
        ("spm.model", b"", "not a SentencePiece model"),
        ("spm.model", b"\x00\xff" * 50, "not a SentencePiece model"),
        ("tokenizer.json", b'{"a": 1}', "not a Hugging Face tokenizer"),
        ("tokenizer.json", b'{"version": "1.0", ', "not a Hugging Face tokenizer"),
        ("tokenizer.json", b'{"\xff": 1}', "not a Hugging Face tokenizer"),
        ("tokenizer.json", b"", "not a"),
    ],
)
def test_files_that_are_no_tokenizers_are_refused(
    name: str, content: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    for place in (path, tmp_path):
        with pytest.raises(pairpiece.OptionError, match=message) as caught:
            open_tokenizer(place)
        assert str(path) in str(caught.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(pairpiece.OptionError, match=r"nowhere\.model: there is no such file"):
        open_tokenizer(tmp_path / "nowhere.model")


@pytest.mark.parametrize("models", [0, 2])
def test_a_directory_without_one_tokenizer_is_refused(models: int, tmp_path: Path) -> None:
    for number in range(models):
        (tmp_path / f"{number}.model").write_bytes(content_of("unigram"))
    with pytest.raises(pairpiece.OptionError, match=r"no tokenizer\.json in it.*save_pretrained"):
        open_tokenizer(tmp_path)


def test_a_vocabulary_that_is_not_byte_level_is_refused(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text(json.dumps({"a": 0, "b": 1, "ab": 2}))
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\n")
    with pytest.raises(pairpiece.OptionError, match="not a byte-level vocabulary"):
        open_tokenizer(tmp_path)
    (tmp_path / "vocab.json").write_text("[]")
    with pytest.raises(pairpiece.OptionError, match="not a vocabulary of byte-pair encoding"):
        open_tokenizer(tmp_path)


@pytest.mark.parametrize("what", [5, b"spm.model", [["le"]]])
def test_what_cannot_tokenize_is_refused(what: object) -> None:
    with pytest.raises(pairpiece.OptionError, match="source tokenizer"):
        open_tokenizer(what)


@pytest.mark.parametrize("kind", ["wordpiece", "byte-level"])
def test_without_the_tokenizers_library_the_message_says_what_to_install(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(kind, tmp_path)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(pairpiece.OptionError, match=re.escape('pip install "pairpiece[hf]"')):
        open_tokenizer(tmp_path)
