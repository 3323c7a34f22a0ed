"""Bad tokenizers of other tools are refused: wrong models, wrong files, damage."""

from __future__ import annotations

import base64
import copy
import functools
import json
import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.taken_over import (
    REFUSED,
    Fast,
    Json,
    of_sentencepiece,
    small_json,
    small_model,
    trained,
    works_or_refused,
)
from support.tampering import rules, within
from tokenizers import models

import pairpiece
from pairpiece.model.loading import MAX_TOKENIZER_BYTES
from pairpiece.text.protobuf import message

pytestmark = pytest.mark.usefixtures("no_fsync")

# ---------------------------------------------------------------------- bad SentencePiece models


def a_piece(*fields: tuple[int, Any]) -> bytes:
    return small_model(list(fields))


BAD_MODELS: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "without pieces"),
    "no pieces": (message([(2, message([(3, 1)]))]), "without pieces"),
    "text": (b"Il gatto mangia il topo.\n" * 9, ""),
    "cut off": (small_model()[:-30], "not a SentencePiece model"),
    "huge length": (b"\x0a" + b"\xff" * 8 + b"\x7f" + b"abc", "not a SentencePiece model"),
    "negative length": (b"\x0a" + b"\xff" * 9 + b"\x01", "not a SentencePiece model"),
    "endless number": (b"\x08" + b"\xff" * 10_000, "not a SentencePiece model"),
    "group": (b"\x0b\x0c", "not a SentencePiece model"),
    "BPE": (small_model(trainer=[(3, 2)]), "a BPE model .* unigram"),
    "word": (small_model(trainer=[(3, 3)]), "a word model .* unigram"),
    "character": (small_model(trainer=[(3, 4)]), "a character model .* unigram"),
    "strange": (small_model(trainer=[(3, 77)]), "a strange model .* unigram"),
    "no score": (a_piece((1, "c")), "piece 7, 'c', has no score"),
    "whole score": (a_piece((1, "c"), (2, 5)), "piece 7, 'c', has no score"),
    "NaN": (a_piece((1, "c"), (2, float("nan"))), "the score of 'c'"),
    "infinity": (a_piece((1, "c"), (2, float("-inf"))), "the score of 'c' is -inf"),
    "NaN of a control": (a_piece((1, "c"), (2, float("nan")), (3, 3)), "the score of 'c'"),
    "large score": (a_piece((1, "c"), (2, -1e30)), "the score of 'c' is -1"),
    "twice": (a_piece((1, "a"), (2, -3.0)), "'a' is in the vocabulary twice"),
    "empty piece": (a_piece((1, ""), (2, -3.0)), "empty"),
    "empty control": (a_piece((1, ""), (2, -3.0), (3, 3)), ""),
    "no piece": (a_piece((2, -3.0)), "not a SentencePiece model"),
    "number as a piece": (a_piece((1, 5), (2, -3.0)), "not a SentencePiece model"),
    "bytes that are no text": (a_piece((1, b"\xff"), (2, -3.0)), "not a SentencePiece model"),
    "surrogate": (a_piece((1, b"\xed\xa0\x80"), (2, -3.0)), "not a SentencePiece model"),
    "long piece": (a_piece((1, "a" * 256), (2, -3.0)), "longer than 255 bytes"),
    "unknown type": (a_piece((1, "c"), (2, -3.0), (3, 9)), "not a SentencePiece model"),
    "two unknown": (a_piece((1, "<u>"), (2, 0.0), (3, 2)), "one unknown piece"),
    "unknown elsewhere": (small_model(trainer=[(40, 4)]), "one unknown piece"),
    "one byte": (a_piece((1, "<0x41>"), (2, 0.0), (3, 6)), "byte pieces"),
    "bytes out of order": (
        small_model(*[[(1, f"<0x{b:02X}>"), (2, 0.0), (3, 6)] for b in reversed(range(256))]),
        "byte pieces",
    ),
    "two roles": (small_model(trainer=[(41, 1), (42, 1)]), "must differ"),
    "marker as a control": (small_model([(1, "▁▁"), (2, 0.0), (3, 3)], [(1, "x"), (2, "y")]), ""),
    "suffixes": (small_model(trainer=[(24, True)]), "treat_whitespace_as_suffix"),
    "denormalizer": (small_model() + message([(5, message([(2, b"x")]))]), "a denormalizer"),
    "spaces as they are": (small_model(normalizer=[(5, False)]), "escape_whitespaces"),
    "bad table": (small_model(normalizer=[(2, b"junk")]), "table is malformed"),
    "number as a table": (small_model(normalizer=[(2, 7)]), ""),
    "number as a trainer": (small_model() + message([(2, 7)]), "not a SentencePiece model"),
    "fraction as an id": (small_model(trainer=[(40, 1.5)]), "not a SentencePiece model"),
    "text as an id": (small_model(trainer=[(40, b"x")]), "not a SentencePiece model"),
}


def refused(read: Callable[[Path], object], path: Path, content: bytes | None = None) -> str:
    """Reading must fail; the message names the file, in one line."""
    if content is not None:
        path.write_bytes(content)
    with REFUSED as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", BAD_MODELS)
def test_bad_models_are_refused_by_name(name: str, tmp_path: Path) -> None:
    content, expected = BAD_MODELS[name]
    said = refused(pairpiece.from_sentencepiece, tmp_path / "it.model", content)
    assert re.search(expected, said)
    with REFUSED as caught:
        pairpiece.from_sentencepiece(content)
    assert "the SentencePiece model" in str(caught.value)


@pytest.mark.parametrize("model_type", ["bpe", "word", "char"])
def test_other_kinds_of_trained_models_are_refused(model_type: str, tmp_path: Path) -> None:
    content = of_sentencepiece(200, model_type=model_type)
    assert "unigram" in refused(pairpiece.from_sentencepiece, tmp_path / "it.model", content)


@pytest.mark.parametrize("cut", range(8))
def test_models_that_were_cut_off_are_refused(cut: int) -> None:
    whole = trained("control symbols")
    with REFUSED:
        pairpiece.from_sentencepiece(whole[: len(whole) * cut // 8])


@pytest.mark.parametrize("seed", range(10))
def test_random_bytes_are_refused(seed: int, tmp_path: Path) -> None:
    content = random.Random(seed).randbytes(300)
    for read in (pairpiece.from_sentencepiece, pairpiece.from_huggingface):
        refused(read, tmp_path / "it.model", content)


@pytest.mark.parametrize("read", [pairpiece.from_sentencepiece, pairpiece.from_huggingface])
def test_what_is_not_there_is_refused(read: Callable[[Path], object], tmp_path: Path) -> None:
    assert "no such file" in refused(read, tmp_path / "nowhere")
    assert "no such file" in refused(read, tmp_path / "nowhere" / "tokenizer.json")


@pytest.mark.parametrize("read", [pairpiece.from_sentencepiece, pairpiece.from_huggingface])
def test_folders_without_a_tokenizer_are_refused(
    read: Callable[[Path], object], tmp_path: Path
) -> None:
    refused(read, tmp_path)
    (tmp_path / "tokenizer.json").mkdir()
    refused(read, tmp_path)


@pytest.mark.parametrize("read", [pairpiece.from_sentencepiece, pairpiece.from_huggingface])
def test_files_that_are_too_large_are_not_read(
    read: Callable[[Path], object], tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.json"
    with path.open("wb") as file:
        file.truncate(MAX_TOKENIZER_BYTES + 1)
    assert "too large" in refused(read, path)


@pytest.mark.parametrize("read", [pairpiece.from_sentencepiece, pairpiece.from_huggingface])
def test_pipes_are_not_waited_for(read: Callable[[Path], object], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with within(20):
        refused(read, tmp_path / "pipe")


@pytest.mark.parametrize("read", [pairpiece.from_sentencepiece, pairpiece.from_huggingface])
@pytest.mark.parametrize("what", [None, 5, ["a"], bytearray(b"abc"), "a\0b"], ids=ascii)
def test_other_things_are_refused(read: Callable[[Any], object], what: object) -> None:
    with pytest.raises(pairpiece.PairPieceError):
        read(what)


# ---------------------------------------------------------------------- bad files of Hugging Face


def changed(*path: Any, to: Any) -> bytes:
    """The file with another value at a path."""
    content = json.loads(small_json())
    place = content
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return json.dumps(content).encode()


def test_the_file_to_be_spoilt_is_good(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(small_json(), encoding="utf-8")
    ours = pairpiece.from_huggingface(tmp_path)
    theirs = Fast.from_file(str(tmp_path / "tokenizer.json"))
    assert ours.get_vocab() == theirs.get_vocab()
    assert ours.encode("il  ab abc à") == theirs.encode("il  ab abc à").ids
    assert ours.options.control_symbols == ("<mask>",)
    assert ours.options.user_defined_symbols == ("<x>",)


def spoilt(entry: Any) -> bytes:
    return changed("model", "vocab", 262, to=entry)


def added(**token: Any) -> bytes:
    last = len(json.loads(small_json())["model"]["vocab"])
    complete = {"id": last, "content": "<q>", "special": True, **token}
    return changed("added_tokens", to=[complete])


LAST = 259 + 6  # id of the last piece of the vocabulary
BAD_FILES: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "not valid JSON"),
    "cut off": (small_json().encode()[:-100], "not valid JSON"),
    "not UTF-8": (b'{"model": "\xff"}', "not valid JSON"),
    "null": (b"null", "not a tokenizer.json"),
    "list": (b"[]", "not a tokenizer.json"),
    "number": (b"5", "not a tokenizer.json"),
    "no model": (b"{}", "not a tokenizer.json"),
    "deep lists": (b"[" * 100_000, "not valid JSON"),
    "deep objects": (b'{"a":' * 100_000, "not valid JSON"),
    "BPE": (changed("model", to={"type": "BPE", "vocab": {"a": 0}, "merges": []}), "a BPE model"),
    "WordPiece": (
        changed("model", to={"type": "WordPiece", "vocab": {"a": 0}}),
        "a WordPiece model",
    ),
    "WordLevel": (
        changed("model", to={"type": "WordLevel", "vocab": {"a": 0}}),
        "a WordLevel model",
    ),
    "no type, no scores": (changed("model", to={"vocab": {"a": 0}, "merges": []}), "model"),
    "no vocabulary": (changed("model", "vocab", to=None), "not a tokenizer.json"),
    "empty vocabulary": (changed("model", "vocab", to=[]), "no unknown token"),
    "no score": (spoilt(["c"]), "piece 262, .* has no score"),
    "only a piece": (spoilt("c"), "piece 262, .* has no score"),
    "three values": (spoilt(["c", 1.0, 2.0]), "piece 262, .* has no score"),
    "null as a score": (spoilt(["c", None]), "piece 262, .* has no score"),
    "text as a score": (spoilt(["c", "-1"]), "piece 262, .* has no score"),
    "true as a score": (spoilt(["c", True]), "piece 262, .* has no score"),
    "NaN": (spoilt(["c", float("nan")]), "the score of 'c'"),
    "infinity": (spoilt(["c", float("inf")]), "the score of 'c'"),
    "large score": (spoilt(["c", 1e300]), "the score of 'c' is"),
    "large whole score": (spoilt(["c", 10**400]), "score"),
    "number as a piece": (spoilt([5, -1.0]), "not a tokenizer.json"),
    "empty piece": (spoilt(["", -1.0]), "empty"),
    "long piece": (spoilt(["a" * 256, -1.0]), "longer than 255 bytes"),
    "surrogate": (spoilt(["\ud800", -1.0]), ""),
    "twice": (spoilt(["a", -1.0]), "'a' is in the vocabulary twice"),
    "no unknown token": (changed("model", "unk_id", to=None), "no unknown token"),
    "unknown token outside": (changed("model", "unk_id", to=10**6), "no unknown token"),
    "unknown token below": (changed("model", "unk_id", to=-1), "no unknown token"),
    "text as unknown token": (changed("model", "unk_id", to="0"), "no unknown token"),
    "gap before an added token": (added(id=LAST + 2), "the added token '<q>' has the id"),
    "added token over a piece": (added(id=5), "the added token '<q>' has the id 5"),
    "added token below": (added(id=-1, content="▁il"), "the id -1"),
    "added token twice": (added(content="a"), "'a' is in the vocabulary twice"),
    "added token empty": (added(content=""), ""),
    "added token no text": (added(content=5), ""),
    "added token a surrogate": (added(content="\ud800"), ""),
    "text as an id": (added(id="266"), "not a tokenizer.json"),
    "incomplete added token": (changed("added_tokens", to=[{"id": 1}]), "not a tokenizer.json"),
    "added tokens no list": (changed("added_tokens", to=7), "not a tokenizer.json"),
    "table not in base64": (
        changed("normalizer", to={"type": "Precompiled", "precompiled_charsmap": "%%"}),
        "not a tokenizer.json",
    ),
    "table not in ASCII": (
        changed("normalizer", to={"type": "Precompiled", "precompiled_charsmap": "é"}),
        "not a tokenizer.json",
    ),
    "bad table": (
        changed("normalizer", to={"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
        "table is malformed",
    ),
    "no table": (changed("normalizer", to={"type": "Precompiled"}), "not a tokenizer.json"),
    "normalizer without type": (changed("normalizer", to={}), "not a tokenizer.json"),
    "text as a normalizer": (changed("normalizer", to="NFC"), "not a tokenizer.json"),
    "sequence of nothing": (changed("normalizer", to={"type": "Sequence"}), "not a tokenizer.json"),
    "Metaspace without replacement": (
        changed("pre_tokenizer", to={"type": "Metaspace"}),
        "not a tokenizer.json",
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_refused_by_name(name: str, tmp_path: Path) -> None:
    content, expected = BAD_FILES[name]
    assert re.search(expected, refused(pairpiece.from_huggingface, tmp_path / "a.json", content))


UNKNOWN_STEPS: list[tuple[str, Json]] = [
    ("normalizer", {"type": "Lowercase"}),
    ("normalizer", {"type": "StripAccents"}),
    ("normalizer", {"type": "NFD"}),
    ("normalizer", {"type": "NFKD"}),
    ("normalizer", {"type": "Nmt"}),
    ("normalizer", {"type": "ByteLevel"}),
    ("normalizer", {"type": "BertNormalizer", "lowercase": True}),
    ("normalizer", {"type": "Prepend", "prepend": "x"}),
    ("normalizer", {"type": "Replace", "pattern": {"String": "a"}, "content": "b"}),
    ("normalizer", {"type": "Replace", "pattern": {"Regex": "a+"}, "content": " "}),
    ("normalizer", {"type": "Sequence", "normalizers": [{"type": "Lowercase"}]}),
    ("pre_tokenizer", {"type": "ByteLevel", "add_prefix_space": True}),
    ("pre_tokenizer", {"type": "Punctuation", "behavior": "Isolated"}),
    ("pre_tokenizer", {"type": "Digits", "individual_digits": True}),
    ("pre_tokenizer", {"type": "Whitespace"}),
    ("pre_tokenizer", {"type": "BertPreTokenizer"}),
    ("pre_tokenizer", {"type": "UnicodeScripts"}),
    ("pre_tokenizer", {"type": "Metaspace", "replacement": "_"}),
    (
        "pre_tokenizer",
        {"type": "Split", "pattern": {"String": "a"}, "behavior": "Isolated", "invert": False},
    ),
]


@pytest.mark.parametrize(("where", "step"), UNKNOWN_STEPS, ids=str)
def test_what_else_is_done_to_text_is_refused(where: str, step: Json, tmp_path: Path) -> None:
    said = refused(pairpiece.from_huggingface, tmp_path / "tokenizer.json", changed(where, to=step))
    inner = step["normalizers"][0] if "normalizers" in step else step
    assert f"PairPiece cannot do what its {inner['type']} does to text" in said


@pytest.mark.parametrize(
    "model",
    [models.BPE(), models.WordPiece({"a": 0}, unk_token="a"), models.WordLevel({"a": 0})],
    ids=lambda model: type(model).__name__,
)
def test_objects_of_other_kinds_are_refused(model: Any) -> None:
    with pytest.raises(pairpiece.ModelFormatError, match="takes over Unigram models only"):
        pairpiece.from_huggingface(Fast(model))


@pytest.mark.parametrize(
    "config", [b"", b"[]", b"{", b"\xff", b'{"bos_token": {}}', b"[" * 100_000], ids=ascii
)
def test_a_bad_configuration_is_refused_by_name(config: bytes, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(small_json(), encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_bytes(config)
    with pytest.raises(pairpiece.ModelFormatError, match=r"tokenizer_config\.json"):
        pairpiece.from_huggingface(tmp_path)


# ---------------------------------------------------------------------- damage


def damaged(content: bytes, generator: random.Random) -> bytes:
    place = generator.randrange(len(content))
    return content[:place] + generator.randbytes(1) + content[place + 1 :]


@pytest.mark.parametrize("part", [2, 3, 5], ids=["trainer", "normalizer", "denormalizer"])
@pytest.mark.parametrize("value", [0, 7, 2**64 - 1, 1.5, float("nan"), b"", b"x"], ids=repr)
def test_a_field_of_any_type_works_or_is_refused(part: int, value: Any) -> None:
    for number in range(1, 55):
        content = small_model() + message([(part, message([(number, value)]))])
        works_or_refused(pairpiece.from_sentencepiece, content)


@pytest.mark.parametrize("settings", ["identity", "symbols and bytes", "control symbols"])
def test_a_model_with_one_byte_changed_works_or_is_refused(settings: str) -> None:
    generator = random.Random(settings)
    whole = trained(settings)
    with within(20):
        good = sum(
            works_or_refused(pairpiece.from_sentencepiece, damaged(whole, generator))
            for _ in range(100)
        )
    assert 0 < good < 100


def test_a_small_model_may_be_changed_anywhere() -> None:
    whole = small_model([(1, "<x>"), (2, 0.0), (3, 4)], trainer=[(3, 1), (40, 0), (41, 1)])
    with within(20):
        for place in range(len(whole)):
            for byte in (0, 1, 0x0A, 0x7F, 0x80, 0xFF):
                changed_model = whole[:place] + bytes([byte]) + whole[place + 1 :]
                works_or_refused(pairpiece.from_sentencepiece, changed_model)


@pytest.mark.parametrize("seed", range(3))
def test_a_file_with_one_byte_changed_works_or_is_refused(seed: int, tmp_path: Path) -> None:
    generator = random.Random(seed)
    whole = small_json().encode()
    path = tmp_path / "tokenizer.json"
    with within(20):
        good = 0
        for _ in range(80):
            path.write_bytes(damaged(whole, generator))
            good += works_or_refused(pairpiece.from_huggingface, path)
    assert 0 < good < 80


ODD_VALUES: list[Any] = [None, True, -1, 7, 10**400, "", "é", "\ud800", [], {}]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all values below one, of long lists only the first and last ones."""
    keys: list[Any] = []
    if isinstance(value, dict):
        keys = list(value)
    elif isinstance(value, list):
        keys = sorted({0, len(value) - 1}) if value else []
    for key in keys:
        yield (*path, key)
        yield from places(value[key], (*path, key))


@pytest.mark.parametrize("value", ODD_VALUES, ids=lambda value: ascii(value)[:20])
def test_a_file_with_one_value_changed_works_or_is_refused(value: Any, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    whole = json.loads(small_json())
    table = base64.b64encode(rules({"Q": b"q"})).decode()
    whole["normalizer"]["normalizers"][0] = {"type": "Precompiled", "precompiled_charsmap": table}
    path.write_text(json.dumps(whole), encoding="utf-8")
    assert works_or_refused(pairpiece.from_huggingface, path)
    with within(20):
        for place in places(whole):
            content = copy.deepcopy(whole)
            target = functools.reduce(lambda inner, step: inner[step], place[:-1], content)
            target[place[-1]] = value
            path.write_text(json.dumps(content), encoding="utf-8")
            works_or_refused(pairpiece.from_huggingface, path)
