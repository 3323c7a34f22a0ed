"""Special tokens of one Hugging Face tokenizer, with their roles and templates, for another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ROLE_KEYS = [f"{role}_token" for role in ("bos", "eos", "pad", "cls", "sep", "mask")]


def add_special_tokens(
    ours: dict[str, Any],
    config: dict[str, Any],
    theirs: dict[str, Any],
    their_config: dict[str, Any],
) -> None:
    """Merge what ``tokenizer.json`` and ``tokenizer_config.json`` of `theirs` say into ours.

    New tokens get ids after those there are; a piece that is there already keeps its id.  Raises
    `KeyError`, `TypeError` or `AttributeError` if `theirs` are no such files.
    """
    known = {token["content"] for token in ours["added_tokens"]}
    number_of = {piece: i for i, (piece, _) in enumerate(ours["model"]["vocab"])}
    template = str(their_config.get("chat_template") or "")
    for token in sorted(theirs.get("added_tokens") or [], key=lambda token: token["id"]):
        content = token["content"]
        if not isinstance(content, str) or content == "":
            raise TypeError
        wanted = token["special"] or (content.strip() and content in template)
        if wanted and content not in known:
            number = number_of.setdefault(content, len(number_of))
            special = bool(token["special"])
            ours["added_tokens"].append(added_token(number, content, special=special, like=token))
            known.add(content)
    for key in ROLE_KEYS:
        if token_text(their_config.get(key)) in known:
            config[key] = token_text(their_config[key])
    more = [token for token in map(token_text, _extra_tokens(their_config)) if token in known]
    if more:
        config["additional_special_tokens"] = more
    if template:
        config["chat_template"] = their_config["chat_template"]
    ours["added_tokens"].sort(key=lambda token: token["id"])
    number_of |= {token["content"]: token["id"] for token in ours["added_tokens"]}
    ours["post_processor"] = _renumbered(theirs.get("post_processor"), number_of.__getitem__)


def _extra_tokens(config: dict[str, Any]) -> list[Any]:
    """Special tokens without a role, under the name that older or newer versions have for them."""
    found: list[Any] = []
    for key in ("additional_special_tokens", "extra_special_tokens"):
        tokens = config.get(key) or []
        found += tokens.values() if isinstance(tokens, dict) else tokens
    return found


def added_token(
    number: int, content: str, *, special: bool, like: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A token as ``tokenizer.json`` describes it."""
    flags = {name: bool((like or {}).get(name)) for name in ("single_word", "lstrip", "rstrip")}
    return {
        "id": number,
        "content": content,
        **flags,
        "normalized": False,
        "special": special,
    }


def token_text(token: Any) -> str | None:
    """The text of a token in ``tokenizer_config.json``, where it may come with settings."""
    text: str | None = token["content"] if isinstance(token, dict) else token
    return text


def _renumbered(template: Any, number: Callable[[str], int]) -> dict[str, Any] | None:
    """What is put around texts, with new ids; steps that only trim offsets are left out."""
    if template is None or template["type"] == "ByteLevel":
        return None
    if template["type"] == "Sequence":
        steps = [step for step in (_renumbered(t, number) for t in template["processors"]) if step]
        return {**template, "processors": steps} if len(steps) > 1 else next(iter(steps), None)
    if template["type"] == "TemplateProcessing":
        special = {
            name: {**token, "ids": [number(text) for text in token["tokens"]]}
            for name, token in template["special_tokens"].items()
        }
        return {**template, "special_tokens": special}
    first, last = template["cls"][0], template["sep"][0]  # of BERT, or of RoBERTa
    is_bert = template["type"] == "BertProcessing"
    single = [_special(first, 0), _sequence("A", 0), _special(last, 0)]
    second = int(is_bert)
    between = [] if is_bert else [_special(last, 0)]
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, *between, _sequence("B", second), _special(last, second)],
        "special_tokens": {
            name: {"id": name, "ids": [number(name)], "tokens": [name]} for name in (first, last)
        },
    }


def _special(name: str, type_id: int) -> dict[str, Any]:
    return {"SpecialToken": {"id": name, "type_id": type_id}}


def _sequence(name: str, type_id: int) -> dict[str, Any]:
    return {"Sequence": {"id": name, "type_id": type_id}}
