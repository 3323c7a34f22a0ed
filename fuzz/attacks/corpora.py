"""Parallel text in files of all kinds."""

from __future__ import annotations

import functools
import gzip
import io
import lzma
from typing import Any

import polib
import pyarrow
import pyarrow.parquet
import zstandard
from support.french_italian import SOURCES
from support.french_italian import TARGETS as TRANSLATIONS

from attacks import mutation
from attacks.target import Target, file_of
from pairpiece.corpus.reading import Corpus
from pairpiece.links.pharaoh import links_between_words, read_links

_PAIRS = list(zip(SOURCES, TRANSLATIONS, strict=True))


def _read(data: bytes, name: str, **how: Any) -> object:
    with file_of(data, name) as path:
        count = 0
        for pair in Corpus.of(corpus=path, **how):
            assert isinstance(pair.source, str)
            assert isinstance(pair.target, str)
            assert pair.place.startswith(str(path))
            count += 1
        # Whatever the format, a pair has at least a byte; a few stand for many when compressed.
        assert count <= len(data) or path.suffix in (".gz", ".xz", ".zst", ".parquet")
        return min(count, 3)


def _tsv() -> list[bytes]:
    lines = "".join(f"{source}\t{target}\r\n" for source, target in _PAIRS)
    return [lines.encode(), b"\xef\xbb\xbfa\tb\tc\n\td", lines.encode("utf-16")]


def _jsonl() -> list[bytes]:
    flat = "".join(f'{{"source": "{source}", "target": "{target}"}}\n' for source, target in _PAIRS)
    nested = '{"translation": {"fr": "oui", "it": "s\\u00ec"}}\n' * 3
    return [flat.encode(), nested.encode(), b'{"fr": null, "it": "x", "de": "y"}\n']


def _tmx() -> list[bytes]:
    units = "".join(
        f'<tu><tuv xml:lang="fr"><seg>{source}</seg></tuv>'
        f'<tuv xml:lang="it-IT"><seg>{target}<ph x="1">&lt;b&gt;</ph></seg></tuv></tu>\n'
        for source, target in _PAIRS[:4]
    )
    body = f'<tmx version="1.4"><header srclang="fr"/><body>{units}</body></tmx>'
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    return [(head + body).encode(), body.encode("utf-16"), f"<!DOCTYPE x []>{body}".encode()]


@functools.cache
def _catalogue() -> polib.POFile:
    catalogue = polib.POFile()
    catalogue.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
    for source, target in _PAIRS[:4]:
        catalogue.append(polib.POEntry(msgid=source, msgstr=target, msgctxt="menu", tcomment="x"))
    plural = {"0": "%d gatto", "1": "%d gatti"}
    catalogue.append(polib.POEntry(msgid="%d chat", msgid_plural="%d chats", msgstr_plural=plural))
    return catalogue


def _parquet() -> list[bytes]:
    columns = {"source": SOURCES, "target": TRANSLATIONS}
    nested = {"translation": [{"fr": source, "it": target} for source, target in _PAIRS]}
    found = []
    for table in (pyarrow.table(columns), pyarrow.table(nested)):
        out = io.BytesIO()
        pyarrow.parquet.write_table(table, out)
        found.append(out.getvalue())
    return found


def _compressed(compress: Any) -> list[bytes]:
    [lines, *_] = _tsv()
    return [compress(lines), compress(lines) + compress(b"a\tb\n"), compress(b"0" * 2_000_000)]


def _links(data: bytes) -> object:
    words = ["▁il", "▁", "▁gatto", "mangia", "."]
    with file_of(data, "links.pharaoh") as path:
        count = 0
        for links in read_links(path):
            count += 1
            try:
                found = links_between_words(links, words, words)
            except IndexError:  # which its caller expects
                continue
            assert all(0 <= i < len(words) for link in found for i in link)
        return min(count, 3)


_PO = (
    b"msgid ",
    b"msgstr ",
    b"msgstr[1] ",
    b"msgid_plural ",
    b"msgctxt ",
    b'"',
    b"#, fuzzy",
    b"#~ ",
)
_XML = (b"<tu>", b"</tu>", b"<tuv>", b"xml:lang=", b"<seg>", b"<![CDATA[", b"]]>", b"&x;",
        b"&#0;", b"<!ENTITY x 'y'>", b"<!DOCTYPE tmx [", b"encoding='x'", b"<ph>", b"<?",
        b"<!--")  # fmt: skip
_JSON = (b"{", b"}", b"null", b'"\\ud800"', b"1e999", b"NaN", b'"source":', b":", b",", b"\\u0000")


def _file(name: str, seeds: Any, *tokens: bytes, suffix: str | None = None) -> Target:
    attack = functools.partial(_read, name=f"corpus{suffix or '.' + name}")
    return Target(name, attack, seeds, mutation.with_tokens(*tokens))


TARGETS = [
    _file("tsv", _tsv, b"\t", b"\n"),
    _file("jsonl", _jsonl, *_JSON),
    _file("tmx", _tmx, *_XML),
    _file("po", lambda: [str(_catalogue()).encode()], *_PO),
    _file("mo", lambda: [_catalogue().to_binary()]),
    _file("parquet", _parquet),
    _file("gz", lambda: _compressed(gzip.compress), suffix=".tsv.gz"),
    _file("xz", lambda: _compressed(lzma.compress), suffix=".tsv.xz"),
    _file("zst", lambda: _compressed(zstandard.compress), suffix=".tsv.zst"),
    Target(
        "links", _links, lambda: [b"0-0 1-2\n2-1\n\n", b"4-4 9-0"], mutation.with_tokens(b"-", b" ")
    ),
]
