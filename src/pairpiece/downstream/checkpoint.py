"""The checkpoint of a training: weights, optimizer, random numbers and history in one file.

The file is of the safetensors format, which cannot run code, and is replaced in one step.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import safetensors

from pairpiece import files
from pairpiece.errors import CorpusError


def save(path: Path, parts: dict[str, dict[str, Any]], facts: dict[str, Any]) -> None:
    """Write named groups of tensors, and facts."""
    from safetensors.torch import save as to_bytes

    tensors = {
        f"{group}.{name}": tensor.detach().contiguous().clone()
        for group, named in parts.items()
        for name, tensor in named.items()
    }
    files.write(path, to_bytes(tensors, {"facts": json.dumps(facts)}))


def load(path: Path) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Read what `save` has written."""
    parts: dict[str, dict[str, Any]] = {}
    try:
        with safetensors.safe_open(path, "pt") as file:
            for name in file.keys():  # noqa: SIM118
                group, _, rest = name.partition(".")
                parts.setdefault(group, {})[rest] = file.get_tensor(name)
            facts = json.loads(file.metadata()["facts"])
    except (safetensors.SafetensorError, KeyError, TypeError, ValueError) as error:
        raise CorpusError(f"{path}: damaged ({error}): delete it and start again") from None
    return parts, facts


def random_tensors() -> dict[str, Any]:
    """The state of the random numbers."""
    import torch

    states = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        states["cuda"] = torch.cuda.get_rng_state()
    return states


def restore_random(tensors: dict[str, Any]) -> None:
    """Go on with the random numbers of another time."""
    import torch

    torch.set_rng_state(tensors["cpu"])
    if torch.cuda.is_available() and "cuda" in tensors:
        torch.cuda.set_rng_state(tensors["cuda"])


def optimizer_tensors(optimizer: Any) -> dict[str, Any]:
    """What an optimizer remembers of each parameter."""
    return {
        f"{number}.{name}": tensor
        for number, state in optimizer.state_dict()["state"].items()
        for name, tensor in state.items()
    }


def restore_optimizer(optimizer: Any, tensors: dict[str, Any]) -> None:
    """Give an optimizer what another one remembered."""
    state: dict[int, dict[str, Any]] = {}
    for key, tensor in tensors.items():
        number, _, name = key.partition(".")
        state.setdefault(int(number), {})[name] = tensor
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})
