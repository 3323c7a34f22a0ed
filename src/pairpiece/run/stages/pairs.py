"""Aligned sentences → ``pairs.safetensors``: the different word pairs, and how often each is."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairpiece.foreign.protocol import digest_of
from pairpiece.learning.pairs import Example, Pairs, examples_of_links, examples_of_sentence
from pairpiece.run.aligned_text import AlignedText
from pairpiece.run.job import Job
from pairpiece.run.reporting import Reporter
from pairpiece.run.stages.stage import Stage
from pairpiece.run.workspace import Result

_FILE = "pairs.safetensors"


def read_pairs(result: Result) -> Pairs:
    """What the stage has collected."""
    return Pairs.load(result.folder / _FILE)


@dataclass(frozen=True)
class CollectPairs(Stage):
    """Collects what to learn from."""

    name = "pairs"
    doing = "collecting word pairs"

    job: Job
    aligned: AlignedText

    def depends_on(self) -> dict[str, Any] | None:
        """The text, its words and links, and the source tokenizer."""
        source = digest_of(self.aligned.source)
        if source is None:
            return None
        plan = self.job.plan
        return {
            "text": self.aligned.text.content,
            "source": source,
            "links": self.aligned.links_identity,
            "per": self.job.pairs_per,
            "text_options": dataclasses.asdict(plan.text),
            "vocabulary": digest_of(plan.vocabulary),
        }

    def make(self, folder: Path, reporter: Reporter) -> dict[str, Any]:
        """Collect, merge and count."""
        details = {"target_words": 0, "linked_words": 0, "links": 0}
        pairs = Pairs.from_examples(self._examples(reporter, details))
        pairs.save(folder / _FILE)
        return {**details, "examples": pairs.total, "distinct": len(pairs)}

    def _examples(self, reporter: Reporter, details: dict[str, int]) -> Iterator[Example]:
        per_link = self.job.pairs_per == "link"
        for sentence in self.aligned.sentences(reporter):
            tokens, words, linked = sentence.tokens, sentence.words, sentence.links
            details["target_words"] += len(words)
            if linked is None:
                yield from examples_of_sentence([t for word in tokens for t in word], words)
                continue
            details["links"] += len(linked)
            details["linked_words"] += len({target for _, target in linked})
            yield from examples_of_links(tokens, words, linked, per_link=per_link)
