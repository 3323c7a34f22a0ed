"""Texts that models have written, in tables such as those in the paper's appendix A."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class WrittenText:
    """What one model has written for one sentence."""

    given: tuple[tuple[str, str], ...]  # what it was given, and what it might have written, by name
    model: str
    before: list[str]  # tokens that it was given
    tokens: list[str]  # tokens that it wrote


def to_markdown(texts: Sequence[WrittenText]) -> str:
    """A table for each sentence; what a model has written is bold."""
    tables = []
    for given in dict.fromkeys(text.given for text in texts):
        rows = [f"| {_escaped(name)} | {_escaped(sentence)} |" for name, sentence in given]
        rows[1:1] = ["|---|---|"]
        for text in texts:
            if text.given == given:
                shown = " ".join(map(_escaped, text.before))
                written = " ".join(map(_escaped, text.tokens))
                rows.append(f"| {_escaped(text.model)} | {shown} **{written}** |")
        tables.append("\n".join(rows) + "\n")
    return "\n".join(tables)


def _escaped(text: str) -> str:
    """Text that Markdown takes for nothing else."""
    return re.sub(r"([\\`*_\[\]<>|#~])", r"\\\1", text)
