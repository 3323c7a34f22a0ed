"""Metrics of the vocabulary: what is in it, and how much of it is used."""

from __future__ import annotations

from typing import Any

from pairpiece.evaluation.metric import Metric
from pairpiece.evaluation.tokenized import Resample, Tokenized
from pairpiece.text.options import MARKER


class VocabularyUsage(Metric):
    """Of the paper's appendix."""

    name, place, better = "vocabulary_usage", 80, "higher"
    about = "share of the vocabulary that occurs in the text"

    def value(self, resample: Resample) -> float | None:
        """Pieces that occur / pieces."""
        vocabulary = resample.tokenized.system.vocabulary
        return None if vocabulary is None else len(resample.counts) / len(vocabulary)


class VocabularyOverlap(Metric):
    """Of the paper's appendix."""

    name, place, of_text = "vocabulary_overlap", 81, False
    about = "share of the vocabulary that the reference tokenizer has too"

    def value(self, resample: Resample) -> float | None:
        """Common pieces / pieces."""
        ours = resample.tokenized.system.vocabulary
        if ours is None or resample.baseline is None:
            return None
        theirs = resample.baseline.tokenized.system.vocabulary
        if theirs is None:
            return None
        return len(set(ours) & set(theirs)) / len(ours)

    def options(self, tokenized: Tokenized) -> dict[str, Any]:
        """Whose vocabulary it is compared with."""
        return {"reference": tokenized.settings.baseline}


class BeginOfWord(Metric):
    """Of the paper's appendix."""

    name, place, of_text = "begin_of_word", 82, False
    about = "share of the vocabulary that begins a word"

    def value(self, resample: Resample) -> float | None:
        """Pieces that begin with a space (or, after WordPiece, do not go on) / pieces."""
        vocabulary = resample.tokenized.system.vocabulary
        if vocabulary is None:
            return None
        goes_on = [piece.startswith("##") and len(piece) > 2 for piece in vocabulary]
        if sum(goes_on) > 0.05 * len(vocabulary):
            return 1 - sum(goes_on) / len(vocabulary)
        return sum(piece.startswith(MARKER) for piece in vocabulary) / len(vocabulary)
