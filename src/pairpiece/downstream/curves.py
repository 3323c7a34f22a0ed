"""Learning curves of the models of an experiment, drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pairpiece.evaluation import figures


@dataclass(frozen=True)
class Curve:
    """How a model got better on the dev text while it learned."""

    tokenizer: str
    setting: str
    seed: int
    points: list[tuple[int, float]]  # (lines seen, bits per byte)


def files_for(curves: Sequence[Curve]) -> dict[str, bytes]:
    """``curves.svg``, ``.pdf`` and ``.png``: the mean over seeds, and the range as a band."""
    settings = list(dict.fromkeys(curve.setting for curve in curves))
    names = list(dict.fromkeys(curve.tokenizer for curve in curves))
    with figures.styled():
        figure, panels = figures.panels(len(settings))
        for setting, axes in zip(settings, panels, strict=True):
            for i, name in enumerate(names):
                chosen = [c for c in curves if (c.tokenizer, c.setting) == (name, setting)]
                by_lines: dict[int, list[float]] = {}
                for curve in chosen:
                    for lines, bits in curve.points:
                        by_lines.setdefault(lines, []).append(bits)
                # A seed that stopped early would bend the mean of the others.
                x = [lines for lines, bits in by_lines.items() if len(bits) == len(chosen)]
                y = np.array([by_lines[lines] for lines in x]).reshape(len(x), len(chosen))
                colour = figures.colour(i)
                label = figures.label(name) if axes is panels[0] else None
                axes.plot(x, y.mean(1), marker=".", color=colour, label=label, linewidth=1.6)
                axes.fill_between(x, y.min(1), y.max(1), color=colour, alpha=0.2, linewidth=0)
            axes.set_title(setting)
            axes.set_xlabel("lines seen")
            axes.xaxis.set_major_formatter("{x:,.0f}")
            axes.locator_params("x", nbins=5)
        panels[0].set_ylabel("bits per byte of the dev text")
        figure.legend(loc="outside lower center", ncols=4, fontsize=9)
    return {f"curves.{kind}": figures.rendered(figure, kind) for kind in ("svg", "pdf", "png")}
