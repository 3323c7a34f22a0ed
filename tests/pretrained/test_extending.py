"""Models of two languages: the old vocabulary, and the new pieces after it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from support import pretrained  # noqa: E402
from support.pretrained import FAMILIES, Models, loaded  # noqa: E402

import pairpiece  # noqa: E402
from pairpiece.text.vocabulary import PieceType  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Recommended"),  # sacremoses, for Marian
]

TEXT = "Il topo mangia il formaggio, caffè ☃."
SOURCE = "La souris mange le fromage, café ☃."


@pytest.mark.parametrize("family", FAMILIES)
def test_an_extended_model_knows_both_languages(models: Models, family: str) -> None:
    before, after = models.model(family), models.extended(family)
    old, model = loaded(family, before), loaded(family, after)
    theirs = transformers.AutoTokenizer.from_pretrained(before)
    new = transformers.AutoTokenizer.from_pretrained(after)
    kept = transformers.AutoTokenizer.from_pretrained(after / "source_tokenizer")
    ids = theirs(SOURCE)["input_ids"]
    assert kept(SOURCE)["input_ids"] == ids
    rows = [m.get_input_embeddings().weight for m in (old, model)]
    size = len(theirs)
    assert torch.equal(rows[0][:size], rows[1][:size])
    given = {"input_ids": torch.tensor([ids])}
    if model.config.is_encoder_decoder:
        given["decoder_input_ids"] = given["input_ids"]
    with torch.no_grad():
        said = [m(**given).logits[..., :size] for m in (old, model)]
    torch.testing.assert_close(*said, rtol=1e-5, atol=1e-5)
    ours = pairpiece.load(after)
    assert new(TEXT, add_special_tokens=False)["input_ids"] == ours.encode(TEXT)
    assert ours.decode(ours.encode(TEXT)) == TEXT
    assert new.decode(ours.encode(TEXT)) == TEXT
    assert len(new) == rows[1].shape[0]
    settings = [json.loads((folder / "config.json").read_text()) for folder in (before, after)]
    for key, value in settings[0].items():
        if key.endswith("_token_id"):
            assert settings[1][key] == value
    labels = torch.tensor([new(TEXT)["input_ids"]])
    assert model(input_ids=labels, labels=labels).loss > 0


@pytest.mark.parametrize("family", ["gpt2", "llama", "xlm-r"])
def test_the_new_tokenizer_reads_what_the_model_writes(models: Models, family: str) -> None:
    folder = models.extended(family)
    theirs = transformers.AutoTokenizer.from_pretrained(folder / "source_tokenizer")
    new = transformers.AutoTokenizer.from_pretrained(folder)
    ours = pairpiece.load(folder)
    text = "La souris mange"
    ids = theirs(text, add_special_tokens=False)["input_ids"]
    assert new.decode(ids).strip() == ours.decode(ids).strip() == text


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_pieces_that_mean_the_same_are_shared(models: Models, family: str) -> None:
    folder, tokenizer = models.extended(family), models.tokenizer(FAMILIES[family][1])
    before, after = pairpiece.load(tokenizer), pairpiece.load(folder)
    size = len(transformers.AutoTokenizer.from_pretrained(models.model(family)))
    kinds = after.piece_types()
    shared = [i for i in range(size) if kinds[i] == PieceType.NORMAL]
    assert 3 < len(shared) < 300
    weights = before.source_weights()
    for i in shared:
        piece = after.id_to_piece(i)
        assert weights.row(before.piece_to_id(piece))[0][1] >= 0.5
    assert after.encode(TEXT, out_type=str) == before.encode(TEXT, out_type=str)
    paired = [t.encode(TEXT, source=SOURCE, out_type=str) for t in (after, before)]
    assert paired[0] == paired[1]
    assert after.align(SOURCE, TEXT) == before.align(SOURCE, TEXT)
    both = [(t.source_weights(), t.piece_to_id("▁il")) for t in (after, before)]
    assert both[0][0].row(both[0][1]) == both[1][0].row(both[1][1])
    assert both[0][0].counts[both[0][1]] == both[1][0].counts[both[1][1]] > 0
    alike = [before.lexicon().sources[p] == after.lexicon().sources[p] for p in ("▁il", "▁la")]
    assert all(alike)


def test_text_that_reads_like_a_token_of_the_model_is_text(models: Models) -> None:
    folder = models.extended("llama")
    new = transformers.AutoTokenizer.from_pretrained(folder)
    ours = pairpiece.load(folder)
    unused = [p for p, k in zip(ours.token_list(), ours.piece_types(), strict=True) if k == 5]
    assert len(unused) > 100
    for piece in [*unused[:50], *unused[-50:]]:
        for text in (piece, piece[1:], f"a{piece}b"):
            text = text.replace("▁", " ")
            ids = ours.encode(text)
            assert all(ours.piece_types()[i] != PieceType.UNUSED for i in ids)
            assert new(text, add_special_tokens=False)["input_ids"] == ids


def test_an_extended_tokenizer_goes_to_sentencepiece(models: Models, tmp_path: Path) -> None:
    import sentencepiece

    from pairpiece.commands import main

    path = tmp_path / "it.model"
    assert (
        main(["export", str(models.extended("llama")), "--to", "sentencepiece", "-o", str(path)])
        == 0
    )
    spm = sentencepiece.SentencePieceProcessor(model_file=str(path))
    ours = pairpiece.load(models.extended("llama"))
    for line in pretrained.italian(50):
        assert spm.encode(line) == ours.encode(line)
