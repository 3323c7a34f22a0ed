"""Source and target vocabularies as Marian and OPUS-MT expect them.

| file | for |
|---|---|
| ``source.spm``, ``target.spm`` | segmenting text with SentencePiece, as OPUS-MT does |
| ``vocab.source.yml``, ``vocab.target.yml`` | ``marian --vocabs``, with text that is segmented |
| ``vocab.source.spm``, ``vocab.target.spm`` | ``marian --vocabs``, with raw text |
| ``vocab.json``, ``target_vocab.json``, the configuration | ``MarianTokenizer`` of transformers |

Marian wants ``</s>`` to be 0 and ``<unk>`` to be 1, so its ids are others than the model's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from pairpiece.errors import OptionError
from pairpiece.foreign.protocol import SubwordTokenizer
from pairpiece.foreign.sentencepiece import SentencePieceTokenizer
from pairpiece.foreign.sentencepiece_format import to_sentencepiece
from pairpiece.text.options import MARKER
from pairpiece.text.protobuf import Fields, fields_of, message
from pairpiece.text.vocabulary import Unigram

_UNKNOWN, _CONTROL = 2, 3  # ModelProto.SentencePiece.Type
END, UNKNOWN, PADDING = "</s>", "<unk>", "<pad>"


def files_for(target: Unigram, source: SubwordTokenizer | None) -> dict[str, bytes]:
    """The files by name; those of the source only if its tokenizer is a SentencePiece model.

    Nor are there those for ``MarianTokenizer`` without one: it needs both sides.
    """
    models = {"target": to_sentencepiece(target)}
    if isinstance(source, SentencePieceTokenizer):
        models["source"] = source.content
    written: dict[str, bytes] = {}
    vocabularies: dict[str, dict[str, int]] = {}
    for side, model in models.items():
        pieces = _pieces(model)
        written[f"{side}.spm"] = model
        written[f"vocab.{side}.yml"] = vocabulary_file([name for name, _, _ in pieces])
        written[f"vocab.{side}.spm"] = _renumbered(model, pieces)
        vocabularies[side] = numbered([name for name, _, _ in pieces])
    if "source" in vocabularies:
        written |= _for_transformers(vocabularies["source"], vocabularies["target"])
    return written


def _for_transformers(source: dict[str, int], target: dict[str, int]) -> dict[str, bytes]:
    """What ``MarianTokenizer`` reads beside the two models; padding is the last id of each side."""
    config = {
        "tokenizer_class": "MarianTokenizer",
        "separate_vocabs": True,
        "eos_token": END,
        "unk_token": UNKNOWN,
        "pad_token": PADDING,
    }
    contents: dict[str, dict[str, Any]] = {
        "vocab.json": {**source, PADDING: len(source)},
        "target_vocab.json": {**target, PADDING: len(target)},
        "tokenizer_config.json": config,
    }
    return {
        name: (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode("utf-8")
        for name, content in contents.items()
    }


def _pieces(model: bytes) -> list[tuple[str, int, bytes]]:
    """(name, type, message) of every piece in Marian's order: end, unknown, then the others."""
    ordinary: list[tuple[str, int, bytes]] = []
    unknown = None
    for number, content in fields_of(model):
        if number != 1:
            continue
        fields = dict(fields_of(content))
        kind = fields.get(3, 1)
        entry = (fields[1].decode("utf-8"), kind, content)
        if kind == _UNKNOWN:
            unknown = entry
        elif kind != _CONTROL:
            ordinary.append(entry)
    if unknown is None:
        raise OptionError("this SentencePiece model has no unknown piece, which Marian needs")
    end = message([(1, END), (2, 0.0), (3, _CONTROL)])
    return [(END, _CONTROL, end), (UNKNOWN, _UNKNOWN, unknown[2]), *ordinary]


def numbered(names: Iterable[str]) -> dict[str, int]:
    """Names with their numbers, the end of a sentence and the unknown piece first."""
    order = dict.fromkeys([END, UNKNOWN, *(name.replace(" ", MARKER) for name in names if name)])
    return {name: i for i, name in enumerate(order)}


def vocabulary_file(names: Iterable[str]) -> bytes:
    """Names with their numbers as YAML."""
    # A JSON string is a YAML string.
    pairs = numbered(names).items()
    lines = (f"{json.dumps(name, ensure_ascii=False)}: {i}\n" for name, i in pairs)
    return "".join(lines).encode("utf-8")


def _renumbered(model: bytes, pieces: list[tuple[str, int, bytes]]) -> bytes:
    """The same SentencePiece model with other ids, and no other control pieces."""
    ids: Fields = [(40, 1), (41, -1), (42, 0), (43, -1)]  # of unknown, begin, end, padding
    ids.append((4, len(pieces)))  # vocab_size
    replaced = {number for number, _ in ids}
    out: Fields = [(1, content) for _, _, content in pieces]
    for number, content in fields_of(model):
        if number == 1:
            continue
        if number == 2:  # trainer_spec
            kept = [field for field in fields_of(content) if field[0] not in replaced]
            content = message([*kept, *ids, (47, END)])
        out.append((number, content))
    return message(out)
