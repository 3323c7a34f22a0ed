"""What the commands that train models, ``lm`` and ``mt``, have in common."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pairpiece.commands.assignments import assignment
from pairpiece.commands.console import progress_bar, say
from pairpiece.commands.line_streams import at_a_terminal, output_stream
from pairpiece.downstream import Results
from pairpiece.downstream.settings import PRESETS
from pairpiece.evaluation.formats import FORMATS, to_terminal

_ARGUMENTS = (
    *("output", "source_tokenizer", "baseline", "preset", "seeds", "seed", "jobs", "threads"),
    *("device", "resamples"),
)
"""Options that are arguments of both experiments."""


def add_tokenizers(
    parser: argparse.ArgumentParser, *, required: bool = True
) -> argparse._ArgumentGroup:
    """The tokenizers to compare; returns a group for the text."""
    parser.add_argument(
        "--tokenizer",
        action="append",
        required=required,
        default=None if required else [],
        metavar="[NAME=]PATH",
        help="of the target language: PairPiece model, SentencePiece .model, tokenizer.json or "
        "Hugging Face directory; say it once for each",
    )
    parser.add_argument(
        "--source-tokenizer", metavar="PATH", help="default: that of the first PairPiece model"
    )
    return parser.add_argument_group("text, a sentence on each line")


def add_options(parser: argparse.ArgumentParser, settings: type) -> None:
    """How to train, and what to write."""
    how = parser.add_argument_group("how")
    how.add_argument(
        "--preset",
        choices=PRESETS,
        default="tiny",
        help="tiny: minutes on a CPU (the default); small: hours on a CPU; paper: the "
        "paper's settings, for a GPU",
    )
    how.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"any field of {settings.__name__}, e.g. --set examples=50000 --set layers=3",
    )
    how.add_argument("--seeds", type=int, default=3, metavar="N", help="models each, default 3")
    how.add_argument("--seed", type=int, default=1, metavar="N", help="the first one, default 1")
    how.add_argument("--baseline", metavar="NAME", help="default: the first tokenizer")
    how.add_argument("--resamples", type=int, default=1000, metavar="N", help="default 1000")
    how.add_argument(
        "--device", default="auto", help="cpu, cuda, …; default: a GPU if there is one"
    )
    how.add_argument("--jobs", type=int, metavar="N", help="models at a time; default: all cores")
    how.add_argument("--threads", type=int, default=1, metavar="N", help="for each, default 1")
    out = parser.add_argument_group("results")
    out.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="DIR",
        help="results.json, results.md, the learning curves, and every model",
    )
    out.add_argument("--format", choices=list(FORMATS), default="table")
    out.add_argument("-q", "--quiet", action="store_true", help="no progress bars")


@contextmanager
def progress(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The arguments that both experiments take, with a bar that shows how far they are."""
    with progress_bar(options.quiet) as advance:
        given = {name: getattr(options, name) for name in _ARGUMENTS}
        yield {**given, "advance": advance, **changes(options)}


def changes(options: argparse.Namespace) -> dict[str, Any]:
    """The settings that replace those of the preset."""
    return dict(map(assignment, options.set))


def show(results: Results, options: argparse.Namespace) -> None:
    """Print the table, and say where the rest is."""
    if options.format == "table" and at_a_terminal():
        print(to_terminal(results.evaluation, bold=True), end="")
    else:
        as_json = options.format == "json"
        with output_stream(None) as output:
            output.write(
                results.to_json() if as_json else FORMATS[options.format](results.evaluation)
            )
    say(f"{options.output}: results.json, results.md, curves, models")
