"""All commands: help, exit codes and error messages; and what inspect shows of a model."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from importlib import metadata
from pathlib import Path
from unittest import mock

import pytest
from support.command_line import Training, call, complaint, run

import pairpiece
from pairpiece import commands

COMMANDS = (
    *("train", "encode", "decode", "align", "inspect", "baseline", "evaluate"),
    *("lm", "mt", "transfer", "export", "demo"),
)


@pytest.fixture(scope="module")
def loaded(trained: Training) -> pairpiece.Tokenizer:
    return pairpiece.load(trained.model)


pytestmark = pytest.mark.usefixtures("own_cache")


# ---------------------------------------------------------------------- usage


def examples(shown: str) -> list[list[str]]:
    """The arguments of every use of pairpiece among the examples of a help text."""
    shown = shown.partition("for example:\n")[2].replace("\\\n", " ")
    lines = re.findall(r"^  (\S.*)", shown, re.MULTILINE)
    uses = [re.sub(r"[<>] \S+", "", part) for line in lines for part in line.split("|")]
    return [shlex.split(use)[1:] for use in uses if use.strip().startswith("pairpiece ")]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_examples_that_can_be_used(
    command: str, capfd: pytest.CaptureFixture[str]
) -> None:
    ended = call(capfd, command, "--help")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(f"usage: pairpiece {command} ")
    shown = examples(ended.out)
    assert command in [arguments[0] for arguments in shown]
    for arguments in shown:
        commands._parser().parse_args(arguments)


def test_help_lists_every_command(capfd: pytest.CaptureFixture[str]) -> None:
    ended = call(capfd, "--help")
    assert ended.code == 0
    assert re.findall(r"^    (\w+) ", ended.out, re.MULTILINE) == list(COMMANDS)


@pytest.mark.parametrize(
    "arguments",
    [[], ["bake"], ["--colour"], *([name, "--colour", "red"] for name in COMMANDS), ["encode"]],
    ids=" ".join,
)
def test_wrong_usage_is_exit_code_2(
    arguments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    ended = call(capfd, *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("usage: pairpiece")
    assert "Traceback" not in ended.err


def test_the_version_is_that_of_the_package(capfd: pytest.CaptureFixture[str]) -> None:
    expected = (0, f"pairpiece {pairpiece.__version__}\n", "")
    assert call(capfd, "--version") == expected


def test_pairpiece_is_a_program() -> None:
    [program] = metadata.entry_points(group="console_scripts", name="pairpiece")
    assert program.load() is commands.program


# ---------------------------------------------------------------------- what is not installed


def test_the_demo_advises_nothing_that_it_cannot_do(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(shutil, "which", lambda _: None)
    said = complaint(call(capfd, "demo"))
    assert 'pip install "pairpiece[align]"' in said
    assert "--" not in said


@pytest.mark.parametrize("command", ["lm", "mt"])
@pytest.mark.parametrize("module", ["torch", "transformers", "matplotlib"])
def test_an_experiment_names_the_extra_that_brings_all_it_needs(
    command: str,
    module: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("torch", "transformers", "matplotlib"):
        there = None if name == module else mock.MagicMock()
        monkeypatch.setitem(sys.modules, name, there)
    sides = ["target"] if command == "lm" else ["source", "target"]
    parts = [f"--{part}{side}" for part in ("", "dev-", "test-") for side in sides]
    texts = [argument for part in parts for argument in (part, "x")]
    said = complaint(call(capfd, command, *texts, "--tokenizer", "x", "-o", tmp_path / "out"))
    assert said == f'this experiment needs {module}: pip install "pairpiece[{command}]"'


# ---------------------------------------------------------------------- errors


ENCODE, TRAIN = ["encode", "MODEL"], ["train", "-o", "new", "--align", "none"]

MISTAKES = {
    "no such text": ([*TRAIN, "--source", "no.fr", "--target", "good"], "no.fr: there is no such"),
    "nothing to read": (TRAIN, "there is nothing to read"),
    "unequal text": ([*TRAIN, "--source", "good", "--target", "short"], "short ends after 1 lines"),
    "bad text": ([*TRAIN, "--source", "good", "--target", "latin-1"], "latin-1:2: not valid UTF-8"),
    "bad TSV": ([*TRAIN, "--corpus", "one.tsv"], "one.tsv:2: 1 columns"),
    "no such links": (["train", "-o", "new", "--align", "no.links"], "no.links: there is no such"),
    "bad input": ([*ENCODE, "-i", "latin-1"], "latin-1:2: not valid UTF-8"),
    "no such input": ([*ENCODE, "-i", "no.it"], "no.it: No such file"),
    "damaged input": ([*ENCODE, "-i", "plain.gz"], "plain.gz: damaged"),
    "no such source": ([*ENCODE, "-i", "good", "--source", "no.fr"], "no.fr: No such file"),
    "no such folder": ([*ENCODE, "-i", "good", "-o", "no/out"], "no/out: No such file"),
    "no threads": ([*ENCODE, "-i", "good", "--threads", "0"], "threads must be"),
    "no source": ([*ENCODE, "-i", "good", "--alignment", "good.links"], "needs the source"),
    "whole sentence of no source": ([*ENCODE, "-i", "good", "--whole-sentence"], "with --source"),
    "no bigram": ([*ENCODE, "-i", "good", "--bigram"], "has no bigram model"),
    "bad link": (
        [*ENCODE, "-i", "good", "--source", "good", "--alignment", "bad.links"],
        "bad.links:2: '1:1' is not a link",
    ),
    "link beyond the words": (
        [*ENCODE, "-i", "good", "--source", "good", "--alignment", "far.links"],
        "far.links:2: ",
    ),
    "json words": (
        ["align", "MODEL", "--source", "good", "--words", "--output-format", "json"],
        "Pharaoh lines only",
    ),
    "no neighbours": (["inspect", "MODEL", "--piece", "il", "-k", "0"], "k must be at least 1"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with files, some of them bad."""
    monkeypatch.chdir(tmp_path)
    for name, content in {
        "good": b"uno\ndue\n",
        "short": b"uno\n",
        "latin-1": "uno\ncittà\n".encode("latin-1"),
        "one.tsv": b"a\tb\nc\n",
        "plain.gz": b"uno\n",
        "good.links": b"0-0\n0-0\n",
        "bad.links": b"0-0\n1:1\n",
        "far.links": b"0-0\n0-9\n",
    }.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.mark.parametrize(("arguments", "expected"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_exit_code_1_and_a_line_that_says_where(
    arguments: list[str],
    expected: str,
    trained: Training,
    folder: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    before = sorted(folder.iterdir())
    named = [str(trained.model) if name == "MODEL" else name for name in arguments]
    assert expected in complaint(call(capfd, *named))
    assert sorted(folder.iterdir()) == before


def test_a_mistake_is_the_exit_code_of_the_process(trained: Training, folder: Path) -> None:
    ended = run("encode", trained.model, "-i", "latin-1", cache=trained.cache, cwd=folder)
    assert complaint(ended).startswith("latin-1:2: ")


@pytest.mark.parametrize("command", ["encode", "decode", "align --source good", "inspect"])
@pytest.mark.parametrize("model", ["nowhere", ".", "good"])
def test_what_is_no_model_is_named(
    command: str, model: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    del folder
    name, *options = command.split()
    assert f"{model} is not a PairPiece model" in complaint(call(capfd, name, model, *options))


# ---------------------------------------------------------------------- inspect


def test_the_overview_tells_what_the_model_is(
    trained: Training, capfd: pytest.CaptureFixture[str]
) -> None:
    ended = call(capfd, "inspect", trained.model)
    assert (ended.code, ended.err) == (0, "")
    rows = dict(re.split(" {2,}", line, maxsplit=1) for line in ended.out.splitlines())
    assert rows["model"] == str(trained.model)
    assert rows["pieces"].startswith("600: ")
    assert rows["can do"] == "target only, paired, priors"
    assert rows["source tokenizer"] == "sentencepiece"
    assert rows["mode"] == "default"
    assert rows["text.normalization"] == "nfkc"
    assert rows["learning.length_penalty.under"] == "2.0"
    assert rows["corpus.files.1.name"] == "a.it"
    assert rows["alignment.aligner"] == "eflomal"


def test_the_overview_is_json_if_wanted(
    trained: Training, loaded: pairpiece.Tokenizer, capfd: pytest.CaptureFixture[str]
) -> None:
    ended = call(capfd, "inspect", trained.model, "--json")
    assert (ended.code, ended.err) == (0, "")
    found = json.loads(ended.out)
    assert found["vocab_size"] == sum(found["pieces"].values()) == loaded.vocab_size
    assert found["provenance"] == json.loads(json.dumps(loaded.provenance))
    assert found["paired"]
    assert found["priors"]
    assert not found["bigram"]


def test_pieces_are_listed_as_tsv(
    trained: Training, loaded: pairpiece.Tokenizer, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = [
        line.split("\t")
        for line in call(capfd, "inspect", trained.model, "--pieces").out.splitlines()
    ]
    assert len(rows) == loaded.vocab_size == 600
    assert {piece: int(number) for piece, _, number in rows} == loaded.get_vocab()
    scores = [loaded.score(int(number)) for _, _, number in rows]
    assert [float(score) for _, score, _ in rows] == pytest.approx(scores, rel=1e-5)


NEIGHBOURS = {"--piece": ("pieces", "sources"), "--source-token": ("source_tokens", "targets")}


@pytest.mark.parametrize("option", NEIGHBOURS)
@pytest.mark.parametrize("marker", ["▁", ""])
def test_neighbours_are_those_of_the_lexicon(
    option: str,
    marker: str,
    trained: Training,
    loaded: pairpiece.Tokenizer,
    capfd: pytest.CaptureFixture[str],
) -> None:
    kind, side = NEIGHBOURS[option]
    known = getattr(loaded.lexicon(3), side)
    name = next(name for name in known if name[:1] == "▁" and name[1:] not in known and known[name])
    wanted = ["inspect", trained.model, option, marker + name[1:], "-k", "3"]
    shown = call(capfd, *wanted).out
    assert shown.splitlines()[0].split()[0] == name
    assert re.findall(r"^  \d\.\d{3}  (.+)$", shown, re.MULTILINE) == [n for n, _ in known[name]]
    found = json.loads(call(capfd, *wanted, "--json").out)
    assert found[kind] == {name: [list(entry) for entry in known[name]]}


@pytest.mark.parametrize("option", NEIGHBOURS)
@pytest.mark.parametrize("name", ["xyzzy", "▁xyzzy"])
def test_what_the_model_does_not_know_is_named(
    option: str, name: str, trained: Training, capfd: pytest.CaptureFixture[str]
) -> None:
    said = complaint(call(capfd, "inspect", trained.model, option, name))
    assert said.startswith(f"'{name}' is not ")


def test_a_model_without_a_source_has_no_neighbours(
    trained: Training, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = call(
        capfd, "train", *trained.text, "-o", tmp_path, "--mode", "unigram", "--vocab-size", "600"
    )
    assert made.code == 0
    assert "without a source" in complaint(call(capfd, "inspect", tmp_path, "--piece", "il"))
    assert "can do" in call(capfd, "inspect", tmp_path).out


@pytest.mark.parametrize("wanted", [[], ["--piece", "il"], ["--json"], ["--pieces"]], ids=" ".join)
def test_output_is_utf8_whatever_the_terminal_says(wanted: list[str], trained: Training) -> None:
    ended = run(
        "inspect", trained.model, *wanted, cache=trained.cache, env={"PYTHONIOENCODING": "latin-1"}
    )
    assert (ended.code, ended.err) == (0, "")
    assert "▁" in ended.out
