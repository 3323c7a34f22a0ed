"""Every input format gives the sentence pairs that are in it, in order, with their places."""

from __future__ import annotations

import gzip
import io
import json
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polib
import pyarrow
import pyarrow.parquet
import pytest
import zstandard

from pairpiece.corpus.reading import FORMATS, Corpus
from pairpiece.errors import OptionError

Row = tuple[str, str]

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}


def write(path: Path, content: str | bytes) -> Path:
    raw = content.encode() if isinstance(content, str) else content
    path.write_bytes(COMPRESS.get(path.suffix.lower(), bytes)(raw))
    return path


def read(*args: Any, **how: Any) -> list[Row]:
    return [(pair.source, pair.target) for pair in Corpus.of(*args, **how)]


def read_file(path: Path, content: str | bytes, **how: Any) -> list[Row]:
    return read(corpus=write(path, content), **how)


def columns(source: str | None = None, target: str | None = None) -> dict[str, str | None]:
    return {"source_column": source, "target_column": target}


def places(*args: Any, **how: Any) -> list[str]:
    return [pair.place for pair in Corpus.of(*args, **how)]


# ---------------------------------------------------------------------- lines of text


def aligned(folder: Path, source: str | bytes, target: str | bytes, end: str = "") -> list[Row]:
    return read(write(folder / f"t.fr{end}", source), write(folder / f"t.it{end}", target))


@pytest.mark.parametrize("end", COMPRESS)
def test_line_n_translates_line_n(tmp_path: Path, end: str) -> None:
    rows = aligned(tmp_path, "Oui.\nL’été\n\n", "Sì.\nL’estate\nvuoto\n", end)
    assert rows == [("Oui.", "Sì."), ("L’été", "L’estate"), ("", "vuoto")]
    assert places(tmp_path / f"t.fr{end}", tmp_path / f"t.it{end}") == [
        f"{tmp_path}/t.fr{end}:{line}" for line in (1, 2, 3)
    ]


@pytest.mark.parametrize("end", COMPRESS)
def test_compressed_files_may_have_several_parts(tmp_path: Path, end: str) -> None:
    parts = [COMPRESS[end](f"{i}\n".encode() * 1000) for i in range(3)]
    path = tmp_path / f"parts{end}"
    path.write_bytes(b"".join(parts))
    assert [s for s, _ in read(path, path)] == ["0"] * 1000 + ["1"] * 1000 + ["2"] * 1000


def test_the_parts_of_xz_may_be_padded(tmp_path: Path) -> None:
    parts = [lzma.compress(f"{i}\n".encode() * 1000) for i in range(3)]
    path = tmp_path / "padded.xz"
    path.write_bytes((b"\0" * 4096).join([*parts, b""]))
    assert [s for s, _ in read(path, path)] == ["0"] * 1000 + ["1"] * 1000 + ["2"] * 1000


def test_the_last_line_needs_no_end(tmp_path: Path) -> None:
    assert aligned(tmp_path, "a\nb", "c\nd\n") == [("a", "c"), ("b", "d")]


def test_windows_line_ends_are_not_text(tmp_path: Path) -> None:
    assert aligned(tmp_path, "a\r\nb\r\n", "c\nd\n") == [("a", "c"), ("b", "d")]


def test_a_bom_is_not_text(tmp_path: Path) -> None:
    assert aligned(tmp_path, "\ufeffa\nb\ufeff\n", "c\nd") == [("a", "c"), ("b\ufeff", "d")]


@pytest.mark.parametrize("inside", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1e", "\r", "\0"])
def test_only_line_feeds_end_a_line(tmp_path: Path, inside: str) -> None:
    text = f"x{inside}y"
    assert aligned(tmp_path, f"{text}\nb\n", "c\nd\n") == [(text, "c"), ("b", "d")]
    assert read_file(tmp_path / "a.tsv", f"{text}\tc\nb\td\n") == [(text, "c"), ("b", "d")]


def test_empty_files_have_no_pairs(tmp_path: Path) -> None:
    assert aligned(tmp_path, "", "") == []


def test_a_line_may_be_long(tmp_path: Path) -> None:
    long = "é" * 500_000
    assert aligned(tmp_path, f"{long}\n", "b\n") == [(long, "b")]


# ---------------------------------------------------------------------- several files


def test_files_are_read_in_the_order_given(tmp_path: Path) -> None:
    sources = [write(tmp_path / name, name) for name in ("b.fr", "a.fr.gz", "c.fr")]
    targets = [write(tmp_path / name, name) for name in ("2.it.xz", "3.it", "1.it.zst")]
    assert read(sources, targets) == [
        ("b.fr", "2.it.xz"),
        ("a.fr.gz", "3.it"),
        ("c.fr", "1.it.zst"),
    ]
    corpus = Corpus.of(sources, targets)
    assert corpus.files == tuple(
        path for both in zip(sources, targets, strict=True) for path in both
    )


def test_joint_files_may_be_of_different_formats(tmp_path: Path) -> None:
    paths = (
        write(tmp_path / "z.tsv", "a\tb\n"),
        str(write(tmp_path / "a.jsonl", '{"source": "c", "target": "d"}')),
        write(tmp_path / "m.tmx", tmx(unit(en="e", it="f"))),
    )
    assert read(corpus=paths) == [("a", "b"), ("c", "d"), ("e", "f")]


def test_files_can_be_read_again(tmp_path: Path) -> None:
    corpus = Corpus.of(corpus=write(tmp_path / "a.tsv.gz", "a\tb\n"))
    assert corpus.rereadable
    assert list(corpus) == list(corpus) != []


@pytest.mark.parametrize("corpus", ["-", iter([("a", "b")]), [("a", "b")]])
def test_python_objects_and_standard_input_are_read_once(corpus: Any) -> None:
    assert not Corpus.of(corpus=corpus).rereadable


# ---------------------------------------------------------------------- tabs


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.zst", "A.TSV.GZ"])
def test_tsv_has_source_and_target_first(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert read_file(path, "a\tb\textra\n\tc\r\n") == [("a", "b"), ("", "c")]
    assert places(corpus=path) == [f"{path}:1", f"{path}:2"]


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [(("3", "1"), "ca"), (("2", "4"), "bd"), (("3", None), "cb"), ((None, "4"), "ad")],
)
def test_tsv_columns_are_numbers_from_one(
    tmp_path: Path, numbers: tuple[str | None, str | None], expected: str
) -> None:
    rows = read_file(tmp_path / "a.tsv", "a\tb\tc\td\n", **columns(*numbers))
    assert rows == [tuple(expected)]


def test_quotes_are_text_in_tsv(tmp_path: Path) -> None:
    assert read_file(tmp_path / "a.tsv", '"a\t"b""\n') == [('"a', '"b""')]


def test_a_format_that_is_named_beats_the_suffix(tmp_path: Path) -> None:
    assert read_file(tmp_path / "a.txt", "a\tb\n", format="tsv") == [("a", "b")]
    assert read_file(tmp_path / "a.tsv", '{"x": "a", "y": "b"}', format="jsonl") == [("a", "b")]


@pytest.mark.parametrize(
    ("kind", "content"),
    [(None, "\ufeffa\tè\r\nc\td"), ("jsonl", '{"x": "a", "y": "è"}\n{"x": "c", "y": "d"}')],
)
def test_standard_input_is_tsv_unless_said_otherwise(
    monkeypatch: pytest.MonkeyPatch, kind: str | None, content: str
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(content.encode()), encoding="ascii")
    monkeypatch.setattr("sys.stdin", stdin)
    assert read(corpus="-", format=kind) == [("a", "è"), ("c", "d")]


# ---------------------------------------------------------------------- JSON lines


@pytest.mark.parametrize(
    ("record", "names"),
    [
        ({"target": "b", "id": "x", "source": "a"}, ()),
        ({"fr": "a", "it": "b"}, ()),
        ({"id": 7, "fr": "a", "score": 0.5, "it": "b", "tags": ["x"]}, ()),
        ({"translation": {"fr": "a", "it": "b"}}, ()),
        ({"id": 7, "translation": {"fr": "a", "n": 1, "it": "b"}}, ()),
        ({"it": "b", "en": "x", "fr": "a"}, ("fr", "it")),
        ({"target": "a", "source": "b"}, ("target", "source")),
        ({"id": "x", "translation": {"it": "b", "fr": "a"}}, ("translation.fr", "translation.it")),
        ({"t.fr": "a", "t": {"fr": "x", "it": "b"}}, ("t.fr", "t.it")),
    ],
)
def test_jsonl_columns(tmp_path: Path, record: dict[str, Any], names: tuple[str, ...]) -> None:
    path = tmp_path / "a.jsonl"
    assert read_file(path, f"{json.dumps(record)}\n" * 2, **columns(*names)) == [("a", "b")] * 2
    assert places(corpus=path, **columns(*names)) == [f"{path}:1", f"{path}:2"]


@pytest.mark.parametrize("name", ["a.ndjson", "a.jsonl.gz"])
def test_jsonl_text_may_hold_escapes(tmp_path: Path, name: str) -> None:
    content = '{"source": "a\\n\\u00e8\u2028", "target": "\\ud83d\\ude00"}'
    assert read_file(tmp_path / name, content) == [("a\nè\u2028", "😀")]


def test_the_columns_of_the_first_record_are_those_of_all(tmp_path: Path) -> None:
    content = '{"fr": "a", "it": "b"}\n{"it": "d", "en": "x", "fr": "c"}\n'
    assert read_file(tmp_path / "a.jsonl", content) == [("a", "b"), ("c", "d")]


# ---------------------------------------------------------------------- Parquet


def parquet(path: Path, table: dict[str, Any]) -> Path:
    pyarrow.parquet.write_table(pyarrow.table(table), path)
    return path


NESTED = [{"fr": "a", "it": "b"}, {"fr": "c", "it": "d"}]
LARGE = pyarrow.array(["a", "c"], pyarrow.large_string())


@pytest.mark.parametrize(
    ("table", "names"),
    [
        ({"target": ["b", "d"], "id": ["x", "y"], "source": LARGE}, ()),
        ({"id": [1, 2], "fr": ["a", "c"], "it": ["b", "d"]}, ()),
        ({"id": [1, 2], "translation": NESTED}, ()),
        ({"it": ["b", "d"], "en": ["x", "y"], "fr": LARGE}, ("fr", "it")),
        ({"id": ["x", "y"], "translation": NESTED}, ("translation.fr", "translation.it")),
        ({"t.fr": ["a", "c"], "t.it": ["b", "d"]}, ("t.fr", "t.it")),
    ],
)
def test_parquet_columns(tmp_path: Path, table: dict[str, Any], names: tuple[str, ...]) -> None:
    path = parquet(tmp_path / "a.parquet", table)
    assert read(corpus=path, **columns(*names)) == [("a", "b"), ("c", "d")]
    assert places(corpus=path, **columns(*names)) == [f"{path}:1", f"{path}:2"]


def test_parquet_nulls_are_empty_sides(tmp_path: Path) -> None:
    flat = parquet(tmp_path / "a.parquet", {"source": ["a", None], "target": [None, "d"]})
    assert read(corpus=flat) == [("a", ""), ("", "d")]
    nested = parquet(tmp_path / "b.parquet", {"t": [*NESTED, {"fr": "e", "it": None}, None]})
    assert read(corpus=nested) == [("a", "b"), ("c", "d"), ("e", ""), ("", "")]


def test_parquet_rows_are_numbered_through_the_whole_file(tmp_path: Path) -> None:
    texts = [str(i) for i in range(5000)]
    path = parquet(tmp_path / "a.parquet", {"source": texts, "target": texts})
    assert read(corpus=path) == [(text, text) for text in texts]
    assert places(corpus=path)[-1] == f"{path}:5000"


# ---------------------------------------------------------------------- TMX


def unit(**texts: str) -> str:
    sides = "".join(
        f'<tuv xml:lang="{language.replace("_", "-")}"><seg>{text}</seg></tuv>'
        for language, text in texts.items()
    )
    return f"<tu>{sides}</tu>\n"


def tmx(*units: str, srclang: str = "en", before: str = "") -> str:
    header = f'<header srclang="{srclang}" segtype="sentence"/>'
    return f'{before}<tmx version="1.4">\n{header}\n<body>\n{"".join(units)}</body></tmx>\n'


@pytest.mark.parametrize("name", ["a.tmx", "a.tmx.gz", "a.TMX"])
def test_tmx_places_are_the_lines_of_units(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    content = tmx(unit(en="one", it="uno"), "\n", unit(en="two", it="due"))
    assert read_file(path, content) == [("one", "uno"), ("two", "due")]
    assert places(corpus=path) == [f"{path}:4", f"{path}:6"]


@pytest.mark.parametrize(
    ("texts", "srclang", "languages"),
    [
        ({"it": "b", "en": "a"}, "en", ()),
        ({"it": "b", "en_GB": "a"}, "en", ()),
        ({"it": "b", "en": "a"}, "EN", ()),
        ({"en": "a", "it": "b"}, "*all*", ()),
        ({"en": "b", "it": "a"}, "en", ("it", None)),
        ({"en": "b", "it": "a"}, "en", (None, "en")),
        ({"en": "x", "it": "b", "fr_CA": "a"}, "en", ("fr", "it")),
        ({"fr_CA": "x", "FR_fr": "a", "it": "b"}, "en", ("fr-FR", "IT")),
        ({"fra": "x", "fr": "a", "it": "b"}, "en", ("fr", "it")),
    ],
)
def test_tmx_languages(
    tmp_path: Path, texts: dict[str, str], srclang: str, languages: tuple[str | None, ...]
) -> None:
    content = tmx(unit(**texts), srclang=srclang)
    assert read_file(tmp_path / "a.tmx", content, **columns(*languages)) == [("a", "b")]


@pytest.mark.parametrize("code", ["bpt", "ept", "ph", "it", "ut"])
def test_formatting_code_in_tmx_is_not_text(tmp_path: Path, code: str) -> None:
    text = f'a<{code} i="1">&lt;b&gt;<sub>s</sub><{code}>x</{code}>y</{code}>b<{code}/>c'
    assert read_file(tmp_path / "a.tmx", tmx(unit(en=text, it="d"))) == [("abc", "d")]


def test_highlighted_text_in_tmx_is_text(tmp_path: Path) -> None:
    marked = "a <hi>b <hi x='1'>c</hi></hi> &amp; &#232;<![CDATA[<d>]]>"
    assert read_file(tmp_path / "a.tmx", tmx(unit(en=marked, it="e"))) == [("a b c & è<d>", "e")]


def test_notes_and_properties_of_tmx_are_not_text(tmp_path: Path) -> None:
    noted = unit(en="a", it="b").replace("<seg>", "<note>n</note><prop type='x'>p</prop><seg>")
    assert read_file(tmp_path / "a.tmx", tmx(noted)) == [("a", "b")]


def test_a_tmx_unit_without_the_language_has_an_empty_side(tmp_path: Path) -> None:
    content = tmx(unit(en="a", it="b"), unit(en="c"), unit(it="d"), unit(en="e", fr="x"))
    rows = read_file(tmp_path / "a.tmx", content)
    assert rows == [("a", "b"), ("c", ""), ("", "d"), ("e", "")]


@pytest.mark.parametrize(
    "before",
    ['<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n', "<!DOCTYPE tmx>", "\ufeff"],
)
def test_tmx_may_begin_with_declarations(tmp_path: Path, before: str) -> None:
    content = tmx(unit(en="a", it="b"), before=before)
    assert read_file(tmp_path / "a.tmx", content) == [("a", "b")]


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1"])
def test_tmx_may_say_its_encoding(tmp_path: Path, encoding: str) -> None:
    content = tmx(unit(en="è", it="ù"), before=f'<?xml version="1.0" encoding="{encoding}"?>')
    assert read_file(tmp_path / "a.tmx", content.encode(encoding)) == [("è", "ù")]


def test_a_tmx_file_may_be_large(tmp_path: Path) -> None:
    units = [unit(en=f"è{i}", it=f"ù{i}") for i in range(3000)]  # several buffers
    rows = read_file(tmp_path / "a.tmx", tmx(*units))
    assert rows == [(f"è{i}", f"ù{i}") for i in range(3000)]


# ---------------------------------------------------------------------- gettext


def catalogue(language: str, *entries: dict[str, Any]) -> polib.POFile:
    made = polib.POFile()
    made.metadata = {"Language": language, "Content-Type": "text/plain; charset=UTF-8"}
    for entry in entries:
        made.append(polib.POEntry(**entry))
    return made


def plural(*forms: str, **more: str) -> dict[str, Any]:
    return {"msgid": "one", "msgid_plural": "many", "msgstr_plural": dict(enumerate(forms)), **more}


def save(path: Path, made: polib.POFile) -> Path:
    return write(path, made.to_binary() if ".mo" in path.name else str(made))


FRENCH = catalogue(
    "fr",
    {"msgid": "Open", "msgstr": "Ouvrir"},
    {"msgid": "Open", "msgctxt": "state", "msgstr": "Ouvert"},
    plural("un", "plusieurs"),
    {"msgid": "French", "msgstr": "français"},
    {"msgid": "Lines", "msgstr": 'une\n"deux"\té'},
)
SLOVENE = catalogue(
    "sl",
    {"msgid": "Lines", "msgstr": "ena"},
    plural("ena", "dve", "tri", "pet"),
    {"msgid": "Slovene", "msgstr": "slovensko"},
    {"msgid": "Open", "msgctxt": "state", "msgstr": "odprto"},
    {"msgid": "Open", "msgstr": "odpri"},
)


@pytest.mark.parametrize("second", ["sl.po", "sl.mo", "sl.po.gz"])
@pytest.mark.parametrize("first", ["fr.po", "fr.mo", "fr.mo.xz"])
def test_catalogues_are_joined_on_context_and_message(
    tmp_path: Path, first: str, second: str
) -> None:
    rows = read(save(tmp_path / first, FRENCH), save(tmp_path / second, SLOVENE))
    assert set(rows) == {
        ('une\n"deux"\té', "ena"),
        ("un", "ena"),
        ("plusieurs", "pet"),
        ("Ouvert", "odprto"),
        ("Ouvrir", "odpri"),
    }
    assert len(rows) == 5


@pytest.mark.parametrize("name", ["a.po", "a.mo", "a.po.zst"])
def test_one_catalogue_pairs_messages_and_translations(tmp_path: Path, name: str) -> None:
    assert sorted(read(corpus=save(tmp_path / name, SLOVENE))) == [
        ("Lines", "ena"),
        ("Open", "odpri"),
        ("Open", "odprto"),
        ("Slovene", "slovensko"),
        ("many", "pet"),
        ("one", "ena"),
    ]


def test_a_language_with_one_plural_form_gives_one_pair(tmp_path: Path) -> None:
    japanese = save(tmp_path / "ja.po", catalogue("ja", plural("個")))
    assert read(corpus=japanese) == [("one", "個")]
    assert read(save(tmp_path / "fr.po", FRENCH), japanese) == [("un", "個")]


def test_messages_that_are_not_translated_are_left_out(tmp_path: Path) -> None:
    made = catalogue(
        "it",
        {"msgid": "fuzzy", "msgstr": "peloso", "flags": ["python-format", "fuzzy"]},
        {"msgid": "untranslated", "msgstr": ""},
        plural("", ""),
        {"msgid": "good", "msgstr": "buono", "flags": ["python-format"]},
        {"msgid": "obsolete", "msgstr": "obsoleto", "obsolete": True},
    )
    path = save(tmp_path / "a.po", made)
    assert read(corpus=path) == [("good", "buono")]
    assert read(path, path) == [("buono", "buono")]


PO = 'msgid "a"\nmsgstr ""\n"x "\n"y"\n\n# note\nmsgctxt "c"\nmsgid "a"\nmsgstr "z"\n'


@pytest.mark.parametrize("header", ["", 'msgid ""\nmsgstr "Language: it\\n"\n\n'])
def test_places_in_catalogues_are_lines(tmp_path: Path, header: str) -> None:
    path = write(tmp_path / "a.po", header + PO)
    before = header.count("\n")
    assert read(corpus=path) == [("a", "x y"), ("a", "z")]
    assert places(corpus=path) == [f"{path}:{before + 1}", f"{path}:{before + 6}"]


@pytest.mark.parametrize("content", [PO.replace("\n", "\r\n"), f"\ufeff{PO}", PO.rstrip()])
def test_catalogues_from_other_editors(tmp_path: Path, content: str) -> None:
    assert read_file(tmp_path / "a.po", content) == [("a", "x y"), ("a", "z")]


@pytest.mark.parametrize("inside", ["\u2028", "\x85", "\x0c"])
def test_only_line_feeds_end_a_line_of_a_catalogue(tmp_path: Path, inside: str) -> None:
    content = f'msgid "a"\nmsgstr "x{inside}y"\n'
    assert read_file(tmp_path / "a.po", content) == [("a", f"x{inside}y")]


# ---------------------------------------------------------------------- Python objects


def generated() -> Iterator[Row]:
    yield from [("a", "b"), ("c", "d\n")]


@pytest.mark.parametrize("kind", [iter, list, tuple, dict, lambda pairs: [*map(list, pairs)]])
def test_pairs_may_come_from_python(kind: Callable[[Any], Any]) -> None:
    pairs = kind(generated())
    assert list(Corpus.of(corpus=pairs.items() if kind is dict else pairs)) == [
        ("a", "b", "sentence pair 0", 0),
        ("c", "d\n", "sentence pair 1", 0),
    ]


def test_a_generator_is_not_read_ahead() -> None:
    def endless() -> Iterator[Row]:
        while True:
            yield "a", "b"

    pairs = iter(Corpus.of(corpus=endless()))
    assert next(pairs)[:2] == next(pairs)[:2] == ("a", "b")


# ---------------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "nothing to read: give source= and target=, or corpus="),
        ({"source": "a"}, "nothing to read"),
        ({"target": "a"}, "nothing to read"),
        ({"source": "a", "target": "b", "corpus": "c"}, "not both"),
        ({"source": "a", "corpus": "c"}, "not both"),
        ({"corpus": 5}, "corpus must be files or sentence pairs, not 5"),
        ({"source": 5, "target": "b"}, "source must be a file"),
        ({"source": ["a"], "target": iter("b")}, r"target .* corpus=zip\(sources, targets\)"),
        ({"source": [], "target": []}, "source must be a file or a list"),
        ({"corpus": "a", "format": "csv"}, f"one of {', '.join(FORMATS)}, not 'csv'"),
        ({"corpus": "-", "source_column": 3.5}, "column"),
        ({"corpus": "-", "target_column": ["it"]}, "column"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Corpus.of(**arguments)


def test_each_source_file_needs_its_target_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "a")
    with pytest.raises(OptionError, match="2 source files but 1 target files"):
        Corpus.of([path, path], [path])


@pytest.mark.parametrize("column", ["0", "-1", "x", "", "²", "1.5"])
def test_tsv_columns_that_are_no_numbers_are_refused(tmp_path: Path, column: str) -> None:
    with pytest.raises(OptionError, match="a number from 1"):
        read_file(tmp_path / "a.tsv", "a\tb\n", source_column=column)


def test_a_file_named_as_standard_input_is_not_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "-").write_text("a\tb\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert not Corpus.of(corpus="-").rereadable
    assert Corpus.of(corpus=tmp_path / "-", format="tsv").rereadable
