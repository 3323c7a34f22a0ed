"""What other threads do to the arguments of a call that is under way changes nothing."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.worlds import learning

import pairpiece
from pairpiece.learning.engine import compiled

COUNT, LENGTH = 400, 300  # texts, and words of each: long enough to be cut in the middle


def texts() -> list[str]:
    """Strings that nobody else holds, and that no word cache knows."""
    return [" ".join(f"il gatto{i}x{k} dorme" for k in range(LENGTH)) for i in range(COUNT)]


@contextlib.contextmanager
def as_soon_as_unlocked(spoil: Callable[[], object]) -> Iterator[None]:
    """Has another thread call `spoil` where the core unlocks the interpreter, and not before."""
    gate = threading.Lock()
    junk: list[Any] = []

    def wait() -> None:
        with gate:
            spoil()
            junk.extend(b"\xff" * size for size in (900, 5_000, 9_000) for _ in range(2 * COUNT))

    gate.acquire()
    thread = threading.Thread(target=wait)
    thread.start()
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    gate.release()
    try:
        yield
    finally:
        sys.setswitchinterval(before)
        thread.join()


@pytest.mark.parametrize("out_type", [int, str, pairpiece.Encoding])
@pytest.mark.parametrize("num_threads", [1, 4])
def test_texts_that_are_cleared_meanwhile_are_encoded(
    tokenizer: pairpiece.Tokenizer, out_type: Any, num_threads: int
) -> None:
    expected = tokenizer.encode_batch(texts(), out_type=out_type)
    batch = texts()
    with as_soon_as_unlocked(batch.clear):
        found = tokenizer.encode_batch(batch, out_type=out_type, num_threads=num_threads)
    assert not batch
    assert found == expected


def test_texts_that_are_added_meanwhile_are_not(tokenizer: pairpiece.Tokenizer) -> None:
    batch = texts()
    with as_soon_as_unlocked(lambda: batch.extend(["il"] * 10_000)):
        assert len(tokenizer.encode_batch(batch)) == COUNT


def test_texts_with_surrogates_that_are_cleared_meanwhile_are_encoded(
    tokenizer: pairpiece.Tokenizer,
) -> None:
    expected = tokenizer.encode_batch([text + "\ud800" for text in texts()])
    batch = [text + "\ud800" for text in texts()]
    with as_soon_as_unlocked(batch.clear):
        assert tokenizer.encode_batch(batch) == expected


def test_sources_and_links_that_are_cleared_meanwhile_are_used(
    tokenizer: pairpiece.Tokenizer,
) -> None:
    def arguments() -> tuple[list[str], list[Any], list[Any]]:
        return texts(), [["▁le", "▁chat"] for _ in range(COUNT)], [[(1, 1)] for _ in range(COUNT)]

    def spoil() -> None:
        for given in (batch, sources, links):
            for row in given:
                if isinstance(row, list):
                    row.clear()
            given.clear()

    targets, sources, links = arguments()
    expected = tokenizer.encode_batch(targets, sources, alignments=links)
    batch, sources, links = arguments()
    with as_soon_as_unlocked(spoil):
        assert tokenizer.encode_batch(batch, sources, alignments=links) == expected


def test_lists_that_source_tokenizers_change_are_used_as_they_were() -> None:
    batch, sources = ["il gatto", "il topo"], ["le chat", "le chat"]
    links: list[Any] = [[(0, 0)], [(1, 1)]]

    def tokenize(text: str) -> list[str]:
        for given in (batch, sources, links):
            given.clear()
        return ["▁" + word for word in text.split()]

    pairs = [(["▁le", "▁chat"], "▁il"), (["▁chat"], "▁gatto"), (["▁souris"], "▁topo")]
    tokenizer = pairpiece.train_from_pairs(
        pairs, 280, source_tokenizer=tokenize, hard_vocab_limit=False
    )
    expected = tokenizer.encode_batch(
        list(batch), [["▁le", "▁chat"]] * 2, alignments=[list(row) for row in links]
    )
    assert tokenizer.encode_batch(batch, sources, alignments=links) == expected


class Clears:
    """A number that clears a list when it is asked for its value."""

    def __init__(self, value: int, given: list[Any]) -> None:
        self.value, self.given = value, given

    def __index__(self) -> int:
        self.given.clear()
        return self.value


def test_ids_that_are_cleared_while_they_are_read_are_decoded(
    tokenizer: pairpiece.Tokenizer,
) -> None:
    def ids(row: list[Any]) -> Iterator[int]:
        row.clear()
        yield from tokenizer.encode("gatto")

    batch: list[Any] = [tokenizer.encode("il"), None, tokenizer.encode(" dorme")]
    batch[1] = ids(batch)
    assert tokenizer.decode_batch(batch) == ["il", "gatto", " dorme"]
    row: list[Any] = []
    row.extend(Clears(i, row) for i in tokenizer.encode("il gatto"))
    assert tokenizer.decode(row) == "il gatto"


def test_words_of_pretokenizers_that_are_cleared_meanwhile_are_used() -> None:
    kept: list[list[str]] = []

    def pretokenize(text: str) -> list[str]:
        kept.append([text[i : i + 2000] for i in range(0, len(text), 2000)])
        return kept[-1]

    pairs = [([], "il"), ([], "gatto"), ([], " dorme"), ([], "x0123456789")]
    tokenizer = pairpiece.train_from_pairs(
        pairs, 300, "unigram", pretokenizer=pretokenize, hard_vocab_limit=False
    )
    expected = tokenizer.encode_batch(texts())
    batch = texts()
    with as_soon_as_unlocked(lambda: (batch.clear(), kept.clear())):
        assert tokenizer.encode_batch(batch) == expected


def test_arrays_that_change_while_the_learner_reads_them_count_as_they_were() -> None:
    rows = [(["S"], f"{a}{b}{c}" * 3, 1.0) for a in "abcdefgh" for b in "ijklmn" for c in "opqrst"]
    pairs = pairpiece.Pairs.from_iterable(rows)
    engine = compiled(pairs, learning("default", min_seed_count=1.0), [], threads=1)
    engine.initialize()
    scores = np.linspace(-9.0, -1.0, len(engine.pieces()))
    expected = engine.unigram_counts(scores)
    given = scores.copy()
    with as_soon_as_unlocked(lambda: given.fill(0)):
        found = engine.unigram_counts(given)
    np.testing.assert_array_equal(found, expected)
    flags = np.ones(len(scores), np.uint8)
    with as_soon_as_unlocked(lambda: flags.fill(0)):
        engine.keep(flags)
    assert len(engine.pieces()) == len(scores)
