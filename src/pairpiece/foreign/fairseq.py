"""The dictionary of fairseq: ``dict.it.txt``, for text that is segmented already."""

from __future__ import annotations

from collections.abc import Sequence

from pairpiece.text.options import MARKER
from pairpiece.text.vocabulary import PieceType, Unigram

_OWN = (PieceType.UNKNOWN, PieceType.CONTROL, PieceType.UNUSED)


def dictionary(tokenizer: Unigram, counts: Sequence[float] | None = None) -> str:
    """A line for each piece, with its count in the text that was learned from, or 1.

    fairseq adds ``<s>``, ``<pad>``, ``</s>`` and ``<unk>`` by itself.
    """
    vocabulary = tokenizer.vocabulary
    return "".join(
        f"{piece.replace(' ', MARKER)} {1 if counts is None else max(1, round(counts[i]))}\n"
        for i, (piece, kind) in enumerate(zip(vocabulary.pieces, vocabulary.types, strict=True))
        if kind not in _OWN
    )
