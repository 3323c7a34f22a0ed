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
import gzip
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pairpiece import storage
from pairpiece.commands.line_streams import (
    add_stream_arguments,
    batches,
    check_one_standard_input,
    input_lines,
    input_name,
    output_stream,
)
from pairpiece.errors import CorpusError, OptionError
from pairpiece.source_tokenizers import words_to_align
from pairpiece.symmetrization import SYMMETRIZATIONS
from pairpiece.tokenizer import Tokenizer
from pairpiece.word_aligner import Eflomal, for_aligner, symmetrized_links

MAX_PRIORS_BYTES = 2**32


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
    tokenizer = storage.load(options.model)
    if options.words and options.output_format == "json":
        raise OptionError("word links are written as Pharaoh lines only")
    links = _word_links if options.words else _token_links
    with output_stream(options.output) as output:
        for line in links(tokenizer, options):
            output.write(line + "\n")


def _pairs(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    check_one_standard_input(options.source, options.input)
    names = [input_name(options.source), input_name(options.input)]
    for sources, targets in batches(
        input_lines(options.source), input_lines(options.input), names=names
    ):
        yield from zip(sources, targets, strict=True)


def _token_links(tokenizer: Tokenizer, options: argparse.Namespace) -> Iterator[str]:
    for source, target in _pairs(options):
        found = tokenizer.align(source, target, min_score=options.min_score)
        if options.output_format == "pharaoh":
            yield found.pharaoh()
        else:
            yield json.dumps(vars(found), ensure_ascii=False)


def _word_links(tokenizer: Tokenizer, options: argparse.Namespace) -> Iterator[str]:
    if tokenizer.source_tokenizer is None:
        raise OptionError("this model knows no source tokenizer, so it cannot find source words")
    with tempfile.TemporaryDirectory(prefix="pairpiece-") as name:
        folder = Path(name)
        with (
            (folder / "source.words").open("w", encoding="utf-8") as sources,
            (folder / "target.words").open("w", encoding="utf-8") as targets,
        ):
            for source, target in _pairs(options):
                words = words_to_align(tokenizer.source_tokenizer, source)
                sources.write(for_aligner(words) + "\n")
                targets.write(for_aligner(tokenizer.words(target)) + "\n")
        if (folder / "source.words").stat().st_size == 0:
            return
        priors = _priors(tokenizer, folder)
        aligner = Eflomal(seed=options.seed)
        aligner.align(folder, priors=priors, num_threads=options.threads)
        found = list(symmetrized_links(folder, options.symmetrization))
    for links in found:  # not earlier: whoever reads them may end this process
        yield " ".join(f"{source}-{target}" for source, target in links)


def _priors(tokenizer: Tokenizer, folder: Path) -> Path | None:
    """The priors of the training as a file, if the model has kept them."""
    if tokenizer.priors is None:
        return None
    path = folder / "priors.gz"
    path.write_bytes(tokenizer.priors)
    plain = folder / "priors"
    written = 0
    with gzip.open(path, "rb") as packed, plain.open("wb") as unpacked:
        while chunk := packed.read(2**20):
            written += len(chunk)
            if written > MAX_PRIORS_BYTES:
                raise CorpusError("the priors of this model are larger than any training makes")
            unpacked.write(chunk)
    return plain
