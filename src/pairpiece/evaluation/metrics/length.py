"""Metrics of how long tokenized text is: per source token, word, character and byte."""

from __future__ import annotations

from typing import Any

from pairpiece.evaluation.metric import Metric
from pairpiece.evaluation.tokenized import Resample, Tokenized


class Tokens(Metric):
    """How many there are."""

    name, place, better, digits = "tokens", 0, "lower", 0
    about = "tokens of the target text"

    def value(self, resample: Resample) -> float:
        """Their sum."""
        return resample.total(resample.tokenized.lengths)


class Fertility(Metric):
    """Rust et al. (2021)."""

    name, place, better = "fertility", 10, "lower"
    about = "tokens per word, words separated by white space"

    def value(self, resample: Resample) -> float:
        """Tokens / words."""
        return resample.ratio(resample.tokenized.lengths, resample.tokenized.text.words)


class Parity(Metric):
    """Petrov et al. (2023)."""

    name, place, better = "parity", 20, "lower"
    about = "target tokens per source token"

    def value(self, resample: Resample) -> float | None:
        """Target tokens / source tokens."""
        sources = resample.tokenized.source_lengths
        if sources is None:
            return None
        return resample.ratio(resample.tokenized.lengths, sources)

    def options(self, tokenized: Tokenized) -> dict[str, Any]:
        """Of the source tokens."""
        return {"source": tokenized.settings.source}


class LengthRatio(Metric):
    """Of the paper's appendix."""

    name, place, better = "length_ratio", 30, "lower"
    about = "tokens per token of the reference tokenizer"

    def value(self, resample: Resample) -> float | None:
        """Tokens / tokens of the baseline."""
        if resample.baseline is None:
            return None
        return resample.ratio(resample.tokenized.lengths, resample.baseline.tokenized.lengths)

    def options(self, tokenized: Tokenized) -> dict[str, Any]:
        """Whose tokens they are compared with."""
        return {"reference": tokenized.settings.baseline}


class CharactersPerToken(Metric):
    """Compression in characters."""

    name, place, better = "characters_per_token", 40, "higher"
    about = "characters per token"

    def value(self, resample: Resample) -> float:
        """Characters / tokens."""
        return resample.ratio(resample.tokenized.text.characters, resample.tokenized.lengths)


class BytesPerToken(Metric):
    """Compression in bytes."""

    name, place, better = "bytes_per_token", 50, "higher"
    about = "bytes of UTF-8 per token"

    def value(self, resample: Resample) -> float:
        """Bytes / tokens."""
        return resample.ratio(resample.tokenized.text.bytes, resample.tokenized.lengths)
