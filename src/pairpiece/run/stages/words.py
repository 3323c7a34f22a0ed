"""Text → ``source.words``, ``target.words``: the words of each sentence, separated by spaces.

In them ▁ stands for a space.  What would end a line or a word is written with a backslash.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairpiece.files import lines
from pairpiece.foreign.protocol import SubwordTokenizer, digest_of
from pairpiece.foreign.source_words import words_to_align
from pairpiece.run.job import EFLOMAL, Job
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
        source: str | None = "words"
        if self._finds_own_words:
            source = digest_of(self.source) if self._is_aligned else "none"
        if source is None:
            return None
        plan = self.job.plan
        return {
            "text": self.text.content,
            "splitting": dataclasses.asdict(plan.text),
            "vocabulary": digest_of(plan.vocabulary),
            "source": source,
        }

    @property
    def _finds_own_words(self) -> bool:
        return self.source is None or self.source.finds_own_words

    @property
    def _is_aligned(self) -> bool:
        """Nobody but the aligner reads the words that a tokenizer finds by itself."""
        return self.job.links.align == EFLOMAL

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
            for source_text, target_text in sentences(self.text, reporter, *map(lines, paths)):
                source_words: list[str] = []
                if self.source is not None and (self._is_aligned or not self._finds_own_words):
                    source_words = words_to_align(self.source, source_text)
                target_words = splitter.words(target_text)
                sources.write(_written(source_words) + "\n")
                targets.write(_written(target_words) + "\n")
                counts["source_words"] += len(source_words)
                counts["target_words"] += len(target_words)
        return counts


_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", " ": "\\s"}
_EMPTY = "\\e"
_MEANT = {written[1]: character for character, written in _ESCAPES.items()} | {"e": ""}
_TRANSLATION = str.maketrans(_ESCAPES)
_SPECIAL = re.compile("[" + re.escape("".join(_ESCAPES)) + "]")


def _written(words: Sequence[str]) -> str:
    if all(words) and not _SPECIAL.search("".join(words)):
        return " ".join(words)  # as nearly always
    return " ".join(word.translate(_TRANSLATION) or _EMPTY for word in words)


def words_of(line: str) -> list[str]:
    """The words that are written on a line."""
    words = line.split(" ") if line else []
    if "\\" not in line:
        return words
    return [re.sub(r"\\(.)", lambda escaped: _MEANT[escaped[1]], word) for word in words]


def read_words(path: Path) -> Iterator[list[str]]:
    """The words of each sentence that the stage has written."""
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            yield words_of(line.removesuffix("\n"))
