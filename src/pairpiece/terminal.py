"""Text as people may see it: a terminal obeys control characters, so they are written out."""

from __future__ import annotations

import json
import re
from typing import Any

# Control characters, those that turn the direction of writing or end a line, and lone surrogates,
# which cannot be written at all.
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_OBEYED_IN_LINES = re.compile(_OBEYED.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))


def visible(text: str) -> str:
    r"""The text on one line, with what a terminal would obey as in a Python string.

    >>> print(visible("\x1b[31mred\n"))
    \x1b[31mred\n
    """
    return _OBEYED.sub(_as_in_python, text)


def visible_lines(text: str) -> str:
    """The same, but with the line ends and tabs that are part of a table or a list."""
    return _OBEYED_IN_LINES.sub(_as_in_python, text)


def visible_json(value: Any, **how: Any) -> str:
    """JSON that means the same, without what a terminal would obey."""
    return _OBEYED_IN_LINES.sub(
        lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False, **how)
    )


def _as_in_python(found: re.Match[str]) -> str:
    return repr(found[0])[1:-1]
