"""Learn a tokenizer from raw parallel text.

for example:
  pairpiece train --source train.fr --target train.it --vocab-size 8000 --output it-fr/
  pairpiece train --corpus memory.tmx.gz --source-column fr --target-column it --output it-fr/
  pairpiece train --source fr.po --target it.po --source-tokenizer llama/tokenizer.json -o it-fr/

A run that was stopped goes on where it was when it is started again.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import Any

from pairpiece.commands.assignments import assignment
from pairpiece.commands.console import reporter_for
from pairpiece.commands.json_log import JsonReporter, stage_facts
from pairpiece.commands.summary import print_summary
from pairpiece.corpus.reading import FORMATS
from pairpiece.errors import OptionError
from pairpiece.learning.options import MODES
from pairpiece.learning.plan import DEFAULT_SIZE
from pairpiece.links.eflomal import TRAINING_LENGTH
from pairpiece.links.symmetrization import SYMMETRIZATIONS
from pairpiece.model.saving import check_destination, check_no_other
from pairpiece.options import LengthPenalty
from pairpiece.run import pipeline
from pairpiece.run.job import CHOICES, LINKS_BETWEEN, Job, prepare

_CHOICES = {field.name for choice in CHOICES for field in dataclasses.fields(choice)} | {"mode"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    _add_text(parser.add_argument_group("text"))
    _add_model(parser.add_argument_group("model"))
    _add_source_tokenizer(parser.add_argument_group("source tokenizer"))
    _add_alignment(parser.add_argument_group("word alignment"))
    _add_running(parser.add_argument_group("running"))


def _add_text(text: argparse._ArgumentGroup) -> None:
    text.add_argument("--source", nargs="+", metavar="FILE", help="text of the language you have")
    text.add_argument("--target", nargs="+", metavar="FILE", help="its translation, line by line")
    text.add_argument(
        "--corpus",
        nargs="+",
        metavar="FILE",
        help="files with both sides: .tsv .jsonl .parquet .tmx .po; - reads TSV from stdin",
    )
    text.add_argument(
        "--dev-source",
        nargs="+",
        metavar="FILE",
        help="text like that to tokenize: fit the number of tokens to it",
    )
    text.add_argument("--dev-target", nargs="+", metavar="FILE", help="its translation")
    text.add_argument("--format", choices=FORMATS, help="if the suffix does not tell")
    text.add_argument("--source-column", metavar="NAME", help="column (TSV: number; TMX: language)")
    text.add_argument("--target-column", metavar="NAME", help="column of the target side")
    text.add_argument("--max-lines", type=int, metavar="N", help="use a random sample of N pairs")
    text.add_argument("--strict", action="store_true", help="stop at what is only a warning")


def _add_model(model: argparse._ArgumentGroup) -> None:
    model.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="the model")
    model.add_argument("--vocab-size", type=int, metavar="N", help=f"default {DEFAULT_SIZE}")
    model.add_argument(
        "--vocabulary",
        metavar="PATH",
        help="keep the pieces and ids of this tokenizer and learn what they translate: "
        "SentencePiece .model, tokenizer.json, Hugging Face directory or PairPiece model",
    )
    model.add_argument(
        "--start-from", metavar="PATH", help="choose the new pieces among those of this tokenizer"
    )
    model.add_argument("--mode", choices=MODES, default="default")
    model.add_argument(
        "--balance",
        type=float,
        metavar="X",
        help="tokens to make, in proportion to a plain unigram tokenizer: less for compression, "
        "more for alignment; not given, pieces decide",
    )
    model.add_argument("--seed", type=int, default=0, metavar="N")
    model.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any field of TextOptions and LearningOptions, e.g. --set max_piece_length=12",
    )


def _add_source_tokenizer(source: argparse._ArgumentGroup) -> None:
    source.add_argument(
        "--source-tokenizer",
        metavar="PATH",
        help="SentencePiece .model, tokenizer.json, Hugging Face directory, PairPiece model, or "
        "'pretokenized'; without it a SentencePiece unigram model is trained",
    )
    source.add_argument("--source-vocab-size", type=int, metavar="N", help="default: --vocab-size")


def _add_alignment(links: argparse._ArgumentGroup) -> None:
    links.add_argument(
        "--align",
        default="eflomal",
        metavar="HOW",
        help="eflomal (default), none, or a Pharaoh file with links made elsewhere",
    )
    links.add_argument(
        "--links-between",
        choices=LINKS_BETWEEN,
        default="words",
        help="what the numbers in the Pharaoh file count: words as pairpiece splits text "
        "(default), or what stands between spaces",
    )
    links.add_argument(
        "--symmetrization", choices=list(SYMMETRIZATIONS), default="grow-diag-final-and"
    )
    links.add_argument("--samplers", type=int, default=1, metavar="N", help="of Eflomal, default 1")
    links.add_argument(
        "--aligner-length",
        type=float,
        default=TRAINING_LENGTH,
        metavar="X",
        help=f"iterations of Eflomal, in proportion to its own number; default {TRAINING_LENGTH}",
    )
    links.add_argument(
        "--keep-priors", action="store_true", help="keep what is needed to align new text alike"
    )


def _add_running(work: argparse._ArgumentGroup) -> None:
    work.add_argument(
        "--threads", dest="num_threads", type=int, metavar="N", help="default: all processors"
    )
    work.add_argument("--work-dir", type=Path, metavar="DIR", help="keep results of stages here")
    work.add_argument("--no-cache", action="store_true", help="keep none and use none")
    work.add_argument("-q", "--quiet", action="store_true", help="only warnings and errors")
    work.add_argument("--log-format", choices=("text", "json"), default="text")


def run(options: argparse.Namespace) -> None:
    """Train, save and say what was done."""
    reporter = reporter_for(options.log_format, options.quiet)
    if options.no_cache and options.work_dir is not None:
        raise OptionError("--no-cache keeps no results, so --work-dir has no use: leave one out")
    job = _job(options)
    check_destination(options.output)
    check_no_other(options.output)
    finished = pipeline.run(
        job, work_dir=options.work_dir, cache=not options.no_cache, reporter=reporter
    )
    finished.tokenizer.save(options.output)
    if isinstance(reporter, JsonReporter):
        stages = [stage_facts(stage) for stage in finished.stages]
        reporter.write("summary", model=str(options.output), stages=stages)
    elif not options.quiet:
        print_summary(finished, options.output)


def _job(options: argparse.Namespace) -> Job:
    chosen = {name: value for name, value in vars(options).items() if name in _CHOICES}
    return prepare(**chosen, **dict(map(_assignment, options.set)))


def _assignment(text: str) -> tuple[str, Any]:
    """An option of learning."""
    name, value = assignment(text)
    if name in _CHOICES - {"hard_vocab_limit", "memory_limit"}:
        own = name.removeprefix("num_").replace("_", "-")
        raise OptionError(f"--set {text}: this has an option of its own, --{own}")
    if name.endswith("length_penalty"):
        if not isinstance(value, list) or len(value) != 3:
            raise OptionError(f"--set {text}: expected {name}=[over,under,unlinked]")
        return name, LengthPenalty(*value)
    return name, value
