"""What `transfer` has measured: bits per byte by start and number of lines, and curves.

    python experiments/transfer/tables.py --split test --figure docs/transfer.svg

In brackets are differences from PairPiece; ± is twice their standard error over seeds, paired by
seed.  "Lines saved": how many lines the best other start needs to be where PairPiece is.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import statistics
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from pairpiece import files

OURS, CONTROL, OTHER_PIECES = "PairPiece", "with traits", ", SentencePiece's pieces"
_NONE = 256  # where 0 lines are drawn, on a logarithmic axis
BUDGETS = (0, 512, 2048, 10_240)

Curve = dict[int, float]
Curves = dict[str, dict[int, Curve]]
"""By start and seed."""


def main() -> None:
    """Print a table for each language pair, and draw the curves."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path(__file__).with_name("results.jsonl"))
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    parser.add_argument("--lines", type=int, default=BUDGETS[-1], help="of the runs to show")
    parser.add_argument("--figure", type=Path, help=".svg, .png or .pdf")
    options = parser.parse_args()
    pairs = read(options.results, options.split, options.lines)
    for pair, curves in pairs.items():
        print(f"**{pair.replace('-', ' → ')}**\n\n" + "\n".join(table(curves)) + "\n")
    print("\n".join(lines_saved(pairs)))
    if options.figure is not None:
        draw(pairs, options.figure)


def read(path: Path, split: str, lines: int) -> dict[str, Curves]:
    """The curves of each language pair."""
    pairs: dict[str, Curves] = {}
    for line in files.lines(path):
        result = json.loads(line)
        pair, _, of_split, of_lines, pieces, start, seed = result["key"]
        if (of_split, of_lines) == (split, lines):
            name = start if pieces == "ours" else f"{start}{OTHER_PIECES}"
            curves = pairs.setdefault(pair, defaultdict(dict))
            curves[name][seed] = dict(result["curve"])
    return pairs


def table(curves: Curves) -> Iterator[str]:
    """A row for each start; the best at each number of lines is bold."""
    budgets = [b for b in BUDGETS if all(b in c for of in curves.values() for c in of.values())]
    means = {name: [_means(of)[b] for b in budgets] for name, of in curves.items()}
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


def lines_saved(pairs: dict[str, Curves]) -> Iterator[str]:
    """How many lines the best start of others needs to be as good as PairPiece after so many."""
    yield "| | " + " | ".join(f"{budget:,} lines" for budget in BUDGETS[:-1]) + " |"
    yield "|---" * len(BUDGETS) + "|"
    for pair, curves in pairs.items():
        if OURS not in curves:
            continue
        ours = _means(curves[OURS])
        theirs = [name for name in curves if not name.startswith(OURS) and CONTROL not in name]
        others = {name: _means(curves[name]) for name in theirs if OTHER_PIECES not in name}
        cells = []
        for budget in BUDGETS[:-1]:
            needed = {name: _reached(curve, ours[budget]) for name, curve in others.items()}
            best = min(needed, key=needed.__getitem__)
            count = f"{needed[best]:,.0f}" if needed[best] < math.inf else "more than all"
            cells.append(f"{count} ({best})")
        yield f"| {pair.replace('-', ' → ')} | " + " | ".join(cells) + " |"


def _means(of_name: dict[int, Curve]) -> Curve:
    points = sorted(next(iter(of_name.values())))
    return {x: statistics.mean(curve[x] for curve in of_name.values()) for x in points}


def _reached(curve: Curve, value: float) -> float:
    """After how many lines a curve is down at a value, on straight lines between its points."""
    points = sorted(curve.items())
    if points[0][1] <= value:
        return 0.0
    for (x, high), (y, low) in itertools.pairwise(points):
        if low <= value:
            return x + (y - x) * (high - value) / (high - low)
    return math.inf


def _difference(one: dict[int, Curve], other: dict[int, Curve], lines: int) -> str:
    seeds = sorted(set(one) & set(other))
    differences = [one[seed][lines] - other[seed][lines] for seed in seeds]
    text = f"{statistics.mean(differences):+.3f}"
    if len(seeds) > 1 and lines > 0:  # before training seeds do not differ
        text += f" ± {2 * statistics.stdev(differences) / math.sqrt(len(seeds)):.3f}"
    return text


def draw(pairs: dict[str, Curves], path: Path) -> None:
    """Curves of PairPiece and of what others do, a picture for each language pair."""
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams["svg.hashsalt"] = "pairpiece"  # the same bytes each time
    from matplotlib import pyplot

    named = {name: None for curves in pairs.values() for name in curves}
    others = [n for n in named if not any(x in n for x in (OURS, CONTROL, OTHER_PIECES))]
    figure, axes = pyplot.subplots(1, len(pairs), figsize=(4.2 * len(pairs), 3.8), squeeze=False)
    for axis, (pair, curves) in zip(axes[0], pairs.items(), strict=True):
        for number, name in enumerate([*others, OURS]):
            if name in curves:
                means = _means(curves[name])
                style = {"color": "black", "linewidth": 2.4} if name == OURS else {}
                style = style or {"color": f"C{number}", "linewidth": 1.2}
                axis.plot([max(x, _NONE) for x in means], means.values(), label=name, **style)
        axis.set_xscale("log", base=2)
        ticks = [_NONE, *(512 * 4**k for k in range(3))]
        axis.set_xticks(ticks, ["0", *(f"{tick:,}" for tick in ticks[1:])])
        axis.minorticks_off()
        axis.set_title(pair.replace("-", " → "))
        axis.set_xlabel("lines of the new language")
    axes[0][0].set_ylabel("bits per byte")
    handles, labels = max((a.get_legend_handles_labels() for a in axes[0]), key=lambda h: len(h[1]))
    figure.legend(handles, labels, loc="lower center", ncols=len(labels), fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


if __name__ == "__main__":
    main()
