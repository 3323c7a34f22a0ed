"""Models that anybody may have written: manifests and tables whose digests are right."""

from __future__ import annotations

import base64
import copy
import json
import random

from safetensors.numpy import save
from support import tampering

from attacks import mutation
from attacks.target import Target

_TABLES = ("cooccurrence", "translation", "bigram")


def _manifest(data: bytes) -> object:
    with tampering.fresh_model() as folder:
        tampering.write_body(folder, data[1:])
        return tampering.works_or_refused(folder)


def _manifests() -> list[bytes]:
    whole = tampering.pristine()[0]
    alone = copy.deepcopy(whole)
    alone |= {"paired": None, "source_tokenizer": None, "parts": {}}
    first = copy.deepcopy(alone)
    del first["text"]["remove_extra_spaces"], first["text"]["control_symbols"], first["summation"]
    first |= {"version": 1, "scores": [round(score * 256) for score in alone["scores"]]}
    table = tampering.rules({"Q": b"q", "#": b"", "%": b"  "})
    mapped = copy.deepcopy(alone)
    mapped["charsmap"] = base64.b64encode(table).decode("ascii")
    mapped["text"] |= {"normalization": "imported", "add_dummy_prefix": True}
    return [json.dumps(manifest).encode() for manifest in (whole, alone, first, mapped)]


def _table(data: bytes) -> object:
    name = _TABLES[data[0] % 3] if data else _TABLES[0]
    with tampering.fresh_model() as folder:
        tampering.write_part(folder, name, data[1:])
        return name, tampering.works_or_refused(folder)


def _tables() -> list[bytes]:
    arrays = tampering.pristine()[1]
    return [bytes([number]) + save(arrays[name]) for number, name in enumerate(_TABLES)]


def _changed_table(data: bytes, generator: random.Random) -> bytes:
    return data[:1] + mutation.of_table(data[1:], generator)


TARGETS = [
    Target("manifest", _manifest, _manifests, mutation.of_json),
    Target("tables", _table, _tables, _changed_table),
]
