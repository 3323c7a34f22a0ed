"""Tokenizers of every kind, and what they are called."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import tokenizers
from support.evaluations import (
    ALIGNER,
    KINDS,
    NO_ALIGNER,
    repeatable,
    tokens_of,
    value,
)
from support.french_italian import PAIRS, SOURCES, TARGETS

import pairpiece
from pairpiece import evaluate
from pairpiece.evaluation import Evaluation
from pairpiece.evaluation.parallel_text import ParallelText
from pairpiece.evaluation.systems import LINKS_SEED, System, systems_of
from pairpiece.links import fast_align

pytestmark = pytest.mark.usefixtures("here")


def test_tokenizers_of_all_kinds_can_be_compared(everything: Evaluation) -> None:
    assert len(everything.tokenizers) == len(set(everything.tokenizers)) == 11
    assert everything.baseline == everything.tokenizers[0]
    assert everything.sentences == len(TARGETS)
    for name in everything.tokenizers:
        for metric in {"tokens", "fertility", "parity", "length_ratio", "entropy", *ALIGNER}:
            assert math.isfinite(value(everything, name, metric)), (name, metric)


def test_a_pairpiece_model_is_used_as_its_api_would(folder: Path) -> None:
    model = pairpiece.load(folder / "model")
    plain = model.encode_batch(TARGETS, out_type=str)
    paired = model.encode_batch(TARGETS, SOURCES, out_type=str)
    bigram = model.encode_batch(TARGETS, out_type=str, model="bigram")
    assert tokens_of("model/@marginal") == [plain]
    assert tokens_of("model/@paired") == [paired]
    assert tokens_of("model/@bigram") == [bigram]
    assert tokens_of("model") == tokens_of("model/") == tokens_of(model) == [plain, paired]


@repeatable
def test_aligned_encoding_is_given_word_links_of_its_own(folder: Path) -> None:
    from pairpiece.model.word_links import word_links

    model = pairpiece.load(folder / "model")
    links = word_links(model, zip(SOURCES, TARGETS, strict=True), seed=LINKS_SEED)
    expected = model.encode_batch(TARGETS, SOURCES, alignments=links, out_type=str)
    assert tokens_of("model/@aligned") == [expected]


def test_a_model_without_a_source_side_is_one_tokenizer(tmp_path: Path) -> None:
    pairs = [([], word, count) for _, word, count in PAIRS]
    model = pairpiece.train_from_pairs(pairs, 340, "unigram")
    model.save(tmp_path / "it")
    expected = [model.encode_batch(TARGETS, out_type=str)]
    assert tokens_of(tmp_path / "it") == tokens_of(f"{tmp_path}/it/@marginal") == expected
    assert evaluate([tmp_path / "it"], TARGETS, **NO_ALIGNER).tokenizers == ["it"]


def test_sentencepiece_tokens_are_those_of_the_library() -> None:
    processor = sentencepiece.SentencePieceProcessor(model_file="sp.model")
    assert tokens_of("sp.model") == [processor.encode(TARGETS, out_type=str)]


@pytest.mark.parametrize("name", ["hf_unigram", "hf_wordpiece"])
def test_hugging_face_tokens_are_those_of_the_library(name: str) -> None:
    tokenizer = tokenizers.Tokenizer.from_file(f"{name}.json")
    assert tokens_of(f"{name}.json") == [[tokenizer.encode(t).tokens for t in TARGETS]]


def test_byte_level_tokens_can_be_read() -> None:
    tokenizer = tokenizers.Tokenizer.from_file("hf_byte_level.json")
    [rows] = tokens_of("hf_byte_level.json")
    assert [len(row) for row in rows] == [len(tokenizer.encode(t).tokens) for t in TARGETS]
    assert ["".join(row).replace("▁", " ") for row in rows if "<0x" not in "".join(row)]
    assert any(token.startswith("▁") for row in rows for token in row)


def test_a_directory_stands_for_the_tokenizer_in_it(tmp_path: Path) -> None:
    (tmp_path / "bert").mkdir()
    shutil.copy("hf_wordpiece.json", tmp_path / "bert" / "tokenizer.json")
    expected = tokens_of("hf_wordpiece.json")
    assert tokens_of(tmp_path / "bert") == expected
    assert tokens_of(tmp_path / "bert" / "tokenizer.json") == expected
    for path in (f"{tmp_path}/bert", f"{tmp_path}/bert/", f"{tmp_path}/bert/tokenizer.json"):
        assert [one.name for one in systems_of(path)] == ["bert"]


def test_tokenized_text_is_taken_as_it_is() -> None:
    assert tokens_of("pretokenized:words") == [[target.split() for target in TARGETS]]
    found = evaluate(["pretokenized:words"], TARGETS, **NO_ALIGNER)
    assert value(found, "words", "fertility") == 1
    assert found.score("words", "vocabulary_usage") is None


UNKNOWN = "Il gatto Ω Ж"  # two characters that nobody has seen in training


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("sp.model", 2), ("hf_unigram.json", 2), ("hf_wordpiece.json", 2), ("hf_byte_level.json", 4)],
)
def test_unknown_tokens_are_counted(kind: str, expected: int) -> None:
    found = evaluate([kind], [UNKNOWN], **NO_ALIGNER)
    tokens = value(found, kind, "tokens")
    assert value(found, kind, "unknown") * tokens == pytest.approx(expected)


@pytest.mark.parametrize("byte_fallback", [True, False])
def test_unknown_tokens_of_a_pairpiece_model_are_counted(byte_fallback: bool) -> None:
    model = pairpiece.train_from_pairs(PAIRS, 640, byte_fallback=byte_fallback)
    found = evaluate([model], [UNKNOWN], **NO_ALIGNER)
    name = found.tokenizers[0]
    unknown = value(found, name, "unknown") * value(found, name, "tokens")
    assert unknown == pytest.approx(4 if byte_fallback else 2)


@pytest.mark.parametrize("kind", KINDS[:4])
def test_what_is_unknown_is_no_part_of_the_vocabulary(kind: str) -> None:
    [one] = systems_of(kind)
    [row] = one.tokenize(ParallelText([UNKNOWN]))
    assert set(row) <= set(one.vocabulary or [])


# ---------------------------------------------------------------------- names


def names(*given: Any) -> list[str]:
    return evaluate(list(given), TARGETS[:2], metrics=["tokens"], **NO_ALIGNER).tokenizers


def test_a_tokenizer_is_called_by_its_file_unless_it_has_a_name(folder: Path) -> None:
    assert names(folder / "sp.model", "base=sp.model") == ["sp.model", "base"]
    assert names(f"x={folder}/hf_unigram.json") == ["x"]
    assert names("=sp.model") == ["sp.model"]


def test_a_path_may_have_an_equals_sign_in_it(tmp_path: Path) -> None:
    (tmp_path / "a=b").mkdir()
    shutil.copy("sp.model", tmp_path / "a=b" / "c=d.model")
    assert names(tmp_path / "a=b" / "c=d.model") == ["c=d.model"]
    assert names(f"name={tmp_path}/a=b/c=d.model") == ["name"]


@pytest.mark.parametrize("end", ["/model/@marginal", "/model/@bigram", "/model@marginal"])
def test_a_path_may_have_an_at_sign_in_it(end: str, tmp_path: Path) -> None:
    shutil.copytree("model", tmp_path / "me@home" / "model")
    assert tokens_of(f"{tmp_path}/me@home{end}") == tokens_of(f".{end}")


def test_a_file_may_have_an_at_sign_in_its_name(tmp_path: Path) -> None:
    shutil.copy("sp.model", tmp_path / "sp@2.model")
    assert tokens_of(tmp_path / "sp@2.model") == tokens_of("sp.model")


def test_the_ways_to_use_a_model_have_different_names() -> None:
    found = names("our=model/@marginal", "our=model/@bigram", "model/@marginal")
    assert len(set(found)) == 3
    assert [name.startswith("our") for name in found] == [True, True, False]
    assert found[2].startswith("model")


def test_equal_names_are_numbered() -> None:
    assert names("sp.model", "sp.model", "sp.model") == ["sp.model", "sp.model (2)", "sp.model (3)"]
    assert names("a=sp.model", "a=hf_unigram.json") == ["a", "a (2)"]


def test_a_number_may_be_part_of_a_name() -> None:
    found = names("a=sp.model", "a=sp.model", "a (2)=sp.model")
    assert len(set(found)) == 3


def test_the_baseline_is_found_by_name() -> None:
    given = ["a=sp.model", "b=hf_unigram.json", "c=hf_wordpiece.json"]
    found = evaluate(given, TARGETS, baseline="b", **NO_ALIGNER)
    assert found.baseline == "b"
    assert {s.tokenizer for s in found.scores if s.comparison} == {"a", "c"}
    assert value(found, "b", "length_ratio") == 1
    tokens = {name: value(found, name, "tokens") for name in "abc"}
    for name in "ac":
        assert value(found, name, "length_ratio") == pytest.approx(tokens[name] / tokens["b"])


def test_a_system_of_ones_own_can_be_measured() -> None:
    def alone(texts: list[str]) -> list[list[str]]:
        return [sentence.split() for sentence in texts]

    own = System("own", "1.0", lambda t: alone(t.targets), alone)
    how: dict[str, Any] = NO_ALIGNER | {"source_tokenizer": str.split}
    found = evaluate([own], ["a b"], ["a b c d"], other_languages=[["a b c d e f"]], **how)
    assert value(found, "own", "gini") == pytest.approx(2 / 9)
    assert value(found, "own", "parity") == 1 / 2


def test_a_wrong_source_is_that_of_another_sentence_of_about_the_same_length() -> None:
    sources = ["un", "deux", "trois petits chats", "trois petits rats", "quatre"]
    wrong = ParallelText(list("abcde"), sources).wrong_sources
    assert wrong == ["deux", "un", "trois petits rats", "quatre", "trois petits rats"]


def test_what_is_aligned_with_a_source_has_a_control(folder: Path) -> None:
    del folder
    given = {"source": SOURCES, "metrics": ["tokens", "link_f"], "resamples": 50, "runs": 1}
    found = evaluate(["model", "ours=model/@paired"], TARGETS, **given)
    names = ["model, target only", "model, with source", "model, wrong source", "ours"]
    assert found.tokenizers == [*names, "ours, wrong source"]
    text = ParallelText(list(TARGETS), list(SOURCES))
    model = pairpiece.load("model")
    wrong = model.encode_batch(text.targets, text.wrong_sources, out_type=str)
    assert value(found, "ours, wrong source", "tokens") == sum(map(len, wrong))
    assert tokens_of("model/@wrong") == [wrong]
    for options in ({"control": False}, {"align": False}):
        found = evaluate(["model"], TARGETS, **given, **options)
        assert found.tokenizers == names[:2]


def test_another_aligner_has_its_say(folder: Path) -> None:
    del folder
    given = {"source": SOURCES, "metrics": ["one_to_one", "link_f"], "resamples": 50}
    found = evaluate(["sp.model", "model"], TARGETS, aligner="fast_align", **given)
    again = evaluate(["sp.model", "model"], TARGETS, aligner="fast_align", **given)
    for score, other in zip(found.scores, again.scores, strict=True):
        assert 0 < score.value < 1
        assert score == other
        assert "aligner:fast_align" in score.signature
        assert "runs:1|" in score.signature


def test_another_aligner_sees_the_dev_text_of_each_tokenizer_under_its_own_number(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del folder
    seen: list[list[str]] = []

    def no_links(folder: Path) -> list[list[tuple[int, int]]]:
        seen.extend(line.split() for line in (folder / "target.words").read_text().splitlines())
        return [[] for _ in seen]

    monkeypatch.setattr(fast_align, "align", no_links)
    text = {"source": SOURCES, "dev_target": TARGETS[:3], "dev_source": SOURCES[:3]}
    how: dict[str, Any] = {"metrics": ["link_f"], "resamples": 50, "aligner": "fast_align"}
    evaluate(["sp.model", "model/@marginal"], TARGETS, **text, **how, source_tokenizer="model")
    numbers = [{token.partition(":")[0] for token in line} for line in seen]
    assert numbers == [{"0"}] * 10 + [{"1"}] * 10 + [{"0"}] * 3 + [{"1"}] * 3
