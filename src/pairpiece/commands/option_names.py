"""What options are called at the command line, in messages that call them as Python does."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable

_OTHER_NAMES = {"num_threads": "threads"}
"""Of arguments that have another name in Python than at the command line."""


def as_typed(message: str, names: Iterable[str], actions: Iterable[argparse.Action]) -> str:
    """The message with the names of arguments as they are typed.

    >>> parser = argparse.ArgumentParser()
    >>> actions = parser.add_argument("--vocab-size"), parser.add_argument("--set")
    >>> as_typed("vocab_size must be positive", ["vocab_size"], actions)
    '--vocab-size must be positive'
    >>> as_typed("pass hard_vocab_limit=False", ["hard_vocab_limit"], actions)
    'pass --set hard_vocab_limit=False'
    """
    known = {action.dest: action for action in actions if action.option_strings}
    for name in names:
        action = known.get(name) or known.get(_OTHER_NAMES.get(name, ""))
        if action is not None:
            typed = max(action.option_strings, key=len)
        elif "set" in known:
            typed = f"--set {name}"
        else:
            continue
        message = _mention(name, message).sub(_Typed(typed), message)
    return message


class _Typed:
    """What stands for a mention of an argument."""

    def __init__(self, typed: str) -> None:
        self._typed = typed

    def __call__(self, mention: re.Match[str]) -> str:
        value = mention["value"] or ""
        if self._typed.startswith("--set "):
            return f"{self._typed}={value}" if value else self._typed
        return self._typed if value in ("", "True", "False") else f"{self._typed} {value}"


def _mention(name: str, message: str) -> re.Pattern[str]:
    """The name where it stands for the argument: before =, or else not in a path or in quotes."""
    with_value = re.compile(rf"\b{name}=(?:(?P<quote>\"?)(?P<value>\w+)(?P=quote))?")
    if with_value.search(message):
        return with_value
    return re.compile(rf"(?<![\w/.'\"-]){name}(?![\w/'\"]|\.\w)(?P<value>)")
