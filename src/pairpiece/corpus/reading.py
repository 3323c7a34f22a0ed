"""Parallel text: sentence pairs from files of many kinds, one at a time."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from pairpiece import files
from pairpiece.corpus import gettext, tmx
from pairpiece.corpus.tmx import COLUMNS
from pairpiece.errors import CorpusError, OptionError
from pairpiece.options import check_choice

PathLike: TypeAlias = "str | os.PathLike[str]"
Paths: TypeAlias = "PathLike | Sequence[PathLike]"

STDIN = "-"
_WAYS = ("source", "target", "corpus")
"""How text is given, as arguments."""
FORMATS = ("text", "tsv", "jsonl", "parquet", "tmx", "gettext")

FORMAT_OF_SUFFIX = {
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".tmx": "tmx",
    ".po": "gettext",
    ".mo": "gettext",
}


class SentencePair(NamedTuple):
    """A source text, its translation, and where they were read (``file:line``)."""

    source: str
    target: str
    place: str
    number: int = 0  # of the pair in the whole corpus


@dataclass(frozen=True)
class Corpus:
    """Where the sentence pairs come from.

    Either `source` and `target` files, pair by pair (line-aligned text, or gettext catalogues that
    are joined on their message ids), or `joint` files that hold both sides, or `pairs` from Python.
    The columns are names in JSONL and Parquet (``translation.fr`` looks inside) and numbers from 1
    in TSV; in TMX they are languages.
    """

    source: tuple[Path, ...] = ()
    target: tuple[Path, ...] = ()
    joint: tuple[Path, ...] = ()
    pairs: Iterable[tuple[str, str]] | None = None
    format: str | None = None  # of all files; None looks at the suffix of each
    source_column: str | None = None
    target_column: str | None = None

    @classmethod
    def of(
        cls,
        source: Paths | None = None,
        target: Paths | None = None,
        corpus: Paths | Iterable[tuple[str, str]] | None = None,
        **how: Any,
    ) -> Corpus:
        """The corpus that the arguments of `train` describe, with the files there to be read."""
        if how.get("format") is not None:
            check_choice("format", how["format"], FORMATS)
        for side in ("source_column", "target_column"):
            if type(how.get(side)) is int:
                how[side] = str(how[side])
            elif not isinstance(how.get(side), str | None):
                raise OptionError(f"{side} must be a name or a number, not {how[side]!r}", [side])
        if corpus is not None and (source is not None or target is not None):
            raise OptionError("give source= and target=, or corpus=, not both", _WAYS)
        if corpus is not None:
            joint = _paths(corpus)
            if joint is not None:
                return cls(joint=_existing(joint), **how)
            if isinstance(corpus, Iterable):
                return cls(pairs=corpus, **how)  # type: ignore[arg-type]
            raise OptionError(f"corpus must be files or sentence pairs, not {corpus!r}")
        if source is None or target is None:
            raise OptionError(
                "there is nothing to read: give source= and target=, or corpus=", _WAYS
            )
        sides = {name: _paths(value) for name, value in (("source", source), ("target", target))}
        for name, paths in sides.items():
            if paths is None:
                raise OptionError(
                    f"{name} must be a file or a list of files; pass sentences that are in memory "
                    f"as corpus=zip(sources, targets)"
                )
        sources, targets = (_existing(paths or []) for paths in sides.values())
        if len(sources) != len(targets):
            raise OptionError(
                f"{len(sources)} source files but {len(targets)} target files: each source file "
                f"needs the target file with its translation"
            )
        return cls(source=sources, target=targets, **how)

    @property
    def files(self) -> tuple[Path, ...]:
        """All files, in the order in which they are read."""
        return tuple(itertools.chain(*zip(self.source, self.target, strict=True), self.joint))

    @property
    def rereadable(self) -> bool:
        """Whether the pairs can be read twice: not those of an iterator or of a pipe."""
        return self.pairs is None and all(
            path.is_file() and str(path) != STDIN for path in self.files
        )

    def __iter__(self) -> Iterator[SentencePair]:
        for first, second in zip(self.source, self.target, strict=True):
            yield from self._of_two(first, second)
        for path in self.joint:
            yield from self._of_one(path)
        if self.pairs is not None:
            yield from _of_python(self.pairs)

    def _format(self, path: Path) -> str:
        return self.format or FORMAT_OF_SUFFIX.get(files.suffix(path), "text")

    def _of_two(self, source: Path, target: Path) -> Iterator[SentencePair]:
        formats = {self._format(source), self._format(target)}
        if formats == {"gettext"}:
            for pair in gettext.joined(source, target):
                yield SentencePair(*pair)
            return
        if formats != {"text"}:
            raise CorpusError(
                f"{source} and {target}: only text files and gettext catalogues come in twos; a "
                f"{min(formats - {'text'})} file with both sides goes into corpus=",
                ["corpus"],
            )
        yield from _line_aligned(source, target)

    def _of_one(self, path: Path) -> Iterator[SentencePair]:
        kind = "tsv" if str(path) == STDIN and self.format is None else self._format(path)
        reader = _READERS.get(kind)
        if reader is None:
            raise CorpusError(
                f"{path}: a file with one language: give it as source= or target=, "
                f"or name the format= of a file with both (tsv, jsonl, …)",
                [*_WAYS, "format"],
            )
        yield from reader(path, self.source_column, self.target_column)


def _paths(value: object) -> list[PathLike] | None:
    """Paths as a list; None for what are no paths."""
    if isinstance(value, str | os.PathLike):
        return [value]
    if isinstance(value, list | tuple) and all(isinstance(v, str | os.PathLike) for v in value):
        return list(value) or None
    return None


def _existing(paths: Iterable[PathLike]) -> tuple[Path, ...]:
    found = tuple(Path(path) for path in paths)
    for path in found:
        if str(path) != STDIN and (path.is_dir() or not path.exists()):
            what = "is a directory" if path.is_dir() else "there is no such file"
            raise CorpusError(f"{path}: {what}")
    return found


def _line_aligned(source: Path, target: Path) -> Iterator[SentencePair]:
    number = 0
    sources, targets = files.lines(source), files.lines(target)
    for number, (first, second) in enumerate(itertools.zip_longest(sources, targets), 1):
        if first is None or second is None:
            shorter, longer = (source, target) if first is None else (target, source)
            rest = 1 + sum(1 for _ in (targets if first is None else sources))
            raise CorpusError(
                f"{shorter} ends after {number - 1:,} lines but {longer} has "
                f"{number - 1 + rest:,}: line n of one file must translate line n of the other"
            )
        yield SentencePair(first, second, f"{source}:{number}")


def _tsv(path: Path, source: str | None, target: str | None) -> Iterator[SentencePair]:
    columns = []
    for name, default in ((source, 1), (target, 2)):
        if name is not None and not re.fullmatch("[1-9][0-9]{0,5}", name):
            raise OptionError(f"a column of a TSV file is a number from 1, not {name!r}")
        columns.append(int(name) - 1 if name is not None else default - 1)
    for number, line in enumerate(_lines_or_stdin(path), 1):
        fields = line.split("\t")
        if len(fields) <= max(columns):
            raise CorpusError(
                f"{_name(path)}:{number}: {len(fields)} columns where {max(columns) + 1} are "
                f"needed, separated by tabs"
            )
        yield SentencePair(fields[columns[0]], fields[columns[1]], f"{_name(path)}:{number}")


def _name(path: Path) -> str:
    return "standard input" if str(path) == STDIN else str(path)


def _lines_or_stdin(path: Path) -> Iterator[str]:
    if str(path) != STDIN:
        return files.lines(path)
    return files.standard_input_lines()


def _jsonl(path: Path, source: str | None, target: str | None) -> Iterator[SentencePair]:
    names = None
    for number, line in enumerate(_lines_or_stdin(path), 1):
        place = f"{_name(path)}:{number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            raise CorpusError(f"{place}: not a JSON object") from None
        if not isinstance(record, dict):
            raise CorpusError(f"{place}: not a JSON object")
        if names is None:
            names = _two_columns(place, _text_columns(record), source, target)
        first, second = (_field(record, name, place) for name in names)
        yield SentencePair(first, second, place)


def _text_columns(record: dict[str, Any]) -> list[str]:
    """The names of the fields with text, one level down included."""
    columns = []
    for name, value in record.items():
        if isinstance(value, str):
            columns.append(name)
        elif isinstance(value, dict):
            columns += [f"{name}.{inner}" for inner, text in value.items() if isinstance(text, str)]
    return columns


def _field(record: dict[str, Any], column: str, place: str) -> str:
    name = column
    outer, _, inner = column.partition(".")
    if column not in record and isinstance(record.get(outer), dict):
        record, name = record[outer], inner
    if name not in record:
        raise CorpusError(f"{place}: the column {column!r} is missing")
    value = record[name]
    if not isinstance(value, str | None):
        raise CorpusError(f"{place}: the column {column!r} is not text")
    return value or ""


def _two_columns(
    place: str, columns: list[str], source: str | None, target: str | None
) -> tuple[str, str]:
    """The columns to read: those asked for, those called source and target, or the only two."""
    if source is not None and target is not None:
        return source, target
    if source is None and target is None:
        if {"source", "target"} <= set(columns):
            return "source", "target"
        if len(columns) == 2:
            return columns[0], columns[1]
    raise CorpusError(
        f"{place}: say which column is the source and which the target (source_column, "
        f"target_column); there are {', '.join(columns) or 'no columns with text'}",
        COLUMNS,
    )


def _parquet(path: Path, source: str | None, target: str | None) -> Iterator[SentencePair]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise CorpusError(
            f'{path}: reading Parquet needs pyarrow: pip install "pairpiece[parquet]"'
        ) from None
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            groups = map(file.metadata.row_group, range(file.num_row_groups))
            size = file.metadata.num_rows + sum(group.total_byte_size for group in groups)
            files.check_unpacked(size, path.stat().st_size, str(path))
            schema = file.schema_arrow
            columns = []
            for field in schema:
                inner = field.flatten() if pyarrow.types.is_struct(field.type) else [field]
                columns += [part.name for part in inner if _is_text(part.type)]
            names = _two_columns(str(path), columns, source, target)
            for name in names:
                if columns.count(name) != 1:
                    raise CorpusError(
                        f"{path}: there is {'more than one' if name in columns else 'no'} column "
                        f"{name!r} with text, but {', '.join(columns) or 'none at all'}"
                    )
            row = 0
            for batch in file.iter_batches(1024, columns=list(names)):
                table = pyarrow.Table.from_batches([batch]).flatten()
                for pair in zip(*(table[name].to_pylist() for name in names), strict=True):
                    row += 1
                    first, second = ("" if text is None else text for text in pair)
                    yield SentencePair(first, second, f"{path}:{row}")
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"{path}: not a readable Parquet file: {error}") from None


def _is_text(kind: Any) -> bool:
    import pyarrow

    if pyarrow.types.is_dictionary(kind):
        kind = kind.value_type
    return kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view())


def _tmx(path: Path, source: str | None, target: str | None) -> Iterator[SentencePair]:
    for pair in tmx.units(path, source, target):
        yield SentencePair(*pair)


def _catalogue(path: Path, source: str | None, target: str | None) -> Iterator[SentencePair]:
    del source, target
    for pair in gettext.messages_and_translations(path):
        yield SentencePair(*pair)


_READERS: dict[str, Callable[[Path, str | None, str | None], Iterator[SentencePair]]] = {
    "tsv": _tsv,
    "jsonl": _jsonl,
    "parquet": _parquet,
    "tmx": _tmx,
    "gettext": _catalogue,
}


def _of_python(pairs: Iterable[tuple[str, str]]) -> Iterator[SentencePair]:
    for number, pair in enumerate(pairs):
        place = f"sentence pair {number}"
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise CorpusError(f"{place}: expected (source, target), not {pair!r}")
        for text in pair:
            if not isinstance(text, str):
                raise CorpusError(f"{place}: {text!r} is not a string")
        yield SentencePair(pair[0], pair[1], place)
