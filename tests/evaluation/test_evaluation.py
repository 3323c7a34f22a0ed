"""What is measured on which text, and what comes of it."""

from __future__ import annotations

import dataclasses
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from support.command_line import text
from support.evaluations import (
    ALIGNER,
    NO_ALIGNER,
    QUICK,
    tokens_of,
    value,
    without,
)
from support.french_italian import SOURCES, TARGETS

import pairpiece
from pairpiece import evaluate
from pairpiece.evaluation import Evaluation, Score
from pairpiece.evaluation.metric import all_metrics
from pairpiece.links.eflomal import Eflomal

pytestmark = pytest.mark.usefixtures("here")


def test_files_and_lists_of_sentences_are_the_same(folder: Path, tmp_path: Path) -> None:
    packed = tmp_path / "text.it.gz"
    packed.write_bytes(gzip.compress(text(*TARGETS).encode()))
    both = [
        evaluate(["model"], target, source, **NO_ALIGNER).as_dict()
        for target, source in [
            ("text.it", "text.fr"),
            (folder / "text.it", folder / "text.fr"),
            (TARGETS, tuple(SOURCES)),
            (packed, SOURCES),
        ]
    ]
    assert all(found == both[0] for found in both)


def test_without_a_source_what_depends_on_it_is_left_out() -> None:
    found = evaluate(["model", "sp.model"], TARGETS, **QUICK)
    assert found.tokenizers == ["model, target only", "sp.model"]
    assert without(found) == {"parity", "gini", "own_one_to_one", *ALIGNER}
    assert "no source text" in "; ".join(found.notes)


def test_a_tokenizer_that_was_dropped_is_noted() -> None:
    found = evaluate(["mine=model/@paired", "sp.model"], TARGETS, **QUICK)
    assert found.tokenizers == ["sp.model"]
    assert "mine" in "; ".join(found.notes)


@pytest.mark.parametrize("way", ["paired", "aligned"])
def test_with_source_needs_a_source(way: str) -> None:
    with pytest.raises(pairpiece.OptionError, match=r"need the source text.*source="):
        evaluate([f"model/@{way}"], TARGETS, **QUICK)


def test_gini_needs_a_third_language(everything: Evaluation) -> None:
    found = evaluate(["sp.model"], TARGETS, SOURCES, source_tokenizer="model", **NO_ALIGNER)
    assert found.score("sp.model", "gini") is None
    assert everything.score("sp.model", "gini") is not None
    assert everything.score("words", "gini") is None
    assert everything.score(everything.tokenizers[1], "gini") is None


def test_without_the_aligner_its_metrics_are_left_out() -> None:
    found = evaluate(["model"], TARGETS, SOURCES, **NO_ALIGNER)
    assert without(found) == {"gini", *ALIGNER}
    assert "no aligner" in "; ".join(found.notes)
    assert not any(score.runs for score in found.scores)


@pytest.mark.parametrize(
    "wanted", [["parity", "tokens"], ["begin_of_word"], ["vocabulary_overlap", "entropy"]], ids=str
)
def test_metrics_can_be_chosen(wanted: list[str]) -> None:
    found = evaluate(["model"], TARGETS, SOURCES, metrics=wanted, **NO_ALIGNER)
    assert {score.metric for score in found.scores} == set(wanted)


def test_the_aligner_runs_only_if_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Eflomal, "align", None)
    assert evaluate(["model"], TARGETS, SOURCES, metrics=["parity"], **QUICK).scores


def test_the_source_is_tokenized_by_what_is_given_or_what_the_model_has(folder: Path) -> None:
    def parity(*given: Any, **how: Any) -> float:
        found = evaluate(list(given), TARGETS, SOURCES, metrics=["parity"], **NO_ALIGNER, **how)
        return found.scores[0].value

    model = pairpiece.load(folder / "model")
    letters = sum(len(source) for source in SOURCES)
    assert model.source_tokenizer is not None
    own = sum(len(word) for s in SOURCES for word in model.source_tokenizer.tokens_by_word(s))
    tokens = sum(map(len, tokens_of("sp.model")[0]))
    assert parity("sp.model", source_tokenizer=list) == pytest.approx(tokens / letters)
    assert parity("sp.model", "model") == pytest.approx(tokens / own)
    assert parity("sp.model", "model", source_tokenizer=list) == pytest.approx(tokens / letters)
    with pytest.raises(pairpiece.OptionError, match="give source_tokenizer="):
        parity("sp.model")


@pytest.mark.parametrize("blank", ["", " ", "\u3000"])
def test_a_text_may_have_blank_lines(blank: str) -> None:
    targets, sources = [TARGETS[0], blank, blank], [SOURCES[0], blank, "oui"]
    found = evaluate(["model"], targets, sources, resamples=200, align=False)
    assert value(found, found.baseline, "fertility") > 1
    json.loads(json.dumps(found.as_dict(), allow_nan=False))


def test_blank_lines_can_be_aligned() -> None:
    targets, sources = [*TARGETS, "", "gatto", ""], [*SOURCES, "chat", "", ""]
    found = evaluate(["model/@marginal"], targets, sources, **QUICK)
    [run] = found.tokenized[0].runs
    assert run.pairs[-3:] == [[], [], []]
    assert len(run.scores) == len(targets)
    assert min(run.scores[:10]) > 0


def test_text_may_have_characters_of_all_kinds() -> None:
    odd = ["a\0b", "\u2028 x\x85y", "\u202eabc", "😀\ud800", "▁▁ ▁", "x\ty", "<script>", "a\nb"]
    found = evaluate(["model", "sp.model", "hf_byte_level.json"], odd, odd[::-1], **QUICK)
    assert found.sentences == len(odd)
    json.loads(json.dumps(found.as_dict(), allow_nan=False))


def test_a_tokenizer_that_finds_nothing_is_no_crash(tmp_path: Path) -> None:
    (tmp_path / "nothing").write_text("\n" * len(TARGETS))
    given = ["sp.model", f"pretokenized:{tmp_path}/nothing"]
    found = evaluate(given, TARGETS, **NO_ALIGNER)
    scores = {score.metric: score.value for score in found.scores if score.tokenizer == "nothing"}
    assert scores["tokens"] == scores["fertility"] == scores["length_ratio"] == 0
    assert scores["renyi_efficiency"] == scores["renyi_ratio"] == 0
    assert value(found, "sp.model", "tokens") > 0
    json.loads(json.dumps(found.as_dict(), allow_nan=False))


# ---------------------------------------------------------------------- results


def test_the_result_is_plain_data(everything: Evaluation) -> None:
    found = everything.as_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["baseline"] == everything.baseline
    assert [one["name"] for one in found["tokenizers"]] == everything.tokenizers
    assert all(type(one) is Score for one in everything.scores)
    assert {type(number) for s in everything.scores for number in (s.value, s.low, s.high)} == {
        float
    }


def test_a_score_that_there_is_not_is_none(everything: Evaluation) -> None:
    assert everything.score("words", "bleu") is None
    assert everything.score("nobody", "tokens") is None


def scored(values: dict[str, float], name: str) -> Evaluation:
    [metric] = [metric for metric in all_metrics() if metric.name == name]
    scores = [Score(who, name, x, x, x, [], "") for who, x in values.items()]
    return Evaluation(dict.fromkeys(values, ""), "a", scores, 1, "", [], [metric], [])


@pytest.mark.parametrize(
    ("metric", "values", "expected"),
    [
        ("fertility", {"a": 1.5, "b": 1.2}, ["b"]),
        ("one_to_one", {"a": 1.5, "b": 1.2}, ["a"]),
        ("fertility", {"a": 1.20001, "b": 1.2, "c": 1.3}, ["a", "b"]),  # as far as it is shown
        ("tokens", {"a": 10, "b": 11}, ["a"]),
        ("fertility", {"a": 1.5}, []),
        ("entropy", {"a": 1.5, "b": 1.2}, []),
    ],
)
def test_the_best_is_found(metric: str, values: dict[str, float], expected: list[str]) -> None:
    found = scored(values, metric)
    assert found.best(found.metrics[0]) == expected


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int]] = []
    evaluate(["model"], TARGETS, SOURCES, **QUICK, advance=lambda *what: told.append(what))
    assert list(dict.fromkeys(doing for doing, _, _ in told)) == [
        "tokenizing",
        "aligning",
        "drawing sentences again",
    ]
    assert all(0 <= done <= total for _, done, total in told)


def test_names_are_those_of_the_dataclass() -> None:
    """What is saved of a score is everything it has."""
    fields = {field.name for field in dataclasses.fields(Score)}
    found = evaluate(["sp.model"], TARGETS, **NO_ALIGNER).as_dict()["scores"][0]
    assert set(found) == fields
