"""Writes the tree of the source, a line for each file, into CONTRIBUTING.md.

The lines are the first lines of the files; files stand in the order in which they build on each
other.  Run it after files have come, gone or changed their purpose: python tools/way_of_the_data.py
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from module_graph import LAYERS, MODULES, in_order

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- the way of the data -->\n", "<!-- end of the way -->\n"


def first_line(path: Path) -> str:
    """What a file says it is."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0].rstrip(".")
    lines = re.findall(r"^// ?(.*)$", re.split(r"^(?!//)", text, maxsplit=1, flags=re.M)[0], re.M)
    return re.split(r"\.(?:\s|$)", " ".join(lines))[0]


def tree() -> Iterator[str]:
    """The lines of the tree."""
    for folder in ("core", "bindings"):
        yield f"{folder}/"
        files = sorted(p for p in (ROOT / folder).iterdir() if p.is_file())
        names = {path.stem for path in files if path.suffix == ".hpp"}
        for path in files:
            if path.suffix == ".hpp" or (path.suffix == ".cpp" and path.stem not in names):
                yield f"  {path.name:<24} {first_line(path)}"
    yield "src/pairpiece/"
    for packages in LAYERS:
        for package in packages:
            inside = [m for m in MODULES if m.split(".")[1:2] == [package]]
            if len(inside) > 1:
                yield f"  {package + '/':<24} {first_line(MODULES['pairpiece.' + package])}"
            yield from _files([m for m in in_order(inside) if _is_file(m, len(inside))])


def _is_file(module: str, modules: int) -> bool:
    return modules == 1 or MODULES[module].name != "__init__.py" or module.count(".") > 1


def _files(modules: list[str]) -> Iterator[str]:
    for module in modules:
        path = MODULES[module]
        parts = module.split(".")[2:]
        name = "/".join(parts) + ("/" if path.name == "__init__.py" else ".py")
        name = name if parts else path.name
        indent = "    " if parts else "  "
        yield f"{indent}{name:<{26 - len(indent)}} {first_line(path)}"


def page() -> str:
    """The part of CONTRIBUTING.md that is written here."""
    return BEGIN + "```\n" + "".join(f"{line.rstrip()}\n" for line in tree()) + "```\n" + END


if __name__ == "__main__":
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + page() + after, encoding="utf-8")
