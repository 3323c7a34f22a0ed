r"""Link the tokens of translations, or their words, with each other.

for example:
  pairpiece align it-fr/ --source test.fr -i test.it > test.links
  pairpiece align it-fr/ --source test.fr -i test.it --scores test.probs --min-score 0.5
  pairpiece align it-fr/ --source test.fr -i test.it --output-format json | head -1
  pairpiece align it-fr/ --source test.fr -i test.it --words | \
      pairpiece encode it-fr/ -i test.it --source test.fr --alignment -

Token links come from the model.  The score of a link is p(t|s): of all that the source token goes
with among the pieces of this target text, the share of the piece that it is linked to.  Above 0.5
that is more than of all others together.  docs/exports.md says more.

Word links (--words) come from Eflomal, which needs a text of some size or the priors of the
training (train --keep-priors), and have no scores.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Iterator

from pairpiece.commands.line_streams import add_stream_arguments, batches, output_stream
from pairpiece.errors import OptionError
from pairpiece.links.symmetrization import SYMMETRIZATIONS
from pairpiece.model.encoding import check_seed, check_threads
from pairpiece.model.tokenizer import Tokenizer, load
from pairpiece.model.word_links import word_links
from pairpiece.options import check_between


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    add_stream_arguments(parser, "target text")
    parser.add_argument("--source", metavar="FILE", required=True, help="source text, line by line")
    parser.add_argument(
        "--output-format",
        choices=("pharaoh", "json"),
        default="pharaoh",
        help="json: one object per line with source_tokens, target_tokens, links and scores",
    )
    parser.add_argument(
        "--scores",
        metavar="FILE",
        help="write the scores of the links there, line by line and in the order of the links",
    )
    parser.add_argument(
        "--min-score",
        type=float,
        metavar="P",
        help="leave out token links whose score is not above this, from 0 to 1; default: 0",
    )
    parser.add_argument("--words", action="store_true", help="link words, with Eflomal")
    parser.add_argument(
        "--symmetrization", choices=list(SYMMETRIZATIONS), default="grow-diag-final-and"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of Eflomal")


def run(options: argparse.Namespace) -> None:
    """Write the links of each line."""
    check_threads(options.threads)
    check_seed(options.seed)
    if options.min_score is not None:
        check_between("min_score", options.min_score, 0, 1)
    tokenizer = load(options.model)
    if options.words:
        _check_words(options)
    if options.scores is not None and options.scores == (options.output or "-"):
        raise OptionError("links and scores cannot go to the same place: name a file with --scores")
    links = _word_links if options.words else _token_links
    with contextlib.ExitStack() as streams:
        scores = None
        if options.scores is not None:
            scores = streams.enter_context(output_stream(options.scores))
        output = streams.enter_context(output_stream(options.output))
        for line, probabilities in links(tokenizer, options):
            output.write(line + "\n")
            if scores is not None:
                scores.write(probabilities + "\n")


def _check_words(options: argparse.Namespace) -> None:
    """Raise an `OptionError` for what word links do not have."""
    if options.output_format == "json":
        raise OptionError("word links are written as Pharaoh lines only")
    for name, value in (("--scores", options.scores), ("--min-score", options.min_score)):
        if value is not None:
            raise OptionError(
                f"{name} is for token links: Eflomal tells how likely a sentence pair is, but not "
                f"each of its links; leave out {name} or --words"
            )


def _pairs(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    for sources, targets in batches(options.source, options.input):
        yield from zip(sources, targets, strict=True)


def _token_links(tokenizer: Tokenizer, options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """A line of links and one of scores for each pair."""
    for source, target in _pairs(options):
        found = tokenizer.align(source, target, min_score=options.min_score or 0.0)
        if options.output_format == "pharaoh":
            yield found.pharaoh(), found.probabilities()
        else:
            yield json.dumps(vars(found), ensure_ascii=False), found.probabilities()


def _word_links(tokenizer: Tokenizer, options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    found = word_links(
        tokenizer,
        _pairs(options),
        symmetrization=options.symmetrization,
        seed=options.seed,
        num_threads=options.threads,
    )
    for links in found:
        yield " ".join(f"{source}-{target}" for source, target in links), ""
