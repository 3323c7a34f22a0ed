"""Unigram models in ``tokenizer.json`` files of Hugging Face, read."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, NoReturn

from pairpiece.errors import ModelFormatError
from pairpiece.foreign.huggingface_files import (
    PREFIX,
    digits_apart,
    keeps_text_apart,
    spaces_before_symbols,
    words_apart,
)
from pairpiece.foreign.special_tokens import token_text
from pairpiece.foreign.taking_over import ROLES, taken_over
from pairpiece.text import word_pattern
from pairpiece.text.normalization import charsmap
from pairpiece.text.options import BYTE_PIECES, MARKER
from pairpiece.text.vocabulary import MAX_SCORE, PieceType, Unigram, Vocabulary

_USUAL_NAMES = {
    "bos": ("<s>", "<bos>", "[CLS]"),
    "eos": ("</s>", "<eos>", "[SEP]"),
    "pad": ("<pad>", "[PAD]"),
}
_BYTES = frozenset(BYTE_PIECES)


def read_tokenizer_json(content: bytes, config: bytes, name: str) -> Unigram:
    """What a ``tokenizer.json`` says; raises `ModelFormatError` if it is no unigram model.

    `config` is the ``tokenizer_config.json`` that names its special tokens.
    """
    roles = _named_tokens(config, str(Path(name).with_name("tokenizer_config.json")))
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"{name}: not valid JSON: {error}") from None
    try:
        return _read(parsed, roles, name)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError):
        raise ModelFormatError(f"{name}: not a tokenizer.json of Hugging Face") from None


def _read(parsed: Any, given: dict[str, str | None], name: str) -> Unigram:
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
        if not abs(entry[1]) <= MAX_SCORE:  # nor a whole number that no float is large enough for
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
    normalization = _Normalization(
        name,
        [token["content"] for token in added_tokens],
        digits_apart(pieces, PieceType.BYTE in kinds),
    )
    normalization.read(parsed.get("normalizer"), "normalizers")
    normalization.read(parsed.get("pre_tokenizer"), "pretokenizers")
    normalization.check()
    if normalization.split and MARKER not in pieces:
        raise ModelFormatError(f"{name}: the vocabulary has no ▁, which is needed here")
    summation = "spaces" if normalization.split else "texts"
    if normalization.words is not None:
        summation = "words"
    return taken_over(
        name,
        Vocabulary(pieces, kinds, scores, summation),
        special,
        normalization.table or b"",
        words=normalization.words,
        add_dummy_prefix=normalization.prefix,
        remove_extra_spaces=normalization.squeeze,
        split_digits=normalization.split_digits,
    )


class _Normalization:
    """What the steps before the model do to a text, as far as PairPiece can do the same."""

    def __init__(self, name: str, added: list[str], digits: str) -> None:
        self._name = name
        self._added = added
        self._digits = digits  # those that are words of their own if any are
        self.table: bytes | None = None
        self.prefix = self.split = self.split_digits = False
        self.words: str | None = None  # the pre-tokenization, if it is one of PairPiece's
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
        elif step in (spaces_before_symbols(prefix=True), spaces_before_symbols(prefix=False)):
            self.words = "paper"
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
            first = scheme == "first" and not self._splits_words
            self.prefix = self.prefix or scheme == "always" or first
            self.split = self.split or bool(step.get("split", True))
            self._marks = True
            return bool(step["replacement"] == MARKER or step == PREFIX)
        elif step == words_apart(word_pattern.lossless()):
            self.words = "lossless"
        elif step == words_apart(word_pattern.by_spaces()):
            self.split = True
        elif words := self._between_digits(step):
            self.split_digits = True
            self.split = self.split or words == "spaces"
            self.words = self.words or words
        else:
            return keeps_text_apart(step, self._added)
        return True

    def _between_digits(self, step: Any) -> str | None:
        """The pre-tokenization whose words a step finds if it sets digits apart."""
        for words, pattern in (
            ("lossless", word_pattern.lossless(self._digits)),
            ("spaces", word_pattern.by_spaces(self._digits)),
            ("none", word_pattern.between(self._digits)),
        ):
            if self._digits and step == words_apart(pattern):
                return words
        return None


def _named_tokens(config: bytes, name: str) -> dict[str, str | None]:
    """The special tokens that a ``tokenizer_config.json`` names, by role."""
    try:
        values = json.loads(config)
        return {role: token_text(values.get(f"{role}_token")) for role in ROLES}
    except (ValueError, RecursionError, AttributeError, KeyError):
        raise ModelFormatError(f"{name}: not the configuration of a tokenizer") from None
