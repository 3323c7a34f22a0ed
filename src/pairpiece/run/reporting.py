"""What a run says while it works: to nobody, to Python's logging, or to whoever listens."""

from __future__ import annotations

import logging

from pairpiece.run.workspace import Result

logger = logging.getLogger("pairpiece")


class Reporter:
    """Told what happens during a run; this one passes it on to the logger ``pairpiece``."""

    def begin(self, stage: str, doing: str) -> None:
        """A stage begins; it may turn out that its result is there already."""

    def advance(self, done: float, total: float | None, unit: str) -> None:
        """So much of the stage is done; called often."""

    def end(self, result: Result) -> None:
        """The stage has a result."""
        how = "reused" if result.reused else f"{result.seconds:.1f} s"
        logger.info("%s: %s", result.stage, how)

    def warning(self, message: str) -> None:
        """Something the user may want to change."""
        logger.warning("%s", message)

    def close(self) -> None:
        """The run is over, well or not."""
