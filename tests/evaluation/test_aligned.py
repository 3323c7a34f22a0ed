"""One aligner for all tokenizers, and signatures that say what it was given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.evaluations import (
    ALIGNER,
    NO_ALIGNER,
    QUICK,
    Diagonal,
    repeatable,
    tokens_of,
    value,
)
from support.french_italian import SOURCES, TARGETS

import pairpiece
from pairpiece import evaluate
from pairpiece.evaluation import Evaluation
from pairpiece.evaluation.parallel_text import ParallelText
from pairpiece.evaluation.systems import systems_of

pytestmark = pytest.mark.usefixtures("here")


def test_all_tokenizers_are_aligned_at_once_each_with_tokens_of_its_own(diagonal: Diagonal) -> None:
    given = ["sp.model", "sp.model", "pretokenized:words"]
    evaluate(given, TARGETS, SOURCES, source_tokenizer=str.split, **QUICK)
    [(_, _, sources, targets)] = diagonal.aligned
    assert sources == [" ".join(source.split()) for source in SOURCES] * 3
    [pieces], [words] = tokens_of("sp.model"), tokens_of("pretokenized:words")
    rows = [pieces, pieces, words]
    expected = [" ".join(f"{i}:{t}" for t in row) for i in range(3) for row in rows[i]]
    assert targets == expected


def test_each_tokenizer_gets_its_own_links(diagonal: Diagonal) -> None:
    given = ["pretokenized:words", "pretokenized:letters"]
    found = evaluate(given, TARGETS, SOURCES, source_tokenizer=str.split, **QUICK)
    assert diagonal.aligned
    sources = sum(len(source.split()) for source in SOURCES)
    for name, tokenized in zip(found.tokenizers, found.tokenized, strict=True):
        linked = sum(
            min(len(source.split()), len(tokens))
            for source, tokens in zip(SOURCES, tokenized.tokens, strict=True)
        )
        tokens = value(found, name, "tokens")
        assert value(found, name, "one_to_one") == pytest.approx(linked / sources)
        assert value(found, name, "unaligned") == pytest.approx(1 - linked / sources)
        assert value(found, name, "one_to_one_target") == pytest.approx(linked / tokens)
        assert value(found, name, "unaligned_target") == pytest.approx(1 - linked / tokens)
        assert value(found, name, "link_f") == pytest.approx(2 * linked / (sources + tokens))
        assert value(found, name, "eflomal_score") == 2.5


def test_the_priors_come_from_the_dev_text_tokenized_alike(diagonal: Diagonal) -> None:
    dev: dict[str, Any] = {"dev_target": TARGETS[:3], "dev_source": SOURCES[:3]}
    given = ["pretokenized:words", "sp.model"]  # nobody knows the dev tokens of the first
    evaluate(given, TARGETS, SOURCES, source_tokenizer=str.split, **QUICK, **dev)
    first, second = diagonal.aligned
    assert first[1:3] == (False, [" ".join(source.split()) for source in SOURCES[:3]])
    assert all(token.startswith("1:") for row in first[3] for token in row.split())
    assert second[1] is True
    assert len(second[2]) == 2 * len(SOURCES)


def test_tokenized_text_alone_has_no_priors(diagonal: Diagonal) -> None:
    dev: dict[str, Any] = {"dev_target": TARGETS[:3], "dev_source": SOURCES[:3]}
    evaluate(["pretokenized:words"], TARGETS, SOURCES, source_tokenizer=str.split, **QUICK, **dev)
    assert all(sources for _, _, sources, _ in diagonal.aligned)


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_every_run_has_a_seed_and_a_number(runs: int, diagonal: Diagonal) -> None:
    found = evaluate(["model"], TARGETS, SOURCES, runs=runs, resamples=20, seed=7)
    assert [seed for seed, *_ in diagonal.aligned] == [7 + i for i in range(runs)]
    for score in found.scores:
        assert len(score.runs) == (runs if score.metric in ALIGNER else 0)


def test_a_number_is_the_mean_of_its_runs(everything: Evaluation) -> None:
    scores = [score for score in everything.scores if score.metric in ALIGNER]
    assert len(scores) == 6 * 11
    for score in scores:
        assert len(score.runs) == 2
        assert score.value == pytest.approx(sum(score.runs) / 2)


def test_identical_tokenizers_are_aligned_nearly_alike() -> None:
    [one] = systems_of("sp.model")
    targets, sources = TARGETS * 4, SOURCES * 4
    found = evaluate([one, one], targets, sources, source_tokenizer="model", resamples=50, runs=2)
    first, second = found.tokenizers
    for metric in ("one_to_one", "unaligned", "one_to_one_target", "unaligned_target", "link_f"):
        difference = value(found, first, metric) - value(found, second, metric)
        assert abs(difference) < 0.15, metric


def test_symmetrization_makes_a_difference() -> None:
    def links(how: str) -> int:
        found = evaluate(["model/@marginal"], TARGETS, SOURCES, symmetrization=how, **QUICK)
        assert all(f"links:{how}|" in s.signature for s in found.scores if s.metric in ALIGNER)
        return sum(map(len, found.tokenized[0].runs[0].pairs))

    assert links("intersection") < links("grow-diag-final-and") < links("union")


@repeatable
def test_the_same_seed_gives_the_same_numbers() -> None:
    def found() -> dict[str, Any]:
        dev: dict[str, Any] = {"dev_target": TARGETS[:4], "dev_source": SOURCES[:4]}
        given = ["model/@aligned", "sp.model"]
        return evaluate(given, TARGETS[4:], SOURCES[4:], seed=3, **QUICK, **dev).as_dict()

    assert found() == found()


@repeatable
def test_another_seed_gives_other_numbers() -> None:
    def found(seed: int) -> list[float]:
        how: dict[str, Any] = QUICK | {"seed": seed, "metrics": ["eflomal_score"]}
        return evaluate(["model/@marginal"], TARGETS, SOURCES, **how).scores[0].runs

    assert found(3) != found(4)


def test_an_aligner_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from pairpiece.links import eflomal

    monkeypatch.setattr(eflomal.shutil, "which", lambda _: None)
    monkeypatch.setattr(eflomal.sys, "executable", "/nowhere/python")
    with pytest.raises(pairpiece.AlignerError, match=r"Eflomal.*not installed"):
        evaluate(["model"], TARGETS, SOURCES, **QUICK)
    assert evaluate(["model"], TARGETS, SOURCES, **NO_ALIGNER).scores


# ---------------------------------------------------------------------- signatures


def signatures(*given: Any, **how: Any) -> dict[str, str]:
    """The signatures of the last tokenizer."""
    found = evaluate(list(given), TARGETS, SOURCES, **(NO_ALIGNER | how))
    return {s.metric: s.signature for s in found.scores if s.tokenizer == found.tokenizers[-1]}


def test_signatures_say_what_the_aligner_was_given(everything: Evaluation) -> None:
    dev = ParallelText(TARGETS[:6], SOURCES[:6]).digest
    for score in everything.scores:
        parts = dict(part.split(":", 1) for part in score.signature.split("|"))
        assert parts["data"] == everything.data
        assert (parts.get("dev") == dev) == (score.metric in ALIGNER)
        assert (parts.get("runs") == "2") == (score.metric in ALIGNER)
        assert ("seed-0" in parts.get("aligner", "")) == (score.metric in ALIGNER)


def test_without_a_dev_text_signatures_say_so(diagonal: Diagonal) -> None:
    assert signatures("model", align=True)["link_f"].count("|dev:none|") == 1
    assert len(diagonal.aligned) == 1


def test_every_tokenizer_has_a_digest_of_its_own(everything: Evaluation, tmp_path: Path) -> None:
    digests = [tokenized.system.digest for tokenized in everything.tokenized]
    assert len(set(digests)) == len(digests)
    (tmp_path / "renamed.model").write_bytes(Path("sp.model").read_bytes())
    assert signatures("model", f"x={tmp_path}/renamed.model") == signatures("model", "sp.model")
    assert signatures("model", "sp.model") != signatures("model", "hf_unigram.json")


@pytest.mark.parametrize("metric", ["parity", *sorted(ALIGNER)])
def test_a_signature_changes_with_the_source_tokenizer(metric: str, diagonal: Diagonal) -> None:
    del diagonal
    how: dict[str, Any] = {"align": True, "metrics": [metric]}
    one = signatures("sp.model", source_tokenizer="model", **how)
    other = signatures("sp.model", source_tokenizer="hf_unigram.json", **how)
    assert one != other


@pytest.mark.parametrize("metric", ["length_ratio", "renyi_ratio", "vocabulary_overlap"])
def test_a_signature_changes_with_what_ratios_refer_to(metric: str) -> None:
    one = signatures("model/@marginal", "sp.model")
    other = signatures("hf_unigram.json", "model/@marginal", "sp.model")
    assert one["fertility"] == other["fertility"]
    assert one[metric] != other[metric]
