"""Unicode normalisation, as tables of longest-prefix replacements.

A table ("charsmap") is the one data structure that SentencePiece models and Hugging Face's
``Precompiled`` normalizer share, so a tokenizer that carries its table normalises alike in all of
them, and for ever: the table is saved with the model rather than taken from the Unicode library
that happens to be installed.
"""

from __future__ import annotations

import functools
import itertools
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece

from pairpiece.errors import OptionError
from pairpiece.text.protobuf import fields_of

NAMES = ("nfkc", "nfc", "none", "imported")

_SENTENCEPIECE_RULES = ("nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf")


@functools.cache
def charsmap(name: str) -> bytes:
    """The replacement table of a normalisation; empty for ``"none"``.

    ``nfkc`` is SentencePiece's own rule of that name: Unicode NFKC of every character and of every
    sequence that has a composed form.  ``nfc`` does the same with canonical equivalence only.
    ``imported`` stands for the table that an imported tokenizer has brought along.
    """
    if name == "nfkc":
        return _compiled(rule_name="nfkc")
    if name == "nfc":
        return compiled(_nfc_rules())
    if name == "none":
        return b""
    raise OptionError(f"normalization {name!r} comes with a vocabulary from elsewhere only")


def compiled(rules: Iterable[tuple[str, str]]) -> bytes:
    """A table of replacements: what is written, and what it becomes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.tsv"
        lines = (f"{_hex(before)}\t{_hex(after)}\n" for before, after in rules)
        path.write_text("".join(lines), encoding="ascii")
        return _compiled(rule_tsv=str(path))


def rules_of(table: bytes) -> Iterator[tuple[str, str]]:
    """The replacements of a table that was compiled here: one of a stranger may have no end."""
    if not table:
        return
    size = int.from_bytes(table[:4], "little")
    units = np.frombuffer(table, dtype="<u4", offset=4, count=size // 4)
    replacements = table[4 + size :]
    labels = units & np.uint32(0x800000FF)
    offsets = (units >> np.uint32(10)) << ((units & np.uint32(1 << 9)) >> np.uint32(6))
    every_byte = np.arange(1, 256, dtype=np.uint32)
    states = [(b"", int(offsets[0]))]  # what was read, and where its children are
    while states:
        before, place = states.pop()
        children = place ^ every_byte
        children = np.where(children < len(units), children, 0)
        for byte in every_byte[labels[children] == every_byte].tolist():
            child = place ^ byte
            below = child ^ int(offsets[child])
            if units[child] >> 8 & 1:
                begin = int(units[below]) & 0x7FFFFFFF
                after = replacements[begin : replacements.index(b"\0", begin)]
                yield (before + bytes([byte])).decode("utf-8"), after.decode("utf-8")
            states.append((before + bytes([byte]), below))


def sentencepiece_rule(table: bytes) -> str:
    """What SentencePiece calls the rule that a table is of; ``user_defined`` if it has none such.

    >>> sentencepiece_rule(charsmap("nfkc")), sentencepiece_rule(charsmap("nfc"))
    ('nfkc', 'user_defined')
    """
    if not table:
        return "identity"
    same = (name for name in _SENTENCEPIECE_RULES if _compiled(rule_name=name) == table)
    return next(same, "user_defined")


def _compiled(**rule: Any) -> bytes:
    sentencepiece.set_min_log_level(1)  # compiling rules is not news
    try:
        normalizer = sentencepiece.SentencePieceNormalizer(**rule)
    finally:
        sentencepiece.set_min_log_level(0)
    return _normalizer_field(normalizer.serialized_model_proto())


def _normalizer_field(model: bytes) -> bytes:
    """``ModelProto.normalizer_spec.precompiled_charsmap`` of a serialized SentencePiece model."""
    spec = dict(fields_of(model)).get(3, b"")
    table: bytes = dict(fields_of(spec)).get(2, b"")
    if not table:
        raise OptionError("the installed sentencepiece yields no normalisation table")
    return table


def _hex(text: str) -> str:
    return " ".join(f"{ord(character):X}" for character in text)


def _nfc_rules() -> Iterator[tuple[str, str]]:
    """Every spelling, precomposed or not, of every character that NFC changes or composes."""
    for code_point in itertools.chain(range(0xD800), range(0xE000, 0x110000)):
        character = chr(code_point)
        composed = unicodedata.normalize("NFC", character)
        if composed != character:
            yield character, composed
        elif unicodedata.decomposition(character) or 0xAC00 <= code_point < 0xD7A4:
            for spelling in _spellings(character):
                if unicodedata.normalize("NFC", spelling) == character:
                    yield spelling, character


def _spellings(character: str) -> Iterator[str]:
    """The decomposed forms of a character: all orders of its marks, all partial compositions."""
    base, *marks = list(unicodedata.normalize("NFD", character))
    seen = set()
    for order in itertools.permutations(marks):
        for split in range(len(marks)):
            spelling = unicodedata.normalize("NFC", base + "".join(order[:split]))
            spelling += "".join(order[split:])
            if spelling not in seen and spelling != character:
                seen.add(spelling)
                yield spelling
