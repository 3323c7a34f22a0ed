"""Tokenizers of other tools that anybody may have written."""

from __future__ import annotations

import base64
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import tokenizers
from support import taken_over
from support.tampering import rules
from tokenizers import decoders, models, pre_tokenizers

import pairpiece
from attacks import mutation
from attacks.target import Target
from pairpiece.model.opening import open_tokenizer
from pairpiece.text.protobuf import Fields

_CONFIG = "tokenizer_config.json"


def _sentencepiece(data: bytes) -> object:
    return taken_over.works_or_refused(pairpiece.from_sentencepiece, data)


def _models() -> list[bytes]:
    settings = ("identity", "symbols and bytes", "control symbols")
    normalizers: list[Fields] = [[(2, rules({"Q": b"q", "#": b""})), (3, 0)], [(3, 1), (4, 0)]]
    small = [taken_over.small_model(normalizer=normalizer) for normalizer in normalizers]
    return [*small, *map(taken_over.trained, settings)]


def _tokenizer_json(data: bytes) -> object:
    """Both files of a tokenizer in one object of JSON, by their names."""
    try:
        files = json.loads(data)
        files = files if isinstance(files, dict) else {"tokenizer.json": files}
    except (ValueError, RecursionError):
        files = {"tokenizer.json": data}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("tokenizer.json", _CONFIG):
            if name in files:
                content = files[name]
                raw = content if isinstance(content, bytes) else json.dumps(content).encode()
                (Path(folder) / name).write_bytes(raw)
        return taken_over.works_or_refused(pairpiece.from_huggingface, folder)


def _json_files() -> list[bytes]:
    whole = json.loads(taken_over.small_json())
    config = {"bos_token": "<s>", "eos_token": {"content": "</s>"}, "unk_token": "<unk>"}
    table = base64.b64encode(rules({"Q": b"q"})).decode("ascii")
    mapped = json.loads(taken_over.small_json())
    mapped["normalizer"]["normalizers"][0] = {"type": "Precompiled", "precompiled_charsmap": table}
    exported = _exported()
    return [
        json.dumps({"tokenizer.json": content, _CONFIG: config}).encode()
        for content in (whole, mapped, exported)
    ]


def _exported() -> Any:
    """A tokenizer of ours, as it is written for others."""
    with tempfile.TemporaryDirectory() as folder:
        pairpiece.train_from_pairs([([], "▁il", 9), ([], "▁la", 9)], 270, "unigram").save(folder)
        return json.loads((Path(folder) / "tokenizer.json").read_bytes())


def _source_tokenizer(data: bytes) -> object:
    """A file of either kind as the tokenizer of the source language."""
    name = "tokenizer.json" if data.lstrip()[:1] == b"{" else "spm.model"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        source = open_tokenizer(path)
        return len(source.tokens_by_word("Le chat mange."))


def _sources() -> list[bytes]:
    made = tokenizers.Tokenizer(models.WordLevel({"le": 0, "chat": 1, "?": 2}, unk_token="?"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.decoder = decoders.WordPiece()
    return [taken_over.small_model(), made.to_str().encode(), taken_over.small_json().encode()]


def _changed_source(data: bytes, generator: random.Random) -> bytes:
    is_json = data.lstrip()[:1] == b"{"
    return (mutation.of_json if is_json else mutation.of_message)(data, generator)


TARGETS = [
    Target("sentencepiece", _sentencepiece, _models, mutation.of_message),
    Target("tokenizer_json", _tokenizer_json, _json_files, mutation.of_json),
    Target("source_tokenizer", _source_tokenizer, _sources, _changed_source),
]
