"""Bad input is refused with a message that names the file, the line, and what to do."""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import json
import lzma
import random
import re
import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polib
import pyarrow
import pyarrow.parquet
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pairpiece import files
from pairpiece.corpus import gettext
from pairpiece.corpus.reading import Corpus
from pairpiece.errors import CorpusError, PairPieceError
from pairpiece.files import MAX_LINE_BYTES

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(message: str, *args: Any, **how: Any) -> None:
    """The corpus cannot be read; `message` is a pattern that the whole error begins with."""
    with pytest.raises(CorpusError) as caught:
        list(Corpus.of(*args, **how))
    assert re.match(message, str(caught.value)), str(caught.value)
    assert len(str(caught.value)) < 1000


def refused_file(path: Path, content: str | bytes, message: str, **how: Any) -> None:
    """The message is what follows the name of the file."""
    refused(re.escape(str(path)) + message, corpus=write(path, content), **how)


def refused_line(path: Path, content: str | bytes, message: str, **how: Any) -> None:
    refused(re.escape(str(path)) + message, write(path, content), path, **how)


# ---------------------------------------------------------------------- files and lines


@pytest.mark.parametrize(("sources", "targets"), [(3, 5), (5, 3), (0, 1), (1200, 1199)])
def test_different_numbers_of_lines(tmp_path: Path, sources: int, targets: int) -> None:
    first = write(tmp_path / "long.fr", "a\n" * sources)
    second = write(tmp_path / "long.it", "b\n" * targets)
    shorter, longer = (first, second) if sources < targets else (second, first)
    few, many = sorted((sources, targets))
    message = f"{shorter} ends after {few:,} lines but {longer} has {many:,}: line n of"
    refused(re.escape(message), first, second)


@pytest.mark.parametrize("end", ["", *COMPRESS])
def test_bytes_that_are_not_utf_8(tmp_path: Path, end: str) -> None:
    content = "città\n".encode() * 20_000 + b"citt\xe0 x\n" + b"more\n"
    path = tmp_path / f"a.txt{end}"
    message = r":20001: not valid UTF-8 \(byte 5 of the line\): convert the file with iconv"
    refused_line(path, COMPRESS.get(end, bytes)(content), message)


@pytest.mark.parametrize("raw", [b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"])
def test_every_kind_of_invalid_utf_8(tmp_path: Path, raw: bytes) -> None:
    refused_file(tmp_path / "a.tsv", b"a\tb\n" * 2 + raw, ":3: not valid UTF-8")
    refused_file(tmp_path / "a.jsonl", raw + b"\n{}", ":1: not valid UTF-8")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16(tmp_path: Path, encoding: str) -> None:
    content = ("" if encoding == "utf-16" else "\ufeff") + "città\n"
    refused_line(tmp_path / "a.fr", content.encode(encoding), ": UTF-16, not UTF-8: convert")


NOISE = "".join(random.Random(1).choices("abcd\t\n", k=300_000)).encode()


@pytest.mark.parametrize("part", [0.1, 0.5, 0.999])
@pytest.mark.parametrize("end", COMPRESS)
def test_truncated_archives(tmp_path: Path, end: str, part: float) -> None:
    content = COMPRESS[end](NOISE)
    content = content[: int(len(content) * part)]
    refused_line(tmp_path / f"a{end}", content, ": damaged or truncated: .*; copy the file again")


@pytest.mark.parametrize("part", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("end", COMPRESS)
def test_damaged_archives(tmp_path: Path, end: str, part: float) -> None:
    content = bytearray(COMPRESS[end](NOISE))
    begin = 30 + int(len(content) * part)
    content[begin : begin + 400] = b"\xff" * 400
    refused_line(tmp_path / f"a{end}", bytes(content), ": damaged or truncated: .*; copy the file")


@pytest.mark.parametrize("content", [b"not compressed\n", b"\x1f\x8b", b"(\xb5/\xfd", b"\xfd7zXZ"])
@pytest.mark.parametrize("end", COMPRESS)
def test_files_that_are_no_archives(tmp_path: Path, end: str, content: bytes) -> None:
    refused_line(tmp_path / f"a{end}", content, ": damaged or truncated: .*; copy the file again")


def test_missing_files(tmp_path: Path) -> None:
    there, missing = write(tmp_path / "a", "a"), tmp_path / "b"
    message = re.escape(f"{missing}: there is no such file")
    refused(message, corpus=missing)
    refused(message, there, missing)
    refused(message, [there, missing], [there, there])


def test_directories(tmp_path: Path) -> None:
    refused(re.escape(f"{tmp_path}: is a directory"), corpus=tmp_path)


def test_files_that_vanish(tmp_path: Path) -> None:
    for name in ("a.tsv", "a.parquet", "a.tmx", "a.po", "a.mo"):
        corpus = Corpus.of(corpus=write(tmp_path / name, "a"))
        (tmp_path / name).unlink()
        with pytest.raises(CorpusError, match=f"{name}: .*No such file"):
            list(corpus)


@pytest.mark.parametrize("end", ["", ".gz"])
def test_lines_that_are_too_long(tmp_path: Path, end: str) -> None:
    content = b"a\n" + b"b" * (MAX_LINE_BYTES + 1) + b"\nc\n"
    message = ":2: a line of more than 1,048,576 bytes; is this a text file with one sentence"
    refused_line(tmp_path / f"a{end}", COMPRESS.get(end, bytes)(content), message)


def test_one_language_as_a_corpus(tmp_path: Path) -> None:
    refused_file(tmp_path / "a.txt", "a\n", r": a file with one language: give it as source= or")


@pytest.mark.parametrize("names", [("a.tsv", "b.tsv"), ("a.txt", "b.jsonl"), ("a.po", "b.tmx")])
def test_two_files_of_formats_that_hold_both_sides(tmp_path: Path, names: tuple[str, str]) -> None:
    first, second = (write(tmp_path / name, "a\tb\n") for name in names)
    message = f"{first} and {second}: only text files and gettext catalogues come in twos; a "
    refused(re.escape(message), first, second)


# ---------------------------------------------------------------------- TSV and JSONL


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [("a", None, "1 columns where 2"), ("", None, "1 columns where 2"), ("a\tb", "4", "2 .* 4")],
)
def test_tsv_with_too_few_columns(
    tmp_path: Path, line: str, column: str | None, message: str
) -> None:
    content = f"a\tb\tc\td\n{line}\n"
    refused_file(tmp_path / "a.tsv", content, f":2: {message} are needed", target_column=column)


def test_errors_in_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\tb\n\xff\tb\n")))
    refused("standard input:2: not valid UTF-8", corpus="-")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\tb\nc\n")))
    refused("standard input:2: 1 columns where 2 are needed", corpus="-")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"source": "a", "target"', "not a JSON object"),
        ("", "not a JSON object"),
        ('["a", "b"]', "not a JSON object"),
        ('"a"', "not a JSON object"),
        ("null", "not a JSON object"),
        ('{"source": "a", "target": "b"} {}', "not a JSON object"),
        (f'{{"n": {"9" * 5000}}}', "not a JSON object"),
        ('{"x":' * 100_000, "not a JSON object"),
        ("[" * 100_000 + "]" * 100_000, "not a JSON object"),
        ('{"source": "a"}', "the column 'target' is missing"),
        ('{"source": "a", "target": [null]}', "the column 'target' is not text"),
        ('{"source": 5, "target": "b"}', "the column 'source' is not text"),
        ('{"source": ["a"], "target": "b"}', "the column 'source' is not text"),
        ('{"source": {"fr": "a"}, "target": "b"}', "the column 'source' is not text"),
    ],
    ids=range(14),
)
def test_bad_json_lines(tmp_path: Path, line: str, message: str) -> None:
    content = f'{{"source": "a", "target": "b"}}\n{line}\n'
    refused_file(tmp_path / "a.jsonl", content, f":2: {message}")


@pytest.mark.parametrize(
    ("record", "columns", "message"),
    [
        ({"fr": "a", "it": "b", "en": "c"}, {}, r"say which column is .* there are fr, it, en$"),
        ({"n": 1, "t": {"fr": "a"}}, {}, r"say which column .*source_column.* there are t\.fr$"),
        ({}, {}, "say which column .* there are no columns with text"),
        ({"fr": "a", "it": "b"}, {"source_column": "it"}, "say which column"),
        ({"t": {"fr": "a"}}, {"source_column": "t.fr", "target_column": "t.it"}, ".*'t.it' is mi"),
        ({"t": "a", "it": "b"}, {"source_column": "t.fr", "target_column": "it"}, ".*'t.fr' is mi"),
    ],
)
def test_json_columns_that_are_not_clear(
    tmp_path: Path, record: dict[str, Any], columns: dict[str, str], message: str
) -> None:
    refused_file(tmp_path / "a.jsonl", json.dumps(record), f":1: {message}", **columns)


# ---------------------------------------------------------------------- Parquet


def parquet(table: Any) -> bytes:
    sink = io.BytesIO()
    pyarrow.parquet.write_table(table, sink)
    return sink.getvalue()


GOOD_PARQUET = parquet(pyarrow.table({"source": ["a", "c"] * 50, "target": ["b", "d"] * 50}))


@pytest.mark.parametrize(
    "content", [b"", b"garbage" * 9, b"PAR1" * 9, GOOD_PARQUET[:-9], GOOD_PARQUET[99:]]
)
def test_files_that_are_no_parquet(tmp_path: Path, content: bytes) -> None:
    refused_file(tmp_path / "a.parquet", content, ": not a readable Parquet file: ")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (("source", "it"), ": there is no column 'it' with text, but id, source, target"),
        (("source", "n"), ": there is no column 'n' with text"),
        (("source.x", "target"), ": there is no column 'source.x' with text"),
        (("id", None), ": say which column is the source"),
    ],
)
def test_parquet_without_the_column(
    tmp_path: Path, columns: tuple[str, str | None], message: str
) -> None:
    table = pyarrow.table({"id": ["x"], "source": ["a"], "target": ["b"], "n": [1]})
    names = dict(zip(("source_column", "target_column"), columns, strict=True))
    refused_file(tmp_path / "a.parquet", parquet(table), message, **names)


def test_parquet_with_the_same_column_twice(tmp_path: Path) -> None:
    arrays = [pyarrow.array([text]) for text in "abc"]
    table = pyarrow.Table.from_arrays(arrays, names=["source", "target", "source"])
    refused_file(tmp_path / "a.parquet", parquet(table), ": .*source")


def test_parquet_text_that_is_not_utf_8(tmp_path: Path) -> None:
    text = pyarrow.array([b"a", b"citt\xe0"]).view(pyarrow.string())
    content = parquet(pyarrow.table({"source": text, "target": ["b", "d"]}))
    refused_file(tmp_path / "a.parquet", content, ":.*(UTF-8|utf-8)")


def test_without_pyarrow_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = re.escape(': reading Parquet needs pyarrow: pip install "pairpiece[parquet]"')
    refused_file(tmp_path / "a.parquet", GOOD_PARQUET, message)


# ---------------------------------------------------------------------- TMX


def tmx(body: str, before: str = "") -> str:
    return f'{before}<tmx version="1.4">\n<header srclang="en"/>\n<body>\n{body}\n</body></tmx>'


def unit(*languages: str, text: str = "a") -> str:
    sides = [f'<tuv xml:lang="{found}"><seg>{text}</seg></tuv>' for found in languages]
    return f"<tu>{''.join(sides)}</tu>"


UNIT = unit("en", "it")
LAUGHS = '<!ENTITY l0 "ha">' + "".join(
    f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 20)
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", ":1: not well-formed XML: no element"),
        ("garbage", ":1: not well-formed XML"),
        (tmx(f"{UNIT}\n<tu></tuv>"), ":5: not well-formed XML: mismatched tag"),
        (tmx(UNIT)[:-30], ":4: not well-formed XML"),
        (tmx(f"{UNIT}\n&nbsp;"), ":5: not well-formed XML: undefined entity"),
        (tmx(UNIT).encode() + b"\xff", ":5: not well-formed XML"),
        (tmx("\n?").encode().replace(b"?", b"\xff"), ":5: not well-formed XML"),
        (tmx(UNIT).replace("tmx", "html"), ": no TMX file, there is no <tmx> element"),
        (tmx(f"\n<tu>\n<tuv><seg>a</seg></tuv>{UNIT}"), ":6: a <tuv> element without xml:lang"),
        (tmx(unit("en", "it", "fr")), r":4: say which two languages .*\(source_column, target"),
        (tmx(unit("en", "it", "fr")), r":4: say .* has en, it, fr$"),
        (tmx(unit("en")), ":4: say which two languages to read .* has en$"),
        (tmx("<tu></tu>"), ":4: say which two languages to read .* has none$"),
        (tmx(UNIT, '<!DOCTYPE tmx [\n<!ENTITY x "y">]>'), ":2: .* entity 'x' is refused: r"),
        (tmx(UNIT, '<!DOCTYPE tmx [<!ENTITY x SYSTEM "/etc/passwd">]>'), ":1: .* entity 'x'"),
        (tmx(UNIT, '<!DOCTYPE tmx [<!ENTITY % x "y">%x;]>'), ":1: .* entity 'x'"),
        (tmx(unit("en", text="&l19;"), f"<!DOCTYPE tmx [{LAUGHS}]>"), ":1: .* entity 'l0' is ref"),
    ],
    ids=range(17),
)
def test_bad_tmx(tmp_path: Path, content: str | bytes, message: str) -> None:
    refused_file(tmp_path / "a.tmx", content, message)


def test_tmx_entities_of_another_file_are_not_dropped(tmp_path: Path) -> None:
    content = tmx(f"{unit('en', 'it', text='caff&egrave;')}", '<!DOCTYPE tmx SYSTEM "x.dtd">\n')
    refused_file(tmp_path / "a.tmx", content, ":5: .*entity")


@pytest.mark.parametrize("encoding", ["none-such", "gb2312", "base64", "idna", "utf-7"])
def test_tmx_in_an_encoding_that_cannot_be_read(tmp_path: Path, encoding: str) -> None:
    content = tmx(UNIT, f'<?xml version="1.0" encoding="{encoding}"?>')
    refused_file(tmp_path / "a.tmx", content, ":.*encoding")


def test_a_tmx_unit_that_is_too_long(tmp_path: Path) -> None:
    long = unit("en", "it", text="word " * (MAX_LINE_BYTES // 8))
    refused_file(tmp_path / "a.tmx", tmx(f"{UNIT}\n{long}"), ":5: a unit of more than a million")


@pytest.mark.parametrize(("name", "text"), [("hi", "x"), ("ph", ""), ("unknown", "x")])
def test_deep_tmx_does_no_harm(tmp_path: Path, name: str, text: str) -> None:
    depth = 200_000
    deep = unit("en", "it", text=f"<{name}>" * depth + "x" + f"</{name}>" * depth)
    path = write(tmp_path / "a.tmx", tmx(deep))
    assert list(Corpus.of(corpus=path)) == [(text, text, f"{path}:4", 0)]


# ---------------------------------------------------------------------- gettext

PO = 'msgid ""\nmsgstr "Language: it\\n"\n\nmsgid "a"\nmsgstr "b"\n\nmsgid "c"\nmsgstr "d"\n'
MO = polib.pofile(PO).to_binary()


def header(count: int, ids: int = 28, texts: int = 28, order: str = "<") -> bytes:
    return struct.pack(f"{order}7I", 0x950412DE, 0, count, ids, texts, 0, 0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ": not a gettext catalogue: it does not begin like a .mo file"),
        (b"\0\0\0\0" + MO[4:], ": not a gettext catalogue: it does not begin"),
        (PO.encode(), ": not a gettext catalogue: it does not begin"),
        (MO[:15], ": not a gettext catalogue"),
        (MO[:40], ": truncated: its index lies outside"),
        (MO[:-5], ": damaged: its strings lie outside"),
        (MO[:6] + b"\xff\xff" + MO[8:], ": not a gettext catalogue: .*revision"),
        (header(2**32 - 1), ": truncated: its index lies outside"),
        (header(1, ids=2**32 - 1), ": truncated: its index lies outside"),
        (header(1, texts=2**31) + bytes(8), ": truncated: its index lies outside"),
        (header(1, order=">") + struct.pack(">2I", 2**32 - 1, 1), ": damaged: its strings lie"),
        (header(1) + struct.pack("<2I", 1, 2**32 - 1), ": damaged: its strings lie outside"),
        (header(1) + struct.pack("<2I", 0, 2**32 - 1), ": damaged: its strings lie outside"),
    ],
    ids=range(13),
)
def test_bad_mo_files(tmp_path: Path, content: bytes, message: str) -> None:
    refused_file(tmp_path / "a.mo", content, message)


def test_mo_strings_may_not_overlap_until_memory_is_full(tmp_path: Path) -> None:
    count, size = 50_000, 400_000  # 20 GB, if each string were copied
    content = header(count) + struct.pack("<2I", size, 28) * count
    refused_file(tmp_path / "a.mo", content, ": damaged: its strings")


def test_mo_text_that_is_not_utf_8(tmp_path: Path) -> None:
    content = MO.replace(b"\0b\0", b"\0\xe0\0")
    refused_file(tmp_path / "a.mo", content, r": not .*UTF-8")  # a .mo file has no lines


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (PO + "nonsense\n", r": not a gettext catalogue: .*line 9"),
        (PO + 'msgstr "x"\n', r": not a gettext catalogue: .*line 9"),
        (PO + 'msgid "a"b"\n', r": not a gettext catalogue: .*line 9"),
        (PO + 'msgid "x"\nmsgstr[a] "y"\n', ":10: not a gettext catalogue: a quot"),
        (PO + 'msgid "x"\nmsgstr "open\n', ":10: not a gettext catalogue: a quot"),
        (PO + 'msgid "x"\nmsgstr bare\n', ":10: not a gettext catalogue: a quot"),
        (PO.encode() + b'msgid "\xe0"\n', ":9: not valid UTF-8: convert .* with msgconv -t UTF-8"),
        (PO.encode("utf-16"), ":1: not valid UTF-8: convert the catalogue"),
    ],
    ids=range(8),
)
def test_bad_po_files(tmp_path: Path, content: str | bytes, message: str) -> None:
    refused_file(tmp_path / "a.po", content, message)


def test_catalogues_that_are_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gettext, "MAX_CATALOGUE_BYTES", 1000)
    content = gzip.compress(PO.encode() + b"\n" * 1000)
    refused_file(tmp_path / "a.po.gz", content, ": larger than 1,000 bytes; split the catalogue")


@pytest.mark.parametrize("second", ["", PO.replace('"a"', '"x"').replace('"c"', '"y"')])
def test_catalogues_without_a_common_message(tmp_path: Path, second: str) -> None:
    first, other = write(tmp_path / "a.po", PO), write(tmp_path / "b.po", second)
    refused(re.escape(f"{first} and {other}: no message is translated in both; "), first, other)


# ---------------------------------------------------------------------- Python objects


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("ab", r"expected \(source, target\), not 'ab'"),
        (("a",), r"expected \(source, target\)"),
        (("a", "b", "c"), r"expected \(source, target\)"),
        ({"a": 1, "b": 2}, r"expected \(source, target\)"),
        (None, r"expected \(source, target\), not None"),
        (("a", None), "None is not a string"),
        ((b"a", "b"), "b'a' is not a string"),
    ],
)
def test_items_that_are_no_pairs(item: Any, message: str) -> None:
    refused(f"sentence pair 1: {message}", corpus=[("a", "b"), item])


# ---------------------------------------------------------------------- anything

VALID: dict[str, bytes] = {
    "a.tsv": "a\tb\nc\tè\n".encode(),
    "a.jsonl": b'{"source": "a", "target": "b", "n": [1, {"x": null}]}\n' * 2,
    "a.parquet": GOOD_PARQUET,
    "a.tmx": tmx(UNIT, '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE tmx SYSTEM "x">').encode(),
    "a.po": PO.encode() + b'#, fuzzy\nmsgid "o"\nmsgid_plural "p"\nmsgstr[0] "q"\nmsgstr[1] "r"\n',
    "a.mo": MO,
    **{f"a.tsv{end}": compress(b"a\tb\n" * 30) for end, compress in COMPRESS.items()},
}


def reads_or_refuses(path: Path, content: bytes) -> None:
    with contextlib.suppress(PairPieceError):
        list(Corpus.of(corpus=write(path, content)))


@pytest.mark.parametrize("name", VALID)
def test_the_files_to_be_mutated_are_valid(tmp_path: Path, name: str) -> None:
    assert len(list(Corpus.of(corpus=write(tmp_path / name, VALID[name])))) >= 1


FUZZ = settings(
    deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.parametrize("name", VALID)
@FUZZ
@given(content=st.binary(max_size=200))
def test_random_bytes_are_read_or_refused(tmp_path: Path, name: str, content: bytes) -> None:
    reads_or_refuses(tmp_path / name, content)


@pytest.mark.parametrize("name", VALID)
@FUZZ
@given(data=st.data())
def test_mutated_files_are_read_or_refused(tmp_path: Path, name: str, data: st.DataObject) -> None:
    content = VALID[name]
    for _ in range(data.draw(st.integers(1, 3))):
        begin = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(begin, min(begin + 8, len(content))))
        content = content[:begin] + data.draw(st.binary(max_size=8)) + content[end:]
    reads_or_refuses(tmp_path / name, content)


# ---------------------------------------------------------------------- files that unpack too far


def test_xz_that_asks_for_gigabytes_is_refused(tmp_path: Path) -> None:
    content = bytearray(lzma.compress(b"a\tb\n", check=lzma.CHECK_NONE))
    begin, end = 12, 12 + 4 * content[12]  # the header of the block, and its checksum
    content[content.index(b"\x21\x01", begin, end) + 2] = 40  # a dictionary of 4 GiB
    content[end : end + 4] = struct.pack("<I", zlib.crc32(content[begin:end]))
    refused_file(tmp_path / "a.tsv.xz", bytes(content), ": takes more than 256 MiB to unpack: ")


@pytest.mark.parametrize("end", COMPRESS)
def test_little_that_unpacks_to_very_much_is_not_unpacked(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_LITTLE", 2**16)
    path = tmp_path / f"a.txt{end}"
    path.write_bytes(COMPRESS[end](b"\n" * 2_000_000))
    read = itertools.count()
    with pytest.raises(CorpusError, match=r"a\.txt.*: unpacks to more than 100 times its size"):
        list(zip(read, files.lines(path), strict=False))
    assert next(read) <= 2**16 + 100 * path.stat().st_size


@pytest.mark.parametrize("end", COMPRESS)
def test_a_little_text_may_be_the_same_again_and_again(end: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.txt{end}"
    path.write_bytes(COMPRESS[end](b"il gatto\n" * 100_000))
    assert sum(1 for _ in files.lines(path)) == 100_000


def test_a_table_with_very_many_empty_rows_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_LITTLE", 2**16)
    path = tmp_path / "a.parquet"
    column = pyarrow.array([""] * 3_000_000)
    pyarrow.parquet.write_table(pyarrow.table({"source": column, "target": column}), path)
    refused(".*a\\.parquet: unpacks to more than 100 times its size", corpus=path)
