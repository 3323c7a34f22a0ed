"""The tokenizer class for the transformers library."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from support.french_italian import PAIRS

import pairpiece

transformers = pytest.importorskip("transformers", reason="needs pairpiece[transformers]")

TEXTS = ["i gatti parlano", "il topo"]
SOURCES = [["▁les", "▁chat", "s", "▁parl", "ent"], ["▁le", "▁sou", "ris"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    pairpiece.train_from_pairs(PAIRS, 500).save(folder)
    return folder


@pytest.fixture(scope="module")
def model(folder: Path) -> pairpiece.Tokenizer:
    return pairpiece.load(folder)


@pytest.fixture(scope="module")
def tokenizer(folder: Path) -> pairpiece.PairPieceTokenizer:
    return pairpiece.PairPieceTokenizer.from_pretrained(folder)


def test_without_a_source_it_is_a_fast_tokenizer(
    tokenizer: pairpiece.PairPieceTokenizer, model: pairpiece.Tokenizer
) -> None:
    assert tokenizer.is_fast
    assert tokenizer(TEXTS)["input_ids"] == model.encode_batch(TEXTS)
    assert tokenizer.batch_decode(tokenizer(TEXTS)["input_ids"]) == TEXTS


def test_with_sources_it_encodes_paired(
    tokenizer: pairpiece.PairPieceTokenizer, model: pairpiece.Tokenizer
) -> None:
    expected = model.encode_batch(TEXTS, SOURCES)
    assert tokenizer(TEXTS, source=SOURCES)["input_ids"] == expected
    assert tokenizer(TEXTS[0], source=SOURCES[0])["input_ids"] == expected[0]


def test_with_links_it_follows_them(
    tokenizer: pairpiece.PairPieceTokenizer, model: pairpiece.Tokenizer
) -> None:
    links = [[(0, 0), (1, 1), (2, 1), (3, 2), (4, 2)], None]
    expected = model.encode_batch(TEXTS, SOURCES, alignments=links)
    assert tokenizer(TEXTS, source=SOURCES, alignment=links)["input_ids"] == expected
    one = tokenizer(TEXTS[0], source=SOURCES[0], alignment=links[0])
    assert one["input_ids"] == expected[0]


@pytest.mark.parametrize("padding", [True, "longest", "max_length"])
def test_batches_are_cut_and_filled_up(
    tokenizer: pairpiece.PairPieceTokenizer, model: pairpiece.Tokenizer, padding: bool | str
) -> None:
    batch = tokenizer(
        TEXTS, source=SOURCES, padding=padding, truncation=True, max_length=4, return_tensors="np"
    )
    first, second = (ids[:4] for ids in model.encode_batch(TEXTS, SOURCES))
    width = 4 if padding == "max_length" else max(len(first), len(second))
    assert batch["input_ids"].shape == (2, width)
    for row, mask, ids in zip(
        batch["input_ids"].tolist(), batch["attention_mask"].tolist(), (first, second), strict=True
    ):
        assert row == ids + [model.pad_id] * (width - len(ids))
        assert mask == [1] * len(ids) + [0] * (width - len(ids))


def test_offsets_are_those_of_the_text(tokenizer: pairpiece.PairPieceTokenizer) -> None:
    found = tokenizer(TEXTS[0], source=SOURCES[0], return_offsets_mapping=True)
    assert "".join(TEXTS[0][a:b] for a, b in found["offset_mapping"]) == TEXTS[0]


def test_saved_and_loaded_it_does_the_same(
    tokenizer: pairpiece.PairPieceTokenizer, tmp_path: Path
) -> None:
    tokenizer.save_pretrained(tmp_path)
    again = pairpiece.PairPieceTokenizer.from_pretrained(tmp_path)
    plain = transformers.AutoTokenizer.from_pretrained(tmp_path)
    for copy in (again, pickle.loads(pickle.dumps(tokenizer))):
        assert copy(TEXTS, source=SOURCES) == tokenizer(TEXTS, source=SOURCES)
        assert copy(TEXTS)["input_ids"] == tokenizer(TEXTS)["input_ids"]
    assert plain(TEXTS)["input_ids"] == tokenizer(TEXTS)["input_ids"]


def test_a_directory_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(pairpiece.ModelFormatError, match="is not a PairPiece model"):
        pairpiece.PairPieceTokenizer.from_pretrained(tmp_path)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of datasets, and of forking
@pytest.mark.parametrize("num_proc", [None, 2])
@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("paired", [False, True])
def test_datasets_are_mapped_alike(
    tokenizer: pairpiece.PairPieceTokenizer,
    num_proc: int | None,
    batched: bool,
    paired: bool,
    tmp_path: Path,
) -> None:
    datasets = pytest.importorskip("datasets", reason="needs the datasets library")
    texts, sources = TEXTS * 10, SOURCES * 10
    rows = datasets.Dataset.from_dict({"text": texts, "source": sources})

    def encode(row: dict[str, Any]) -> dict[str, Any]:
        return dict(tokenizer(row["text"], source=row["source"] if paired else None))

    mapped = rows.map(
        encode,
        batched=batched,
        batch_size=3,
        num_proc=num_proc,
        cache_file_name=str(tmp_path / "mapped.arrow"),
        load_from_cache_file=False,
    )
    assert (
        list(mapped["input_ids"])
        == tokenizer(texts, source=sources if paired else None)["input_ids"]
    )
    assert list(mapped["text"]) == texts
    assert [len(ids) for ids in mapped["input_ids"]] == [
        len(mask) for mask in mapped["attention_mask"]
    ]


def test_datasets_know_a_tokenizer_again(folder: Path) -> None:
    fingerprint = pytest.importorskip("datasets.fingerprint", reason="needs the datasets library")
    tokenizer = pairpiece.PairPieceTokenizer.from_pretrained(folder)
    before = fingerprint.Hasher.hash(tokenizer)
    tokenizer(TEXTS, source=SOURCES, padding=True)
    tokenizer(TEXTS)
    again = pairpiece.PairPieceTokenizer.from_pretrained(folder)
    assert before == fingerprint.Hasher.hash(tokenizer) == fingerprint.Hasher.hash(again)
