"""Turn lines of ids or pieces back into text.

for example:
  pairpiece encode it-fr/ < test.it | pairpiece decode it-fr/
  pairpiece decode it-fr/ --input-format piece -i output.pieces -o output.it
"""

from __future__ import annotations

import argparse

from pairpiece.commands.line_streams import add_stream_arguments, batches, input_name, output_stream
from pairpiece.errors import CorpusError
from pairpiece.model.encoding import check_threads
from pairpiece.model.tokenizer import Tokenizer, load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    add_stream_arguments(parser, "ids or pieces, separated by spaces")
    parser.add_argument("--input-format", choices=("id", "piece"), default="id")


def run(options: argparse.Namespace) -> None:
    """Decode, batch by batch."""
    check_threads(options.threads)
    tokenizer = load(options.model)
    vocabulary = tokenizer.get_vocab()
    name = input_name(options.input)
    done = 0
    with output_stream(options.output) as output:
        for (lines,) in batches(options.input):
            rows = []
            for number, line in enumerate(lines, done + 1):
                place = f"{name}:{number}"
                if options.input_format == "id":
                    rows.append(_ids(line, tokenizer, place))
                else:
                    rows.append(_ids_of_pieces(line, vocabulary, place))
            for text in tokenizer.decode_batch(rows, options.threads):
                output.write(text + "\n")
            done += len(lines)


def _ids(line: str, tokenizer: Tokenizer, place: str) -> list[int]:
    ids = []
    for token in line.split():
        if not (token.isascii() and token.isdigit() and len(token) < 10):
            raise CorpusError(f"{place}: {token!r} is not an id (--input-format piece for pieces)")
        ids.append(int(token))
    if ids and max(ids) >= tokenizer.vocab_size:
        raise CorpusError(
            f"{place}: the id {max(ids)} is not in the vocabulary of {tokenizer.vocab_size} pieces"
        )
    return ids


def _ids_of_pieces(line: str, vocabulary: dict[str, int], place: str) -> list[int]:
    try:
        return [vocabulary[piece] for piece in line.split(" ") if piece]
    except KeyError as missing:
        raise CorpusError(f"{place}: {missing} is not a piece of this model") from None
