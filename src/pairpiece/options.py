"""Values of options, checked: their types, choices and ranges."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from typing import Any

from pairpiece.errors import OptionError

LEAST, MOST = 1e-9, 1e15
"""Of counts, and of what is divided by: no product of a few in between is 0 or infinite."""

MAX_SMOOTHING = 1000
"""Of paired encoding, in options and in models."""

MAX_PIECES = 2**24 - 1
"""The core counts the pieces of a vocabulary with 24 bits."""


@dataclass(frozen=True)
class LengthPenalty:
    """Nats per piece above or below the expected number; per extra piece of unaligned words."""

    over: float = 0.0
    under: float = 0.0
    unlinked: float = 0.0


def is_text(value: str) -> bool:
    """Whether a string is Unicode text, without lone surrogates."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return True


def check_types(options: Any) -> None:
    """Every field has a value of its declared type; numbers are finite, strings not empty."""
    for option in fields(options):
        value = getattr(options, option.name)
        if not _TYPE_CHECKS[str(option.type)](value):
            name = option.name
            raise OptionError(f"{name} must be of type {option.type}, not {value!r}", [name])


_TYPE_CHECKS: dict[str, Callable[[Any], bool]] = {
    "bool": lambda value: type(value) is bool,
    "int": lambda value: type(value) is int,
    "float": lambda value: type(value) is int or (type(value) is float and math.isfinite(value)),
    "str": lambda value: isinstance(value, str) and value != "" and is_text(value),
    "LengthPenalty": lambda value: isinstance(value, LengthPenalty),
    "tuple[str, ...]": lambda value: (
        isinstance(value, tuple) and all(_TYPE_CHECKS["str"](item) for item in value)
    ),
}


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise an `OptionError` for anything but one of the choices."""
    if value not in choices:
        raise OptionError(f"{name} must be one of {', '.join(choices)}, not {value!r}", [name])


def check_known(kind: str, name: str, known: Collection[str]) -> None:
    """Raise an `OptionError` for a name that there is not; it says which one may be meant."""
    if name not in known:
        close = difflib.get_close_matches(name, sorted(known), 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise OptionError(f"there is no {kind} {name!r}{hint}")


def check_whole(name: str, value: object, low: int, high: int) -> None:
    """Raise an `OptionError` for anything but a whole number in the range."""
    if type(value) is not int or not low <= value <= high:
        raise OptionError(f"{name} must be between {low:,} and {high:,}, not {value!r}", [name])


def check_size(name: str, value: object) -> None:
    """Raise an `OptionError` for anything but a number of pieces, or None."""
    if value is not None:
        check_whole(name, value, 1, MAX_PIECES)


def check_positive(name: str, value: object) -> None:
    """Raise an `OptionError` for anything but a positive whole number, or None."""
    if value is not None and (type(value) is not int or value < 1):
        raise OptionError(f"{name} must be a positive number, not {value!r}", [name])


def check_flag(name: str, value: object) -> None:
    """Raise an `OptionError` for anything but true and false."""
    if type(value) is not bool:
        raise OptionError(f"{name} must be true or false, not {value!r}", [name])


def check_balance(balance: float) -> None:
    """Raise an `OptionError` for what is not a sensible proportion of tokens."""
    check_between("balance", balance, 0.5, 2)


def check_between(name: str, value: object, low: float, high: float = math.inf) -> None:
    """Raise an `OptionError` for anything but a number in the range."""
    if not (isinstance(value, int | float) and low <= value <= high and not math.isnan(value)):
        limit = f"between {low:g} and {high:g}" if high < math.inf else f"at least {low:g}"
        raise OptionError(f"{name} must be {limit}, not {value!r}", [name])
