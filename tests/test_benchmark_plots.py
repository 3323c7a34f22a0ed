"""The pictures of the benchmarks show what their tables say."""

from __future__ import annotations

import runpy
import shutil
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

pytestmark = pytest.mark.skipif(
    not (BENCHMARKS / "RESULTS.md").is_file(), reason="there are no benchmarks here"
)


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of that name beside the benchmarks."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    for name in ("measuring", "plots", "encoding_plot"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import measuring

    return measuring


def test_a_spread_is_read_as_it_is_written(measuring: Any) -> None:
    for given in ((5.72, 4.75, 6.63), (1234.0, 0.09, 20_000.0), (27.9, 25.1, 30.4)):
        spread = measuring.Spread(*given)
        assert measuring.Spread.parse(str(spread)) == spread


def test_tables_are_read_as_they_are_written(measuring: Any) -> None:
    rows = [[["a, b", "1.00"], ["c", ""]], [["d", "2"]]]
    text = "Text.\n\n" + "\nMore text:\n\n".join(measuring.table(["x", "y"], one) for one in rows)
    assert measuring.tables(text) == rows


def marks(svg: Path) -> tuple[set[str], list[str]]:
    """The texts of a drawing, and the patches of its axes: frames and bars."""
    drawing = ElementTree.fromstring(svg.read_bytes())
    texts = {"".join(e.itertext()) for e in drawing.iter() if e.tag.endswith("}text")}
    ids = [e.get("id", "") for e in drawing.iter()]
    return texts, [name for name in ids if name.startswith("patch_")]


def test_the_picture_of_encoding_has_every_number_of_its_tables_and_no_bars(
    measuring: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    results = (BENCHMARKS / "RESULTS.md").read_text(encoding="utf-8")
    section = results.partition("\n## Encoding and decoding\n")[2].partition("\n## ")[0]
    plain, paired = measuring.tables(section)[:2]
    expected = {row[0] for row in plain} | {f"paired, {row[0]}" for row in paired}
    expected |= {row[1].partition(" ")[0] for row in (*plain, *paired)} | {"0.1", "1", "10"}
    for name in ("encoding_plot.py", "measuring.py", "plots.py", "RESULTS.md"):
        shutil.copy(BENCHMARKS / name, tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    import matplotlib as mpl

    with mpl.rc_context():
        runpy.run_path(str(tmp_path / "encoding_plot.py"), run_name="__main__")
    for picture in (BENCHMARKS / "plots/encoding.svg", tmp_path / "plots/encoding.svg"):
        texts, patches = marks(picture)
        assert expected <= texts
        # The paper, the ground of the axes, two lines around them, and behind each number its own.
        assert len(patches) == 4 + len(plain) + len(paired)
