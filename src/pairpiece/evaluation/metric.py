"""The contract of a metric, and how metrics are found."""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

from pairpiece import __version__
from pairpiece.evaluation import metrics
from pairpiece.evaluation.tokenized import Resample, Tokenized
from pairpiece.options import check_choice

Value: TypeAlias = "float | list[float] | None"
"""One number; one for each run of the aligner if it comes from that; None if unknown."""


class Metric(ABC):
    """A number for a tokenized text, and for every resample of its sentences.

    To add one, add a module with a subclass to ``pairpiece.evaluation.metrics``: it is found there.
    """

    name: ClassVar[str]
    place: ClassVar[int]  # in tables
    version: ClassVar[int] = 1
    better: ClassVar[str] = ""  # "lower", "higher", or neither
    digits: ClassVar[int] = 3
    of_text: ClassVar[bool] = True  # rather than of the vocabulary alone
    needs_aligner: ClassVar[bool] = False
    about: ClassVar[str]

    @abstractmethod
    def value(self, resample: Resample) -> Value:
        """What there is to say about the resample."""

    def options(self, tokenized: Tokenized) -> dict[str, Any]:  # noqa: ARG002
        """What else the number depends on, for its signature."""
        return {}

    def signature(self, tokenized: Tokenized) -> str:
        """How exactly the number came about, in one line."""
        parts = {"tokenizer": tokenized.system.digest, "data": tokenized.text.digest}
        parts |= {key: str(value) for key, value in self.options(tokenized).items()}
        described = "|".join(f"{key}:{value}" for key, value in parts.items())
        return f"{self.name}:{self.version}|{described}|pairpiece:{__version__}"


def all_metrics() -> list[Metric]:
    """One of each, in the order of tables."""
    for module in pkgutil.iter_modules(metrics.__path__):
        importlib.import_module(f"{metrics.__name__}.{module.name}")
    found: list[Metric] = [cls() for cls in _below(Metric) if "name" in vars(cls)]
    return sorted(found, key=lambda metric: metric.place)


def _below(cls: Any) -> list[Any]:
    return [one for sub in cls.__subclasses__() for one in (sub, *_below(sub))]


def chosen_metrics(names: Sequence[str] | None) -> list[Metric]:
    """Those with the given names, or all."""
    known = {metric.name: metric for metric in all_metrics()}
    if names is None:
        return list(known.values())
    for name in names:
        check_choice("metric", name, known)
    return [metric for name, metric in known.items() if name in names]
