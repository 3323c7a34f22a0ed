"""Tables with right digests and wrong content are refused."""

from __future__ import annotations

import copy
import json
import math
import resource
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tampering import (
    Arrays,
    at,
    fresh_model,
    manifest_of,
    parts,
    pristine,
    refused,
    refused_with,
    use_paired,
    use_plain,
    works_or_refused,
    write_manifest,
    write_part,
)

import pairpiece

pytestmark = pytest.mark.usefixtures("no_fsync")

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


def wrong_values(*names: str) -> dict[str, TableChange]:
    return {
        f"{name} {value}": put(name, 5, value)
        for name in names
        for value in (math.nan, math.inf, -math.inf, -1.0)
    }


ROWS: dict[str, TableChange] = {
    **wrong_values("count"),
    "rows that begin late": put("row_begin", 0, 1),
    "rows that end early": lambda a: put("row_begin", -1, len(a["count"]) - 1)(a),
    "rows that end late": lambda a: put("row_begin", -1, len(a["count"]) + 1)(a),
    "rows that go back": lambda a: put("row_begin", 300, len(a["count"]))(a),
    "rows that go far": put("row_begin", 300, 2**64 - 1),
    "rows that go on for ever": lambda a: a["row_begin"][1:-1].fill(2**63),
}

BASE: dict[str, TableChange] = {
    **wrong_values("base"),
    "a base of zeros": lambda a: a["base"].fill(0),
    "a base without the last piece": put("base", -1, 0),
}

WRONG_TABLES: dict[str, dict[str, TableChange]] = {
    "cooccurrence": {
        **wrong_arrays("row_begin", "source", "count", "source_count", "base"),
        **wrong_arrays("source_token_bytes", "source_token_begin"),
        **ROWS,
        **BASE,
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
    "translation": {
        **wrong_arrays("row_begin", "source", "count", "piece_count"),
        **ROWS,
        **wrong_values("piece_count"),
        "a source far out of range": put("source", -1, 2**32 - 1),
        "sources that go back": unsorted_row("row_begin", "source"),
        "a source twice": repeated_column("row_begin", "source"),
    },
    "bigram": {
        **wrong_arrays("row_begin", "next", "count", "base"),
        **ROWS,
        **BASE,
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
    "translation": {
        "an array more": lambda a: a.__setitem__("more", np.zeros(3)),
        "no counts": lambda a: a["count"].fill(0),
        "the largest counts": lambda a: a["count"].fill(np.finfo(np.float32).max),
        "the smallest counts": lambda a: a["count"].fill(np.finfo(np.float32).tiny),
        "no pieces seen": lambda a: a["piece_count"].fill(0),
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


def bytes_read() -> int:
    """By this process, in all its life."""
    return int(Path("/proc/self/io").read_text().split()[1])


@pytest.mark.parametrize("name", ["pairpiece.json", "bigram"])
def test_files_that_claim_to_be_large_are_not_read(name: str, model: Path) -> None:
    """Sparse files take no room on the disk but would in memory."""
    path = model / name if name == "pairpiece.json" else parts(model)["bigram"]
    with path.open("r+b") as file:
        file.truncate(2**37)
    before = bytes_read()
    refused(model)
    assert bytes_read() - before < 2**20
