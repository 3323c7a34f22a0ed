"""The unigram models of other tools, with their pieces, ids and scores, as PairPiece's own."""

from __future__ import annotations

import dataclasses
from typing import Any

from pairpiece.errors import ModelFormatError, PairPieceError
from pairpiece.text.options import MARKER, TextOptions
from pairpiece.text.vocabulary import PieceType, Unigram, Vocabulary
from pairpiece.text.words import WordSplitter

ROLES = ("unk", "bos", "eos", "pad")
"""What special tokens are for."""


def taken_over(
    name: str,
    vocabulary: Vocabulary,
    special: dict[str, int],
    table: bytes,
    *,
    words: str | None = None,
    **text: Any,
) -> Unigram:
    """Pieces, types and scores as another tool has them, checked; `name` is that of its file.

    `special` has the ids of the `ROLES`, -1 for none; `words` is the pre-tokenization, if it is
    known; `text` is what else is known about text.
    """
    pieces = [
        piece.replace(MARKER, " ") if kind == PieceType.USER_DEFINED else piece
        for piece, kind in zip(vocabulary.pieces, vocabulary.types, strict=True)
    ]
    vocabulary = dataclasses.replace(vocabulary, pieces=pieces)
    try:
        vocabulary.check()
    except ValueError as error:
        raise ModelFormatError(f"{name}: {error}") from None
    if vocabulary.special[PieceType.UNKNOWN] != pieces[special["unk"] :][:1]:
        raise ModelFormatError(f"{name}: there must be one unknown piece")
    roles = {
        role: i
        for role, i in special.items()
        if 0 <= i < len(pieces) and vocabulary.types[i] in (PieceType.UNKNOWN, PieceType.CONTROL)
    }
    text |= {f"{role}_id": roles.get(role, -1) for role in ROLES}
    text |= {f"{role}_piece": pieces[i] for role, i in roles.items()}
    try:
        options = TextOptions(
            normalization="imported" if table else "none",
            pretokenization=words or _words_of(vocabulary.normal(), vocabulary.summation),
            byte_fallback=bool(vocabulary.special[PieceType.BYTE]),
            user_defined_symbols=tuple(vocabulary.special[PieceType.USER_DEFINED]),
            control_symbols=tuple(
                piece
                for piece in vocabulary.special[PieceType.CONTROL]
                if piece not in {pieces[i] for i in roles.values()}
            ),
            **text,
        )
    except (PairPieceError, TypeError) as error:
        raise ModelFormatError(f"{name}: {error}") from None
    return Unigram(vocabulary, options, table)


def _words_of(pieces: list[str], summation: str) -> str:
    """The finest way to split text into words that hardly any piece reaches over.

    Words matter to paired encoding alone, which does without the pieces that do.
    """
    for splitting in ("lossless", "spaces"):
        splitter = WordSplitter(TextOptions(pretokenization=splitting), b"")
        longer = sum(len(splitter.words(piece.replace(MARKER, " "))) > 1 for piece in pieces)
        if longer <= 0.05 * len(pieces):
            return splitting
    return "spaces" if summation == "spaces" else "none"
