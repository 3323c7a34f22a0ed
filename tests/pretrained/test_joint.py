"""One tokenizer for two languages: another tool's, with new pieces in it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

import sentencepiece  # noqa: E402
from support.command_line import call, complaint  # noqa: E402
from support.pretrained import FAMILIES, Models, french, italian, loaded  # noqa: E402

import pairpiece  # noqa: E402
from pairpiece.foreign.byte_level import byte_alphabet  # noqa: E402
from pairpiece.foreign.joint_vocabulary import joint_tokenizer_json  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Recommended"),  # sacremoses, for Marian
]

KINDS = ["byte-level", "byte-fallback", "t5", "xlm-r"]
TEXT = "Il topo mangia il formaggio, caffè ☃."
SOURCE = "La souris mange le fromage, café ☃."


def tokenizer_of(folder: Path) -> Any:
    return transformers.AutoTokenizer.from_pretrained(folder)


def ids(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    found: list[list[int]] = tokenizer(texts, add_special_tokens=False)["input_ids"]
    return found


def count(rows: list[list[int]]) -> int:
    return sum(map(len, rows))


@pytest.fixture(scope="session")
def joined(models: Models, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder, made = tmp_path_factory.mktemp("joint"), {}

    def make(kind: str) -> tuple[Path, Path, pairpiece.JointVocabulary]:
        if kind not in made:
            into = models.model_tokenizer(kind)
            joint = pairpiece.extend_tokenizer(into, models.tokenizer(kind), folder / kind)
            made[kind] = into, folder / kind, joint
        return made[kind]

    return make


@pytest.mark.parametrize("kind", KINDS)
def test_old_tokens_keep_their_ids_and_new_ones_follow(joined: Any, kind: str) -> None:
    into, output, joint = joined(kind)
    old, new = tokenizer_of(into), tokenizer_of(output)
    before, after = old.get_vocab(), new.get_vocab()
    assert before.items() <= after.items()
    assert {t: i for t, i in after.items() if t not in before} == {
        token: joint.old_size + i for i, token in enumerate(joint.tokens)
    }
    assert len(new) == max(after.values()) + 1 == joint.old_size + len(joint.tokens)
    assert old.all_special_ids == new.all_special_ids
    assert old.special_tokens_map == new.special_tokens_map


@pytest.mark.parametrize("kind", KINDS)
def test_the_new_language_needs_fewer_tokens_and_the_old_one_no_more(
    joined: Any, kind: str
) -> None:
    into, output, _ = joined(kind)
    old, new = tokenizer_of(into), tokenizer_of(output)
    assert count(ids(new, italian(300))) < 0.85 * count(ids(old, italian(300)))
    assert count(ids(new, french(300))) <= count(ids(old, french(300)))


@pytest.mark.parametrize("kind", KINDS)
def test_texts_come_back_as_before(joined: Any, kind: str) -> None:
    into, output, _ = joined(kind)
    old, new = tokenizer_of(into), tokenizer_of(output)
    for text in (SOURCE, TEXT, *french(50)):
        was = old.decode(old(text)["input_ids"], skip_special_tokens=True)
        if was.strip() == text:  # some of these tokenizers do not know every character
            assert new.decode(new(text)["input_ids"], skip_special_tokens=True) == was


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_put_around_texts_stays(joined: Any, kind: str) -> None:
    into, output, _ = joined(kind)
    old, new = tokenizer_of(into), tokenizer_of(output)
    plain = ids(new, [TEXT])[0]
    full = new(TEXT)["input_ids"]
    assert [i for i in full if i not in plain] == [
        i for i in old(TEXT)["input_ids"] if i not in ids(old, [TEXT])[0]
    ]


@pytest.mark.parametrize("kind", ["byte-level", "byte-fallback"])
def test_byte_pair_encoding_finds_every_piece(joined: Any, kind: str) -> None:
    _, output, joint = joined(kind)
    model = tokenizer_of(output).backend_tokenizer.model
    for token, piece in joint.tokens.items():
        if piece is not None:
            assert [t.value for t in model.tokenize(token)] == [token]
    assert 0 < joint.parts < len(joint.tokens)


def test_byte_level_tokens_spell_the_piece(joined: Any) -> None:
    _, _, joint = joined("byte-level")
    alphabet = byte_alphabet()
    for token, piece in joint.tokens.items():
        if piece is not None:
            spelled = bytes(alphabet[c] for c in token).decode("utf-8")
            assert spelled.replace(" ", "▁") == piece


def changed(folder: Path, output: Path, change: Any) -> Path:
    """A copy of a tokenizer of which something is otherwise."""
    tokenizer_of(folder).save_pretrained(output)
    content = json.loads((output / "tokenizer.json").read_text())
    change(content)
    (output / "tokenizer.json").write_text(json.dumps(content))
    return output


def test_special_tokens_after_the_vocabulary_and_gaps_keep_their_ids(
    models: Models, tmp_path: Path
) -> None:
    def like_llama3(content: dict[str, Any]) -> None:
        size = len(content["model"]["vocab"])
        content["model"]["ignore_merges"] = True
        for i, name in enumerate(["<|start|>", "<|stop|>"]):
            token = {**content["added_tokens"][0], "id": size + i, "content": name}
            content["added_tokens"].append(token)

    into = changed(models.model_tokenizer("byte-level"), tmp_path / "into", like_llama3)
    template = "{% for m in messages %}<|start|>{{ m['content'] }}<|stop|>{% endfor %}"
    (into / "chat_template.jinja").write_text(template)
    tokenizer = models.tokenizer("byte-level")
    joint = pairpiece.extend_tokenizer(into, tokenizer, tmp_path / "joint")
    old, new = tokenizer_of(into), tokenizer_of(tmp_path / "joint")
    assert new.chat_template == template
    assert old.get_vocab().items() <= new.get_vocab().items()
    assert joint.old_size == old.convert_tokens_to_ids("<|stop|>") + 1
    text = f"<|start|>{TEXT}<|stop|>"
    found = ids(new, [text])[0]
    assert found == [joint.old_size - 2, *ids(new, [TEXT])[0], joint.old_size - 1]
    assert max(found) >= joint.old_size

    def with_gap(content: dict[str, Any]) -> None:
        size = len(content["model"]["vocab"])
        token = {**content["added_tokens"][0], "id": size + 5, "content": "<|far|>"}
        content["model"]["vocab"]["<|far|>"] = size + 5
        content["added_tokens"].append(token)

    into = changed(models.model_tokenizer("byte-level"), tmp_path / "gap", with_gap)
    joint = pairpiece.extend_tokenizer(into, tokenizer, tmp_path / "joint-gap")
    new = tokenizer_of(tmp_path / "joint-gap")
    assert new.convert_tokens_to_ids("<|far|>") == joint.old_size - 1
    assert len(new) == joint.old_size + len(joint.tokens) == max(new.get_vocab().values()) + 1
    assert new.decode(ids(new, [TEXT])[0]) == TEXT


def test_pieces_that_words_never_hold_are_left_out(models: Models, tmp_path: Path) -> None:
    def lower(content: dict[str, Any]) -> None:
        content["normalizer"] = {"type": "Lowercase"}

    into = changed(models.model_tokenizer("byte-level"), tmp_path / "into", lower)
    tokenizer = pairpiece.load(models.tokenizer("byte-level"))
    joint = pairpiece.extend_tokenizer(into, tokenizer, tmp_path / "joint")
    capitals = [p for p in tokenizer.vocabulary.normal() if p != p.lower()]
    assert capitals
    assert set(capitals) <= set(joint.left_out)
    assert not [piece for piece in joint.tokens.values() if piece and piece != piece.lower()]


def sentencepiece_model(path: Path, kind: str) -> Path:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(french()),
        model_writer=model,
        vocab_size=600,
        model_type=kind,
        byte_fallback=True,
        minloglevel=2,
        user_defined_symbols=["<x>"],
    )
    path.write_bytes(model.getvalue())
    return path


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_models_of_sentencepiece(
    models: Models, tmp_path: Path, capfd: pytest.CaptureFixture[str], kind: str
) -> None:
    into, output = sentencepiece_model(tmp_path / "fr.model", kind), tmp_path / "joint.model"
    model = models.tokenizer("byte-fallback")
    ended = call(capfd, "export", model, "--into", into, "-o", output)
    assert ended.code == 0, ended.err
    old, new = (sentencepiece.SentencePieceProcessor(model_file=str(p)) for p in (into, output))
    size = old.vocab_size()
    assert ended.out.startswith(f"{size:,} tokens → {new.vocab_size():,}\n")
    for i in range(size):
        assert new.id_to_piece(i) == old.id_to_piece(i)
        assert new.get_score(i) == old.get_score(i)
        assert new.is_control(i) == old.is_control(i)
        assert new.is_byte(i) == old.is_byte(i)
    pieces = {*pairpiece.load(model).vocabulary.normal()}
    there = {new.id_to_piece(i) for i in range(new.vocab_size())}
    assert len(there) == new.vocab_size()
    assert pieces <= there
    assert count(new.encode(italian(300))) < 0.85 * count(old.encode(italian(300)))
    assert count(new.encode(french(300))) <= count(old.encode(french(300)))
    for text in (TEXT, SOURCE, "a <x> b", "日本"):
        assert new.decode(new.encode(text)) == text
    if kind == "bpe":
        for piece in pieces - {"▁"}:
            if piece.startswith("▁"):
                assert new.encode("☃" + piece.replace("▁", " "), out_type=str)[-1] == piece


@pytest.mark.parametrize("family", ["gpt2", "llama", "qwen2-padded", "xlm-r", "t5"])
def test_a_model_with_one_tokenizer_for_both_languages(
    models: Models, tmp_path: Path, family: str
) -> None:
    before, output = models.model(family), tmp_path / "joint"
    done = pairpiece.transfer(before, models.tokenizer(FAMILIES[family][1]), output, joint=True)
    old, new = tokenizer_of(before), tokenizer_of(output)
    theirs, model = loaded(family, before), loaded(family, output)
    rows = [m.get_input_embeddings().weight for m in (theirs, model)]
    size = max(old.get_vocab().values()) + 1
    assert torch.equal(rows[0][:size], rows[1][:size])
    assert done.new_size == rows[1].shape[0] == len(new)
    assert done.rows["kept"] == size
    assert done.rows["weighted"] > 100
    assert "|use:joint|" in done.signature
    assert not any(row.isnan().any() for row in rows[1])
    assert model.config.eos_token_id == theirs.config.eos_token_id
    labels = torch.tensor([new(TEXT)["input_ids"]])
    assert int(labels.max()) >= size
    assert model(input_ids=labels, labels=labels).loss > 0
    assert not (output / "pairpiece.json").exists()


def test_the_row_of_a_piece_is_the_mean_of_its_source_tokens(
    models: Models, tmp_path: Path
) -> None:
    folder = models.tokenizer("byte-level")
    pairpiece.transfer(models.model("gpt2"), folder, tmp_path / "joint", joint=True, traits=0)
    tokenizer, old = pairpiece.load(folder), tokenizer_of(models.model("gpt2"))
    new = tokenizer_of(tmp_path / "joint").get_vocab()
    rows = loaded("gpt2", models.model("gpt2")).get_input_embeddings().weight
    made = loaded("gpt2", tmp_path / "joint").get_input_embeddings().weight
    weights, known, checked = tokenizer.source_weights(), old.get_vocab(), 0
    for i, piece in enumerate(tokenizer.vocabulary.pieces):
        token = piece.replace("▁", "Ġ")
        if not piece.strip("▁").isascii() or token in known or weights.evidence[i] < 1:
            continue
        expected = sum(w * rows[known[s]] for s, w in weights.row(i)) / sum(
            w for _, w in weights.row(i)
        )
        torch.testing.assert_close(made[new[token]], expected, rtol=1e-4, atol=1e-6)
        checked += 1
    assert checked > 100


def test_what_cannot_be_extended_is_said(
    models: Models, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model = models.tokenizer("byte-level")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.model").write_bytes(b"nothing of the kind")
    word = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(french()),
        model_writer=word,
        vocab_size=100,
        model_type="word",
        minloglevel=2,
    )
    (tmp_path / "word.model").write_bytes(word.getvalue())
    byte_level = models.model_tokenizer("byte-level")
    for into, output, said in (
        (models.model_tokenizer("wordpiece"), "a", "of the type WordPiece"),
        (models.model_tokenizer("marian"), "b", "tokenizer.json"),
        (byte_level, "full", "there is something in this folder"),
        (byte_level, "a.model", "name a folder"),
        (byte_level / "tokenizer.json", "c", "neither a folder"),
        (tmp_path / "none", "c", "there is no such file or folder"),
        (tmp_path / "empty", "c", "there is no tokenizer in this folder"),
        (tmp_path / "word.model", "word.model", "the model itself, which would be lost"),
        (tmp_path / "bad.model", "d.model", "not a SentencePiece model"),
        (tmp_path / "word.model", "e.model", "of the types unigram and bpe"),
        (tmp_path / "word.model", "e", "name a .model file"),
    ):
        before = sorted(tmp_path.iterdir())
        ended = call(capfd, "export", model, "--into", into, "-o", tmp_path / output)
        assert said in complaint(ended)
        assert sorted(tmp_path.iterdir()) == before
    with pytest.raises(pairpiece.OptionError, match="two tokenizers"):
        pairpiece.transfer(models.model("gpt2"), model, tmp_path / "f", joint=True, extend=True)


def test_what_is_new_is_told_in_a_line(joined: Any) -> None:
    _, _, joint = joined("byte-level")
    assert repr(joint) == f"JointVocabulary(old_size={joint.old_size}, shared={joint.shared})"


def test_vocabularies_that_are_not_right_are_said_too(models: Models, tmp_path: Path) -> None:
    def without_a(content: dict[str, Any]) -> None:
        del content["model"]["vocab"]["a"]

    into = changed(models.model_tokenizer("byte-level"), tmp_path / "into", without_a)
    with pytest.raises(pairpiece.ModelFormatError, match="cannot be loaded"):
        pairpiece.extend_tokenizer(into, models.tokenizer("byte-level"), tmp_path / "joint")
    assert not (tmp_path / "joint").exists()
    content = json.loads((models.model_tokenizer("t5") / "tokenizer.json").read_text())
    vocabulary = pairpiece.load(models.tokenizer("t5")).vocabulary
    for change in ({"continuing_subword_prefix": "##"}, {"type": "WordLevel"}):
        changed_content = {**content, "model": {**content["model"], **change}}
        with pytest.raises(pairpiece.OptionError, match="of the types BPE and Unigram"):
            joint_tokenizer_json(changed_content, vocabulary)
    content["model"]["vocab"].append(content["model"]["vocab"][-1])
    with pytest.raises(pairpiece.ModelFormatError, match="twice"):
        joint_tokenizer_json(content, vocabulary)
