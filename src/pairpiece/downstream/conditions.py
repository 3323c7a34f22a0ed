"""The conditions of an experiment: where, how often and on what device models are trained."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairpiece.errors import OptionError
from pairpiece.evaluation.bootstrap import check_resamples
from pairpiece.options import check_whole


@dataclass(frozen=True)
class Conditions:
    """How trials are done, whatever they do."""

    output: Path
    preset: str
    seeds: Sequence[int]
    jobs: int
    threads: int
    device: str
    resamples: int

    @classmethod
    def checked(
        cls,
        output: str | os.PathLike[str],
        preset: str,
        seeds: int,
        seed: int,
        jobs: int | None,
        threads: int,
        device: str,
        resamples: int,
        extra: str,
    ) -> Conditions:
        """With sensible values for what was not said, and an error for what makes no sense.

        `extra` is what brings the libraries of the experiment.
        """
        check_whole("seed", seed, 0, 2**63)
        check_whole("seeds", seeds, 1, 1000)
        check_whole("threads", threads, 1, 1000)
        check_whole("jobs", 1 if jobs is None else jobs, 1, 1000)
        check_resamples(resamples)
        torch = installed("torch", extra)
        installed("transformers", extra)
        installed("matplotlib", extra)
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            torch.zeros(1, device=device)
        except (RuntimeError, AssertionError) as error:
            raise OptionError(f"there is no device {device!r} here: {error}") from None
        if jobs is None:
            jobs = max(1, (os.cpu_count() or 1) // threads) if device == "cpu" else 1
        return cls(
            Path(output), preset, range(seed, seed + seeds), jobs, threads, device, resamples
        )


def installed(module: str, extra: str) -> Any:
    """The module, or an `OptionError` that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise OptionError(
            f'this experiment needs {module}: pip install "pairpiece[{extra}]"'
        ) from None
