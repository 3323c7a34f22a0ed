r"""Link the tokens of translations, or their words, with each other.

for example:
  pairpiece align it-fr/ --source test.fr -i test.it > test.links
  pairpiece align it-fr/ --source test.fr -i test.it --output-format json | head -1
  pairpiece align it-fr/ --source test.fr -i test.it --words | \
      pairpiece encode it-fr/ -i test.it --source test.fr --alignment -

Token links come from the model.  Word links (--words) come from Eflomal, which needs a text of some
size or the priors of the training (train --keep-priors).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

from pairpiece.commands.line_streams import add_stream_arguments, batches, output_stream
from pairpiece.errors import OptionError
from pairpiece.links.symmetrization import SYMMETRIZATIONS
from pairpiece.model.tokenizer import Tokenizer, load
from pairpiece.model.word_links import word_links


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
    parser.add_argument("--min-score", type=float, default=0.0, metavar="P", help="of a token link")
    parser.add_argument("--words", action="store_true", help="link words, with Eflomal")
    parser.add_argument(
        "--symmetrization", choices=list(SYMMETRIZATIONS), default="grow-diag-final-and"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of Eflomal")


def run(options: argparse.Namespace) -> None:
    """Write the links of each line."""
    tokenizer = load(options.model)
    if options.words and options.output_format == "json":
        raise OptionError("word links are written as Pharaoh lines only")
    links = _word_links if options.words else _token_links
    with output_stream(options.output) as output:
        for line in links(tokenizer, options):
            output.write(line + "\n")


def _pairs(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    for sources, targets in batches(options.source, options.input):
        yield from zip(sources, targets, strict=True)


def _token_links(tokenizer: Tokenizer, options: argparse.Namespace) -> Iterator[str]:
    for source, target in _pairs(options):
        found = tokenizer.align(source, target, min_score=options.min_score)
        if options.output_format == "pharaoh":
            yield found.pharaoh()
        else:
            yield json.dumps(vars(found), ensure_ascii=False)


def _word_links(tokenizer: Tokenizer, options: argparse.Namespace) -> Iterator[str]:
    found = word_links(
        tokenizer,
        _pairs(options),
        symmetrization=options.symmetrization,
        seed=options.seed,
        num_threads=options.threads,
    )
    for links in found:
        yield " ".join(f"{source}-{target}" for source, target in links)
