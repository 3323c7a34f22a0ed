"""An evaluation as a table, for people, papers and programs: a row for each metric."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pairpiece.evaluation.scores import Described, Evaluation, Score
from pairpiece.terminal import visible

SIGNIFICANT = 0.05
_ARROWS = {"lower": "↓", "higher": "↑", "": ""}
_LATEX = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\~{}", "^": r"\^{}"}
)


@dataclass(frozen=True)
class Cell:
    """What a table has to say about a tokenizer in the row of a metric."""

    score: Score | None
    text: str
    best: bool  # of the row


def cells(evaluation: Evaluation, metric: Described) -> list[Cell]:
    """The row of a metric."""
    best = evaluation.best(metric)
    scores = {name: evaluation.score(name, metric.name) for name in evaluation.tokenizers}
    return [Cell(score, _shown(score, metric), name in best) for name, score in scores.items()]


def _shown(score: Score | None, metric: Described) -> str:
    """A value, with the spread over runs; * if it differs from the baseline."""
    if score is None:
        return "–"
    shown = f"{score.value:,.{metric.digits}f}"
    if len(score.runs) > 1:
        shown += f" ±{spread(score):,.{metric.digits}f}"
    return shown + ("*" if differs(score) else "")


def number(value: float, sign: bool = False) -> str:
    """A number for people: four digits that count or all of the whole part, never an exponent.

    >>> number(43610.25), number(1.51934), number(766.0, sign=True), number(-0.0000312)
    ('43,610', '1.519', '+766', '-0.000031')
    """
    if not math.isfinite(value):
        return str(value)
    decimals = 3 - math.floor(math.log10(abs(value))) if value % 1 else 0
    shown = f"{value:{'+' if sign else ''},.{min(max(decimals, 0), 6)}f}"
    return shown if shown.strip("+-0.") else "0"


def p_value(p: float) -> str:
    """As it stands in papers.

    >>> p_value(0.0149), p_value(0.00001)
    ('p = 0.0149', 'p < 0.001')
    """
    return f"p = {p:.3g}" if p >= 0.001 else "p < 0.001"


def spread(score: Score) -> float:
    """Half the distance between the highest and the lowest run."""
    return (max(score.runs) - min(score.runs)) / 2


def differs(score: Score) -> bool:
    """Whether the difference to the baseline is more than chance makes."""
    return score.comparison is not None and score.comparison.p < SIGNIFICANT


def title(metric: Described) -> str:
    """The name of a metric as people read it, and which way is better."""
    return f"{metric.name.replace('_', ' ')} {_ARROWS[metric.better]}".rstrip()


def caption(evaluation: Evaluation) -> str:
    """What the marks in the tables mean."""
    return (
        f"{evaluation.sentences:,} sentences. * differs from {evaluation.baseline} (p < "
        f"{SIGNIFICANT}, paired bootstrap); ± half the range over {evaluation.runs_are}."
    )


def to_terminal(evaluation: Evaluation, bold: bool = False) -> str:
    """A table for people, the best of each row in bold where that can be shown, else with a °."""
    mark = "" if bold else "°"
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    for name in evaluation.tokenizers:
        table.add_column(Text(visible(name)), justify="right", overflow="fold")
    for metric in evaluation.shown_metrics():
        row = [
            Text(cell.text + mark * cell.best, style="bold" if cell.best else "")
            for cell in cells(evaluation, metric)
        ]
        table.add_row(title(metric), *row)
    file = io.StringIO()
    console = Console(
        file=file,
        width=_width(evaluation),
        highlight=False,
        emoji=False,
        force_terminal=bold,
        color_system="standard" if bold else None,
    )
    console.print(table)
    best_is = "" if bold else " ° the best."
    below = [caption(evaluation) + best_is, *evaluation.notes]
    return file.getvalue() + "".join(f"{visible(line)}\n" for line in below)


def _width(evaluation: Evaluation) -> int:
    """As wide as the terminal, and wide enough for the numbers."""
    return max(Console().width, 28 + 17 * len(evaluation.tokenizers))


def to_markdown(evaluation: Evaluation) -> str:
    """A table for a README, with the signatures below."""
    rows = []
    for metric in evaluation.shown_metrics():
        row = [f"**{cell.text}**" if cell.best else cell.text for cell in cells(evaluation, metric)]
        rows.append(f"| {title(metric)} | {' | '.join(row)} |")
    lines = [
        f"| | {' | '.join(map(_escaped, evaluation.tokenizers))} |",
        "|---" * (len(evaluation.tokenizers) + 1) + "|",
        *rows,
        "",
        caption(evaluation),
        *evaluation.notes,
        "",
        *(f"    {line}" for line in _signatures(evaluation)),
    ]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _signatures(evaluation: Evaluation) -> list[str]:
    """The signature of each score."""
    return [f"{score.tokenizer}: {score.signature}" for score in evaluation.scores]


def to_latex(evaluation: Evaluation) -> str:
    """A table for a paper; it needs the package booktabs."""
    columns = "l" + "r" * len(evaluation.tokenizers)
    names = " & ".join(name.translate(_LATEX) for name in evaluation.tokenizers)
    lines = [f"\\begin{{tabular}}{{{columns}}}", "\\toprule", f" & {names} \\\\", "\\midrule"]
    arrows = {"↓": "$\\downarrow$", "↑": "$\\uparrow$"}
    for metric in evaluation.shown_metrics():
        row = []
        for cell in cells(evaluation, metric):
            shown = cell.text.translate(_LATEX)
            shown = shown.replace(" ±", " $\\pm$ ").replace("*", "$^*$").replace("–", "--")
            row.append(f"\\textbf{{{shown}}}" if cell.best else shown)
        head = title(metric).translate(_LATEX)
        for arrow, command in arrows.items():
            head = head.replace(arrow, command)
        lines.append(f"{head} & {' & '.join(row)} \\\\")
    lines += ["\\bottomrule", "\\end{tabular}"]
    notes = (caption(evaluation), *evaluation.notes, *_signatures(evaluation))
    lines += [f"% {line}" for line in notes]
    return "\n".join(lines) + "\n"


def to_csv(evaluation: Evaluation) -> str:
    """A line for each score."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(
        [
            *("tokenizer", "metric", "value", "low", "high", "spread", "baseline", "difference"),
            *("difference_low", "difference_high", "p", "signature"),
        ]
    )
    for score in evaluation.scores:
        compared = score.comparison
        differences = [""] * 5
        if compared is not None:
            numbers = (compared.difference, compared.low, compared.high, compared.p)
            differences = [evaluation.baseline, *map(repr, numbers)]
        writer.writerow(
            [
                score.tokenizer,
                score.metric,
                repr(score.value),
                repr(score.low),
                repr(score.high),
                repr(spread(score)) if len(score.runs) > 1 else "",
                *differences,
                score.signature,
            ]
        )
    return file.getvalue()


def to_json(evaluation: Evaluation) -> str:
    """Everything."""
    return json.dumps(evaluation.as_dict(), ensure_ascii=False, indent=1) + "\n"


FORMATS: dict[str, Callable[[Evaluation], str]] = {
    "table": to_terminal,
    "markdown": to_markdown,
    "latex": to_latex,
    "csv": to_csv,
    "json": to_json,
}
