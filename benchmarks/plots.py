"""Plots that look alike and do not change unless the numbers do."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def figure(width: float, height: float) -> tuple[Any, Any]:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "pairpiece", "font.size": 9, "svg.fonttype": "none"})
    import matplotlib.pyplot as plt

    drawing, axes = plt.subplots(figsize=(width, height), layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    return drawing, axes


def save(drawing: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    drawing.savefig(path, metadata={"Date": None}, facecolor="white")
