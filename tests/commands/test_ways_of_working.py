"""Tokenizers, links and settings of one's own, from the training to encoded text."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from support import peers
from support.command_line import Training, begin_of_sample, call, said, text

import pairpiece

Console = pytest.CaptureFixture[str]

PAIRS = begin_of_sample(440)
FRENCH, ITALIAN = ([pair[side] for pair in PAIRS] for side in (0, 1))
NEW_FRENCH, NEW_ITALIAN = FRENCH[400:], ITALIAN[400:]

pytestmark = pytest.mark.usefixtures("own_cache", "here")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory, with text that is new to the models."""
    monkeypatch.chdir(tmp_path)
    Path("new.fr").write_text(text(*NEW_FRENCH), encoding="utf-8")
    Path("new.it").write_text(text(*NEW_ITALIAN), encoding="utf-8")


NEW = ["-i", "new.it", "--source", "new.fr"]


def train(trained: Training, *options: object) -> list[object]:
    return ["train", *trained.text, "--vocab-size", 600, "--output", "it-fr", *options]


def about(capfd: Console, model: object = "it-fr") -> dict[str, Any]:
    """What inspect says of a model."""
    found: dict[str, Any] = json.loads(said(capfd, "inspect", model, "--json"))
    return found


def encoded(capfd: Console, model: object, *options: object) -> list[list[int]]:
    """The ids of the new text, with the source or as it is said; no text is lost on the way."""
    out = said(capfd, "encode", model, *(options or NEW))
    back = said(capfd, "decode", model, stdin=out.encode())
    assert back == text(*map(pairpiece.load(model).normalize, NEW_ITALIAN))
    return [[int(token) for token in line.split()] for line in out.splitlines()]


# ---------------------------------------------------------------------- source tokenizers


Tokens = Callable[[str], list[str]]


def sentencepiece_bpe() -> tuple[str, Tokens]:
    model = peers.sentencepiece_model(FRENCH[:400], 300, model_type="bpe")
    Path("fr.model").write_bytes(model)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return "fr.model", lambda line: list(processor.encode(line, out_type=str))


def tokenizer_json() -> tuple[str, Tokens]:
    Path("llama").mkdir()
    theirs = peers.unigram(FRENCH[:400], 300)
    theirs.save("llama/tokenizer.json")
    return "llama/tokenizer.json", lambda line: list(theirs.encode(line).tokens)


def folder_with_one() -> tuple[str, Tokens]:
    return "llama/", tokenizer_json()[1]


def byte_level_files() -> tuple[str, Tokens]:
    """``vocab.json`` with ``merges.txt``, as GPT-2 has them."""
    Path("gpt").mkdir()
    theirs = peers.byte_level(FRENCH[:400], 330)
    theirs.model.save("gpt")
    assert sorted(path.name for path in Path("gpt").iterdir()) == ["merges.txt", "vocab.json"]
    return "gpt/", lambda line: list(theirs.encode(line).tokens)


def another_model() -> tuple[str, Tokens]:
    """A tokenizer of French that PairPiece has made."""
    pairs = zip(ITALIAN[:400], FRENCH[:400], strict=True)
    theirs = pairpiece.train(corpus=pairs, vocab_size=500, align="none", cache=False)
    theirs.save("fr-it")
    return "fr-it/", lambda line: theirs.encode(line, out_type=str)


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (sentencepiece_bpe, "sentencepiece"),
        (tokenizer_json, "huggingface"),
        (folder_with_one, "huggingface"),
        (byte_level_files, "huggingface"),
        (another_model, "pairpiece"),
    ],
)
def test_the_source_tokenizer_is_the_one_that_was_given(
    make: Callable[[], tuple[str, Tokens]], kind: str, trained: Training, capfd: Console
) -> None:
    given, tokens = make()
    said(capfd, *train(trained, "--align", "none", "--source-tokenizer", given, "--quiet"))
    assert about(capfd)["source_tokenizer"] == kind
    encoded(capfd, "it-fr")
    assert source_tokens(capfd) == list(map(tokens, NEW_FRENCH))


def test_source_text_may_be_tokens_already(trained: Training, capfd: Console) -> None:
    lines = [" ".join(f"▁{word[:2]} {word[2:]}" for word in line.split()) for line in FRENCH]
    Path("train.tok").write_text(text(*lines[:400]), encoding="utf-8")
    Path("new.fr").write_text(text(*lines[400:]), encoding="utf-8")
    both = ["--source", "train.tok", "--target", trained.target, "--vocab-size", 600]
    how = ["--source-tokenizer", "pretokenized", "--align", "none", "--quiet"]
    said(capfd, "train", *both, *how, "--output", "it-fr")
    encoded(capfd, "it-fr")
    assert source_tokens(capfd) == [line.split() for line in lines[400:]]


def source_tokens(capfd: Console, model: object = "it-fr") -> list[list[str]]:
    """The source tokens of the new text, as align has them."""
    out = said(capfd, "align", model, *NEW, "--output-format", "json")
    return [json.loads(line)["source_tokens"] for line in out.splitlines()]


# ---------------------------------------------------------------------- word links


def test_with_priors_a_single_new_sentence_is_aligned(trained: Training, capfd: Console) -> None:
    assert NEW_FRENCH[0] == "Ce nouveau roman coûte 25 euros."
    assert NEW_ITALIAN[0] == "Questo nuovo romanzo costa 25 euro."
    Path("one.fr").write_text(text(NEW_FRENCH[0]), encoding="utf-8")
    Path("one.it").write_text(text(NEW_ITALIAN[0]), encoding="utf-8")
    one = ["-i", "one.it", "--source", "one.fr", "--words"]
    word_by_word = "0-0 1-1 2-2 3-3 4-4 5-5 6-6\n"
    assert said(capfd, "align", trained.model, *one) == word_by_word
    said(capfd, *train(trained, "--quiet"))
    assert not about(capfd)["priors"]
    assert said(capfd, "align", "it-fr", *one) != word_by_word


def test_word_links_go_from_align_to_encode(trained: Training, capfd: Console) -> None:
    links = said(capfd, "align", trained.model, *NEW, "--words", "--threads", 1)
    given = ["--alignment", "-", *NEW]
    out = said(capfd, "encode", trained.model, *given, stdin=links.encode())
    model = pairpiece.load(trained.model)
    pairs = [
        [tuple(map(int, link.split("-"))) for link in line.split()] for line in links.splitlines()
    ]
    expected = model.encode_batch(NEW_ITALIAN, NEW_FRENCH, alignments=pairs)
    assert [[int(token) for token in line.split()] for line in out.splitlines()] == expected
    assert expected != model.encode_batch(NEW_ITALIAN, NEW_FRENCH)


def test_links_of_both_directions_are_put_together_as_wanted(
    trained: Training, capfd: Console
) -> None:
    def links(*options: object) -> set[tuple[int, str]]:
        command = ["align", trained.model, *NEW, "--words", "--seed", 5]
        lines = said(capfd, *command, *options).splitlines()
        return {(number, link) for number, line in enumerate(lines) for link in line.split()}

    few, some, many = (
        links("--symmetrization", how) for how in ("intersection", "grow-diag-final-and", "union")
    )
    assert few <= some <= many
    assert few < many
    assert links() == links("--output-format", "pharaoh") == some


@pytest.mark.parametrize("name", ["train.links", "train.links.gz"])
def test_links_of_another_aligner_are_used(name: str, trained: Training, capfd: Console) -> None:
    """Links such as those of any aligner, in a Pharaoh file."""
    text_of = ["-i", trained.target, "--source", trained.source]
    links = said(capfd, "align", trained.model, *text_of, "--words").encode()
    Path(name).write_bytes(gzip.compress(links) if name.endswith(".gz") else links)
    summary = said(capfd, *train(trained, "--align", name))
    count = len(links.split())
    assert f"Aligned  {count:,} links; " in summary
    found = about(capfd)["provenance"]["alignment"]
    assert (found["links"], "eflomal" in str(found)) == (count, False)
    with_links = encoded(capfd, "it-fr")
    said(capfd, *train(trained, "--align", "none", "--quiet"))
    assert about(capfd)["provenance"]["alignment"]["links"] == 0
    assert encoded(capfd, "it-fr") != with_links


def test_links_may_be_between_what_stands_between_spaces(trained: Training, capfd: Console) -> None:
    """Where every word stands between spaces, both ways to count are one."""
    plain = [" ".join(re.findall(r"\w+", line)) for line in (*FRENCH[:400], *ITALIAN[:400])]
    Path("a.fr").write_text(text(*plain[:400]), encoding="utf-8")
    Path("a.it").write_text(text(*plain[400:]), encoding="utf-8")
    both = ["--source", "a.fr", "--target", "a.it"]
    align = ["align", trained.model, "--source", "a.fr", "-i", "a.it", "--words", "-o", "links"]
    assert said(capfd, *align) == ""
    ids = []
    for between in ("words", "spaces"):
        how = ["--align", "links", "--links-between", between, "--vocab-size", 600, "--quiet"]
        said(capfd, "train", *both, *how, "--output", between)
        ids.append(encoded(capfd, between))
    assert ids[0] == ids[1]


# ---------------------------------------------------------------------- settings


def test_a_model_remembers_how_it_was_made(trained: Training, capfd: Console) -> None:
    summary = said(
        capfd,
        *train(trained, "--max-lines", 300, "--seed", 3, "--source-vocab-size", 350),
        *("--samplers", 2, "--aligner-length", 1, "--symmetrization", "union"),
        *("--threads", 1, "--log-format", "text"),
    )
    assert "Read     400 sentence pairs, of which 300 are used\n" in summary
    found = about(capfd)["provenance"]
    assert (found["corpus"]["max_lines"], found["corpus"]["used"]) == (300, 300)
    wanted = {"samplers": 2, "length": 1, "symmetrization": "union", "seed": 3}
    assert {name: found["alignment"][name] for name in wanted} == wanted
    encoded(capfd, "it-fr")
    cut, whole = (source_tokens(capfd, model) for model in ("it-fr", trained.model))
    assert sum(map(len, cut)) > 1.1 * sum(map(len, whole))


@pytest.mark.parametrize("mode", ["default", "paper", "paper-hard", "unigram"])
def test_every_mode_makes_a_tokenizer_that_loses_nothing(
    mode: str, trained: Training, capfd: Console
) -> None:
    said(capfd, *train(trained, "--align", "none", "--mode", mode, "--quiet"))
    found = about(capfd)
    assert (found["provenance"]["mode"], found["paired"]) == (mode, mode != "unigram")
    encoded(capfd, "it-fr", "-i", "new.it")
    if mode != "unigram":
        encoded(capfd, "it-fr")


def test_the_number_of_tokens_is_that_of_the_dial(trained: Training, capfd: Console) -> None:
    dev = ["--dev-source", "new.fr", "--dev-target", "new.it", "--align", "none"]
    sizes = {}
    for balance in (1.05, 1.15):
        ended = call(capfd, *train(trained, *dev, "--balance", balance))
        assert ended.code == 0  # and perhaps a warning that the text is too short to be exact
        [told] = re.findall(r"^Balanced (\S+) asked for: (\S+) target only", ended.out, re.M)
        assert list(map(float, told)) == pytest.approx([balance] * 2, abs=0.01)
        sizes[balance] = sum(map(len, encoded(capfd, "it-fr", "-i", "new.it")))
    assert sizes[1.15] / sizes[1.05] == pytest.approx(1.15 / 1.05, rel=0.01)


# ---------------------------------------------------------------------- numbers


def measured(capfd: Console, trained: Training, *options: object) -> dict[str, Any]:
    """What evaluate says of SentencePiece and of a model on the new text."""
    Path("train.it").write_text(text(*ITALIAN[:400]), encoding="utf-8")
    baseline = ["baseline", "--text", "train.it", "--vocab-size", 600, "--quiet"]
    assert said(capfd, *baseline, "--output", "it.model") == ""
    named = ["--source", "new.fr", "--target", "new.it", "--tokenizer", "sp=it.model"]
    named += ["--tokenizer", f"ours={trained.model}", "--resamples", 20, "--quiet"]
    found: dict[str, Any] = json.loads(
        said(capfd, "evaluate", *named, "--format", "json", *options)
    )
    return found


def test_there_is_another_aligner_to_measure_with(trained: Training, capfd: Console) -> None:
    pytest.importorskip("systran_align")
    found = measured(capfd, trained, "--aligner", "fast_align")
    rows = {(one["tokenizer"], one["metric"]): one for one in found["scores"]}
    link_f = {name: one["value"] for (name, metric), one in rows.items() if metric == "link_f"}
    assert set(link_f) >= {"sp"}
    assert all(0.3 < value < 1 for value in link_f.values())
    assert "fast_align" in rows["sp", "link_f"]["signature"]


def test_the_control_and_the_way_to_symmetrize_can_be_chosen(
    trained: Training, capfd: Console
) -> None:
    how = ["--runs", 1, "--metric", "unaligned", "--symmetrization"]
    few, many = (measured(capfd, trained, *how, name) for name in ("intersection", "union"))
    assert "links:union" in many["scores"][0]["signature"]
    assert few["scores"][0]["value"] > many["scores"][0]["value"]
    without = measured(capfd, trained, *how, "union", "--no-control")
    controlled, alone = ({one["tokenizer"] for one in run["scores"]} for run in (many, without))
    assert alone < controlled
    assert all("wrong" in name for name in controlled - alone)


def test_a_report_names_the_languages_as_it_is_told(trained: Training, capfd: Console) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    languages = ["--source-language", "français", "--target-language", "italiano"]
    named = ["--target", "new.it", "--source", "new.fr", "--tokenizer", trained.model]
    how = ["--no-align", "--resamples", 20, "--quiet", *languages, "--report", "page.html"]
    assert call(capfd, "evaluate", *named, *how).code == 0
    [title] = re.findall("<title>(.*)</title>", Path("page.html").read_text(encoding="utf-8"))
    assert "français" in title
    assert "italiano" in title
