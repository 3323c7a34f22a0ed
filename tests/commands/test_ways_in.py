"""Whatever kind of files people have parallel text in, ``train`` learns the same from it."""

from __future__ import annotations

import functools
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import polib
import pyarrow
import pyarrow.parquet
import pytest
import zstandard
from support.command_line import begin_of_sample, said, text

import pairpiece
from pairpiece.corpus.reading import FORMATS

Console = pytest.CaptureFixture[str]

PAIRS = begin_of_sample(300)
FRENCH, ITALIAN = ([pair[side] for pair in PAIRS] for side in (0, 1))
NEW = begin_of_sample(312)[300:]

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}


def write(name: str, content: str | bytes) -> str:
    """A file in the working directory, compressed as its name says."""
    raw = content.encode() if isinstance(content, str) else content
    Path(name).write_bytes(COMPRESS.get(Path(name).suffix, bytes)(raw))
    return name


# ---------------------------------------------------------------------- files with both sides


def tsv(name: str, *columns: list[str]) -> str:
    return write(name, text(*map("\t".join, zip(*columns, strict=True))))


def jsonl(name: str, **columns: list[str]) -> str:
    return write(name, text(*map(json.dumps, rows(**columns))))


def parquet(name: str, **columns: list[str]) -> str:
    table = pyarrow.Table.from_pylist(rows(**columns))
    pyarrow.parquet.write_table(table, name)
    return name


def rows(**columns: list[str]) -> list[dict[str, str | dict[str, str]]]:
    """Records; what a column's name has before ``__`` is the record that it is in."""
    made: list[dict[str, str | dict[str, str]]] = []
    for values in zip(*columns.values(), strict=True):
        record: dict[str, str | dict[str, str]] = {}
        for column, value in zip(columns, values, strict=True):
            outer, _, inner = column.rpartition("__")
            place = record.setdefault(outer, {}) if outer else record
            assert isinstance(place, dict)
            place[inner] = value
        made.append(record)
    return made


def tmx(name: str, **languages: list[str]) -> str:
    """A translation memory as the tools of translators write it."""
    units = "".join(
        f'    <tu tuid="{number}" creationdate="20240131T120000Z">\n'
        f'      <prop type="x-project">sample</prop>\n'
        + "".join(
            f'      <tuv xml:lang="{language.replace("_", "-")}"><seg>{escape(side)}</seg></tuv>\n'
            for language, side in zip(languages, sides, strict=True)
        )
        + "    </tu>\n"
        for number, sides in enumerate(zip(*languages.values(), strict=True))
    )
    return write(
        name,
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'
        '<tmx version="1.4">\n  <header creationtool="memory" creationtoolversion="1" '
        f'segtype="sentence" o-tmf="x" adminlang="en" srclang="{next(iter(languages))}" '
        f'datatype="plaintext"/>\n  <body>\n{units}  </body>\n</tmx>\n',
    )


def catalogue(name: str, ids: list[str], translations: list[str]) -> str:
    """A gettext catalogue, as text or compiled."""
    made = polib.POFile()
    made.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
    for msgid, msgstr in zip(ids, translations, strict=True):
        made.append(polib.POEntry(msgid=msgid, msgstr=msgstr))
    return write(name, made.to_binary() if ".mo" in name else str(made))


IDS = [f"Message {number:03}" for number in range(len(PAIRS))]
ENGLISH = [f"Sentence number {number}." for number in range(len(PAIRS))]


def in_parts(name: str, lines: list[str], *endings: str) -> list[str]:
    """The names of files that have the lines one after the other; not in the order of names."""
    cut = (lines[:50], lines[50:120], lines[120:])
    return [
        write(f"{part}.{name}{ending}", text(*some))
        for part, some, ending in zip("cab", cut, endings, strict=True)
    ]


def two_files(ending: str) -> list[str]:
    source, target = (
        write(f"train.{side}{ending}", text(*lines))
        for side, lines in (("fr", FRENCH), ("it", ITALIAN))
    )
    return ["--source", source, "--target", target]


def two_catalogues(first: str, second: str) -> list[str]:
    source = catalogue(first, IDS, FRENCH)
    return ["--source", source, "--target", catalogue(second, IDS, ITALIAN)]


FR_IT = ["--source-column", "fr", "--target-column", "it"]
NESTED = ["--source-column", "translation.fr", "--target-column", "translation.it"]

WAYS: dict[str, Callable[[], list[str]]] = {
    "two files": lambda: two_files(""),
    **{f"two files{ending}": functools.partial(two_files, ending) for ending in COMPRESS},
    "several files": lambda: [
        *("--source", *in_parts("fr", FRENCH, "", ".gz", ".xz")),
        *("--target", *in_parts("it", ITALIAN, ".zst", "", ".gz")),
    ],
    "tsv": lambda: ["--corpus", tsv("memory.tsv", FRENCH, ITALIAN, IDS)],
    "tsv, columns": lambda: [
        *("--corpus", tsv("memory.tsv.gz", IDS, ITALIAN, FRENCH)),
        *("--source-column", "3", "--target-column", "2"),
    ],
    "jsonl": lambda: ["--corpus", jsonl("memory.jsonl", id=IDS, source=FRENCH, target=ITALIAN)],
    "jsonl, columns": lambda: [
        *("--corpus", jsonl("memory.ndjson.zst", it=ITALIAN, en=ENGLISH, fr=FRENCH)),
        *FR_IT,
    ],
    "jsonl, nested": lambda: [
        *("--corpus", jsonl("m.jsonl.xz", translation__it=ITALIAN, translation__fr=FRENCH)),
        *NESTED,
    ],
    "parquet": lambda: ["--corpus", parquet("memory.parquet", source=FRENCH, target=ITALIAN)],
    "parquet, columns": lambda: [
        *("--corpus", parquet("memory.parquet", it=ITALIAN, en=ENGLISH, fr=FRENCH)),
        *FR_IT,
    ],
    "parquet, nested": lambda: [
        *(
            "--corpus",
            parquet("m.parquet", translation__fr=FRENCH, translation__it=ITALIAN),
        ),
        *NESTED,
    ],
    "tmx": lambda: ["--corpus", tmx("memory.tmx", fr=FRENCH, it=ITALIAN)],
    "tmx.gz, languages": lambda: [
        *("--corpus", tmx("memory.tmx.gz", en_GB=ENGLISH, it_IT=ITALIAN, fr_FR=FRENCH)),
        *FR_IT,
    ],
    "po": lambda: two_catalogues("fr.po", "it.po"),
    "mo": lambda: two_catalogues("fr.mo", "it.mo"),
    "po and mo": lambda: two_catalogues("fr.po.gz", "it.mo"),
    "po, with message ids": lambda: ["--corpus", catalogue("it.po", FRENCH, ITALIAN)],
    "several of several kinds": lambda: [
        *("--corpus", tsv("z.tsv.xz", FRENCH[:100], ITALIAN[:100])),
        jsonl("a.jsonl", source=FRENCH[100:150], target=ITALIAN[100:150]),
        parquet("m.parquet", source=FRENCH[150:200], target=ITALIAN[150:200]),
        tmx("b.tmx.gz", fr=FRENCH[200:], it=ITALIAN[200:]),
    ],
}

UNNAMED: dict[str, Callable[[], list[str]]] = {
    "text": WAYS["two files"],
    "tsv": WAYS["tsv"],
    "jsonl": WAYS["jsonl"],
    "parquet": WAYS["parquet"],
    "tmx": WAYS["tmx"],
    "gettext": WAYS["po"],
}


def not_by_suffix(kind: str) -> list[str]:
    """Files whose names do not tell what they are, and the option that does."""
    arguments = UNNAMED[kind]()
    for place in (1, 3)[: len(arguments) // 2]:
        ending = ".po" if kind == "text" else ""  # without a suffix it would be text anyway
        arguments[place] = str(Path(arguments[place]).rename(f"memory{place}{ending}"))
    return [*arguments, "--format", kind]


WAYS |= {f"--format {kind}": functools.partial(not_by_suffix, kind) for kind in FORMATS}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with text that is new to the models."""
    monkeypatch.chdir(tmp_path)
    for side, lines in zip(("fr", "it"), zip(*NEW, strict=True), strict=True):
        write(f"new.{side}", text(*lines))
    return tmp_path


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the stages of all trainings here are kept: it is the same text each time."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def own_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAIRPIECE_CACHE", str(cache))


@pytest.fixture(scope="module")
def expected() -> tuple[dict[str, int], list[list[int]]]:
    """The vocabulary, and the ids of new text, of what Python makes of the same pairs."""
    model = pairpiece.train(corpus=PAIRS, vocab_size=500, align="none", cache=False)
    return model.get_vocab(), model.encode_batch([it for _, it in NEW], [fr for fr, _ in NEW])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("here", "own_cache")
def test_the_same_pairs_in_any_files_make_the_same_model(
    way: str, expected: tuple[dict[str, int], list[list[int]]], capfd: Console
) -> None:
    named = WAYS[way]()
    train = ["train", *named, "--align", "none", "--vocab-size", 500, "--output", "it-fr"]
    assert f"Read     {len(PAIRS)} sentence pairs\n" in said(capfd, *train)
    assert pairpiece.load("it-fr").get_vocab() == expected[0]
    encoded = said(capfd, "encode", "it-fr", "-i", "new.it", "--source", "new.fr")
    assert [[int(i) for i in line.split()] for line in encoded.splitlines()] == expected[1]
