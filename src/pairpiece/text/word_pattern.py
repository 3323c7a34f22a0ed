"""The words of a text as regular expressions, for tools that are told so what a word is."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from pairpiece import _core
from pairpiece.text.options import MARKER

NOT_AFTER_SPACE = "(?<! )"
AFTER_CHARACTER = "(?<=[^ ])"


# In all patterns of words spaces are written as ▁, and each of the `apart` characters, which are
# digits, is a word of its own.  Characters are named one by one, not by Unicode category: tools
# know different versions of Unicode, and words must not depend on that.


@functools.cache
def lossless(apart: str = "") -> str:
    """Finds the words of lossless pre-tokenization."""
    symbols, controls, marks = map(_named, ("symbol", "control", "extend"))
    return (
        f"{_each(apart)}{MARKER}?(?:[{symbols}][{symbols}{marks}]*|[{controls}][{controls}{marks}]*"
        f"|[^{symbols}{controls}{MARKER}{apart}]+)|{MARKER}"
    )


def by_spaces(apart: str = "") -> str:
    """Finds the words that begin at spaces."""
    return f"{_each(apart)}{MARKER}?[^{MARKER}{apart}]+|{MARKER}"


def between(apart: str) -> str:
    """Finds what stands between digits, and these."""
    return f"{_each(apart)}[^{apart}]+"


def _each(apart: str) -> str:
    return f"[{apart}]|" if apart else ""


def digits() -> Iterator[str]:
    """All characters that are decimal digits, of whatever script."""
    for zero in _core.digit_zeros():
        yield from map(chr, range(zero, zero + 10))


@functools.cache
def before_symbols(place: str) -> str:
    """Finds the places before symbols where the paper's pre-tokenization puts a space."""
    return f"{place}(?=[{_named('symbol', MARKER)}])"


def symbols() -> Iterator[str]:
    """All characters before which the paper puts a space."""
    for first, last in _runs("symbol"):
        yield from map(chr, range(first, last + 1))


def _runs(kind: str) -> Iterator[tuple[int, int]]:
    """The first and the last characters of all runs of a class."""
    runs = _core.character_runs()
    ends = [first for first, _ in runs[1:]] + [0x110000]
    for (first, found), end in zip(runs, ends, strict=True):
        if found == _core.CharacterClass[kind]:
            yield first, end - 1


def _named(kind: str, also: str = "") -> str:
    """The characters of a class, without ▁ unless it is named, as they stand within brackets."""
    ranges = (part for run in _runs(kind) for part in _without_marker(*run))
    return also + "".join(map(_range, ranges))


def _without_marker(first: int, last: int) -> list[tuple[int, int]]:
    marker = ord(MARKER)
    if not first <= marker <= last:
        return [(first, last)]
    return [(a, b) for a, b in ((first, marker - 1), (marker + 1, last)) if a <= b]


def _range(ends: tuple[int, int]) -> str:
    first, last = map(_escaped, ends)
    return first if ends[0] == ends[1] else f"{first}-{last}"


def _escaped(code_point: int) -> str:
    character = chr(code_point)
    if code_point < 0x20:
        return f"\\x{code_point:02X}"
    return f"\\{character}" if character in "[]\\^-&" else character
