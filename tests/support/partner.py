"""Another process, which is talked to line by line, so that two do things in a given order."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def process(program: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A Python program with arguments; it is killed at the end."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", program, *map(str, arguments)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as running:
        try:
            yield running
        finally:
            running.kill()


def go_on(running: subprocess.Popen[str]) -> None:
    """Send the line that it waits for."""
    assert running.stdin is not None
    running.stdin.write("go\n")
    running.stdin.flush()


def said(running: subprocess.Popen[str]) -> str:
    """The next line that it prints."""
    assert running.stdout is not None
    return running.stdout.readline().strip()
