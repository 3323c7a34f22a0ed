"""Train on the sample corpus, French to Italian, and compare with SentencePiece.

for example:
  pairpiece demo
  pairpiece demo --output it-fr/ --vocab-size 2000

Takes less than a minute.  The last tenth of the sample is held out and measured.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from pairpiece import files
from pairpiece.commands.console import Terminal, reporter_for
from pairpiece.commands.side_by_side import side_by_side
from pairpiece.corpus import sample
from pairpiece.evaluation.parallel_text import ParallelText
from pairpiece.evaluation.token_links import token_links
from pairpiece.foreign.protocol import flat
from pairpiece.foreign.sentencepiece_training import train_sentencepiece
from pairpiece.links.eflomal import Eflomal
from pairpiece.model.opening import open_tokenizer
from pairpiece.model.tokenizer import Tokenizer
from pairpiece.options import check_size
from pairpiece.run import pipeline
from pairpiece.run.job import prepare
from pairpiece.terminal import visible

HELD_OUT = 600  # sentence pairs at the end of the sample


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="keep the model here")
    parser.add_argument("--vocab-size", type=int, default=1500, metavar="N", help="default 1500")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress bars")


def run(options: argparse.Namespace) -> None:
    """Train both modes and SentencePiece, measure, and show."""
    check_size("vocab_size", options.vocab_size)
    Eflomal.check_installed()
    started = time.monotonic()
    console = Terminal(soft_wrap=True)
    sources = list(files.lines(sample.FRENCH))
    targets = list(files.lines(sample.ITALIAN))
    console.print(
        f"The sample: {len(sources):,} French sentences and their Italian translations, in\n"
        f"{escape(visible(str(sample.FRENCH.parent)))}\n"
    )
    with tempfile.TemporaryDirectory(prefix="pairpiece-demo-") as work:
        model = _train(sources, targets, options, "default", work)
        paper = _train(sources, targets, options, "paper", work)
    peer = train_sentencepiece(targets[:-HELD_OUT], options.vocab_size)
    wrong = ParallelText(targets, sources).wrong_sources
    ways = {
        "SentencePiece": [flat(peer, text) for text in targets],
        "paper, target only": paper.encode_batch(targets, out_type=str),
        "paper, with source": paper.encode_batch(targets, sources, out_type=str),
        "default, target only": model.encode_batch(targets, out_type=str),
        "default, with source": model.encode_batch(targets, sources, out_type=str),
        "default, wrong source": model.encode_batch(targets, wrong, out_type=str),
    }
    source_tokenizer = open_tokenizer(model.source_tokenizer)
    source_tokens = [flat(source_tokenizer, text) for text in sources]
    title = f"Held-out text, {options.vocab_size:,} pieces"
    console.print(_measured(ways, source_tokens, targets, title))
    console.print(
        "one-to-one: French tokens linked with one Italian token that is linked with no other;\n"
        "link F: links that both directions of Eflomal agree on, in proportion to all tokens.\n"
        "Wrong source, a control: the French of another sentence of about the same length.\n"
    )
    console.print("Each Italian token in the colour of the French token it goes with:\n")
    held_out = zip(sources[-HELD_OUT:], targets[-HELD_OUT:], strict=True)
    for source, target in pipeline.middling(held_out):
        for line in side_by_side(model, source, target, console.color_system):
            console.print(line)
        console.print()
    if options.output is not None:
        model.save(options.output)
        console.print(f"The model is in {escape(visible(str(options.output)))}.")
    console.print(
        f"{time.monotonic() - started:.0f} seconds. With your own files, line n of one the "
        f"translation of line n of the other:\n\n"
        f"  pairpiece train --source train.fr --target train.it --vocab-size 8000 --output it-fr/"
    )


def _measured(
    ways: dict[str, list[list[str]]], sources: list[list[str]], targets: list[str], title: str
) -> Table:
    """How the tokens of each way to tokenize the targets go with the source tokens."""
    words = sum(len(text.split()) for text in targets[-HELD_OUT:])
    table = Table(
        *("", "tokens per word", "one-to-one", "link F"),
        title=title,
        title_justify="left",
        box=SIMPLE_HEAD,
    )
    for name, tokens in ways.items():
        fertility = sum(len(row) for row in tokens[-HELD_OUT:]) / words
        linked = token_links(sources, tokens, HELD_OUT)
        style = "bold" if name.startswith("default") else ""
        shares = [f"{share:.1%}" for share in linked]
        table.add_row(name, f"{fertility:.3f}", *shares, style=style)
    return table


def _train(
    sources: list[str], targets: list[str], options: argparse.Namespace, mode: str, work: str
) -> Tokenizer:
    pairs = zip(sources[:-HELD_OUT], targets[:-HELD_OUT], strict=True)
    job = prepare(corpus=pairs, vocab_size=options.vocab_size, mode=mode)
    reporter = reporter_for("text", options.quiet)
    return pipeline.run(job, work_dir=work, reporter=reporter).tokenizer
