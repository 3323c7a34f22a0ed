"""Charts of an evaluation, drawn with matplotlib: for a page, and as files for papers."""

from __future__ import annotations

import io
import re
import textwrap
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from pairpiece.errors import OptionError
from pairpiece.evaluation.formats import title
from pairpiece.evaluation.scores import Described, Evaluation, Score
from pairpiece.evaluation.tokenized import Resample, Tokenized, bare

# Okabe and Ito's colours, which people with any kind of colour vision tell apart.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8A7A00", "#777777")
MARKERS = "osD^vP*X"
_INK = "#010203"  # stands for the colour of the text around


@dataclass(frozen=True)
class Chart:
    """A drawing with what it is called and the metrics it shows."""

    name: str
    caption: str
    metrics: tuple[str, ...]
    figure: Any

    def signatures(self, evaluation: Evaluation) -> list[str]:
        """How the numbers in it came about."""
        if not self.metrics:
            return [
                f"{self.name}|tokenizer:{text.system.digest}|data:{text.text.digest}"
                for text in evaluation.tokenized
            ]
        return [score.signature for score in evaluation.scores if score.metric in self.metrics]


def check_installed() -> None:
    """Raise an `OptionError` that says how to install what drawing needs."""
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise OptionError(
            f'reports and figures need {error.name}: pip install "pairpiece[report]"'
        ) from None


def charts(evaluation: Evaluation) -> list[Chart]:
    """Those that there are numbers for."""
    drawn = []
    with styled():
        for draw in (_lengths, _alignment, _token_lengths, _ranks):
            chart = draw(evaluation)
            if chart is not None:
                drawn.append(chart)
    return drawn


_STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "pairpiece",  # the same bytes every time
    "pdf.fonttype": 42,
}


def styled() -> Any:
    """A context in which drawings look like ours."""
    import matplotlib as mpl

    return mpl.rc_context(_STYLE)


def panels(number: int, width: float = 4.5, height: float = 4.0) -> tuple[Any, list[Any]]:
    """A drawing with so many panels beside each other, on one scale."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.5 + width * number, height), layout="constrained")
    return figure, list(figure.subplots(1, number, sharey=True, squeeze=False)[0])


def _axes(width: float = 6.0, height: float = 4.0) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def label(name: str) -> str:
    """A name that matplotlib takes for nothing but text."""
    return (f" {name}" if name.startswith("_") else name).replace("$", r"\$")


def colour(i: int) -> str:
    """That of the i-th tokenizer."""
    return COLOURS[i % len(COLOURS)]


def _lengths(evaluation: Evaluation) -> Chart | None:
    names = ("fertility", "parity")
    shown = [metric for metric in evaluation.shown_metrics() if metric.name in names]
    if len(shown) < len(names):
        return None
    return Chart(
        "fertility-parity",
        "Fertility (tokens per word) and parity (target per source token), lower is better; "
        "lines are 95 % intervals" + _arrows(evaluation, shown),
        names,
        _dots(evaluation, shown, lambda score: (score.low, score.high)),
    )


def _alignment(evaluation: Evaluation) -> Chart | None:
    shown = [m for m in evaluation.shown_metrics() if m.name in ("one_to_one", "unaligned")]
    if not shown:
        return None
    return Chart(
        "alignment",
        "Shares of source tokens linked one to one (more is better) and not linked (fewer is "
        "better); lines are the range over runs of the aligner" + _arrows(evaluation, shown),
        tuple(metric.name for metric in shown),
        _dots(evaluation, shown, lambda score: (min(score.runs), max(score.runs))),
    )


def _values(evaluation: Evaluation, metric: Described) -> list[float]:
    return [score.value for score in evaluation.scores if score.metric == metric.name]


def _arrows(evaluation: Evaluation, metrics: list[Described]) -> str:
    """What they mean, if there are any, and the end of the sentence."""
    for values in (_values(evaluation, metric) for metric in metrics):
        if window(values) != (min(values), max(values)):
            return "; an arrow stands for a value beyond the end of the axis."
    return "."


def _dots(
    evaluation: Evaluation,
    metrics: list[Described],
    interval: Callable[[Score], tuple[float, float]],
) -> Any:
    """A panel for each metric and a row for each tokenizer, so that no point hides another."""
    names = evaluation.tokenizers
    figure, panels_ = panels(len(metrics), width=2.25, height=1.0 + 0.3 * len(names))
    for metric, axes in zip(metrics, panels_, strict=True):
        found = [(i, evaluation.score(name, metric.name)) for i, name in enumerate(names)]
        scores = {i: score for i, score in found if score is not None}
        low, high = window(_values(evaluation, metric))
        for i, score in scores.items():
            if low <= score.value <= high:
                axes.plot(interval(score), (i, i), color=colour(i), linewidth=2)
                axes.plot(score.value, i, MARKERS[i % len(MARKERS)], color=colour(i), markersize=7)
        axes.margins(x=0.1)
        left, right = axes.get_xlim()
        axes.set_xlim(left, right)
        for i, score in scores.items():
            if not low <= score.value <= high:
                end, arrow = (left, "<") if score.value < low else (right, ">")
                axes.plot(end, i, arrow, color=colour(i), markersize=8, clip_on=False)
        axes.set_title(title(metric), fontsize=10)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_yticks(range(len(names)), map(_row_label, names))
        axes.locator_params("x", nbins=4)
        axes.grid(axis="y", linestyle=":", color=_INK, alpha=0.35)
        axes.spines["left"].set_visible(False)
        axes.tick_params("y", length=0)
        values = axes.secondary_yaxis("right")
        values.set_yticks(list(scores), [f"{s.value:,.{metric.digits}f}" for s in scores.values()])
        values.tick_params(length=0, pad=8)
        values.spines["right"].set_visible(False)
    return figure


def window(values: list[float]) -> tuple[float, float]:
    """From where to where an axis goes: all values, unless a few are far off from most.

    They are if between them and the others most of the axis would be empty.
    """
    ordered = sorted(values)
    gaps = [b - a for a, b in pairwise(ordered)]
    if len(ordered) < 3 or max(gaps) <= (ordered[-1] - ordered[0]) * 2 / 3:
        return ordered[0], ordered[-1]
    cut = gaps.index(max(gaps)) + 1
    if 2 * cut == len(ordered):
        return ordered[0], ordered[-1]
    most = max(ordered[:cut], ordered[cut:], key=len)
    return most[0], most[-1]


def _row_label(name: str) -> str:
    """At most two lines beside a row."""
    return label("\n".join(textwrap.wrap(name, 26, max_lines=2, placeholder="…")) or name)


def _curves(
    evaluation: Evaluation, points: Callable[[Tokenized], tuple[Any, Any]], x: str, y: str
) -> tuple[Any, Any]:
    figure, axes = _axes()
    styles = ("-", "--", "-.", ":")
    for i, text in enumerate(evaluation.tokenized):
        style = styles[i // len(COLOURS) % len(styles)]
        axes.plot(
            *points(text), style, color=colour(i), label=label(text.system.name), linewidth=1.6
        )
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    return figure, axes


def _token_lengths(evaluation: Evaluation) -> Chart:
    def points(text: Tokenized) -> tuple[Any, Any]:
        lengths = np.array([min(len(bare(token)), 16) for token in text.types], int)
        found = np.bincount(lengths[text.token_ids], minlength=17)
        return np.arange(17), found / max(1, found.sum())

    figure, axes = _curves(
        evaluation, points, "characters of a token, ▁ not counted (16: or more)", "share of tokens"
    )
    axes.set_xticks(range(0, 17, 2))
    return Chart("token-lengths", "How long tokens are.", (), figure)


def _ranks(evaluation: Evaluation) -> Chart:
    def points(text: Tokenized) -> tuple[Any, Any]:
        frequent = np.sort(Resample(text).counts)[::-1]
        return np.arange(1, len(frequent) + 1), frequent

    figure, axes = _curves(evaluation, points, "rank", "frequency")
    axes.set(xscale="log", yscale="log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,.0f}")
    return Chart("rank-frequency", "How often tokens occur, by rank.", (), figure)


# ---------------------------------------------------------------------- files


def svg_for_page(chart: Chart) -> str:
    """The drawing as SVG that takes its ink from the page around it, light or dark."""
    content = rendered(chart.figure, "svg", transparent=True).decode("utf-8")
    content = content[content.index("<svg") :]
    content = re.sub(r' width="[\d.]+pt" height="[\d.]+pt"', "", content, count=1)
    content = content.replace(_INK, "currentColor")

    # Ids are unique in a drawing; on a page with several they have to be made so.
    def unique(tag: re.Match[str]) -> str:
        return re.sub(r'( id="|url\(#|href="#)', rf"\g<1>{chart.name}-", tag[0])

    content = re.sub("<[^<>]*>", unique, content)
    label = f'<svg role="img" aria-label="{chart.caption}" '
    return content.replace("<svg ", label, 1)


def files_for(evaluation: Evaluation) -> dict[str, bytes]:
    """Every chart as ``.svg``, ``.pdf`` and ``.png``."""
    return {
        f"{chart.name}.{kind}": rendered(chart.figure, kind)
        for chart in charts(evaluation)
        for kind in ("svg", "pdf", "png")
    }


_NO_DATE: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "png": {"Software": None},
}


def rendered(figure: Any, kind: str, transparent: bool = False) -> bytes:
    """A drawing as the content of a file, the same bytes every time."""
    file = io.BytesIO()
    with styled(), warnings.catch_warnings():
        # A font may lack the characters of a name; in a page the browser has another.
        warnings.filterwarnings("ignore", "Glyph .* missing")
        figure.savefig(file, format=kind, dpi=200, transparent=transparent, metadata=_NO_DATE[kind])
    return file.getvalue()
