"""Ctrl-C, pipes that break and streams that are closed: a command ends in one line, or goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from support.command_line import Ended, Training, start, stop_when

INTERRUPTED = (130, "", "pairpiece: interrupted\n")


def python(program: str, *arguments: object) -> Ended:
    """Run a program in a process of its own."""
    command = [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


# ---------------------------------------------------------------------- Ctrl-C

AT_AN_IMPORT = """
    import os, signal, sys
    from pairpiece.commands import program

    class CtrlC:
        def find_spec(self, name, *_):
            if name == sys.argv[-1]:
                os.kill(os.getpid(), signal.SIGINT)

    sys.meta_path.insert(0, CtrlC())
    sys.argv[1:1] = ["inspect", "nowhere"]
    program()
"""


@pytest.mark.parametrize(
    "module",
    ["pairpiece.commands.inspect", "numpy", "numpy.linalg", "sentencepiece", "pairpiece._core"],
)
def test_ctrl_c_while_libraries_are_imported_is_no_traceback(module: str) -> None:
    assert python(AT_AN_IMPORT, module) == INTERRUPTED


AT_THE_END = """
    import atexit, os, signal, sys
    from pairpiece.commands import program

    atexit.register(os.kill, os.getpid(), signal.SIGINT)
    sys.argv[1:] = ["--version"]
    program()
"""


def test_ctrl_c_at_the_very_end_is_no_traceback() -> None:
    ended = python(AT_THE_END)
    assert (ended.code, ended.err) == (130, "pairpiece: interrupted\n")


IGNORED = """
    import os, signal, sys
    from pairpiece import commands

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.argv[1:] = ["--version"]
    os.kill(os.getpid(), signal.SIGINT)
    commands.program()
"""


def test_a_command_in_the_background_goes_on() -> None:
    assert python(IGNORED).code == 0


def children(process: int) -> list[Path]:
    """The processes that a process has started, those that have ended left out."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:  # it has ended meanwhile
            continue
        if int(parent) == process and state != "Z":
            found.append(folder)
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("command", ["train", "baseline"])
def test_ctrl_c_while_sentencepiece_trains_ends_its_process_too(
    command: str, trained: Training, tmp_path: Path
) -> None:
    arguments = {
        "train": ["train", *trained.text, "-o", tmp_path / "model", "--align", "none"],
        "baseline": ["baseline", "--text", trained.target, "-o", tmp_path / "it.model"],
    }[command]
    process = start(*arguments, cache=tmp_path / "cache")
    begun: list[Path] = []
    stopped = stop_when(process, lambda: begun or begun.extend(children(process.pid)))
    assert begun, "it trained in no process of its own"
    assert stopped == INTERRUPTED
    assert not begun[0].exists()
    assert {path.name for path in tmp_path.iterdir()} <= {"cache"}


# ---------------------------------------------------------------------- pipes

PIPE_WITHIN = """
    import os, sys
    from pairpiece import commands
    from pairpiece.commands import inspect

    def run(options):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            os.write(writer, b"x")
        except BrokenPipeError:
            print("goes on")

    inspect.run = run
    sys.argv[1:] = ["inspect", "nowhere"]
    commands.program()
"""


def test_a_pipe_to_another_process_may_break() -> None:
    """The processes that train models leave when they are told to, whoever writes to them."""
    assert python(PIPE_WITHIN) == (0, "goes on\n", "")


@pytest.mark.parametrize(
    "arguments",
    [["inspect"], ["inspect", "--pieces"], ["inspect", "--json"], ["encode", "-i"]],
    ids=" ".join,
)
def test_a_reader_that_has_gone_ends_the_command_in_silence(
    arguments: list[object], trained: Training, tmp_path: Path
) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    command, *rest = arguments
    files = [trained.target] if rest == ["-i"] else []
    with start(command, trained.model, *rest, *files, cache=tmp_path, stdout=theirs) as process:
        os.close(theirs)
        _, err = process.communicate()
    assert (process.returncode, err) == (141, b"")


def test_a_reader_that_has_gone_ends_a_summary_in_silence(
    trained: Training, tmp_path: Path
) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    command = ["train", *trained.text, "--vocab-size", 600, "--align", "none"]
    model = tmp_path / "model"
    with start(*command, "-o", model, cache=tmp_path / "cache", stdout=theirs) as process:
        os.close(theirs)
        _, err = process.communicate()
    assert (process.returncode, err) == (141, b"")
    assert (model / "pairpiece.json").is_file()


# ---------------------------------------------------------------------- closed streams


def closed(trained: Training, redirection: str, *arguments: object) -> Ended:
    """Run a command whose standard streams a shell has closed."""
    line = 'exec "$0" -m pairpiece "$@" ' + redirection
    command = ["sh", "-c", line, sys.executable, *map(str, arguments)]
    environment = {**os.environ, "PAIRPIECE_CACHE": str(trained.cache)}
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, check=False, env=environment
    )
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize("command", ["encode", "decode", "inspect", "inspect --pieces"])
def test_a_closed_output_is_told(command: str, trained: Training) -> None:
    name, *options = command.split()
    ended = closed(trained, ">&-", name, trained.model, *options)
    assert ended == (1, "", "pairpiece: standard output is closed\n")


def test_a_closed_input_is_told(trained: Training, tmp_path: Path) -> None:
    said = "pairpiece: standard input is closed\n"
    assert closed(trained, "<&-", "encode", trained.model) == (1, "", said)
    command = ["train", "--corpus", "-", "-o", tmp_path / "model", "--align", "none"]
    assert closed(trained, "<&-", *command) == (1, "", said)


def test_what_nobody_can_be_told_goes_nowhere_else(trained: Training, tmp_path: Path) -> None:
    assert closed(trained, "2>&-", "inspect", tmp_path) == (1, "", "")


def test_files_never_take_the_place_of_closed_streams(trained: Training, tmp_path: Path) -> None:
    """Else what a library prints would end up in a file of ours."""
    model = tmp_path / "it.model"
    command = ["baseline", "--text", trained.target, "--vocab-size", 500, "-o", model]
    assert closed(trained, "<&- >&- 2>&-", *command).code == 0
    assert closed(trained, "", *command[:-1], tmp_path / "again.model").code == 0
    assert model.read_bytes() == (tmp_path / "again.model").read_bytes()
