"""Models as files: one of JSON that is the whole target-only tokenizer, and tables beside it.

docs/format.md describes the files.  What they hold is put together before anything is written.
"""

from __future__ import annotations

import base64
import dataclasses
import errno
import hashlib
import json
import os
from os import PathLike
from pathlib import Path
from typing import Any

from safetensors.numpy import save as to_bytes

from pairpiece.errors import OptionError
from pairpiece.foreign import huggingface_files
from pairpiece.foreign.huggingface import HuggingFaceTokenizer
from pairpiece.foreign.protocol import ForeignTokenizer
from pairpiece.foreign.sentencepiece import SentencePieceTokenizer
from pairpiece.foreign.sentencepiece_format import is_exportable
from pairpiece.model.folder import MANIFEST, STAGE, TOKENIZER, Packed
from pairpiece.model.state import ModelState, StatefulTokenizer
from pairpiece.model.switching import put
from pairpiece.text import packing

FORMAT_VERSION = 3
HEAD, NECK = b'{\n"sha256": "', b'",\n'  # around the digest of all that follows

SOURCE_SUFFIX = {
    StatefulTokenizer.kind: "",  # a folder, which is a model itself
    SentencePieceTokenizer.kind: ".model",
    HuggingFaceTokenizer.kind: ".json",
}
"""Of the kinds of source tokenizer that are a part of the model."""


def packed(state: ModelState) -> Packed:
    """What the files of a model hold."""
    contents: dict[str, tuple[str, bytes | Packed]] = {}  # part → suffix and content
    table = None if state.table is None else state.table.value
    if table is not None:
        tokens, begin = packing.packed(table.source_tokens)
        named: dict[str, Any] = {"source_token_bytes": tokens, "source_token_begin": begin}
        contents["cooccurrence"] = ".safetensors", to_bytes({**table.arrays(), **named})
    if state.translations is not None:
        contents["translation"] = ".safetensors", to_bytes(state.translations.value.arrays())
    if state.bigram is not None:
        contents["bigram"] = ".safetensors", to_bytes(state.bigram.arrays())
    if state.priors is not None:
        contents["priors"] = ".gz", state.priors.value
    source = state.source_tokenizer
    if isinstance(source, StatefulTokenizer):
        alone = dataclasses.replace(source.state, source_tokenizer=None)
        contents["source"] = SOURCE_SUFFIX[source.kind], packed(alone)
    elif isinstance(source, ForeignTokenizer) and source.kind in SOURCE_SUFFIX:
        contents["source"] = SOURCE_SUFFIX[source.kind], source.content
    parts: dict[str, bytes | Packed] = {}
    described: dict[str, Any] = {}
    for name, (suffix, content) in contents.items():
        main = content.manifest if isinstance(content, Packed) else content
        digest = hashlib.sha256(main).hexdigest()
        file = f"{name}-{digest[:12]}{suffix}"
        parts[file] = content
        described[name] = {"file": file, "bytes": len(main), "sha256": digest}
    vocabulary = state.vocabulary
    manifest = {
        "format": "pairpiece",
        "version": FORMAT_VERSION,
        "text": dataclasses.asdict(state.options),
        "seed": state.seed,
        "provenance": state.provenance,
        "source_tokenizer": None if source is None else source.kind,
        "paired": None if table is None else dataclasses.asdict(table.settings),
        "parts": described,
        "pieces": vocabulary.pieces,
        "types": [int(kind) for kind in vocabulary.types],
        "scores": vocabulary.scores,
        "summation": vocabulary.summation,
        "charsmap": base64.b64encode(state.charsmap).decode("ascii"),
    }
    lines = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in manifest.items()]
    body = (",\n".join(lines) + "\n}\n").encode("utf-8")
    return Packed(HEAD + hashlib.sha256(body).hexdigest().encode("ascii") + NECK + body, parts)


def check_destination(directory: str | PathLike[str]) -> None:
    """Raise what `save` would raise at once, before there is a model, but write nothing."""
    place = Path(directory).absolute()
    while not place.exists():
        place = place.parent
    if not place.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place))
    if not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))


def check_no_other(directory: str | PathLike[str]) -> None:
    """Raise an `OptionError` if the tokenizer of another tool lies there, which would be lost."""
    folder = Path(directory)
    ours = (folder / MANIFEST).exists() or (folder / STAGE).exists()
    if (folder / TOKENIZER).exists() and not ours:
        raise OptionError(
            f"{folder}: there is a tokenizer of another tool in this folder; choose another"
        )


def save(state: ModelState, folder: Path, beside: dict[str, bytes] | None = None) -> None:
    """Write a model; one that is there already stays whole until the new one is.

    Beside it lie the files that make the directory a Hugging Face tokenizer: those that are given,
    or else the model's own, where it can have them.
    """
    if beside is None:
        beside = huggingface_files.files_for(state) if is_exportable(state) else {}
    put(packed(state), folder, beside)


def save_alone(state: ModelState, folder: Path) -> None:
    """Write a model without the files for other tools."""
    put(packed(state), folder)
