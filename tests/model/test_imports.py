"""Tokenizers of other tools, taken over: the same pieces, ids and tokens."""

from __future__ import annotations

import dataclasses
import json
import pickle
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from support.french_italian import PAIRS
from support.hostile import HOSTILE
from support.taken_over import (
    SETTINGS,
    TEXTS,
    VARIANTS,
    Fast,
    Metaspace,
    Processor,
    as_text,
    assert_same,
    fast,
    ids_of,
    is_comparable,
    mixed,
    repetitive,
    small_model,
    taken_over,
    texts,
    trained,
    variant,
)

import pairpiece
from pairpiece.foreign.sentencepiece_format import to_sentencepiece
from pairpiece.text.vocabulary import PieceType

pytestmark = pytest.mark.usefixtures("no_fsync")

# ---------------------------------------------------------------------- SentencePiece


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("settings", SETTINGS)
def test_sentencepiece_finds_the_same_tokens_and_texts(settings: str, kind: str) -> None:
    theirs, ours, batch = (
        Processor(model_proto=trained(settings)),
        taken_over(settings),
        texts(kind),
    )
    found = theirs.encode(batch)
    assert_same(ours, batch, found)
    for text, back, other in zip(
        batch, ours.decode_batch(found), theirs.decode(found), strict=True
    ):
        assert back == other, ascii(text[:200])


@pytest.mark.parametrize("settings", SETTINGS)
def test_pieces_keep_their_ids_scores_and_types(settings: str) -> None:
    theirs, ours = Processor(model_proto=trained(settings)), taken_over(settings)
    ids = range(len(ours))
    assert theirs.get_piece_size() == len(ours)
    assert [theirs.id_to_piece(i) for i in ids] == ours.vocabulary.pieces
    assert [theirs.get_score(i) for i in ids] == [ours.score(i) for i in ids]
    for question, kind in (
        (theirs.is_unknown, PieceType.UNKNOWN),
        (theirs.is_control, PieceType.CONTROL),
        (theirs.is_byte, PieceType.BYTE),
    ):
        assert [i for i in ids if question(i)] == [
            i for i in ids if ours.vocabulary.types[i] == kind
        ]
    for role in ("unk", "bos", "eos", "pad"):
        assert getattr(ours, f"{role}_id") == getattr(theirs, f"{role}_id")()


@pytest.mark.parametrize("settings", ["default", "bytes", "no prefix, all spaces", "not split"])
def test_the_sums_of_sentencepiece_decide_between_tied_segmentations(settings: str) -> None:
    ours, batch = taken_over(settings), texts("random")
    other = ours._replaced(vocabulary=dataclasses.replace(ours.vocabulary, summation="texts"))
    assert ours.vocabulary.summation == "singles"
    assert ours.encode_batch(batch) != other.encode_batch(batch), "there are no such ties"


@pytest.mark.parametrize("settings", SETTINGS)
def test_all_that_is_known_of_an_encoding_agrees(settings: str) -> None:
    ours = taken_over(settings)
    batch = [*texts("sample")[:300], *texts("hostile"), *texts("random")[:300]]
    every = ours.encode_batch(batch, out_type=pairpiece.Encoding)
    for text, ids, found in zip(batch, ours.encode_batch(batch), every, strict=True):
        assert found.ids == ids == ours.encode(text)
        assert found.pieces == ours.encode(text, out_type=str)
        begins = [begin for begin, _ in found.offsets]
        assert begins == sorted(begins)
        assert all(0 <= begin <= end <= len(text) for begin, end in found.offsets)


@pytest.mark.parametrize("settings", SETTINGS)
def test_offsets_point_at_the_text_of_the_pieces(settings: str) -> None:
    ours = taken_over(settings)
    batch = [*texts("sample")[:300], *repetitive(5, 300), "il  gatto", "  il gatto ", "a   b  c"]
    for text in batch:
        found = ours.encode(text, out_type=pairpiece.Encoding)
        covered = set()
        for id_, piece, (begin, end) in zip(found.ids, found.pieces, found.offsets, strict=True):
            covered |= set(range(begin, end))
            there = (
                ours.normalize(text[begin:end]) if settings == "case folded" else text[begin:end]
            )
            if ours.vocabulary.types[id_] == PieceType.NORMAL:
                assert re.sub(" +", " ", there).strip() == piece.replace("▁", " ").strip(), text
        assert {i for i, character in enumerate(text) if character != " "} <= covered, text


@pytest.mark.parametrize("kind", ["sample", "random"])
@pytest.mark.parametrize("settings", ["default", "bytes", "not split"])
def test_the_best_of_several_segmentations_is_the_one_of_encode(settings: str, kind: str) -> None:
    ours = taken_over(settings)
    for text in texts(kind)[:200]:
        assert ours.nbest(text, 2)[0] == ours.encode(text), ascii(text)


@pytest.mark.parametrize("settings", [name for name in SETTINGS if "bytes" in name])
def test_with_bytes_nothing_is_lost(settings: str) -> None:
    ours = taken_over(settings)
    for text in [*HOSTILE, *texts("sample")[:200], *mixed(7, 300)]:
        assert ours.decode(ours.encode(text)) == ours.normalize(text), ascii(text[:200])
        assert ours.decode(ours.sample(text[:100], seed=1)) == ours.normalize(text[:100])


def test_models_come_as_files_bytes_or_processors(tmp_path: Path) -> None:
    path = tmp_path / "it.model"
    path.write_bytes(trained("default"))
    ways = [path, str(path), trained("default"), Processor(model_file=str(path))]
    for way in ways:
        found = pairpiece.from_sentencepiece(way)
        assert found.vocabulary == taken_over("default").vocabulary
        assert found.options == taken_over("default").options
        assert not found.is_paired


@pytest.mark.parametrize("settings", SETTINGS)
def test_saved_or_pickled_it_stays_the_same(settings: str, tmp_path: Path) -> None:
    ours, batch = taken_over(settings), texts("random")
    ours.save(tmp_path)
    for again in (pairpiece.load(tmp_path), pickle.loads(pickle.dumps(ours))):
        assert again.vocabulary == ours.vocabulary
        assert again.vocabulary.summation == "singles"
        assert again.options == ours.options
        assert again.provenance == ours.provenance
        assert_same(again, batch, ours.encode_batch(batch))


@pytest.mark.parametrize("settings", SETTINGS)
def test_exported_to_sentencepiece_it_is_what_it_was(settings: str) -> None:
    again = to_sentencepiece(taken_over(settings))
    batch = [*texts("sample")[:300], *texts("random")]
    theirs = (Processor(model_proto=model) for model in (again, trained(settings)))
    exported, original = (processor.encode(batch) for processor in theirs)
    assert exported == original
    ours = taken_over(settings).encode_batch(batch)
    assert_same(pairpiece.from_sentencepiece(again), batch, ours)


@pytest.mark.parametrize("settings", SETTINGS)
def test_exported_to_hugging_face_it_differs_in_ties_alone(settings: str, tmp_path: Path) -> None:
    ours = taken_over(settings)
    ours.save(tmp_path)
    theirs = Fast.from_file(str(tmp_path / "tokenizer.json"))
    batch = [
        text
        for text in [*texts("sample")[:200], *texts("random")[::2]]
        if is_comparable(theirs, ours, text) and not re.search("<x>|😀|\r\n", text)
    ]
    assert len(batch) > 600
    for text, other in zip(batch, ids_of(theirs, batch), strict=True):
        mine = ours.encode(text)
        if other != mine:  # sums in 32 bits there, in 64 bits here
            assert sum(map(ours.score, other)) == pytest.approx(
                sum(map(ours.score, mine)), abs=1e-3
            )


def test_a_model_of_our_own_comes_back(tokenizer: pairpiece.Tokenizer) -> None:
    batch = [*texts("sample")[:300], *texts("hostile"), *texts("random")]
    again = pairpiece.from_sentencepiece(to_sentencepiece(tokenizer))
    assert again.get_vocab() == tokenizer.get_vocab()
    assert_same(again, batch, tokenizer.encode_batch(batch))


# ---------------------------------------------------------------------- small models by hand


@pytest.mark.parametrize(
    "model",
    [
        small_model(),
        small_model([(1, "ab"), (2, -0.1), (3, 5)]),
        small_model([(1, "a" * 255), (2, -1.0)]),
        small_model(trainer=[(41, -1), (42, -1)]),
        small_model(trainer=[(41, 4), (42, 99)]),
        small_model([(1, "q"), (2, 3.0)]),
    ],
    ids=["plain", "unused", "long", "no roles", "odd roles", "positive"],
)
def test_odd_models_do_what_they_do_in_sentencepiece(model: bytes) -> None:
    ours, theirs = pairpiece.from_sentencepiece(model), Processor(model_proto=model)
    batch = ["ab a b ab", "abab  zz", " zz zz", "aq", "a" * 300, "Ω", ""]
    assert_same(ours, batch, theirs.encode(batch))


# ---------------------------------------------------------------------- Hugging Face


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("name", VARIANTS)
def test_hugging_face_finds_the_same_tokens_and_texts(name: str, kind: str) -> None:
    theirs, ours = variant(name)
    batch = [text for text in texts(kind) if is_comparable(theirs, ours, text)]
    assert len(batch) > len(texts(kind)) * 0.55
    found = ids_of(theirs, batch)
    assert_same(ours, batch, found)
    known = [[i for i in ids if i != ours.unk_id] for ids in found]
    decoded = zip(batch, ours.decode_batch(known), theirs.decode_batch(known), strict=True)
    for text, back, other in decoded:
        assert back == other, ascii(text[:200])


@pytest.mark.parametrize("name", VARIANTS)
def test_pieces_of_hugging_face_keep_their_ids_and_scores(name: str) -> None:
    theirs, ours = variant(name)
    assert ours.get_vocab() == theirs.get_vocab()
    scores = [score for _, score in json.loads(theirs.to_str())["model"]["vocab"]]
    assert ours.vocabulary.scores == scores
    assert (ours.unk_id, ours.bos_id, ours.eos_id, ours.pad_id) == (0, 1, 2, -1)


@pytest.mark.parametrize("name", VARIANTS)
def test_one_of_hugging_face_can_be_saved_and_exported_again(name: str, tmp_path: Path) -> None:
    theirs, ours = variant(name)
    ours.save(tmp_path)
    batch = [*texts("sample")[:200], *texts("random")[::2]]
    expected = ours.encode_batch(batch)
    for again in (
        pairpiece.load(tmp_path),
        pickle.loads(pickle.dumps(ours)),
        pairpiece.from_huggingface(tmp_path),
    ):
        assert_same(again, batch, expected)
        assert again.get_vocab() == theirs.get_vocab()
    assert pairpiece.load(tmp_path).vocabulary == ours.vocabulary
    exported = Fast.from_file(str(tmp_path / "tokenizer.json"))
    batch = [text for text in batch if is_comparable(exported, ours, text) and "\r\n" not in text]
    assert_same(ours, batch, ids_of(exported, batch))
    for text, other in zip(
        batch, Processor(model_proto=to_sentencepiece(ours)).encode(batch), strict=True
    ):
        mine = ours.encode(text)
        if other != mine:  # sums in 64 bits here, in 32 bits there
            assert sum(map(ours.score, other)) == pytest.approx(
                sum(map(ours.score, mine)), abs=1e-3
            )


@pytest.mark.parametrize("name", VARIANTS)
def test_encodings_of_one_of_hugging_face_agree(name: str) -> None:
    _, ours = variant(name)
    batch = [*texts("sample")[:100], *texts("hostile"), *texts("random")[::10]]
    for text, ids in zip(batch, ours.encode_batch(batch), strict=True):
        found = ours.encode(text, out_type=pairpiece.Encoding)
        assert found.ids == ids
        assert all(0 <= begin <= end <= len(text) for begin, end in found.offsets)
        if ours.options.byte_fallback:
            assert ours.decode(ids) == ours.normalize(text)


def transformers_tokenizer(**roles: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transformers = pytest.importorskip("transformers")
        made = VARIANTS["squeezed"]()
        return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **roles)


def test_tokenizers_come_as_files_folders_or_objects(tmp_path: Path) -> None:
    theirs, ours = variant("squeezed")
    plain = tmp_path / "tokenizer.json"
    theirs.save(str(plain))
    roles = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
    wrapped = transformers_tokenizer(**roles)
    wrapped.save_pretrained(tmp_path / "folder")
    for way in (plain, str(plain), tmp_path, theirs, wrapped, tmp_path / "folder"):
        found = pairpiece.from_huggingface(way)
        assert found.options == ours.options
        assert found.get_vocab() == ours.get_vocab()
        # Hugging Face itself does not read every number back to the last digit.
        assert found.vocabulary.scores == pytest.approx(ours.vocabulary.scores, rel=1e-15)


@pytest.mark.parametrize("saved", [False, True])
def test_the_roles_of_special_tokens_are_those_they_have_in_transformers(
    saved: bool, tmp_path: Path
) -> None:
    wrapped = transformers_tokenizer(
        unk_token="<unk>", bos_token="<début>", eos_token="</s>", pad_token="</s>", mask_token="<m>"
    )
    wrapped.save_pretrained(tmp_path)
    found = pairpiece.from_huggingface(tmp_path if saved else wrapped)
    assert len(found) == len(wrapped)
    assert (found.unk_id, found.bos_id) == (0, wrapped.bos_token_id)
    assert (found.eos_id, found.pad_id) == (2, -1), "one token has one role"
    assert set(found.options.control_symbols) == {"<s>", "<m>"}
    assert found.decode([found.piece_to_id("<m>"), *found.encode("il")]) == "il"


def test_files_of_older_versions_are_read(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    for scheme, prefix in (("always", True), ("never", False)):
        content = json.loads(fast(pre_tokenizer=Metaspace(prepend_scheme=scheme)).to_str())
        path.write_text(json.dumps(content), encoding="utf-8")
        new = pairpiece.from_huggingface(path)
        del content["model"]["type"]
        content["pre_tokenizer"] = {
            "type": "Metaspace",
            "replacement": "▁",
            "str_rep": "▁",
            "add_prefix_space": prefix,
        }
        path.write_text(json.dumps(content), encoding="utf-8")
        old = pairpiece.from_huggingface(path)
        assert (old.options, old.vocabulary) == (new.options, new.vocabulary)


def test_added_tokens_that_are_not_special_are_found_in_text() -> None:
    theirs = fast(pre_tokenizer=Metaspace(prepend_scheme="never"), decoder=as_text(prefix=False))
    theirs.add_tokens([tokenizers.AddedToken("<x>", normalized=False), "[A B]"])
    ours = pairpiece.from_huggingface(theirs)
    assert ours.options.user_defined_symbols == ("<x>", "[A B]")
    batch = ["il <x> gatto", "il<x>gatto<x>", "<x>", "[A B]il [A B] [A", *mixed(3, 300)]
    batch = [text for text in batch if is_comparable(theirs, ours, text)]
    assert_same(ours, batch, ids_of(theirs, batch))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"normalization": "none", "byte_fallback": False, "vocab_size": 250},
        {"add_dummy_prefix": True, "remove_extra_spaces": True},
        {"user_defined_symbols": ("<x>", "[A B]"), "control_symbols": ("<mask>",)},
        {"pretokenization": "none"},
        {"split_digits": True},
        {"split_digits": True, "byte_fallback": False, "vocab_size": 250},
        {"split_digits": True, "pretokenization": "spaces"},
        {"split_digits": True, "pretokenization": "none"},
        {"split_digits": True, "mode": "paper"},
        {"bos_piece": "<début>", "eos_piece": "<fin>", "unk_piece": "[U]"},
        {"unk_id": 2, "bos_id": 3, "eos_id": 0, "pad_id": 1},
        {"unk_id": 2, "bos_id": 3, "eos_id": 0, "pad_id": 1, "eos_piece": "<fin>"},
    ],
    ids=str,
)
@pytest.mark.parametrize("way", ["folder", "file"])
def test_what_was_saved_here_can_be_read_as_one_of_hugging_face(
    options: dict[str, Any], way: str, tmp_path: Path
) -> None:
    pairs = [*PAIRS, (["1"], "1", 9)]
    ours = pairpiece.train_from_pairs(pairs, **{"vocab_size": 500, **options})
    ours.save(tmp_path)
    again = pairpiece.from_huggingface(tmp_path if way == "folder" else tmp_path / "tokenizer.json")
    assert again.get_vocab() == ours.get_vocab()
    assert again.options.split_digits == ours.options.split_digits
    batch = [*texts("sample")[:200], *texts("hostile"), *texts("random")[::5]]
    assert_same(again, batch, ours.encode_batch(batch))
