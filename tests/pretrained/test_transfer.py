"""Pretrained models with the vocabulary of another language."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from support import pretrained  # noqa: E402
from support.pretrained import FAMILIES, Models, loaded  # noqa: E402

import pairpiece  # noqa: E402
from pairpiece.errors import ModelFormatError, OptionError  # noqa: E402
from pairpiece.text.options import BYTE_PIECES  # noqa: E402
from pairpiece.text.vocabulary import PieceType  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore:Recommended"),  # sacremoses, for Marian
]

TEXT = "Il topo mangia il formaggio, caffè ☃."


def weights(folder: Path) -> dict[str, Any]:
    """All tensors on disk, wherever they are."""
    from safetensors.torch import load_file

    files = sorted(folder.glob("*.safetensors"))
    named = [f for f in files if f.name.startswith("model")]
    return {name: tensor for file in named for name, tensor in load_file(file).items()}


def stands_for(tokenizer: pairpiece.Tokenizer) -> dict[str, Any]:
    """What is known of each piece, whatever its id."""
    table = tokenizer.source_weights()
    return {
        piece: (table.row(i), table.counts[i])
        for i, piece in enumerate(table.pieces)
        if table.evidence[i] > 0
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_a_transferred_model_loads_learns_and_writes(models: Models, family: str) -> None:
    folder = models.transferred(family)
    model = loaded(family, folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    ours = pairpiece.load(folder)
    assert tokenizer(TEXT, add_special_tokens=False)["input_ids"] == ours.encode(TEXT)
    assert tokenizer.decode(ours.encode(TEXT)) == TEXT
    assert model.get_input_embeddings().weight.shape[0] == len(tokenizer)
    batch = tokenizer([TEXT], return_tensors="pt")
    given = {key: batch[key] for key in ("input_ids", "attention_mask")}
    loss = model(**given, labels=batch["input_ids"]).loss
    loss.backward()
    torch.optim.SGD(model.parameters(), 0.1).step()
    assert model(**given, labels=batch["input_ids"]).loss < loss
    if "MaskedLM" not in FAMILIES[family][0]:
        written = model.generate(**given, max_new_tokens=4, do_sample=False)
        assert written.shape[1] > 1
        assert isinstance(tokenizer.decode(written[0]), str)


@pytest.mark.parametrize("family", FAMILIES)
def test_only_rows_of_tokens_change(models: Models, family: str) -> None:
    old, new = weights(models.model(family)), weights(models.transferred(family))
    report = json.loads((models.transferred(family) / "transfer.json").read_text())
    assert set(old) == set(new)
    assert report["tensors"]
    for name, tensor in old.items():
        if name in report["tensors"]:
            assert report["new_size"] in new[name].shape
        else:
            assert torch.equal(tensor, new[name])
        assert tensor.dtype == new[name].dtype


@pytest.mark.parametrize("family", FAMILIES)
def test_special_tokens_keep_their_strings_roles_and_rows(models: Models, family: str) -> None:
    before, after = models.model(family), models.transferred(family)
    old = transformers.AutoTokenizer.from_pretrained(before)
    new = transformers.AutoTokenizer.from_pretrained(after)
    rows = [loaded(family, folder).get_input_embeddings().weight for folder in (before, after)]
    for role, token in old.special_tokens_map.items():
        if isinstance(token, str) and role != "unk_token":
            assert getattr(new, role) == token
            ids = [tokenizer.convert_tokens_to_ids(token) for tokenizer in (old, new)]
            assert torch.equal(*(row[i] for row, i in zip(rows, ids, strict=True)))
    around = [
        tokenizer.convert_ids_to_tokens(tokenizer("")["input_ids"]) for tokenizer in (old, new)
    ]
    assert around[0] == around[1]
    settings = [json.loads((folder / "config.json").read_text()) for folder in (before, after)]
    for key, value in settings[0].items():
        if key.endswith("_token_id") and isinstance(value, int) and value in old.all_special_ids:
            token = old.convert_ids_to_tokens(value)
            assert new.convert_ids_to_tokens(settings[1][key]) == token


@pytest.mark.parametrize("family", ["gpt2", "llama", "t5", "bert"])
def test_rows_are_means_of_the_rows_of_source_tokens(
    models: Models, family: str, tmp_path: Path
) -> None:
    folder, kind = tmp_path / "new", FAMILIES[family][1]
    pairpiece.transfer(models.model(family), models.tokenizer(kind), folder, traits=0)
    tokenizer = pairpiece.load(models.tokenizer(FAMILIES[family][1]))
    ids = transformers.AutoTokenizer.from_pretrained(models.model(family)).get_vocab()
    old = loaded(family, models.model(family)).get_input_embeddings().weight.detach()
    new = loaded(family, folder).get_input_embeddings().weight.detach()
    table = tokenizer.source_weights()
    counted = [i for i in range(len(tokenizer)) if table.evidence[i] >= 5]
    assert len(counted) > 50
    for i in counted:
        wanted = sum(weight * old[ids[token]] for token, weight in table.row(i))
        torch.testing.assert_close(new[i], wanted)


def test_output_rows_have_the_traits_of_their_pieces(models: Models, tmp_path: Path) -> None:
    """Where rows are a function of traits and nothing else, those of pieces are the same one."""
    folder = Path(shutil.copytree(models.model("llama"), tmp_path / "model"))
    model, theirs = loaded("llama", folder), transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer = pairpiece.load(models.tokenizer("byte-fallback"))
    table, ids = tokenizer.source_weights(), theirs.get_vocab()
    directions = torch.randn(3, 32)

    def wanted(token: str, count: float) -> Any:
        first = token.strip("▁")[:1]
        traits = [math.log(max(count, 0.5)), token.startswith("▁"), first.isupper()]
        return torch.tensor(traits, dtype=torch.float32) @ directions

    with torch.no_grad():
        for token, count in zip(table.source_tokens, table.source_counts, strict=True):
            if token in ids:
                model.lm_head.weight[ids[token]] = wanted(token, count)
    model.save_pretrained(folder)
    for part in (0.0, 1.0):
        pairpiece.transfer(folder, tokenizer, tmp_path / f"{part}", traits=part)
    plain, moved = (weights(tmp_path / f"{part}") for part in (0.0, 1.0))
    name = "model.embed_tokens.weight"
    assert torch.equal(plain[name], moved[name]), "what is only read stays"
    seen = [i for i in range(len(tokenizer)) if table.evidence[i] >= 1]
    assert len(seen) > 100
    counts = table.counts * table.source_counts.sum() / table.counts.sum()
    rows = torch.stack([wanted(tokenizer.id_to_piece(i), counts[i]) for i in seen])
    torch.testing.assert_close(moved["lm_head.weight"][seen], rows, atol=1e-3, rtol=1e-3)
    assert (plain["lm_head.weight"][seen] - rows).abs().mean() > 0.3


@pytest.mark.parametrize("family", ["bert", "marian"])
def test_biases_have_the_traits_of_their_pieces(
    models: Models, tmp_path: Path, family: str
) -> None:
    """Of a vector, and of a matrix with one row."""
    folder = Path(shutil.copytree(models.model(family), tmp_path / "model"))
    model, theirs = loaded(family, folder), transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer = pairpiece.load(models.tokenizer(FAMILIES[family][1]))
    table, ids = tokenizer.source_weights(), theirs.get_vocab()
    name = {"bert": "cls.predictions.bias", "marian": "final_logits_bias"}[family]
    with torch.no_grad():
        for token, count in zip(table.source_tokens, table.source_counts, strict=True):
            if token in ids:
                model.state_dict()[name].view(-1)[ids[token]] = 3 + math.log(max(count, 0.5))
    model.save_pretrained(folder)
    pairpiece.transfer(folder, tokenizer, tmp_path / "new", traits=1)
    new = loaded(family, tmp_path / "new").state_dict()[name].view(-1)
    seen = [i for i in range(len(tokenizer)) if table.evidence[i] >= 1]
    counts = table.counts * table.source_counts.sum() / table.counts.sum()
    wanted = torch.tensor([3 + math.log(counts[i]) for i in seen])
    torch.testing.assert_close(new[seen], wanted, atol=1e-3, rtol=1e-3)


def test_nothing_is_moved_where_little_is_known() -> None:
    from pairpiece.pretrained.traits import slopes

    traits = np.arange(150.0).reshape(50, 3)
    assert slopes(torch.ones(50, 4), traits, np.arange(50)) is None


def test_an_infinite_row_moves_nothing() -> None:
    from pairpiece.pretrained.traits import slopes

    traits, rows = np.random.default_rng(1).normal(size=(200, 3)), torch.ones(200, 4)
    assert slopes(rows, traits, np.arange(200)) is not None
    rows[7, 2] = -math.inf
    assert slopes(rows, traits, np.arange(200)) is None


def test_a_trait_that_all_tokens_have_moves_nothing() -> None:
    from pairpiece.pretrained.traits import slopes, traits_of

    counts = np.exp(np.random.default_rng(1).normal(3, 1, 200))
    traits = traits_of(["字"] * 200, counts)  # no spaces and no capitals
    found = slopes(torch.from_numpy(traits[:, :1] @ np.ones((1, 4))), traits, np.arange(200))
    torch.testing.assert_close(found, torch.tensor([[1.0] * 4, [0.0] * 4, [0.0] * 4]))


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_bytes_go_to_the_bytes_of_the_model(models: Models, family: str) -> None:
    old = loaded(family, models.model(family)).get_input_embeddings().weight
    new = loaded(family, models.transferred(family)).get_input_embeddings().weight
    ids = transformers.AutoTokenizer.from_pretrained(models.model(family)).get_vocab()
    ours = pairpiece.load(models.transferred(family))
    name = {"gpt2": "Ã", "llama": "<0xC3>"}[family]
    assert torch.equal(new[ours.piece_to_id(BYTE_PIECES[0xC3])], old[ids[name]])


def test_positions_after_padding_stay_where_they_are(models: Models) -> None:
    # XLM-R counts positions from the id of <pad>, which is 1 there and 3 in our tokenizers.
    settings = json.loads((models.transferred("xlm-r") / "config.json").read_text())
    assert settings["pad_token_id"] == 1
    ours = pairpiece.load(models.transferred("xlm-r"))
    assert (ours.pad_id, ours.id_to_piece(1)) == (1, "<pad>")
    before = pairpiece.load(models.tokenizer("xlm-r"))
    assert ours.encode(TEXT, out_type=str) == before.encode(TEXT, out_type=str)
    source = "La souris mange le fromage."
    paired = [model.encode(TEXT, source=source, out_type=str) for model in (ours, before)]
    assert paired[0] == paired[1]
    assert stands_for(ours) == stands_for(before)


def test_rows_by_kind_are_all_rows(models: Models) -> None:
    report = json.loads((models.transferred("bert") / "transfer.json").read_text())
    assert sum(report["rows"].values()) == report["new_size"]
    assert report["rows"]["weighted"] > 300
    assert report["rows"]["mean"] == 256  # bytes, of which a WordPiece vocabulary has none
    assert "top:10" in report["signature"]


def test_the_same_bytes_come_out(models: Models, tmp_path: Path) -> None:
    pairpiece.transfer(models.model("llama"), models.tokenizer("byte-fallback"), tmp_path / "new")
    one, other = models.transferred("llama"), tmp_path / "new"
    assert {p.name for p in one.iterdir()} == {p.name for p in other.iterdir()}
    for path in one.iterdir():
        if path.is_file():
            assert path.read_bytes() == (other / path.name).read_bytes()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_sharded_files_of_small_floats(models: Models, tmp_path: Path, dtype: str) -> None:
    folder = tmp_path / "sharded"
    shutil.copytree(models.model_tokenizer("byte-fallback"), folder)
    model = loaded("llama", models.model("llama")).to(getattr(torch, dtype))
    model.save_pretrained(folder, max_shard_size="20KB")
    before = set(folder.glob("model-*.safetensors"))
    assert len(before) > 3
    done = pairpiece.transfer(folder, models.tokenizer("byte-fallback"), tmp_path / "new")
    old, new = weights(folder), weights(tmp_path / "new")
    assert all(
        new[name].dtype == tensor.dtype == getattr(torch, dtype) for name, tensor in old.items()
    )
    index = json.loads((tmp_path / "new" / "model.safetensors.index.json").read_text())
    assert index["metadata"]["total_size"] == sum(t.nbytes for t in new.values())
    changed = {index["weight_map"][name] for name in done.tensors}
    for path in before - {folder / name for name in changed}:
        assert path.samefile(tmp_path / "new" / path.name), "a link, not a copy"
    written = loaded("llama", tmp_path / "new").generate(torch.tensor([[1, 300]]), max_new_tokens=2)
    assert written.shape == (1, 4)


def test_an_object_is_as_good_as_a_folder(models: Models, tmp_path: Path) -> None:
    model = loaded("gpt2", models.model("gpt2"))
    pairpiece.transfer(model, models.tokenizer("byte-level"), tmp_path / "new")
    for name, tensor in weights(models.transferred("gpt2")).items():
        assert torch.equal(tensor, weights(tmp_path / "new")[name])


def test_a_decoder_with_a_vocabulary_of_its_own(models: Models, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(models.model_tokenizer("marian"), tmp_path / "model"))
    pretrained.save_model(
        "marian", folder, share_encoder_decoder_embeddings=False, tie_word_embeddings=False
    )
    tokenizer = models.tokenizer("marian")
    done = pairpiece.transfer(folder, tokenizer, tmp_path / "new")
    old, new = weights(folder), weights(tmp_path / "new")
    kept = "model.encoder.embed_tokens.weight"
    assert torch.equal(old[kept], new[kept])
    assert kept not in done.tensors
    assert {"model.decoder.embed_tokens.weight", "lm_head.weight"} <= set(done.tensors)
    from pairpiece.pretrained.vocabulary_tensors import vocabulary_tensors

    config = transformers.AutoConfig.from_pretrained(folder)
    config.decoder_vocab_size = config.vocab_size  # and what is tied is there once
    shapes = {name: tuple(tensor.shape) for name, tensor in old.items()}
    del shapes["model.decoder.embed_tokens.weight"]
    assert kept not in vocabulary_tensors(config, shapes, "decoder")
    settings = json.loads((tmp_path / "new" / "config.json").read_text())
    assert settings["vocab_size"] == old[kept].shape[0]
    assert settings["decoder_vocab_size"] == done.new_size
    loaded("marian", tmp_path / "new")
    with pytest.raises(OptionError, match="vocabularies of their own: choose"):
        pairpiece.transfer(folder, tokenizer, tmp_path / "both", side="both")
    with pytest.raises(OptionError, match="this one has one vocabulary"):
        pairpiece.transfer(
            models.model("t5"), models.tokenizer("t5"), tmp_path / "x", side="encoder"
        )


def test_a_decoder_that_the_library_cannot_build_is_refused(
    models: Models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is in version 4 of transformers."""
    from pairpiece.pretrained import vocabulary_tensors

    def as_if_shared(config: Any) -> Any:
        settings = {**config.to_dict(), "decoder_vocab_size": config.vocab_size}
        return really(type(config)(**settings))

    really = vocabulary_tensors._meta_model
    monkeypatch.setattr(vocabulary_tensors, "_meta_model", as_if_shared)
    folder = Path(shutil.copytree(models.model_tokenizer("marian"), tmp_path / "model"))
    pretrained.save_model(
        "marian", folder, share_encoder_decoder_embeddings=False, tie_word_embeddings=False
    )
    with pytest.raises(OptionError, match="transformers>=5"):
        pairpiece.transfer(folder, models.tokenizer("marian"), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_chat_templates_and_their_tokens_are_kept(models: Models, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(models.model_tokenizer("byte-level"), tmp_path / "model"))
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    theirs.add_tokens([transformers.AddedToken("<|im_start|>", special=True)])
    theirs.add_tokens(["<think>", "<table>"])  # the second is in no template
    theirs.chat_template = "{% for m in messages %}<|im_start|>{{ m.content }}<think>{% endfor %}"
    theirs.save_pretrained(folder)
    pretrained.save_model("qwen3", folder)
    pairpiece.transfer(folder, models.tokenizer("byte-level"), tmp_path / "new")
    new = transformers.AutoTokenizer.from_pretrained(tmp_path / "new")
    ids = new.apply_chat_template([{"role": "user", "content": "Il topo"}])["input_ids"]
    tokens = new.convert_ids_to_tokens(ids)
    assert (tokens[0], tokens[-1]) == ("<|im_start|>", "<think>")
    assert "<table>" not in new.get_vocab()
    old = loaded("qwen3", folder).get_input_embeddings().weight
    rows = loaded("qwen3", tmp_path / "new").get_input_embeddings().weight
    for token in ("<|im_start|>", "<think>"):
        both = theirs.convert_tokens_to_ids(token), new.convert_tokens_to_ids(token)
        assert torch.equal(old[both[0]], rows[both[1]])


@pytest.mark.parametrize("name", ["Llava", "Gemma3"])
@pytest.mark.parametrize("extend", [False, True])
def test_models_that_also_read_images(
    models: Models, tmp_path: Path, name: str, extend: bool
) -> None:
    folder = Path(shutil.copytree(models.model_tokenizer("byte-fallback"), tmp_path / "model"))
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    theirs.add_tokens([transformers.AddedToken("<image>", special=True)])
    theirs.save_pretrained(folder)
    image = theirs.convert_tokens_to_ids("<image>")
    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1}
    small |= {"num_attention_heads": 2}
    text = {"model_type": {"Llava": "llama", "Gemma3": "gemma3_text"}[name]}
    text |= {"vocab_size": len(theirs) + 9, "bos_token_id": 1, "eos_token_id": 2, "head_dim": 16}
    text |= {"num_key_value_heads": 1, "pad_token_id": None, **small}
    seeing = {"model_type": {"Llava": "clip_vision_model", "Gemma3": "siglip_vision_model"}[name]}
    seeing |= {"image_size": 28, "patch_size": 14, **small}
    config = getattr(transformers, f"{name}Config")(
        text_config=text, vision_config=seeing, image_token_index=image
    )
    model = getattr(transformers, f"{name}ForConditionalGeneration")
    model(config).save_pretrained(folder)
    done = pairpiece.transfer(
        folder, models.tokenizer("byte-fallback"), tmp_path / "new", extend=extend
    )
    new = transformers.AutoTokenizer.from_pretrained(tmp_path / "new")
    found = model.from_pretrained(tmp_path / "new")
    assert found.get_input_embeddings().weight.shape[0] == done.new_size == len(new)
    assert found.config.image_token_id == new.convert_tokens_to_ids("<image>")
    ids = torch.tensor([new(TEXT)["input_ids"]])
    assert found(input_ids=ids).logits.shape[-1] == done.new_size


def test_a_vocabulary_that_was_kept_as_it_is(models: Models, tmp_path: Path) -> None:
    """c(t, s) for the pieces of SentencePiece, by ``train --vocabulary``."""
    import sentencepiece

    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(pretrained.italian(300)),
        model_prefix=str(tmp_path / "it"),
        vocab_size=500,
        minloglevel=2,
    )
    trained = models.tokenizer("byte-level")
    tokenizer = pairpiece.train(
        *(trained.with_suffix(f".{side}") for side in ("fr", "it")),
        align=trained.with_suffix(".links"),
        vocabulary=tmp_path / "it.model",
        source_tokenizer=models.model_tokenizer("byte-level"),
        cache=False,
    )
    done = pairpiece.transfer(models.model("gpt2"), tokenizer, tmp_path / "new")
    assert done.rows["weighted"] > 300
    spm = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "it.model"))
    new = transformers.AutoTokenizer.from_pretrained(tmp_path / "new")
    assert new("Il topo mangia", add_special_tokens=False)["input_ids"] == spm.encode(
        "Il topo mangia"
    )


@pytest.mark.parametrize("is_old", [False, True])
def test_weights_are_the_largest_counts_in_proportion(
    tokenizer: pairpiece.Tokenizer, is_old: bool, tmp_path: Path
) -> None:
    """r(t, s), or c(t, s) in models that have no r(t, s)."""
    tokens = tokenizer.cooccurrences().source_tokens
    assert tokenizer.state.translations is not None
    table: Any = tokenizer.state.translations.value
    if is_old:
        table = tokenizer.cooccurrences()
        pairpiece.Tokenizer(dataclasses.replace(tokenizer.state, translations=None)).save(tmp_path)
        tokenizer = pairpiece.load(tmp_path)
    weights = tokenizer.source_weights(3)
    assert weights.shape == (len(tokenizer), len(tokens))
    kinds = tokenizer.piece_types()
    for i in range(len(tokenizer)):
        part = slice(*map(int, table.row_begin[i : i + 2]))
        counts = {
            tokens[s]: float(c)
            for s, c in zip(table.source[part], table.count[part], strict=True)
            if s > 0 and c > 0
        }
        best = sorted(counts.values(), reverse=True)[:3]
        assert [w for _, w in weights.row(i)] == pytest.approx([c / sum(best) for c in best])
        assert all(counts[token] >= best[-1] for token, _ in weights.row(i))
        assert weights.evidence[i] == pytest.approx(sum(counts.values()))
        if kinds[i] != PieceType.NORMAL:
            assert not weights.row(i)
    with pytest.raises(OptionError, match="top must be between"):
        tokenizer.source_weights(0)


class Refused:
    """What is asked for cannot be, and nothing is left behind."""

    def __init__(self, models: Models, folder: Path) -> None:
        self.model = Path(shutil.copytree(models.model("llama"), folder / "model"))
        self.tokenizer: Any = models.tokenizer("byte-fallback")
        self.output = folder / "out" / "new"

    def says(self, error: type[Exception], message: str, **options: Any) -> None:
        with pytest.raises(error, match=message):
            pairpiece.transfer(self.model, self.tokenizer, self.output, **options)
        assert not self.output.exists()
        assert not self.output.parent.exists() or not list(self.output.parent.iterdir())


@pytest.fixture
def refused(models: Models, tmp_path: Path) -> Refused:
    return Refused(models, tmp_path)


def test_the_wrong_source_tokenizer(refused: Refused, models: Models) -> None:
    refused.tokenizer = models.tokenizer("wordpiece")
    refused.says(OptionError, r"not that of the model: \d+ of its [\d,]+ tokens are not in .*'##")


def test_a_tokenizer_without_a_source(refused: Refused, tokenizer: pairpiece.Tokenizer) -> None:
    refused.tokenizer = tokenizer  # its source tokens were given as they are
    refused.says(OptionError, "train it with `pairpiece train --source-tokenizer")


def test_a_model_without_embeddings(refused: Refused) -> None:
    from safetensors.torch import save_file

    save_file({"model.norm.weight": torch.ones(3)}, refused.model / "model.safetensors")
    refused.says(ModelFormatError, "there are no embeddings in its weights")


def test_a_vocabulary_larger_than_the_matrix(refused: Refused) -> None:
    from safetensors.torch import load_file, save_file

    path = refused.model / "model.safetensors"
    tensors = load_file(path)
    tensors["lm_head.weight"] = tensors["lm_head.weight"][:100].clone()
    save_file(tensors, path)
    refused.says(ModelFormatError, r"lm_head.weight has the shape \[100, 32\], but the largest id")


def test_quantized_embeddings(refused: Refused) -> None:
    from safetensors.torch import load_file, save_file

    path = refused.model / "model.safetensors"
    tensors = load_file(path)
    tensors["lm_head.weight"] = tensors["lm_head.weight"].to(torch.int8)
    save_file(tensors, path)
    refused.says(ModelFormatError, "is of type I8; transfer the model before it is quantized")


def test_a_missing_shard(refused: Refused) -> None:
    (refused.model / "model.safetensors").unlink()
    index = {"metadata": {}, "weight_map": {"lm_head.weight": "model-1.safetensors"}}
    path = refused.model / "model.safetensors.index.json"
    path.write_text(json.dumps(index))
    refused.says(ModelFormatError, "model-1.safetensors is missing; the download may not be")
    path.write_text(json.dumps({"weight_map": {"a": "../../etc/passwd"}}))
    refused.says(ModelFormatError, "is not the name of a file beside it")
    path.write_text("[]")
    refused.says(ModelFormatError, "not an index of safetensors files")


@pytest.mark.parametrize("content", [b"", b"\xff" * 100, b"\x10" + b"\0" * 7 + b'{"a": [1, 2, 3]}'])
def test_broken_weights(refused: Refused, content: bytes) -> None:
    (refused.model / "model.safetensors").write_bytes(content)
    refused.says(ModelFormatError, "not an intact safetensors file")


def test_weights_as_pickles(refused: Refused) -> None:
    (refused.model / "model.safetensors").rename(refused.model / "pytorch_model.bin")
    refused.says(ModelFormatError, "pytorch_model.bin holds Python objects: load the model with")


def test_no_model(refused: Refused, tmp_path: Path) -> None:
    refused.model = tmp_path / "nowhere"
    refused.says(OptionError, "there is no config.json in it")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"architectures": ["Nothing"]}, "'Nothing' in config.json is not one of transformers"),
        ({"architectures": None}, "None in config.json is not one of transformers"),
        ({"model_type": "nothing"}, "config.json: "),
        ({"num_hidden_layers": 10**9}, r"num_hidden_layers is 1,000,000,000, but there are \d+ "),
        ({"vocab_size": None}, "config.json: |no vocab_size"),
    ],
)
def test_unknown_architectures(refused: Refused, change: dict[str, Any], message: str) -> None:
    path = refused.model / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    refused.says(ModelFormatError, message)


def test_what_is_there_is_not_overwritten(refused: Refused) -> None:
    refused.output.mkdir(parents=True)
    (refused.output / "precious").write_text("thesis")
    with pytest.raises(OptionError, match="there is something in this folder; choose another"):
        pairpiece.transfer(refused.model, refused.tokenizer, refused.output)
    assert (refused.output / "precious").read_text() == "thesis"


def test_an_output_that_cannot_be_written(refused: Refused) -> None:
    refused.output.parent.write_text("a file")
    with pytest.raises(NotADirectoryError):
        pairpiece.transfer(refused.model, refused.tokenizer, refused.output)


def test_a_failure_half_way_leaves_nothing(refused: Refused, monkeypatch: Any) -> None:
    from pairpiece.pretrained import transferring

    def fail(*_: Any) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(transferring, "make_loadable", fail)
    refused.says(OSError, "No space left")


def test_the_command_says_what_it_did(models: Models, tmp_path: Path, capsys: Any) -> None:
    from pairpiece.commands import main

    tokenizer = str(models.tokenizer("byte-level"))
    given = ["transfer", str(models.model("gpt2")), "--tokenizer", tokenizer]
    assert main([*given, "-o", str(tmp_path / "new")]) == 0
    said = capsys.readouterr().out
    assert "GPT2LMHeadModel: 600 tokens → " in said
    assert "256  bytes" in said
    assert main([*given, "-o", str(tmp_path / "new")]) == 1
    assert "there is something in this folder" in capsys.readouterr().err
