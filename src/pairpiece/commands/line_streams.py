"""Lines in and lines out, for the commands: standard streams or files, in constant memory."""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from pairpiece import files
from pairpiece.errors import CorpusError, OptionError
from pairpiece.terminal import visible_lines

BATCH_LINES = 4096
"""Encoded at once: enough for the threads to share, little enough to begin soon."""

_STANDARD = (None, "-")  # how to ask for a standard stream


def add_stream_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """The arguments of all commands that turn lines into lines."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="directory of the model")
    parser.add_argument("-i", "--input", metavar="FILE", help=f"{what}; default: standard input")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, metavar="N")


def input_name(path: str | None) -> str:
    """What to call the input in an error message."""
    return "standard input" if path in _STANDARD else str(path)


@contextlib.contextmanager
def output_stream(path: str | None) -> Iterator[IO[str]]:
    """Standard output, or a file that appears when it is complete."""
    if path in _STANDARD:
        if sys.stdout is None:
            raise OptionError("standard output is closed")
        number = sys.stdout.fileno()
        kind = _Shown if os.isatty(number) else io.TextIOWrapper
        with (
            files.naming(Path("standard output")),
            kind(open(number, "wb", closefd=False), "utf-8", newline="\n") as shown,
        ):
            yield shown
        return
    with files.replacing(Path(path)) as file:
        stream = io.TextIOWrapper(file, "utf-8", newline="\n")
        yield stream
        stream.flush()
        stream.detach()


def at_a_terminal() -> bool:
    """Whether people look at standard output."""
    return sys.stdout is not None and sys.stdout.isatty()


class _Shown(io.TextIOWrapper):
    """What is written to a terminal, which must not obey it; files and pipes get it as it is."""

    def write(self, text: str) -> int:
        return super().write(visible_lines(text))


def batches(*paths: str | None) -> Iterator[tuple[list[str], ...]]:
    """Lines of several inputs side by side, many at a time; all must have equally many.

    An input is a file, possibly compressed, or standard input, which can be one of them only.
    """
    if sum(path in _STANDARD for path in paths) > 1:
        raise OptionError(
            "standard input can be one of the inputs only: name files for the others (-i FILE)"
        )
    names = list(map(input_name, paths))
    columns = [
        files.standard_input_lines() if path in _STANDARD else files.lines(Path(name))
        for path, name in zip(paths, names, strict=True)
    ]
    done = 0
    while True:
        batch = tuple(list(itertools.islice(column, BATCH_LINES)) for column in columns)
        sizes = [len(lines) for lines in batch]
        if min(sizes) != max(sizes):
            ends = names[sizes.index(min(sizes))]
            raise CorpusError(
                f"{ends} ends after {done + min(sizes):,} lines, before the others do: line n of "
                f"each input belongs to line n of the others"
            )
        if not sizes[0]:
            return
        yield batch
        done += sizes[0]
