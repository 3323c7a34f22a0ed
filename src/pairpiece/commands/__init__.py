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
from pairpiece.commands.option_names import as_typed
from pairpiece.errors import PairPieceError
from pairpiece.terminal import visible

_COMMANDS = (
    *("train", "encode", "decode", "align", "inspect"),
    *("baseline", "evaluate", "lm", "mt", "transfer", "export", "demo"),
)
"""Modules with a docstring to be shown as help, `add_arguments` and `run`."""

_EXIT_ERROR, _EXIT_INTERRUPTED, _EXIT_NO_READER = 1, 130, 141

_ADVICE = {
    errno.ENOSPC: ": the disk is full; make room there, or write elsewhere",
    errno.EDQUOT: ": make room there, or write elsewhere",
    errno.EFBIG: ": raise the limit of the size of files (ulimit -f), or write elsewhere",
    errno.EROFS: ": nothing can be written there; write elsewhere",
}
"""What to do when the system refuses to write; all that was there before is still there."""


def program() -> NoReturn:
    """What the command ``pairpiece`` runs."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    _open_standard_streams()
    sys.exit(main())


def _leave(*_: object) -> NoReturn:
    """What Ctrl-C does before there is anything to clean up, and after."""
    os.write(2, b"pairpiece: interrupted\n")
    os._exit(_EXIT_INTERRUPTED)


def _open_standard_streams() -> None:
    """All in UTF-8, as our files are; no file of ours takes the number of one that is closed."""
    number = 0
    while number <= 2:
        number = os.open(os.devnull, os.O_RDWR)
    os.close(number)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    The exit code is 0, 1 for an error, 2 for wrong usage, 130 for Ctrl-C, and 141, as a shell calls
    it, when whoever reads the output has seen enough.
    """
    options = _parser().parse_args(arguments)
    as_json = getattr(options, "log_format", "text") == "json"
    try:
        _run(options)
    except PairPieceError as error:
        _complain(as_typed(str(error), error.options, options.parser._actions), as_json)
        return _EXIT_ERROR
    except KeyboardInterrupt:
        _complain("interrupted", as_json)
        return _EXIT_INTERRUPTED
    except BrokenPipeError:
        _forget_output()
        return _EXIT_NO_READER
    except OSError as error:  # a full disk, a folder that cannot be written
        name = f"{os.fspath(error.filename)}: " if error.filename else ""
        advice = _ADVICE.get(error.errno or 0, "")
        _complain(f"{name}{error.strerror or error}{advice}", as_json)
        return _EXIT_ERROR
    return 0


def _run(options: argparse.Namespace) -> None:
    """Run the command; meanwhile Ctrl-C is an exception, for everything to be cleaned up."""
    at_first = signal.getsignal(signal.SIGINT)
    try:
        if at_first is _leave:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        options.run(options)
        if sys.stdout is not None:
            sys.stdout.flush()
    finally:
        if at_first is _leave:
            signal.signal(signal.SIGINT, _leave)


def _complain(message: str, as_json: bool) -> None:
    if as_json:
        json_log = importlib.import_module(f"{__name__}.json_log")
        json_log.JsonReporter().write("error", message=message)
    else:
        print(f"pairpiece: {visible(message)}", file=sys.stderr)


def _forget_output() -> None:
    """What is still to be written to standard output goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
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


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the arguments, which may be names of any files."""
        super().error(visible(message))


class _CommandParser(_Parser):
    """The arguments of one command, whose module is imported when there are some to parse."""

    def parse_known_args(self, *arguments: Any) -> Any:  # type: ignore[override]
        """Let the command describe its arguments, and parse them."""
        if self.get_default("run") is None:
            command = importlib.import_module(f"{__name__}.{self.prog.split()[-1]}")
            command.add_arguments(self)
            self.set_defaults(run=command.run, parser=self)
        return super().parse_known_args(*arguments)
