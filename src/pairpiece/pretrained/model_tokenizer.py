"""The tokenizer of a pretrained model: its ids, its special tokens and what they are for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pairpiece.errors import ModelFormatError, OptionError
from pairpiece.foreign.byte_level import byte_alphabet, readable_bytes
from pairpiece.foreign.regular_expressions import check_expressions
from pairpiece.model.opening import file_content

ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")

_NEAREST = {
    "bos": ("bos", "cls", "eos", "sep"),
    "eos": ("eos", "sep", "bos", "cls"),
    "pad": ("pad", "eos", "sep", "bos", "cls"),
    "unk": ("unk",),
}
"""Which roles can stand in for one that the model does not have, the nearest first."""


@dataclass(frozen=True)
class ModelTokenizer:
    """What is known of a tokenizer of the transformers library."""

    name: str
    ids: Mapping[str, int]  # of all tokens
    content: dict[str, Any]  # special tokens and templates, as ``tokenizer.json`` has them
    config: dict[str, Any]  # roles and chat template, as ``tokenizer_config.json`` has them
    save: Callable[[Path], object]  # writes its files to a folder

    @classmethod
    def open(cls, given: Any) -> ModelTokenizer:
        """The tokenizer that lies in a folder, or one that has been loaded."""
        if isinstance(given, str | Path):
            given = _loaded(Path(given))
        try:
            return cls._of(given)
        except AttributeError:
            raise OptionError(f"{given!r} is not a tokenizer of transformers") from None

    @classmethod
    def _of(cls, tokenizer: Any) -> ModelTokenizer:
        backend = getattr(tokenizer, "backend_tokenizer", None)
        added = [
            {"id": number, "content": str(token), "special": bool(token.special)}
            | {flag: bool(getattr(token, flag)) for flag in ("single_word", "lstrip", "rstrip")}
            for number, token in tokenizer.added_tokens_decoder.items()
        ]
        config: dict[str, Any] = {
            f"{role}_token": _text(getattr(tokenizer, f"{role}_token")) for role in ROLES
        }
        special = set(tokenizer.all_special_tokens)
        for token in added:
            token["special"] = token["special"] or token["content"] in special
        others = sorted(special - set(config.values()))
        if others:
            config["additional_special_tokens"] = others
        config["chat_template"] = getattr(tokenizer, "chat_template", None)
        return cls(
            str(tokenizer.name_or_path),
            tokenizer.get_vocab(),
            {"added_tokens": added, "post_processor": _template(tokenizer, backend)},
            {key: value for key, value in config.items() if value is not None},
            tokenizer.save_pretrained,
        )

    @cached_property
    def is_byte_level(self) -> bool:
        """Whether tokens spell bytes in the alphabet of GPT-2."""
        return set(byte_alphabet()) <= set(self.ids)

    def readable(self, token: str) -> str:
        """A token as people, and pieces, are written."""
        return readable_bytes(token) if self.is_byte_level else token

    def role(self, role: str) -> int | None:
        """The id of the token that has a role, or the nearest to it."""
        for near in _NEAREST[role]:
            if (token := self.config.get(f"{near}_token")) is not None:
                return self.ids[token]
        return None

    @cached_property
    def special_ids(self) -> dict[int, str]:
        """Special tokens by id, and others that the chat template is written with."""
        template = str(self.config.get("chat_template") or "")
        found = {
            token["id"]: token["content"]
            for token in self.content["added_tokens"]
            if token["special"] or (token["content"].strip() and token["content"] in template)
        }
        named = [self.config.get(f"{role}_token") for role in ROLES]
        return found | {self.ids[token]: token for token in named if token is not None}


_FILES = ("tokenizer*.json", "vocab*", "*.model", "*.spm")


def _loaded(path: Path) -> Any:
    try:
        from transformers import AutoTokenizer
    except ImportError:
        raise OptionError(
            'this needs transformers: pip install "pairpiece[transformers]"'
        ) from None
    if not path.is_dir():
        raise OptionError(f"{path}: there is no such folder; a model is one that lies on disk")
    if not any(found for pattern in _FILES for found in path.glob(pattern)):
        raise OptionError(f"{path}: there is no tokenizer in this folder")
    if (file := path / "tokenizer.json").is_file():
        check_expressions(file_content(file), str(file))
    try:
        return AutoTokenizer.from_pretrained(
            str(path), local_files_only=True, trust_remote_code=False
        )
    except Exception as error:  # whatever transformers meets in files of others
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelFormatError(f"{path}: its tokenizer cannot be loaded: {reason}") from None


def _text(token: Any) -> str | None:
    return None if token is None else str(token)


def _template(tokenizer: Any, backend: Any) -> dict[str, Any] | None:
    """What the tokenizer puts around text, as a post-processor of the tokenizers library."""
    if backend is not None:
        found: dict[str, Any] | None = json.loads(backend.to_str())["post_processor"]
        return found
    around = tokenizer.build_inputs_with_special_tokens([])
    names = tokenizer.convert_ids_to_tokens(around)
    ends = [{"SpecialToken": {"id": name, "type_id": 0}} for name in names]
    if not ends:
        return None
    first = ends[:-1]  # what stands alone ends the text
    text = [{"Sequence": {"id": name, "type_id": 0}} for name in "AB"]
    return {
        "type": "TemplateProcessing",
        "single": [*first, text[0], ends[-1]],
        "pair": [*first, *text, ends[-1]],
        "special_tokens": {
            name: {"id": name, "ids": [number], "tokens": [name]}
            for name, number in zip(names, around, strict=True)
        },
    }
