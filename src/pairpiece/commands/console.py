"""What a run shows while it works: bars on a terminal, or a log for other programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from pairpiece.commands.json_log import JsonReporter
from pairpiece.run.reporting import Reporter
from pairpiece.run.workspace import Result
from pairpiece.terminal import visible


def reporter_for(log_format: str, quiet: bool) -> Reporter:
    """The reporter that suits the options and what standard error is."""
    if log_format == "json":
        return JsonReporter()
    return TerminalReporter(show_progress=not quiet and sys.stderr.isatty())


class Terminal(Console):
    """A console without surprises: what it is given is what it shows."""

    def __init__(self, **how: Any) -> None:
        super().__init__(highlight=False, emoji=False, **how)

    def on_broken_pipe(self) -> None:
        """Nobody reads on: that is for the command line to know, which ends the command."""
        raise


def say(text: str) -> None:
    """A line on standard error."""
    print(visible(text), file=sys.stderr)


class TerminalReporter(Reporter):
    """Progress bars on a terminal; elsewhere nothing but warnings."""

    def __init__(self, *, show_progress: bool) -> None:
        self._console = Terminal(stderr=True)
        self._progress: Progress | None = None
        self._show = show_progress
        self._task: TaskID | None = None

    def begin(self, stage: str, doing: str) -> None:
        """A stage begins: a bar appears."""
        del stage
        if not self._show:
            return
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            _Rate(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
        )
        self._progress.start()
        self._task = self._progress.add_task(visible(doing), total=None, unit="")

    def advance(self, done: float, total: float | None, unit: str) -> None:
        """The bar moves."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=done, total=total, unit=unit)

    def end(self, result: Result) -> None:
        """The bar gives way to a line that says what was done."""
        self.close()
        if self._show:
            how = "from an earlier run" if result.reused else f"{result.seconds:.1f} s"
            self._console.print(Text.assemble(("✓", "green"), f" {result.stage:8} {how}"))

    def close(self) -> None:
        """Take the bar away."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def warning(self, message: str) -> None:
        """Something the user may want to change."""
        line = Text.assemble(("warning:", "yellow"), " ", visible(message))
        self._console.print(line, soft_wrap=True)


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A bar to be told what is done, how much of it, and of how much."""
    reporter = TerminalReporter(show_progress=not quiet and sys.stderr.isatty())
    now = ""

    def advance(doing: str, done: int, total: int) -> None:
        nonlocal now
        if doing != now:
            reporter.close()
            reporter.begin(doing, doing)
            now = doing
        reporter.advance(done, total, "")

    try:
        yield advance
    finally:
        reporter.close()


class _Rate(ProgressColumn):
    """How much is done, of how much, and how fast."""

    def render(self, task: Task) -> Text:
        unit = task.fields["unit"]
        if not unit:
            return Text("")
        scale, unit = (2**20, "MiB") if unit == "bytes" else (1, unit)
        total = "" if task.total is None else f"/{task.total / scale:,.0f}"
        speed = (task.speed or 0) / scale
        rate = f", {speed:,.0f}/s" if speed >= 1 else ""
        return Text(f"{task.completed / scale:,.0f}{total} {unit}{rate}", style="cyan")
