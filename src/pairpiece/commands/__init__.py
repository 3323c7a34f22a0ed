"""The command line: ``pairpiece train`` and the other commands, a module for each."""

from __future__ import annotations

import argparse
import errno
import importlib.util
import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from pairpiece import __version__
from pairpiece.commands.json_log import JsonReporter
from pairpiece.errors import PairPieceError

_COMMANDS = (
    *("train", "encode", "decode", "align", "inspect"),
    *("baseline", "evaluate", "lm", "mt", "transfer", "export", "demo"),
)
"""Modules with a docstring to be shown as help, `add_arguments` and `run`."""

_EXIT_ERROR, _EXIT_INTERRUPTED = 1, 130

_ADVICE = {
    errno.ENOSPC: ": the disk is full; make room there, or write elsewhere",
    errno.EDQUOT: ": make room there, or write elsewhere",
    errno.EFBIG: ": raise the limit of the size of files (ulimit -f), or write elsewhere",
    errno.EROFS: ": nothing can be written there; write elsewhere",
}
"""What to do when the system refuses to write; all that was there before is still there."""


def program() -> NoReturn:
    """What the command ``pairpiece`` runs."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # whoever read our output has seen enough
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")  # as all our files are
    sys.exit(main())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0, 1 for an error, 2 for wrong usage, 130 for Ctrl-C."""
    options = _parser().parse_args(arguments)
    as_json = getattr(options, "log_format", "text") == "json"
    try:
        options.run(options)
    except PairPieceError as error:
        _complain(str(error), as_json)
        return _EXIT_ERROR
    except KeyboardInterrupt:
        _complain("interrupted", as_json)
        return _EXIT_INTERRUPTED
    except OSError as error:  # a full disk, a folder that cannot be written
        name = f"{os.fspath(error.filename)}: " if error.filename else ""
        advice = _ADVICE.get(error.errno or 0, "")
        _complain(f"{name}{error.strerror or error}{advice}", as_json)
        return _EXIT_ERROR
    return 0


def _complain(message: str, as_json: bool) -> None:
    if as_json:
        JsonReporter().write("error", message=message)
    else:
        print(f"pairpiece: {message}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pairpiece",
        description="Subword tokenizers whose pieces line up with the tokens of another language.",
        epilog="Begin with: pairpiece demo",
    )
    parser.add_argument("--version", action="version", version=f"pairpiece {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_CommandParser)
    for name in _COMMANDS:
        summary, example = _described(name)
        commands.add_parser(
            name,
            help=summary.rstrip("."),
            description=summary,
            epilog=example,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    return parser


def _described(name: str) -> tuple[str, str]:
    """What a command's docstring says first, and the rest; the module is not run for it."""
    if sys.flags.optimize > 1:  # python -OO leaves docstrings out
        return "", ""
    spec = importlib.util.find_spec(f"{__name__}.{name}")
    assert spec is not None
    loader: Any = spec.loader
    documentation = next(c for c in loader.get_code(spec.name).co_consts if isinstance(c, str))
    summary, _, example = documentation.partition("\n\n")
    return summary, example.strip()


class _CommandParser(argparse.ArgumentParser):
    """The arguments of one command, whose module is imported when there are some to parse."""

    def parse_known_args(self, *arguments: Any) -> Any:  # type: ignore[override]
        """Let the command describe its arguments, and parse them."""
        if self.get_default("run") is None:
            command = importlib.import_module(f"{__name__}.{self.prog.split()[-1]}")
            command.add_arguments(self)
            self.set_defaults(run=command.run)
        return super().parse_known_args(*arguments)
