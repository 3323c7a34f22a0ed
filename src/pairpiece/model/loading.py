"""Models from files that anybody may have written.

Nothing in them is executed, and every size is checked against the file before memory is taken for
it; docs/format.md describes the files.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from pairpiece.errors import ModelFormatError, OptionError, PairPieceError
from pairpiece.foreign.function import FunctionTokenizer
from pairpiece.foreign.huggingface import HuggingFaceTokenizer
from pairpiece.foreign.pretokenized import Pretokenized
from pairpiece.foreign.protocol import SubwordTokenizer
from pairpiece.foreign.sentencepiece import SentencePieceTokenizer
from pairpiece.model.encoder import Encoder
from pairpiece.model.folder import MANIFEST, PART, is_in_force, manifest_in_force
from pairpiece.model.parts import LARGE, Part, read_bigram, read_table, read_translations
from pairpiece.model.saving import FORMAT_VERSION, HEAD, NECK, SOURCE_SUFFIX
from pairpiece.model.state import Deferred, ModelState
from pairpiece.model.tables import PairedSettings
from pairpiece.options import MAX_SMOOTHING, LengthPenalty
from pairpiece.text.options import BYTE_PIECES, TextOptions
from pairpiece.text.vocabulary import SCORES_PER_NAT, SUMMATIONS, PieceType, Vocabulary
from pairpiece.text.words import PreTokenizer

MAX_MANIFEST_BYTES = 2**28
MAX_FREE_BYTES = 2**22  # of a manifest, whatever is in it
MAX_ENTRIES = 100_000  # lists, objects and their keys, of a larger one
MAX_TOKENIZER_BYTES = 2**30

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

_TRIES = 100  # of which each fails only if a model was saved to the folder meanwhile

_Kind = TypeVar("_Kind", bound=Encoder)


def load_as(
    kind: type[_Kind],
    folder: Path,
    source_tokenizer: SubwordTokenizer | None = None,
    pretokenizer: PreTokenizer | None = None,
) -> _Kind:
    """The model of a folder, as an encoder of this kind.

    The co-occurrence table and the translations are read when they are first needed.  Raises
    `ModelFormatError` for anything that is not an intact model.
    """
    for _ in range(_TRIES):
        with contextlib.suppress(_OvertakenError):
            return _loaded(kind, folder, source_tokenizer, pretokenizer)
    raise ModelFormatError(f"{folder}: models are saved there again and again; wait until it ends")


class _OvertakenError(Exception):
    """Another model has taken the place of the one that was read, and removed parts of it."""


def _loaded(
    kind: type[_Kind],
    folder: Path,
    source_tokenizer: SubwordTokenizer | None,
    pretokenizer: PreTokenizer | None,
) -> _Kind:
    path = manifest_in_force(folder)
    with _opened(path) as file:
        try:
            reading = _Reading(folder, path, _manifest(file, path))
            model = reading.model(kind, source_tokenizer, pretokenizer)
        except ModelFormatError:
            if is_in_force(file, folder):
                raise
            raise _OvertakenError from None
        if not reading.is_complete and not is_in_force(file, folder):
            raise _OvertakenError
        return model


class _Reading:
    """A model that is being read, as its manifest says."""

    def __init__(self, folder: Path, path: Path, manifest: dict[str, Any]) -> None:
        self._folder, self._path, self._manifest = folder, path, manifest
        self._described = _expect(manifest, "parts", dict, path)
        self.is_complete = True  # all parts that were looked for are there

    def model(
        self,
        kind: type[_Kind],
        source_tokenizer: SubwordTokenizer | None,
        pretokenizer: PreTokenizer | None,
        *,
        nested: bool = False,
    ) -> _Kind:
        """All of it, as an encoder of this kind; `nested` if it belongs to another."""
        manifest, path = self._manifest, self._path
        text = _text_options(manifest, path)
        vocabulary = _vocabulary(manifest, text, path)
        paired = manifest.get("paired")
        table = translations = None
        if paired is not None:
            settings = _paired_settings(paired, path)
            cooccurrence = self._part("cooccurrence")
            table = deferred = Deferred(lambda: read_table(cooccurrence, settings, vocabulary))
            if "translation" in self._described:
                part = self._part("translation")
                translations = Deferred(lambda: read_translations(part, deferred.value, vocabulary))
        priors = Deferred(self._part("priors").content) if "priors" in self._described else None
        bigram = None
        if "bigram" in self._described:
            bigram = read_bigram(self._part("bigram"), vocabulary)
        if source_tokenizer is None:
            source_tokenizer = self._source(nested=nested)
        if text.pretokenization == "custom" and pretokenizer is None:
            what = "source_tokenizer=, together with its tokenizer" if nested else "pretokenizer="
            raise OptionError(
                f"{path}: this model was trained with a pre-tokenizer of its own, which is a "
                f"Python function and not saved: pass it as {what}"
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

    def _part(self, name: str) -> Part:
        path = self._path
        described = _expect(self._described, name, dict, path)
        file = _expect(described, "file", str, path)
        if not PART.fullmatch(file) or not file.startswith(name):
            raise ModelFormatError(f"{path}: {file!r} is not a name for a part of a model")
        size = _expect(described, "bytes", int, path)
        part = Part(self._folder / file, size, _expect(described, "sha256", str, path))
        self.is_complete &= part.is_there
        return part

    def _source(self, *, nested: bool) -> SubwordTokenizer | None:
        path, kind = self._path, self._manifest.get("source_tokenizer")
        if kind is None or kind == FunctionTokenizer.kind:
            return None
        if nested:
            raise ModelFormatError(f"{path}: a source tokenizer cannot have one of its own")
        if kind == Pretokenized.kind:
            return Pretokenized()
        if not isinstance(kind, str) or kind not in SOURCE_SUFFIX:
            raise ModelFormatError(f"{path}: unknown kind of source tokenizer {kind!r}")
        part = self._part("source")
        if part.path.suffix != SOURCE_SUFFIX[kind]:
            name = part.path.name
            raise ModelFormatError(f"{path}: {name} is not a source tokenizer of kind {kind}")
        if kind == Encoder.kind:
            return self._inside(part)
        if part.size > MAX_TOKENIZER_BYTES:
            raise ModelFormatError(f"{part.path}: too large for a tokenizer")
        is_json = kind == HuggingFaceTokenizer.kind
        opened = HuggingFaceTokenizer if is_json else SentencePieceTokenizer
        return opened(part.content(), str(part.path))

    def _inside(self, part: Part) -> Encoder:
        path = part.path / MANIFEST
        part.check_manifest(path)
        with _opened(path) as file:
            reading = _Reading(part.path, path, _manifest(file, path))
        model = reading.model(Encoder, None, None, nested=True)
        self.is_complete &= reading.is_complete
        return model


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The file of a manifest; while it is open no other can be taken for it."""
    try:
        if not path.is_file():
            if path.name != MANIFEST:
                raise _OvertakenError  # it was about to get that name
            raise ModelFormatError(
                f"{path}: there is no such file, so {path.parent} is not a PairPiece model"
            )
        file = path.open("rb")
    except FileNotFoundError:
        raise _OvertakenError from None
    except OSError as error:
        raise ModelFormatError(f"{path}: {error.strerror}") from None
    with file:
        yield file


def _manifest(file: BinaryIO, path: Path) -> dict[str, Any]:
    try:
        if os.fstat(file.fileno()).st_size > MAX_MANIFEST_BYTES:
            raise ModelFormatError(f"{path}: larger than {MAX_MANIFEST_BYTES} bytes")
        content = file.read()
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
    if manifest["version"] > 1:
        summation = _expect(manifest, "summation", str, path)
    if summation not in SUMMATIONS:
        raise ModelFormatError(f"{path}: the summation is unknown")
    try:
        if manifest["version"] == 1:
            scores = [score / SCORES_PER_NAT for score in scores]
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
            number(values["smoothing"], 0 if values["conditional"] == "pooled" else 1 / LARGE),
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
