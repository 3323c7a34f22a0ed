"""Write ``core/character_class_table.inc``: the word class of every code point.

    pip install unicodedata2==17.0.* && python tools/character_classes.py

The table is pinned to one Unicode version so that a text is split into the same words whatever
Python or system library is installed.  Each entry is ``(first code point << 2) | class``; an
unassigned code point takes the class of its predecessor, which keeps the table short.
"""

from pathlib import Path

import unicodedata2

LETTER, SYMBOL, CONTROL, EXTEND = range(4)
OUTPUT = Path(__file__).parent.parent / "core" / "character_class_table.inc"


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


def main() -> None:
    entries = [f"0x{entry:X}," for entry in table()]
    lines = [" ".join(entries[i : i + 10]) for i in range(0, len(entries), 10)]
    header = f"// Unicode {unicodedata2.unidata_version}, written by tools/character_classes.py\n"
    OUTPUT.write_text(header + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
