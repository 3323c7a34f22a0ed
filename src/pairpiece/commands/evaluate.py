r"""Measure tokenizers on the same text, and compare them.

for example:
  pairpiece evaluate --source test.fr --target test.it --tokenizer it-fr/ --tokenizer it.model
  pairpiece evaluate --source test.fr --target test.it --dev-source dev.fr --dev-target dev.it \
      --tokenizer base=it.model --tokenizer ours=it-fr/@aligned --report report.html
  pairpiece evaluate --target test.it --tokenizer it.model --tokenizer bert/tokenizer.json \
      --format latex

A PairPiece model is measured target only, with source and, as a control, with a wrong source;
model/@marginal, @paired, @aligned (with word links by Eflomal), @wrong and @bigram say which.
name=path gives a name.  pretokenized:FILE has the tokens of the target text, separated by spaces.
The first tokenizer is the one others are compared with, unless --baseline names another.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pairpiece import evaluation, files
from pairpiece.commands.console import progress_bar, say
from pairpiece.commands.line_streams import at_a_terminal, output_stream
from pairpiece.evaluation import figures, report
from pairpiece.evaluation.aligned import ALIGNERS, EFLOMAL
from pairpiece.evaluation.formats import FORMATS, to_terminal
from pairpiece.links.symmetrization import SYMMETRIZATIONS

_ARGUMENTS = (
    *(
        "source_tokenizer",
        "source_language",
        "target_language",
        "dev_target",
        "dev_source",
        "other_languages",
        "baseline",
        "metrics",
    ),
    *("align", "aligner", "control", "runs", "symmetrization", "renyi_power", "resamples", "seed"),
)
"""Options that are arguments of `pairpiece.evaluate`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument(
        "--tokenizer",
        action="append",
        required=True,
        metavar="[NAME=]PATH",
        help="PairPiece model, SentencePiece .model, tokenizer.json, Hugging Face directory, or "
        "pretokenized:FILE; say it once for each",
    )
    text = parser.add_argument_group("text, a sentence on each line")
    text.add_argument("--target", required=True, metavar="FILE", help="to be tokenized")
    text.add_argument("--source", metavar="FILE", help="its source, for parity and alignment")
    text.add_argument(
        "--source-tokenizer", metavar="PATH", help="default: that of the first PairPiece model"
    )
    for side in ("source", "target"):
        text.add_argument(
            f"--{side}-language",
            metavar="NAME",
            help="for the title of the report; default: as the file is called, test.fr is fr",
        )
    text.add_argument("--dev-target", metavar="FILE", help="text for the priors of the aligner")
    text.add_argument("--dev-source", metavar="FILE", help="its source")
    text.add_argument(
        "--other-language",
        dest="other_languages",
        action="append",
        default=[],
        metavar="FILE",
        help="the text in a further language, for gini; say it once for each",
    )
    how = parser.add_argument_group("how")
    how.add_argument("--baseline", metavar="NAME", help="default: the first tokenizer")
    how.add_argument(
        "--metric", dest="metrics", action="append", metavar="NAME", help="default: all"
    )
    how.add_argument("--no-align", dest="align", action="store_false", help="without an aligner")
    how.add_argument("--aligner", choices=ALIGNERS, default=EFLOMAL, help="default eflomal")
    how.add_argument(
        "--no-control",
        dest="control",
        action="store_false",
        help="do not measure with the source of another sentence of the same length as well",
    )
    how.add_argument("--runs", type=int, default=3, metavar="N", help="of Eflomal, default 3")
    how.add_argument(
        "--symmetrization", choices=list(SYMMETRIZATIONS), default="grow-diag-final-and"
    )
    how.add_argument("--renyi-power", type=float, default=3.0, metavar="X", help="default 3")
    how.add_argument("--resamples", type=int, default=1000, metavar="N", help="default 1000")
    how.add_argument("--seed", type=int, default=0, metavar="N")
    out = parser.add_argument_group("results")
    out.add_argument("--format", choices=list(FORMATS), default="table")
    out.add_argument("-o", "--output", default="-", metavar="FILE", help="default: stdout")
    out.add_argument("--report", type=Path, metavar="FILE.html", help="a page to look at")
    out.add_argument(
        "--figures", type=Path, metavar="DIR", help="the charts as .svg, .pdf and .png"
    )
    out.add_argument("-q", "--quiet", action="store_true", help="no progress bars")


def run(options: argparse.Namespace) -> None:
    """Measure, and write what was asked for."""
    if options.report is not None or options.figures is not None:
        figures.check_installed()
    how = {name: getattr(options, name) for name in _ARGUMENTS}
    with progress_bar(options.quiet) as advance:
        found = evaluation.evaluate(
            options.tokenizer, options.target, options.source, advance=advance, **how
        )
    if options.report is not None:
        files.write(options.report, report.html(found).encode("utf-8"))
        say(f"{options.report}: the report")
    if options.figures is not None:
        options.figures.mkdir(parents=True, exist_ok=True)
        drawn = figures.files_for(found)
        files.write_all({options.figures / name: content for name, content in drawn.items()})
    if options.format == "table" and options.output == "-" and at_a_terminal():
        print(to_terminal(found, bold=True), end="")
        return
    with output_stream(options.output) as output:
        output.write(FORMATS[options.format](found))
