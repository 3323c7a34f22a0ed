"""The same tokenizer with other ids, and perhaps among other pieces."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pairpiece.model.state import ModelState, known
from pairpiece.text.options import TextOptions
from pairpiece.text.vocabulary import Vocabulary

NEW = -1
"""In place of an id: a piece that the tokenizer did not have."""


def reordered(state: ModelState, order: Sequence[int]) -> ModelState:
    """A tokenizer in which the piece with the id ``order[i]`` has the id ``i``.

    Raises a ``ValueError`` if bytes would be out of order.
    """
    old = state.vocabulary
    vocabulary = Vocabulary(
        [old.pieces[i] for i in order],
        [old.types[i] for i in order],
        [old.scores[i] for i in order],
        old.summation,
    )
    new = {i: number for number, i in enumerate(order)}
    roles = ("unk_id", "bos_id", "eos_id", "pad_id")
    ids: dict[str, Any] = {role: new.get(getattr(state.options, role), -1) for role in roles}
    return renumbered(state, vocabulary, dataclasses.replace(state.options, **ids), order)


def renumbered(
    state: ModelState, vocabulary: Vocabulary, options: TextOptions, order: Sequence[int]
) -> ModelState:
    """A tokenizer with another vocabulary, whose piece ``i`` used to be ``order[i]`` or is `NEW`.

    Raises a ``ValueError`` if there cannot be such a vocabulary.
    """
    vocabulary.check()
    table, translations, bigram = state.table, state.translations, state.bigram
    if table is not None:
        value = table.value
        rows = _rows(value.row_begin, order, source=value.source, count=value.count)
        table = known(dataclasses.replace(value, base=_taken(value.base, order), **rows))
    if translations is not None:
        found = translations.value
        rows = _rows(found.row_begin, order, source=found.source, count=found.count)
        used = _taken(found.piece_count, order)
        translations = known(dataclasses.replace(found, piece_count=used, **rows))
    if bigram is not None:
        rows = _rows(
            bigram.row_begin, [*order, len(bigram.base)], next=bigram.next, count=bigram.count
        )
        new = np.zeros(len(bigram.base), np.uint32)
        for number, i in enumerate(order):
            if i != NEW:
                new[i] = number
        following, lengths = new[rows["next"]], np.diff(rows["row_begin"].astype(np.int64))
        sorted_ = np.lexsort((following, np.repeat(np.arange(len(lengths)), lengths)))
        rows["next"], rows["count"] = following[sorted_], rows["count"][sorted_]
        bigram = dataclasses.replace(bigram, base=_taken(bigram.base, order), **rows)
    return dataclasses.replace(
        state,
        vocabulary=vocabulary,
        options=options,
        table=table,
        translations=translations,
        bigram=bigram,
    )


def _taken(values: npt.NDArray[np.float64], order: Sequence[int]) -> npt.NDArray[np.float64]:
    """Values in another order, 0 for what is new."""
    return np.asarray(np.append(values, 0.0)[list(order)])  # the last is what NEW is the index of


def _rows(
    row_begin: npt.NDArray[np.uint64], order: Sequence[int], **columns: npt.NDArray[Any]
) -> dict[str, Any]:
    """The rows of a sparse table in another order, empty for what is new."""
    begin = row_begin.astype(np.int64)
    parts = [np.arange(0) if i == NEW else np.arange(begin[i], begin[i + 1]) for i in order]
    ends = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.uint64)
    taken = np.concatenate(parts).astype(np.int64)
    return {"row_begin": ends, **{name: column[taken] for name, column in columns.items()}}
