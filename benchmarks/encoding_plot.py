"""The picture of the results of encoding, drawn from their tables.

Run alone, it draws it again from benchmarks/RESULTS.md.
"""

from __future__ import annotations

from pathlib import Path

from measuring import Spread, number, tables
from plots import figure, save

HERE = Path(__file__).parent
TITLE = "Encoding and decoding"


def draw(path: Path, results: str) -> None:
    """A picture of what the tables of the section say; there is nothing in it that they do not."""
    plain, paired = tables(results)[:2]  # kinds of work, and how many times as fast
    spreads = [(row[0], Spread.parse(row[1]), "#4477aa", "o") for row in plain]
    spreads += [(f"paired, {row[0]}", Spread.parse(row[1]), "#cc6677", "D") for row in paired]
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    drawing, axes = figure(6.4, 4.0)
    for place, (_, spread, color, marker) in enumerate(spreads):
        axes.plot([spread.low, spread.high], [place, place], color=color, linewidth=2)
        axes.plot(spread.median, place, marker, color=color)
        axes.annotate(number(spread.median), (spread.high, place), (6, 0),
                      textcoords="offset points", va="center", bbox=paper)  # fmt: skip
    axes.axvline(1, color="black", linewidth=0.8)
    axes.text(1, -0.8, "as fast as SentencePiece", ha="center", va="bottom")
    axes.grid(axis="y", linestyle=":", color="#bbbbbb")
    left = 0.8 * min(spread.low for _, spread, *_ in spreads)
    right = 1.6 * max(spread.high for _, spread, *_ in spreads)
    every = [digit * 10.0**power for power in range(-3, 4) for digit in (1, 2, 5)]
    ticks = [tick for tick in every if left <= tick <= right]
    names = [name for name, *_ in spreads]
    axes.set(xscale="log", xlim=(left, right), ylim=(len(names) - 0.5, -0.8))
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("times as fast as SentencePiece's plain encoding\n(one thread; lines: range)")
    save(drawing, path)


if __name__ == "__main__":
    results = (HERE / "RESULTS.md").read_text(encoding="utf-8")
    section = results.partition(f"\n## {TITLE}\n")[2].partition("\n## ")[0]
    draw(HERE / "plots/encoding.svg", section)
