"""The names and values of options of the form ``--set NAME=VALUE``."""

from __future__ import annotations

import json
from typing import Any

from pairpiece.errors import OptionError


def assignment(text: str) -> tuple[str, Any]:
    """A name and a value: a JSON number or list, true, false, or a word.

    >>> assignment("max-piece-length=12")
    ('max_piece_length', 12)
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise OptionError(f"--set {text}: expected NAME=VALUE")
    name = name.strip().replace("-", "_")
    if value.lower() in ("true", "false"):
        return name, value.lower() == "true"
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value
