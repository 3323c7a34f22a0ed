"""The log of a run for other programs: a JSON object on each line of standard error."""

from __future__ import annotations

import sys
import time
from typing import Any

from pairpiece.run.reporting import Reporter
from pairpiece.run.workspace import Result
from pairpiece.terminal import visible_json


class JsonReporter(Reporter):
    """One JSON object per line on standard error; progress at most once a second."""

    def __init__(self) -> None:
        self._stage = ""
        self._last = 0.0

    def begin(self, stage: str, doing: str) -> None:
        """A stage begins."""
        self._stage = stage
        self._last = time.monotonic()
        self.write("begin", stage=stage, doing=doing)

    def advance(self, done: float, total: float | None, unit: str) -> None:
        """So much of the stage is done."""
        now = time.monotonic()
        if now - self._last >= 1:
            self._last = now
            self.write("progress", stage=self._stage, done=done, total=total, unit=unit)

    def end(self, result: Result) -> None:
        """The stage has a result."""
        self.write("end", **stage_facts(result))

    def warning(self, message: str) -> None:
        """Something the user may want to change."""
        self.write("warning", message=message)

    def write(self, event: str, **facts: Any) -> None:
        """One line of the log."""
        record = {"event": event, "time": round(time.time(), 3), **facts}
        print(visible_json(record), file=sys.stderr, flush=True)


def stage_facts(result: Result) -> dict[str, Any]:
    """What there is to say about a stage, for a log or a summary."""
    return {
        "stage": result.stage,
        "seconds": result.seconds,
        "peak_bytes": result.peak_bytes,
        "reused": result.reused,
        **result.details,
    }
