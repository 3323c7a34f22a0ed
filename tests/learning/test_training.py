"""Training: progress, limits, modes and interruption."""

from __future__ import annotations

import math
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.french_italian import PAIRS, SENTENCES, TARGETS

import pairpiece
from pairpiece import MemoryLimitError, Progress
from pairpiece.learning.options import MODES, options_for
from pairpiece.learning.outcome import vocabulary_of

SOURCES = [source for source, _, _ in SENTENCES]
FIXED = 260  # special tokens and bytes


def train(vocab_size: int = 400, mode: str = "default", **options: Any) -> pairpiece.Tokenizer:
    return pairpiece.train_from_pairs(PAIRS, vocab_size, mode, **options)


def learned(tokenizer: pairpiece.Tokenizer) -> list[str]:
    return [tokenizer.id_to_piece(i) for i in range(FIXED, len(tokenizer))]


# ---------------------------------------------------------------------- progress


@pytest.mark.parametrize("mode", MODES)
def test_progress_is_reported_after_every_step(mode: str) -> None:
    steps: list[Progress] = []
    tokenizer = train(mode=mode, progress=steps.append)
    first, *rest = steps
    assert first.stage == "seeds"
    assert first.iteration == 0
    assert math.isnan(first.log_likelihood)
    assert {step.stage for step in rest} == {"count", "prune"}
    for before, after in zip(steps, rest, strict=False):
        counted = after.stage == "count"
        assert after.iteration == before.iteration + counted
        assert (
            (after.vocab_size == before.vocab_size)
            if counted
            else (after.vocab_size < before.vocab_size)
        )
        assert after.table_entries <= before.table_entries
        assert after.seconds >= before.seconds
        assert math.isfinite(after.log_likelihood)
    assert all(step.seconds >= 0 and step.table_entries > 0 for step in steps)
    assert steps[-1].vocab_size == len(tokenizer) - FIXED
    assert steps[-1].stage == "count"


def test_more_passes_are_reported() -> None:
    passes = []
    for number in (1, 3):
        steps: list[Progress] = []
        train(1000, progress=steps.append, num_sub_iterations=number, num_final_iterations=0)
        passes.append(steps[-1].iteration)
    assert passes[0] < passes[1]


def test_the_likelihood_rises_between_prunings() -> None:
    steps: list[Progress] = []
    train(mode="unigram", progress=steps.append, num_final_iterations=8)
    final = [step.log_likelihood for step in steps[-8:]]
    assert final == sorted(final)


def test_a_callback_changes_nothing() -> None:
    plain = train()
    told = train(progress=lambda _: "ignored")
    assert told.get_vocab() == plain.get_vocab()


def test_what_a_callback_raises_stops_training() -> None:
    class EnoughError(Exception):
        pass

    steps: list[Progress] = []

    def stop(step: Progress) -> None:
        steps.append(step)
        if step.stage == "prune":
            raise EnoughError

    with pytest.raises(EnoughError):
        train(progress=stop)
    assert steps[-1].stage == "prune"


def test_training_leaves_the_pairs_alone(pairs: pairpiece.Pairs) -> None:
    before = list(pairs.rows())
    first = pairpiece.train_from_pairs(pairs, 400)
    assert list(pairs.rows()) == before
    assert pairpiece.train_from_pairs(pairs, 400).get_vocab() == first.get_vocab()


# ---------------------------------------------------------------------- memory


def test_a_small_limit_stops_before_learning_with_advice() -> None:
    for limit in (0, 1, 1000):
        steps: list[Progress] = []
        with pytest.raises(MemoryLimitError) as caught:
            train(memory_limit=limit, progress=steps.append)
        assert not steps
        assert isinstance(caught.value, pairpiece.PairPieceError)
        assert "memory_limit" in str(caught.value)
        assert "max_piece_length" in str(caught.value)


def long_words(number: int) -> list[tuple[list[str], str]]:
    return [([f"s{i}"], f"▁{i:064b}{i}") for i in range(number)]


def test_a_limit_stops_before_the_memory_is_taken() -> None:
    pairs = pairpiece.Pairs.from_iterable(long_words(20_000))
    how: dict[str, Any] = {"memory_limit": 10 * 2**20, "max_piece_length": 63}
    steps: list[Progress] = []
    with pytest.raises(MemoryLimitError, match=r"may need [\d,]+ MiB but memory_limit is 10 MiB"):
        pairpiece.train_from_pairs(pairs, progress=steps.append, **how)
    assert not steps


def test_the_limit_also_covers_the_table() -> None:
    """Few words, and so few seeds, but each with very many sources."""
    pairs = [([f"s{i}"], word) for i in range(3000) for word in ("parola", "parole")]
    with pytest.raises(MemoryLimitError, match="co-occurrence table"):
        pairpiece.train_from_pairs(pairs, 300, memory_limit=2**20, hard_vocab_limit=False)


@pytest.mark.parametrize("limit", [None, 2**30, 2**62, 10**30])
def test_a_large_limit_changes_nothing(limit: int | None) -> None:
    assert train(memory_limit=limit).get_vocab() == train().get_vocab()


def needed(pairs: pairpiece.Pairs, limit: int, **options: Any) -> tuple[int, str]:
    """How many MiB training says that it needs, and what it advises."""
    try:
        pairpiece.train_from_pairs(
            pairs, 300, memory_limit=limit, hard_vocab_limit=False, progress=stop, **options
        )
    except MemoryLimitError as error:
        numbers, advice = str(error).split(": ")
        return int(numbers.split()[-7].replace(",", "")), advice
    except StopIteration:
        pass
    return 0, ""


def stop(_: Progress) -> None:
    raise StopIteration


@pytest.mark.parametrize("stage", ["collecting the seeds", "the co-occurrence table"])
def test_the_advice_helps(stage: str) -> None:
    if stage == "collecting the seeds":
        pairs, limit = pairpiece.Pairs.from_iterable(long_words(2000)), 1
    else:
        many = [([f"s{i}"], f"parola{k}") for i in range(500) for k in range(20)]
        pairs, limit = pairpiece.Pairs.from_iterable(many), 2**18
    before, advice = needed(pairs, limit)
    assert before > 0
    assert "max_piece_length" in advice
    helpful = {"min_seed_count": 1e9, "max_seeds": 1, "max_piece_length": 2}
    for name, value in helpful.items():
        if name in advice:
            after, _ = needed(pairs, limit, **{name: value})
            assert after < before, name


# ---------------------------------------------------------------------- the vocabulary


def test_rare_characters_are_left_to_the_bytes() -> None:
    pairs = [*PAIRS, (["x"], "▁ωmega", 1)]
    covered = pairpiece.train_from_pairs(pairs, 400)
    assert "ω" in covered.get_vocab()
    tokenizer = pairpiece.train_from_pairs(pairs, 400, character_coverage=0.99)
    assert not [piece for piece in learned(tokenizer) if "ω" in piece]
    assert "a" in tokenizer.get_vocab()
    pieces = tokenizer.encode("ω gatto", out_type=str)
    assert pieces[:2] == ["<0xCF>", "<0x89>"]
    for text in ("ω gatto", "▁ωmega", "ωω"):
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert tokenizer.decode(tokenizer.encode(text, source=["x", "▁chat"])) == text


def test_coverage_keeps_the_fewest_characters_that_reach_it() -> None:
    pairs = [(["s"], "a", 90), (["s"], "b", 9), (["s"], "c", 1)]
    for coverage, expected in ((0.5, "a"), (0.9, "a"), (0.91, "ab"), (0.99, "ab"), (1.0, "abc")):
        tokenizer = pairpiece.train_from_pairs(
            pairs, hard_vocab_limit=False, character_coverage=coverage
        )
        assert sorted(learned(tokenizer)) == list(expected)


def test_coverage_works_without_bytes() -> None:
    tokenizer = train(150, character_coverage=0.9, byte_fallback=False)
    assert tokenizer.encode("è", out_type=str) == ["<unk>"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("longest", [1, 2, 3, 5, 63])
def test_pieces_are_not_longer_than_allowed(mode: str, longest: int) -> None:
    tokenizer = train(420, mode, max_piece_length=longest, hard_vocab_limit=False)
    lengths = {len(piece) for piece in learned(tokenizer)}
    assert max(lengths) <= longest
    if longest < 5:
        assert max(lengths) == longest


def test_long_characters_make_long_pieces_possible() -> None:
    word = "▁" + "𝔘𝔫𝔦𝔠𝔬𝔡𝔢" * 9
    tokenizer = pairpiece.train_from_pairs(
        [(["s"], word, 50)],
        5000,
        hard_vocab_limit=False,
        normalization="none",
        max_piece_length=63,
        min_expected_count=0.0,
    )
    assert tokenizer.decode(tokenizer.encode(word.replace("▁", " "))) == word.replace("▁", " ")
    assert max(map(len, learned(tokenizer))) <= 63


def test_seeds_can_be_capped() -> None:
    steps: list[Progress] = []
    for cap in (0, 50, 10, 1):
        train(1, max_seeds=cap, hard_vocab_limit=False, progress=steps.append)
    first = [step.vocab_size for step in steps if step.stage == "seeds"]
    characters = len({c for _, word, _ in PAIRS for c in word})
    assert first[1:] == [characters + 50, characters + 10, characters + 1]
    assert first[0] > characters + 50


def test_seeds_must_occur_often_enough() -> None:
    pairs = [(["s"], "aaab", 3), (["s"], "aab", 2)]
    tokenizer = pairpiece.train_from_pairs(
        pairs, hard_vocab_limit=False, min_seed_count=5, min_expected_count=0.0
    )
    assert set(learned(tokenizer)) <= {"a", "b", "aa", "ab", "aab"}


def test_pieces_do_not_cross_words() -> None:
    for piece in learned(train(900)):
        assert "▁" not in piece[1:]


# ---------------------------------------------------------------------- modes


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("threads", [1, 2])
def test_every_mode_learns_and_encodes(mode: str, threads: int) -> None:
    tokenizer = train(450, mode, num_threads=threads)
    assert len(tokenizer) == 450
    assert tokenizer.provenance["mode"] == mode
    assert tokenizer.is_paired == (mode != "unigram")
    for target in TARGETS:
        ids = tokenizer.encode(target)
        assert tokenizer.decode(ids) == tokenizer.normalize(target)
        assert len(ids) < len(target)
    if tokenizer.is_paired:
        encodings = tokenizer.encode_batch(TARGETS, SOURCES, out_type=pairpiece.Encoding)
        for target, encoding in zip(TARGETS, encodings, strict=True):
            assert tokenizer.decode(encoding.ids) == tokenizer.normalize(target)
            assert math.isfinite(encoding.log_prob)
    else:
        with pytest.raises(pairpiece.OptionError, match="trained without a source side"):
            tokenizer.encode(TARGETS[0], source=SOURCES[0])
    assert train(450, mode).encode_batch(TARGETS) == tokenizer.encode_batch(TARGETS)


@pytest.mark.parametrize("use", ["encode", "encode_batch", "nbest", "sample", "align", "lexicon"])
def test_a_unigram_tokenizer_says_that_it_cannot_encode_paired(use: str) -> None:
    tokenizer = train(mode="unigram")
    assert not tokenizer.is_paired
    calls: dict[str, Any] = {
        "encode": lambda: tokenizer.encode("il", source=["▁le"]),
        "encode_batch": lambda: tokenizer.encode_batch(["il"], [["▁le"]]),
        "nbest": lambda: tokenizer.nbest("il", source=["▁le"]),
        "sample": lambda: tokenizer.sample("il", source=["▁le"]),
        "align": lambda: tokenizer.align(["▁le"], "il"),
        "lexicon": lambda: tokenizer.lexicon(),
    }
    with pytest.raises(pairpiece.OptionError, match=r"without a source side \(mode unigram\)"):
        calls[use]()


def test_the_unigram_mode_does_not_look_at_the_source() -> None:
    alone = [([], word, count) for _, word, count in PAIRS]
    other = pairpiece.train_from_pairs(alone, 400, "unigram")
    assert other.get_vocab() == train(mode="unigram").get_vocab()


def test_the_paired_modes_do_look_at_the_source() -> None:
    tokenizer = train(450)
    right = tokenizer.encode(" topi", source=["▁sou", "ris"], out_type=pairpiece.Encoding)
    wrong = tokenizer.encode(" topi", source=["▁et"], out_type=pairpiece.Encoding)
    assert right.log_prob > wrong.log_prob


def test_one_pair_is_enough() -> None:
    for mode in MODES:
        tokenizer = pairpiece.train_from_pairs([(["s"], "a")], mode=mode, hard_vocab_limit=False)
        assert tokenizer.encode("a", out_type=str)[-1] == "a"


def test_very_long_words_can_be_learned_from() -> None:
    words = [(["s", "t"], "ab" * 2000, 3), (["s"], "ba" * 300, 2), (["t"], "c", 9)]
    for mode in MODES:
        tokenizer = pairpiece.train_from_pairs(words, 275, mode)
        assert tokenizer.decode(tokenizer.encode("abab" * 100)) == "abab" * 100


# ---------------------------------------------------------------------- interruption

SLOW = """
import random
import pairpiece

chance = random.Random(1)
pairs = pairpiece.Pairs.from_iterable(
    ([f"s{i % 2999}", f"t{i % 3001}"], f"{chance.getrandbits(72):018x}") for i in range(200_000)
)
print("started", flush=True)
pairpiece.train_from_pairs(pairs, num_threads=THREADS)
print("finished", flush=True)
"""


def work_of(process: int) -> float:
    """How long a process has been on a processor, in seconds."""
    times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


def work_of_children() -> float:
    """The same for all processes that have been started here and have ended."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


@pytest.mark.parametrize("threads", [1, 2])
def test_training_can_be_interrupted(threads: int) -> None:
    script = SLOW.replace("THREADS", str(threads))
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
            started = work_of(process.pid)
            while work_of(process.pid) < started + 1.5:
                assert process.poll() is None, "too fast to be interrupted"
                time.sleep(0.01)
            before, others = work_of(process.pid), work_of_children()
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert "finished" not in output
    assert errors.rstrip().endswith("KeyboardInterrupt")
    worked_on = work_of_children() - others - before
    assert worked_on < before - started


class Vanishing:
    """An engine whose counts have fallen as far as numbers go, as the paper's can."""

    def pieces(self) -> list[str]:
        return ["a", "b", "c"]

    def piece_counts(self) -> list[float]:
        return [1.0, 5e-324, 0.0]


def test_counts_that_vanish_leave_scores() -> None:
    text, learning = options_for("paper", {})
    found = vocabulary_of(Vanishing(), text, learning)  # type: ignore[arg-type]
    scores = dict(zip(found.pieces, found.scores, strict=True))
    assert scores["a"] > -1
    assert -1000 < scores["b"] == scores["c"] < -700
