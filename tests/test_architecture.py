"""The packages stand in the order of the way of the data, and imports point one way."""

from __future__ import annotations

import module_graph
import way_of_the_data
from module_graph import MODULES, layer

import pairpiece

EXTRAS = {
    "comet",
    "jinja2",
    "markupsafe",
    "matplotlib",
    "pyarrow",
    "sacrebleu",
    "systran_align",
    "tokenizers",
    "torch",
    "transformers",
}
"""Optional dependencies, which are imported where they are used."""

ALL = [found for module in MODULES for found in module_graph.imports(module)]
PUBLIC = [*pairpiece.__all__, "__version__"]
OWN = [found for found in map(module_graph.within, ALL) if found is not None]


def is_extra(name: str) -> bool:
    return name.split(".")[0] in EXTRAS or name.startswith("safetensors.torch")


def test_every_module_has_a_layer() -> None:
    known = {name for names in module_graph.LAYERS for name in names}
    assert {module.split(".")[1] for module in MODULES if module != "pairpiece"} <= known


def test_imports_point_down() -> None:
    assert {f.of for f in ALL if f.of in ("pairpiece", *map("pairpiece.".__add__, PUBLIC))} == {
        "pairpiece.__version__"
    }, "public names are for users; modules import from where things live"
    wrong = [
        str(found)
        for found in OWN
        if found.of != "pairpiece"
        and found.by.split(".")[1] != found.of.split(".")[1]
        and layer(found.of) >= layer(found.by)
    ]
    assert not wrong


def test_no_modules_import_each_other() -> None:
    order = module_graph.in_order(list(MODULES))  # raises CycleError
    assert len(order) == len(MODULES)


def test_only_optional_dependencies_are_imported_inside_functions() -> None:
    assert not [str(found) for found in ALL if found.inside and not is_extra(found.of)]


def test_optional_dependencies_are_imported_inside_functions_alone() -> None:
    extending = "pairpiece.model.transformers_tokenizer"  # a class of theirs
    wrong = [found for found in ALL if not found.inside and is_extra(found.of)]
    assert not [str(found) for found in wrong if found.by != extending]


def test_the_tree_in_contributing_is_that_of_the_files() -> None:
    written = way_of_the_data.PAGE.read_text(encoding="utf-8")
    assert way_of_the_data.page() in written, "run python tools/way_of_the_data.py"


def test_every_file_says_what_it_is() -> None:
    silent = [name for name, path in MODULES.items() if len(way_of_the_data.first_line(path)) < 10]
    assert not silent
