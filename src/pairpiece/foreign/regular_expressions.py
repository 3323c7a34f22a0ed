"""Regular expressions of foreign tokenizers: those whose cost is bounded, and no others.

The library tokenizers searches by backtracking, so the expression in a file decides how long a text
takes.  Instead of a list of expressions that are known, which no new tokenizer would be on, this
counts how many ways there are to match from one place, each of which may have to be tried in vain:

* a repetition matters only if something after it can fail; else the first way is the last;
* ``x+`` before something that can fail has as many ways as the text is long, ``x?`` two, ``x{1,3}``
  three; ways in a row multiply, those of alternatives add up;
* one repetition without an end may be tried in vain, two in a row may not, nor one around another,
  nor one around a choice.

So the time is at most the square of the length of a text, and that for spaces without end only.
What is not understood here, such as a reference back, is refused too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from pairpiece.errors import ModelFormatError

_MAX_LENGTH = 100_000
_MAX_DEPTH = 50
_MAX_SIZE = 10_000
_MAX_FACTOR = 1000

_HOPELESS = 100
"""As a degree: more than any expression may have."""


@dataclass(frozen=True)
class _Ways:
    """How many ways there are to match: a number, times the length of the text to a power."""

    factor: int = 1
    degree: int = 0

    def __mul__(self, other: _Ways) -> _Ways:
        factor = min(self.factor * other.factor, _MAX_FACTOR + 1)
        return _Ways(factor, min(self.degree + other.degree, _HOPELESS))

    def __add__(self, other: _Ways) -> _Ways:
        factor = min(self.factor + other.factor, _MAX_FACTOR + 1)
        return _Ways(factor, max(self.degree, other.degree))


@dataclass(frozen=True)
class _Part:
    """What is known about a part of an expression."""

    can_fail: bool = False
    last: _Ways = _Ways()  # tried in vain if nothing after this part can fail
    before: _Ways = _Ways()  # if something can
    fixed: bool = True  # a sequence of single characters, matched in one way
    endless: bool = False  # holds a repetition without an end
    size: int = 0  # when repetitions are written out

    def then(self, other: _Part) -> _Part:
        """What comes of another part after it."""
        return _Part(
            self.can_fail or other.can_fail,
            (self.before if other.can_fail else self.last) * other.last,
            self.before * other.before,
            self.fixed and other.fixed,
            self.endless or other.endless,
            self.size + other.size,
        )

    def otherwise(self, other: _Part) -> _Part:
        """What comes of another part in its place, if it fails."""
        return _Part(
            self.can_fail and other.can_fail,
            self.last + other.last,
            self.before + other.before,
            False,
            self.endless or other.endless,
            self.size + other.size,
        )

    def repeated(self, low: int, high: int | None) -> _Part:
        """The part so many times, or without an end."""
        size = self.size * (high or max(low, 1))
        if low == high:
            return self._times(low, size)
        if self.fixed:
            before = _Ways(degree=1) if high is None else _Ways(high - low + 1)
            return _Part(low > 0 and self.can_fail, _Ways(), before, False, high is None, size)
        if high == 1:
            return replace(self, can_fail=False, before=self.before + _Ways(), size=size)
        often = _Ways(degree=1 if self.last.degree else 0)
        hopeless = _Ways(degree=_HOPELESS)
        last = self.last * often if low < 2 else hopeless
        return _Part(low > 0 and self.can_fail, last, hopeless, False, high is None, size)

    def _times(self, number: int, size: int) -> _Part:
        ways = _Ways()
        for _ in range(number - 1):
            ways = ways * self.before
        last = ways * self.last if number else ways
        before = ways * self.before if number else ways
        can_fail = self.can_fail and number > 0
        return _Part(can_fail, last, before, self.fixed, self.endless, size)

    def atomic(self) -> _Part:
        """The part, matched in the first way or not at all."""
        return replace(self, before=self.last)

    def looked_at(self) -> _Part:
        """The part as a condition, which takes no text."""
        cost = self.last if self.last.degree else self.last * _Ways(degree=int(self.endless))
        return _Part(True, cost, cost, False, False, self.size)


_CHARACTER = _Part(can_fail=True, size=1)
_PLACE = _Part(can_fail=True, fixed=False, size=1)

_QUANTIFIER = re.compile(r"[*+?][+?]?|\{(\d*)(?:(,)(\d*))?\}\??")
_OPENING = re.compile(
    r"\((?:\?(?P<condition><?[=!])|\?(?P<atomic>>)|\?<(?!=|!)\w+>|\?[im]*(?:-[im]+)?:|(?!\?))"
)
_FLAGS = re.compile(r"\(\?[im]*(?:-[im]+)?\)")
_ESCAPE = re.compile(
    r"\\(?:(?P<place>[bBAzZG])|[pP]\{\^?[\w ]+\}|x[0-9A-Fa-f]{1,2}|x\{[0-9A-Fa-f]{1,8}\}"
    r"|u[0-9A-Fa-f]{4}|[dDwWsShHtnrfvae]|[^\w])",
    re.ASCII | re.DOTALL,
)


@dataclass
class _Group:
    """A group that is being read."""

    kind: str = ""
    alternative: _Part = field(default_factory=_Part)  # up to the last part
    part: _Part = field(default_factory=_Part)  # the last one, which may be repeated yet
    repeatable: bool = False
    earlier: _Part | None = None  # alternatives

    def add(self, part: _Part, repeatable: bool = True) -> None:
        self.alternative, self.part = self.alternative.then(self.part), part
        self.repeatable = repeatable

    def next_alternative(self) -> None:
        whole = self.alternative.then(self.part)
        self.earlier = whole if self.earlier is None else self.earlier.otherwise(whole)
        self.alternative = self.part = _Part()
        self.repeatable = False

    def ended(self) -> _Part:
        self.next_alternative()
        assert self.earlier is not None
        if self.kind == "condition":
            return self.earlier.looked_at()
        return self.earlier.atomic() if self.kind == "atomic" else self.earlier

    @property
    def is_empty(self) -> bool:
        return self.earlier is None and not self.alternative.size and not self.part.size


class _NotUnderstoodError(Exception):
    """What stands at a place of an expression has no meaning here."""


def check_expressions(content: bytes, name: str) -> None:
    """Check all regular expressions of a ``tokenizer.json``, as far as it is JSON."""
    for expression in _expressions(content):
        check_expression(expression, name)


def _expressions(content: bytes) -> Iterator[str]:
    found: list[object] = []

    def keep(pairs: list[tuple[str, object]]) -> None:
        found.extend(value for key, value in pairs if key == "Regex")  # also if it is there twice

    try:
        json.loads(content, object_pairs_hook=keep)
    except (ValueError, RecursionError):
        return  # whoever loads it will say so
    yield from (value for value in found if isinstance(value, str))


def check_expression(expression: str, name: str) -> None:
    """Raise a `ModelFormatError` for an expression that might search for too long."""
    try:
        whole = _read(expression)
    except _NotUnderstoodError as error:
        raise ModelFormatError(
            f"{name}: a regular expression that PairPiece does not take: {error} in "
            f"{_begin(expression)}"
        ) from None
    if whole.last.degree > 1 or whole.last.factor > _MAX_FACTOR or whole.size > _MAX_SIZE:
        raise ModelFormatError(
            f"{name}: a regular expression that could search for too long: {_begin(expression)}"
        )


def _begin(expression: str) -> str:
    return repr(expression if len(expression) <= 60 else expression[:57] + "...")


def _read(expression: str) -> _Part:
    if len(expression) > _MAX_LENGTH:
        raise _NotUnderstoodError(f"more than {_MAX_LENGTH:,} characters")
    groups = [_Group()]
    at = 0
    while at < len(expression):
        character = expression[at]
        group = groups[-1]
        if character == "(":
            if flags := _FLAGS.match(expression, at):
                if not group.is_empty:
                    raise _NotUnderstoodError(flags[0])
                at = flags.end()
                continue
            opening = _OPENING.match(expression, at)
            if opening is None or len(groups) > _MAX_DEPTH:
                raise _NotUnderstoodError(expression[at : at + 4])
            condition, atomic = opening["condition"], opening["atomic"]
            groups.append(_Group("condition" if condition else "atomic" if atomic else ""))
            at = opening.end()
        elif character == ")":
            if len(groups) == 1:
                raise _NotUnderstoodError(character)
            ended = groups.pop()
            groups[-1].add(ended.ended(), repeatable=ended.kind != "condition")
            at += 1
        elif character == "|":
            group.next_alternative()
            at += 1
        elif quantifier := _QUANTIFIER.match(expression, at):
            _repeat(group, quantifier)
            at = quantifier.end()
        else:
            at = _single(group, expression, at)
    if len(groups) > 1:
        raise _NotUnderstoodError("a group without an end")
    return groups[0].ended()


def _single(group: _Group, expression: str, at: int) -> int:
    """A character, a set of them or a place; the end of it."""
    if expression[at] == "\\":
        escape = _ESCAPE.match(expression, at)
        if escape is None:
            raise _NotUnderstoodError(expression[at : at + 2])
        if escape["place"]:
            group.add(_PLACE, repeatable=False)
        else:
            group.add(_CHARACTER)
        return escape.end()
    if expression[at] == "[":
        group.add(_CHARACTER)
        return _end_of_set(expression, at)
    if expression[at] in "^$":
        group.add(_PLACE, repeatable=False)
    else:
        group.add(_CHARACTER)
    return at + 1


def _end_of_set(expression: str, at: int) -> int:
    depth = 0
    while at < len(expression):
        if expression[at] == "\\":
            escape = _ESCAPE.match(expression, at)
            if escape is None:
                raise _NotUnderstoodError(expression[at : at + 2])
            at = escape.end()
            continue
        if expression[at] == "[":
            depth += 1
            if expression.startswith(("[]", "[^]"), at):
                raise _NotUnderstoodError("a set that begins with ]")
            at += 1
        elif expression[at] == "]":
            depth -= 1
            at += 1
            if depth == 0:
                return at
        else:
            at += 1
    raise _NotUnderstoodError("a set without an end")


def _repeat(group: _Group, quantifier: re.Match[str]) -> None:
    if not group.repeatable:
        raise _NotUnderstoodError(quantifier[0])
    written = quantifier[0]
    if written[0] != "{":
        low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[written[0]]
        group.part = group.part.repeated(low, high)
        if written.endswith("+") and len(written) == 2:
            group.part = group.part.atomic()
        return
    if not (quantifier[1] or quantifier[3]) or len(written) > 12:
        raise _NotUnderstoodError(written)
    low = int(quantifier[1] or 0)
    high = low if quantifier[2] is None else int(quantifier[3]) if quantifier[3] else None
    if max(low, high or 0) > _MAX_FACTOR or (high is not None and high < low):
        raise _NotUnderstoodError(written)
    group.part = group.part.repeated(low, high)
    if written.endswith("?"):
        group.part = group.part.repeated(0, 1)  # Oniguruma reads x{2}? as an optional x{2}
