"""Train a SentencePiece model of the target language, to compare with.

for example:
  pairpiece baseline --text train.it --vocab-size 8000 --output it.model
  pairpiece baseline --corpus memory.tmx.gz --source-column fr --target-column it -o it.model
  pairpiece evaluate --source test.fr --target test.it --tokenizer sp=it.model --tokenizer it-fr/

A unigram model with the settings of the paper, on all lines of the text: what the results of this
project are compared with, and what train makes of the source side.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

from pairpiece import files
from pairpiece.commands.console import reporter_for, say
from pairpiece.corpus.reading import FORMAT_OF_SUFFIX, Corpus
from pairpiece.errors import CorpusError, OptionError
from pairpiece.foreign.sentencepiece_training import train_sentencepiece
from pairpiece.learning.plan import DEFAULT_SIZE
from pairpiece.options import check_size


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    text = parser.add_argument_group("text, one of")
    either = text.add_mutually_exclusive_group(required=True)
    either.add_argument(
        "--text", nargs="+", metavar="FILE", help="a sentence on each line, also .gz .xz .zst"
    )
    either.add_argument(
        "--corpus", nargs="+", metavar="FILE", help="files with both sides, as train takes them"
    )
    columns = parser.add_argument_group("columns of a corpus")
    columns.add_argument("--source-column", metavar="NAME", help="as train takes it")
    columns.add_argument("--target-column", metavar="NAME", help="the one to learn from")
    model = parser.add_argument_group("model")
    model.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.model")
    model.add_argument(
        "--vocab-size", type=int, default=DEFAULT_SIZE, metavar="N", help=f"default {DEFAULT_SIZE}"
    )
    model.add_argument("-q", "--quiet", action="store_true", help="only errors")


def run(options: argparse.Namespace) -> None:
    """Train, write the model and say what it is."""
    check_size("vocab_size", options.vocab_size)
    if options.output.is_dir():
        raise OptionError(f"{options.output}: a folder; name the file of the model (it.model)")
    lines = _Counted(_lines(options))
    reporter = reporter_for("text", options.quiet)
    with files.replacing(options.output) as output:  # what cannot be written fails now
        reporter.begin("baseline", "training SentencePiece")
        try:
            model = train_sentencepiece(lines, options.vocab_size)
        finally:
            reporter.close()
        output.write(model.content)
    if not options.quiet:
        size = f"{model.vocab_size:,} pieces"
        fewer = " (the text has no more to offer)" if model.vocab_size < options.vocab_size else ""
        say(f"{options.output}: {size}{fewer} from {lines.read:,} lines")


def _lines(options: argparse.Namespace) -> Iterator[str]:
    """The lines of all files, one after the other."""
    if options.corpus is not None:
        columns = {name: getattr(options, name) for name in ("source_column", "target_column")}
        for pair in Corpus.of(corpus=options.corpus, **columns):
            yield pair.target
        return
    for path in map(Path, options.text):
        if files.suffix(path) in FORMAT_OF_SUFFIX:
            raise CorpusError(f"{path}: not a text file: name it with --corpus")
        yield from files.lines(path)


class _Counted:
    """Lines that are counted while they go by; there must be some with text."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self.read = 0

    def __iter__(self) -> Iterator[str]:
        some = False
        for line in self._lines:
            self.read += 1
            some = some or bool(line.strip())
            yield line
        if not some:
            raise CorpusError("there is no text to learn from")
