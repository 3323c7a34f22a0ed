"""The tokenizer that all others are compared with: SentencePiece, by one command."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import pytest
import zstandard
from support.command_line import begin_of_sample, call, complaint, text

from pairpiece.foreign.sentencepiece_training import train_sentencepiece

Console = pytest.CaptureFixture[str]
ITALIAN = [target for _, target in begin_of_sample(300)]
SIZE = 400


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("train.it").write_text(text(*ITALIAN), encoding="utf-8")
    return tmp_path


def trained(capfd: Console, *arguments: object) -> bytes:
    """The model of a command that had nothing to complain about."""
    ended = call(capfd, "baseline", *arguments, "--vocab-size", SIZE, "-o", "it.model")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == f"it.model: {SIZE} pieces from {len(ITALIAN)} lines\n"
    return Path("it.model").read_bytes()


@pytest.mark.usefixtures("folder")
def test_it_is_what_the_experiments_compare_with(capfd: Console) -> None:
    assert trained(capfd, "--text", "train.it") == train_sentencepiece(ITALIAN, SIZE).content


@pytest.mark.usefixtures("folder")
def test_text_may_be_compressed_and_in_several_files(capfd: Console) -> None:
    first, second, third = (text(*ITALIAN[i : i + 100]).encode() for i in (0, 100, 200))
    Path("a.it.gz").write_bytes(gzip.compress(first))
    Path("b.it.xz").write_bytes(lzma.compress(second))
    Path("c.it.zst").write_bytes(zstandard.ZstdCompressor().compress(third))
    parts = trained(capfd, "--text", "a.it.gz", "b.it.xz", "c.it.zst")
    assert parts == trained(capfd, "--text", "train.it")


@pytest.mark.usefixtures("folder")
def test_a_corpus_with_both_sides_will_do(capfd: Console) -> None:
    rows = [f"{target}\t{source}" for source, target in begin_of_sample(len(ITALIAN))]
    Path("both.tsv").write_text(text(*rows), encoding="utf-8")
    columns = ["--source-column", 2, "--target-column", 1]
    both = trained(capfd, "--corpus", "both.tsv", *columns)
    assert both == trained(capfd, "--text", "train.it")


@pytest.mark.usefixtures("folder")
def test_a_text_that_has_less_to_offer_is_no_failure(capfd: Console) -> None:
    ended = call(capfd, "baseline", "--text", "train.it", "--vocab-size", 9000, "-o", "it.model")
    assert ended.code == 0
    assert "pieces (the text has no more to offer) from 300 lines" in ended.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--text", "train.it", "--vocab-size", 5], "of 5 pieces: Vocabulary size is smaller"),
        (
            ["--text", "train.it", "--vocab-size", 0],
            "--vocab-size must be between 1 and ",
        ),
        (["--text", "blank"], "there is no text to learn from"),
        (["--text", "train.it", "nowhere.it"], "nowhere.it: No such file"),
        (["--text", "memory.tmx.gz"], "memory.tmx.gz: not a text file: name it with --corpus"),
        (["--corpus", "train.it"], "train.it: a file with one language"),
    ],
)
def test_mistakes_are_explained_and_leave_nothing(
    arguments: list[object], said: str, folder: Path, capfd: Console
) -> None:
    Path("blank").write_text(" \n\n")
    before = sorted(folder.iterdir())
    complained = complaint(call(capfd, "baseline", *arguments, "-o", "it.model"))
    assert said in complained
    assert "character_coverage" not in complained
    assert sorted(folder.iterdir()) == before


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("output", ["no/it.model", "."])
def test_what_cannot_be_written_is_told_before_the_training(output: str, capfd: Console) -> None:
    command = ["baseline", "--text", "nowhere.it", "-o", output]
    assert complaint(call(capfd, *command)).startswith(f"{output}: ")
