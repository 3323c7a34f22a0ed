"""No normalisation table can do harm."""

from __future__ import annotations

import base64
import struct
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tampering import (
    big_charsmap,
    fresh_model,
    manifest_of,
    refused,
    rules,
    works_or_refused,
    write_manifest,
)

import pairpiece

pytestmark = pytest.mark.usefixtures("no_fsync")


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


def work_of_normalizing(tokenizer: pairpiece.Tokenizer) -> float:
    started = time.process_time()
    tokenizer.normalize("a" * 60_000)
    return time.process_time() - started


def test_a_charsmap_that_runs_in_circles_takes_no_longer(model: Path) -> None:
    write_charsmap(model, rules({"a": b"x"}))
    straight = work_of_normalizing(pairpiece.load(model))
    for case in ("a circle", "a circle of values", "a circle behind a rule"):
        write_charsmap(model, ODD_CHARSMAPS[case])
        try:
            tokenizer = pairpiece.load(model)
        except pairpiece.ModelFormatError:
            continue
        assert work_of_normalizing(tokenizer) < 500 * straight, case  # 60 at most
