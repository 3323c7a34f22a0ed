"""Tokenize lines of text, alone or with their source sentences.

for example:
  echo "Abbiamo topi" | pairpiece encode it-fr/ --output-format piece
  pairpiece encode it-fr/ -i test.it --source test.fr > test.ids
  pairpiece encode it-fr/ -i big.it.gz -o big.ids --threads 8
  pairpiece encode it-fr/ -i train.it --output-format piece --sample --seed 1 > epoch1.it
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from typing import Any

from pairpiece.commands.line_streams import add_stream_arguments, batches, input_name, output_stream
from pairpiece.errors import CorpusError, OptionError, PairPieceError
from pairpiece.links.pharaoh import parse_links
from pairpiece.model.encoding import Encoding, check_alpha, check_seed, check_threads
from pairpiece.model.tokenizer import Tokenizer, load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    add_stream_arguments(parser, "text to tokenize")
    parser.add_argument("--source", metavar="FILE", help="source sentences, line by line")
    parser.add_argument(
        "--alignment", metavar="FILE", help="word links of each line (Pharaoh); needs --source"
    )
    parser.add_argument(
        "--whole-sentence",
        action="store_true",
        default=None,
        help="condition every word on the whole source sentence, as in the paper; needs --source",
    )
    parser.add_argument(
        "--output-format",
        choices=("id", "piece", "json"),
        default="id",
        help="json: one object per line with ids, pieces, offsets, word_ids and log_prob",
    )
    parser.add_argument("--bigram", action="store_true", help="use the distilled bigram model")
    parser.add_argument(
        "--sample",
        action="store_true",
        help="draw a segmentation of each line at random (subword regularisation)",
    )
    parser.add_argument(
        "--alpha",
        type=float,
        metavar="A",
        help="with --sample: exponent of the probabilities; 1 draws from the model, 0 evenly among "
        "all segmentations (default: 0.1)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="with --sample: another number, another draw, as for each epoch of a training "
        "(default: the model's); line n, counted from 0, is drawn with the seed N + n",
    )
    parser.add_argument("--add-bos", action="store_true", help="begin each line with <s>")
    parser.add_argument("--add-eos", action="store_true", help="end each line with </s>")


_OUT_TYPES: dict[str, type[Any]] = {"id": int, "piece": str, "json": Encoding}


def run(options: argparse.Namespace) -> None:
    """Encode, batch by batch."""
    if options.whole_sentence and options.source is None:
        raise OptionError("--whole-sentence is about the source: name it with --source FILE")
    if options.sample and options.bigram:
        raise OptionError("--sample draws from the model itself: leave --bigram out")
    if not options.sample and (options.alpha is not None or options.seed is not None):
        raise OptionError("--alpha and --seed go with --sample")
    check_threads(options.threads)
    if options.alpha is not None:
        check_alpha(options.alpha)
    if options.seed is not None:
        check_seed(options.seed)
    tokenizer = load(options.model)
    with output_stream(options.output) as output:
        for encoded in _encoded(tokenizer, options):
            output.write("".join(_line(tokens, options.output_format) for tokens in encoded))


def _encoded(tokenizer: Tokenizer, options: argparse.Namespace) -> Iterator[list[Any]]:
    inputs = [options.input, options.source, options.alignment]
    given = [path for i, path in enumerate(inputs) if i == 0 or path is not None]
    encode = tokenizer.sample_batch if options.sample else tokenizer.encode_batch
    done = 0
    for columns in batches(*given):
        lines = list(columns)
        targets = lines.pop(0)
        sources = lines.pop(0) if options.source is not None else None
        alignments = None
        if options.alignment is not None:
            alignments = [
                parse_links(line, f"{input_name(options.alignment)}:{number}")
                for number, line in enumerate(lines.pop(0), done + 1)
            ]
        try:
            yield encode(
                targets,
                sources,
                alignments=alignments,
                out_type=_OUT_TYPES[options.output_format],
                whole_sentence=options.whole_sentence,
                add_bos=options.add_bos,
                add_eos=options.add_eos,
                num_threads=options.threads,
                **_how(tokenizer, options, done),
            )
        except OptionError as error:
            raise _placed(error, input_name(given[-1]), done) from None
        done += len(targets)


def _how(tokenizer: Tokenizer, options: argparse.Namespace, done: int) -> dict[str, Any]:
    """What only encoding, or only sampling, is asked for; `done` lines were drawn already."""
    if not options.sample:
        return {"model": "bigram" if options.bigram else "unigram"}
    seed = tokenizer.state.seed if options.seed is None else options.seed
    alpha = {} if options.alpha is None else {"alpha": options.alpha}
    return {"seed": (seed + done) % 2**64, **alpha}


def _placed(error: OptionError, name: str, done: int) -> PairPieceError:
    """An error about a text of the batch as one about a line of a file."""
    found = re.match(r"text (\d+): (.*)", str(error), re.DOTALL)
    return CorpusError(f"{name}:{done + int(found[1]) + 1}: {found[2]}") if found else error


def _line(tokens: Any, output_format: str) -> str:
    if output_format == "id":
        return " ".join(map(str, tokens)) + "\n"
    if output_format == "piece":
        return " ".join(tokens) + "\n"
    fields = {name: getattr(tokens, name) for name in Encoding.__slots__}
    return json.dumps(fields, ensure_ascii=False) + "\n"
