"""The compiled core gives the numbers of the reference implementation."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.worlds import PENALTIES, learning, pairs

from pairpiece.learning import pruning
from pairpiece.learning.engine import Engine, compiled
from pairpiece.learning.options import LearningOptions
from pairpiece.learning.oracle import Oracle
from pairpiece.learning.pairs import Pairs
from pairpiece.learning.schedule import follow_schedule
from pairpiece.options import LengthPenalty

MODES = ("default", "paper", "paper-hard", "unigram")


def engines(world: Pairs, options: LearningOptions) -> tuple[Engine, Oracle]:
    if options.source_side == "none":
        world = world.without_source()
    reserved = ["ab c"]
    return compiled(world, options, reserved, threads=2), Oracle(world, options, reserved)


def assert_same_table(core: Engine, reference: Engine) -> None:
    assert core.pieces() == reference.pieces()
    for ours, theirs in zip(core.table(), reference.table(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(core.source_counts(), reference.source_counts(), rtol=1e-8)
    np.testing.assert_allclose(core.base(), reference.base(), rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=1000, deadline=None)
@given(data=st.data())
def test_every_step_agrees(mode: str, data: st.DataObject) -> None:
    world = data.draw(pairs(aligned=mode.startswith("paper")))
    options = learning(
        mode,
        length_penalty=data.draw(PENALTIES) if mode == "default" else LengthPenalty(),
        min_seed_count=data.draw(st.sampled_from([1.0, 2.0])),
        max_piece_length=data.draw(st.sampled_from([2, 16])),
        max_seeds=data.draw(st.sampled_from([0, 5])),
        character_coverage=data.draw(st.sampled_from([1.0, 0.8])),
    )
    if mode == "paper" and data.draw(st.booleans()):
        options = dataclasses.replace(options, counting="posterior")
    core, reference = engines(world, options)
    for engine in (core, reference):
        engine.initialize()
    assert_same_table(core, reference)
    for _ in range(2):
        assert core.log_table_prior() == pytest.approx(reference.log_table_prior(), rel=1e-8)
        assert core.count() == pytest.approx(reference.count(), rel=1e-8, abs=1e-9)
        assert_same_table(core, reference)
    np.testing.assert_allclose(
        core.mutual_information(), reference.mutual_information(), rtol=1e-6, atol=1e-8
    )
    for ours, theirs in zip(core.tied_uses(), reference.tied_uses(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-9)
    penalty = data.draw(PENALTIES)
    arguments = (penalty.over, penalty.under, penalty.unlinked, data.draw(st.floats(-2, 2)))
    np.testing.assert_allclose(core.best_counts(*arguments), reference.best_counts(*arguments))
    scores = data.draw(
        st.lists(st.floats(-20, 5), min_size=len(core.pieces()), max_size=len(core.pieces()))
    )
    np.testing.assert_allclose(
        core.unigram_counts(np.array(scores)), reference.unigram_counts(scores), atol=1e-12
    )

    flags = data.draw(
        st.lists(st.integers(0, 1), min_size=len(core.pieces()), max_size=len(core.pieces()))
    )
    core.keep(np.array(flags, np.uint8))
    reference.keep(flags)
    assert_same_table(core, reference)
    assert core.count() == pytest.approx(reference.count(), rel=1e-8, abs=1e-9)
    assert_same_table(core, reference)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_whole_training_agrees(mode: str, data: st.DataObject) -> None:
    world = data.draw(pairs(aligned=mode.startswith("paper")))
    options = learning(mode, min_seed_count=1.0)
    core, reference = engines(world, options)
    wanted = core.characters() + data.draw(st.integers(0, 8))
    for engine in (core, reference):
        follow_schedule(engine, options, min(wanted, len(engine.pieces())))
    assert_same_table(core, reference)


@pytest.mark.parametrize("name", list(pruning.SCORES))
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_pruning_scores_agree(name: str, data: st.DataObject) -> None:
    core, reference = engines(data.draw(pairs()), learning("default"))
    for engine in (core, reference):
        engine.initialize()
        engine.count()
    weight = data.draw(st.sampled_from([0.0, 3.0]))
    np.testing.assert_allclose(
        pruning.SCORES[name](core, weight),
        pruning.SCORES[name](reference, weight),
        rtol=1e-6,
        atol=1e-7,
    )


@settings(max_examples=500, deadline=None)
@given(world=pairs(), penalty=PENALTIES, smoothing=st.sampled_from([0.1, 1.0, 10.0]))
def test_likelihood_with_its_prior_never_falls(
    world: Pairs, penalty: LengthPenalty, smoothing: float
) -> None:
    options = learning("default", length_penalty=penalty, smoothing=smoothing, min_seed_count=1.0)
    engine = compiled(world, options, [], threads=1)
    engine.initialize()
    before = -np.inf
    for _ in range(8):
        prior = engine.log_table_prior()
        objective = engine.count() + prior
        assert objective >= before - 1e-9 * max(1.0, abs(objective))
        before = objective


def test_the_order_of_additions_does_not_decide_which_characters_are_covered() -> None:
    words = [(" ", 1.129, 1), ("aaaa b", 6.531, 0.5), ("aaaa b", 8.938, 1), ("b b", 1.129, 1)]
    world = Pairs.from_iterable((["S"], word, n, expected) for word, n, expected in words)
    core, reference = engines(world, learning("paper-hard", character_coverage=0.8))
    assert core.pieces() == reference.pieces()
