"""Vocabularies for Marian and OPUS-MT."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sentencepiece
from support.french_italian import PAIRS

import pairpiece
from pairpiece.commands import main
from pairpiece.foreign.sentencepiece_training import train_sentencepiece

FRENCH = [f"le chat {word} les souris dans la maison" for word in ("mange", "voit", "aime")] * 20
TEXTS = {
    "source": ["le chat aime la maison", "日本 l'été"],
    "target": [" ".join(words) for words in (["i", "gatti"], ["日本", "perché"])],
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    source = train_sentencepiece(FRENCH, 320)
    pairpiece.train_from_pairs(PAIRS, 500, source_tokenizer=source).save(folder)
    return folder


@pytest.fixture(scope="module")
def exported(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("marian")
    assert main(["export", str(model), "--to", "marian", "--output", str(folder)]) == 0
    return folder


def processor(path: Path) -> sentencepiece.SentencePieceProcessor:
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def vocabulary(path: Path) -> dict[str, int]:
    rows = (line.rsplit(": ", 1) for line in path.read_text(encoding="utf-8").splitlines())
    return {json.loads(name): int(number) for name, number in rows}


@pytest.mark.parametrize("side", ["source", "target"])
def test_the_built_in_model_segments_as_the_plain_one(side: str, exported: Path) -> None:
    plain, built_in = processor(exported / f"{side}.spm"), processor(exported / f"vocab.{side}.spm")
    for text in TEXTS[side]:
        assert built_in.encode(text, out_type=str) == plain.encode(text, out_type=str)
        assert built_in.decode(built_in.encode(text)) == plain.decode(plain.encode(text))


@pytest.mark.parametrize("side", ["source", "target"])
def test_the_ids_are_those_that_marian_wants(side: str, exported: Path) -> None:
    built_in = processor(exported / f"vocab.{side}.spm")
    assert (built_in.eos_id(), built_in.unk_id()) == (0, 1)
    assert (built_in.bos_id(), built_in.pad_id()) == (-1, -1)
    names = vocabulary(exported / f"vocab.{side}.yml")
    assert (names["</s>"], names["<unk>"]) == (0, 1)
    assert sorted(names.values()) == list(range(built_in.vocab_size()))
    for name, number in names.items():
        if number > 1:
            assert built_in.id_to_piece(number) == name


def test_the_target_model_is_ours(exported: Path, model: Path) -> None:
    ours, theirs = pairpiece.load(model), processor(exported / "target.spm")
    for text in TEXTS["target"]:
        assert theirs.encode(text) == ours.encode(text)


def test_a_source_of_another_kind_is_left_out(
    tokenizer: pairpiece.Tokenizer, tmp_path: Path
) -> None:
    tokenizer.save(tmp_path / "model")
    assert main(["export", str(tmp_path / "model"), "--to", "marian", "-o", str(tmp_path)]) == 0
    written = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert written == {"target.spm", "vocab.target.spm", "vocab.target.yml"}


@pytest.mark.filterwarnings("ignore:Recommended")  # another package, for punctuation
def test_transformers_loads_both_sides(model: Path, exported: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="needs pairpiece[transformers]")
    marian = transformers.MarianTokenizer.from_pretrained(exported)
    ours = pairpiece.load(model)
    targets = vocabulary(exported / "vocab.target.yml")
    for text in TEXTS["target"]:
        pieces = ours.encode(text, out_type=str)
        ids = marian(text_target=text)["input_ids"]
        assert ids == [*(targets[piece] for piece in pieces), 0]
        assert marian.decode(ids, skip_special_tokens=True) == text
    sources = vocabulary(exported / "vocab.source.yml")
    plain = processor(exported / "source.spm")
    for text in TEXTS["source"]:
        known = [sources.get(piece, 1) for piece in plain.encode(text, out_type=str)]
        assert marian(text)["input_ids"] == [*known, 0]
    batch = marian(TEXTS["source"], padding=True)["input_ids"]
    assert len(batch[0]) == len(batch[1])
    assert marian.pad_token_id == len(sources)


def test_one_side_alone_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairpiece.train_from_pairs(PAIRS, 500).save(tmp_path / "model")
    command = ["export", str(tmp_path / "model"), "--to", "marian", "-o", str(tmp_path / "marian")]
    assert main(command) == 0
    assert "target side only" in capsys.readouterr().err
    assert not (tmp_path / "marian" / "vocab.json").exists()


def test_the_dictionary_of_fairseq(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "dict.it.txt"
    assert main(["export", str(model), "--to", "fairseq", "-o", str(path)]) == 0
    rows = [line.split(" ") for line in path.read_text(encoding="utf-8").splitlines()]
    assert all(len(row) == 2 and int(row[1]) >= 1 for row in rows)
    assert {"<s>", "<pad>", "</s>", "<unk>"}.isdisjoint(row[0] for row in rows)
    counts = {piece: int(count) for piece, count in rows}
    ours = pairpiece.load(model)
    assert set(ours.encode("il gatto e 日本", out_type=str)) <= set(counts)
    assert max(counts.values()) > 1
