"""Symbols that stand beside the pieces: control symbols, and special tokens of other tools."""

from __future__ import annotations

import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import tokenizers
from support.command_line import Ended, begin_of_sample, call, complaint
from support.french_italian import PAIRS
from support.hostile import HOSTILE

import pairpiece
from pairpiece.foreign import huggingface_files
from pairpiece.foreign.sentencepiece_format import to_sentencepiece
from pairpiece.text.vocabulary import PieceType

pytestmark = pytest.mark.usefixtures("no_fsync")

MODES = ["default", "paper", "paper-hard"]

# ---------------------------------------------------------------------- control symbols


@pytest.mark.parametrize("mode", [*MODES, "unigram"])
def test_control_symbols_are_never_found_in_text(mode: str) -> None:
    symbols = ("<mask>", "<2it>", "▁il")
    made = pairpiece.train_from_pairs(PAIRS, 500, mode, control_symbols=symbols)
    assert made.vocab_size == 500
    ids = [made.piece_to_id(symbol) for symbol in symbols]
    assert [made.vocabulary.types[i] for i in ids] == [PieceType.CONTROL] * 3
    for said in ("<mask>", "il gatto<2it> il", *HOSTILE):
        found = made.encode(said)
        assert not set(ids) & set(found)
        assert made.decode(found) == made.normalize(said)


def test_control_symbols_vanish_when_decoded() -> None:
    made = pairpiece.train_from_pairs(PAIRS, 500, control_symbols=("<mask>",))
    mask = made.piece_to_id("<mask>")
    before, after = made.encode("Il gatto"), made.encode(" mangia")
    assert made.decode([mask, *before, mask, *after, mask]) == "Il gatto mangia"
    assert made.decode([mask]) == ""


def test_control_symbols_survive(tmp_path: Path) -> None:
    symbols = ("<mask>", "<2it>")
    made = pairpiece.train_from_pairs(
        PAIRS, 500, control_symbols=symbols, user_defined_symbols=("<x>",)
    )
    made.save(tmp_path)
    texts = ["Il gatto <mask>", "<x> mangia", "<2it>il topo"]
    expected = made.encode_batch(texts)
    for again in (
        pairpiece.load(tmp_path),
        pickle.loads(pickle.dumps(made)),
        pairpiece.from_huggingface(tmp_path),
        pairpiece.from_sentencepiece(to_sentencepiece(made)),
    ):
        assert again.get_vocab() == made.get_vocab()
        assert again.options.control_symbols == symbols
        assert again.encode_batch(texts) == expected
    processor = sentencepiece.SentencePieceProcessor(model_proto=to_sentencepiece(made))
    fast = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert processor.encode(texts) == expected
    for symbol in symbols:
        id_ = made.piece_to_id(symbol)
        assert processor.is_control(id_)
        assert fast.encode(symbol).ids == [id_], "here Hugging Face finds it, as all special tokens"
        assert fast.decode([id_, *made.encode("il topo")]) == "il topo"
        assert processor.decode([id_, *made.encode("il topo")]) == "il topo"


@pytest.mark.parametrize(
    "symbols",
    [("<s>",), ("<mask>", "<mask>"), ("",), ("▁",), ("<0x41>",), (5,), "<mask>", ("\ud800",)],
    ids=ascii,
)
def test_control_symbols_have_names_of_their_own(symbols: Any) -> None:
    with pytest.raises(pairpiece.OptionError):
        pairpiece.train_from_pairs(PAIRS, 500, control_symbols=symbols)


def test_a_symbol_is_of_one_kind() -> None:
    with pytest.raises(pairpiece.OptionError, match="must differ"):
        pairpiece.train_from_pairs(
            PAIRS, 500, control_symbols=("<x>",), user_defined_symbols=("<x>",)
        )


# ---------------------------------------------------------------------- special tokens of others


def transformers() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("transformers", reason="needs pairpiece[transformers]")


def auto(folder: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return transformers().AutoTokenizer.from_pretrained(folder)


ROLES = {
    "bos_token": "<|begin|>",
    "eos_token": "<|end|>",
    "pad_token": "<pad>",
    "mask_token": "<mask>",
    "cls_token": "<cls>",
    "sep_token": "<sep>",
}
EXTRA = ["<|user|>", "<|tool|>"]


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer of quite another kind, with special tokens."""
    folder = tmp_path_factory.mktemp("other")
    made = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<?>"))
    made.add_special_tokens(["<?>"])
    transformers().PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="<?>", extra_special_tokens=EXTRA, **ROLES
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    pairpiece.train_from_pairs(PAIRS, 500).save(folder)
    return folder


def export(
    capfd: pytest.CaptureFixture[str], model: Path, tokens_from: object, out: Path, to: str = "hf"
) -> Ended:
    options = ("--to", to, "--special-tokens-from", tokens_from, "-o", out)
    return call(capfd, "export", model, *options)


@pytest.mark.parametrize("what", ["folder", "file"])
def test_special_tokens_of_another_tokenizer_are_added(
    what: str, model: Path, other: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    place = other if what == "folder" else other / "tokenizer.json"
    assert export(capfd, model, place, out) == (0, "", "")
    assert sorted(path.name for path in out.iterdir()) == sorted(huggingface_files.FILES)
    ours, found = pairpiece.load(model), auto(out)
    for role, token in ROLES.items():
        assert getattr(found, role) == token
    assert found.unk_token == "<unk>"
    added = [*EXTRA, "<?>", *(set(ROLES.values()) - {"<pad>"})]
    ids = found.convert_tokens_to_ids(added)
    assert sorted(ids) == list(range(500, 500 + len(added)))
    assert found.pad_token_id == ours.pad_id
    assert len(found) == 500 + len(added)
    for token, id_ in zip(added, ids, strict=True):
        assert found(f"Il gatto{token} mangia", add_special_tokens=False)["input_ids"] == [
            *ours.encode("Il gatto"),
            id_,
            *ours.encode(" mangia"),
        ]
        assert found.decode([id_, *ours.encode("Il")], skip_special_tokens=True) == "Il"


def test_with_special_tokens_ordinary_text_is_what_it_was(
    model: Path, other: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert export(capfd, model, other, tmp_path).code == 0
    found = auto(tmp_path)
    texts = [target for _, target in begin_of_sample(300)]
    ids = pairpiece.load(model).encode_batch(texts)
    assert found(texts, add_special_tokens=False)["input_ids"] == ids
    assert found.batch_decode(ids) == texts


def test_tokens_without_a_role_are_special_too(
    model: Path, other: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert export(capfd, model, other, tmp_path).code == 0
    assert set(EXTRA) <= set(auto(tmp_path).all_special_tokens)


def test_additional_special_tokens_of_older_files_are_taken(
    model: Path, other: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "tokenizer.json").write_bytes((other / "tokenizer.json").read_bytes())
    config = {"additional_special_tokens": EXTRA, "bos_token": {"content": "<|begin|>"}}
    (tmp_path / "old" / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    assert export(capfd, model, tmp_path / "old", tmp_path / "out").code == 0
    found = auto(tmp_path / "out")
    assert set(EXTRA) <= set(found.all_special_tokens)
    assert (found.bos_token, found.eos_token) == ("<|begin|>", "</s>")


def test_without_a_configuration_roles_stay(
    model: Path, other: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tokenizer.json").write_bytes((other / "tokenizer.json").read_bytes())
    assert export(capfd, model, tmp_path / "tokenizer.json", tmp_path / "out").code == 0
    found = auto(tmp_path / "out")
    assert (found.bos_token, found.pad_token) == ("<s>", "<pad>")
    assert found.convert_tokens_to_ids("<mask>") >= 500


def test_ids_are_as_written_even_if_a_token_is_a_piece_already(
    model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.add_special_tokens(["<a>", "▁gatto", "<b>"])
    made.save(str(tmp_path / "tokenizer.json"))
    ended = export(capfd, model, tmp_path / "tokenizer.json", tmp_path / "out")
    if ended.code == 1:
        assert "▁gatto" in complaint(ended)
        return
    content = json.loads((tmp_path / "out" / "tokenizer.json").read_text(encoding="utf-8"))
    found = auto(tmp_path / "out")
    for token in content["added_tokens"]:
        assert found.convert_tokens_to_ids(token["content"]) == token["id"], token["content"]


def test_what_was_exported_with_special_tokens_can_be_read_again(
    model: Path, other: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert export(capfd, model, other, tmp_path).code == 0
    again = pairpiece.from_huggingface(tmp_path)
    assert again.encode("Il gatto<mask>") == pairpiece.load(model).encode("Il gatto<mask>")
    assert again.bos_id == again.piece_to_id("<|begin|>")


@pytest.mark.parametrize("to", ["sentencepiece", "marian", "lexicon", "table"])
def test_special_tokens_of_others_go_with_hugging_face(
    to: str, model: Path, other: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ended = export(capfd, model, other, tmp_path / "out", to)
    assert "--special-tokens-from goes with --to hf" in complaint(ended)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b"\xff",
        b"[" * 100_000,
        b'{"added_tokens": 5}',
        b'{"added_tokens": [5]}',
        b'{"added_tokens": [{"id": 1}]}',
        b'{"added_tokens": [{"id": 1, "content": 5, "special": true}]}',
        b'{"added_tokens": [{"id": 1, "content": [], "special": true}]}',
        b'{"added_tokens": [{"id": 1, "content": "<q>", "special": true}]}',
    ],
    ids=lambda content: ascii(content[:60]),
)
def test_bad_tokenizers_of_others_are_refused_or_do_no_harm(
    content: bytes, model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    ended = export(capfd, model, path, tmp_path / "out")
    if ended.code == 0:
        found = tokenizers.Tokenizer.from_file(str(tmp_path / "out" / "tokenizer.json"))
        assert found.encode("Il gatto").ids == pairpiece.load(model).encode("Il gatto")
        return
    assert str(path) in complaint(ended)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "config", [b"", b"[]", b'{"bos_token": {}}', b'{"bos_token": []}'], ids=ascii
)
def test_bad_configurations_of_others_are_refused(
    config: bytes, model: Path, other: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tokenizer.json").write_bytes((other / "tokenizer.json").read_bytes())
    (tmp_path / "tokenizer_config.json").write_bytes(config)
    ended = export(capfd, model, tmp_path, tmp_path / "out")
    assert str(tmp_path) in complaint(ended)
    assert not (tmp_path / "out").exists()


def test_what_is_not_there_is_named(
    model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ended = export(capfd, model, tmp_path / "nowhere", tmp_path / "out")
    assert "nowhere: No such file" in complaint(ended)
    assert not (tmp_path / "out").exists()
