"""``config.json`` and ``generation_config.json``: the size of the vocabulary, and ids in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_LISTS = ("bad_words_ids", "suppress_tokens", "begin_suppress_tokens", "forced_decoder_ids")
_ID_ENDINGS = ("_token_id", "_token_ids", "_token_index")
_IMAGES = re.compile("image|video|audio|vision|boi|eoi|boa|eoa")


def renumbered(settings: dict[str, Any], new_id: Mapping[int, int]) -> dict[str, Any]:
    """Settings with the ids of tokens replaced; of those that are no more, the setting goes.

    What stands for an image may not be missing: if there is no such token, no token is it.

    >>> renumbered({"eos_token_id": [2, 7], "pad_token_id": 5, "n": 2}, {2: 10, 7: 11})
    {'eos_token_id': [10, 11], 'pad_token_id': None, 'n': 2}
    >>> renumbered({"image_token_index": 32000}, {})
    {'image_token_index': -1}
    """
    found: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            found[key] = renumbered(value, new_id)
        elif key.endswith(_ID_ENDINGS) or key in _LISTS:
            found[key] = _mapped(value, new_id)
            if found[key] is None and value is not None and _IMAGES.match(key):
                found[key] = -1
        else:
            found[key] = value
    return found


def _mapped(value: Any, new_id: Mapping[int, int]) -> Any:
    if isinstance(value, list):
        kept = [_mapped(item, new_id) for item in value]
        return [item for item in kept if item is not None and item != []] or None
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return new_id.get(value)
    return value


def resized(settings: dict[str, Any], names: list[str], size: int) -> dict[str, Any]:
    """Settings with another number of tokens, wherever it is told."""
    part = settings.get("text_config")
    if isinstance(part, dict):
        settings = {**settings, "text_config": resized(part, names, size)}
        names = [name for name in names if name in settings]
    return {**settings, **dict.fromkeys(names, size)}
