"""Which tensors of a model have a row for each token.

The library is asked: the model is built twice without memory, the second time with a token more,
and the tensors whose shapes differ are those.  That finds embeddings, output layers and biases of
whatever architecture, tied or not.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pairpiece.errors import ModelFormatError, OptionError

SIZES = ("vocab_size", "decoder_vocab_size", "vocab_size_per_layer_input")
"""What the number of tokens is called; Marian may have two, and Gemma 3n has a second table."""

SIDES = ("both", "decoder", "encoder")

POSITIONS_AFTER_PAD = frozenset(
    (
        *("camembert", "data2vec-text", "esm", "fsmt", "ibert", "longformer", "luke", "m2m_100"),
        *("markuplm", "mpnet", "nllb-moe", "roberta", "roberta-prelayernorm", "xglm"),
        *("xlm-roberta", "xlm-roberta-xl", "xmod"),
    )
)
"""Architectures that count positions from the id of the padding token, which has to stay."""


def text_config(config: Any) -> Any:
    """The part of a configuration that is about text; of most models, all of it."""
    found = config.get_text_config()
    if not isinstance(getattr(found, "vocab_size", None), int):
        raise ModelFormatError(
            f"{config.model_type}: the configuration has no vocab_size; is this a model of text?"
        )
    return found


def sizes(config: Any, side: str) -> list[str]:
    """The names of the numbers of tokens that change with the vocabulary of a side."""
    text = text_config(config)
    separate = has_separate_vocabularies(config)
    if side != "both" and not separate:
        raise OptionError(
            f"side {side!r} is for models whose encoder and decoder have vocabularies of their "
            f"own; this one has one vocabulary",
            ["side"],
        )
    if separate and side == "both":
        raise OptionError(
            "the encoder and the decoder of this model have vocabularies of their own: choose "
            "side 'decoder' for a model that writes the new language, 'encoder' for one that "
            "reads it",
            ["side"],
        )
    names = [name for name in SIZES if isinstance(getattr(text, name, None), int)]
    if separate:
        return ["decoder_vocab_size" if side == "decoder" else "vocab_size"]
    return names


def has_separate_vocabularies(config: Any) -> bool:
    """Whether the encoder and the decoder have one each, as some Marian models have."""
    return getattr(config, "share_encoder_decoder_embeddings", True) is False


@dataclass(frozen=True)
class VocabularyTensor:
    """A tensor that has a row for each token."""

    shape: tuple[int, ...]
    axis: int
    is_output: bool  # whether it says which token comes, alone or as well as what is read


def vocabulary_tensors(
    config: Any, shapes: Mapping[str, tuple[int, ...]], side: str = "both"
) -> dict[str, VocabularyTensor]:
    """The tensors that have a row for each token, by name, of a checkpoint with such tensors.

    A checkpoint may be of a part of the model, or of a whole that the model is a part of.  That of
    a model that also reads images has names of its own (``language_model.model.…`` instead of
    ``model.language_model.…``); there the end of the name and the shape tell.
    """
    known, others = _in_model(config, side)
    found: dict[str, VocabularyTensor] = {}
    missed: dict[str, VocabularyTensor] = {}
    for other, tensor in known.items():
        same = [n for n in shapes if f".{other}".endswith(f".{n}") or n.endswith(f".{other}")]
        found |= dict.fromkeys(same, tensor)
        if not same:
            missed[other] = tensor
    for other, tensor in missed.items():
        end = other.split(".")[-2:]
        for name in set(shapes) - set(found) - others:
            if name.split(".")[-2:] == end and shapes[name] == tensor.shape:
                found[name] = tensor
    return found


def _in_model(config: Any, side: str) -> tuple[dict[str, VocabularyTensor], set[str]]:
    """The tensors of a model that have a row for each token, and the names of all others."""
    names = sizes(config, side)
    more = copy.deepcopy(config)
    for name in names:
        setattr(text_config(more), name, getattr(text_config(more), name) + 1)
    before, after = _meta_model(config), _meta_model(more).state_dict()
    layer = before.get_output_embeddings()
    said = {
        name
        for name, tensor in before.named_parameters(remove_duplicate=False)
        if layer is not None and tensor is layer.weight
    }
    found: dict[str, VocabularyTensor] = {}
    for name, tensor in before.state_dict().items():
        for axis, (size, larger) in enumerate(zip(tensor.shape, after[name].shape, strict=True)):
            if size != larger:
                is_bias = tensor.numel() == size
                found[name] = VocabularyTensor(tuple(tensor.shape), axis, is_bias or name in said)
    if side == "decoder" and not any(".decoder." in name for name in found):
        raise OptionError(
            "this version of transformers builds decoders with the vocabulary of the encoder, "
            'whatever the configuration says: pip install "transformers>=5"'
        )
    return found, set(after) - set(found)


def _meta_model(config: Any) -> Any:
    """A model that takes no memory."""
    import torch
    import transformers

    [name] = (config.architectures or [None])[:1]
    found = getattr(transformers, name, None) if name else None
    if found is None:
        raise ModelFormatError(
            f"the architecture {name!r} in config.json is not one of transformers "
            f"{transformers.__version__}"
        )
    with torch.device("meta"):
        return found(copy.deepcopy(config))
