"""What each piece stands for: r(t, s), from the source tokens of words that are cut target only.

c(t, s) is made to say which piece comes where there is a source token.  Who wants a source token in
the place of a piece asks the other way round, and of the text as it is cut without a source.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from pairpiece.errors import MemoryLimitError
from pairpiece.learning.outcome import SMALLEST
from pairpiece.learning.pairs import NULL, Pairs
from pairpiece.model.encoder import Encoder
from pairpiece.model.state import ModelState
from pairpiece.model.tables import TranslationTable, row_numbers
from pairpiece.text.options import MARKER
from pairpiece.text.vocabulary import PieceType

_PASSES = 3
_BYTES = 100  # of memory for a source token and a piece that it may be shared out to

_Ids = npt.NDArray[np.int64]


def translations_of(
    pairs: Pairs, state: ModelState, min_count: float, memory_limit: int | None = None
) -> TranslationTable:
    """r(t, s) by EM: each source token is shared out among the pieces of its word (eq. 21, 22)."""
    begin, pieces = _segmented(pairs.words, state)
    pair_words = row_numbers(pairs.pair_begin)
    of_words = np.bincount(pair_words, pairs.count, minlength=len(pairs.words))
    size = len(state.vocabulary)
    used = np.bincount(pieces, of_words[row_numbers(begin)], minlength=size)

    pair = row_numbers(pairs.source_begin)
    tokens = pairs.count[pair] * pairs.multiplicity
    is_real = pairs.source != NULL
    word, source = pair_words[pair[is_real]], pairs.source[is_real].astype(np.int64)
    needed = _BYTES * int((begin[word + 1] - begin[word]).sum())
    if memory_limit is not None and needed > memory_limit:
        raise MemoryLimitError(
            f"what each piece stands for may need {needed / 2**20:,.0f} MiB but memory_limit is "
            f"{memory_limit / 2**20:,.0f} MiB: align the words, or give less text",
            ["memory_limit"],
        )
    owner, place = _spread(begin[word], begin[word + 1])
    places = pieces[place] * len(pairs.source_tokens) + source[owner]
    keys, entry = np.unique(places, return_inverse=True)
    row, column = np.divmod(keys, len(pairs.source_tokens))
    share = np.ones(len(entry))
    for _ in range(1 + _PASSES):
        share /= np.bincount(owner, share, minlength=1)[owner]
        counts = np.bincount(entry, share * tokens[is_real][owner], minlength=len(keys))
        totals = np.bincount(row, counts, minlength=size)
        share = (counts / totals[row])[entry]
    learned = np.array([kind == PieceType.NORMAL for kind in state.vocabulary.types])
    kept = learned[row] & (counts >= max(min_count, SMALLEST))
    lengths = np.bincount(row[kept], minlength=size)
    return TranslationTable(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64),
        column[kept].astype(np.uint32),
        counts[kept].astype(np.float32),
        np.where(learned, used, 0.0),
    )


def _segmented(words: list[str], state: ModelState) -> tuple[_Ids, _Ids]:
    """The pieces of all words, cut target only, and where those of each begin."""
    alone = dataclasses.replace(
        state.options, add_dummy_prefix=False, remove_extra_spaces=False, pretokenization="none"
    )
    encoder = Encoder(ModelState(state.vocabulary, alone, b""))
    rows = encoder.encode_batch([word.replace(MARKER, " ") for word in words])
    begin = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
    return begin, np.array([i for row in rows for i in row], np.int64)


def _spread(begin: _Ids, end: _Ids) -> tuple[_Ids, _Ids]:
    """All numbers of each range, one range after the other, and which range each is of."""
    ends = np.cumsum(end - begin)
    owner = row_numbers(np.concatenate([[0], ends]))
    return owner, np.arange(len(owner)) + (end - ends)[owner]
