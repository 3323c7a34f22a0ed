"""The text of a translation experiment, and the tokens of its source side."""

from __future__ import annotations

from typing import TypeAlias

from pairpiece.downstream.pieces import SourcePieces
from pairpiece.downstream.rows import Rows
from pairpiece.errors import CorpusError
from pairpiece.evaluation.parallel_text import ParallelText, Sentences
from pairpiece.foreign.protocol import SubwordTokenizer

Sides: TypeAlias = tuple[Sentences, Sentences]
"""Source and target."""


def read_splits(train: Sides, dev: Sides, test: Sides) -> dict[str, ParallelText]:
    """The text to learn from, to stop by and to measure on."""
    splits = {"train": train, "dev": dev, "test": test}
    texts = {name: ParallelText.read(target, source) for name, (source, target) in splits.items()}
    return {**texts, "train": _with_both_sides(texts["train"])}


def _with_both_sides(text: ParallelText) -> ParallelText:
    """The lines with something on either side."""
    pairs = [
        (target, source)
        for target, source in zip(text.targets, text.given_sources, strict=True)
        if target.strip() and source.strip()
    ]
    if not pairs:
        raise CorpusError("no line of the training text has something on both sides")
    return ParallelText([target for target, _ in pairs], [source for _, source in pairs])


def source_rows(
    tokenizer: SubwordTokenizer, texts: dict[str, ParallelText]
) -> tuple[dict[str, Rows], list[str]]:
    """The source side of every split as ids, and the pieces that they stand for."""
    pieces = SourcePieces(tokenizer, texts["train"].given_sources)
    rows = {name: pieces.rows(texts[name].given_sources) for name in ("dev", "test")}
    return {"train": pieces.training, **rows}, pieces.pieces
