"""Source text → ``source.model``, a SentencePiece model, where no tokenizer is given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sentencepiece

from pairpiece import files
from pairpiece.foreign.sentencepiece_training import train_sentencepiece
from pairpiece.run.job import Job
from pairpiece.run.reporting import Reporter
from pairpiece.run.stages.stage import Stage, sentences
from pairpiece.run.workspace import Result


@dataclass(frozen=True)
class TrainSource(Stage):
    """Trains a tokenizer of the source language."""

    name = "source"
    doing = "training a source tokenizer"

    job: Job
    text: Result

    def depends_on(self) -> dict[str, Any]:
        """The source side of the text, and the release that learns from it."""
        return {
            "text": files.digest(self.text.folder / "source.txt"),
            "vocab_size": self.job.source_vocab_size,
            "sentencepiece": sentencepiece.__version__,
        }

    def make(self, folder: Path, reporter: Reporter) -> dict[str, Any]:
        """Train and write the model."""

        def lines() -> Iterator[str]:
            for (line,) in sentences(
                self.text, reporter, files.lines(self.text.folder / "source.txt")
            ):
                yield line
            # How far it is from now on SentencePiece does not tell.
            reporter.advance(self.text.details["used"], None, "sentences")

        model = train_sentencepiece(lines(), self.job.source_vocab_size, "source_vocab_size")
        (folder / "source.model").write_bytes(model.content)
        return {"vocab_size": model.vocab_size}
