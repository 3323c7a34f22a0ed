"""Tokenizers of other tools, taken over: the same pieces, ids and tokens, or a clear refusal."""

from __future__ import annotations

import base64
import copy
import dataclasses
import functools
import json
import os
import pickle
import random
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import tokenizers
from support import peers
from support.french_italian import PAIRS
from support.hostile import HOSTILE
from support.tampering import rules, within
from tokenizers import decoders, models, normalizers, pre_tokenizers

import pairpiece
from pairpiece import files
from pairpiece.corpus import sample
from pairpiece.foreign.sentencepiece_format import to_sentencepiece
from pairpiece.model.loading import MAX_TOKENIZER_BYTES
from pairpiece.text.protobuf import Fields, fields_of, message
from pairpiece.text.vocabulary import PieceType

pytestmark = pytest.mark.usefixtures("no_fsync")

Processor = sentencepiece.SentencePieceProcessor
Fast = tokenizers.Tokenizer
Json = dict[str, Any]
REFUSED = pytest.raises(pairpiece.ModelFormatError)

# ---------------------------------------------------------------------- text


@functools.cache
def italian() -> list[str]:
    return list(files.lines(sample.ITALIAN))


def repetitive(seed: int, count: int) -> Iterator[str]:
    """Runs of few characters, whose segmentations are often tied."""
    generator = random.Random(seed)
    for _ in range(count):
        runs = generator.randint(1, 8)
        yield "".join(generator.choice("000aa1. ") * generator.randint(1, 11) for _ in range(runs))


def mixed(seed: int, count: int) -> Iterator[str]:
    """Words, spaces in all places, and what NFKC changes."""
    generator = random.Random(seed)
    parts = [*"aelL'0. \t\nﬁ½²Ａ１…Ωà😀\u3000\u200b", " il", "gatto", "e\u0301", "  ", "<x>", "<x>"]
    for _ in range(count):
        size = generator.randint(0, 14)
        yield "".join(
            generator.choice(parts) * generator.choice((1, 1, 1, 2, 5)) for _ in range(size)
        )


TEXTS: dict[str, Callable[[], Iterable[str]]] = {
    "sample": lambda: italian()[1000:1400],
    "hostile": lambda: HOSTILE,
    "random": lambda: [*repetitive(1, 1000), *mixed(2, 1000)],
}


@functools.cache
def texts(kind: str) -> list[str]:
    """Without lone surrogates, which other tools do not take, and without ▁, shown below."""
    return [text for text in TEXTS[kind]() if not re.search("[\ud800-\udfff▁]", text)]


# ---------------------------------------------------------------------- models


def of_sentencepiece(size: int = 400, **settings: Any) -> bytes:
    text = [*italian()[:500], *repetitive(0, 200)]
    return peers.sentencepiece_model(text, size, **settings)


SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "bytes": {"byte_fallback": True, "size": 700},
    "all spaces": {"remove_extra_whitespaces": False},
    "no prefix": {"add_dummy_prefix": False},
    "no prefix, all spaces": {"add_dummy_prefix": False, "remove_extra_whitespaces": False},
    "identity": {"normalization_rule_name": "identity"},
    "not split": {"split_by_whitespace": False, "normalization_rule_name": "identity"},
    "case folded": {"normalization_rule_name": "nmt_nfkc_cf"},
    "nfkc": {"normalization_rule_name": "nfkc"},
    "control symbols": {"control_symbols": ("<2it>", "<mask>")},
    "symbols": {"user_defined_symbols": ("<x>", "<y z>")},
    "symbols and bytes": {
        "user_defined_symbols": ("<x>", "😀"),
        "byte_fallback": True,
        "size": 700,
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
    },
    "other ids": {"unk_id": 3, "bos_id": 0, "eos_id": -1, "pad_id": 1, "unk_piece": "[U]"},
}


@functools.cache
def trained(settings: str) -> bytes:
    return of_sentencepiece(**SETTINGS[settings])


@functools.cache
def taken_over(settings: str) -> pairpiece.Tokenizer:
    return pairpiece.from_sentencepiece(trained(settings))


def parts_of(model: bytes) -> tuple[list[tuple[str, float]], bytes]:
    """Pieces with scores, and the normalisation table."""
    entries = [dict(fields_of(value)) for number, value in fields_of(model) if number == 1]
    [normalizer] = [dict(fields_of(value)) for number, value in fields_of(model) if number == 3]
    return [(entry[1].decode(), entry[2]) for entry in entries], normalizer.get(2, b"")


def as_text(prefix: bool = True) -> Any:
    """A decoder that takes pieces as they are, bytes too."""
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    return decoders.Sequence([*steps, decoders.Strip(" ", 1, 0)] if prefix else steps)


def fast(
    settings: str = "default",
    normalizer: Any = None,
    pre_tokenizer: Any = None,
    decoder: Any = None,
) -> Fast:
    """A tokenizer of Hugging Face with the pieces of a SentencePiece model."""
    pieces, _ = parts_of(trained(settings))
    made = Fast(
        models.Unigram(pieces, unk_id=0, byte_fallback="byte_fallback" in SETTINGS[settings])
    )
    made.add_special_tokens(["<unk>", "<s>", "</s>"])
    if normalizer is not None:
        made.normalizer = normalizer
    if pre_tokenizer is not None:
        made.pre_tokenizer = pre_tokenizer
    made.decoder = as_text() if decoder is None else decoder
    return made


def precompiled(*more: Any) -> Any:
    table = normalizers.Precompiled(parts_of(trained("default"))[1])
    return normalizers.Sequence([table, *more])


def squeezing() -> Any:
    return normalizers.Replace(tokenizers.Regex(" {2,}"), " ")


Metaspace = pre_tokenizers.Metaspace
VARIANTS: dict[str, Callable[[], Fast]] = {
    "split": lambda: fast(pre_tokenizer=Metaspace(), decoder=decoders.Metaspace()),
    "whole": lambda: fast(pre_tokenizer=Metaspace(split=False), decoder=decoders.Metaspace()),
    "first": lambda: fast(pre_tokenizer=Metaspace(prepend_scheme="first")),
    "never, split": lambda: fast(
        pre_tokenizer=Metaspace(prepend_scheme="never"),
        decoder=decoders.Metaspace(prepend_scheme="never"),
    ),
    "never, whole": lambda: fast(
        pre_tokenizer=Metaspace(prepend_scheme="never", split=False), decoder=as_text(prefix=False)
    ),
    "pieces with spaces": lambda: fast("not split", pre_tokenizer=Metaspace(split=False)),
    "squeezed": lambda: fast(
        normalizer=precompiled(squeezing(), normalizers.Strip()),
        pre_tokenizer=Metaspace(),
        decoder=decoders.Metaspace(),
    ),
    "converted by transformers": lambda: fast(
        normalizer=precompiled(
            normalizers.Strip(left=False), normalizers.Replace(tokenizers.Regex(" {2,}"), "▁")
        ),
        pre_tokenizer=Metaspace(),
    ),
    "squeezed, not stripped": lambda: fast(
        normalizer=precompiled(squeezing()), pre_tokenizer=Metaspace()
    ),
    "white space": lambda: fast(
        normalizer=precompiled(),
        pre_tokenizer=pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), Metaspace()]),
    ),
    "bytes, split": lambda: fast("bytes", precompiled(), Metaspace()),
    "bytes, whole": lambda: fast("bytes", precompiled(), Metaspace(split=False)),
    "bytes, in the normalizer": lambda: fast(
        "bytes", normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    ),
    "nfkc": lambda: fast(normalizer=normalizers.NFKC(), pre_tokenizer=Metaspace()),
    "nfc": lambda: fast(normalizer=normalizers.NFC(), pre_tokenizer=Metaspace()),
}


@functools.cache
def variant(name: str) -> tuple[Fast, pairpiece.Tokenizer]:
    made = VARIANTS[name]()
    return made, pairpiece.from_huggingface(made)


def normalized(theirs: Fast, text: str) -> str:
    """What reaches the pre-tokenizer, with spaces for ▁."""
    found = text if theirs.normalizer is None else theirs.normalizer.normalize_str(text)
    return found.replace("▁", " ")


def is_comparable(theirs: Fast, ours: pairpiece.Tokenizer, text: str) -> bool:
    """Whether none of the known differences, each shown below, can touch a text."""
    if any(token in text for token in ("<s>", "</s>", "<unk>")) or re.search("<0x..>", text):
        return False
    seen, expected = normalized(theirs, text), ours.normalize(text)
    prefix = " " if normalized(theirs, "a") == " a" else ""
    if not ours.options.remove_extra_spaces:
        starts_otherwise = ours.options.add_dummy_prefix and not prefix and seen.startswith(" ")
        return seen.removeprefix(prefix) == expected and not starts_otherwise
    words = [word for word in expected.split(" ") if word]
    return seen.split() == words and not seen.endswith(" ")


def ids_of(theirs: Fast, batch: list[str]) -> list[list[int]]:
    return [found.ids for found in theirs.encode_batch(batch, add_special_tokens=False)]


def assert_same(ours: pairpiece.Tokenizer, batch: list[str], theirs: list[list[int]]) -> None:
    for text, mine, other in zip(batch, ours.encode_batch(batch), theirs, strict=True):
        assert mine == other, ascii(text[:200])


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


def small_model(
    *more: Fields,
    without: str = "",
    trainer: Fields | None = None,
    normalizer: Fields | None = None,
) -> bytes:
    special: list[Fields] = [
        [(1, "<unk>"), (2, 0.0), (3, 2)],
        [(1, "<s>"), (2, 0.0), (3, 3)],
        [(1, "</s>"), (2, 0.0), (3, 3)],
    ]
    scores = {"▁": -2.0, "a": -3.0, "b": -3.5, "▁ab": -4.0}
    learned: list[Fields] = [
        [(1, piece), (2, score)] for piece, score in scores.items() if piece != without
    ]
    return message(
        [
            *((1, message(entry)) for entry in [*special, *learned, *more]),
            (2, message(trainer or [])),
            (3, message(normalizer or [])),
        ]
    )


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
    ours = pairpiece.train_from_pairs(PAIRS, **{"vocab_size": 500, **options})
    ours.save(tmp_path)
    again = pairpiece.from_huggingface(tmp_path if way == "folder" else tmp_path / "tokenizer.json")
    assert again.get_vocab() == ours.get_vocab()
    batch = [*texts("sample")[:200], *texts("hostile"), *texts("random")[::5]]
    assert_same(again, batch, ours.encode_batch(batch))


# ---------------------------------------------------------------------- known differences


def test_a_marker_in_the_text_is_a_space_elsewhere() -> None:
    theirs, ours = Processor(model_proto=trained("identity")), taken_over("identity")
    assert theirs.encode("il▁gatto") == ours.encode("il gatto")
    assert ours.unk_id in ours.encode("il▁gatto")
    fast_one, ours = variant("bytes, in the normalizer")
    assert ids_of(fast_one, ["il▁gatto"]) == [ours.encode("il gatto")]
    assert ours.decode(ours.encode("il▁gatto")) == "il▁gatto"


@pytest.mark.parametrize("name", ["split", "whole", "first", "bytes, split", "nfkc"])
@pytest.mark.parametrize("text", [" il gatto", "  il gatto", " "])
def test_before_a_space_hugging_face_puts_no_prefix(name: str, text: str) -> None:
    theirs, ours = variant(name)
    prefix = ours.piece_to_id("▁")
    assert [prefix, *ids_of(theirs, [text])[0]] == ours.encode(text)


def test_a_space_at_the_end_is_kept_by_hugging_face_if_nothing_strips_it() -> None:
    theirs, ours = variant("squeezed, not stripped")
    for text in ("il gatto ", "il  gatto   "):
        assert ids_of(theirs, [text])[0] == [*ours.encode("il gatto"), ours.piece_to_id("▁")]
        assert ours.encode(text) == ours.encode("il gatto")


def test_names_of_special_tokens_are_text() -> None:
    theirs, ours = variant("squeezed")
    assert ids_of(theirs, ["il<s>"]) == [[*ours.encode("il"), ours.bos_id]]
    assert {ours.bos_id, ours.eos_id}.isdisjoint(ours.encode("<s> il</s>"))
    assert Processor(model_proto=trained("default")).encode("<s> il") == taken_over(
        "default"
    ).encode("<s> il")


def test_names_of_bytes_are_bytes_for_hugging_face() -> None:
    theirs, ours = variant("bytes, split")
    assert ours.piece_to_id("<0x41>") in ids_of(theirs, ["il <0x41>"])[0]
    assert ours.piece_to_id("<0x41>") not in ours.encode("il <0x41>")
    assert ours.decode(ours.encode("il <0x41>")) == "il <0x41>"


def test_symbols_of_letters_are_found_inside_words() -> None:
    model = small_model([(1, "b"), (2, 0.0), (3, 4)], without="b")
    ours, theirs = pairpiece.from_sentencepiece(model), Processor(model_proto=model)
    assert theirs.encode("ab a", out_type=str) == ["▁ab", "▁", "a"]
    assert ours.encode("ab a", out_type=str) == ["▁", "a", "b", "▁", "a"]


def test_symbols_with_spaces_are_found_where_they_are_written() -> None:
    model = small_model([(1, "▁zz"), (2, 0.0), (3, 4)])
    ours, theirs = pairpiece.from_sentencepiece(model), Processor(model_proto=model)
    assert theirs.encode("zz a zz", out_type=str) == ["▁zz", "▁", "a", "▁zz"]
    assert ours.encode("zz a zz", out_type=str) == ["▁", "<unk>", "▁", "a", " zz"]
    assert theirs.encode("a  zz", out_type=str) == ["▁", "a", "▁zz"]
    assert ours.encode("a  zz", out_type=str) == ["▁", "a", "▁", " zz"]


def test_of_overlapping_symbols_the_first_and_longest_is_found() -> None:
    model = of_sentencepiece(user_defined_symbols=("<x>", "<x><x>"))
    ours, theirs = pairpiece.from_sentencepiece(model), Processor(model_proto=model)
    assert theirs.encode("<x><x><x>", out_type=str) == ["▁", "<x>", "<x><x>"]
    assert ours.encode("<x><x><x>", out_type=str) == ["▁", "<x><x>", "<x>"]


def test_hugging_face_puts_a_prefix_after_each_symbol() -> None:
    theirs = fast(pre_tokenizer=Metaspace())
    theirs.add_tokens([tokenizers.AddedToken("<x>", normalized=False)])
    ours = pairpiece.from_huggingface(theirs)
    il, gatto = (ours.encode(word, out_type=str) for word in ("il", "gatto"))
    assert theirs.encode("il<x>gatto").tokens == [*il, "<x>", *gatto]
    assert ours.encode("il<x>gatto", out_type=str) == [*il, "<x>", *gatto[1:]]
    assert theirs.encode("<x>").tokens == ["<x>"]
    assert ours.encode("<x>", out_type=str) == ["▁", "<x>"]


def test_hugging_face_strips_the_text_before_each_symbol() -> None:
    theirs = VARIANTS["squeezed"]()
    theirs.add_tokens([tokenizers.AddedToken("<x>", normalized=False)])
    ours = pairpiece.from_huggingface(theirs)
    il = ours.encode("il", out_type=str)
    assert theirs.encode("il <x>").tokens == [*il, "<x>"]
    assert ours.encode("il <x>", out_type=str) == [*il, "▁", "<x>"]


def test_hugging_face_drops_a_mark_after_a_character_that_normalisation_changes() -> None:
    theirs, ours = variant("squeezed")
    assert ids_of(theirs, ["x²\u0312"]) == ids_of(theirs, ["x²"])
    assert ours.encode("x²\u0312") != ours.encode("x²")


def test_only_spaces_are_white_space() -> None:
    theirs, ours = variant("white space")
    assert normalized(theirs, "il\x85la") == "il\x85la"
    assert ids_of(theirs, ["il\x85la"]) == [ours.encode("il la")]
    assert ours.unk_id in ours.encode("il\x85la")


def test_sequences_of_marks_are_composed_one_by_one() -> None:
    theirs, ours = variant("nfkc")
    assert normalized(theirs, "a\u0327\u0301") == "á\u0327"
    assert ours.normalize("a\u0327\u0301") == "a\u0327\u0301"


# ---------------------------------------------------------------------- the same, or refused


def with_pieces(pieces: list[tuple[str, float]]) -> Fast:
    made = Fast(models.Unigram([("<unk>", 0.0), *pieces], unk_id=0))
    made.add_special_tokens(["<unk>"])
    made.pre_tokenizer = Metaspace()
    return made


def with_added(content: str, **settings: bool) -> Fast:
    made = fast(pre_tokenizer=Metaspace(prepend_scheme="never"))
    made.add_tokens([tokenizers.AddedToken(content, normalized=False, **settings)])
    return made


def splitting(metaspace: Any) -> Any:
    return pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), metaspace])


UNLIKE: dict[str, tuple[Callable[[], Fast], str]] = {
    "no Metaspace": (lambda: fast(), "il gatto"),
    "WhitespaceSplit alone": (
        lambda: fast(pre_tokenizer=pre_tokenizers.WhitespaceSplit()),
        "il gatto",
    ),
    "WhitespaceSplit, never": (
        lambda: fast(pre_tokenizer=splitting(Metaspace(prepend_scheme="never"))),
        "il gatto",
    ),
    "WhitespaceSplit, first": (
        lambda: fast(pre_tokenizer=splitting(Metaspace(prepend_scheme="first"))),
        "il gatto",
    ),
    "spaces replaced by x": (
        lambda: fast(
            normalizer=normalizers.Replace(tokenizers.Regex(" {2,}"), "x"),
            pre_tokenizer=Metaspace(),
        ),
        "il  gatto",
    ),
    "spaces replaced by nothing": (
        lambda: fast(
            normalizer=normalizers.Replace(tokenizers.Regex(" {2,}"), ""),
            pre_tokenizer=Metaspace(),
        ),
        "il  gatto",
    ),
    "stripped, not squeezed": (
        lambda: fast(normalizer=normalizers.Strip(), pre_tokenizer=Metaspace()),
        "il  gatto",
    ),
    "many pieces over spaces, but split": (
        lambda: with_pieces([("▁", -1.0), ("a", -2.0), ("b", -2.0), ("a▁b", -0.5)]),
        "a b",
    ),
    "a piece with a real space": (
        lambda: with_pieces(
            [("▁", -1.0), (" b", -0.5), *((letter, -2.0) for letter in "abcdefghijklmnopqrst")]
        ),
        "a b",
    ),
    "no piece for a space": (lambda: with_pieces([("a", -1.0), ("▁a", -2.0)]), "Ω Ω"),
    "lstrip": (lambda: with_added("<x>", lstrip=True), "il <x> gatto"),
    "rstrip": (lambda: with_added("<x>", rstrip=True), "il <x> gatto"),
    "single_word": (lambda: with_added("gat", single_word=True), "il gatto"),
    "two normalizers": (
        lambda: fast(
            normalizer=normalizers.Sequence([normalizers.NFKC(), normalizers.NFC()]),
            pre_tokenizer=Metaspace(),
        ),
        "ﬁ",
    ),
}


@pytest.mark.parametrize("name", UNLIKE)
def test_what_cannot_be_done_alike_is_refused(name: str) -> None:
    make, text = UNLIKE[name]
    theirs = make()
    try:
        ours = pairpiece.from_huggingface(theirs)
    except pairpiece.ModelFormatError:
        return
    assert ours.encode(text) == ids_of(theirs, [text])[0]


# ---------------------------------------------------------------------- bad SentencePiece models


def a_piece(*fields: tuple[int, Any]) -> bytes:
    return small_model(list(fields))


BAD_MODELS: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "without pieces"),
    "no pieces": (message([(2, message([(3, 1)]))]), "without pieces"),
    "text": (b"Il gatto mangia il topo.\n" * 9, ""),
    "cut off": (small_model()[:-30], "not a SentencePiece model"),
    "huge length": (b"\x0a" + b"\xff" * 8 + b"\x7f" + b"abc", "not a SentencePiece model"),
    "negative length": (b"\x0a" + b"\xff" * 9 + b"\x01", "not a SentencePiece model"),
    "endless number": (b"\x08" + b"\xff" * 10_000, "not a SentencePiece model"),
    "group": (b"\x0b\x0c", "not a SentencePiece model"),
    "BPE": (small_model(trainer=[(3, 2)]), "a BPE model .* unigram"),
    "word": (small_model(trainer=[(3, 3)]), "a word model .* unigram"),
    "character": (small_model(trainer=[(3, 4)]), "a character model .* unigram"),
    "strange": (small_model(trainer=[(3, 77)]), "a strange model .* unigram"),
    "no score": (a_piece((1, "c")), "piece 7, 'c', has no score"),
    "whole score": (a_piece((1, "c"), (2, 5)), "piece 7, 'c', has no score"),
    "NaN": (a_piece((1, "c"), (2, float("nan"))), "the score of 'c'"),
    "infinity": (a_piece((1, "c"), (2, float("-inf"))), "the score of 'c' is -inf"),
    "NaN of a control": (a_piece((1, "c"), (2, float("nan")), (3, 3)), "the score of 'c'"),
    "large score": (a_piece((1, "c"), (2, -1e30)), "the score of 'c' is -1"),
    "twice": (a_piece((1, "a"), (2, -3.0)), "'a' is in the vocabulary twice"),
    "empty piece": (a_piece((1, ""), (2, -3.0)), "empty"),
    "empty control": (a_piece((1, ""), (2, -3.0), (3, 3)), ""),
    "no piece": (a_piece((2, -3.0)), "not a SentencePiece model"),
    "number as a piece": (a_piece((1, 5), (2, -3.0)), "not a SentencePiece model"),
    "bytes that are no text": (a_piece((1, b"\xff"), (2, -3.0)), "not a SentencePiece model"),
    "surrogate": (a_piece((1, b"\xed\xa0\x80"), (2, -3.0)), "not a SentencePiece model"),
    "long piece": (a_piece((1, "a" * 256), (2, -3.0)), "longer than 255 bytes"),
    "unknown type": (a_piece((1, "c"), (2, -3.0), (3, 9)), "not a SentencePiece model"),
    "two unknown": (a_piece((1, "<u>"), (2, 0.0), (3, 2)), "one unknown piece"),
    "unknown elsewhere": (small_model(trainer=[(40, 4)]), "one unknown piece"),
    "one byte": (a_piece((1, "<0x41>"), (2, 0.0), (3, 6)), "byte pieces"),
    "bytes out of order": (
        small_model(*[[(1, f"<0x{b:02X}>"), (2, 0.0), (3, 6)] for b in reversed(range(256))]),
        "byte pieces",
    ),
    "two roles": (small_model(trainer=[(41, 1), (42, 1)]), "must differ"),
    "marker as a control": (small_model([(1, "▁▁"), (2, 0.0), (3, 3)], [(1, "x"), (2, "y")]), ""),
    "suffixes": (small_model(trainer=[(24, True)]), "treat_whitespace_as_suffix"),
    "denormalizer": (small_model() + message([(5, message([(2, b"x")]))]), "a denormalizer"),
    "spaces as they are": (small_model(normalizer=[(5, False)]), "escape_whitespaces"),
    "bad table": (small_model(normalizer=[(2, b"junk")]), "table is malformed"),
    "number as a table": (small_model(normalizer=[(2, 7)]), ""),
    "number as a trainer": (small_model() + message([(2, 7)]), "not a SentencePiece model"),
    "text as an id": (small_model(trainer=[(40, b"x")]), "not a SentencePiece model"),
}


def refused(read: Callable[[Path], object], path: Path, content: bytes | None = None) -> str:
    """Reading must fail; the message names the file, in one line."""
    if content is not None:
        path.write_bytes(content)
    with REFUSED as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", BAD_MODELS)
def test_bad_models_are_refused_by_name(name: str, tmp_path: Path) -> None:
    content, expected = BAD_MODELS[name]
    said = refused(pairpiece.from_sentencepiece, tmp_path / "it.model", content)
    assert re.search(expected, said)
    with REFUSED as caught:
        pairpiece.from_sentencepiece(content)
    assert "the SentencePiece model" in str(caught.value)


@pytest.mark.parametrize("model_type", ["bpe", "word", "char"])
def test_other_kinds_of_trained_models_are_refused(model_type: str, tmp_path: Path) -> None:
    content = of_sentencepiece(200, model_type=model_type)
    assert "unigram" in refused(pairpiece.from_sentencepiece, tmp_path / "it.model", content)


@pytest.mark.parametrize("cut", range(8))
def test_models_that_were_cut_off_are_refused(cut: int) -> None:
    whole = trained("control symbols")
    with REFUSED:
        pairpiece.from_sentencepiece(whole[: len(whole) * cut // 8])


@pytest.mark.parametrize("seed", range(10))
def test_random_bytes_are_refused(seed: int, tmp_path: Path) -> None:
    content = random.Random(seed).randbytes(300)
    for read in (pairpiece.from_sentencepiece, pairpiece.from_huggingface):
        refused(read, tmp_path / "it.model", content)


@pytest.mark.parametrize("read", [pairpiece.from_sentencepiece, pairpiece.from_huggingface])
def test_what_is_not_there_is_refused(read: Callable[[Path], object], tmp_path: Path) -> None:
    assert "no such file" in refused(read, tmp_path / "nowhere")
    assert "no such file" in refused(read, tmp_path / "nowhere" / "tokenizer.json")


@pytest.mark.parametrize("read", [pairpiece.from_sentencepiece, pairpiece.from_huggingface])
def test_folders_without_a_tokenizer_are_refused(
    read: Callable[[Path], object], tmp_path: Path
) -> None:
    refused(read, tmp_path)
    (tmp_path / "tokenizer.json").mkdir()
    refused(read, tmp_path)


@pytest.mark.parametrize("read", [pairpiece.from_sentencepiece, pairpiece.from_huggingface])
def test_files_that_are_too_large_are_not_read(
    read: Callable[[Path], object], tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.json"
    with path.open("wb") as file:
        file.truncate(MAX_TOKENIZER_BYTES + 1)
    assert "too large" in refused(read, path)


@pytest.mark.parametrize("read", [pairpiece.from_sentencepiece, pairpiece.from_huggingface])
def test_pipes_are_not_waited_for(read: Callable[[Path], object], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with within(20):
        refused(read, tmp_path / "pipe")


@pytest.mark.parametrize("read", [pairpiece.from_sentencepiece, pairpiece.from_huggingface])
@pytest.mark.parametrize("what", [None, 5, ["a"], bytearray(b"abc"), "a\0b"], ids=ascii)
def test_other_things_are_refused(read: Callable[[Any], object], what: object) -> None:
    with pytest.raises(pairpiece.PairPieceError):
        read(what)


# ---------------------------------------------------------------------- bad files of Hugging Face


@functools.cache
def small_json() -> str:
    """A tokenizer.json that has a little of everything."""
    vocabulary: list[Any] = [["<unk>", 0.0], ["<s>", 0.0], ["</s>", 0.0]]
    vocabulary += [[f"<0x{byte:02X}>", 0.0] for byte in range(256)]
    vocabulary += [
        [piece, -2.5 - i / 7] for i, piece in enumerate(["▁", "a", "b", "c", "▁ab", "bc", "▁il"])
    ]
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    added = [
        {"id": i, "content": content, **flags, "special": special}
        for i, content, special in (
            (0, "<unk>", True),
            (1, "<s>", True),
            (2, "</s>", True),
            (len(vocabulary), "<x>", False),
            (len(vocabulary) + 1, "<mask>", True),
        )
    ]
    steps: list[Json] = [
        {"type": "NFC"},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
        {"type": "Strip", "strip_left": True, "strip_right": True},
    ]
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": metaspace,
        "post_processor": None,
        "decoder": None,
        "model": {"type": "Unigram", "unk_id": 0, "vocab": vocabulary, "byte_fallback": True},
    }
    return json.dumps(content, ensure_ascii=False)


def changed(*path: Any, to: Any) -> bytes:
    """The file with another value at a path."""
    content = json.loads(small_json())
    place = content
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return json.dumps(content).encode()


def test_the_file_to_be_spoilt_is_good(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(small_json(), encoding="utf-8")
    ours = pairpiece.from_huggingface(tmp_path)
    theirs = Fast.from_file(str(tmp_path / "tokenizer.json"))
    assert ours.get_vocab() == theirs.get_vocab()
    assert ours.encode("il  ab abc à") == theirs.encode("il  ab abc à").ids
    assert ours.options.control_symbols == ("<mask>",)
    assert ours.options.user_defined_symbols == ("<x>",)


def spoilt(entry: Any) -> bytes:
    return changed("model", "vocab", 262, to=entry)


def added(**token: Any) -> bytes:
    last = len(json.loads(small_json())["model"]["vocab"])
    complete = {"id": last, "content": "<q>", "special": True, **token}
    return changed("added_tokens", to=[complete])


LAST = 259 + 6  # id of the last piece of the vocabulary
BAD_FILES: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "not valid JSON"),
    "cut off": (small_json().encode()[:-100], "not valid JSON"),
    "not UTF-8": (b'{"model": "\xff"}', "not valid JSON"),
    "null": (b"null", "not a tokenizer.json"),
    "list": (b"[]", "not a tokenizer.json"),
    "number": (b"5", "not a tokenizer.json"),
    "no model": (b"{}", "not a tokenizer.json"),
    "deep lists": (b"[" * 100_000, "not valid JSON"),
    "deep objects": (b'{"a":' * 100_000, "not valid JSON"),
    "BPE": (changed("model", to={"type": "BPE", "vocab": {"a": 0}, "merges": []}), "a BPE model"),
    "WordPiece": (
        changed("model", to={"type": "WordPiece", "vocab": {"a": 0}}),
        "a WordPiece model",
    ),
    "WordLevel": (
        changed("model", to={"type": "WordLevel", "vocab": {"a": 0}}),
        "a WordLevel model",
    ),
    "no type, no scores": (changed("model", to={"vocab": {"a": 0}, "merges": []}), "model"),
    "no vocabulary": (changed("model", "vocab", to=None), "not a tokenizer.json"),
    "empty vocabulary": (changed("model", "vocab", to=[]), "no unknown token"),
    "no score": (spoilt(["c"]), "piece 262, .* has no score"),
    "only a piece": (spoilt("c"), "piece 262, .* has no score"),
    "three values": (spoilt(["c", 1.0, 2.0]), "piece 262, .* has no score"),
    "null as a score": (spoilt(["c", None]), "piece 262, .* has no score"),
    "text as a score": (spoilt(["c", "-1"]), "piece 262, .* has no score"),
    "true as a score": (spoilt(["c", True]), "piece 262, .* has no score"),
    "NaN": (spoilt(["c", float("nan")]), "the score of 'c'"),
    "infinity": (spoilt(["c", float("inf")]), "the score of 'c'"),
    "large score": (spoilt(["c", 1e300]), "the score of 'c' is"),
    "large whole score": (spoilt(["c", 10**400]), "score"),
    "number as a piece": (spoilt([5, -1.0]), "not a tokenizer.json"),
    "empty piece": (spoilt(["", -1.0]), "empty"),
    "long piece": (spoilt(["a" * 256, -1.0]), "longer than 255 bytes"),
    "surrogate": (spoilt(["\ud800", -1.0]), ""),
    "twice": (spoilt(["a", -1.0]), "'a' is in the vocabulary twice"),
    "no unknown token": (changed("model", "unk_id", to=None), "no unknown token"),
    "unknown token outside": (changed("model", "unk_id", to=10**6), "no unknown token"),
    "unknown token below": (changed("model", "unk_id", to=-1), "no unknown token"),
    "text as unknown token": (changed("model", "unk_id", to="0"), "no unknown token"),
    "gap before an added token": (added(id=LAST + 2), "the added token '<q>' has the id"),
    "added token over a piece": (added(id=5), "the added token '<q>' has the id 5"),
    "added token below": (added(id=-1, content="▁il"), "the id -1"),
    "added token twice": (added(content="a"), "'a' is in the vocabulary twice"),
    "added token empty": (added(content=""), ""),
    "added token no text": (added(content=5), ""),
    "added token a surrogate": (added(content="\ud800"), ""),
    "text as an id": (added(id="266"), "not a tokenizer.json"),
    "incomplete added token": (changed("added_tokens", to=[{"id": 1}]), "not a tokenizer.json"),
    "added tokens no list": (changed("added_tokens", to=7), "not a tokenizer.json"),
    "table not in base64": (
        changed("normalizer", to={"type": "Precompiled", "precompiled_charsmap": "%%"}),
        "not a tokenizer.json",
    ),
    "table not in ASCII": (
        changed("normalizer", to={"type": "Precompiled", "precompiled_charsmap": "é"}),
        "not a tokenizer.json",
    ),
    "bad table": (
        changed("normalizer", to={"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
        "table is malformed",
    ),
    "no table": (changed("normalizer", to={"type": "Precompiled"}), "not a tokenizer.json"),
    "normalizer without type": (changed("normalizer", to={}), "not a tokenizer.json"),
    "text as a normalizer": (changed("normalizer", to="NFC"), "not a tokenizer.json"),
    "sequence of nothing": (changed("normalizer", to={"type": "Sequence"}), "not a tokenizer.json"),
    "Metaspace without replacement": (
        changed("pre_tokenizer", to={"type": "Metaspace"}),
        "not a tokenizer.json",
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_refused_by_name(name: str, tmp_path: Path) -> None:
    content, expected = BAD_FILES[name]
    assert re.search(expected, refused(pairpiece.from_huggingface, tmp_path / "a.json", content))


UNKNOWN_STEPS: list[tuple[str, Json]] = [
    ("normalizer", {"type": "Lowercase"}),
    ("normalizer", {"type": "StripAccents"}),
    ("normalizer", {"type": "NFD"}),
    ("normalizer", {"type": "NFKD"}),
    ("normalizer", {"type": "Nmt"}),
    ("normalizer", {"type": "ByteLevel"}),
    ("normalizer", {"type": "BertNormalizer", "lowercase": True}),
    ("normalizer", {"type": "Prepend", "prepend": "x"}),
    ("normalizer", {"type": "Replace", "pattern": {"String": "a"}, "content": "b"}),
    ("normalizer", {"type": "Replace", "pattern": {"Regex": "a+"}, "content": " "}),
    ("normalizer", {"type": "Sequence", "normalizers": [{"type": "Lowercase"}]}),
    ("pre_tokenizer", {"type": "ByteLevel", "add_prefix_space": True}),
    ("pre_tokenizer", {"type": "Punctuation", "behavior": "Isolated"}),
    ("pre_tokenizer", {"type": "Digits", "individual_digits": True}),
    ("pre_tokenizer", {"type": "Whitespace"}),
    ("pre_tokenizer", {"type": "BertPreTokenizer"}),
    ("pre_tokenizer", {"type": "UnicodeScripts"}),
    ("pre_tokenizer", {"type": "Metaspace", "replacement": "_"}),
    (
        "pre_tokenizer",
        {"type": "Split", "pattern": {"String": "a"}, "behavior": "Isolated", "invert": False},
    ),
]


@pytest.mark.parametrize(("where", "step"), UNKNOWN_STEPS, ids=str)
def test_what_else_is_done_to_text_is_refused(where: str, step: Json, tmp_path: Path) -> None:
    said = refused(pairpiece.from_huggingface, tmp_path / "tokenizer.json", changed(where, to=step))
    inner = step["normalizers"][0] if "normalizers" in step else step
    assert f"PairPiece cannot do what its {inner['type']} does to text" in said


@pytest.mark.parametrize(
    "model",
    [models.BPE(), models.WordPiece({"a": 0}, unk_token="a"), models.WordLevel({"a": 0})],
    ids=lambda model: type(model).__name__,
)
def test_objects_of_other_kinds_are_refused(model: Any) -> None:
    with pytest.raises(pairpiece.ModelFormatError, match="takes over Unigram models only"):
        pairpiece.from_huggingface(Fast(model))


@pytest.mark.parametrize(
    "config", [b"", b"[]", b"{", b"\xff", b'{"bos_token": {}}', b"[" * 100_000], ids=ascii
)
def test_a_bad_configuration_is_refused_by_name(config: bytes, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(small_json(), encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_bytes(config)
    with pytest.raises(pairpiece.ModelFormatError, match=r"tokenizer_config\.json"):
        pairpiece.from_huggingface(tmp_path)


# ---------------------------------------------------------------------- damage


def damaged(content: bytes, generator: random.Random) -> bytes:
    place = generator.randrange(len(content))
    return content[:place] + generator.randbytes(1) + content[place + 1 :]


def works_or_refused(read: Callable[[Any], pairpiece.Tokenizer], given: Any) -> bool:
    try:
        tokenizer = read(given)
    except pairpiece.ModelFormatError:
        return False
    for text in ("il  gatto <x>", "ﬁ½ 000", "<mask>ab\tbc"):
        found = tokenizer.encode(text, out_type=pairpiece.Encoding)
        assert found.ids == tokenizer.encode(text)
        back = tokenizer.decode(found.ids)
        if tokenizer.options.byte_fallback:
            assert back == tokenizer.normalize(text)
    return True


@pytest.mark.parametrize("settings", ["identity", "symbols and bytes", "control symbols"])
def test_a_model_with_one_byte_changed_works_or_is_refused(settings: str) -> None:
    generator = random.Random(settings)
    whole = trained(settings)
    with within(20):
        good = sum(
            works_or_refused(pairpiece.from_sentencepiece, damaged(whole, generator))
            for _ in range(100)
        )
    assert 0 < good < 100


def test_a_small_model_may_be_changed_anywhere() -> None:
    whole = small_model([(1, "<x>"), (2, 0.0), (3, 4)], trainer=[(3, 1), (40, 0), (41, 1)])
    with within(20):
        for place in range(len(whole)):
            for byte in (0, 1, 0x0A, 0x7F, 0x80, 0xFF):
                changed_model = whole[:place] + bytes([byte]) + whole[place + 1 :]
                works_or_refused(pairpiece.from_sentencepiece, changed_model)


@pytest.mark.parametrize("seed", range(3))
def test_a_file_with_one_byte_changed_works_or_is_refused(seed: int, tmp_path: Path) -> None:
    generator = random.Random(seed)
    whole = small_json().encode()
    path = tmp_path / "tokenizer.json"
    with within(20):
        good = 0
        for _ in range(80):
            path.write_bytes(damaged(whole, generator))
            good += works_or_refused(pairpiece.from_huggingface, path)
    assert 0 < good < 80


ODD_VALUES: list[Any] = [None, True, -1, 7, 10**400, "", "é", "\ud800", [], {}]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all values below one, of long lists only the first and last ones."""
    keys: list[Any] = []
    if isinstance(value, dict):
        keys = list(value)
    elif isinstance(value, list):
        keys = sorted({0, len(value) - 1}) if value else []
    for key in keys:
        yield (*path, key)
        yield from places(value[key], (*path, key))


@pytest.mark.parametrize("value", ODD_VALUES, ids=lambda value: ascii(value)[:20])
def test_a_file_with_one_value_changed_works_or_is_refused(value: Any, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    whole = json.loads(small_json())
    table = base64.b64encode(rules({"Q": b"q"})).decode()
    whole["normalizer"]["normalizers"][0] = {"type": "Precompiled", "precompiled_charsmap": table}
    path.write_text(json.dumps(whole), encoding="utf-8")
    assert works_or_refused(pairpiece.from_huggingface, path)
    with within(20):
        for place in places(whole):
            content = copy.deepcopy(whole)
            target = functools.reduce(lambda inner, step: inner[step], place[:-1], content)
            target[place[-1]] = value
            path.write_text(json.dumps(content), encoding="utf-8")
            works_or_refused(pairpiece.from_huggingface, path)
