"""A Transformer that translates: Marian's architecture, with a vocabulary for each language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pairpiece.downstream.batches import of_similar_length
from pairpiece.downstream.rows import Ids, Rows
from pairpiece.downstream.settings import TranslationSettings
from pairpiece.downstream.training_loop import losses_of_rows, on_device
from pairpiece.errors import OptionError

PADDING, END = 0, 1
FIRST = 2
"""The id of the first piece, in both vocabularies."""
_TOKENS_AT_ONCE = 4096


@dataclass(frozen=True)
class TranslationTask:
    """Source and target lines as token ids, to be translated."""

    settings: TranslationSettings
    vocab_sizes: tuple[int, int]  # of source and target, like all pairs here
    train: tuple[Rows, Rows]
    sizes: npt.NDArray[np.int64]  # bytes of the training lines
    dev: tuple[Rows, Rows]
    dev_bytes: int
    start: None = None  # models are always new ones

    def model(self) -> Any:
        """A new model with random weights."""
        from transformers import MarianConfig, MarianMTModel

        settings = self.settings
        source, target = self.vocab_sizes
        model = MarianMTModel(
            MarianConfig(
                vocab_size=source,
                decoder_vocab_size=target,
                share_encoder_decoder_embeddings=False,
                tie_word_embeddings=True,
                d_model=settings.width,
                encoder_layers=settings.layers,
                decoder_layers=settings.layers,
                encoder_attention_heads=settings.heads,
                decoder_attention_heads=settings.heads,
                encoder_ffn_dim=settings.inner_width,
                decoder_ffn_dim=settings.inner_width,
                activation_function="relu",
                dropout=settings.dropout,
                scale_embedding=True,
                max_position_embeddings=settings.max_length + 2,
                pad_token_id=PADDING,
                eos_token_id=END,
                forced_eos_token_id=None,
                decoder_start_token_id=PADDING,
            )
        )
        if len(model.lm_head.weight) != target:
            raise OptionError(
                "this version of transformers has no vocabularies of different sizes: "
                'pip install "transformers>=5"'
            )
        return model

    def batch(self, lines: npt.NDArray[np.int64]) -> dict[str, Any]:
        """Sources, and what should be said in the target language."""
        source, target = self.train
        longest = self.settings.max_length
        return _tensors([source[i] for i in lines], [target[i] for i in lines], longest)

    def logits(self, model: Any, batch: dict[str, Any]) -> Any:
        """What the model says at each label that counts."""
        return _logits(model, batch)

    def dev_loss(self, model: Any) -> float:
        """Nats per byte of the dev text."""
        longest = self.settings.max_length
        return float(negative_log_likelihoods(model, *self.dev, longest).sum()) / self.dev_bytes


def negative_log_likelihoods(
    model: Any, sources: Sequence[Ids], targets: Sequence[Ids], max_length: int
) -> npt.NDArray[np.float64]:
    """How improbable each target is given its source, in nats: the sum over tokens and end."""
    import torch

    found = np.zeros(len(targets))
    with torch.no_grad():
        lengths = [max(len(s), len(t)) for s, t in zip(sources, targets, strict=True)]
        for group in of_similar_length(lengths, _TOKENS_AT_ONCE):
            batch = _tensors([sources[i] for i in group], [targets[i] for i in group], max_length)
            batch = on_device(batch, model.device)
            found[group] = losses_of_rows(_logits(model, batch), batch["labels"])
    return found


def translate(model: Any, sources: Sequence[Ids], settings: TranslationSettings) -> list[list[int]]:
    """The best translation of each source that a beam search finds, as ids."""
    import torch
    from transformers import GenerationConfig

    found: list[list[int]] = [[] for _ in sources]
    with torch.no_grad():
        lengths = [settings.beam * (len(source) + 1) for source in sources]
        for group in of_similar_length(lengths, _TOKENS_AT_ONCE):
            batch = _tensors([sources[i] for i in group], None, settings.max_length)
            batch = on_device(batch, model.device)
            longest = int(batch["source"].shape[1])
            config = GenerationConfig(
                num_beams=settings.beam,
                length_penalty=settings.length_normalization,
                max_new_tokens=min(settings.max_length, 2 * longest + 20),
                suppress_tokens=[PADDING],
                early_stopping=False,
                pad_token_id=PADDING,
                eos_token_id=END,
                decoder_start_token_id=PADDING,
            )
            rows = model.generate(
                input_ids=batch["source"],
                attention_mask=batch["source_mask"],
                generation_config=config,
            )
            for i, row in zip(group, rows.tolist(), strict=True):
                found[i] = [token for token in row if token >= FIRST]
    return found


def _tensors(sources: list[Ids], targets: list[Ids] | None, max_length: int) -> dict[str, Any]:
    """Padded sources, what the decoder reads, and labels that are negative on padding."""
    import torch

    read = _padded([[*s[:max_length], END] for s in sources], PADDING)
    tensors = {"source": read, "source_mask": (read != PADDING).astype(np.int64)}
    if targets is not None:
        tensors["labels"] = _padded(
            [t[:max_length] if len(t) >= max_length else [*t, END] for t in targets], -100
        )
        before = np.where(tensors["labels"] < 0, PADDING, tensors["labels"])[:, :-1]
        tensors["inputs"] = np.pad(before, ((0, 0), (1, 0)), constant_values=PADDING)
    return {name: torch.from_numpy(array) for name, array in tensors.items()}


def _padded(rows: Sequence[Sequence[int] | Ids], padding: int) -> npt.NDArray[np.int64]:
    padded = np.full((len(rows), max(map(len, rows))), padding, np.int64)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return padded


def _logits(model: Any, batch: dict[str, Any]) -> Any:
    """What the model says where there are labels."""
    states = model.model(
        input_ids=batch["source"],
        attention_mask=batch["source_mask"],
        decoder_input_ids=batch["inputs"],
        use_cache=False,
    ).last_hidden_state
    return model.lm_head(states[batch["labels"] >= 0]) + model.final_logits_bias[0]
