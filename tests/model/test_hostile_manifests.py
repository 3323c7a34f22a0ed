"""A manifest with a right digest and wrong content is refused."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tampering import (
    ODD_VALUES,
    Change,
    Manifest,
    at,
    fresh_model,
    manifest_of,
    parts,
    pristine,
    refused,
    refused_when_paired,
    refused_with,
    works_or_refused,
    write_manifest,
    write_part,
)

import pairpiece
from pairpiece.model import saving

pytestmark = pytest.mark.usefixtures("no_fsync")

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
    if key != "split_digits":  # earlier models have none
        write_manifest(model, manifest)
        refused(model)
    for value in ODD_VALUES:
        manifest["text"][key] = value
        write_manifest(model, manifest)
        if type(value) is type(good):
            works_or_refused(model)
        else:
            refused(model)


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
    "a huge score of version 1": lambda m: (m.update(version=1), at("scores", -1)(10**400)(m)),
    "a score as text": at("scores", -1)("-1.5"),
    "another summation": lambda manifest: manifest.update(summation="thirds"),
    "no summation": lambda manifest: manifest.pop("summation"),
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
            ("inferred_piece_penalty",),
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


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | TEXT
    | st.sampled_from([2**24, 2**31, 2**64, 10**400, "\ud800", "▁", "<s>", "<0x41>"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner),
    max_leaves=4,
)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_manifests_with_values_from_anywhere_work_or_are_refused(data: st.DataObject) -> None:
    manifest = copy.deepcopy(pristine()[0])
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
        place[key] = data.draw(JSON_VALUES)
    with fresh_model() as folder:
        write_manifest(folder, manifest)
        with contextlib.suppress(pairpiece.OptionError):  # pretokenization="custom"
            works_or_refused(folder)


@pytest.mark.parametrize("name", ["cooccurrence", "translation", "bigram", "source"])
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


@pytest.mark.parametrize("name", ["cooccurrence", "translation", "bigram", "source"])
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
    for content in (b"", b"{}", b"x" * 1000, saving.HEAD + b"0" * 64 + saving.NECK + b"}"):
        set_source(model, lambda inner, c=content: (inner / "pairpiece.json").write_bytes(c))
        refused(model)
    inner = parts(model)["source"].parent
    shutil.rmtree(inner)
    inner.write_text("a file")
    refused(model)
    inner.unlink()
    inner.symlink_to(model)
    refused(model)
