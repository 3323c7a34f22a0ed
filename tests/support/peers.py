"""Tokenizers of other tools, trained on a little text."""

from __future__ import annotations

import functools
import io
from collections.abc import Iterable
from typing import Any

import sentencepiece
import tokenizers
from tokenizers import decoders, models, pre_tokenizers, trainers


def sentencepiece_model(text: Iterable[str], vocab_size: int, **options: Any) -> bytes:
    """Trained once for the same text and options; a vocabulary may be smaller than asked for."""
    return _sentencepiece_model(tuple(text), vocab_size=vocab_size, **options)


@functools.cache
def _sentencepiece_model(text: tuple[str, ...], **options: Any) -> bytes:
    lists = {name: list(value) for name, value in options.items() if isinstance(value, tuple)}
    how = {"hard_vocab_limit": False, "num_threads": 1, "minloglevel": 2, **options, **lists}
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text), model_writer=model, **how
    )
    return model.getvalue()


def unigram(text: Iterable[str], vocab_size: int, **parts: Any) -> tokenizers.Tokenizer:
    trainer = trainers.UnigramTrainer(
        vocab_size=vocab_size, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
    )
    parts = {"pre_tokenizer": pre_tokenizers.Metaspace(), **parts}
    return _trained(models.Unigram(), trainer, text, parts)


def wordpiece(
    text: Iterable[str], vocab_size: int, special: Iterable[str] = ("[UNK]",), **parts: Any
) -> tokenizers.Tokenizer:
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocab_size, special_tokens=list(special), show_progress=False
    )
    parts = {"pre_tokenizer": pre_tokenizers.Whitespace(), **parts}
    return _trained(models.WordPiece(unk_token="[UNK]"), trainer, text, parts)


def byte_level(text: Iterable[str], vocab_size: int, **parts: Any) -> tokenizers.Tokenizer:
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    splitting = pre_tokenizers.ByteLevel(add_prefix_space=False)
    parts = {"pre_tokenizer": splitting, "decoder": decoders.ByteLevel(), **parts}
    return _trained(models.BPE(), trainer, text, parts)


def _trained(
    model: Any, trainer: Any, text: Iterable[str], parts: dict[str, Any]
) -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer(model)
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    tokenizer.train_from_iterator(text, trainer)
    return tokenizer
