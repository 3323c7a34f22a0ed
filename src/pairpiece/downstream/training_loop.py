"""The training loop, one for language models and translation.

A training that was killed goes on from its last checkpoint and ends with the same weights as one
that was not: the order of the batches and the learning rate are functions of the update, the rest
is in the checkpoint.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pairpiece.downstream import checkpoint
from pairpiece.downstream.batches import Batches
from pairpiece.downstream.settings import TrainingSettings
from pairpiece.errors import OptionError

CHECKPOINT = "checkpoint.safetensors"
BEST = "best.safetensors"
_SECONDS = 300
"""Between checkpoints, unless an evaluation brings one sooner."""


class Task(Protocol):
    """What is learned: a model, and what it should say about lines of text."""

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many bytes each training line has."""

    @property
    def start(self) -> Path | None:
        """The folder of the model whose weights are gone on from, if there is one."""

    def model(self) -> Any:
        """A new model with random weights."""

    def batch(self, lines: npt.NDArray[np.int64]) -> dict[str, Any]:
        """Tensors for some training lines; the ``labels`` that count are not negative."""

    def logits(self, model: Any, batch: dict[str, Any]) -> Any:
        """What the model says at each label that counts."""

    def dev_loss(self, model: Any) -> float:
        """Nats per byte of the dev text."""


@dataclass
class History:
    """How far a training is, and how it went."""

    updates: int = 0
    curve: list[tuple[int, float, float]] = field(default_factory=list)
    """(update, training loss per token since the last one, nats per byte of the dev text)"""
    best_update: int = 0
    best_loss: float = math.inf
    seconds: float = 0.0
    loss: float = 0.0  # of the tokens since the last evaluation
    tokens: int = 0

    def summary(self) -> dict[str, Any]:
        """What is worth keeping."""
        names = ("updates", "best_update", "seconds", "curve")
        return {name: getattr(self, name) for name in names}

    def is_over(self, settings: TrainingSettings) -> bool:
        """Whether all is done, or has not helped for long."""
        stale = sum(update > self.best_update for update, _, _ in self.curve)
        return self.updates >= settings.updates or 0 < settings.patience <= stale


class Training:
    """A model that learns, update by update."""

    def __init__(
        self, task: Task, settings: TrainingSettings, seed: int, folder: Path, device: str
    ) -> None:
        """A new model, or the one whose checkpoint is in the folder."""
        import torch

        torch.manual_seed(seed)
        self._task = task
        self._settings = settings
        self._folder = folder
        self._device = device
        self._half = settings.half_precision and device != "cpu"
        self._batches = Batches(task.sizes, settings.batch, seed)
        self._model = task.model().to(device)
        self._optimizer = torch.optim.AdamW(
            _groups(self._model, settings.weight_decay), betas=settings.betas, eps=settings.epsilon
        )
        self._scaler = torch.amp.GradScaler(device, enabled=self._half)
        self._average: dict[str, Any] = {}
        if settings.averaging:
            self._average = {k: v.detach().clone() for k, v in self._model.state_dict().items()}
        self.history = History()
        if (folder / CHECKPOINT).is_file():
            self._resume()
        elif task.start is not None:
            self._evaluate()  # how good it is before it has learned anything
        self._since = self._saved = time.monotonic()
        self._model.train()

    def update(self) -> None:
        """Learn from the next lines; evaluate and keep a checkpoint when it is time."""
        import torch

        settings, done = self._settings, self.history
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate(settings, done.updates)
        first = done.updates * settings.accumulation
        batches = [self._task.batch(self._batches[first + k]) for k in range(settings.accumulation)]
        tokens = sum(int((batch["labels"] >= 0).sum()) for batch in batches)
        for batch in batches:
            loss = self._loss(on_device(batch, self._device))
            self._scaler.scale(loss / tokens).backward()
            done.loss += float(loss.detach())
        done.tokens += tokens
        self._scaler.unscale_(self._optimizer)
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), settings.clip_norm)
        self._scaler.step(self._optimizer)
        self._scaler.update()
        self._optimizer.zero_grad(set_to_none=True)
        done.updates += 1
        self._smooth()
        evaluated = done.updates % settings.evaluate_every == 0 or done.updates == settings.updates
        if evaluated:
            self._evaluate()
        if evaluated or time.monotonic() - self._saved > _SECONDS:
            self._save()

    def best(self) -> Any:
        """The model as it was when it was best on the dev text."""
        parts, _ = checkpoint.load(self._folder / BEST)
        self._model.load_state_dict(parts["model"])
        return self._model.eval()

    def _loss(self, batch: dict[str, Any]) -> Any:
        import torch

        with torch.autocast(self._device, torch.float16, enabled=self._half):
            logits = self._task.logits(self._model, batch)
        return torch.nn.functional.cross_entropy(
            logits.float(),
            batch["labels"][batch["labels"] >= 0],
            reduction="sum",
            label_smoothing=self._settings.label_smoothing,
        )

    def _smooth(self) -> None:
        """Average the weights over updates, as Marian does: the first ones are forgotten soon."""
        part = max(self._settings.averaging, 9 / (self.history.updates + 10))
        weights = self._model.state_dict()
        for name, tensor in self._average.items():
            if tensor.is_floating_point():
                tensor.lerp_(weights[name], part)

    def _evaluate(self) -> None:
        done = self.history
        with self._averaged():
            self._model.eval()
            loss = self._task.dev_loss(self._model)
            self._model.train()
            if not math.isfinite(done.loss + loss):
                raise OptionError(
                    "the training diverges: choose a lower learning_rate, or more warmup updates",
                    ["learning_rate", "warmup"],
                )
            if loss < done.best_loss:
                done.best_loss, done.best_update = loss, done.updates
                weights = {"model": self._model.state_dict()}
                checkpoint.save(self._folder / BEST, weights, {})
        done.curve.append((done.updates, done.loss / max(1, done.tokens), loss))
        done.loss, done.tokens = 0.0, 0

    @contextlib.contextmanager
    def _averaged(self) -> Iterator[None]:
        """The model with averaged weights, if they are averaged."""
        if not self._average:
            yield
            return
        own = {name: tensor.clone() for name, tensor in self._model.state_dict().items()}
        self._model.load_state_dict(self._average)
        try:
            yield
        finally:
            self._model.load_state_dict(own)

    def _save(self) -> None:
        now = time.monotonic()
        self.history.seconds += now - self._since
        self._since = self._saved = now
        parts = {
            "model": self._model.state_dict(),
            "optimizer": checkpoint.optimizer_tensors(self._optimizer),
            "average": self._average,
            "random": checkpoint.random_tensors(),
        }
        facts = {"history": vars(self.history), "scaler": self._scaler.state_dict()}
        checkpoint.save(self._folder / CHECKPOINT, parts, facts)

    def _resume(self) -> None:
        parts, facts = checkpoint.load(self._folder / CHECKPOINT)
        self._model.load_state_dict(parts["model"])
        checkpoint.restore_optimizer(self._optimizer, parts["optimizer"])
        checkpoint.restore_random(parts["random"])
        if self._average:
            self._average = {name: t.to(self._device) for name, t in parts["average"].items()}
        self._scaler.load_state_dict(facts["scaler"])
        self.history = History(**facts["history"])
        self.history.curve = [(u, t, d) for u, t, d in self.history.curve]  # lists, in JSON


def train_model(
    task: Task,
    settings: TrainingSettings,
    seed: int,
    folder: Path,
    device: str = "cpu",
    advance: Callable[[int], object] = lambda _: None,
) -> tuple[Any, History]:
    """The trained model that was best on the dev text, and how it went."""
    training = Training(task, settings, seed, folder, device)
    while not training.history.is_over(settings):
        training.update()
        advance(training.history.updates)
    return training.best(), training.history


def learning_rate(settings: TrainingSettings, update: int) -> float:
    """What it is for an update, counted from 0."""
    if update < settings.warmup:
        return settings.learning_rate * (update + 1) / settings.warmup
    if settings.schedule == "inverse-sqrt":
        return settings.learning_rate * math.sqrt(max(1, settings.warmup) / (update + 1))
    done = (update - settings.warmup) / max(1, settings.updates - settings.warmup)
    return settings.learning_rate * (1 + math.cos(math.pi * min(1.0, done))) / 2


def on_device(batch: dict[str, Any], device: Any) -> dict[str, Any]:
    """The same tensors where a model is."""
    return {name: tensor.to(device) for name, tensor in batch.items()}


def losses_of_rows(logits: Any, labels: Any) -> npt.NDArray[np.float64]:
    """The sum of the losses of each row, given the logits of the labels that are not negative."""
    import torch

    counted = labels >= 0
    losses = torch.nn.functional.cross_entropy(logits.float(), labels[counted], reduction="none")
    sums = torch.zeros(len(labels), dtype=torch.float64, device=labels.device)
    sums.index_add_(0, counted.nonzero()[:, 0], losses.double())
    return np.asarray(sums.cpu().numpy())


def _groups(model: Any, weight_decay: float) -> list[dict[str, Any]]:
    """Matrices decay; biases and the weights of normalizations do not."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    return [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
