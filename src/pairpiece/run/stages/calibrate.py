"""The model and text → the penalties with which it makes as many tokens as are wanted.

They are what is remembered of this stage; there is no file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairpiece.corpus.reading import Corpus
from pairpiece.errors import CorpusError
from pairpiece.foreign.protocol import digest_of
from pairpiece.model.calibration import CalibrationText
from pairpiece.model.penalty_search import HIGHEST, LOWEST
from pairpiece.model.tokenizer import Tokenizer, load
from pairpiece.model.word_links import word_links
from pairpiece.run.aligned_text import AlignedText
from pairpiece.run.job import EFLOMAL, NO_LINKS, Job
from pairpiece.run.reporting import Reporter
from pairpiece.run.stages.learn import PLAIN
from pairpiece.run.stages.stage import Stage
from pairpiece.run.workspace import Result

_SENTENCES = 1000

DevText = list[tuple[str, str]]


def read_dev(corpus: Corpus | None) -> DevText | None:
    """The sentence pairs to calibrate on, if any were given."""
    if corpus is None:
        return None
    pairs = [(pair.source, pair.target) for pair in corpus]
    if not pairs:
        raise CorpusError("the dev text is empty: give some, or leave it out")
    return pairs


@dataclass(frozen=True)
class Calibrate(Stage):
    """Fits penalties to the dev text or, without one, to the text itself."""

    name = "calibrate"
    doing = "calibrating"

    job: Job
    balance: float  # of tokens, to those of a plain tokenizer
    aligned: AlignedText
    learned: Result
    tokenizer: Tokenizer  # that was learned
    dev: DevText | None

    def depends_on(self) -> dict[str, Any] | None:
        """The model, and the text."""
        if digest_of(self.aligned.source) is None:
            return None
        return {
            "learned": self.learned.content,
            "balance": self.balance,
            "penalties": [LOWEST, HIGHEST],
            "text": self.aligned.text.content,
            "links": self.aligned.links_identity,
            "dev": self.dev,
        }

    def make(self, folder: Path, reporter: Reporter) -> dict[str, Any]:
        """Find the penalties."""
        del folder
        vocabulary, threads = self.job.plan.vocabulary, self.job.plan.num_threads
        plain = load(self.learned.folder / PLAIN) if vocabulary is None else vocabulary
        text = self._sample(reporter) if self.dev is None else self._dev_text(self.dev)
        return self.tokenizer.calibration(
            text,
            text.tokens(plain.encode_batch, threads),
            self.balance,
            threads,
            marginal=vocabulary is None,
            advance=lambda done, total: reporter.advance(done, total, "trials"),
        )

    def _dev_text(self, dev: DevText) -> CalibrationText:
        links = word_links(self.tokenizer, dev) if self.job.links.align == EFLOMAL else None
        return CalibrationText([t for _, t in dev], [s for s, _ in dev], links)

    def _sample(self, reporter: Reporter) -> CalibrationText:
        """Sentences from all over the text."""
        step = max(1, self.aligned.text.details["used"] // _SENTENCES)
        sentences = list(self.aligned.sentences(reporter, step))
        return CalibrationText.of_training(
            [sentence.target for sentence in sentences],
            [sentence.tokens for sentence in sentences],
            None
            if self.job.links.align == NO_LINKS
            else [sentence.links for sentence in sentences],
            [sentence.words for sentence in sentences],
        )
