"""The stages of a run, and someone who listens to it."""

from __future__ import annotations

import pairpiece
from pairpiece.run.workspace import Result

STAGES = ["read", "source", "words", "align", "pairs", "learn"]


class Listener(pairpiece.Reporter):
    """Remembers what a run says; may be told to interrupt it in the middle of a stage."""

    def __init__(self, interrupt_at: str = "") -> None:
        self.reused: dict[str, bool] = {}
        self.warnings: list[str] = []
        self._interrupt_at = interrupt_at
        self._stage = ""

    @property
    def again(self) -> set[str]:
        """The stages whose results were used again."""
        return {stage for stage, reused in self.reused.items() if reused}

    def begin(self, stage: str, doing: str) -> None:
        assert doing
        self._stage = stage

    def advance(self, done: float, total: float | None, unit: str) -> None:
        assert unit
        assert 0 <= done <= (done if total is None else total)
        if self._stage == self._interrupt_at:
            raise KeyboardInterrupt

    def end(self, result: Result) -> None:
        self.reused[result.stage] = result.reused

    def warning(self, message: str) -> None:
        self.warnings.append(message)
