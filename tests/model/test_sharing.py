"""A tokenizer can be shared, copied, pickled and forked with."""

from __future__ import annotations

import copy
import dataclasses
import multiprocessing
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.french_italian import SENTENCES, TARGETS

import pairpiece
from pairpiece.model.state import known

TEXTS = TARGETS * 30


def test_copies_are_the_tokenizer_itself(tokenizer: pairpiece.Tokenizer) -> None:
    assert copy.copy(tokenizer) is tokenizer
    assert copy.deepcopy(tokenizer) is tokenizer


def test_a_pickled_tokenizer_is_the_same(tokenizer: pairpiece.Tokenizer) -> None:
    source, target, _ = SENTENCES[0]
    tokenizer.encode(target, source=source)
    again = pickle.loads(pickle.dumps(tokenizer))
    assert again.encode_batch(TEXTS) == tokenizer.encode_batch(TEXTS)
    assert again.encode(target, source=source) == tokenizer.encode(target, source=source)


def test_many_threads_at_once(tokenizer: pairpiece.Tokenizer) -> None:
    sources = [source for source, _, _ in SENTENCES] * 30
    plain, paired = tokenizer.encode_batch(TEXTS), tokenizer.encode_batch(TEXTS, sources)

    def work(number: int) -> bool:
        if number % 2:
            return [tokenizer.encode(text) for text in TEXTS] == plain
        return tokenizer.encode_batch(TEXTS, sources, num_threads=2) == paired

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(32)))


def encode_in_child(tokenizer: pairpiece.Tokenizer) -> list[list[int]]:
    encoded: list[list[int]] = tokenizer.encode_batch(TEXTS, num_threads=2)
    return encoded


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_forked_processes(tokenizer: pairpiece.Tokenizer) -> None:
    stop = threading.Event()

    def keep_busy() -> None:
        while not stop.is_set():
            tokenizer.encode_batch(TEXTS, num_threads=2)

    busy = threading.Thread(target=keep_busy)
    busy.start()
    try:
        with multiprocessing.get_context("fork").Pool(2) as pool:
            results = pool.map_async(encode_in_child, [tokenizer] * 6).get(timeout=60)
    finally:
        stop.set()
        busy.join()
    assert all(result == tokenizer.encode_batch(TEXTS) for result in results)


def test_spawned_processes(tokenizer: pairpiece.Tokenizer) -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(encode_in_child, (tokenizer,)) == tokenizer.encode_batch(TEXTS)


def test_models_made_and_dropped_in_turn_do_not_mix(tokenizer: pairpiece.Tokenizer) -> None:
    source, target, links = SENTENCES[0]
    table = tokenizer.cooccurrences()
    found: dict[float, set[tuple[int, ...]]] = {}
    for penalty in (0.0, 30.0, -30.0) * 3:
        settings = dataclasses.replace(table.settings, piece_penalty=penalty)
        other = tokenizer._replaced(table=known(dataclasses.replace(table, settings=settings)))
        ids = other.encode(target + " gattonero", source=source, alignment=links)
        found.setdefault(penalty, set()).add(tuple(ids))
    assert all(len(results) == 1 for results in found.values())
    assert len({len(ids) for results in found.values() for ids in results}) > 1
