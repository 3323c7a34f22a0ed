"""The packages stand in the order of the way of the data, and imports point one way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pairpiece

PACKAGE = Path(pairpiece.__file__).parent

LAYERS = (
    ("errors", "_core"),
    ("options", "files"),
    ("text",),
    ("corpus", "links"),
    ("foreign",),
    ("model",),
    ("learning",),
    ("run",),
    ("evaluation",),
    ("downstream",),
    ("commands",),
    ("__main__",),
)
"""A module may import from layers before its own, and from its own package."""

EXTRAS = {
    "comet",
    "jinja2",
    "markupsafe",
    "matplotlib",
    "pyarrow",
    "sacrebleu",
    "safetensors",  # of its modules, the one for PyTorch
    "tokenizers",
    "torch",
    "transformers",
}
"""Optional dependencies, which are imported where they are used."""


class Import(NamedTuple):
    """An import of a module, by a module, inside a function or not."""

    by: str
    of: str
    inside: bool

    def __str__(self) -> str:
        return f"{self.by} imports {self.of}"


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(("pairpiece", *(parts[:-1] if parts[-1] == "__init__" else parts)))


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def module_named(name: str) -> str:
    """The module that a dotted name of this package stands for, or lies in."""
    while name not in MODULES and name != "pairpiece._core":
        name = name.rpartition(".")[0]
    return name


def imports(module: str) -> Iterator[Import]:
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = {id(node) for function in functions for node in ast.walk(function)}
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            yield Import(module, name, id(node) in inside)


ALL = [found for module in MODULES for found in imports(module)]
OWN = [
    Import(found.by, module_named(found.of), found.inside)
    for found in ALL
    if found.of.split(".")[0] == "pairpiece" and found.by != "pairpiece"
]


def layer(module: str) -> int:
    package = module.split(".")[1]
    return next(number for number, names in enumerate(LAYERS) if package in names)


def test_every_module_has_a_layer() -> None:
    unknown = [m for m in MODULES if m != "pairpiece" and layer(m) is None]
    assert not unknown


def test_imports_point_down() -> None:
    wrong = [
        str(found)
        for found in OWN
        if found.of != "pairpiece"
        and found.by.split(".")[1] != found.of.split(".")[1]
        and layer(found.of) >= layer(found.by)
    ]
    assert not wrong


def test_no_modules_import_each_other() -> None:
    graph: dict[str, set[str]] = {module: set() for module in MODULES}
    for found in OWN:
        if found.of != found.by:
            graph[found.by].add(found.of)
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_only_optional_dependencies_are_imported_inside_functions() -> None:
    wrong = [str(found) for found in ALL if found.inside and found.of.split(".")[0] not in EXTRAS]
    assert not wrong


def test_optional_dependencies_are_imported_inside_functions_alone() -> None:
    allowed = {"pairpiece.model.transformers_tokenizer"}  # a class that extends one of theirs
    wrong = [
        str(found)
        for found in ALL
        if not found.inside
        and found.of.split(".")[0] in EXTRAS - {"safetensors"}
        and found.by not in allowed
    ]
    assert not wrong
