"""The same tokenizer with other ids."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pairpiece.model.state import ModelState, known
from pairpiece.text.vocabulary import Vocabulary


def renumbered(state: ModelState, order: Sequence[int]) -> ModelState:
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
    vocabulary.check()
    new = {i: number for number, i in enumerate(order)}
    roles = ("unk_id", "bos_id", "eos_id", "pad_id")
    ids: dict[str, Any] = {role: new.get(getattr(state.options, role), -1) for role in roles}
    table, bigram = state.table, state.bigram
    if table is not None:
        value = table.value
        rows = _rows(value.row_begin, order, source=value.source, count=value.count)
        table = known(dataclasses.replace(value, base=value.base[list(order)], **rows))
    if bigram is not None:
        rows = _rows(bigram.row_begin, [*order, len(order)], next=bigram.next, count=bigram.count)
        renamed = np.array([new[i] for i in range(len(order))], np.uint32)[rows["next"]]
        bigram = dataclasses.replace(
            bigram, base=bigram.base[list(order)], **{**rows, "next": renamed}
        )
    return dataclasses.replace(
        state,
        vocabulary=vocabulary,
        options=dataclasses.replace(state.options, **ids),
        table=table,
        bigram=bigram,
    )


def _rows(
    row_begin: npt.NDArray[np.uint64], order: Sequence[int], **columns: npt.NDArray[Any]
) -> dict[str, Any]:
    """The rows of a sparse table in another order."""
    begin = row_begin.astype(np.int64)
    lengths = begin[1:] - begin[:-1]
    taken = np.concatenate([np.arange(begin[i], begin[i + 1]) for i in order])
    ends = np.concatenate([[0], np.cumsum(lengths[list(order)])]).astype(np.uint64)
    return {"row_begin": ends, **{name: column[taken] for name, column in columns.items()}}
