"""Text → ``source.words``, ``target.words``: the words of each sentence, separated by spaces.

In them ▁ stands for a space.  Source words of a tokenizer that finds its own are written as an
aligner takes them; nobody else reads them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairpiece.errors import CorpusError
from pairpiece.foreign.protocol import SubwordTokenizer, digest_of
from pairpiece.foreign.source_words import source_words, words_to_align
from pairpiece.links.eflomal import for_aligner
from pairpiece.run.job import Job
from pairpiece.run.reporting import Reporter
from pairpiece.run.stages.stage import Stage, sentences
from pairpiece.run.workspace import Result
from pairpiece.text.words import WordSplitter


@dataclass(frozen=True)
class SplitWords(Stage):
    """Splits all text into words, once."""

    name = "words"
    doing = "splitting into words"

    job: Job
    text: Result
    source: SubwordTokenizer | None

    def depends_on(self) -> dict[str, Any] | None:
        """The text, and how it is split; the source tokenizer only if it has its own words."""
        splits: str | None = "words"
        if self.source is None or self.source.finds_own_words:
            splits = digest_of(self.source)
        if splits is None:
            return None
        plan = self.job.plan
        return {
            "text": self.text.content,
            "splitting": dataclasses.asdict(plan.text),
            "vocabulary": digest_of(plan.vocabulary),
            "source": splits,
        }

    def make(self, folder: Path, reporter: Reporter) -> dict[str, Any]:
        """Split and count."""
        plan = self.job.plan
        splitter = WordSplitter(plan.text, plan.charsmap())
        counts = {"source_words": 0, "target_words": 0}
        paths = [self.text.folder / f"{side}.txt" for side in ("source", "target")]
        with (
            (folder / "source.words").open("w", encoding="utf-8", newline="\n") as sources,
            (folder / "target.words").open("w", encoding="utf-8", newline="\n") as targets,
        ):
            for source_text, target_text in sentences(self.text, reporter, *paths):
                words, written = self._source_words(source_text)
                sources.write(written + "\n")
                counts["source_words"] += words
                target_words = splitter.words(target_text)
                targets.write(_line(target_words, target_text) + "\n")
                counts["target_words"] += len(target_words)
        return counts

    def _source_words(self, text: str) -> tuple[int, str]:
        """How many words a source text has, and the line that they are written on."""
        if self.source is None:
            return 0, ""
        if self.source.finds_own_words:
            words = words_to_align(self.source, text)
            return len(words), for_aligner(words)
        words = source_words(text)
        return len(words), _line(words, text)


def _line(words: Sequence[str], text: str) -> str:
    line = " ".join(words)
    if "\n" in line:
        raise CorpusError(f"the normalisation of the vocabulary makes a line end of {text!r}")
    return line


def words_of(line: str) -> list[str]:
    """The words that are written on a line."""
    return line.split(" ") if line else []
