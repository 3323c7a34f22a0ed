"""A language model of lines of text, and the probability it gives them.

It is a new GPT-2 model, or one that goes on from weights there are.  A token begins every line and
one ends it; in new models both are token 0.  A text's negative log-likelihood is the sum over its
tokens and its end, so it is that of the text, whichever way it is cut into tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pairpiece.downstream.batches import of_similar_length
from pairpiece.downstream.rows import Ids, Rows
from pairpiece.downstream.settings import LanguageModelSettings
from pairpiece.downstream.training_loop import losses_of_rows, on_device
from pairpiece.errors import OptionError

END = 0
_TOKENS_AT_ONCE = 4096
_LONGEST_CONTEXT = 1024
"""Of models that were made for longer texts than lines."""


class Ends(NamedTuple):
    """The tokens around a line."""

    begin: int = END
    end: int = END

    @classmethod
    def of(cls, config: Any) -> Ends:
        """Those of a model; one that has none to begin with begins with the last of a text."""
        last = config.eos_token_id
        last = last[0] if isinstance(last, list) else last
        first = config.bos_token_id
        if last is None:
            raise OptionError("the model has no token for the end of a text: eos_token_id")
        return cls(last if first is None else first, last)

    def around(self, tokens: Ids) -> Ids:
        """The tokens of a line between its beginning and its end."""
        return np.concatenate([[self.begin], tokens, [self.end]]).astype(np.int32)


ENDS = Ends()


@dataclass(frozen=True)
class LanguageModelTask:
    """Lines of training and dev text as token ids, to be modelled."""

    settings: LanguageModelSettings
    vocab_size: int
    train: Rows
    sizes: npt.NDArray[np.int64]  # bytes of the training lines
    dev: Rows
    dev_bytes: int
    ends: Ends = ENDS
    start: Path | None = None  # the model whose weights are gone on from

    def model(self) -> Any:
        """A new model with random weights, or the one to go on from."""
        from transformers import AutoModelForCausalLM, GPT2Config, GPT2LMHeadModel

        if self.start is not None:
            return AutoModelForCausalLM.from_pretrained(
                self.start, local_files_only=True, trust_remote_code=False
            )
        settings = self.settings
        return GPT2LMHeadModel(
            GPT2Config(
                vocab_size=self.vocab_size,
                n_positions=settings.context,
                n_embd=settings.width,
                n_layer=settings.layers,
                n_head=settings.heads,
                activation_function="gelu_new",
                attn_pdrop=settings.dropout,
                embd_pdrop=settings.dropout,
                resid_pdrop=settings.dropout,
                bos_token_id=END,
                eos_token_id=END,
                pad_token_id=END,
            )
        )

    def batch(self, lines: npt.NDArray[np.int64]) -> dict[str, Any]:
        """What is read, and what should be said after it; long lines in several parts."""
        context = self.settings.context
        parts = []
        for line in lines:
            tokens = self.ends.around(self.train[line])
            parts += [tokens[k : k + context + 1] for k in range(0, len(tokens) - 1, context)]
        return _tensors(parts, [0] * len(parts))

    def logits(self, model: Any, batch: dict[str, Any]) -> Any:
        """What the model says at each label that counts."""
        return _logits(model, batch)

    def dev_loss(self, model: Any) -> float:
        """Nats per byte of the dev text."""
        return float(negative_log_likelihoods(model, self.dev).sum()) / self.dev_bytes


def model_config(folder: Path) -> Any:
    """The configuration of a model on disk."""
    from transformers import AutoConfig

    return AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)


def context_of(config: Any) -> int:
    """How many tokens a model reads at once."""
    return min(_LONGEST_CONTEXT, int(config.max_position_embeddings))


def windows(tokens: int, context: int, stride: int) -> Iterator[tuple[int, int, int]]:
    """How a model reads a text that is longer than what it can read at once.

    A window is (first token read, after the last one read, how many of its tokens only serve as
    context).  Every token is scored once, with at least ``context - stride`` tokens before it, or
    all that there are.

    >>> list(windows(10, 4, 2))
    [(0, 4, 0), (2, 6, 2), (4, 8, 2), (6, 10, 2)]
    """
    start = scored = 0
    while scored < tokens:
        end = min(start + context, tokens)
        yield start, end, scored - start
        scored = end
        start += stride


def negative_log_likelihoods(
    model: Any, texts: Sequence[Ids], stride: int | None = None
) -> npt.NDArray[np.float64]:
    """How improbable each text is, in nats: the sum over its tokens and its end.

    A text longer than the model's context is read through a window that moves by `stride` tokens,
    half of the context if not given.
    """
    import torch

    context = context_of(model.config)
    stride = stride or max(1, context // 2)
    ends = Ends.of(model.config)
    found = np.zeros(len(texts))
    pieces = []
    for number, text in enumerate(texts):
        tokens = ends.around(text)
        for start, end, known in windows(len(tokens) - 1, context, stride):
            pieces.append((number, tokens[start : end + 1], known))
    with torch.no_grad():
        for group in of_similar_length([len(tokens) for _, tokens, _ in pieces], _TOKENS_AT_ONCE):
            chosen = [pieces[k] for k in group]
            batch = _tensors([tokens for _, tokens, _ in chosen], [known for *_, known in chosen])
            batch = on_device(batch, model.device)
            losses = losses_of_rows(_logits(model, batch), batch["labels"])
            np.add.at(found, [number for number, _, _ in chosen], losses)
    return found


def continuations(model: Any, prompts: Sequence[Ids], length: int) -> list[list[int]]:
    """The tokens that the model finds most probable after each prompt, one by one."""
    import torch

    context, ends = context_of(model.config), Ends.of(model.config)
    found = []
    with torch.no_grad():
        for prompt in prompts:
            tokens = [ends.begin, *map(int, prompt)]
            for _ in range(length):
                read = torch.tensor([tokens[-context:]], device=model.device)
                said = model(input_ids=read, use_cache=False, logits_to_keep=1).logits
                tokens.append(int(said[0, -1].argmax()))
                if tokens[-1] == ends.end:
                    break
            found.append(tokens[1 + len(prompt) :])
    return found


def _tensors(parts: list[Ids], known: list[int]) -> dict[str, Any]:
    """Padded inputs, and labels that are negative where nothing is to be said."""
    import torch

    longest = max(len(part) for part in parts) - 1
    inputs = np.full((len(parts), longest), END, np.int64)
    labels = np.full((len(parts), longest), -100, np.int64)
    for i, (part, skip) in enumerate(zip(parts, known, strict=True)):
        inputs[i, : len(part) - 1] = part[:-1]
        labels[i, skip : len(part) - 1] = part[1 + skip :]
    return {"inputs": torch.from_numpy(inputs), "labels": torch.from_numpy(labels)}


def _logits(model: Any, batch: dict[str, Any]) -> Any:
    """What the model says where there are labels; padding comes last and is never looked at."""
    wanted = batch["labels"] >= 0
    if model.config.model_type != "gpt2":
        return model(input_ids=batch["inputs"], use_cache=False).logits[wanted]
    states = model.transformer(input_ids=batch["inputs"], use_cache=False).last_hidden_state
    return model.lm_head(states[wanted])  # of the others nothing need be said
