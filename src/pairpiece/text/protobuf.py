"""The file format of SentencePiece models: the parts of its protocol buffer that matter here.

The message types are those of ``sentencepiece_model.proto``; the numbers below are its field
numbers.  Writing them directly spares users the protobuf library, which sentencepiece itself does
without.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from typing import Any, TypeAlias

Fields: TypeAlias = list[tuple[int, Any]]
"""(field number, value) pairs; the type of the value decides how it is written."""


def message(fields: Fields) -> bytes:
    """A serialized message: str, bytes, float, bool and int values."""
    out = bytearray()
    for number, value in fields:
        if isinstance(value, str):
            value = value.encode("utf-8")
        if isinstance(value, bytes):
            out += _varint(number << 3 | 2) + _varint(len(value)) + value
        elif isinstance(value, float):
            out += _varint(number << 3 | 5) + struct.pack("<f", value)
        else:
            out += _varint(number << 3) + _varint(int(value) % 2**64)
    return bytes(out)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def fields_of(content: bytes) -> Iterator[tuple[int, Any]]:
    r"""The fields of a serialized message; raises ``ValueError`` where it is not one.

    >>> list(fields_of(message([(1, "▁il"), (2, -1.5), (3, 4)])))
    [(1, b'\xe2\x96\x81il'), (2, -1.5), (3, 4)]
    """
    position = 0

    def take(size: int) -> bytes:
        nonlocal position
        if position + size > len(content):
            raise ValueError("the message ends too early")
        position += size
        return content[position - size : position]

    def varint() -> int:
        value = 0
        for shift in itertools.count(0, 7):
            byte = take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80 or shift > 63:
                break
        return value

    while position < len(content):
        key = varint()
        number, wire_type = key >> 3, key & 7
        if wire_type == 0:
            yield number, varint()
        elif wire_type == 1:
            yield number, struct.unpack("<d", take(8))[0]
        elif wire_type == 2:
            yield number, take(varint())
        elif wire_type == 5:
            yield number, struct.unpack("<f", take(4))[0]
        else:
            raise ValueError(f"there is no wire type {wire_type}")
