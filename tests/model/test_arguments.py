"""Wrong arguments are errors that say what is wrong with them, and are PairPiece's own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.french_italian import PAIRS

import pairpiece

Call = Callable[[pairpiece.Tokenizer], object]
WRONG_THREADS: list[Any] = [0, -1, 10**8, 2**63, 2**64, 1.0, "2", None, True, np.int64(2)]
WRONG_ROWS: list[Any] = [5, None, object(), 1.5]


def failing() -> Iterator[str]:
    raise LookupError("mine")
    yield ""


CALLS: dict[str, tuple[Call, str]] = {
    # Texts.
    "encode a number": (lambda t: t.encode(5), "not a string but int"),
    "encode nothing": (lambda t: t.encode(None), "not a string but NoneType"),
    "encode bytes": (lambda t: t.encode(b"il"), "not a string but bytes"),
    "encode a list": (lambda t: t.encode(["il"]), "not a string but list"),
    "encode a list with a source": (lambda t: t.encode(["il"], source=["▁le"]), "not a string"),
    "a batch that is a number": (lambda t: t.encode_batch(5), "the texts must be a list, not int"),
    "a batch that is nothing": (lambda t: t.encode_batch(None), "must be a list, not NoneType"),
    "a batch that is one text": (lambda t: t.encode_batch("il"), "use encode for that"),
    "a batch of numbers": (lambda t: t.encode_batch(["a", 5]), "text 1 is not a string but int"),
    "a batch of lists": (lambda t: t.encode_batch([["a"]]), "text 0 is not a string but list"),
    "a batch of bytes": (lambda t: t.encode_batch(b"ab"), "text 0 is not a string but int"),
    **{
        f"a batch of tuples, {row!r}": (
            lambda t, row=row: t.encode_batch([row]),
            "text 0 is not a string but tuple",
        )
        for row in [(), ("a",), ("a", "b"), ("a", ["a", 5]), (5, ["a"]), ("a", ["a"], 1)]
    },
    "sampled numbers": (lambda t: t.sample_batch([5]), "text 0 is not a string"),
    "the best of a number": (lambda t: t.nbest(5), "text 0 is not a string"),
    "a normalized number": (lambda t: t.normalize(5), "not a string"),
    # Sources and links.
    "sources that are a number": (lambda t: t.encode_batch(["a"], 5), "sources must be a list"),
    "sources that are one text": (lambda t: t.encode_batch(["a", "b"], "ab"), "not one string"),
    "fewer sources": (lambda t: t.encode_batch(["a", "b"], [["▁le"]]), "2 targets but 1 sources"),
    "a source that is a number": (lambda t: t.encode("a", source=5), "source 0: not a list"),
    "a source of numbers": (lambda t: t.encode("a", source=[1]), "source 0: a word is not a list"),
    "a source of bytes": (lambda t: t.encode("a", source=[[b"x"]]), "a token is not a string"),
    "a source that is mixed": (lambda t: t.encode("a", source=[["b"], "a"]), "are mixed"),
    "an alignment that is a number": (
        lambda t: t.encode("a", source=["▁le"], alignment=5),
        "alignment 0: not a list",
    ),
    "an alignment of numbers": (
        lambda t: t.encode("a", source=["▁le"], alignment=[5]),
        "alignment 0: not a list",
    ),
    "an alignment of words": (
        lambda t: t.encode("a", source=["▁le"], alignment=[("a", "b")]),
        "alignment 0: a position is not",
    ),
    "alignments that are a number": (
        lambda t: t.encode_batch(["a"], [["▁le"]], alignments=5),
        "alignments must be a list",
    ),
    "a source to align that is a number": (lambda t: t.align(5, "a"), "the source must be a list"),
    # Flags and choices.
    **{
        f"whole_sentence={value!r}": (
            lambda t, value=value: t.encode("a", source=["▁le"], whole_sentence=value),
            "whole_sentence must be true or false",
        )
        for value in ("x", "", 0, 1, 0.0, [], np.True_)
    },
    "whole_sentence without a source": (
        lambda t: t.encode("a", whole_sentence="x"),
        "whole_sentence must be true or false",
    ),
    "add_bos": (lambda t: t.encode("a", add_bos="x"), "add_bos must be true or false"),
    "add_eos": (lambda t: t.encode_batch(["a"], add_eos=1), "add_eos must be true or false"),
    "out_type": (lambda t: t.encode("a", out_type="int"), "out_type must be"),
    "model": (lambda t: t.encode("a", model="trigram"), "model must be one of unigram, bigram"),
    "a list for a model": (lambda t: t.encode("a", model=["x"]), "model must be one of"),
    "alpha": (lambda t: t.sample("a", alpha=float("nan")), "alpha must be between"),
    "n": (lambda t: t.nbest("a", 2**64), "n must be between"),
    # Ids.
    **{
        f"decode {row!r:.9}": (lambda t, row=row: t.decode(row), "row 0 is not a list of numbers")
        for row in WRONG_ROWS
    },
    "decode a text": (lambda t: t.decode("12"), "row 0 has something that is not a whole number"),
    "decode pieces": (lambda t: t.decode(["il"]), "row 0 has something that is not a whole number"),
    "decode fractions": (lambda t: t.decode([1.0]), "something that is not a whole number"),
    "decode lists": (lambda t: t.decode([[1]]), "something that is not a whole number"),
    "decode a huge id": (lambda t: t.decode([2**64]), "row 0 has a number that no piece has"),
    "decode a large id": (lambda t: t.decode([2**40]), "is not in the vocabulary"),
    "decode a negative id": (lambda t: t.decode([-1]), "id -1 is not in the vocabulary"),
    "decode a batch that is a number": (lambda t: t.decode_batch(5), "the ids must be a list"),
    "decode a batch of ids": (lambda t: t.decode_batch([5]), "row 0 is not a list of numbers"),
    "the piece of a name": (lambda t: t.id_to_piece("il"), "is not in the vocabulary"),
    # Threads.
    **{
        f"{name}, num_threads={value!r}": (
            lambda t, call=call, value=value: call(t, num_threads=value),
            "num_threads must be between 1 and 1,024",
        )
        for value in WRONG_THREADS
        for name, call in {
            "encode_batch": lambda t, **how: t.encode_batch(["a"], **how),
            "sample_batch": lambda t, **how: t.sample_batch(["a"], **how),
            "decode_batch": lambda t, **how: t.decode_batch([[5]], **how),
            "calibrate": lambda t, **how: t.calibrate(["a"], reference=5, **how),
            "train_from_pairs": lambda _, **how: pairpiece.train_from_pairs(PAIRS, 640, **how),
        }.items()
    },
}


@pytest.mark.parametrize("case", CALLS)
def test_wrong_arguments_are_told(case: str, tokenizer: pairpiece.Tokenizer) -> None:
    call, message = CALLS[case]
    with pytest.raises(pairpiece.OptionError) as caught:
        call(tokenizer)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.encode_batch(failing()),
        lambda t: t.encode("a", source=failing()),
        lambda t: t.encode("a", source=[failing()]),
        lambda t: t.encode("a", source=["▁le"], alignment=failing()),
        lambda t: t.decode(failing()),
        lambda t: t.decode_batch(failing()),
    ],
)
def test_errors_of_what_is_given_come_through(call: Call, tokenizer: pairpiece.Tokenizer) -> None:
    with pytest.raises(LookupError, match="mine"):
        call(tokenizer)


def test_anything_that_can_be_iterated_over_is_a_batch(tokenizer: pairpiece.Tokenizer) -> None:
    expected = tokenizer.encode_batch(["il", "gatto"], [["▁le"], ["▁chat"]])
    for make in (tuple, iter, np.array):
        texts: Any = make(["il", "gatto"])
        sources: Any = iter([np.array(["▁le"]), ("▁chat",)])
        assert tokenizer.encode_batch(texts, sources, alignments=iter([None, None])) == expected
    assert tokenizer.decode(np.array(tokenizer.encode("il"))) == "il"  # type: ignore[arg-type]
    assert tokenizer.decode_batch(iter([iter(tokenizer.encode("il"))])) == ["il"]  # type: ignore[arg-type]


THREADS = """
import sys
import threading
from pathlib import Path

import pairpiece
from pairpiece.run import memory

tokenizer = pairpiece.train_from_pairs([(["S"], "il"), (["T"], "gatto")], 280, num_threads=1024,
                                       hard_vocab_limit=False)
texts = ["il gatto " * 50] * 20_000
expected = tokenizer.encode_batch(texts)
most = 0
done = threading.Event()

def watch():
    global most
    while not done.wait(0.001):
        most = max(most, len(list(Path("/proc/self/task").iterdir())))

watcher = threading.Thread(target=watch)
watcher.start()
before = memory.peak_bytes()
assert tokenizer.encode_batch(texts, num_threads=1024) == expected
done.set()
watcher.join()
print(most, memory.peak_bytes() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_no_more_threads_are_started_than_there_are_processors_or_sixteen() -> None:
    run = subprocess.run(
        [sys.executable, "-c", THREADS], stdout=subprocess.PIPE, text=True, check=True
    )
    most, growth = map(int, run.stdout.split())
    processors = max(16, os.cpu_count() or 1)
    assert 2 < most <= processors + 2
    assert growth < processors * 2**25 + 2**28
