"""TMX, the exchange format of translation memories, read as a stream.

Only the text of segments is kept; what the inline elements ``bpt``, ``ept``, ``ph``, ``it`` and
``ut`` hold is formatting code of other programs.  No tree is built and entities are refused, so
that neither depth nor expansion can exhaust memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

from pairpiece import files
from pairpiece.errors import CorpusError

COLUMNS = ("source_column", "target_column")
"""The arguments that say which text is which."""

_CODES = {"bpt", "ept", "ph", "it", "ut"}
_LANGUAGE = ("xml:lang", "lang", "XML:LANG")


def units(path: Path, source: str | None, target: str | None) -> Iterator[tuple[str, str, str]]:
    """(source text, target text, place) of every unit that has both languages.

    ``fr`` also stands for ``fr-CA``.  Without languages the header's source language and the only
    other one are taken.
    """
    for unit in _units(path):
        if source is None or target is None:
            source, target = _two_languages(unit, source, target)
        texts = [_text(unit, language) for language in (source, target)]
        yield texts[0], texts[1], f"{path}:{unit.line}"


class _Unit:
    """One ``tu`` element: the text of each language, as found."""

    def __init__(self, path: Path, line: int, source_language: str | None) -> None:
        self.path = path
        self.line = line
        self.source_language = source_language
        self.texts: dict[str, list[str]] = {}


def _matches(found: str, wanted: str) -> bool:
    found, wanted = found.lower(), wanted.lower()
    return found == wanted or found.startswith((f"{wanted}-", f"{wanted}_"))


def _text(unit: _Unit, language: str) -> str:
    for found, parts in unit.texts.items():
        if _matches(found, language):
            return "".join(parts)
    return ""


def _two_languages(unit: _Unit, source: str | None, target: str | None) -> tuple[str, str]:
    languages = list(unit.texts)
    bases = [language.lower().replace("_", "-").split("-")[0] for language in languages]
    if len(set(bases)) == len(bases):  # later units may be of another region
        languages = bases
    if source is None and target is not None:
        source = next((found for found in languages if not _matches(found, target)), None)
    declared = unit.source_language
    if source is None and declared is not None and any(_matches(x, declared) for x in languages):
        source = declared
    if source is None and languages:
        source = languages[0]
    others = [found for found in languages if source and not _matches(found, source)]
    if target is None and len(others) == 1:
        target = others[0]
    if source is None or target is None or len(languages) != 2:
        raise CorpusError(
            f"{unit.path}:{unit.line}: say which two languages to read (source_column, "
            f"target_column); this unit has {', '.join(languages) or 'none'}",
            COLUMNS,
        )
    return source, target


def _units(path: Path) -> Iterator[_Unit]:
    handler = _Handler(path)
    parser = handler.parser
    with files.opened(path) as file:
        try:
            while chunk := file.read(2**16):
                parser.Parse(chunk, False)
                yield from handler.finished()
            parser.Parse(b"", True)
            yield from handler.finished()
        except expat.ExpatError as error:
            raise CorpusError(f"{path}:{error.lineno}: not well-formed XML: {error}") from None
        except CorpusError:
            raise
        except (LookupError, ValueError) as error:
            raise CorpusError(
                f"{path}: its encoding cannot be read ({error}): convert the file to UTF-8"
            ) from None
    if not handler.is_tmx:
        raise CorpusError(f"{path}: no TMX file, there is no <tmx> element")


class _Handler:
    """What the parser calls; keeps the units that are complete until they are fetched."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_tmx = False
        self.source_language: str | None = None
        self.unit: _Unit | None = None
        self.parts: list[str] | None = None  # of the segment we are in
        self.characters = 0  # of the unit
        self.codes = 0  # how many elements with formatting code we are in
        self.complete: deque[_Unit] = deque()
        self.language: str | None = None
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text
        self.parser.EntityDeclHandler = self.entity
        self.parser.SkippedEntityHandler = self.entity
        self.parser.buffer_text = True

    def finished(self) -> Iterator[_Unit]:
        while self.complete:
            yield self.complete.popleft()

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "tmx":
            self.is_tmx = True
        elif name == "header":
            self.source_language = attributes.get("srclang")
        elif name == "tu":
            self.unit = _Unit(self.path, self.parser.CurrentLineNumber, self.source_language)
            self.characters = 0
        elif name == "tuv" and self.unit is not None:
            self.language = next((attributes[key] for key in _LANGUAGE if key in attributes), None)
            if self.language is None:
                line = self.parser.CurrentLineNumber
                raise CorpusError(f"{self.path}:{line}: a <tuv> element without xml:lang")
        elif name == "seg" and self.unit is not None and self.language is not None:
            # A language that stands twice in a unit keeps its first text.
            self.parts = []
            self.unit.texts.setdefault(self.language, self.parts)
            self.codes = 0
        elif name in _CODES:
            self.codes += 1

    def end(self, name: str) -> None:
        if name == "tu" and self.unit is not None:
            self.complete.append(self.unit)
            self.unit = None
        elif name == "seg":
            self.parts = None
        elif name in _CODES and self.codes > 0:
            self.codes -= 1

    def text(self, data: str) -> None:
        if self.parts is None or self.codes > 0:
            return
        self.characters += len(data)
        if self.characters > files.MAX_LINE_BYTES:
            line = self.parser.CurrentLineNumber
            raise CorpusError(f"{self.path}:{line}: a unit of more than a million characters")
        self.parts.append(data)

    def entity(self, name: str, *_: object) -> None:
        line = self.parser.CurrentLineNumber
        raise CorpusError(
            f"{self.path}:{line}: the entity {name!r} is refused: replace entities of the file's "
            f"own by their text"
        )
