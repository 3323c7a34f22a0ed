"""Inputs made from others: by their bytes, or by what these mean, to get past the doors."""

from __future__ import annotations

import copy
import functools
import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from safetensors.numpy import load, save
from support.tampering import ODD_VALUES

from pairpiece.text.protobuf import fields_of, message

LONGEST = 2**16
_ODD_BYTES = [b"\0", b"\n", b"\r\n", b"\t", b" ", b"\x7f", b"\x80", b"\xc2", b"\xed\xa0\x80"]
_ODD_BYTES += [
    b"\xef\xbb\xbf",
    b"\xfe\xff",
    b"\xff" * 8,
    "▁".encode(),
    b"9" * 20,
    b"-1",
    b"[" * 2000,
]
_ODD_NUMBERS = [0, 1, -1, 2, 255, 256, 2**16, 2**24, 2**31, 2**32, 2**63, 2**64, -(2**63), 10**400]
_ODD_FLOATS = [0.0, -1.0, math.nan, math.inf, -math.inf, 1e-320, 1e-31, 1e29, 1e31, 1e308]


def of_bytes(data: bytes, generator: random.Random, tokens: Sequence[bytes] = ()) -> bytes:
    """A few changes of bytes: flipped, lost, doubled, moved, joined by odd ones or `tokens`."""
    out = bytearray(data)
    for _ in range(generator.choice((1, 1, 1, 2, 4))):
        place = generator.randint(0, len(out))
        end = min(len(out), place + generator.choice((1, 1, 2, 4, 16, 256)))
        kind = generator.randrange(5)
        if kind == 0:
            out[place:end] = generator.randbytes(generator.randint(0, 4))
        elif kind == 1 and place < len(out):
            out[place] ^= 1 << generator.randrange(8)
        elif kind == 2:
            out[place:place] = out[place:end] * generator.choice((1, 1, 2, 50))
        elif kind == 3:
            out[place:place] = generator.choice([*_ODD_BYTES, *tokens, *tokens])
        else:
            piece = bytes(out[place:end])
            del out[place:end]
            to = generator.randint(0, len(out))
            out[to:to] = piece
    return bytes(out[:LONGEST])


def with_tokens(*tokens: bytes) -> Callable[[bytes, random.Random], bytes]:
    """Changes of bytes in a language with these words."""
    return functools.partial(of_bytes, tokens=tokens)


# ---------------------------------------------------------------------- JSON


def of_json(data: bytes, generator: random.Random) -> bytes:
    """A few changes of values anywhere, keys and kinds included; now and then of bytes."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return of_bytes(data, generator)
    if generator.random() < 0.1:
        return of_bytes(data, generator)
    holder = [value]
    for _ in range(generator.choice((1, 1, 1, 2, 4))):
        _change_one(holder, generator)
    try:
        return json.dumps(holder[0], ensure_ascii=generator.random() < 0.5).encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can spell
        return json.dumps(holder[0]).encode("ascii")


def _change_one(root: list[Any], generator: random.Random) -> None:
    place: Any = root
    key: Any = 0
    while isinstance(place[key], dict | list) and place[key] and generator.random() < 0.8:
        place = place[key]
        key = _key(place, generator)
    kind = generator.randrange(5)
    if kind == 0 and place is not root:
        del place[key]
    elif kind == 1:
        _add(place, key, generator)
    elif kind == 2:
        other: Any = root[0]  # what stands elsewhere
        while isinstance(other, dict | list) and other and generator.random() < 0.8:
            other = other[_key(other, generator)]
        place[key] = copy.deepcopy(other)
    elif kind == 3:
        place[key] = copy.deepcopy(generator.choice(ODD_VALUES))
    else:
        place[key] = _nudged(place[key], generator)


def _key(place: Any, generator: random.Random) -> Any:
    return (
        generator.choice(list(place))
        if isinstance(place, dict)
        else generator.randrange(len(place))
    )


def _add(place: Any, key: Any, generator: random.Random) -> None:
    value = copy.deepcopy(place[key])
    if isinstance(place, dict):
        place[str(_nudged(key, generator))] = value
    else:
        place.insert(generator.randint(0, len(place)), value)


def _nudged(value: Any, generator: random.Random) -> Any:
    """Much the same."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        return generator.choice([value + 1, value - 1, -value, float(value % 2**60)])
    if isinstance(value, float):
        return generator.choice([-value, value / 2, math.nextafter(value, math.inf), *_ODD_FLOATS])
    if isinstance(value, str):
        changed = of_bytes(value.encode("utf-8", "surrogatepass"), generator)
        return changed.decode("utf-8", "replace")
    if isinstance(value, list):
        return generator.sample(value, len(value))
    return dict(generator.sample(list(value.items()), len(value)))


# ---------------------------------------------------------------------- protocol buffers


def of_message(data: bytes, generator: random.Random) -> bytes:
    """A change of a field anywhere in a protocol buffer, with all lengths right again."""
    try:
        fields: list[tuple[int, Any]] = list(fields_of(data))
    except ValueError:
        return of_bytes(data, generator)
    if not fields or generator.random() < 0.1:
        return of_bytes(data, generator)
    place = generator.randrange(len(fields))
    number, value = fields[place]
    kind = generator.randrange(8)
    if kind == 0:
        del fields[place]
    elif kind == 1:
        fields.insert(generator.randint(0, len(fields)), fields[place])
    elif kind == 2:
        fields[place] = (generator.choice((1, 2, 3, 4, 5, 40, 2**28)), value)
    elif kind == 3:
        fields[place] = (
            number,
            generator.choice([*_ODD_NUMBERS[:-1], *_ODD_FLOATS[:8], b"", b"x"]),
        )
    elif isinstance(value, bytes):
        changed = of_message if generator.random() < 0.8 else of_bytes  # three levels at most
        fields[place] = (number, changed(value, generator))
    else:
        nudged = _nudged(value, generator)
        fields[place] = (number, nudged if _fits(nudged) else 0.5)
    return message([field for field in fields if _fits(field[1])])


def _fits(value: Any) -> bool:
    return not isinstance(value, float) or not math.isfinite(value) or abs(value) < 3e38


# ---------------------------------------------------------------------- tables


def of_table(data: bytes, generator: random.Random) -> bytes:
    """A change of the arrays of a safetensors file, which is one again; now and then of bytes."""
    try:
        arrays = load(data)
    except Exception:  # whatever the library finds
        return of_bytes(data, generator)
    if not arrays or generator.random() < 0.2:
        return of_bytes(data, generator)
    for _ in range(generator.choice((1, 1, 2))):
        name = generator.choice(sorted(arrays))
        with np.errstate(all="ignore"):
            arrays[name] = next(_changed_array(arrays[name], generator))
    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()})


def _changed_array(array: Any, generator: random.Random) -> Iterator[Any]:
    if array.size == 0 or array.ndim != 1:
        yield np.arange(3, dtype=array.dtype)
    kind = generator.randrange(6)
    place = generator.randrange(array.size)
    if kind == 0:
        yield np.delete(array, place)
    if kind == 1:
        yield np.insert(array, place, array[place])
    if kind == 2:
        yield array.astype(generator.choice(["f4", "f8", "u1", "u4", "u8", "i8", "f2"]))
    changed = array.copy()
    if kind == 3:
        changed[place : place + generator.randint(1, 9)] = changed[generator.randrange(array.size)]
    elif array.dtype.kind == "f":
        changed[place] = generator.choice([*_ODD_FLOATS, changed[place] * 2, changed[place] / 3])
    else:
        most = np.iinfo(array.dtype).max
        near = int(changed[place]) + generator.choice((-1, 1))
        changed[place] = generator.choice([0, 1, most, most // 2, min(max(near, 0), most)])
    yield changed
