"""What `transfer` has measured: bits per byte by start and number of lines, and curves.

    python experiments/transfer/tables.py --split test --figure docs/transfer.svg

± is twice the standard error of the difference from PairPiece over seeds, paired by seed.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from pairpiece import files

OURS = "PairPiece"
BUDGETS = (0, 512, 2048, 10_240)

Curve = dict[int, float]
Curves = dict[str, dict[int, Curve]]
"""By start and seed."""


def main() -> None:
    """Print a table for each language pair, and draw the curves."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path(__file__).with_name("results.jsonl"))
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    parser.add_argument("--figure", type=Path, help=".svg, .png or .pdf")
    options = parser.parse_args()
    pairs = read(options.results, options.split)
    for pair, curves in pairs.items():
        print(f"**{pair.replace('-', ' → ')}**\n\n" + "\n".join(table(curves)) + "\n")
    if options.figure is not None:
        draw(pairs, options.figure)


def read(path: Path, split: str) -> dict[str, Curves]:
    """The curves of each language pair."""
    pairs: dict[str, Curves] = {}
    for line in files.lines(path):
        result = json.loads(line)
        pair, _, of_split, _, pieces, start, seed = result["key"]
        if of_split == split:
            name = start if pieces == "ours" else f"{start}, {pieces} pieces"
            curves = pairs.setdefault(pair, defaultdict(dict))
            curves[name][seed] = dict(result["curve"])
    return pairs


def table(curves: Curves) -> Iterator[str]:
    """A row for each start; the best at each number of lines is bold."""
    budgets = [b for b in BUDGETS if all(b in c for of in curves.values() for c in of.values())]
    means = {
        name: [statistics.mean(curve[b] for curve in of_name.values()) for b in budgets]
        for name, of_name in curves.items()
    }
    best = [min(values) for values in zip(*means.values(), strict=True)]
    yield "| rows | " + " | ".join(f"{budget:,} lines" for budget in budgets) + " |"
    yield "|---" * (1 + len(budgets)) + "|"
    for name, values in means.items():
        cells = []
        for k, (value, lowest) in enumerate(zip(values, best, strict=True)):
            cell = f"**{value:.3f}**" if value == lowest else f"{value:.3f}"
            if name != OURS and OURS in curves:
                cell += f" ({_difference(curves[name], curves[OURS], budgets[k])})"
            cells.append(cell)
        yield f"| {name} | " + " | ".join(cells) + " |"


def _difference(one: dict[int, Curve], other: dict[int, Curve], lines: int) -> str:
    seeds = sorted(set(one) & set(other))
    differences = [one[seed][lines] - other[seed][lines] for seed in seeds]
    text = f"{statistics.mean(differences):+.3f}"
    if len(seeds) > 1 and lines > 0:  # before training seeds do not differ
        text += f" ± {2 * statistics.stdev(differences) / math.sqrt(len(seeds)):.3f}"
    return text


def draw(pairs: dict[str, Curves], path: Path) -> None:
    """Curves of all starts, a picture for each language pair."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(pairs), figsize=(4.5 * len(pairs), 3.6), squeeze=False)
    for axis, (pair, curves) in zip(axes[0], pairs.items(), strict=True):
        for name, of_name in curves.items():
            points = sorted(next(iter(of_name.values())))
            means = [statistics.mean(curve[x] for curve in of_name.values()) for x in points]
            width = 2.4 if name == OURS else 1.1
            axis.plot([max(x, 256) for x in points], means, label=name, linewidth=width)
        axis.set_xscale("log", base=2)
        axis.set_title(pair.replace("-", " → "))
        axis.set_xlabel("lines of the new language (first point: none)")
        axis.set_ylabel("bits per byte")
    axes[0][-1].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    main()
