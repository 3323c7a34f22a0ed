"""Unigram tokenizers of other tools as PairPiece tokenizers, with their pieces, ids and scores."""

from __future__ import annotations

import base64
import dataclasses
import json
import os
from pathlib import Path
from typing import Any, NoReturn

from pairpiece.errors import ModelFormatError, OptionError, PairPieceError
from pairpiece.foreign.huggingface_format import keeps_text_apart, token_text
from pairpiece.model import storage
from pairpiece.model.opening import MAX_TOKENIZER_BYTES
from pairpiece.model.tokenizer import Tokenizer
from pairpiece.options import is_text
from pairpiece.text.normalization import charsmap
from pairpiece.text.options import BYTE_PIECES, MARKER, TextOptions
from pairpiece.text.protobuf import fields_of
from pairpiece.text.vocabulary import MAX_SCORE, PieceType, Vocabulary
from pairpiece.text.words import WordSplitter


def import_tokenizer(path: str | os.PathLike[str]) -> Tokenizer:
    """The tokenizer at a path: PairPiece's, Hugging Face's or SentencePiece's."""
    place = Path(path)
    if (place / storage.MANIFEST).is_file():
        return storage.load(place)
    if place.is_dir() or place.suffix == ".json":
        return from_huggingface(place)
    return from_sentencepiece(place)


# ---------------------------------------------------------------------- SentencePiece

_SENTENCEPIECE_TYPES = {
    1: PieceType.NORMAL,
    2: PieceType.UNKNOWN,
    3: PieceType.CONTROL,
    4: PieceType.USER_DEFINED,
    5: PieceType.CONTROL,  # "unused": not found in text either
    6: PieceType.BYTE,
}
_MODEL_TYPES = {1: "unigram", 2: "BPE", 3: "word", 4: "character"}


def from_sentencepiece(model: str | os.PathLike[str] | bytes | Any) -> Tokenizer:
    """A SentencePiece unigram model, token for token as SentencePiece itself uses it.

    `model` is a ``.model`` file, its content, or a ``SentencePieceProcessor``.  Give the result to
    `train` or `train_from_pairs` as ``vocabulary=`` to learn c(t, s) for it, or as ``start_from=``.
    """
    if hasattr(model, "serialized_model_proto"):
        return _from_model_proto(model.serialized_model_proto(), "the SentencePiece model")
    if isinstance(model, bytes):
        return _from_model_proto(model, "the SentencePiece model")
    if not isinstance(model, str | os.PathLike):
        raise OptionError(f"a SentencePiece model is a path or bytes, not {model!r}")
    return _from_model_proto(_content(Path(model)), str(model))


def _from_model_proto(content: bytes, name: str) -> Tokenizer:
    try:
        entries, specs = _model_parts(content)
        trainer, normalizer, denormalizer = specs[2], specs[3], specs[5]
        pieces = [entry[1].decode("utf-8") for entry in entries]
        special = {key: trainer.get(40 + i, i if i < 3 else -1) for i, key in enumerate(_ROLES)}
        special = {key: i - 2**64 if i >= 2**63 else i for key, i in special.items()}
        kinds = [_SENTENCEPIECE_TYPES[entry.get(3, 1)] for entry in entries]
        table = bytes(memoryview(normalizer.get(2, b"")))
    except (ValueError, KeyError, AttributeError, TypeError):
        raise ModelFormatError(f"{name}: not a SentencePiece model") from None
    if not entries:
        raise ModelFormatError(f"{name}: a SentencePiece model without pieces")
    kind = trainer.get(3, 1)
    if kind != 1:
        raise ModelFormatError(
            f"{name}: a {_MODEL_TYPES.get(kind, 'strange')} model of SentencePiece; PairPiece "
            f"takes over unigram models only (spm_train --model_type=unigram)"
        )
    if not all(isinstance(entry.get(2), float) for entry in entries):
        missing = next(i for i, entry in enumerate(entries) if not isinstance(entry.get(2), float))
        raise ModelFormatError(f"{name}: piece {missing}, {pieces[missing]!r}, has no score")
    for what, found in (
        ("treat_whitespace_as_suffix", trainer.get(24, 0)),
        ("a denormalizer", denormalizer.get(2)),
        ("escape_whitespaces=false", not normalizer.get(5, 1)),
    ):
        if found:
            raise ModelFormatError(f"{name}: {what} is not supported")
    scores = [entry[2] for entry in entries]
    return _tokenizer(
        name,
        Vocabulary(pieces, kinds, scores, "singles"),
        special,
        table,
        add_dummy_prefix=bool(normalizer.get(3, 1)),
        remove_extra_spaces=bool(normalizer.get(4, 1)),
    )


def _model_parts(content: bytes) -> tuple[list[dict[int, Any]], dict[int, dict[int, Any]]]:
    """The pieces of a ``ModelProto``, and its trainer, normalizer and denormalizer specs."""
    entries: list[dict[int, Any]] = []
    specs: dict[int, dict[int, Any]] = {2: {}, 3: {}, 5: {}}
    for number, value in fields_of(content):
        if number == 1:
            entries.append(dict(fields_of(value)))
        elif number in specs:
            specs[number] = dict(fields_of(value))
    return entries, specs


# ---------------------------------------------------------------------- Hugging Face


def from_huggingface(tokenizer: str | os.PathLike[str] | Any) -> Tokenizer:
    """A Unigram tokenizer of Hugging Face.

    `tokenizer` is a ``tokenizer.json``, a directory with one, a ``tokenizers.Tokenizer`` or a fast
    tokenizer of transformers.  See `from_sentencepiece` for what to do with the result.
    """
    given: dict[str, str | None] = {}
    if isinstance(tokenizer, str | os.PathLike):
        path = Path(tokenizer)
        if path.is_dir():
            given = _named_tokens(path)
            path = path / "tokenizer.json"
        content, name = _content(path), str(path)
    else:
        name = "the Hugging Face tokenizer"
        given = {role: getattr(tokenizer, f"{role}_token", None) for role in _ROLES}
        backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
        try:
            content = backend.to_str().encode("utf-8")
        except AttributeError:
            raise ModelFormatError(
                f"{tokenizer!r} is neither a path nor a fast tokenizer of Hugging Face"
            ) from None
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"{name}: not valid JSON: {error}") from None
    try:
        return _from_tokenizer_json(parsed, given, name)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError):
        raise ModelFormatError(f"{name}: not a tokenizer.json of Hugging Face") from None


def _from_tokenizer_json(parsed: Any, given: dict[str, str | None], name: str) -> Tokenizer:
    model = parsed["model"]
    # Older files do not say the type, but only a unigram model has a list with scores.
    kind = model.get("type") or ("Unigram" if isinstance(model.get("vocab"), list) else "other")
    if kind != "Unigram":
        raise ModelFormatError(
            f"{name}: a {kind} model of Hugging Face; PairPiece takes over Unigram models only"
        )
    entries = list(model["vocab"])
    for i, entry in enumerate(entries):
        if not (isinstance(entry, list) and len(entry) == 2 and type(entry[1]) in (int, float)):
            raise ModelFormatError(f"{name}: piece {i}, {entry!r}, has no score")
        if not abs(entry[1]) <= MAX_SCORE:
            raise ModelFormatError(f"{name}: the score of {entry[0]!r} is not within limits")
    unknown = model.get("unk_id")
    if type(unknown) is not int or not 0 <= unknown < len(entries):
        raise ModelFormatError(f"{name}: this tokenizer has no unknown token, which is needed")
    pieces = [piece for piece, _ in entries]
    scores = [float(score) for _, score in entries]
    kinds = [PieceType.NORMAL] * len(pieces)
    added_tokens = sorted(parsed.get("added_tokens") or [], key=lambda token: token["id"])
    for added in added_tokens:
        if not added["special"] and any(added.get(f) for f in ("lstrip", "rstrip", "single_word")):
            raise ModelFormatError(
                f"{name}: the added token {added['content']!r} is found together with the spaces "
                f"around it, or as a whole word only, which PairPiece cannot do"
            )
        if added["id"] == len(pieces):
            pieces.append(added["content"])
            scores.append(0.0)
            kinds.append(PieceType.CONTROL)
        if not 0 <= added["id"] < len(pieces) or pieces[added["id"]] != added["content"]:
            raise ModelFormatError(
                f"{name}: the added token {added['content']!r} has the id {added['id']}, which "
                f"does not follow the vocabulary of {len(pieces)} pieces"
            )
        kinds[added["id"]] = PieceType.CONTROL if added["special"] else PieceType.USER_DEFINED
    kinds[unknown] = PieceType.UNKNOWN
    if model.get("byte_fallback") and set(BYTE_PIECES) <= set(pieces):
        kinds = [
            PieceType.BYTE if piece in _BYTES and kind == PieceType.NORMAL else kind
            for piece, kind in zip(pieces, kinds, strict=True)
        ]
    controls = {
        piece: i
        for i, (piece, kind) in enumerate(zip(pieces, kinds, strict=True))
        if kind == PieceType.CONTROL
    }
    special = {"unk": unknown}
    for role, usual in _USUAL_NAMES.items():
        names = [given[role]] if given.get(role) else usual
        special[role] = next((controls.pop(n) for n in names if n in controls), -1)
    normalization = _Normalization(name, [token["content"] for token in added_tokens])
    normalization.read(parsed.get("normalizer"), "normalizers")
    normalization.read(parsed.get("pre_tokenizer"), "pretokenizers")
    normalization.check()
    if normalization.split and MARKER not in pieces:
        raise ModelFormatError(f"{name}: the vocabulary has no ▁, which is needed here")
    return _tokenizer(
        name,
        Vocabulary(pieces, kinds, scores, "spaces" if normalization.split else "texts"),
        special,
        normalization.table or b"",
        add_dummy_prefix=normalization.prefix,
        remove_extra_spaces=normalization.squeeze,
    )


class _Normalization:
    """What the steps before the model do to a text, as far as PairPiece can do the same."""

    def __init__(self, name: str, added: list[str]) -> None:
        self._name = name
        self._added = added
        self.table: bytes | None = None
        self.prefix = self.split = False
        self._marks = self._strips = self._squeezes = self._splits_words = False

    @property
    def squeeze(self) -> bool:
        """Whether spaces at the ends, and all but one between words, are removed."""
        return self._squeezes or self._splits_words

    def read(self, step: dict[str, Any] | None, parts: str) -> None:
        """Take over a normalizer, or a pre-tokenizer, and the parts it may have."""
        if step is None:
            return
        for one in step[parts] if step["type"] == "Sequence" else [step]:
            if not self._read_one(one):
                self._refuse(one["type"], one)

    def check(self) -> None:
        """Raise an error if the steps together do what PairPiece does not."""
        if not self._marks:
            self._refuse("normalizer", "it does not write spaces as ▁")
        if self._strips and not self._squeezes:
            self._refuse("Strip", "spaces between words stay")
        if self._splits_words and not self.prefix:
            self._refuse("WhitespaceSplit", "spaces vanish")

    def _refuse(self, what: str, why: object) -> NoReturn:
        raise ModelFormatError(
            f"{self._name}: PairPiece cannot do what its {what} does to text: {why}"
        )

    def _read_one(self, step: Any) -> bool:
        kind = step["type"]
        if kind in ("Precompiled", "NFC", "NFKC"):
            if self.table is not None:
                return False
            self.table = (
                base64.b64decode(step["precompiled_charsmap"] or "", validate=True)
                if kind == "Precompiled"
                else charsmap(kind.lower())
            )
        elif kind == "Strip":
            self._strips = True
        elif kind == "Replace" and step["pattern"].get("Regex") == " {2,}":
            self._squeezes = True
            return step["content"] in (" ", MARKER)
        elif kind == "Replace":
            self._marks = True
            return (step["pattern"].get("String"), step["content"]) == (" ", MARKER)
        elif kind == "Prepend":
            self.prefix = True
            return step["prepend"] in (" ", MARKER)
        elif kind == "WhitespaceSplit":
            self._splits_words = self.split = True
        elif kind == "Metaspace":
            scheme = "always" if step.get("add_prefix_space", True) else "never"
            scheme = step.get("prepend_scheme", scheme)
            self.prefix = scheme == "always" or (scheme == "first" and not self._splits_words)
            self.split = self.split or bool(step.get("split", True))
            self._marks = True
            return bool(step["replacement"] == MARKER)
        else:
            return keeps_text_apart(step, self._added)
        return True


def _named_tokens(directory: Path) -> dict[str, str | None]:
    """The special tokens that ``tokenizer_config.json`` names."""
    path = directory / "tokenizer_config.json"
    if not path.is_file():
        return {}
    try:
        config = json.loads(_content(path))
        return {role: token_text(config.get(f"{role}_token")) for role in _ROLES}
    except (ValueError, RecursionError, AttributeError, KeyError):
        raise ModelFormatError(f"{path}: not the configuration of a tokenizer") from None


# ---------------------------------------------------------------------- both

_ROLES = ("unk", "bos", "eos", "pad")
_USUAL_NAMES = {
    "bos": ("<s>", "<bos>", "[CLS]"),
    "eos": ("</s>", "<eos>", "[SEP]"),
    "pad": ("<pad>", "[PAD]"),
}
_BYTES = frozenset(BYTE_PIECES)


def _content(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise ModelFormatError(f"{path}: there is no such file")
        if path.stat().st_size > MAX_TOKENIZER_BYTES:
            raise ModelFormatError(f"{path}: too large for a tokenizer")
        return path.read_bytes()
    except OSError as error:
        raise ModelFormatError(f"{path}: {error.strerror}") from None
    except ValueError as error:  # no name of a file
        raise ModelFormatError(f"{str(path)!r}: {error}") from None


def _tokenizer(
    name: str,
    vocabulary: Vocabulary,
    special: dict[str, int],
    table: bytes,
    **text: Any,
) -> Tokenizer:
    """A target-only tokenizer with the vocabulary of another one."""
    pieces = [
        piece.replace(MARKER, " ") if kind == PieceType.USER_DEFINED else piece
        for piece, kind in zip(vocabulary.pieces, vocabulary.types, strict=True)
    ]
    vocabulary = dataclasses.replace(vocabulary, pieces=pieces)
    _check(name, vocabulary, special["unk"])
    of_kind = {
        kind: [piece for piece, of in zip(pieces, vocabulary.types, strict=True) if of == kind]
        for kind in PieceType
    }
    roles = {
        role: i
        for role, i in special.items()
        if 0 <= i < len(pieces) and vocabulary.types[i] in (PieceType.UNKNOWN, PieceType.CONTROL)
    }
    text |= {f"{role}_id": roles.get(role, -1) for role in _ROLES}
    text |= {f"{role}_piece": pieces[i] for role, i in roles.items()}
    try:
        options = TextOptions(
            normalization="imported" if table else "none",
            pretokenization=_words_of(of_kind[PieceType.NORMAL], vocabulary.summation),
            byte_fallback=bool(of_kind[PieceType.BYTE]),
            user_defined_symbols=tuple(of_kind[PieceType.USER_DEFINED]),
            control_symbols=tuple(
                piece
                for piece in of_kind[PieceType.CONTROL]
                if piece not in {pieces[i] for i in roles.values()}
            ),
            **text,
        )
        return Tokenizer(vocabulary, options, table, provenance={"imported": Path(name).name})
    except (PairPieceError, ValueError, TypeError) as error:
        raise ModelFormatError(f"{name}: {error}") from None


def _check(name: str, vocabulary: Vocabulary, unknown: int) -> None:
    pieces, kinds = vocabulary.pieces, vocabulary.types
    if len(set(pieces)) < len(pieces):
        seen: set[str] = set()
        for piece in pieces:
            if piece in seen:
                raise ModelFormatError(f"{name}: the piece {piece!r} is in the vocabulary twice")
            seen.add(piece)
    for piece, kind in zip(pieces, kinds, strict=True):
        if not is_text(piece) or (kind == PieceType.NORMAL and " " in piece):
            raise ModelFormatError(f"{name}: {piece!r} cannot be a piece")
    for piece, score in zip(pieces, vocabulary.scores, strict=True):
        if not abs(score) <= MAX_SCORE:
            raise ModelFormatError(f"{name}: the score of {piece!r} is {score}")
    if [i for i, kind in enumerate(kinds) if kind == PieceType.UNKNOWN] != [unknown]:
        raise ModelFormatError(f"{name}: there must be one unknown piece")
    if tuple(p for p, k in zip(pieces, kinds, strict=True) if k == PieceType.BYTE) not in (
        (),
        BYTE_PIECES,
    ):
        raise ModelFormatError(f"{name}: the byte pieces are incomplete or out of order")


def _words_of(pieces: list[str], summation: str) -> str:
    """The finest way to split text into words that hardly any piece reaches over.

    Words matter to paired encoding alone, which does without the pieces that do.
    """
    for splitting in ("lossless", "spaces"):
        splitter = WordSplitter(TextOptions(pretokenization=splitting), b"")
        longer = sum(len(splitter.words(piece.replace(MARKER, " "))) > 1 for piece in pieces)
        if longer <= 0.05 * len(pieces):
            return splitting
    return "spaces" if summation == "spaces" else "none"
