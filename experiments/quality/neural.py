"""Bits per byte of text under a small neural language model, trained in less than a minute.

A GPT-2 of 2 layers of 64, which reads every tokenizer's text in the same batches, made by bytes:
the same lines in the same order, however many tokens they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from pairpiece.downstream.language_model import LanguageModelTask, negative_log_likelihoods
from pairpiece.downstream.rows import Rows
from pairpiece.downstream.settings import language_model_settings
from pairpiece.downstream.training_loop import learning_rate

BATCH_BYTES = 500
TRAIN_BYTES = 1_000_000
"""Seen in all; of a smaller text, lines that come again included."""

LEARNING_RATE = 1.5e-3

_POOL = 50  # batches whose lines are sorted by length together

Tokens = Sequence[Sequence[int]]


def bits_per_byte(
    train: Tokens,
    lines: Sequence[str],
    tests: Sequence[tuple[Tokens, Sequence[str]]],
    vocabulary: int,
    seed: int,
    train_bytes: int = TRAIN_BYTES,
) -> list[float]:
    """Of each text in `tests`, after learning from `lines` tokenized as `train`; ends included."""
    sizes = np.array([len(line.encode()) + 1 for line in lines], np.int64)
    batches = _batches(sizes, train_bytes, seed)
    settings = language_model_settings(
        "tiny",
        width=64,
        heads=2,
        examples=len(batches),
        batch=1,
        learning_rate=LEARNING_RATE,
        warmup=len(batches) // 20 + 1,
    )
    rows = Rows.of(train)
    task = LanguageModelTask(settings, vocabulary, rows, sizes, rows, 1)
    torch.manual_seed(seed)
    model = task.model()
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
    model.train()
    for number, batch in enumerate(batches):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(settings, number)
        tensors = task.batch(batch)
        logits = task.logits(model, tensors)
        labels = tensors["labels"][tensors["labels"] >= 0]
        loss = torch.nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip_norm)
        optimizer.step()
    model.eval()
    found = []
    for tokens, text in tests:
        nats = negative_log_likelihoods(model, Rows.of(tokens)).sum()
        found.append(float(nats) / math.log(2) / sum(len(line.encode()) + 1 for line in text))
    return found


def _batches(
    sizes: np.ndarray[tuple[int], np.dtype[np.int64]], total: int, seed: int
) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Line numbers by batch; lines of about the same length share one."""
    random = np.random.default_rng(seed)
    batches: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    seen = 0
    while seen < total:
        order = random.permutation(len(sizes))
        pools = np.cumsum(sizes[order]) // (_POOL * BATCH_BYTES)
        epoch = []
        for pool in np.split(order, np.flatnonzero(np.diff(pools)) + 1):
            pool = pool[np.argsort(sizes[pool], kind="stable")]
            cuts = np.flatnonzero(np.diff(np.cumsum(sizes[pool]) // BATCH_BYTES)) + 1
            epoch += np.split(pool, cuts)
        for number in random.permutation(len(epoch)):
            if seen >= total:
                break
            batches.append(epoch[number])
            seen += int(sizes[epoch[number]].sum())
    return batches
