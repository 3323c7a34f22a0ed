"""Memory stays in proportion to the bytes of model and text, whoever wrote them.

The bounds are those of SECURITY.md.
"""

from __future__ import annotations

import base64
import json
import random
import subprocess
import sys
import time
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from support.tampering import manifest_of, refused, rules, write_body, write_manifest

import pairpiece
from pairpiece.foreign import huggingface_files
from pairpiece.text import normalization
from pairpiece.text.protobuf import fields_of, message

pytestmark = pytest.mark.usefixtures("no_fsync")

MEGABYTE = 2**20

MEASURED = """
import sys
import pairpiece
from pairpiece.run import memory

def warm():
    tokenizer = pairpiece.train_from_pairs([(["S"], "il")], 270, hard_vocab_limit=False)
    tokenizer.encode("il", out_type=pairpiece.Encoding, source=["S"])

warm()
path = sys.argv[1]
before = memory.peak_bytes()
try:
    {what}
    outcome = ""
except pairpiece.PairPieceError as error:
    outcome = f"{{type(error).__name__}}: {{error}}"
print(memory.peak_bytes() - before, outcome[:200])
"""


def growth(what: str, path: Path | str = "") -> tuple[int, str]:
    """How many bytes a process grows by, and the error that pairpiece raises, if it does."""
    code = MEASURED.format(what=what)
    command = [sys.executable, "-c", code, str(path)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    grown, _, outcome = run.stdout.strip().partition(" ")
    return int(grown), outcome


# ---------------------------------------------------------------------- symbols


def tokenizer_json(folder: Path, token: str, *, special: bool) -> Path:
    split = {"type": "Split", "pattern": {"Regex": "<(?=0x[0-9A-F]{2}>)"}}
    added = {"id": 3, "content": token, "special": special}
    parsed = {
        "added_tokens": [added],
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        "pre_tokenizer": {**split, "behavior": "MergedWithPrevious", "invert": False},
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["▁", -1], ["a", -2]]},
    }
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(parsed))
    return path


def test_a_long_added_token_takes_little(tmp_path: Path) -> None:
    path = tokenizer_json(tmp_path, "ab" * 20_000, special=True)
    grown, outcome = growth("pairpiece.from_huggingface(path)", path)
    assert not outcome
    assert grown < 100 * MEGABYTE
    path = tokenizer_json(tmp_path, "ab" * 20_000, special=False)
    grown, outcome = growth("pairpiece.from_huggingface(path)", path)
    assert "ModelFormatError" in outcome
    assert "longer than 255 bytes" in outcome
    assert grown < 100 * MEGABYTE


@pytest.mark.parametrize("piece", ["<sep>", "a|b", "(?=)", "\\(?=", "\n|\n"])
def test_what_keeps_special_tokens_apart_is_known(piece: str) -> None:
    def step(regex: str) -> dict[str, Any]:
        return {
            "type": "Split",
            "pattern": {"Regex": regex},
            "behavior": "MergedWithPrevious",
            "invert": False,
        }

    for first in range(1, len(piece)):
        pattern = huggingface_files._break(piece, first)
        assert huggingface_files.keeps_text_apart(step(pattern), [piece, "<unk>"])
        assert not huggingface_files.keeps_text_apart(step(pattern), ["<unk>"])
        assert not huggingface_files.keeps_text_apart(step(pattern + "x"), [piece])
    for pattern in (huggingface_files._break(piece, k) for k in (0, len(piece))):
        assert not huggingface_files.keeps_text_apart(step(pattern), [piece])


def test_user_defined_symbols_are_as_long_as_pieces_at_most(model: Path) -> None:
    for symbol, good in (("x" * 255, True), ("x" * 256, False), ("é" * 128, False)):
        manifest = manifest_of(model)
        manifest["pieces"][4] = symbol
        manifest["text"]["user_defined_symbols"] = [symbol]
        write_manifest(model, manifest)
        if good:
            tokenizer = pairpiece.load(model)
            assert tokenizer.encode(f"a{symbol}")[-1] == 4
            continue
        assert "longer than 255 bytes" in refused(model)
        with pytest.raises(pairpiece.OptionError, match="longer than 255 bytes"):
            pairpiece.train_from_pairs([(["S"], "a")], 270, user_defined_symbols=[symbol])


def test_user_defined_symbols_of_sentencepiece_are_as_long_as_pieces_at_most() -> None:
    pieces = [("<unk>", 2), ("a", 1), ("x" * 256, 4)]
    content = message(
        [(1, message([(1, piece), (2, -1.0), (3, kind)])) for piece, kind in pieces]
        + [(2, message([(3, 1), (40, 0)]))]
    )
    with pytest.raises(pairpiece.ModelFormatError, match="longer than 255 bytes"):
        pairpiece.from_sentencepiece(content)


# ---------------------------------------------------------------------- manifests


def test_pieces_that_fit_badly_into_a_trie_take_memory_in_proportion(model: Path) -> None:
    chance = random.Random(5)
    letters = [chr(c) for c in range(0x23, 0x7F) if chr(c) not in "\\<"]
    heads = [a + b + c for a in letters[:60] for b in letters for c in letters[:12]]
    pieces = [
        head + last
        for i, head in enumerate(heads)
        for last in chance.sample(letters, 45 if i % 3000 == 0 else 3)
    ]
    manifest = manifest_of(model)
    known = set(manifest["pieces"])
    pieces = [piece for piece in pieces if piece not in known]
    manifest["pieces"] += pieces
    manifest["types"] += [0] * len(pieces)
    manifest["scores"] += [-1] * len(pieces)
    manifest |= {"parts": {}, "paired": None, "source_tokenizer": None}
    write_manifest(model, manifest)
    size = (model / "pairpiece.json").stat().st_size
    grown, outcome = growth("pairpiece.load(path).encode('il')", model)
    assert not outcome
    assert grown < 64 * size


NESTED = {
    "dictionaries": '{"":0}',
    "empty dictionaries": "{}",
    "lists": "[]",
    "keys": '"{i}":0',
    "strings with quotes": '"\\"{{\\\\"',
}


@pytest.mark.parametrize("key", ["provenance", "pieces"])
@pytest.mark.parametrize("kind", NESTED)
def test_nothing_but_pieces_makes_a_manifest_large(kind: str, key: str, model: Path) -> None:
    for size in (3 * MEGABYTE, 15 * MEGABYTE):
        item = NESTED[kind]
        count = size // (len(item) + 2)
        if kind == "keys":
            content = "{" + ",".join(f'"{i}":0' for i in range(count)) + "}"
        else:
            content = "[" + ",".join([item] * count) + "]"
        if key == "provenance":
            content = '{"x":' + content + "}"
        manifest = manifest_of(model)
        manifest[key] = "HERE"
        text = json.dumps(manifest).replace('"HERE"', content, 1)
        write_body(model, text.encode()[1:])
        grown, outcome = growth("pairpiece.load(path)", model)
        if size > 4 * MEGABYTE and kind != "strings with quotes":
            assert "more lists and entries than a model has" in outcome
        assert grown < 16 * size + 128 * MEGABYTE


# ---------------------------------------------------------------------- texts


def with_charsmap(folder: Path, table: bytes) -> Path:
    manifest = manifest_of(folder)
    manifest["charsmap"] = base64.b64encode(table).decode()
    write_manifest(folder, manifest)
    return folder


def test_a_charsmap_makes_sixteen_bytes_of_one_at_most(model: Path) -> None:
    assert "more than 16 bytes of one" in refused(with_charsmap(model, rules({"a": b"x" * 17})))
    assert "more than 16 bytes of one" in refused(with_charsmap(model, rules({"a": b"x" * 255})))
    with_charsmap(model, rules({"a": b"x" * 16}))
    assert pairpiece.load(model).normalize("ab") == "x" * 16 + "b"
    what = "pairpiece.load(path).encode('a' * 10**6)"
    grown, outcome = growth(what, model)
    assert not outcome
    assert grown < 16 * 40 * 10**6


@pytest.mark.parametrize("name", ["nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"])
def test_the_charsmaps_of_sentencepiece_make_no_more(name: str, model: Path) -> None:
    normalizer = sentencepiece.SentencePieceNormalizer(rule_name=name)
    table = dict(fields_of(dict(fields_of(normalizer.serialized_model_proto()))[3]))[2]
    longest = "ﷺ"  # eighteen characters
    with_charsmap(model, table)
    assert pairpiece.load(model).normalize(longest) == unicodedata.normalize("NFKC", longest)
    rules_there_are = normalization.rules_of(table)
    growth_of = max(len(after.encode()) / len(before.encode()) for before, after in rules_there_are)
    assert growth_of == 11


@pytest.mark.slow
def test_a_text_that_becomes_longer_than_a_gibibyte_is_refused(model: Path) -> None:
    with_charsmap(model, rules({"a": b"x" * 16}))
    for what in ("encode('a' * (2**26 + 1))", "encode_batch(['a' * (2**26 + 1)], num_threads=2)"):
        grown, outcome = growth(f"pairpiece.load(path).{what}", model)
        assert "OptionError" in outcome
        assert "split it into lines first" in outcome
        assert grown < 2**31


ALTERNATIVES = """
t = pairpiece.train_from_pairs([(["S"], "a" * n, 5) for n in (1, 2, 3, 4)], 264)
    found = t.nbest({text}, {n}, source={source})
    assert len(found) == {n} and len(set(map(tuple, found))) == {n}
"""


@pytest.mark.parametrize("source", [None, ["S"]])
@pytest.mark.parametrize("text", ["'a' * {size}", "' aa' * ({size} // 3)"])
def test_many_segmentations_of_a_long_text_take_memory_in_proportion(
    text: str, source: Any
) -> None:
    size, n = 20_000, 50
    what = ALTERNATIVES.format(text=text.format(size=size), n=n, source=source)
    grown, outcome = growth(what.strip())
    assert not outcome
    assert grown < 64 * n * size * (13 if source else 1) + 64 * MEGABYTE
    size, n = 300_000, 1024
    what = ALTERNATIVES.format(text=text.format(size=size), n=n, source=source)
    grown, outcome = growth(what.strip())
    assert "OptionError: 1024 segmentations of so long a text" in outcome
    assert grown < 300 * MEGABYTE


def test_many_segmentations_of_a_long_text_take_time_in_proportion() -> None:
    tokenizer = pairpiece.train_from_pairs([(["S"], "▁a" * n, 5) for n in (1, 2)], 265)

    def work(words: int) -> float:
        started = time.process_time()
        tokenizer.nbest(" a" * words, 20)
        return time.process_time() - started

    work(1000)
    assert work(64_000) < 16 * 8 * max(work(4_000), 0.002)  # 16 times as long; 256 if quadratic
