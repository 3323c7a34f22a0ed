"""Models to tamper with, and what must happen when they are used."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
import shutil
import signal
import struct
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file
from safetensors.numpy import save as to_safetensors

import pairpiece
from pairpiece.model import saving
from pairpiece.text.normalization import charsmap
from support.french_italian import PAIRS, TARGETS

Manifest = dict[str, Any]
Arrays = dict[str, np.ndarray]
Change = Callable[[Manifest], object]

TEXTS = ["Il gatto mangia il topo.", "<sep>Ωﬁ e\u0301\ud800 ▁x", "aaa ab\tà\n", "", "abab" * 9]
SOURCES = [["▁le", "▁chat"], ["▁sou", "ris", "▁nie"], [], ["▁mang", "e"], ["▁la"] * 9]
REFUSED = pytest.raises(pairpiece.ModelFormatError)
ODD_VALUES: list[Any] = [
    None, True, False, 3, -1, 1.5, math.nan, math.inf, -math.inf, 10**400, -(10**400), 2**63,
    "", "x", "\ud800", [], [[]], [None], {}, {"x": 1},
]  # fmt: skip
"""What may stand anywhere in a file of JSON."""


def big_charsmap() -> bytes:
    return charsmap("nfkc")


def rules(replacements: dict[str, bytes], units: dict[int, int] | None = None) -> bytes:
    """A charsmap of single-ASCII-character rules, laid out by hand; `units` overrides cells."""
    cells = [0] * 1024
    cells[0] = 512 << 10  # children of the root lie at 512 ^ byte
    text = b""
    for character, replacement in replacements.items():
        at = 512 ^ ord(character)
        cells[at] = ord(character) | 1 << 8 | (at ^ (128 + ord(character))) << 10
        cells[128 + ord(character)] = 1 << 31 | len(text)
        text += replacement + b"\0"
    for place, unit in (units or {}).items():
        cells[place] = unit
    trie = struct.pack(f"<{len(cells)}I", *cells)
    return struct.pack("<I", len(trie)) + trie + text


# ---------------------------------------------------------------------- making models


@functools.cache
def trained() -> pairpiece.Tokenizer:
    source = pairpiece.train_from_pairs(
        [([], "".join(source), count) for source, _, count in PAIRS if source],
        340,
        "unigram",
        normalization="none",
    )
    tokenizer = pairpiece.train_from_pairs(
        PAIRS,
        400,
        normalization="none",
        user_defined_symbols=("<sep>",),
        source_tokenizer=source,
    )
    return tokenizer.distill_bigram(TARGETS)


@functools.cache
def pristine() -> tuple[Manifest, dict[str, Arrays]]:
    """The manifest of a model, and the arrays of its tables."""
    folder = Path(saved().name)
    manifest = manifest_of(folder)
    names = ("cooccurrence", "translation", "bigram")
    return manifest, {name: load_file(folder / manifest["parts"][name]["file"]) for name in names}


def manifest_of(folder: Path) -> Manifest:
    manifest = json.loads((folder / "pairpiece.json").read_bytes())
    del manifest["sha256"]
    return manifest


def write_body(folder: Path, body: bytes) -> None:
    """A manifest whose digest is right, whatever it says; `body` lacks the opening brace."""
    digest = hashlib.sha256(body).hexdigest().encode()
    (folder / "pairpiece.json").write_bytes(saving.HEAD + digest + saving.NECK + body)


def write_manifest(folder: Path, manifest: Any) -> None:
    write_body(folder, json.dumps(manifest).encode()[1:])


def write_part(folder: Path, name: str, content: bytes | Arrays) -> None:
    """Put other content into a table, and its size and digest into the manifest."""
    content = content if isinstance(content, bytes) else to_safetensors(content)
    digest = hashlib.sha256(content).hexdigest()
    file = f"{name}-{digest[:12]}.safetensors"
    (folder / file).write_bytes(content)
    manifest = manifest_of(folder)
    manifest["parts"][name] = {"file": file, "bytes": len(content), "sha256": digest}
    write_manifest(folder, manifest)


@functools.cache
def saved() -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory()
    trained().save(folder.name)
    return folder


@contextlib.contextmanager
def fresh_model() -> Iterator[Path]:
    """For tests by hypothesis, which cannot have a new directory for each example."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(shutil.copytree(saved().name, Path(folder) / "model"))


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    """Fail rather than hang (where Python code or a system call hangs)."""

    def stop(_: int, __: FrameType | None) -> None:
        pytest.fail(f"still busy after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# ---------------------------------------------------------------------- using models


def use_plain(tokenizer: pairpiece.Tokenizer) -> None:
    size = len(tokenizer)
    for text in TEXTS:
        encoding = tokenizer.encode(text, out_type=pairpiece.Encoding)
        assert encoding.ids == tokenizer.encode(text)
        assert all(0 <= i < size for i in encoding.ids)
        assert all(0 <= a <= b <= len(text) for a, b in encoding.offsets)
        assert math.isfinite(encoding.log_prob)
        assert tokenizer.decode(encoding.ids) == tokenizer.normalize(text)
        assert tokenizer.nbest(text, 3)[0] == encoding.ids
        assert tokenizer.decode(tokenizer.sample(text)) == tokenizer.normalize(text)
        if tokenizer.has_bigram:
            ids = tokenizer.encode(text, model="bigram")
            assert tokenizer.decode(ids) == tokenizer.normalize(text)


def use_paired(tokenizer: pairpiece.Tokenizer) -> None:
    for text, source in zip(TEXTS, SOURCES, strict=True):
        for whole in (False, True):
            encoding = tokenizer.encode(
                text, source=source, whole_sentence=whole, out_type=pairpiece.Encoding
            )
            assert tokenizer.decode(encoding.ids) == tokenizer.normalize(text)
            assert math.isfinite(encoding.log_prob)
            for ids in tokenizer.nbest(text, 3, source=source, whole_sentence=whole):
                assert tokenizer.decode(ids) == tokenizer.normalize(text)
            sampled = tokenizer.sample(text, source=source, whole_sentence=whole)
            assert tokenizer.decode(sampled) == tokenizer.normalize(text)
        alignment = tokenizer.align(source, text)
        assert all(math.isfinite(score) for score in alignment.scores)
    tokenizer.lexicon()
    weights = tokenizer.source_weights()
    assert all(0 < weight <= 1 for weight in weights.weights)
    assert len(weights.row(len(tokenizer) - 1)) <= 10
    if tokenizer.source_tokenizer is not None:
        tokenizer.encode("Il gatto", source="Le chat")


def refused(folder: Path) -> str:
    """Loading must fail; the message names a file of the model."""
    with pytest.raises(pairpiece.ModelFormatError) as caught:
        pairpiece.load(folder)
    assert str(folder) in str(caught.value)
    return str(caught.value)


def refused_when_paired(folder: Path) -> None:
    """Target-only use works; all use of the table fails, also the second time."""
    tokenizer = pairpiece.load(folder)
    assert tokenizer.decode(tokenizer.encode("Il gatto")) == "Il gatto"
    for _ in range(2):
        with pytest.raises(pairpiece.ModelFormatError) as caught:
            tokenizer.encode("Il gatto", source=["▁le", "▁chat"])
        assert str(folder) in str(caught.value)
    with REFUSED:
        tokenizer.lexicon()


def works_or_refused(folder: Path) -> bool:
    """A model may be odd, but then it works, is saved and comes back; True if it loads."""
    try:
        tokenizer = pairpiece.load(folder)
        use_plain(tokenizer)
    except pairpiece.ModelFormatError:
        return False
    if tokenizer.is_paired:
        try:
            use_paired(tokenizer)
        except pairpiece.ModelFormatError:
            return True
    again = folder.parent / "again"
    tokenizer.save(again)
    assert pairpiece.load(again).encode_batch(TEXTS) == tokenizer.encode_batch(TEXTS)
    shutil.rmtree(again)
    return True


def refused_with(folder: Path, part: str) -> None:
    """What is read late is refused when it is used, and the rest works."""
    if part == "cooccurrence":
        refused_when_paired(folder)
    elif part == "translation":
        tokenizer = pairpiece.load(folder)
        tokenizer.lexicon()
        for _ in range(2):
            with pytest.raises(pairpiece.ModelFormatError) as caught:
                tokenizer.source_weights()
            assert str(folder) in str(caught.value)
    else:
        refused(folder)


def parts(folder: Path) -> dict[str, Path]:
    [source] = folder.glob("source-*")
    return {
        "manifest": folder / "pairpiece.json",
        "cooccurrence": next(folder.glob("cooccurrence-*")),
        "translation": next(folder.glob("translation-*")),
        "bigram": next(folder.glob("bigram-*")),
        "source": source / "pairpiece.json",
    }


def at(*path: Any) -> Callable[[Any], Change]:
    """A change of what lies at a path to a value."""

    def to(value: Any) -> Change:
        def change(manifest: Manifest) -> None:
            place: Any = manifest
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = value

        return change

    return to
