"""Models that learn: order, learning rate, checkpoints, early stopping."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pairpiece.downstream.batches import Batches, of_similar_length
from pairpiece.downstream.language_model import (
    END,
    Ends,
    LanguageModelTask,
    negative_log_likelihoods,
    windows,
)
from pairpiece.downstream.rows import Rows, load_rows, save_rows
from pairpiece.downstream.settings import (
    LanguageModelSettings,
    language_model_settings,
    translation_settings,
)
from pairpiece.downstream.training_loop import (
    BEST,
    CHECKPOINT,
    History,
    Training,
    learning_rate,
    train_model,
)
from pairpiece.errors import CorpusError, OptionError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

RANDOM = np.random.default_rng(7)
SENTENCES = Rows.of(RANDOM.integers(1, 20, RANDOM.integers(1, 12)).tolist() for _ in range(60))
SIZES = np.array([3 * len(row) for row in SENTENCES], np.int64)


def settings(**changes: Any) -> LanguageModelSettings:
    small = {"layers": 1, "width": 16, "heads": 2, "context": 8, "examples": 96, "batch": 8}
    return language_model_settings("tiny", **{**small, "evaluate_every": 4, **changes})


def task(chosen: LanguageModelSettings) -> LanguageModelTask:
    return LanguageModelTask(chosen, 20, SENTENCES, SIZES, SENTENCES, int(SIZES.sum()))


# ---------------------------------------------------------------------- order


def test_every_line_comes_once_before_any_comes_again() -> None:
    batches = Batches(SIZES, 8, seed=1)
    seen = np.concatenate([batches[i] for i in range(8)])
    assert sorted(seen) == list(range(60))
    again = np.concatenate([batches[i] for i in range(8, 16)])
    assert sorted(again) == list(range(60))
    assert list(seen) != list(again)


def test_the_order_depends_on_the_seed_and_not_on_what_was_asked_before() -> None:
    one, other = Batches(SIZES, 8, seed=1), Batches(SIZES, 8, seed=1)
    assert list(other[11]) == list([one[i] for i in range(12)][11])
    assert list(Batches(SIZES, 8, seed=2)[0]) != list(one[0])


def test_lines_of_a_batch_are_about_as_long() -> None:
    sizes = np.arange(1000)
    spread = [np.ptp(sizes[Batches(sizes, 10, seed=1)[i]]) for i in range(100)]
    assert np.mean(spread) < 100  # 1000 if the order were any


def test_groups_of_similar_length_hold_everything_once_and_fit() -> None:
    lengths = RANDOM.integers(1, 50, 200).tolist()
    groups = list(of_similar_length(lengths, 100))
    assert sorted(np.concatenate(groups)) == list(range(200))
    assert all(len(group) * max(lengths[i] for i in group) <= 100 for group in groups)
    assert list(of_similar_length([], 100)) == []


# ---------------------------------------------------------------------- learning rate


def test_the_learning_rate_rises_and_falls() -> None:
    cosine = settings(warmup=3, learning_rate=1.0)
    rates = [learning_rate(cosine, update) for update in range(13)]
    assert rates[:4] == pytest.approx([1 / 3, 2 / 3, 1.0, 1.0])
    assert rates[12] == pytest.approx(0.0)
    assert rates[3:] == sorted(rates[3:], reverse=True)
    root = dataclasses.replace(cosine, schedule="inverse-sqrt", warmup=4)
    assert learning_rate(root, 3) == 1.0
    assert learning_rate(root, 15) == pytest.approx(0.5)


# ---------------------------------------------------------------------- resuming


def interrupted(folder: Path, chosen: LanguageModelSettings, after: int) -> None:
    """Train, but be killed after some updates."""

    def killed(updates: int) -> None:
        if updates == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_model(task(chosen), chosen, 3, folder, advance=killed)


@pytest.mark.parametrize("changes", [{}, {"averaging": 0.1, "accumulation": 2, "dropout": 0.2}])
def test_a_training_that_was_killed_ends_as_if_it_had_not_been(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    chosen = settings(**{"examples": 160, **changes})
    folders = [tmp_path / name for name in ("whole", "killed")]
    for folder in folders:
        folder.mkdir()
    whole, history = train_model(task(chosen), chosen, 3, folders[0])
    interrupted(folders[1], chosen, after=6)
    assert (folders[1] / CHECKPOINT).is_file()
    seen: list[int] = []
    resumed, again = train_model(task(chosen), chosen, 3, folders[1], advance=seen.append)
    assert seen[0] == 5  # the checkpoint is of update 4
    assert again.curve == history.curve
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, resumed.state_dict()[name]), name


def test_a_damaged_checkpoint_is_an_error_that_names_it(tmp_path: Path) -> None:
    chosen = settings()
    interrupted(tmp_path, chosen, after=6)
    content = (tmp_path / CHECKPOINT).read_bytes()
    for damaged in (content[: len(content) // 2], b"", b"\x80\x04pickle"):
        (tmp_path / CHECKPOINT).write_bytes(damaged)
        with pytest.raises(CorpusError, match=r"checkpoint\.safetensors: damaged .* delete it"):
            train_model(task(chosen), chosen, 3, tmp_path)


def test_the_best_model_is_kept_not_the_last(tmp_path: Path) -> None:
    chosen = settings()
    training = Training(task(chosen), chosen, 1, tmp_path, "cpu")
    while not training.history.is_over(chosen):
        training.update()
    losses = [loss for _, _, loss in training.history.curve]
    best = training.best()
    found = negative_log_likelihoods(best, SENTENCES).sum() / SIZES.sum()
    assert found == pytest.approx(min(losses))
    assert training.history.best_loss == min(losses)
    assert (tmp_path / BEST).is_file()


def test_training_ends_when_the_dev_text_gains_no_more() -> None:
    chosen = settings(patience=2, examples=10_000)
    history = History(updates=12, curve=[(4, 1.0, 2.0), (8, 1.0, 1.0)], best_update=8)
    assert not history.is_over(chosen)
    history.curve += [(12, 1.0, 1.1), (16, 1.0, 1.2)]
    assert history.is_over(chosen)
    assert not history.is_over(settings(patience=0, examples=10_000))
    assert History(updates=1250).is_over(chosen)


def test_a_training_that_diverges_says_what_to_do(tmp_path: Path) -> None:
    chosen = settings(learning_rate=1e11, warmup=0, clip_norm=1e9)
    with pytest.raises(OptionError, match="lower learning_rate"):
        train_model(task(chosen), chosen, 1, tmp_path)


# ---------------------------------------------------------------------- probabilities


def one_by_one(model: Any, tokens: list[int], context: int, stride: int) -> float:
    """The slow way: a model call for each token, with nothing but the tokens before it."""
    total = 0.0
    for place in range(1, len(tokens)):
        first = 0
        while place - first > context:
            first += stride
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([tokens[first:place]])).logits[0, -1].double()
        total -= float(torch.log_softmax(logits, -1)[tokens[place]])
    return total


@pytest.mark.parametrize("stride", [1, 3, 4, 8])
def test_the_likelihood_is_the_product_over_all_tokens_and_the_end(stride: int) -> None:
    chosen = settings(context=8)
    torch.manual_seed(5)
    model = task(chosen).model().eval()
    texts = [RANDOM.integers(1, 20, n).astype(np.int32) for n in (0, 1, 5, 7, 8, 9, 16, 17, 40)]
    found = negative_log_likelihoods(model, texts, stride)
    for text, nats in zip(texts, found, strict=True):
        tokens = [END, *map(int, text), END]
        assert nats == pytest.approx(one_by_one(model, tokens, 8, stride), rel=1e-5)


def test_windows_score_every_token_once_with_enough_before_it() -> None:
    for tokens in range(1, 40):
        for stride in (1, 3, 8):
            scored: list[int] = []
            for start, end, known in windows(tokens, 8, stride):
                assert 0 < end - start <= 8
                assert start == 0 or known >= 8 - stride
                scored += range(start + known, end)
            assert scored == list(range(tokens))


def test_long_lines_are_learned_in_parts() -> None:
    chosen = settings(context=4)
    line = Rows.of([list(range(1, 11))])
    found = LanguageModelTask(chosen, 20, line, np.array([30]), line, 30).batch(np.array([0]))
    assert found["inputs"].tolist()[0] == [END, 1, 2, 3]
    assert found["labels"].tolist()[0] == [1, 2, 3, 4]
    labels = found["labels"][found["labels"] >= 0]
    assert labels.tolist() == Ends().around(line[0])[1:].tolist()


# ---------------------------------------------------------------------- rows


def test_rows_survive_a_file(tmp_path: Path) -> None:
    rows = {"a": Rows.of([[1, 2], [], [3]]), "b": Rows.of([])}
    save_rows(tmp_path / "x", rows, {"size": 3})
    found, facts = load_rows(tmp_path / "x")
    assert [row.tolist() for row in found["a"]] == [[1, 2], [], [3]]
    assert len(found["b"]) == 0
    assert facts == {"size": 3}
    both = found["a"] + Rows.of([[9]])
    assert [row.tolist() for row in both] == [[1, 2], [], [3], [9]]
    (tmp_path / "x").write_bytes(b"nothing of the kind")
    with pytest.raises(CorpusError, match="damaged"):
        load_rows(tmp_path / "x")


# ---------------------------------------------------------------------- settings


def test_the_papers_language_model() -> None:
    paper = language_model_settings("paper")
    assert (paper.layers, paper.width, paper.heads, paper.context) == (12, 768, 12, 512)
    assert (paper.batch, paper.accumulation, paper.examples) == (64, 8, 2_000_000)
    assert (paper.learning_rate, paper.schedule, paper.warmup) == (5e-5, "cosine", 1000)
    assert (paper.weight_decay, paper.dropout, paper.half_precision) == (0.1, 0.1, True)


def test_the_papers_translation_model() -> None:
    paper = translation_settings("paper")
    assert (paper.layers, paper.width, paper.heads, paper.inner_width) == (6, 512, 8, 2048)
    assert (paper.updates, paper.batch * paper.accumulation) == (1_000_000, 1000)
    assert (paper.learning_rate, paper.schedule, paper.warmup) == (3e-4, "inverse-sqrt", 16_000)
    assert (paper.betas, paper.epsilon) == ((0.9, 0.98), 1e-9)
    assert (paper.label_smoothing, paper.clip_norm, paper.averaging) == (0.1, 1.0, 1e-4)
    assert (paper.beam, paper.length_normalization, paper.patience) == (8, 0.6, 10)
    assert (paper.evaluate_every, paper.max_length, paper.dropout) == (100_000, 512, 0.1)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"layer": 2}, "no setting 'layer'; did you mean layers"),
        ({"layers": 0}, "layers must be above 0"),
        ({"layers": 1.5}, "layers must be a whole number"),
        ({"layers": True}, "layers must be a whole number"),
        ({"learning_rate": math.nan}, "learning_rate must be above 0"),
        ({"learning_rate": "fast"}, "learning_rate must be a number"),
        ({"dropout": 1.0}, "dropout must be below 1"),
        ({"betas": [0.9]}, "betas must be 2 numbers"),
        ({"schedule": "linear"}, "schedule"),
        ({"half_precision": 1}, "half_precision must be true or false"),
        ({"width": 10, "heads": 4}, "width must be a multiple"),
    ],
)
def test_settings_that_make_no_sense(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(OptionError, match=complaint):
        language_model_settings("tiny", **changes)
    with pytest.raises(OptionError, match="preset"):
        language_model_settings("huge")
