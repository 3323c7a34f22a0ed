"""Models from files that anybody may have written.

Nothing in them is executed, and every size is checked against the file before memory is taken for
it; docs/format.md describes the files.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import hashlib
import json
import re
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from pairpiece.errors import ModelFormatError, OptionError, PairPieceError
from pairpiece.foreign.function import FunctionTokenizer
from pairpiece.foreign.huggingface import HuggingFaceTokenizer
from pairpiece.foreign.pretokenized import Pretokenized
from pairpiece.foreign.protocol import SubwordTokenizer
from pairpiece.foreign.sentencepiece import SentencePieceTokenizer
from pairpiece.model.encoder import Encoder
from pairpiece.model.saving import FORMAT_VERSION, HEAD, MANIFEST, NECK, PART, SOURCE_SUFFIX
from pairpiece.model.state import Deferred, ModelState
from pairpiece.model.tables import (
    BigramTable,
    CooccurrenceTable,
    PairedSettings,
    TranslationTable,
)
from pairpiece.options import MAX_SMOOTHING, LengthPenalty
from pairpiece.text import packing
from pairpiece.text.options import BYTE_PIECES, TextOptions
from pairpiece.text.vocabulary import SCORES_PER_NAT, SUMMATIONS, PieceType, Vocabulary
from pairpiece.text.words import PreTokenizer

MAX_MANIFEST_BYTES = 2**28
MAX_FREE_BYTES = 2**22  # of a manifest, whatever is in it
MAX_ENTRIES = 100_000  # lists, objects and their keys, of a larger one
MAX_TABLE_BYTES = 2**36
MAX_TOKENIZER_BYTES = 2**30

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

_LARGE = 1e30  # no count is larger; beyond it, and below its inverse, products would overflow


_Kind = TypeVar("_Kind", bound=Encoder)


def load_as(
    kind: type[_Kind],
    folder: Path,
    source_tokenizer: SubwordTokenizer | None = None,
    pretokenizer: PreTokenizer | None = None,
    *,
    nested: bool = False,
) -> _Kind:
    """The model of a folder, as an encoder of this kind; `nested` if it belongs to another.

    The co-occurrence table and the translations are read when they are first needed.  Raises
    `ModelFormatError` for anything that is not an intact model.
    """
    path = folder / MANIFEST
    manifest = _read_manifest(path)
    text = _text_options(manifest, path)
    vocabulary = _vocabulary(manifest, text, path)
    parts = _expect(manifest, "parts", dict, path)
    paired = manifest.get("paired")
    table = translations = None
    if paired is not None:
        settings = _paired_settings(paired, path)
        cooccurrence = _Part.of("cooccurrence", manifest, path)
        table = deferred = Deferred(lambda: _read_table(cooccurrence, settings, vocabulary))
        if "translation" in parts:
            part = _Part.of("translation", manifest, path)
            translations = Deferred(lambda: _read_translations(part, deferred.value, vocabulary))
    priors = None
    if "priors" in parts:
        priors = Deferred(_Part.of("priors", manifest, path).content)
    bigram = None
    if "bigram" in parts:
        bigram = _read_bigram(_Part.of("bigram", manifest, path), vocabulary)
    if source_tokenizer is None:
        source_tokenizer = _read_source(manifest, path, nested=nested)
    if text.pretokenization == "custom" and pretokenizer is None:
        what = "source_tokenizer=, together with its tokenizer" if nested else "pretokenizer="
        raise OptionError(
            f"{path}: this model was trained with a pre-tokenizer of its own, which is a Python "
            f"function and not saved: pass it as {what}"
        )
    try:
        charsmap = base64.b64decode(_expect(manifest, "charsmap", str, path), validate=True)
        return kind(
            ModelState(
                vocabulary,
                text,
                charsmap,
                table=table,
                translations=translations,
                bigram=bigram,
                source_tokenizer=source_tokenizer,
                pretokenizer=pretokenizer,
                seed=_expect(manifest, "seed", int, path),
                provenance=_expect(manifest, "provenance", dict, path),
                priors=priors,
            )
        )
    except (ValueError, TypeError, binascii.Error) as error:
        raise ModelFormatError(f"{path}: {error}") from None


def _read_source(manifest: dict[str, Any], path: Path, *, nested: bool) -> SubwordTokenizer | None:
    kind = manifest.get("source_tokenizer")
    if kind is None or kind == FunctionTokenizer.kind:
        return None
    if nested:
        raise ModelFormatError(f"{path}: a source tokenizer cannot have one of its own")
    if kind == Pretokenized.kind:
        return Pretokenized()
    if not isinstance(kind, str) or kind not in SOURCE_SUFFIX:
        raise ModelFormatError(f"{path}: unknown kind of source tokenizer {kind!r}")
    part = _Part.of("source", manifest, path)
    if part.path.suffix != SOURCE_SUFFIX[kind]:
        name = part.path.name
        raise ModelFormatError(f"{path}: {name} is not a source tokenizer of kind {kind}")
    if kind == Encoder.kind:
        part.check(part.path / MANIFEST)
        return load_as(Encoder, part.path, nested=True)
    if part.size > MAX_TOKENIZER_BYTES:
        raise ModelFormatError(f"{part.path}: too large for a tokenizer")
    is_json = kind == HuggingFaceTokenizer.kind
    opened = HuggingFaceTokenizer if is_json else SentencePieceTokenizer
    return opened(part.content(), str(part.path))


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file():
            raise ModelFormatError(
                f"{path}: there is no such file, so {path.parent} is not a model"
            )
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            raise ModelFormatError(f"{path}: larger than {MAX_MANIFEST_BYTES} bytes")
        content = path.read_bytes()
    except OSError as error:
        raise ModelFormatError(f"{path}: {error.strerror}") from None
    neck = len(HEAD) + 64
    body = memoryview(content)[neck + len(NECK) :]
    if not content.startswith(HEAD) or content[neck : neck + len(NECK)] != NECK:
        raise ModelFormatError(f"{path}: not a pairpiece model")
    if content[len(HEAD) : neck] != hashlib.sha256(body).hexdigest().encode("ascii"):
        raise ModelFormatError(f"{path}: damaged or edited, its digest does not match")
    try:
        # Objects and lists take thirty times their bytes; pieces alone make a manifest large.
        if len(content) > MAX_FREE_BYTES and _entries(content) > MAX_ENTRIES:
            raise ModelFormatError(f"{path}: more lists and entries than a model has")
        manifest = json.loads(content.decode("utf-8"))
        if _SURROGATE.search(content):
            json.dumps(manifest, ensure_ascii=False).encode("utf-8")  # refuses lone ones
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"{path}: not valid JSON: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != "pairpiece":
        raise ModelFormatError(f"{path}: not a pairpiece model")
    version = _expect(manifest, "version", int, path)
    if not 1 <= version <= FORMAT_VERSION:
        raise ModelFormatError(
            f"{path}: format version {version}, but this pairpiece reads only up to "
            f"{FORMAT_VERSION}: upgrade it"
        )
    return manifest


def _entries(content: bytes) -> int:
    """How many lists, objects and keys a text of JSON has, counted in little memory."""
    text = np.frombuffer(content.replace(b"\\\\", b"").replace(b'\\"', b""), np.uint8)
    count, inside = 0, np.False_
    for begin in range(0, len(text), 2**20):
        chunk = text[begin : begin + 2**20]
        quoted = np.logical_xor.accumulate(chunk == ord('"')) ^ inside
        inside = quoted[-1]
        count += int((np.isin(chunk, np.frombuffer(b"[{:", np.uint8)) & ~quoted).sum())
    return count


def _expect(values: dict[str, Any], name: str, kind: type[Any], path: Path) -> Any:
    value = values.get(name)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ModelFormatError(f"{path}: {name} is missing or not of type {kind.__name__}")
    return value


def _text_options(manifest: dict[str, Any], path: Path) -> TextOptions:
    values = {"split_digits": False, **_expect(manifest, "text", dict, path)}
    if manifest["version"] == 1:
        values = {**_NEW_IN_VERSION_2, **values}
    for field in dataclasses.fields(TextOptions):
        kind = {"bool": bool, "int": int, "str": str}.get(str(field.type), list)
        _expect(values, field.name, kind, path)
    for name in ("user_defined_symbols", "control_symbols"):
        if not all(isinstance(symbol, str) for symbol in values[name]):
            raise ModelFormatError(f"{path}: {name} are not all strings")
        values[name] = tuple(values[name])
    try:
        return TextOptions(**values)
    except (PairPieceError, TypeError) as error:
        raise ModelFormatError(f"{path}: {error}") from None


def _vocabulary(manifest: dict[str, Any], text: TextOptions, path: Path) -> Vocabulary:
    pieces = _expect(manifest, "pieces", list, path)
    types = _expect(manifest, "types", list, path)
    scores = _expect(manifest, "scores", list, path)
    if set(map(type, pieces)) != {str} or not set(map(type, scores)) <= {int, float}:
        raise ModelFormatError(f"{path}: pieces must be strings and scores numbers")
    summation = "words"
    if manifest["version"] == 1:
        scores = [score / SCORES_PER_NAT for score in scores]
    else:
        summation = _expect(manifest, "summation", str, path)
    if summation not in SUMMATIONS:
        raise ModelFormatError(f"{path}: the summation is unknown")
    try:
        vocabulary = Vocabulary(pieces, list(map(_KINDS.__getitem__, types)), scores, summation)
        vocabulary.check()
    except (KeyError, TypeError):
        raise ModelFormatError(f"{path}: unknown piece type") from None
    except (ValueError, OverflowError) as error:
        raise ModelFormatError(f"{path}: {error}") from None
    of_kind = vocabulary.special
    special = text.special_tokens()
    controls = {*special.values(), *text.control_symbols} - {text.unk_piece}
    if (
        any(i >= len(pieces) or pieces[i] != piece for i, piece in special.items())
        or of_kind[PieceType.UNKNOWN] != [text.unk_piece]
        or set(of_kind[PieceType.CONTROL]) != controls
    ):
        raise ModelFormatError(f"{path}: the special tokens do not agree with the pieces")
    if set(of_kind[PieceType.USER_DEFINED]) != set(text.user_defined_symbols):
        raise ModelFormatError(f"{path}: the user-defined symbols do not agree with the pieces")
    if tuple(of_kind[PieceType.BYTE]) != (BYTE_PIECES if text.byte_fallback else ()):
        raise ModelFormatError(f"{path}: the byte pieces do not agree with byte_fallback")
    return vocabulary


_KINDS = {int(kind): kind for kind in PieceType}
_NEW_IN_VERSION_2 = {"remove_extra_spaces": False, "control_symbols": []}


def _paired_settings(values: Any, path: Path) -> PairedSettings:
    def number(value: Any, low: float) -> float:
        if type(value) not in (int, float) or not low <= value <= MAX_SMOOTHING:
            raise ModelFormatError(f"{path}: a setting of paired encoding is not a proper number")
        return float(value)

    try:
        settings = PairedSettings(
            str(values["conditional"]),
            str(values.get("scoring", "conditional")),  # before version 3 there was nothing else
            number(values["smoothing"], 0 if values["conditional"] == "pooled" else 1 / _LARGE),
            LengthPenalty(**{k: number(v, 0) for k, v in values["length_penalty"].items()}),
            number(values["piece_penalty"], -1000),
            number(values.get("inferred_piece_penalty", values["piece_penalty"]), -1000),
            values["whole_sentence"],
        )
        if type(settings.whole_sentence) is not bool:
            raise TypeError
    except (KeyError, TypeError, AttributeError):
        raise ModelFormatError(f"{path}: the settings of paired encoding are incomplete") from None
    if settings.conditional not in ("mixture", "pooled"):
        raise ModelFormatError(f"{path}: unknown kind of conditional {settings.conditional!r}")
    if settings.scoring not in ("evidence", "conditional"):
        raise ModelFormatError(f"{path}: unknown kind of scoring {settings.scoring!r}")
    return settings


class _Part(NamedTuple):
    """A file of a model beside its manifest, as the manifest describes it."""

    path: Path
    size: int
    digest: str

    @classmethod
    def of(cls, name: str, manifest: dict[str, Any], path: Path) -> _Part:
        part = _expect(_expect(manifest, "parts", dict, path), name, dict, path)
        file = _expect(part, "file", str, path)
        if not PART.fullmatch(file) or not file.startswith(name):
            raise ModelFormatError(f"{path}: {file!r} is not a name for a part of a model")
        size, digest = _expect(part, "bytes", int, path), _expect(part, "sha256", str, path)
        return cls(path.parent / file, size, digest)

    def check(self, path: Path) -> None:
        """Raise `ModelFormatError` unless the file at a path is the one described."""
        digest = hashlib.sha256()
        try:
            if not path.is_file():
                raise ModelFormatError(f"{path}: this part of the model is missing")
            found = path.stat().st_size
            if found != self.size or found > MAX_TABLE_BYTES:
                raise ModelFormatError(f"{path}: {found} bytes long where {self.size} are expected")
            with path.open("rb") as file:
                while chunk := file.read(2**20):
                    digest.update(chunk)
        except OSError as error:
            raise ModelFormatError(f"{path}: {error.strerror}") from None
        if digest.hexdigest() != self.digest:
            raise ModelFormatError(f"{path}: damaged, its digest does not match")

    def content(self) -> bytes:
        self.check(self.path)
        return self.path.read_bytes()

    def arrays(self, dtypes: dict[str, Any]) -> dict[str, Any]:
        """Tables of counts."""
        path = self.path
        self.check(path)
        try:
            arrays = load_file(path)
        except (SafetensorError, OSError, ValueError, LookupError, TypeError, AttributeError) as e:
            raise ModelFormatError(f"{path}: not a safetensors file: {e}") from None
        for name, dtype in dtypes.items():
            array = arrays.get(name)
            if array is None or array.dtype != dtype or array.ndim != 1:
                raise ModelFormatError(f"{path}: {name} is missing or of the wrong type")
            if array.dtype.kind == "f" and not ((array >= 0) & (array < _LARGE)).all():
                raise ModelFormatError(f"{path}: {name} has values that are not counts")
        if not (arrays["count"] > 0).all():
            raise ModelFormatError(f"{path}: a count is zero")
        return {name: arrays[name] for name in dtypes}

    def arrays_with_base(self, vocabulary: Vocabulary, dtypes: dict[str, Any]) -> dict[str, Any]:
        """Tables of counts with a base distribution over these pieces."""
        arrays = self.arrays({**_ROWS, "base": np.float64, **dtypes})
        learned = np.array([kind == PieceType.NORMAL for kind in vocabulary.types])
        base = arrays["base"]
        if len(base) != len(learned) or not (base[learned] > 1 / _LARGE).all():
            raise ModelFormatError(
                f"{self.path}: the base distribution does not agree with the pieces"
            )
        return arrays

    def checked(self, table: _Table) -> _Table:
        """A table that the core can use."""
        try:
            _ = table.core
        except ValueError as error:
            raise ModelFormatError(f"{self.path}: {error}") from None
        return table


_Table = TypeVar("_Table", CooccurrenceTable, BigramTable)
_ROWS = {"row_begin": np.uint64, "count": np.float32}


def _read_table(part: _Part, settings: PairedSettings, vocabulary: Vocabulary) -> CooccurrenceTable:
    path = part.path
    dtypes = {"source": np.uint32, "source_count": np.float64}
    named = {"source_token_bytes": np.uint8, "source_token_begin": np.uint64}
    arrays = part.arrays_with_base(vocabulary, {**dtypes, **named})
    try:
        tokens = packing.unpacked(*(arrays.pop(name) for name in named))
    except ValueError as error:
        raise ModelFormatError(f"{path}: the source tokens are damaged: {error}") from None
    if len(tokens) != len(arrays["source_count"]) or tokens[:1] != [""]:
        raise ModelFormatError(f"{path}: the source tokens do not agree with their counts")
    sources = np.unique(arrays["source"])
    if (sources >= len(tokens)).any() or (arrays["source_count"][sources] < 1 / _LARGE).any():
        raise ModelFormatError(f"{path}: the source counts do not agree with the counts")
    return part.checked(CooccurrenceTable(tokens, **arrays, settings=settings))


def _read_translations(
    part: _Part, table: CooccurrenceTable, vocabulary: Vocabulary
) -> TranslationTable:
    arrays = part.arrays({**_ROWS, "source": np.uint32, "piece_count": np.float64})
    begin, sources, used = arrays["row_begin"], arrays["source"], arrays["piece_count"]
    if len(begin) != len(vocabulary) + 1 or len(used) != len(vocabulary):
        raise ModelFormatError(f"{part.path}: there are not as many rows as pieces")
    if begin[0] != 0 or (begin[1:] < begin[:-1]).any() or begin[-1] != len(sources):
        raise ModelFormatError(f"{part.path}: the rows do not follow each other")
    if len(sources) != len(arrays["count"]) or (sources >= len(table.source_tokens)).any():
        raise ModelFormatError(f"{part.path}: the source tokens do not agree with the counts")
    found = TranslationTable(**arrays)
    if ((sources[1:] <= sources[:-1]) & (np.diff(found.piece_ids) == 0)).any():
        raise ModelFormatError(f"{part.path}: the source tokens of a row are not in order")
    return found


def _read_bigram(part: _Part, vocabulary: Vocabulary) -> BigramTable:
    return part.checked(BigramTable(**part.arrays_with_base(vocabulary, {"next": np.uint32})))
