"""A vocabulary of two languages: the model's tokens with their ids, and new pieces after them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from pairpiece.model.renumbering import NEW, renumbered
from pairpiece.model.tokenizer import Tokenizer
from pairpiece.pretrained.model_tokenizer import ModelTokenizer
from pairpiece.text.options import BYTE_PIECES
from pairpiece.text.vocabulary import PieceType, Vocabulary

SAME = 0.5
"""A piece means what the model's token of the same spelling means if that is so much of p(s|t)."""

_ROLES = ("unk", "bos", "eos", "pad")
Slot = tuple[str, PieceType, float]


@dataclass(frozen=True)
class Extended:
    """The tokenizer of the new language, as a part of a larger vocabulary."""

    tokenizer: Tokenizer
    kept: int  # the ids below are the model's
    pieces: list[int]  # ids in the tokenizer there was, of those from `kept` on


def extended(tokenizer: Tokenizer, theirs: ModelTokenizer) -> Extended:
    """Give pieces the ids of tokens of the model that mean the same, and others new ones.

    Tokens of the model that are no pieces are never found in text of the new language.
    """
    kept = max(theirs.ids.values()) + 1
    slots, order = _their_slots(theirs, kept), [NEW] * kept
    ours, options = tokenizer.vocabulary, tokenizer.options
    alike = _shared(tokenizer, theirs)
    bytes_ = _bytes(theirs)
    special = {getattr(options, f"{role}_id"): role for role in _ROLES}
    ids = _role_ids(theirs)
    appended: list[int] = []
    for i, (piece, kind, score) in enumerate(
        zip(ours.pieces, ours.types, ours.scores, strict=True)
    ):
        role, same = special.get(i), theirs.ids.get(piece, NEW)
        if role is not None and role not in ids and same in theirs.special_ids:
            ids[role] = same
        if role in ids or same in theirs.special_ids:
            continue  # the model has a token for it
        place = bytes_.get(piece) if kind == PieceType.BYTE else alike.get(i)
        if place is None:
            place = len(slots)
            slots.append((piece, kind, score))
            order.append(i)
            appended.append(i)
        else:
            slots[place], order[place] = (piece, kind, score), i
        if role is not None:
            ids[role] = place
    unknown = ids["unk"]
    slots[unknown] = (slots[unknown][0], PieceType.UNKNOWN, 0.0)
    named: dict[str, Any] = {f"{role}_id": ids.get(role, -1) for role in _ROLES}
    named |= {f"{role}_piece": slots[i][0] for role, i in ids.items()}
    controls = [
        piece
        for i, (piece, kind, _) in enumerate(slots)
        if kind == PieceType.CONTROL and i not in ids.values()
    ]
    vocabulary = Vocabulary(
        [piece for piece, _, _ in slots],
        [kind for _, kind, _ in slots],
        [score for _, _, score in slots],
        ours.summation,
    )
    options = dataclasses.replace(options, control_symbols=tuple(controls), **named)
    state = renumbered(tokenizer.state, vocabulary, options, order)
    return Extended(Tokenizer(state), kept, appended)


def _role_ids(theirs: ModelTokenizer) -> dict[str, int]:
    """The model's ids for our roles; a token that has several has the first of these."""
    found: dict[str, int] = {}
    for role in ("eos", "bos", "unk", "pad"):
        token = theirs.config.get(f"{role}_token")
        if token is not None and theirs.ids[token] not in found.values():
            found[role] = theirs.ids[token]
    return found


def _bytes(theirs: ModelTokenizer) -> dict[str, int]:
    """The model's ids of bytes, if it has them, in order."""
    ids = [theirs.ids.get(piece, -1) for piece in BYTE_PIECES]
    in_order = ids[0] >= 0 and ids == sorted(ids)
    return dict(zip(BYTE_PIECES, ids, strict=True)) if in_order else {}


def _their_slots(theirs: ModelTokenizer, size: int) -> list[Slot]:
    """The model's tokens by id: special ones, and others that are left to its own tokenizer."""
    slots: list[Slot] = [(f" <{i}>", PieceType.UNUSED, 0.0) for i in range(size)]
    names: set[str] = set()
    for token, i in sorted(theirs.ids.items(), key=lambda item: item[1]):
        if i in theirs.special_ids:
            slots[i] = (token, PieceType.CONTROL, 0.0)
            continue
        name = theirs.readable(token)
        name = name if name and name not in names else f"<{i}>"  # two tokens may read the same
        names.add(name)
        slots[i] = (f" {name}", PieceType.UNUSED, 0.0)
    return slots


def _shared(tokenizer: Tokenizer, theirs: ModelTokenizer) -> dict[int, int]:
    """Pieces that are spelled like a token of the model and were mostly seen with it."""
    weights = tokenizer.source_weights()
    found: dict[int, int] = {}
    for i, piece in enumerate(tokenizer.vocabulary.pieces):
        for token, weight in weights.row(i)[:1]:
            if theirs.readable(token) == piece and weight >= SAME and token in theirs.ids:
                found[i] = theirs.ids[token]
    return found
