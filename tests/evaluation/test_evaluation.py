"""Tokenizers of every kind measured on the same text, and what comes of bad input."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
import tokenizers
from support import peers, tampering
from support.command_line import begin_of_sample, text
from support.french_italian import LETTERS, PAIRS, SOURCES, TARGETS

import pairpiece
from pairpiece import evaluate
from pairpiece.evaluation import Comparison, Evaluation, Score, bootstrap
from pairpiece.evaluation.metric import all_metrics
from pairpiece.evaluation.parallel_text import ParallelText
from pairpiece.evaluation.systems import LINKS_SEED, System, systems_of
from pairpiece.links.eflomal import Eflomal

QUICK: dict[str, Any] = {"resamples": 50, "runs": 1}
NO_ALIGNER = QUICK | {"align": False}
ALIGNER = {"one_to_one", "unaligned", "eflomal_score"}
ALIGNER |= {"one_to_one_target", "unaligned_target", "link_f"}
OF_TEXT = [metric.name for metric in all_metrics() if metric.of_text]

repeatable = pytest.mark.skipif(not Eflomal().repeatable, reason="the aligner has no seed here")


# ---------------------------------------------------------------------- the tokenizers


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Text, and tokenizers of every kind."""
    folder = tmp_path_factory.mktemp("evaluation")
    (folder / "text.it").write_text(text(*TARGETS), encoding="utf-8")
    (folder / "text.fr").write_text(text(*SOURCES), encoding="utf-8")
    shutil.copytree(tampering.saved().name, folder / "model")
    (folder / "sp.model").write_bytes(peers.sentencepiece_model(TARGETS * 3, 70))
    for make, size in ((peers.unigram, 70), (peers.wordpiece, 80), (peers.byte_level, 330)):
        make(TARGETS * 3, size).save(str(folder / f"hf_{make.__name__}.json"))
    (folder / "words").write_text(text(*TARGETS), encoding="utf-8")
    (folder / "letters").write_text(text(*LETTERS), encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def _here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


WAYS = [f"model/@{way}" for way in ("marginal", "paired", "aligned", "bigram")]
KINDS = [
    *("sp.model", "hf_unigram.json", "hf_wordpiece.json", "hf_byte_level.json"),
    *("pretokenized:words", "pretokenized:letters"),
]


@pytest.fixture(scope="module")
def everything(folder: Path) -> Evaluation:
    """All tokenizers, with the aligner and a dev text."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return evaluate(
            [*WAYS, *KINDS],
            "text.it",
            "text.fr",
            dev_target=TARGETS[:6],
            dev_source=SOURCES[:6],
            other_languages=[SOURCES],
            resamples=50,
            runs=2,
        )


def value(found: Evaluation, tokenizer: str, metric: str) -> float:
    score = found.score(tokenizer, metric)
    assert score is not None
    return score.value


def without(evaluation: Evaluation) -> set[str]:
    """The metrics that there are no scores of."""
    return {metric.name for metric in all_metrics()} - {s.metric for s in evaluation.scores}


def tokens_of(given: Any) -> list[list[list[str]]]:
    return [one.tokenize(ParallelText(TARGETS, SOURCES)) for one in systems_of(given)]


# ---------------------------------------------------------------------- kinds of tokenizers


def test_tokenizers_of_all_kinds_can_be_compared(everything: Evaluation) -> None:
    assert len(everything.tokenizers) == len(set(everything.tokenizers)) == 10
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


# ---------------------------------------------------------------------- text


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
    with pytest.raises(pairpiece.OptionError, match=r"need the source text.*--source"):
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
    with pytest.raises(pairpiece.OptionError, match="--source-tokenizer"):
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


# ---------------------------------------------------------------------- the aligner


class Diagonal:
    """Stands for Eflomal: links word n with word n, and remembers what it was given."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.aligned: list[tuple[int, bool, list[str], list[str]]] = []
        patch.setattr(Eflomal, "align", lambda *given, **how: self.align(*given, **how))
        patch.setattr(Eflomal, "make_priors", lambda _, folder: folder / "source.words")

    def align(self, aligner: Eflomal, folder: Path, **how: Any) -> None:
        sources, targets = (
            (folder / f"{side}.words").read_text(encoding="utf-8").split("\n")[:-1]
            for side in ("source", "target")
        )
        self.aligned.append((aligner.seed, how.get("priors") is not None, sources, targets))
        for side in ("forward", "reverse"):
            with (folder / f"{side}.links").open("w") as file:
                for source, target in zip(sources, targets, strict=True):
                    both = range(min(len(source.split()), len(target.split())))
                    file.write(" ".join(f"{i}-{i}" for i in both) + "\n")
            (folder / f"{side}.scores").write_text("2.5\n" * len(sources))


@pytest.fixture
def diagonal(monkeypatch: pytest.MonkeyPatch) -> Diagonal:
    return Diagonal(monkeypatch)


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
    assert len(scores) == 6 * 10
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


# ---------------------------------------------------------------------- the bootstrap


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
    assert len(found) == 10
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


# ---------------------------------------------------------------------- bad input

Change = Callable[[Path], dict[str, Any]]


def file(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def bare_directory(folder: Path) -> Path:
    (folder / "bpe").mkdir()
    file(folder / "bpe" / "vocab.json", "{}")
    return folder / "bpe"


def corrupt_model(folder: Path) -> Path:
    shutil.copytree("model", folder / "corrupt")
    manifest = folder / "corrupt" / "pairpiece.json"
    manifest.write_bytes(manifest.read_bytes()[:-20])
    return folder / "corrupt"


RANDOM = bytes(range(256)) * 4

BAD: dict[str, tuple[Change, str]] = {
    "line counts": (
        lambda folder: {"source": file(folder / "short", "un\ndeux\n")},
        r"short has 2 lines but text\.it has 10",
    ),
    "line counts of lists": (
        lambda _: {"target": TARGETS, "source": SOURCES[:9]},
        "the source text has 9 lines but the target text has 10",
    ),
    "line counts of another language": (
        lambda folder: {"other_languages": ["text.fr", file(folder / "la", "unus\n")]},
        r"la has 1 lines? but text\.it has 10",
    ),
    "line counts of dev": (
        lambda folder: {"dev_target": "text.it", "dev_source": file(folder / "dev.fr", "un\n")},
        r"dev\.fr has 1 lines? but text\.it has 10",
    ),
    "empty target": (lambda folder: {"target": file(folder / "e.it", "")}, r"e\.it.*no text in it"),
    "empty source": (lambda folder: {"source": file(folder / "e.fr", "")}, r"e\.fr"),
    "blank": (
        lambda folder: {"target": file(folder / "b.it", " \n\t\n\u3000\n"), "source": None},
        r"b\.it.*no text in it",
    ),
    "empty list": (lambda _: {"target": [], "source": None}, "target text.*no text in it"),
    "missing file": (lambda _: {"target": "nowhere.it"}, r"nowhere\.it: there is no such file"),
    "missing source": (lambda _: {"source": "nowhere.fr"}, r"nowhere\.fr: there is no such file"),
    "missing dev": (
        lambda _: {"dev_target": "text.it", "dev_source": "nowhere.fr"},
        r"nowhere\.fr: there is no such file",
    ),
    "a folder": (lambda _: {"target": "model"}, "model: there is no such file"),
    "not UTF-8": (
        lambda folder: {"target": file(folder / "latin.it", b"citt\xe0\n" * 10)},
        r"latin\.it:1: not valid UTF-8",
    ),
    "not strings": (
        lambda _: {"target": ["a", 5], "source": None},
        "target sentence 1 is not a string but 5",
    ),
    "bytes": (lambda _: {"source": [b"un"] * 10}, r"source sentence 0 is not a string but b'un'"),
    "one side of dev": (lambda _: {"dev_target": TARGETS}, "both sides.*--dev-source"),
    "the other side of dev": (lambda _: {"dev_source": SOURCES}, "both sides.*--dev-target"),
    "no tokenizers": (lambda _: {"tokenizers": []}, "at least one tokenizer"),
    "missing tokenizer": (lambda _: {"tokenizers": ["no.model"]}, r"no\.model: there is no such"),
    "missing tokens": (
        lambda _: {"tokenizers": ["pretokenized:no.txt"]},
        r"no\.txt: there is no such file",
    ),
    "too few tokens": (
        lambda folder: {
            "tokenizers": [f"pretokenized:{file(folder / 'few', 'a b')}"],
            "source": None,
        },
        "few has 1 lines? but the target text has 10",
    ),
    "random bytes": (
        lambda folder: {"tokenizers": [file(folder / "random.model", RANDOM)]},
        r"random\.model: not a SentencePiece model",
    ),
    "no bytes": (
        lambda folder: {"tokenizers": [file(folder / "none.model", b"")]},
        r"none\.model: not a SentencePiece model",
    ),
    "other JSON": (
        lambda folder: {"tokenizers": [file(folder / "tokenizer.json", '{"a": 1}')]},
        r"tokenizer\.json: not a Hugging Face tokenizer",
    ),
    "a folder without files": (
        lambda folder: {"tokenizers": [bare_directory(folder)]},
        r"bpe: there is no tokenizer\.json in it",
    ),
    "corrupt model": (lambda folder: {"tokenizers": [corrupt_model(folder)]}, "corrupt"),
    "unknown way": (lambda _: {"tokenizers": ["model/@both"]}, "@both.*marginal, paired"),
    "way of another tokenizer": (
        lambda _: {"tokenizers": ["sp.model@paired"]},
        "only a PairPiece model",
    ),
    "no tokenizer": (lambda _: {"tokenizers": [None]}, "None"),
    "number": (lambda _: {"tokenizers": [3]}, "not 3"),
    "missing source tokenizer": (lambda _: {"source_tokenizer": "no.model"}, r"no\.model"),
    "unknown metric": (lambda _: {"metrics": ["bleu"]}, "metric must be one of .*'bleu'"),
    "unknown baseline": (
        lambda _: {"baseline": "x"},
        "baseline must be one of model, target only, .* not 'x'",
    ),
    "unknown symmetrization": (
        lambda _: {"symmetrization": "grow"},
        "symmetrization must be one of .* not 'grow'",
    ),
    "no runs": (lambda _: {"runs": 0}, "runs must be between 1 and 1,000, not 0"),
    "half a run": (lambda _: {"runs": 1.5}, "runs"),
    "few resamples": (lambda _: {"resamples": 1}, "resamples must be"),
    "power": (lambda _: {"renyi_power": -1}, "renyi_power must be"),
    "no power": (lambda _: {"renyi_power": math.nan}, "renyi_power must be"),
    "power of text": (lambda _: {"renyi_power": "3"}, "renyi_power must be"),
    "seed": (lambda _: {"seed": 1.5}, "seed"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_named(what: str, tmp_path: Path) -> None:
    change, expected = BAD[what]
    given: dict[str, Any] = {"tokenizers": ["model"], "target": "text.it", "source": "text.fr"}
    with pytest.raises(pairpiece.PairPieceError, match=expected):
        evaluate(**(given | QUICK | change(tmp_path)))


def test_a_negative_seed_is_no_crash() -> None:
    with contextlib.suppress(pairpiece.OptionError):
        assert evaluate(["sp.model"], TARGETS, seed=-1, **NO_ALIGNER).scores


def test_a_model_that_cannot_read_source_text_says_so(tokenizer: pairpiece.Tokenizer) -> None:
    how: dict[str, Any] = NO_ALIGNER | {"source_tokenizer": str.split}
    with pytest.raises(pairpiece.OptionError, match="no source tokenizer"):
        evaluate([tokenizer], TARGETS, SOURCES, **how)


@pytest.mark.parametrize(
    ("way", "expected"), [("paired", "source"), ("aligned", "source"), ("bigram", "bigram")]
)
def test_a_model_that_has_no_such_way_says_so(way: str, expected: str, tmp_path: Path) -> None:
    pairs = [([], word, count) for _, word, count in PAIRS]
    pairpiece.train_from_pairs(pairs, 340, "unigram").save(tmp_path / "it")
    with pytest.raises(pairpiece.OptionError, match=expected):
        evaluate([f"{tmp_path}/it/@{way}"], TARGETS, SOURCES, source_tokenizer="model", **QUICK)


def test_names_are_those_of_the_dataclass() -> None:
    """What is saved of a score is everything it has."""
    fields = {field.name for field in dataclasses.fields(Score)}
    found = evaluate(["sp.model"], TARGETS, **NO_ALIGNER).as_dict()["scores"][0]
    assert set(found) == fields


def test_the_chance_of_the_aligner_is_not_taken_for_a_difference() -> None:
    random = np.random.default_rng(0)
    assert bootstrap.drawn_again(0.5, random) == 0.5
    assert bootstrap.drawn_again(None, random) is None
    runs = [0.1, 0.2, 0.3]
    drawn_runs = [bootstrap.drawn_again(runs, random) for _ in range(200)]
    assert all(set(again or []) <= set(runs) and len(again or []) == 3 for again in drawn_runs)
    assert len({tuple(again or []) for again in drawn_runs}) > 10
