"""The demo: trains, compares with SentencePiece, shows, and says what to do next."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from support.command_line import Ended, begin_of_sample, run

import pairpiece

pytestmark = pytest.mark.slow

NUMBER = r"(\d+\.\d{3})"
PERCENT = r"(\d+\.\d)%"


class Demo(NamedTuple):
    ended: Ended
    folder: Path

    def rows(self) -> dict[str, tuple[float, float, float]]:
        """Tokens per word, one-to-one and link F, by way of tokenizing."""
        row = rf"^  (\w\S*(?: \S+)*) +{NUMBER} +{PERCENT} +{PERCENT} *$"
        found = re.findall(row, self.ended.out, re.M)
        return {
            name: (float(tokens), float(o) / 100, float(f) / 100) for name, tokens, o, f in found
        }


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("demo")
    (folder / "temporary").mkdir()
    command = ["demo", "--vocab-size", 1200, "--output", folder / "model"]
    environment = {"TMPDIR": str(folder / "temporary")}
    return Demo(run(*command, cache=folder / "cache", env=environment), folder)


def test_the_demo_succeeds_and_leaves_only_the_model(demo: Demo) -> None:
    assert (demo.ended.code, demo.ended.err) == (0, "")
    assert sorted(path.name for path in demo.folder.iterdir()) == ["model", "temporary"]
    assert list((demo.folder / "temporary").iterdir()) == []


def test_the_table_has_plausible_numbers(demo: Demo) -> None:
    rows = demo.rows()
    assert list(rows) == [
        "SentencePiece",
        "paper, target only",
        "paper, with source",
        "default, target only",
        "default, with source",
        "default, wrong source",
    ]
    for tokens, one_to_one, link_f in rows.values():
        assert 1 < tokens < 4
        assert 0.3 < one_to_one < 1
        assert 0.3 < link_f < 1


@pytest.mark.parametrize("way", ["target only", "with source"])
def test_the_default_has_fewer_tokens_than_sentencepiece(way: str, demo: Demo) -> None:
    rows = demo.rows()
    assert rows[f"default, {way}"][0] < rows["SentencePiece"][0]


def test_the_source_helps_and_a_wrong_one_does_not(demo: Demo) -> None:
    rows = demo.rows()
    link_f = rows["default, with source"][2]
    assert link_f > rows["SentencePiece"][2]
    assert link_f > rows["default, target only"][2]
    assert link_f > rows["default, wrong source"][2]


def test_three_sentences_are_shown_side_by_side(demo: Demo) -> None:
    shown = re.findall(r"^  source  (.+)\n  target  (.+)\n  links   (.+)$", demo.ended.out, re.M)
    assert len(shown) == 3
    for _, target, links in shown:
        pieces = {piece.strip("▁") for piece in target.split()}
        assert {link.partition("=")[0] for link in links.split()} <= pieces


def test_the_next_command_is_told(demo: Demo) -> None:
    assert f"The model is in {demo.folder / 'model'}." in demo.ended.out
    assert demo.ended.out.splitlines()[-1].startswith("  pairpiece train --source ")


def test_the_model_can_be_used(demo: Demo) -> None:
    loaded = pairpiece.load(demo.folder / "model")
    assert loaded.vocab_size == 1200
    for source, target in begin_of_sample(200):
        assert loaded.decode(loaded.encode(target)) == loaded.normalize(target)
        assert loaded.decode(loaded.encode(target, source=source)) == loaded.normalize(target)


def test_a_model_of_the_paper_survives_saving(tmp_path: Path) -> None:
    pairs = begin_of_sample(400)
    trained = pairpiece.train(corpus=pairs, mode="paper", vocab_size=600, cache=False)
    trained.save(tmp_path)
    loaded = pairpiece.load(tmp_path)
    assert loaded.lexicon() == trained.lexicon()
    for source, target in pairs[:50]:
        encoded = loaded.encode(target, source=source)
        assert encoded == trained.encode(target, source=source)
        assert loaded.decode(encoded) == loaded.normalize(target)
