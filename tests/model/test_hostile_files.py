"""Damaged files, and files that are something else, are refused."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from support.tampering import (
    REFUSED,
    manifest_of,
    parts,
    pristine,
    refused,
    refused_with,
    rules,
    use_paired,
    within,
    works_or_refused,
    write_body,
    write_manifest,
    write_part,
)

import pairpiece
from pairpiece.model import saving

pytestmark = pytest.mark.usefixtures("no_fsync")


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


PART_NAMES = ["manifest", "cooccurrence", "translation", "bigram", "source"]


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
        if part in ("cooccurrence", "translation"):
            with REFUSED:
                pairpiece.load(model).source_weights()
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
        saving.HEAD,
        saving.HEAD + b"0" * 64,
        saving.HEAD + b"0" * 64 + saving.NECK,
        saving.HEAD + hashlib.sha256(b"").hexdigest().encode() + saving.NECK,
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


@pytest.mark.parametrize("version", [0, -1, 4, 2**63, True, 1.0, "1", None, [1]])
def test_other_versions_are_refused(version: Any, model: Path) -> None:
    manifest = manifest_of(model)
    manifest["version"] = version
    write_manifest(model, manifest)
    message = refused(model)
    if type(version) is int and version > 3:
        assert "upgrade" in message
