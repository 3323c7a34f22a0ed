"""Intervals and p-values mean what they say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support import tampering
from support.command_line import begin_of_sample, text
from support.evaluations import (
    ALIGNER,
    NO_ALIGNER,
    OF_TEXT,
)

from pairpiece import evaluate
from pairpiece.evaluation import Comparison, Evaluation, bootstrap
from pairpiece.evaluation.systems import System

pytestmark = pytest.mark.usefixtures("here")


def drawn(sentences: int, resamples: int, seed: int) -> np.ndarray:
    return np.array(list(bootstrap.draws(sentences, resamples, seed)))


@pytest.mark.parametrize(("sentences", "resamples"), [(1, 10), (7, 50), (200, 20)])
def test_a_resample_has_as_many_sentences_as_the_text(sentences: int, resamples: int) -> None:
    counts = drawn(sentences, resamples, 0)
    assert counts.shape == (resamples, sentences)
    assert (counts.sum(axis=1) == sentences).all()
    assert (counts >= 0).all()
    assert (counts == np.round(counts)).all()


def test_draws_depend_on_the_seed_alone() -> None:
    assert (drawn(30, 20, 5) == drawn(30, 20, 5)).all()
    assert (drawn(30, 20, 5) != drawn(30, 20, 6)).any()


def test_every_sentence_is_drawn_equally_often() -> None:
    counts = drawn(10, 5000, 0)
    assert counts.mean(axis=0) == pytest.approx(np.ones(10), abs=0.06)
    assert counts.var(axis=0) == pytest.approx(np.full(10, 0.9), abs=0.1)  # binomial


def test_an_interval_is_the_middle_95_percent() -> None:
    resampled = np.random.default_rng(0).permutation(np.arange(1001.0))
    assert bootstrap.interval(500, resampled) == (25, 975)
    assert bootstrap.interval(3, np.full(20, 3.0)) == (3, 3)


def test_an_interval_lies_around_the_value_even_if_resamples_are_all_lower() -> None:
    assert bootstrap.interval(600, np.arange(1001.0)) == (125, 1075)


def test_an_interval_without_resamples_is_the_value() -> None:
    assert bootstrap.interval(3, np.array([np.nan, np.nan])) == (3, 3)


def test_an_interval_has_the_width_of_the_standard_error() -> None:
    data = np.random.default_rng(1).normal(5, 2, 400)
    low, high = bootstrap.interval(data.mean(), drawn(400, 2000, 0) @ data / 400)
    error = data.std() / 20
    assert (low, high) == pytest.approx(
        (data.mean() - 1.96 * error, data.mean() + 1.96 * error), abs=0.3 * error
    )


def test_no_difference_has_a_p_value_of_one() -> None:
    assert bootstrap.p_value(0.0, np.zeros(100)) == 1


@pytest.mark.parametrize("sign", [1, -1])
def test_a_large_difference_has_a_small_p_value(sign: int) -> None:
    resampled = sign * np.random.default_rng(0).normal(10, 1, 999)
    assert bootstrap.p_value(sign * 10.0, resampled) == 1 / 1000


def test_a_p_value_is_the_share_of_resamples_that_are_as_far_from_their_mean() -> None:
    resampled = np.array([1.0, 2, 3, 4, 5, 6, 7, 8, 9])  # 4, 3, 2, 1, 0, 1, 2, 3, 4 from the mean
    assert bootstrap.p_value(3.0, resampled) == (1 + 4) / 10
    assert bootstrap.p_value(-3.0, resampled) == (1 + 4) / 10
    assert bootstrap.p_value(4.5, resampled) == (1 + 0) / 10


@pytest.mark.parametrize(("shift", "least", "most"), [(0, 0.02, 0.085), (1, 0.95, 1)])
def test_chance_is_rarely_taken_for_a_difference(shift: float, least: float, most: float) -> None:
    random = np.random.default_rng(0)
    found = []
    for seed in range(400):
        common = random.poisson(20, 150)  # long sentences are long for both
        one, other = (common + random.poisson(3, 150) for _ in range(2))
        difference = one - other + shift
        resampled = drawn(150, 200, seed) @ difference
        found.append(bootstrap.p_value(float(difference.sum()), resampled) < 0.05)
    assert least <= np.mean(found) <= most


def poisson_system(name: str, seed: int, mean: float, sentences: int) -> System:
    sizes = np.random.default_rng(seed).poisson(mean, sentences) + 1
    rows = [[f"t{i % 7}" for i in range(size)] for size in sizes]
    return System(name, name, lambda _: rows, None)


def test_p_values_of_an_evaluation_are_calibrated() -> None:
    targets = ["due parole"] * 80
    given = [poisson_system(str(i), i, 6, 80) for i in range(150)]
    given.append(poisson_system("long", 1000, 9, 80))
    found = evaluate(given, targets, metrics=["fertility"], resamples=300)
    p = [score.comparison.p for score in found.scores if score.comparison is not None]
    assert len(p) == 150
    # All are compared with the same one, so they are not independent of each other.
    assert np.mean(np.array(p[:-1]) < 0.05) < 0.25
    assert p[-1] < 0.01


@pytest.fixture(scope="module")
def compared() -> Evaluation:
    """Systems that are alike and different, on real text, without an aligner."""
    both = begin_of_sample(150)
    targets, sources = [target for _, target in both], [source for source, _ in both]
    folder = tampering.saved().name

    def cut(size: int) -> System:
        def alone(texts: list[str]) -> list[list[str]]:
            return [
                [word[i : i + size] for word in sentence.split() for i in range(0, len(word), size)]
                for sentence in texts
            ]

        known = sorted({token for row in alone(targets) for token in row})
        return System(f"{size}", f"{size}", lambda t: alone(t.targets), alone, known, "<unk>")

    given = [f"a={folder}/@marginal", f"b={folder}/@marginal", f"c={folder}/@paired", cut(3)]
    return evaluate(
        given, targets, sources, other_languages=[sources], align=False, resamples=200, seed=1
    )


def test_identical_tokenizers_do_not_differ(compared: Evaluation) -> None:
    _, twin, *_ = compared.tokenizers
    found = [score for score in compared.scores if score.tokenizer == twin]
    assert len(found) > 12
    for score in found:
        if score.comparison is not None:
            assert score.comparison == Comparison(0, 0, 0, 1), score.metric
        first = compared.score(compared.baseline, score.metric)
        assert first is not None
        assert (first.value, first.low, first.high) == (score.value, score.low, score.high)


@pytest.mark.parametrize("metric", ["tokens", "fertility", "parity", "single_characters"])
def test_different_tokenizers_differ(metric: str, compared: Evaluation) -> None:
    score = compared.score("3", metric)
    assert score is not None
    assert score.comparison is not None
    assert score.comparison.p < 0.01
    assert not score.comparison.low <= 0 <= score.comparison.high


def test_a_difference_is_the_value_less_that_of_the_baseline(compared: Evaluation) -> None:
    seen = set()
    for score in compared.scores:
        first = compared.score(compared.baseline, score.metric)
        if score.tokenizer == compared.baseline or score.metric not in OF_TEXT:
            assert score.comparison is None
        elif first is None:
            assert score.metric == "own_one_to_one"
        else:
            assert score.comparison is not None
            assert score.comparison.difference == pytest.approx(score.value - first.value)
            assert score.comparison.low <= score.comparison.high
            assert 0 < score.comparison.p <= 1
            seen.add(score.metric)
    assert {"tokens", "fertility", "parity", "renyi_efficiency", "vocabulary_usage"} <= seen


def test_the_vocabulary_alone_has_no_interval(compared: Evaluation) -> None:
    found = [s for s in compared.scores if s.metric in ("vocabulary_overlap", "begin_of_word")]
    assert len(found) == 8
    for score in found:
        assert score.low == score.value == score.high
        assert score.comparison is None


@pytest.mark.parametrize("metric", sorted(set(OF_TEXT) - ALIGNER))
def test_an_interval_contains_the_value(metric: str, compared: Evaluation) -> None:
    found = [score for score in compared.scores if score.metric == metric]
    assert found
    for score in found:
        assert score.low <= score.value <= score.high, score
        if score.comparison is not None:
            compared_ = score.comparison
            assert compared_.low <= compared_.difference <= compared_.high, score


@pytest.mark.parametrize("metric", sorted(ALIGNER))
def test_an_interval_of_the_aligner_contains_the_value(metric: str, everything: Evaluation) -> None:
    found = [score for score in everything.scores if score.metric == metric]
    assert len(found) == 11
    for score in found:
        assert score.low <= score.value <= score.high, score


def test_numbers_that_a_resample_does_not_have_are_left_out(tmp_path: Path) -> None:
    """Zipf needs three different tokens, and the ratio an efficiency to divide by."""
    (tmp_path / "one").write_text(text("a", "a b c", "a b c"))
    (tmp_path / "other").write_text(text("a", "a b c d", "a b c d e"))
    given = [f"pretokenized:{tmp_path}/{name}" for name in ("one", "other")]
    found = evaluate(given, ["a", "b", "c"], **NO_ALIGNER)
    json.loads(json.dumps(found.as_dict(), allow_nan=False))
    for score in found.scores:
        assert score.low <= score.high, score.metric


def test_one_sentence_proves_nothing(tmp_path: Path) -> None:
    (tmp_path / "one").write_text(text("a b c"))
    (tmp_path / "other").write_text(text("a b c d"))
    given = [f"pretokenized:{tmp_path}/{name}" for name in ("one", "other")]
    found = evaluate(given, ["a b c"], **NO_ALIGNER)
    assert all(score.comparison.p > 0.05 for score in found.scores if score.comparison)


def test_the_chance_of_the_aligner_is_not_taken_for_a_difference() -> None:
    random = np.random.default_rng(0)
    assert bootstrap.drawn_again(0.5, random) == 0.5
    assert bootstrap.drawn_again(None, random) is None
    runs = [0.1, 0.2, 0.3]
    drawn_runs = [bootstrap.drawn_again(runs, random) for _ in range(200)]
    assert all(set(again or []) <= set(runs) and len(again or []) == 3 for again in drawn_runs)
    assert len({tuple(again or []) for again in drawn_runs}) > 10
