"""Whatever is in the files, loading raises ModelFormatError or gives a tokenizer that works."""

from __future__ import annotations

import base64
import contextlib
import copy
import functools
import hashlib
import json
import math
import os
import random
import resource
import shutil
import signal
import struct
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
import sample
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file
from safetensors.numpy import save as to_safetensors

import pairpiece
from pairpiece import storage
from pairpiece.normalization import charsmap

Manifest = dict[str, Any]
Arrays = dict[str, np.ndarray]

TEXTS = ["Il gatto mangia il topo.", "<sep>Ωﬁ e\u0301\ud800 ▁x", "aaa ab\tà\n", "", "abab" * 9]
SOURCES = [["▁le", "▁chat"], ["▁sou", "ris", "▁nie"], [], ["▁mang", "e"], ["▁la"] * 9]
REFUSED = pytest.raises(pairpiece.ModelFormatError)


def big_charsmap() -> bytes:
    return charsmap("nfkc")


def rules(replacements: dict[str, bytes], units: dict[int, int] | None = None) -> bytes:
    """A charsmap of single-ASCII-character rules, laid out by hand; `units` overrides cells."""
    cells = [0] * 1024
    cells[0] = 512 << 10  # children of the root lie at 512 ^ byte
    text = b""
    for character, replacement in replacements.items():
        at = 512 ^ ord(character)
        cells[at] = ord(character) | 1 << 8 | (at ^ (128 + ord(character))) << 10
        cells[128 + ord(character)] = 1 << 31 | len(text)
        text += replacement + b"\0"
    for place, unit in (units or {}).items():
        cells[place] = unit
    trie = struct.pack(f"<{len(cells)}I", *cells)
    return struct.pack("<I", len(trie)) + trie + text


# ---------------------------------------------------------------------- making models


@functools.cache
def trained() -> pairpiece.Tokenizer:
    source = pairpiece.train_from_pairs(
        [([], "".join(source), count) for source, _, count in sample.PAIRS if source],
        340,
        "unigram",
        normalization="none",
    )
    tokenizer = pairpiece.train_from_pairs(
        sample.PAIRS,
        400,
        normalization="none",
        user_defined_symbols=("<sep>",),
        source_tokenizer=source,
    )
    return tokenizer.distill_bigram([target for _, target, _ in sample.SENTENCES])


@functools.cache
def pristine() -> tuple[Manifest, dict[str, Arrays]]:
    """The manifest of a model, and the arrays of its tables."""
    folder = Path(saved().name)
    manifest = manifest_of(folder)
    names = ("cooccurrence", "bigram")
    return manifest, {name: load_file(folder / manifest["parts"][name]["file"]) for name in names}


def manifest_of(folder: Path) -> Manifest:
    manifest = json.loads((folder / "pairpiece.json").read_bytes())
    del manifest["sha256"]
    return manifest


def write_body(folder: Path, body: bytes) -> None:
    """A manifest whose digest is right, whatever it says; `body` lacks the opening brace."""
    digest = hashlib.sha256(body).hexdigest().encode()
    (folder / "pairpiece.json").write_bytes(storage._HEAD + digest + storage._NECK + body)


def write_manifest(folder: Path, manifest: Any) -> None:
    write_body(folder, json.dumps(manifest).encode()[1:])


def write_part(folder: Path, name: str, content: bytes | Arrays) -> None:
    """Put other content into a table, and its size and digest into the manifest."""
    content = content if isinstance(content, bytes) else to_safetensors(content)
    digest = hashlib.sha256(content).hexdigest()
    file = f"{name}-{digest[:12]}.safetensors"
    (folder / file).write_bytes(content)
    manifest = manifest_of(folder)
    manifest["parts"][name] = {"file": file, "bytes": len(content), "sha256": digest}
    write_manifest(folder, manifest)


@pytest.fixture(scope="module", autouse=True)
def _no_fsync() -> Iterator[None]:
    """These models need not survive a power cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@functools.cache
def saved() -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory()
    trained().save(folder.name)
    return folder


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved().name, tmp_path / "model"))


@contextlib.contextmanager
def fresh_model() -> Iterator[Path]:
    """For tests by hypothesis, which cannot have a new directory for each example."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(shutil.copytree(saved().name, Path(folder) / "model"))


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    """Fail rather than hang (where Python code or a system call hangs)."""

    def stop(_: int, __: FrameType | None) -> None:
        pytest.fail(f"still busy after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# ---------------------------------------------------------------------- using models


def use_plain(tokenizer: pairpiece.Tokenizer) -> None:
    size = len(tokenizer)
    for text in TEXTS:
        encoding = tokenizer.encode(text, out_type=pairpiece.Encoding)
        assert encoding.ids == tokenizer.encode(text)
        assert all(0 <= i < size for i in encoding.ids)
        assert all(0 <= a <= b <= len(text) for a, b in encoding.offsets)
        assert math.isfinite(encoding.log_prob)
        assert tokenizer.decode(encoding.ids) == tokenizer.normalize(text)
        assert tokenizer.nbest(text, 3)[0] == encoding.ids
        assert tokenizer.decode(tokenizer.sample(text)) == tokenizer.normalize(text)
        if tokenizer.has_bigram:
            ids = tokenizer.encode(text, model="bigram")
            assert tokenizer.decode(ids) == tokenizer.normalize(text)


def use_paired(tokenizer: pairpiece.Tokenizer) -> None:
    for text, source in zip(TEXTS, SOURCES, strict=True):
        for whole in (False, True):
            encoding = tokenizer.encode(
                text, source=source, whole_sentence=whole, out_type=pairpiece.Encoding
            )
            assert tokenizer.decode(encoding.ids) == tokenizer.normalize(text)
            assert math.isfinite(encoding.log_prob)
            for ids in tokenizer.nbest(text, 3, source=source, whole_sentence=whole):
                assert tokenizer.decode(ids) == tokenizer.normalize(text)
            sampled = tokenizer.sample(text, source=source, whole_sentence=whole)
            assert tokenizer.decode(sampled) == tokenizer.normalize(text)
        alignment = tokenizer.align(source, text)
        assert all(math.isfinite(score) for score in alignment.scores)
    tokenizer.lexicon()
    if tokenizer.source_tokenizer is not None:
        tokenizer.encode("Il gatto", source="Le chat")


def refused(folder: Path) -> str:
    """Loading must fail; the message names a file of the model."""
    with pytest.raises(pairpiece.ModelFormatError) as caught:
        pairpiece.load(folder)
    assert str(folder) in str(caught.value)
    return str(caught.value)


def refused_when_paired(folder: Path) -> None:
    """Target-only use works; all use of the table fails, also the second time."""
    tokenizer = pairpiece.load(folder)
    assert tokenizer.decode(tokenizer.encode("Il gatto")) == "Il gatto"
    for _ in range(2):
        with pytest.raises(pairpiece.ModelFormatError) as caught:
            tokenizer.encode("Il gatto", source=["▁le", "▁chat"])
        assert str(folder) in str(caught.value)
    with REFUSED:
        tokenizer.lexicon()


def works_or_refused(folder: Path) -> bool:
    """A model may be odd, but then it works, is saved and comes back; True if it loads."""
    try:
        tokenizer = pairpiece.load(folder)
        use_plain(tokenizer)
    except pairpiece.ModelFormatError:
        return False
    if tokenizer.is_paired:
        try:
            use_paired(tokenizer)
        except pairpiece.ModelFormatError:
            return True
    again = folder.parent / "again"
    tokenizer.save(again)
    assert pairpiece.load(again).encode_batch(TEXTS) == tokenizer.encode_batch(TEXTS)
    shutil.rmtree(again)
    return True


def test_the_helpers_make_models_that_load(model: Path) -> None:
    assert works_or_refused(model)
    manifest, tables = pristine()
    write_manifest(model, manifest)
    for name, arrays in tables.items():
        write_part(model, name, arrays)
    assert works_or_refused(model)
    manifest["charsmap"] = base64.b64encode(rules({"a": b"bb", "b": "è".encode()})).decode()
    write_manifest(model, manifest)
    tokenizer = pairpiece.load(model)
    assert tokenizer.normalize("abc") == "bbèc"
    use_paired(tokenizer)


# ---------------------------------------------------------------------- damage


def parts(folder: Path) -> dict[str, Path]:
    [source] = folder.glob("source-*")
    return {
        "manifest": folder / "pairpiece.json",
        "cooccurrence": next(folder.glob("cooccurrence-*")),
        "bigram": next(folder.glob("bigram-*")),
        "source": source / "pairpiece.json",
    }


def refused_with(folder: Path, part: str) -> None:
    refused_when_paired(folder) if part == "cooccurrence" else refused(folder)


PART_NAMES = ["manifest", "cooccurrence", "bigram", "source"]


@pytest.mark.parametrize("part", PART_NAMES)
def test_truncated_files_are_refused(part: str, model: Path) -> None:
    path = parts(model)[part]
    content = path.read_bytes()
    lengths = {*range(0, 200, 7), *range(0, len(content), len(content) // 60), len(content) - 1}
    for length in lengths:
        path.write_bytes(content[:length])
        refused_with(model, part)


@pytest.mark.parametrize("part", PART_NAMES)
def test_longer_files_are_refused(part: str, model: Path) -> None:
    path = parts(model)[part]
    content = path.read_bytes()
    for changed in (content + b"\n", content + content, b"\n" + content, content + b"\0" * 1000):
        path.write_bytes(changed)
        refused_with(model, part)


@pytest.mark.parametrize("part", PART_NAMES)
def test_a_flipped_bit_anywhere_is_noticed(part: str, model: Path) -> None:
    path = parts(model)[part]
    content = bytearray(path.read_bytes())
    chance = random.Random(part)
    for place in [*range(100), *chance.choices(range(len(content)), k=300)]:
        before = content[place]
        content[place] ^= 1 << chance.randrange(8)
        path.write_bytes(content)
        if part == "cooccurrence":
            with REFUSED:
                pairpiece.load(model).lexicon()
        else:
            refused(model)
        content[place] = before


@pytest.mark.parametrize("part", PART_NAMES)
@pytest.mark.parametrize(
    "thing", ["nothing", "directory", "fifo", "loop", "dangling", "link to a fifo", "/dev/zero"]
)
def test_what_is_not_a_file_is_refused_without_waiting(part: str, thing: str, model: Path) -> None:
    path = parts(model)[part]
    path.unlink()
    other = model.parent / "other"
    if thing == "directory":
        path.mkdir()
    elif thing == "fifo":
        os.mkfifo(path)
    elif thing == "loop":
        path.symlink_to(path)
    elif thing == "dangling":
        path.symlink_to(other)
    elif thing == "link to a fifo":
        os.mkfifo(other)
        path.symlink_to(other)
    elif thing == "/dev/zero":
        path.symlink_to(thing)
    with within(10):
        refused_with(model, part)


def test_folders_that_are_not_models_are_refused(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "missing")
    refused(tmp_path)
    (tmp_path / "file").write_text("x")
    refused(tmp_path / "file")
    os.mkfifo(tmp_path / "fifo")
    with within(10):
        refused(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    refused(tmp_path / "loop")
    refused(tmp_path / ("x" * 300))


def test_files_linked_from_elsewhere_are_read(model: Path) -> None:
    """As in a download cache, where all files are links."""
    for path in parts(model).values():
        elsewhere = model.parent / f"blob-{path.parent.name}-{path.name}"
        path.rename(elsewhere)
        path.symlink_to(elsewhere)
    use_paired(pairpiece.load(model))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b'{"format": "pairpiece", "version": 1}',
        b"\x80\x04N.",
        b"PK\x03\x04",
        b"\0" * 1000,
        storage._HEAD,
        storage._HEAD + b"0" * 64,
        storage._HEAD + b"0" * 64 + storage._NECK,
        storage._HEAD + hashlib.sha256(b"").hexdigest().encode() + storage._NECK,
    ],
)
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "pairpiece.json").write_bytes(content)
    refused(tmp_path)


@pytest.mark.parametrize(
    "body",
    [
        b"}",
        b"]",
        b'"format"',
        b'"format": "pairpiece"',
        b'"format": "pairpiece", "version": 1}',
        b'"format": "pairpiece", "version": 1}}',
        b'"format": "pairpiece", "version": 1e999}',
        b'"format": "pairpiece", "version": NaN}',
        b'"format": "pairpiece", "version": ' + b"9" * 400 + b"}",
        b'"format": "pairpiece", "version": ' + b"9" * 100_000 + b"}",
        b'"format": "\xff"}',
        b'"format": "pairpiece\xed\xa0\x80"}',
        b"\0",
        b"\xef\xbb\xbf}",
        '"format": "pairpiece", "version": 1}'.encode("utf-16"),
        b'"format": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'"format": ' + b'{"":' * 100_000,
        b'"format": ' + b"[" * 100_000,
    ],
    ids=range(18),
)
def test_a_right_digest_does_not_make_json(body: bytes, tmp_path: Path) -> None:
    write_body(tmp_path, body)
    refused(tmp_path)


def test_nesting_inside_a_good_manifest_is_harmless(model: Path) -> None:
    manifest = manifest_of(model)
    body = json.dumps(manifest).encode()[1:-1]
    for depth in (10, 500, 900, 5_000, 100_000):
        nested = b"[" * depth + b"]" * depth
        write_body(model, body + b', "more": ' + nested + b"}")
        works_or_refused(model)
        write_body(model, body + b', "provenance": {"x": ' + nested + b"}}")
        works_or_refused(model)


@pytest.mark.parametrize("version", [0, -1, 2, 3, 2**63, True, 1.0, "1", None, [1]])
def test_other_versions_are_refused(version: Any, model: Path) -> None:
    manifest = manifest_of(model)
    manifest["version"] = version
    write_manifest(model, manifest)
    message = refused(model)
    if type(version) is int and version > 1:
        assert "upgrade" in message


# ---------------------------------------------------------------------- wrong manifests

ODD_VALUES = [
    None, True, False, 3, -1, 1.5, math.nan, math.inf, -math.inf, 10**400, -(10**400), 2**63,
    "", "x", "\ud800", [], [[]], [None], {}, {"x": 1},
]  # fmt: skip

REQUIRED = ["format", "version", "text", "seed", "provenance", "parts", "pieces", "types", "scores"]
REQUIRED.append("charsmap")


@pytest.mark.parametrize("key", REQUIRED)
def test_no_key_may_be_missing(key: str, model: Path) -> None:
    manifest = manifest_of(model)
    del manifest[key]
    write_manifest(model, manifest)
    refused(model)


@pytest.mark.parametrize("key", [*REQUIRED, "paired", "source_tokenizer"])
def test_values_of_another_type_are_refused(key: str, model: Path) -> None:
    manifest = manifest_of(model)
    good = manifest[key]
    for value in ODD_VALUES:
        manifest[key] = value
        write_manifest(model, manifest)
        optional = key == "source_tokenizer" or (key == "paired" and value is None)
        if optional or type(value) is type(good):
            works_or_refused(model)
        else:
            refused(model)


@pytest.mark.parametrize("key", pristine()[0]["text"])
def test_text_options_of_another_type_are_refused(key: str, model: Path) -> None:
    manifest = manifest_of(model)
    good = manifest["text"].pop(key)
    write_manifest(model, manifest)
    refused(model)
    for value in ODD_VALUES:
        manifest["text"][key] = value
        write_manifest(model, manifest)
        if type(value) is type(good):
            works_or_refused(model)
        else:
            refused(model)


Change = Callable[[Manifest], object]


def at(*path: Any) -> Callable[[Any], Change]:
    """A change of what lies at a path to a value."""

    def to(value: Any) -> Change:
        def change(manifest: Manifest) -> None:
            place: Any = manifest
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = value

        return change

    return to


def add_piece(piece: Any, kind: Any = 0, score: Any = -100) -> Change:
    def change(manifest: Manifest) -> None:
        manifest["pieces"].append(piece)
        manifest["types"].append(kind)
        manifest["scores"].append(score)

    return change


def drop_piece(index: int) -> Change:
    def change(manifest: Manifest) -> None:
        for name in ("pieces", "types", "scores"):
            del manifest[name][index]

    return change


def swap_pieces(first: int, second: int) -> Change:
    def change(manifest: Manifest) -> None:
        pieces = manifest["pieces"]
        pieces[first], pieces[second] = pieces[second], pieces[first]

    return change


def without_bytes(manifest: Manifest) -> None:
    for index in reversed(range(5, 261)):
        drop_piece(index)(manifest)


WRONG_PIECES: dict[str, Change] = {
    "no pieces": lambda m: m.update(pieces=[], types=[], scores=[]),
    "a piece more": lambda m: m["pieces"].append("zzz"),
    "a type more": lambda m: m["types"].append(0),
    "a score more": lambda m: m["scores"].append(0),
    "a score less": lambda m: m["scores"].pop(),
    "the same piece twice": lambda m: m["pieces"].__setitem__(-1, m["pieces"][-2]),
    "a special token learned": lambda m: m["pieces"].__setitem__(-1, "<s>"),
    "an empty piece": at("pieces", -1)(""),
    "an empty byte": at("pieces", 10)(""),
    "a lone surrogate": at("pieces", -1)("\ud800"),
    "a lone low surrogate": at("pieces", -1)("a\udfff"),
    "a surrogate in the wrong order": at("pieces", -1)("\udc00\ud800"),
    "a number": at("pieces", -1)(7),
    "null": at("pieces", -1)(None),
    "a list": at("pieces", -1)(["a"]),
    "a long piece": at("pieces", -1)("a" * 256),
    "a long piece of long characters": at("pieces", -1)("€" * 100),
    "a very long piece": at("pieces", -1)("a" * 1_000_000),
    "an unknown type": at("types", -1)(5),
    "a negative type": at("types", -1)(-1),
    "a huge type": at("types", -1)(10**400),
    "a type of 256": at("types", -1)(256),
    "a string for a type": at("types", -1)("0"),
    "null for a type": at("types", -1)(None),
    "a list for a type": at("types", -1)([0]),
    "NaN for a type": at("types", -1)(math.nan),
    "two unknown pieces": at("types", -1)(1),
    "another unknown piece": add_piece("<unk2>", 1),
    "no unknown piece": at("types", 0)(0),
    "<unk> as control": at("types", 0)(2),
    "one control piece more": at("types", -1)(2),
    "one control piece less": at("types", 1)(0),
    "one symbol more": at("types", -1)(3),
    "one symbol less": at("types", 4)(0),
    "255 bytes": drop_piece(260),
    "257 bytes": add_piece("<0x100>", 4),
    "one byte is learned": at("types", 100)(0),
    "no bytes with byte_fallback": without_bytes,
    "bytes without byte_fallback": at("text", "byte_fallback")(False),
    "bytes in another order": swap_pieces(20, 21),
    "a byte with another name": at("pieces", 30)("byte"),
    "a score too high": at("scores", -1)(2**24 + 1),
    "a score too low": at("scores", -1)(-(2**24) - 1),
    "a score of 32 bits": at("scores", -1)(2**31),
    "a huge score": at("scores", -1)(10**400),
    "a fraction": at("scores", -1)(-1.5),
    "NaN": at("scores", -1)(math.nan),
    "Infinity": at("scores", -1)(math.inf),
    "-Infinity": at("scores", -1)(-math.inf),
    "true for a score": at("scores", -1)(True),
    "null for a score": at("scores", -1)(None),
    "a string for a score": at("scores", -1)("-1"),
    "an id out of range": at("text", "bos_id")(400),
    "a huge id": at("text", "bos_id")(2**64),
    "another id": at("text", "bos_id")(10),
    "two tokens with one id": at("text", "bos_id")(2),
    "a switched-off token that is there": at("text", "bos_id")(-1),
    "a negative id": at("text", "bos_id")(-2),
    "unk_id out of range": at("text", "unk_id")(10_000),
    "unk_id negative": at("text", "unk_id")(-1),
    "another special token": at("text", "eos_piece")("</t>"),
    "an empty special token": at("text", "eos_piece")(""),
    "two special tokens alike": at("text", "eos_piece")("<s>"),
    "another symbol": at("text", "user_defined_symbols")(["<cls>"]),
    "no symbol": at("text", "user_defined_symbols")([]),
    "a symbol twice": at("text", "user_defined_symbols")(["<sep>", "<sep>"]),
    "a symbol that is a number": at("text", "user_defined_symbols")([7]),
    "a symbol that is a list": at("text", "user_defined_symbols")([["<sep>"]]),
    "an option more": at("text", "nothing")(True),
    "an unknown normalisation": at("text", "normalization")("nfd"),
    "an unknown pre-tokenization": at("text", "pretokenization")("../x"),
}


@pytest.mark.parametrize("case", WRONG_PIECES)
def test_wrong_pieces_are_refused(case: str, model: Path) -> None:
    manifest = manifest_of(model)
    WRONG_PIECES[case](manifest)
    write_manifest(model, manifest)
    refused(model)


def surrogate_symbol(manifest: Manifest) -> None:
    manifest["pieces"][4] = "\ud800"
    manifest["text"]["user_defined_symbols"] = ["\ud800"]


def surrogate_control(manifest: Manifest) -> None:
    manifest["pieces"][1] = manifest["text"]["bos_piece"] = "\ud800"


@pytest.mark.parametrize("change", [surrogate_symbol, surrogate_control])
def test_surrogates_in_special_pieces_are_refused(change: Change, model: Path) -> None:
    manifest = manifest_of(model)
    change(manifest)
    write_manifest(model, manifest)
    refused(model)


ODD_PIECES: dict[str, Change] = {
    "the highest scores": lambda m: m.update(scores=[2**24] * len(m["scores"])),
    "the lowest scores": lambda m: m.update(scores=[-(2**24)] * len(m["scores"])),
    "types as fractions": lambda m: m.update(types=[float(kind) for kind in m["types"]]),
    "a piece of 255 bytes": at("pieces", -1)("a" * 255),
    "a NUL": at("pieces", -1)("\0"),
    "a space for the marker": lambda m: m["pieces"].__setitem__(-1, " topo"),
    "a piece of spaces": at("pieces", -1)("▁▁▁"),
    "a piece across words": at("pieces", -1)("to▁ma"),
    "the replacement character": at("pieces", -1)("\ufffd"),
    "a noncharacter": at("pieces", -1)("\U0010ffff"),
    "a huge seed": at("seed")(10**400),
    "a negative seed": at("seed")(-5),
    "a dummy prefix": at("text", "add_dummy_prefix")(True),
    "no table": lambda m: m["parts"].pop("cooccurrence") and m.update(paired=None),
    "no bigrams": lambda m: m["parts"].pop("bigram"),
    "no source": lambda m: m["parts"].pop("source"),
    "unknown parts": at("parts", "other")({"file": "../../x"}),
    "unknown keys": at("other")({"file": "../../x"}),
    "odd provenance": at("provenance")({"": [math.nan, 10**400, "\ud800", {"x": None}]}),
    "not paired": at("paired")(None),
}


@pytest.mark.parametrize("case", ODD_PIECES)
def test_odd_manifests_work_or_are_refused(case: str, model: Path) -> None:
    manifest = manifest_of(model)
    ODD_PIECES[case](manifest)
    write_manifest(model, manifest)
    works_or_refused(model)


WRONG_SETTINGS: dict[str, Change] = {
    "nothing": at("paired")({}),
    "an unknown conditional": at("paired", "conditional")("product"),
    "no conditional": at("paired", "conditional")(None),
    "a mixture without smoothing": at("paired", "smoothing")(0),
    "penalties as a list": at("paired", "length_penalty")([1, 2, 3]),
    "penalties as a number": at("paired", "length_penalty")(4),
    "an unknown penalty": at("paired", "length_penalty", "sideways")(1),
    "a word for truth": at("paired", "whole_sentence")("yes"),
    **{
        f"{'.'.join(path)} = {value!r:.9}": at("paired", *path)(value)
        for path in [
            ("smoothing",),
            ("piece_penalty",),
            *[("length_penalty", side) for side in ("over", "under", "unlinked")],
        ]
        for value in ("1", None, [1], math.nan, math.inf, -math.inf, -(10**6), 1e308, -(10**400))
    },
    **{f"smoothing = 10^{n}": at("paired", "smoothing")(10**n) for n in (308, 400)},
    **{
        f"no {key}": lambda m, key=key: m["paired"].pop(key)
        for key in ("conditional", "smoothing", "length_penalty", "piece_penalty", "whole_sentence")
    },
}


@pytest.mark.parametrize("case", WRONG_SETTINGS)
def test_wrong_settings_of_paired_encoding_are_refused(case: str, model: Path) -> None:
    manifest = manifest_of(model)
    WRONG_SETTINGS[case](manifest)
    write_manifest(model, manifest)
    refused(model)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_manifests_with_values_from_anywhere_work_or_are_refused(data: st.DataObject) -> None:
    manifest = copy.deepcopy(pristine()[0])
    json_values = st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=5)
        | st.sampled_from([2**24, 2**31, 2**64, 10**400, "\ud800", "▁", "<s>", "<0x41>"]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=4,
    )
    for _ in range(data.draw(st.integers(1, 3))):
        place: Any = manifest
        key: Any = data.draw(st.sampled_from(sorted(manifest)))
        while isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
            place = place[key]
            key = data.draw(
                st.sampled_from(sorted(place))
                if isinstance(place, dict)
                else st.integers(0, len(place) - 1)
            )
        place[key] = data.draw(json_values)
    with fresh_model() as folder:
        write_manifest(folder, manifest)
        with contextlib.suppress(pairpiece.OptionError):  # pretokenization="custom"
            works_or_refused(folder)


# ---------------------------------------------------------------------- parts


@pytest.mark.parametrize("name", ["cooccurrence", "bigram", "source"])
def test_parts_outside_the_folder_are_refused(name: str, model: Path) -> None:
    manifest = manifest_of(model)
    file = manifest["parts"][name]["file"]
    outside = model.parent / "outside"
    shutil.copytree(model, outside)
    shutil.copytree(model, model / "sub")
    for path in (
        f"../outside/{file}",
        f"../model/{file}",
        f"sub/{file}",
        f"./{file}",
        str(outside / file),
        str(model / file),
        f"{file}/",
        f"{file}\n",
        f" {file}",
        f"{file}\0",
        f"file://{outside / file}",
        file.upper(),
        "",
        ".",
        "..",
        "/",
        "pairpiece.json",
        "~",
        f"{name}-zzzzzzzzzzzz.safetensors",
        f"{name}-{'0' * 10_000}.safetensors",
    ):
        manifest["parts"][name]["file"] = path
        write_manifest(model, manifest)
        refused(model)


@pytest.mark.parametrize("name", ["cooccurrence", "bigram", "source"])
def test_wrong_sizes_and_digests_are_refused(name: str, model: Path) -> None:
    good = manifest_of(model)
    part = good["parts"][name]
    for key, values in {
        "bytes": [part["bytes"] + 1, part["bytes"] - 1, 0, -1, 2**64, 10**400],
        "sha256": ["", "0" * 64, part["sha256"].upper(), part["sha256"][:-1]],
    }.items():
        for value in values:
            manifest = copy.deepcopy(good)
            manifest["parts"][name][key] = value
            write_manifest(model, manifest)
            refused_with(model, name)
    for key in ("bytes", "sha256", "file"):
        for value in (None, True, 1.5, [], {}, float(part["bytes"])):
            manifest = copy.deepcopy(good)
            manifest["parts"][name][key] = value
            write_manifest(model, manifest)
            refused(model)
        del manifest["parts"][name][key]
        write_manifest(model, manifest)
        refused(model)
    for value in (None, [], "x", 1):
        manifest = copy.deepcopy(good)
        manifest["parts"][name] = value
        write_manifest(model, manifest)
        refused(model)


def test_a_paired_model_without_a_table_is_refused(model: Path) -> None:
    manifest = manifest_of(model)
    del manifest["parts"]["cooccurrence"]
    write_manifest(model, manifest)
    refused(model)


def test_one_table_in_place_of_the_other_is_refused(model: Path) -> None:
    tables = pristine()[1]
    write_part(model, "cooccurrence", tables["bigram"])
    refused_when_paired(model)
    write_part(model, "bigram", tables["cooccurrence"])
    refused(model)


def set_source(folder: Path, change: Callable[[Path], object]) -> None:
    """Change the source tokenizer inside a model, and its digest in the model."""
    manifest = manifest_of(folder)
    inner = folder / manifest["parts"]["source"]["file"]
    change(inner)
    content = (inner / "pairpiece.json").read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    manifest["parts"]["source"].update(bytes=len(content), sha256=digest)
    write_manifest(folder, manifest)


def test_a_source_tokenizer_with_another_inside_is_refused(model: Path) -> None:
    for depth in range(3):
        other = model.parent / f"other{depth}"
        shutil.copytree(model, other)

        def nest(inner: Path, other: Path = other) -> None:
            shutil.rmtree(inner)
            shutil.copytree(other, inner)

        set_source(model, nest)
        refused(model)


def test_a_source_tokenizer_that_is_no_model_is_refused(model: Path) -> None:
    for content in (b"", b"{}", b"x" * 1000, storage._HEAD + b"0" * 64 + storage._NECK + b"}"):
        set_source(model, lambda inner, c=content: (inner / "pairpiece.json").write_bytes(c))
        refused(model)
    inner = parts(model)["source"].parent
    shutil.rmtree(inner)
    inner.write_text("a file")
    refused(model)
    inner.unlink()
    inner.symlink_to(model)
    refused(model)


# ---------------------------------------------------------------------- normalisation tables


def write_charsmap(folder: Path, content: bytes | str) -> None:
    manifest = manifest_of(folder)
    text = content if isinstance(content, str) else base64.b64encode(content).decode()
    manifest["charsmap"] = text
    write_manifest(folder, manifest)


@pytest.mark.parametrize("text", ["?", "AAA", "AAAA\n", "=", "AAAA====", "é", "\ud800", "AA AA"])
def test_charsmaps_that_are_not_base64_are_refused(text: str, model: Path) -> None:
    write_charsmap(model, text)
    refused(model)


GOOD = rules({"a": b"xy"})
WRONG_CHARSMAPS = {
    "one byte": b"\0",
    "three bytes": b"\4\0\0",
    "a size alone": b"\4\0\0\0",
    "zeros": b"\0" * 100,
    "no replacements": GOOD[: 4 + 4096],
    "a trie of no units": struct.pack("<I", 0) + GOOD[4:],
    "a trie size that is odd": struct.pack("<I", 4095) + GOOD[4:],
    "a trie larger than the table": struct.pack("<I", 4096 + 400) + GOOD[4:],
    "the largest trie": struct.pack("<I", 2**32 - 4) + GOOD[4:],
    "a trie of all the table": struct.pack("<I", 4096 + 4) + GOOD[4:] + b"\0",
    "no last NUL": GOOD[:-1],
    "replacements that are not UTF-8": rules({"a": b"\xff"}),
    "a surrogate": rules({"a": b"\xed\xa0\x80"}),
    "half a character": rules({"a": b"\xe2\x82"}),
    "an overlong NUL": rules({"a": b"\xc0\x80"}),
}


@pytest.mark.parametrize("case", WRONG_CHARSMAPS)
def test_malformed_charsmaps_are_refused(case: str, model: Path) -> None:
    write_charsmap(model, WRONG_CHARSMAPS[case])
    refused(model)


A = 512 ^ ord("a")
ODD_CHARSMAPS = {
    "a value out of range": rules({"a": b"xy"}, {128 + 97: 1 << 31 | 3}),
    "the largest value": rules({"a": b"xy"}, {128 + 97: 2**32 - 1}),
    "a value inside a character": rules({"a": "€".encode()}, {128 + 97: 1 << 31 | 1}),
    "a root out of range": rules({"a": b"xy"}, {0: 2**32 - 1}),
    "children out of range": rules({"a": b"xy"}, {A: 97 | 1 << 8 | 1 << 9 | (2**22 - 1) << 10}),
    "a circle": rules({"a": b"xy"}, {A: 97 | 97 << 10}),
    "a circle of values": rules({"a": b"xy"}, {A: 97 | 1 << 8 | 97 << 10}),
    "a circle behind a rule": rules(
        {"a": b"xy"}, {A: 97 | 1 << 8 | (A ^ 256) << 10, 256: 1 << 31, 256 ^ 97: 97 | 97 << 10}
    ),
    "only ones": struct.pack("<I", 4096) + b"\xff" * 4096 + b"x\0",
    "only zeros": struct.pack("<I", 4096) + b"\0" * 4096 + b"x\0",
    "one unit": struct.pack("<II", 4, 0) + b"x\0",
    "nothing for something": rules({"a": b"", "e": b""}),
    "spaces": rules({"a": b"   ", " ": b"", "b": b" "}),
    "markers": rules({"a": "▁".encode(), "b": b"<sep>"}),
    "growth": rules(dict.fromkeys("abcdefgh", b"abcde")),
}


@pytest.mark.parametrize("case", ODD_CHARSMAPS)
def test_odd_charsmaps_work_or_are_refused(case: str, model: Path) -> None:
    write_charsmap(model, ODD_CHARSMAPS[case])
    works_or_refused(model)


def test_truncated_charsmaps_work_or_are_refused(model: Path) -> None:
    whole = big_charsmap()
    loaded = 0
    for length in range(0, len(whole), len(whole) // 60):
        write_charsmap(model, whole[:length])
        loaded += works_or_refused(model)
    assert loaded < 60


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_charsmaps_with_changes_anywhere_work_or_are_refused(data: st.DataObject) -> None:
    table = bytearray(rules({"a": b"xy", "b": "€".encode(), " ": b" a ", "o": b""}))
    for _ in range(data.draw(st.integers(1, 8))):
        unit = 4 * data.draw(st.sampled_from([0, 1, 128 + 97, A, 512 ^ 32, 128 + 32, 1024]))
        place = data.draw(st.integers(unit, unit + 3) | st.integers(0, len(table) - 1))
        table[place] = data.draw(st.integers(0, 255))
    with fresh_model() as folder:
        write_charsmap(folder, bytes(table))
        works_or_refused(folder)


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=300), st.booleans())
def test_random_charsmaps_work_or_are_refused(content: bytes, framed: bool) -> None:
    if framed:
        trie = content[: len(content) // 8 * 4]
        content = struct.pack("<I", len(trie)) + trie + content[len(trie) :] + b"\0"
    with fresh_model() as folder:
        write_charsmap(folder, content)
        works_or_refused(folder)


def test_a_charsmap_cannot_blow_up_a_text(model: Path) -> None:
    """A file of a megabyte must not turn each character into a megabyte."""
    write_charsmap(model, rules({"a": b"x" * 1_000_000}))
    try:
        tokenizer = pairpiece.load(model)
    except pairpiece.ModelFormatError:
        return
    assert len(tokenizer.normalize("aaaa")) < 1000


def test_a_charsmap_that_runs_in_circles_takes_no_longer(model: Path) -> None:
    for case in ("a circle", "a circle of values", "a circle behind a rule"):
        write_charsmap(model, ODD_CHARSMAPS[case])
        try:
            tokenizer = pairpiece.load(model)
        except pairpiece.ModelFormatError:
            continue
        started = time.monotonic()
        tokenizer.normalize("a" * 60_000)
        assert time.monotonic() - started < 1, case


# ---------------------------------------------------------------------- wrong tables

TableChange = Callable[[Arrays], object]


def put(name: str, index: int, value: Any) -> TableChange:
    return lambda arrays: arrays[name].__setitem__(index, value)


def swap(name: str, change: Callable[[np.ndarray], Any]) -> TableChange:
    return lambda arrays: arrays.__setitem__(name, np.ascontiguousarray(change(arrays[name])))


def unsorted_row(begin: str, columns: str) -> TableChange:
    def change(arrays: Arrays) -> None:
        lengths = np.diff(arrays[begin].astype(np.int64))
        first = int(arrays[begin][int(np.flatnonzero(lengths > 1)[0])])
        arrays[columns][first : first + 2] = arrays[columns][first : first + 2][::-1]

    return change


def repeated_column(begin: str, columns: str) -> TableChange:
    def change(arrays: Arrays) -> None:
        lengths = np.diff(arrays[begin].astype(np.int64))
        first = int(arrays[begin][int(np.flatnonzero(lengths > 1)[0])])
        arrays[columns][first + 1] = arrays[columns][first]

    return change


def wrong_arrays(*names: str) -> dict[str, TableChange]:
    changes: dict[str, TableChange] = {}
    for name in names:
        changes[f"no {name}"] = lambda a, n=name: a.pop(n)
        changes[f"{name} empty"] = swap(name, lambda x: x[:0])
        changes[f"{name} longer"] = swap(name, lambda x: np.concatenate([x, x[-1:]]))
        changes[f"{name} shorter"] = swap(name, lambda x: x[:-1])
        changes[f"{name} of one value"] = swap(name, lambda x: x[:1])
        changes[f"{name} with two dimensions"] = swap(name, lambda x: x.reshape(1, -1))
        changes[f"{name} with a column"] = swap(name, lambda x: x.reshape(-1, 1))
        changes[f"{name} in big pieces"] = swap(name, lambda x: x.astype(np.complex64))
        changes[f"{name} without dimensions"] = swap(name, lambda x: x[:1].reshape(()))
        for dtype in (np.float16, np.float32, np.float64, np.int32, np.int64, np.uint64, np.bool_):
            kind = np.dtype(dtype)
            changes[f"{name} as {kind}"] = lambda a, n=name, k=kind: a.__setitem__(
                n, a[n].astype(np.uint16 if a[n].dtype == k else k)
            )
    return changes


COMMON: dict[str, TableChange] = {
    **{
        f"{name} {value}": put(name, 5, value)
        for name in ("count", "base")
        for value in (math.nan, math.inf, -math.inf, -1.0)
    },
    "a base of zeros": lambda a: a["base"].fill(0),
    "a base without the last piece": put("base", -1, 0),
    "rows that begin late": put("row_begin", 0, 1),
    "rows that end early": lambda a: put("row_begin", -1, len(a["count"]) - 1)(a),
    "rows that end late": lambda a: put("row_begin", -1, len(a["count"]) + 1)(a),
    "rows that go back": lambda a: put("row_begin", 300, len(a["count"]))(a),
    "rows that go far": put("row_begin", 300, 2**64 - 1),
    "rows that go on for ever": lambda a: a["row_begin"][1:-1].fill(2**63),
}

WRONG_TABLES: dict[str, dict[str, TableChange]] = {
    "cooccurrence": {
        **wrong_arrays("row_begin", "source", "count", "source_count", "base"),
        **wrong_arrays("source_token_bytes", "source_token_begin"),
        **COMMON,
        **{
            f"source_count {value}": put("source_count", 5, value)
            for value in (math.nan, math.inf, -1.0)
        },
        "a source out of range": lambda a: put("source", 0, len(a["source_count"]))(a),
        "a source far out of range": put("source", -1, 2**32 - 1),
        "sources that go back": unsorted_row("row_begin", "source"),
        "a source twice": repeated_column("row_begin", "source"),
        "a source token less": swap("source_token_begin", lambda x: np.delete(x, 3)),
        "source tokens that begin late": put("source_token_begin", 0, 1),
        "source tokens that end late": lambda a: put(
            "source_token_begin", -1, len(a["source_token_bytes"]) + 1
        )(a),
        "source tokens that go back": lambda a: put(
            "source_token_begin", 3, len(a["source_token_bytes"])
        )(a),
        "source tokens that go far": put("source_token_begin", 3, 2**64 - 1),
        "the first source token is not empty": put("source_token_begin", 1, 1),
        "half a character": put("source_token_bytes", 0, 0x80),
        "not UTF-8": lambda a: a["source_token_bytes"].fill(0xFF),
        "no characters": lambda a: a["source_token_bytes"].fill(0xC0),
    },
    "bigram": {
        **wrong_arrays("row_begin", "next", "count", "base"),
        **COMMON,
        "a piece out of range": lambda a: put("next", 0, len(a["base"]))(a),
        "a piece far out of range": put("next", -1, 2**32 - 1),
        "pieces that go back": unsorted_row("row_begin", "next"),
        "a piece twice": repeated_column("row_begin", "next"),
    },
}


@pytest.mark.parametrize("table", WRONG_TABLES)
def test_the_tables_of_the_tests_are_right(table: str, model: Path) -> None:
    write_part(model, table, pristine()[1][table])
    use_paired(pairpiece.load(model))


@pytest.mark.parametrize(
    ("table", "case"), [(table, case) for table, cases in WRONG_TABLES.items() for case in cases]
)
def test_wrong_tables_are_refused(table: str, case: str, model: Path) -> None:
    arrays = copy.deepcopy(pristine()[1][table])
    with np.errstate(all="ignore"):
        WRONG_TABLES[table][case](arrays)
    write_part(model, table, arrays)
    refused_with(model, table)


ODD_TABLES: dict[str, dict[str, TableChange]] = {
    "cooccurrence": {
        "an array more": lambda a: a.__setitem__("more", np.zeros(3)),
        "settings": lambda a: a.__setitem__("settings", np.zeros(3)),
        "source_tokens": lambda a: a.__setitem__("source_tokens", np.zeros(3)),
        "no counts": lambda a: a["count"].fill(0),
        "the largest counts": lambda a: a["count"].fill(np.finfo(np.float32).max),
        "no source counts": lambda a: a["source_count"].fill(0),
        "the largest source counts": lambda a: a["source_count"].fill(1e308),
        "the smallest source counts": lambda a: a["source_count"].fill(5e-324),
        "a large base": lambda a: a["base"].fill(1e308),
        "a small base": lambda a: a["base"].fill(5e-324),
        "source tokens alike": lambda a: a["source_token_bytes"].fill(97),
        "surrogates": lambda a: a["source_token_bytes"].__setitem__(
            slice(0, 3), list("\ud800".encode("utf-8", "surrogatepass"))
        ),
        "empty source tokens": lambda a: (
            a["source_token_begin"].fill(0),
            put("source_token_begin", -1, len(a["source_token_bytes"]))(a),
        ),
    },
    "bigram": {
        "an array more": lambda a: a.__setitem__("more", np.zeros(3)),
        "core": lambda a: a.__setitem__("core", np.zeros(3)),
        "no counts": lambda a: a["count"].fill(0),
        "the largest counts": lambda a: a["count"].fill(np.finfo(np.float32).max),
        "a large base": lambda a: a["base"].fill(1e308),
        "a small base": lambda a: a["base"].fill(5e-324),
    },
}


@pytest.mark.parametrize("conditional", ["mixture", "pooled"])
@pytest.mark.parametrize(
    ("table", "case"), [(table, case) for table, cases in ODD_TABLES.items() for case in cases]
)
def test_odd_tables_work_or_are_refused(
    table: str, case: str, conditional: str, model: Path
) -> None:
    arrays = copy.deepcopy(pristine()[1][table])
    ODD_TABLES[table][case](arrays)
    manifest = manifest_of(model)
    manifest["paired"]["conditional"] = conditional
    write_manifest(model, manifest)
    write_part(model, table, arrays)
    works_or_refused(model)


@pytest.mark.parametrize("table", WRONG_TABLES)
@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_tables_with_values_from_anywhere_work_or_are_refused(
    table: str, data: st.DataObject
) -> None:
    arrays = copy.deepcopy(pristine()[1][table])
    for _ in range(data.draw(st.integers(1, 3))):
        array = arrays[data.draw(st.sampled_from(sorted(arrays)))]
        place = data.draw(st.integers(0, len(array) - 1))
        if array.dtype.kind == "f":
            array[place] = data.draw(st.floats(width=8 * array.itemsize))
        else:
            largest = int(np.iinfo(array.dtype).max)
            near = int(array[place])
            array[place] = data.draw(
                st.integers(max(0, near - 3), min(largest, near + 3)) | st.integers(0, largest)
            )
    with fresh_model() as folder:
        write_part(folder, table, arrays)
        works_or_refused(folder)


# ---------------------------------------------------------------------- hand-made safetensors


def safetensors(header: Any, data: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def declared(**changes: Any) -> dict[str, Any]:
    """A header that is right but for one array."""
    arrays = pristine()[1]["bigram"]
    header: dict[str, Any] = {}
    begin = 0
    kinds = {"row_begin": "U64", "next": "U32", "count": "F32", "base": "F64"}
    for name in sorted(arrays, key=lambda n: -arrays[n].itemsize):
        end = begin + arrays[name].nbytes
        shape = [len(arrays[name])]
        header[name] = {"dtype": kinds[name], "shape": shape, "data_offsets": [begin, end]}
        begin = end
    for name, change in changes.items():
        header[name] = {**header.get(name, {}), **change}
    return header


def bigrams() -> int:
    return len(pristine()[1]["bigram"]["count"])


def array_data() -> bytes:
    arrays = pristine()[1]["bigram"]
    return b"".join(arrays[n].tobytes() for n in sorted(arrays, key=lambda n: -arrays[n].itemsize))


def bigram_file(**changes: Any) -> bytes:
    return safetensors(declared(**changes), array_data())


HUGE = 2**60
WRONG_FILES: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "a length alone": lambda: struct.pack("<Q", 0),
    "the largest length": lambda: safetensors(declared(), array_data(), 2**64 - 1),
    "a large length": lambda: safetensors(declared(), array_data(), 2**40),
    "a length of 100 MB": lambda: safetensors(declared(), array_data(), 100_000_000),
    "not JSON": lambda: safetensors(b"x" * 100, array_data()),
    "not UTF-8": lambda: safetensors(b"\xff" * 100, array_data()),
    "a list": lambda: safetensors([], array_data()),
    "deep nesting": lambda: safetensors(b"[" * 100_000, array_data()),
    "deep objects": lambda: safetensors(b'{"a":' * 100_000, array_data()),
    "no arrays": lambda: safetensors({}),
    "a missing end": lambda: safetensors(declared(), array_data()[:-1]),
    "data at the end": lambda: safetensors(declared(), array_data() + b"\0"),
    "a huge shape": lambda: bigram_file(count={"shape": [HUGE]}),
    "a shape beyond 64 bits": lambda: bigram_file(count={"shape": [2**70]}),
    "a product beyond 64 bits": lambda: bigram_file(count={"shape": [2**32, 2**32, 2**32]}),
    "a product that wraps to the size": lambda: bigram_file(count={"shape": [2**62 + bigrams()]}),
    "huge offsets": lambda: bigram_file(count={"shape": [HUGE], "data_offsets": [0, 4 * HUGE]}),
    "offsets that go back": lambda: bigram_file(count={"data_offsets": [8, 0]}),
    "negative offsets": lambda: bigram_file(count={"data_offsets": [-8, 0]}),
    "a negative shape": lambda: bigram_file(count={"shape": [-1]}),
    "a fraction": lambda: bigram_file(count={"shape": [1.5]}),
    "no shape": lambda: bigram_file(count={"shape": None}),
    "arrays over each other": lambda: bigram_file(
        count={"data_offsets": declared()["next"]["data_offsets"]}
    ),
    "an unknown dtype": lambda: bigram_file(count={"dtype": "X99"}),
    "no dtype": lambda: bigram_file(count={"dtype": None}),
    "bfloat": lambda: bigram_file(count={"dtype": "BF16", "shape": [2 * bigrams()]}),
    "a small float": lambda: bigram_file(count={"dtype": "F8_E4M3", "shape": [4 * bigrams()]}),
    "a tiny float": lambda: bigram_file(count={"dtype": "F4", "shape": [8 * bigrams()]}),
    "odd metadata": lambda: safetensors({"__metadata__": [1], **declared()}, array_data()),
    "a huge array of nothing": lambda: bigram_file(count={"shape": [HUGE, 0]}),
    "a pickle": lambda: b"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00N.",
    "a zip": lambda: b"PK\x03\x04" + b"\0" * 100,
}


def test_the_header_of_the_tests_is_right(model: Path) -> None:
    write_part(model, "bigram", bigram_file())
    use_plain(pairpiece.load(model))


@pytest.mark.parametrize("table", WRONG_TABLES)
@pytest.mark.parametrize("case", WRONG_FILES)
def test_files_that_are_not_such_tables_are_refused(table: str, case: str, model: Path) -> None:
    write_part(model, table, WRONG_FILES[case]())
    refused_with(model, table)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_tables_with_changed_bytes_work_or_are_refused(data: st.DataObject) -> None:
    content = bytearray(bigram_file())
    header = struct.unpack("<Q", content[:8])[0] + 8
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, header) | st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    with fresh_model() as folder:
        write_part(folder, "bigram", bytes(content))
        works_or_refused(folder)


def test_extra_arrays_of_unreadable_kinds_work_or_are_refused(model: Path) -> None:
    end = len(array_data())
    for dtype, length in {"BF16": 4, "F8_E5M2": 8, "F4": 16, "BOOL": 8, "F64": 1, "C64": 1}.items():
        more = {"dtype": dtype, "shape": [length], "data_offsets": [end, end + 8]}
        write_part(model, "bigram", safetensors(declared(more=more), array_data() + b"\0" * 8))
        works_or_refused(model)


# ---------------------------------------------------------------------- memory


def test_declared_sizes_take_no_memory(model: Path) -> None:
    def peak() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    before = peak()
    for case in ("a huge shape", "huge offsets", "the largest length", "a large length"):
        write_part(model, "bigram", WRONG_FILES[case]())
        refused(model)
    for value in (2**31, 2**40, 2**64):
        for path in (("text", "bos_id"), ("seed",), ("parts", "cooccurrence", "bytes")):
            manifest = copy.deepcopy(pristine()[0])
            at(*path)(value)(manifest)
            write_manifest(model, manifest)
            works_or_refused(model)
    assert peak() - before < 50_000_000


@pytest.mark.parametrize("name", ["pairpiece.json", "bigram"])
def test_files_that_claim_to_be_large_are_not_read(name: str, model: Path) -> None:
    """Sparse files take no room on the disk but would in memory."""
    path = model / name if name == "pairpiece.json" else parts(model)["bigram"]
    with path.open("r+b") as file:
        file.truncate(2**37)
    started = time.monotonic()
    refused(model)
    assert time.monotonic() - started < 2
