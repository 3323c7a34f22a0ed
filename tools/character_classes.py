"""Write ``core/character_class_table.inc`` and ``core/digit_table.inc``: what characters are.

    pip install unicodedata2==17.0.* && python tools/character_classes.py

The tables are pinned to one Unicode version so that a text is split into the same words whatever
Python or system library is installed.  Each entry of the first is ``(first code point << 2) |
class``; an unassigned code point takes the class of its predecessor, which keeps the table short.
The second has the decimal digit zero of every script, which the digits one to nine follow.
"""

from pathlib import Path

import unicodedata2

LETTER, SYMBOL, CONTROL, EXTEND = range(4)
CORE = Path(__file__).parent.parent / "core"


def character_class(code_point: int) -> int:
    category = unicodedata2.category(chr(code_point))
    if category[0] == "M" or category == "Cf":
        return EXTEND
    if category[0] in "PS":
        return SYMBOL
    if category == "Cc" or category[0] == "Z":
        return CONTROL
    return LETTER


def table() -> list[int]:
    entries = [LETTER]
    for code_point in range(0x110000):
        if unicodedata2.category(chr(code_point)) == "Cn":
            continue
        current = character_class(code_point)
        if current != entries[-1] & 3:
            entries.append(code_point << 2 | current)
    if entries[1] >> 2 == 0:  # U+0000 is not a letter: drop the placeholder
        del entries[0]
    return entries


def zeros() -> list[int]:
    digits = [c for c in range(0x110000) if unicodedata2.category(chr(c)) == "Nd"]
    found = [c for c in digits if unicodedata2.decimal(chr(c)) == 0]
    assert digits == [zero + value for zero in found for value in range(10)]
    return found


def write(name: str, numbers: list[int]) -> None:
    entries = [f"0x{number:X}," for number in numbers]
    lines = [" ".join(entries[i : i + 10]) for i in range(0, len(entries), 10)]
    header = f"// Unicode {unicodedata2.unidata_version}, written by tools/character_classes.py\n"
    (CORE / name).write_text(header + "\n".join(lines) + "\n")


def main() -> None:
    write("character_class_table.inc", table())
    write("digit_table.inc", zeros())


if __name__ == "__main__":
    main()
