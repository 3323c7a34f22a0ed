"""Words are read back as they were split, and split no more often than needed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pairpiece
from pairpiece.run import pipeline
from pairpiece.run.job import prepare
from pairpiece.run.stages.words import _written, read_words

pytestmark = pytest.mark.usefixtures("no_fsync", "cache")

ODD = "ab▁ \t\n\r\\\ufeff\u0085\u2028\u00a0nse"
WORD = st.text(st.sampled_from(ODD) | st.characters(exclude_categories=["Cs"]), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(WORD, max_size=5), max_size=5))
def test_words_are_read_back(tmp_path: Path, rows: list[list[str]]) -> None:
    path = tmp_path / "words"
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(_written(row) + "\n" for row in rows)
    assert list(read_words(path)) == rows


SENTENCES = [
    ("\ufeff\ufeffle chat dort", "\ufeff\ufeffil gatto dorme"),
    ("la\u2028nuit", "la notte"),
]


def test_the_words_of_a_run_are_those_of_its_text() -> None:
    job = prepare(corpus=SENTENCES * 20, align="none", vocab_size=290, hard_vocab_limit=False)
    found = pipeline.run(job)
    text = (found["read"].folder / "target.txt").read_text(encoding="utf-8").split("\n")[:-1]
    words = list(read_words(found["words"].folder / "target.words"))
    assert words[1] == found.tokenizer.words(text[1])
    assert words[0] == found.tokenizer.words(text[0].removeprefix("\ufeff"))


@pytest.mark.parametrize(("align", "expected"), [("none", 1), ("eflomal", 2)])
def test_a_source_tokenizer_is_asked_no_more_often_than_needed(align: str, expected: int) -> None:
    asked = 0

    def tokenize(text: str) -> list[str]:
        nonlocal asked
        asked += 1
        return text.split()

    pairs = [(f"le chat {i}", f"il gatto {i}") for i in range(40)]
    pairpiece.train(
        corpus=pairs,
        source_tokenizer=tokenize,
        align=align,
        vocab_size=300,
        hard_vocab_limit=False,
        cache=False,
    )
    assert asked == expected * len(pairs)  # words, if they are aligned; pairs


def test_a_paired_source_tokenizer_outlives_the_folders_of_a_run(tmp_path: Path) -> None:
    """Its table is not read from where the run has kept it."""
    rows = [(["the", "▁cat"], "▁chat", 5), (["▁a"], "▁le", 5), ([], "▁dort", 5)]
    pairpiece.train_from_pairs(rows, 280, hard_vocab_limit=False).save(tmp_path / "fr")
    pairs = [("le chat dort", "il gatto dorme"), ("le chat", "il gatto")] * 20
    tokenizer = pairpiece.train(
        corpus=pairs,
        source_tokenizer=tmp_path / "fr",
        align="none",
        vocab_size=290,
        hard_vocab_limit=False,
        cache=False,
    )
    tokenizer.save(tmp_path / "it")
    assert pairpiece.load(tmp_path / "it").source_tokenizer.is_paired  # type: ignore[union-attr]
