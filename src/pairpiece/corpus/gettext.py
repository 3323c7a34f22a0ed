"""gettext catalogues (``.po`` and ``.mo``), the commonest parallel text of small languages."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polib

from pairpiece import files
from pairpiece.errors import CorpusError

MAX_CATALOGUE_BYTES = 2**25

_Key = tuple[str, str, int]
"""Context, message id, and which plural form: the first (0) or the last (-1)."""


def joined(source: Path, target: Path) -> Iterator[tuple[str, str, str]]:
    """(source text, target text, place) of the messages that both catalogues translate.

    Fuzzy, obsolete and untranslated messages are left out.  Of a message with plurals the first
    and the last form are paired: languages differ in how many they have between.
    """
    sources = _translations(source)
    common = 0
    for key, (text, place) in _translations(target).items():
        if key in sources:
            common += 1
            yield sources[key][0], text, place
    if common == 0:
        raise CorpusError(
            f"{source} and {target}: no message is translated in both; catalogues are joined on "
            f"their message ids (msgid), so both must belong to the same program"
        )


def messages_and_translations(path: Path) -> Iterator[tuple[str, str, str]]:
    """(message id, translation, place): the catalogue as parallel text with its own source."""
    for (_, message, _), (text, place) in _translations(path, with_plural_ids=True).items():
        yield message, text, place


def _translations(path: Path, *, with_plural_ids: bool = False) -> dict[_Key, tuple[str, str]]:
    found: dict[_Key, tuple[str, str]] = {}
    for entry in _entries(path):
        if entry.obsolete or "fuzzy" in entry.flags:
            continue
        context = entry.msgctxt or ""
        # Binary catalogues have no lines; the first entry of a text begins on line 0 for polib.
        place = f"{path}:{max(entry.linenum, 1)}" if hasattr(entry, "linenum") else str(path)
        forms = [entry.msgstr_plural[i] for i in sorted(entry.msgstr_plural)]
        if not forms:
            forms = [entry.msgstr]
        for form in (0, -1)[: len(forms)]:
            message = entry.msgid_plural if form == -1 and with_plural_ids else entry.msgid
            if message and forms[form]:
                found.setdefault((context, message, form), (forms[form], place))
    return found


def _entries(path: Path) -> Any:
    with files.opened(path) as file:
        content = file.read(MAX_CATALOGUE_BYTES + 1)
    if len(content) > MAX_CATALOGUE_BYTES:
        raise CorpusError(f"{path}: larger than {MAX_CATALOGUE_BYTES:,} bytes; split the catalogue")
    binary = files.suffix(path) == ".mo"
    if binary:
        _check_index(path, content)
    try:
        if binary:
            return polib.mofile(content, encoding="utf-8")
        # polib opens what is the name of a file; with a line end, the text is none.
        text = content.decode("utf-8-sig")
        _check_quotes(path, text)
        return polib.pofile(_Lines(text + "\n"), encoding="utf-8")
    except CorpusError:
        raise
    except UnicodeDecodeError as error:
        if binary:
            raise CorpusError(f"{path}: not valid UTF-8: compile the catalogue as UTF-8") from None
        line = content.count(b"\n", 0, error.start) + 1
        raise CorpusError(
            f"{path}:{line}: not valid UTF-8: convert the catalogue with msgconv -t UTF-8"
        ) from None
    except (OSError, ValueError, IndexError, KeyError, struct.error) as error:
        raise CorpusError(f"{path}: not a gettext catalogue: {error}") from None


class _Lines(str):
    """Text whose lines end at a line feed only; in polib, U+2028 in a message would end one."""

    def splitlines(self, keepends: bool = False) -> list[str]:  # noqa: ARG002
        return self.split("\n")


_QUOTED = re.compile(r'(msg(ctxt|id|id_plural|str(\[\d+\])?)\s*)?".*"')


def _check_quotes(path: Path, text: str) -> None:
    """Every string is closed; polib would cut the last character off instead."""
    for number, line in enumerate(map(str.strip, text.split("\n")), 1):
        if line.startswith(("msg", '"')) and not _QUOTED.fullmatch(line):
            raise CorpusError(
                f"{path}:{number}: not a gettext catalogue: a quotation mark is missing"
            )


def _check_index(path: Path, content: bytes) -> None:
    """The strings of a ``.mo`` file lie inside it and do not overlap many times over."""
    order = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}.get(content[:4])
    if order is None or len(content) < 20:
        raise CorpusError(f"{path}: not a gettext catalogue: it does not begin like a .mo file")
    count, *tables = struct.unpack_from(f"{order}3I", content, 8)
    for begin in tables:
        if begin + 8 * count > len(content):
            raise CorpusError(f"{path}: truncated: its index lies outside the file")
        index = np.frombuffer(content, f"{order}u4", 2 * count, begin).reshape(count, 2)
        sizes, begins = index.astype(np.int64).T
        if sizes.sum() > len(content) or (begins + sizes > len(content)).any():
            raise CorpusError(f"{path}: damaged: its strings lie outside the file")
