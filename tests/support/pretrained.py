"""Small models of many architectures with random weights, each with a tokenizer of its kind."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import sentencepiece
from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

import pairpiece
from pairpiece import files
from pairpiece.corpus import sample

VOCAB_SIZE = 600


@cache
def french(lines: int = 600) -> list[str]:
    return list(islice(files.lines(sample.FRENCH), lines))


@cache
def italian(lines: int = 600) -> list[str]:
    return list(islice(files.lines(sample.ITALIAN), lines))


def byte_level_bpe() -> Tokenizer:
    """As GPT-2, Llama 3 and Qwen have it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB_SIZE,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(french(), trainer)
    return tokenizer


def byte_fallback_bpe() -> Tokenizer:
    """As Llama 2 and Mistral have it: pieces of SentencePiece, and bytes for what they lack."""
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    special = ["<unk>", "<s>", "</s>"]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB_SIZE, special_tokens=[*special, *bytes_], show_progress=False
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("(?=▁)"), "isolated")
    tokenizer.train_from_iterator(french(), trainer)
    tokenizer.pre_tokenizer = None
    content = json.loads(tokenizer.to_str())
    content["added_tokens"] = content["added_tokens"][: len(special)]  # bytes are no special tokens
    tokenizer = Tokenizer.from_str(json.dumps(content))
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)]
    )
    return tokenizer


def unigram(special: list[str], template: str) -> Tokenizer:
    """As T5 and XLM-R have it."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=VOCAB_SIZE, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(french(), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=template,
        special_tokens=[(token, i) for i, token in enumerate(special) if token in template],
    )
    return tokenizer


def wordpiece() -> Tokenizer:
    """As BERT has it."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(
        french(),
        trainers.WordPieceTrainer(
            vocab_size=VOCAB_SIZE, special_tokens=special, show_progress=False
        ),
    )
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


def save_marian_tokenizer(folder: Path) -> None:
    """SentencePiece models of both sides, and ids in a file of their own."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(french()), model_writer=model, vocab_size=500, minloglevel=2
    )
    for side in ("source", "target"):
        (folder / f"{side}.spm").write_bytes(model.getvalue())
    spm = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    pieces = [spm.id_to_piece(i) for i in range(3, spm.vocab_size())]
    names = ["</s>", "<unk>", *pieces, "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({name: i for i, name in enumerate(names)}))
    config = {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": "fr",
        "target_lang": "de",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "pad_token": "<pad>",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config))


def _decoder(**more: Any) -> dict[str, Any]:
    return {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": 64,
        **more,
    }


_BART = {
    **{
        f"{side}_{name}": n
        for side in ("encoder", "decoder")
        for name, n in (("layers", 1), ("attention_heads", 2), ("ffn_dim", 32))
    },
    "d_model": 32,
    "max_position_embeddings": 64,
}
_BERT = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
}
_GPT2_ENDS = {"bos_token_id": 0, "eos_token_id": 0}
_LLAMA_ENDS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": None}
_XLMR = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]

FAMILIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    # name: class, tokenizer, configuration
    "gpt2": (
        "GPT2LMHeadModel",
        "byte-level",
        {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 64, **_GPT2_ENDS},
    ),
    "gpt2-untied": (
        "GPT2LMHeadModel",
        "byte-level",
        {
            "n_embd": 32,
            "n_layer": 2,
            "n_head": 2,
            "n_positions": 64,
            "tie_word_embeddings": False,
            **_GPT2_ENDS,
        },
    ),
    "llama": ("LlamaForCausalLM", "byte-fallback", _decoder(**_LLAMA_ENDS)),
    "llama-tied": (
        "LlamaForCausalLM",
        "byte-fallback",
        _decoder(tie_word_embeddings=True, **_LLAMA_ENDS),
    ),
    "llama3": ("LlamaForCausalLM", "byte-level", _decoder(**_GPT2_ENDS)),
    "mistral": ("MistralForCausalLM", "byte-fallback", _decoder(**_LLAMA_ENDS)),
    "qwen2-padded": ("Qwen2ForCausalLM", "byte-level", _decoder(padded=64, **_GPT2_ENDS)),
    "qwen3": ("Qwen3ForCausalLM", "byte-level", _decoder(tie_word_embeddings=True, **_GPT2_ENDS)),
    "gemma2": ("Gemma2ForCausalLM", "byte-fallback", _decoder(**_LLAMA_ENDS)),
    "t5": (
        "T5ForConditionalGeneration",
        "t5",
        {
            "d_model": 32,
            "d_kv": 8,
            "d_ff": 64,
            "num_layers": 1,
            "num_heads": 4,
            "decoder_start_token_id": 0,
            "pad_token_id": 0,
            "eos_token_id": 1,
        },
    ),
    "mbart": (
        "MBartForConditionalGeneration",
        "xlm-r",
        {
            **_BART,
            "bos_token_id": 0,
            "pad_token_id": 1,
            "eos_token_id": 2,
            "decoder_start_token_id": 2,
            "forced_eos_token_id": 2,
        },
    ),
    "marian": (
        "MarianMTModel",
        "marian",
        {
            **_BART,
            "eos_token_id": 0,
            "pad_token_id": -1,
            "decoder_start_token_id": -1,
            "forced_eos_token_id": 0,
            "bad_words_ids": [[-1]],
        },
    ),
    "bert": ("BertForMaskedLM", "wordpiece", {**_BERT, "pad_token_id": 0}),
    "xlm-r": (
        "XLMRobertaForMaskedLM",
        "xlm-r",
        {
            **_BERT,
            "bos_token_id": 0,
            "pad_token_id": 1,
            "eos_token_id": 2,
            "max_position_embeddings": 66,
        },
    ),
}
"""-1 stands for the last id."""

_TOKENIZERS: dict[str, tuple[Callable[[], Tokenizer], dict[str, str]]] = {
    "byte-level": (byte_level_bpe, {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"}),
    "byte-fallback": (
        byte_fallback_bpe,
        {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"},
    ),
    "t5": (
        lambda: unigram(["<pad>", "</s>", "<unk>", "<extra_id_0>"], "$A </s>"),
        {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"},
    ),
    "xlm-r": (
        lambda: unigram(_XLMR, "<s> $A </s>"),
        {
            "bos_token": "<s>",
            "cls_token": "<s>",
            "eos_token": "</s>",
            "sep_token": "</s>",
            "unk_token": "<unk>",
            "pad_token": "<pad>",
            "mask_token": "<mask>",
        },
    ),
    "wordpiece": (
        wordpiece,
        {
            "cls_token": "[CLS]",
            "sep_token": "[SEP]",
            "unk_token": "[UNK]",
            "pad_token": "[PAD]",
            "mask_token": "[MASK]",
        },
    ),
}


def save_tokenizer(kind: str, folder: Path) -> None:
    """Write the files of a tokenizer as they lie beside a model."""
    import transformers

    folder.mkdir(parents=True, exist_ok=True)
    if kind == "marian":
        save_marian_tokenizer(folder)
        return
    make, roles = _TOKENIZERS[kind]
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=make(), **roles)
    fast.save_pretrained(folder)


def save_model(family: str, folder: Path, **more: Any) -> None:
    """Write a small model with random weights into the folder of its tokenizer."""
    import torch
    import transformers

    name, _, settings = FAMILIES[family]
    settings = {**settings, **more}
    size = len(transformers.AutoTokenizer.from_pretrained(folder))
    padded = settings.pop("padded", 0)
    last = {key: size - 1 for key, value in settings.items() if value == -1}
    if "bad_words_ids" in settings:
        last["bad_words_ids"] = [[size - 1]]
    model_class = getattr(transformers, name)
    torch.manual_seed(0)
    config = model_class.config_class(**{**settings, **last}, vocab_size=size + padded)
    model_class(config).save_pretrained(folder)


def loaded(family: str, folder: Path) -> Any:
    """A model, ready to be asked."""
    import transformers

    return getattr(transformers, FAMILIES[family][0]).from_pretrained(folder).eval()


class Models:
    """Tokenizers, models and transfers, each made once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[str, Path] = {}

    def _once(self, name: str, make: Any) -> Path:
        if name not in self._made:
            path = self._folder / name
            make(path)
            self._made[name] = path
        return self._made[name]

    def model_tokenizer(self, kind: str) -> Path:
        return self._once(f"tokenizer-{kind}", lambda p: save_tokenizer(kind, p))

    def model(self, family: str) -> Path:
        def make(path: Path) -> None:
            shutil.copytree(self.model_tokenizer(FAMILIES[family][1]), path)
            save_model(family, path)

        return self._once(f"model-{family}", make)

    def tokenizer(self, kind: str) -> Path:
        def make(path: Path) -> None:
            source = self.model_tokenizer(kind)
            text = [path.with_suffix(f".{side}") for side in ("fr", "it", "links")]
            both = french(300), italian(300)
            for file, lines in zip(text, (*both, map(diagonal, *both)), strict=False):
                file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            pairpiece.train(
                *text[:2],
                align=text[2],
                vocab_size=650,
                hard_vocab_limit=False,
                source_tokenizer=source / "source.spm" if kind == "marian" else source,
                output=path,
                work_dir=self._folder / "stages",
            )

        return self._once(f"pairpiece-{kind}", make)

    def transferred(self, family: str) -> Path:
        def make(path: Path) -> None:
            pairpiece.transfer(self.model(family), self.tokenizer(FAMILIES[family][1]), path)

        return self._once(f"transferred-{family}", make)

    def extended(self, family: str) -> Path:
        def make(path: Path) -> None:
            tokenizer = self.tokenizer(FAMILIES[family][1])
            pairpiece.transfer(self.model(family), tokenizer, path, extend=True)

        return self._once(f"extended-{family}", make)


def diagonal(source: str, target: str) -> str:
    """Links as if both sentences had the same words in the same order."""
    both = [len(pairpiece.split_words(text)) for text in (source, target)]
    return " ".join(f"{i}-{i}" for i in range(min(both)))
