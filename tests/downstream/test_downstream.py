"""Language models and translation with different tokenizers, as users run them."""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import peers
from support.command_line import Training, begin_of_sample, call, complaint, run, start, stop_when

import pairpiece
from pairpiece.downstream import Results, language_models, measures, translations, trials
from pairpiece.downstream.pieces import TargetPieces
from pairpiece.downstream.written_text import WrittenText, to_markdown
from pairpiece.errors import OptionError
from pairpiece.evaluation.parallel_text import ParallelText
from pairpiece.evaluation.systems import systems_of
from pairpiece.foreign.sentencepiece_training import train_sentencepiece

torch = pytest.importorskip("torch")
sacrebleu = pytest.importorskip("sacrebleu")

pytestmark = pytest.mark.torch

QUICK = {"layers": 1, "width": 16, "heads": 2, "examples": 96, "batch": 8, "evaluate_every": 4}
SMALL = ["--set", "layers=1", "--set", "width=16", "--set", "heads=2"]
QUICK_LM = {**QUICK, "context": 64, "jobs": 1, "seeds": 2}
QUICK_MT = {**QUICK, "inner_width": 32, "max_length": 48, "beam": 2, "jobs": 1, "seeds": 2}


@dataclass(frozen=True)
class World:
    """Text in files, and tokenizers."""

    folder: Path
    tokenizers: list[str]

    def text(self, *names: str) -> list[Path]:
        return [self.folder / name for name in names]

    @property
    def monolingual(self) -> list[Path]:
        return self.text("train.it", "dev.it", "test.it")

    @property
    def parallel(self) -> list[Path]:
        splits = ("train", "dev", "test")
        return self.text(*(f"{split}.{side}" for split in splits for side in ("fr", "it")))


@pytest.fixture(scope="module")
def world(trained: Training, tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("world")
    lines = begin_of_sample(440)
    for split, part in (("train", lines[:400]), ("dev", lines[400:420]), ("test", lines[420:])):
        for side, text in zip(("fr", "it"), zip(*part, strict=True), strict=True):
            (folder / f"{split}.{side}").write_text("\n".join(text) + "\n", encoding="utf-8")
    model = train_sentencepiece([target for _, target in lines[:400]], 500)
    (folder / "it.model").write_bytes(model.content)
    return World(folder, [f"sp={folder / 'it.model'}", f"ours={trained.model}"])


@pytest.fixture(scope="module")
def lm(world: World, tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, Path]:
    folder = tmp_path_factory.mktemp("lm")
    (source,) = world.text("train.fr")
    found = language_models(world.tokenizers, *world.monolingual, source, output=folder, **QUICK_LM)
    return found, folder


@pytest.fixture(scope="module")
def mt(world: World, tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, Path]:
    folder = tmp_path_factory.mktemp("mt")
    return translations(world.tokenizers, *world.parallel, output=folder, **QUICK_MT), folder


def value(results: Results, tokenizer: str, metric: str) -> float:
    score = results.evaluation.score(tokenizer, metric)
    assert score is not None
    return score.value


def without_seconds(results: Results) -> dict[str, Any]:
    found = results.as_dict()
    for one in found["runs"]:
        del one["seconds"]
    return found


# ---------------------------------------------------------------------- language models


def test_bits_per_byte_are_those_of_a_computation_by_hand(
    lm: tuple[Results, Path], world: World
) -> None:
    """From the saved model and the tokenizer alone, one line at a time, without any of our code."""
    import sentencepiece
    from transformers import GPT2LMHeadModel

    results, folder = lm
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(world.folder / "it.model"))
    lines = (world.folder / "test.it").read_text(encoding="utf-8").splitlines()
    size = sum(len(line.encode("utf-8")) for line in lines)
    by_seed = []
    published = []
    for seed in (1, 2):
        (own,) = (folder / "runs").glob(f"sp-monolingual-{seed}-*")
        model = GPT2LMHeadModel.from_pretrained(own / "model").eval()
        nats = means = 0.0
        for line in lines:
            tokens = [0, *(piece + 1 for piece in pieces.encode(line)), 0]
            assert len(tokens) <= 65
            with torch.no_grad():
                logits = model(torch.tensor([tokens[:-1]])).logits[0].double()
            chosen = torch.log_softmax(logits, -1)[range(len(tokens) - 1), tokens[1:]]
            nats -= float(chosen.sum())
            means -= float(chosen.mean())
        by_seed.append(nats / size / math.log(2))
        published.append(math.exp(means / size))
    score = results.evaluation.score("sp", "bits_per_byte_monolingual")
    assert score is not None
    assert score.runs == pytest.approx(by_seed, rel=1e-6)
    assert score.value == pytest.approx(np.mean(by_seed), rel=1e-6)
    as_published = results.evaluation.score("sp", "per_token_as_published_monolingual")
    assert as_published is not None
    assert as_published.runs == pytest.approx(published, rel=1e-6)
    perplexity = results.evaluation.score("sp", "perplexity_per_byte_monolingual")
    assert perplexity is not None
    assert perplexity.runs == pytest.approx([2**bits for bits in by_seed], rel=1e-6)


def test_more_tokens_make_the_published_figure_lower_and_the_proper_one_not() -> None:
    sizes = np.array([100.0, 50.0])
    few = {"nats": [60.0, 30.0], "tokens": [20, 10]}
    many = {"nats": [60.0, 30.0], "tokens": [100, 50]}  # just as probable
    proper, _, published = (
        [m.of_sums(s.sum(0)) for s in both]
        for m, *both in zip(
            measures.language_model_measures("monolingual"),
            measures.language_model_statistics(few, sizes),
            measures.language_model_statistics(many, sizes),
            strict=True,
        )
    )
    assert proper[0] == proper[1] == pytest.approx(90 / 150 / math.log(2))
    assert published == pytest.approx([math.exp(6 / 150), math.exp(1.2 / 150)])


def test_the_bilingual_model_has_the_pieces_of_both_languages(
    lm: tuple[Results, Path], world: World
) -> None:
    results, _ = lm
    source = pairpiece.load(world.tokenizers[1].partition("=")[2]).source_tokenizer
    assert source is not None
    lines = (world.folder / "train.fr").read_text(encoding="utf-8").splitlines()
    used = {token for line in lines for word in source(line) for token in word}
    (target,) = systems_of(world.tokenizers[0])
    vocabulary = set(target.vocabulary or ())
    sizes = {run["setting"]: run["parameters"] for run in results.runs if run["tokenizer"] == "sp"}
    # The empty piece stands for what the source tokenizer has not made before.
    assert sizes["bilingual"] - sizes["monolingual"] == 16 * (1 + len(used - vocabulary))


def test_samples_go_on_after_the_same_words(lm: tuple[Results, Path], world: World) -> None:
    results, folder = lm
    first = (world.folder / "test.it").read_text(encoding="utf-8").splitlines()[0]
    half = " ".join(first.split()[: len(first.split()) // 2])
    models = [f"{name}, {kind}ual" for name in ("sp", "ours") for kind in ("monoling", "biling")]
    found = [sample for sample in results.samples if sample.given == (("line", first),)]
    assert [sample.model for sample in found] == models
    for sample in found:
        assert "".join(sample.before).replace("▁", " ").strip() == half
        assert 1 <= len(sample.tokens) <= 16
    tables = (folder / "samples.md").read_text(encoding="utf-8")
    assert tables.startswith(f"| line | {first} |\n|---|---|\n| sp, monolingual | ▁")
    assert "**" in tables


def test_translations_are_shown(mt: tuple[Results, Path], world: World) -> None:
    results, folder = mt
    source, target = (
        path.read_text(encoding="utf-8").splitlines()[0]
        for path in world.text("test.fr", "test.it")
    )
    tables = (folder / "samples.md").read_text(encoding="utf-8")
    assert tables.startswith(f"| source | {source} |\n|---|---|\n| target | {target} |\n| sp |")
    assert len(results.samples) == 2 * 8


def test_samples_cannot_break_a_table() -> None:
    sample = WrittenText((("line", "a|b"),), "m*", ["<b>", "|"], ["_x_"])
    shown = to_markdown([sample]).splitlines()
    assert shown == ["| line | a\\|b |", "|---|---|", r"| m\* | \<b\> \| **\_x\_** |"]


def test_characters_win_by_the_published_figure_and_by_no_other(
    lm: tuple[Results, Path], world: World, tmp_path: Path
) -> None:
    text = (world.folder / "train.it").read_text(encoding="utf-8").splitlines()
    characters = peers.sentencepiece_model(text, 500, model_type="char", byte_fallback=True)
    (tmp_path / "characters.model").write_bytes(characters)
    found = language_models(
        [tmp_path / "characters.model"], *world.monolingual, output=tmp_path / "lm", **QUICK_LM
    )
    for metric, better in (("bits_per_byte", "sp"), ("per_token_as_published", "characters.model")):
        values = {
            "characters.model": value(found, "characters.model", f"{metric}_monolingual"),
            "sp": value(lm[0], "sp", f"{metric}_monolingual"),
        }
        assert min(values, key=values.__getitem__) == better


def test_unknown_tokens_are_noted(world: World, tmp_path: Path) -> None:
    path = tmp_path / "unknown.model"
    path.write_bytes(peers.sentencepiece_model(["il gatto e il topo"] * 20, 15))
    found = language_models([path], *world.monolingual, output=tmp_path / "lm", **QUICK_LM)
    assert any(
        "unknown tokens" in note and "byte fallback" in note for note in found.evaluation.notes
    )


def test_a_hugging_face_tokenizer_will_do(world: World, tmp_path: Path) -> None:
    import tokenizers

    bpe = tokenizers.ByteLevelBPETokenizer()
    bpe.train_from_iterator(["città perché però più così"] * 5, vocab_size=290)
    path = tmp_path / "tokenizer.json"
    bpe.save(str(path))
    (system,) = systems_of(str(path))
    pieces = TargetPieces(system)
    texts = ["perché, città", "日本"]
    rows = [row.tolist() for row in pieces.rows(ParallelText(texts))]
    assert pieces.texts(rows) == texts
    assert rows == [encoding.ids for encoding in bpe.encode_batch(texts)]
    found = language_models([f"hf={path}"], *world.monolingual, output=tmp_path / "lm", **QUICK_LM)
    assert value(found, "hf", "bits_per_byte_monolingual") > 0


# ---------------------------------------------------------------------- translation


def test_scores_are_sacrebleus_on_the_files_that_are_left(
    mt: tuple[Results, Path], world: World
) -> None:
    from sacrebleu.metrics import BLEU, CHRF, TER

    results, folder = mt
    references = (world.folder / "test.it").read_text(encoding="utf-8").splitlines()
    for tokenizer in ("sp", "ours"):
        for name, metric in (("chrf++", CHRF(word_order=2)), ("bleu", BLEU()), ("ter", TER())):
            by_seed = []
            for seed in (1, 2):
                path = folder / "translations" / f"{tokenizer}.{seed}.txt"
                lines = path.read_text(encoding="utf-8").splitlines()
                by_seed.append(metric.corpus_score(lines, [references]).score)
            score = results.evaluation.score(tokenizer, name)
            assert score is not None
            assert score.runs == pytest.approx(by_seed)


@pytest.mark.parametrize(
    ("metric", "settings"),
    [
        ("bleu", "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:"),
        ("chrf++", "chrF2++|nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:"),
        ("ter", "TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:"),
    ],
)
def test_signatures_are_the_papers(mt: tuple[Results, Path], metric: str, settings: str) -> None:
    score = mt[0].evaluation.score("ours", metric)
    assert score is not None
    assert settings in score.signature
    for part in ("tokenizer:", "train:", "test:", "source_tokenizer:", "seeds:1-2", "torch:"):
        assert part in score.signature


def test_targets_to_learn_from_are_tokenized_with_their_source(world: World) -> None:
    (system,) = systems_of(world.tokenizers[1], ["paired"])
    model = system.model
    assert model is not None
    french, italian = (
        path.read_text(encoding="utf-8").splitlines() for path in world.text("train.fr", "train.it")
    )
    rows = [row.tolist() for row in TargetPieces(system).rows(ParallelText(italian, french))]
    assert rows == model.encode_batch(italian, french)
    assert rows != model.encode_batch(italian)


def test_references_have_a_probability(mt: tuple[Results, Path], world: World) -> None:
    """The loss of transformers itself, a sentence at a time."""
    import sentencepiece
    from transformers import MarianMTModel

    results, folder = mt
    (own,) = (folder / "runs").glob("sp-1-*")
    model = MarianMTModel.from_pretrained(own / "model").eval()
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(world.folder / "it.model"))
    lines = (world.folder / "test.it").read_text(encoding="utf-8").splitlines()
    from pairpiece.downstream.rows import load_rows

    (text,) = (folder / "text").glob("sp-*")
    sources = load_rows(text)[0]["test_source"]
    nats = 0.0
    for line, source in zip(lines, sources, strict=True):
        labels = torch.tensor([[*(piece + 2 for piece in pieces.encode(line)), 1]])
        read = torch.tensor([[*source.tolist(), 1]])
        with torch.no_grad():
            nats += float(model(input_ids=read, labels=labels).loss) * labels.shape[1]
    size = sum(len(line.encode("utf-8")) for line in lines)
    score = results.evaluation.score("sp", "bits_per_byte")
    assert score is not None
    assert score.runs[0] == pytest.approx(nats / size / math.log(2), rel=1e-5)


def test_the_papers_spaces_before_punctuation_are_taken_away(pairs: pairpiece.Pairs) -> None:
    model = pairpiece.train_from_pairs(pairs, vocab_size=640, mode="paper")
    (system,) = systems_of(model, ["marginal"])
    text = "Il gatto, il cane (e il topo)."
    ids = model.encode(text)
    assert " ," in model.decode(ids)
    assert TargetPieces(system).texts([ids]) == [text]


def test_comet_says_what_is_missing(world: World, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"pairpiece\[comet\]"):
        translations(world.tokenizers, *world.parallel, output=tmp_path, comet="x", **QUICK_MT)


def test_comet_is_used_where_it_is(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mt: tuple[Results, Path]
) -> None:
    class Comet:
        """As much of the package as is called."""

        @staticmethod
        def download_model(name: str, *, local_files_only: bool) -> str:
            assert local_files_only
            if name != "there":
                raise FileNotFoundError(name)
            return "there.ckpt"

        @staticmethod
        def load_from_checkpoint(path: str) -> Any:
            assert path == "there.ckpt"
            return Comet()

        def predict(self, data: list[dict[str, str]], batch_size: int, gpus: int) -> Any:
            assert (batch_size, gpus) == (16, 0)
            assert all(set(one) == {"src", "mt", "ref"} for one in data)
            return type("Found", (), {"scores": [len(one["ref"]) / 100 for one in data]})()

    monkeypatch.setitem(sys.modules, "comet", Comet)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="no COMET model elsewhere on this disk"):
        translations(
            world.tokenizers, *world.parallel, output=tmp_path, comet="elsewhere", **QUICK_MT
        )
    found = translations(world.tokenizers, *world.parallel, output=mt[1], comet="there", **QUICK_MT)
    references = (world.folder / "test.it").read_text(encoding="utf-8").splitlines()
    expected = sum(map(len, references)) / 100 / len(references)
    assert value(found, "ours", "comet") == pytest.approx(expected)


# ---------------------------------------------------------------------- runs


def test_what_is_done_is_not_done_again(
    lm: tuple[Results, Path], world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    results = lm[0]
    folder = shutil.copytree(lm[1], tmp_path / "lm")
    (source,) = world.text("train.fr")
    done: list[Path] = []
    perform = trials._perform

    def watched(run: trials.Trial, told: Any) -> None:
        done.append(run.folder)
        perform(run, told)

    monkeypatch.setattr(trials, "_perform", watched)
    how = {**QUICK_LM, "output": folder}
    again = language_models(world.tokenizers, *world.monolingual, source, **how)
    assert done == []
    assert again.as_dict() == results.as_dict()
    more = language_models(world.tokenizers, *world.monolingual, **{**how, "seeds": 3})
    assert sorted(path.name.rpartition("-")[0] for path in done) == [
        "ours-monolingual-3",
        "sp-monolingual-3",
    ]
    assert len(more.runs) == 6
    language_models(world.tokenizers[:1], *world.monolingual, **{**how, "layers": 2, "seeds": 1})
    assert len(done) == 3


@pytest.mark.slow
def test_processes_change_nothing(mt: tuple[Results, Path], world: World, tmp_path: Path) -> None:
    how = {**QUICK_MT, "jobs": 2, "output": tmp_path}
    told: list[tuple[str, int, int]] = []
    found = translations(
        world.tokenizers, *world.parallel, advance=lambda *what: told.append(what), **how
    )
    expected = without_seconds(
        translations(world.tokenizers, *world.parallel, output=mt[1], **{**QUICK_MT, "jobs": 1})
    )
    assert without_seconds(found) == expected
    assert told[-1][1:] == (48, 48)


@pytest.mark.slow
def test_a_command_that_was_killed_goes_on(world: World, tmp_path: Path) -> None:
    arguments = [
        *("lm", "--tokenizer", world.tokenizers[0], "--seeds", 1, "--output", tmp_path / "killed"),
        *("--target", world.folder / "train.it", "--dev-target", world.folder / "dev.it"),
        *("--test-target", world.folder / "test.it", "--format", "json"),
        *("--set", "examples=4000", "--set", "evaluate_every=50", "--set", "context=32", *SMALL),
    ]
    with start(*arguments, cache=tmp_path) as process:
        deadline = time.monotonic() + 120
        while not list((tmp_path / "killed").glob("runs/*/checkpoint.safetensors")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    assert not list((tmp_path / "killed").glob("runs/*/result.json"))
    ended = run(*arguments, cache=tmp_path)
    assert ended.code == 0, ended.err
    whole = run(*arguments[:6], tmp_path / "whole", *arguments[7:], cache=tmp_path)
    found, expected = json.loads(ended.out), json.loads(whole.out)
    for one in (*found["runs"], *expected["runs"]):
        del one["seconds"]
    assert found == expected
    assert not list(tmp_path.glob("*/runs/*/checkpoint.safetensors"))


def test_results_are_written_and_drawn(lm: tuple[Results, Path], mt: tuple[Results, Path]) -> None:
    for results, folder in (lm, mt):
        content = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        assert content["scores"]
        assert content["settings"]["width"] == 16
        assert {"torch", "transformers", "pairpiece"} <= set(content["versions"])
        assert all(score["signature"] for score in content["scores"])
        assert [len(curve["points"]) for curve in content["curves"]] == [3] * len(results.runs)
        assert content["curves"][0]["points"][-1][0] == 96  # lines
        assert "| bits per byte" in (folder / "results.md").read_text(encoding="utf-8")
        assert (folder / "curves.svg").read_text(encoding="utf-8").startswith("<?xml")
        assert (folder / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_two_experiments_do_not_share_a_folder(world: World, tmp_path: Path) -> None:
    with trials.locked(tmp_path), pytest.raises(OptionError, match="another experiment"):
        language_models(world.tokenizers, *world.monolingual, output=tmp_path, **QUICK_LM)


def test_a_result_that_was_cut_short_is_an_error_that_names_it(
    world: World, tmp_path: Path
) -> None:
    how = {**QUICK_LM, "seeds": 1, "output": tmp_path}
    language_models(world.tokenizers[:1], *world.monolingual, **how)
    (path,) = tmp_path.glob("runs/*/result.json")
    path.write_text(path.read_text(encoding="utf-8")[:100], encoding="utf-8")
    with pytest.raises(OptionError, match=r"result\.json: damaged: delete it"):
        language_models(world.tokenizers[:1], *world.monolingual, **how)


# ---------------------------------------------------------------------- chance


def test_equal_models_do_not_differ_and_different_ones_do() -> None:
    random = np.random.default_rng(1)
    sizes = np.full(200, 50.0)
    measure = measures.language_model_measures("monolingual")[0]

    def measured(name: str, factor: float) -> measures.Measured:
        by_seed = [
            np.stack([factor * random.normal(70, 5, 200) + random.normal(0, 1), sizes], 1)
            for _ in range(8)
        ]
        return measures.Measured(measure, name, by_seed, "")

    same = [measured("a", 1.0), measured("b", 1.0), measured("c", 1.2)]
    found = {score.tokenizer: score for score in measures.scores(same, "a", 500, 1)}
    assert found["a"].comparison is None
    assert found["b"].comparison is not None
    assert found["c"].comparison is not None
    assert found["b"].comparison.p > 0.05 > found["c"].comparison.p
    assert found["c"].comparison.low > 0
    assert len(found["a"].runs) == 8


def test_seeds_count_as_chance() -> None:
    """Seeds that differ a lot leave no difference certain, however many sentences there are."""
    measure = measures.language_model_measures("monolingual")[0]
    sizes = np.full(1000, 50.0)

    def measured(name: str, levels: list[float]) -> measures.Measured:
        by_seed = [np.stack([np.full(1000, level), sizes], 1) for level in levels]
        return measures.Measured(measure, name, by_seed, "")

    a, b = measured("a", [60.0, 70.0, 80.0]), measured("b", [73.0, 83.0, 63.0])
    score = measures.scores([a, b], "a", 500, 1)[1]
    assert score.comparison is not None
    assert score.comparison.p > 0.3
    # But what a seed does to both is no chance: they have seen the same lines.
    b = measured("b", [63.0, 73.1, 82.9])
    score = measures.scores([a, b], "a", 500, 1)[1]
    assert score.comparison is not None
    assert score.comparison.p < 0.05


def test_the_mean_over_seeds_varies_as_means_do() -> None:
    measure = measures.Measure("x", "lower", 3, "", lambda sums: float(sums[0]))
    levels = [1.0, 2.0, 4.0, 9.0]
    one = measures.Measured(measure, "a", [np.array([[level]]) for level in levels], "")
    drawn = one.resampled(np.ones((20_000, 1)), measures.drawn_seeds(4, 20_000, 0))
    assert drawn.var() == pytest.approx(np.var(levels, ddof=1) / 4, rel=0.05)


# ---------------------------------------------------------------------- errors


def test_errors_say_what_to_do(world: World, tmp_path: Path) -> None:
    train, dev, test = world.monolingual
    how: dict[str, Any] = {**QUICK_LM, "output": tmp_path / "out"}
    for arguments, changes, message in (
        ((train, dev, test), {"layer": 2}, "did you mean layers"),
        ((train, dev, test), {"seeds": 0}, "seeds must be between"),
        ((train, dev, test), {"jobs": 0}, "jobs must be between"),
        ((train, dev, test), {"threads": "2"}, "threads must be between"),
        ((train, dev, test), {"resamples": 1}, "resamples must be between"),
        ((train, dev, test), {"device": "tpu"}, "no device 'tpu' here"),
        ((train, dev, test), {"settings": ["both"]}, "a setting is monolingual or bilingual"),
        ((train, dev, test), {"settings": ["bilingual"]}, "source language: source="),
        ((train, dev, test), {"baseline": "x"}, "baseline"),
        ((train, tmp_path / "none.it", test), {}, "none.it: there is no such file"),
    ):
        with pytest.raises(pairpiece.PairPieceError, match=message):
            language_models(world.tokenizers, *arguments, **{**how, **changes})
    for tokenizer, message in (
        (f"{world.tokenizers[1]}@paired", "no source text to tokenize with"),
        (f"pretokenized:{train}", "not tokenized text"),
    ):
        with pytest.raises(OptionError, match=message):
            language_models([tokenizer], train, dev, test, **how)
    assert not (tmp_path / "out").exists()


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = importlib.import_module

    def missing(name: str) -> Any:
        if name in ("torch", "sacrebleu"):
            raise ImportError(name)
        return real(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(OptionError, match=r'needs torch: pip install "pairpiece\[lm\]"'):
        language_models(["x"], "a", "b", "c", output=tmp_path)


def test_the_package_does_not_need_torch() -> None:
    code = (
        "import sys, pairpiece; from pairpiece.commands import main\n"
        "try: main(['lm', '--help'])\n"
        "except SystemExit: pass\n"
        "assert not {'torch', 'transformers', 'sacrebleu', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


# ---------------------------------------------------------------------- commands


def test_the_commands(world: World, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    train_fr, train_it, dev_fr, dev_it, test_fr, test_it = world.parallel
    tokenizers = [word for one in world.tokenizers for word in ("--tokenizer", one)]
    common = [*tokenizers, "--seeds", 1, "--jobs", 1, "--quiet"]
    for name, number in QUICK.items():
        common += ["--set", f"{name}={number}"]
    ended = call(
        capfd,
        *("lm", *common, "--target", train_it, "--dev-target", dev_it, "--test-target", test_it),
        *("--output", tmp_path / "lm", "--format", "markdown"),
    )
    assert ended.code == 0, ended.err
    assert "| bits per byte monolingual ↓ |" in ended.out
    assert "results.json" in ended.err
    ended = call(
        capfd,
        *("mt", *common, "--source", train_fr, "--target", train_it, "--dev-source", dev_fr),
        *("--dev-target", dev_it, "--test-source", test_fr, "--test-target", test_it),
        *("--output", tmp_path / "mt", "--set", "beam=1"),
    )
    assert ended.code == 0, ended.err
    assert "chrf++ ↑" in ended.out
    ended = call(
        capfd,
        *("lm", *common, "--target", train_it, "--dev-target", dev_it, "--test-target", test_it),
        *("--output", tmp_path / "lm", "--set", "layers"),
    )
    assert complaint(ended) == "--set layers: expected NAME=VALUE"


def alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_ctrl_c_stops_all_processes(world: World, tmp_path: Path) -> None:
    arguments = [
        *("lm", "--tokenizer", world.tokenizers[0], "--seeds", 3, "--jobs", 2),
        *("--output", tmp_path / "lm", "--set", "examples=1000000", "--set", "evaluate_every=20"),
        *("--set", "patience=0", *SMALL),
        *("--target", world.folder / "train.it", "--dev-target", world.folder / "dev.it"),
        *("--test-target", world.folder / "test.it"),
    ]
    process = start(*arguments, cache=tmp_path, start_new_session=True)
    group = os.getpgid(process.pid)
    checkpoints = tmp_path / "lm" / "runs"
    try:
        ended = stop_when(
            process, lambda: len(list(checkpoints.glob("*/checkpoint.safetensors"))) == 2
        )
        assert (ended.code, ended.out) == (130, "")
        assert "pairpiece: interrupted\n" in ended.err
        assert "Traceback" not in ended.err
        deadline = time.monotonic() + 20
        while alive(group):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


def test_orphans_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process whose parent was killed does not train on for nobody."""
    stopped: list[int] = []

    class StoppedError(Exception):
        pass

    def leave(code: int) -> None:
        stopped.append(code)
        raise StoppedError

    monkeypatch.setattr(os, "_exit", leave)
    monkeypatch.setattr(trials, "_worker", (None, threading.Event(), os.getppid() + 1))
    monkeypatch.setattr(trials, "_perform", lambda _, told: told(1))
    with pytest.raises(StoppedError):
        trials._perform_there(0, None)  # type: ignore[arg-type]
    assert stopped == [1]


@pytest.mark.slow
def test_an_error_in_one_process_ends_all(world: World, tmp_path: Path) -> None:
    how = {**QUICK_LM, "jobs": 2, "learning_rate": 1e11, "warmup": 0, "clip_norm": 1e9}
    with pytest.raises(OptionError, match="diverges"):
        language_models(world.tokenizers, *world.monolingual, output=tmp_path, **how)
