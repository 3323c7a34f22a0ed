"""Which module of the package imports which, and the order of the layers they stand in."""

from __future__ import annotations

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[1] / "src" / "pairpiece"

LAYERS = (
    ("errors", "_core"),
    ("options", "files", "locks", "child", "terminal"),
    ("text",),
    ("corpus", "links"),
    ("foreign",),
    ("model",),
    ("learning",),
    ("run",),
    ("evaluation",),
    ("downstream", "pretrained"),
    ("commands",),
    ("__main__",),
)
"""A module may import from the layers before its own, and from its own package."""


class Import(NamedTuple):
    """An import of a name, by a module, inside a function or not."""

    by: str
    of: str
    inside: bool

    def __str__(self) -> str:
        return f"{self.by} imports {self.of}"


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(("pairpiece", *(parts[:-1] if parts[-1] == "__init__" else parts)))


MODULES = {_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def imports(module: str) -> list[Import]:
    """All imports of a module."""
    found: list[Import] = []
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = {id(node) for function in functions for node in ast.walk(function)}
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found += [Import(module, name, id(node) in inside) for name in names]
    return found


def within(found: Import) -> Import | None:
    """An import of a module of the package, by the name of the module; None for all others."""
    name = found.of
    if name.split(".")[0] != "pairpiece" or found.by == "pairpiece":
        return None
    while name not in MODULES and name != "pairpiece._core":
        name = name.rpartition(".")[0]
    return found._replace(of=name)


def layer(module: str) -> int:
    """The number of the layer of a module, from below."""
    package = module.split(".")[1]
    return next(number for number, names in enumerate(LAYERS) if package in names)


@cache
def graph() -> dict[str, set[str]]:
    """The modules of the package that each module imports."""
    found: dict[str, set[str]] = {module: set() for module in MODULES}
    for module in MODULES:
        for one in filter(None, map(within, imports(module))):
            if one.of != module and one.of in MODULES:
                found[module].add(one.of)
    return found


def in_order(modules: list[str]) -> list[str]:
    """Modules from below, each after those it imports; raises ``CycleError`` where that fails."""
    edges = graph()
    sorter = TopologicalSorter({m: edges[m] & set(modules) for m in modules})
    sorter.prepare()
    order: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        order += ready
        sorter.done(*ready)
    return order
