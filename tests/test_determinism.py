"""The same pairs and options give the same bytes."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from support.french_italian import PAIRS

import pairpiece

MODES = ("default", "paper", "paper-hard", "unigram")


def synthetic_pairs(count: int) -> list[tuple[list[str], str, int]]:
    """Enough random pairs for several threads to have work."""
    draw = random.Random(5)
    syllables = ["ta", "ri", "no", "se", "lu", "mi", "po", "che", "gra", "del"]
    pairs = []
    for _ in range(count):
        word = "▁" + "".join(draw.choices(syllables, k=draw.randint(1, 4)))
        source = [f"s{draw.randrange(300)}" for _ in range(draw.randrange(4))]
        pairs.append((source, word, draw.randint(1, 9)))
    return pairs


def digest(folder: Path) -> str:
    content = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        content.update(path.name.encode() + path.read_bytes())
    return content.hexdigest()


@pytest.mark.parametrize("mode", MODES)
def test_threads_and_order_leave_no_trace(mode: str, tmp_path: Path) -> None:
    pairs = synthetic_pairs(20_000)
    found = set()
    for number, threads in enumerate((1, 2, 8)):
        random.Random(number).shuffle(pairs)
        tokenizer = pairpiece.train_from_pairs(pairs, 600, mode, num_threads=threads)
        tokenizer.save(tmp_path / str(threads))
        found.add(digest(tmp_path / str(threads)))
    assert len(found) == 1


@pytest.mark.parametrize("mode", MODES)
def test_processes_and_hash_seeds_leave_no_trace(mode: str, tmp_path: Path) -> None:
    script = (
        "import sys, pairpiece\n"
        "from support.french_italian import PAIRS\n"
        "pairpiece.train_from_pairs(PAIRS, 500, sys.argv[1]).save(sys.argv[2])\n"
    )
    found = set()
    for hash_seed in ("0", "1", "4711"):
        folder = tmp_path / hash_seed
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        subprocess.run(
            [sys.executable, "-c", script, mode, str(folder)], check=True, env=environment
        )
        found.add(digest(folder))
    assert len(found) == 1


def test_batches_do_not_depend_on_threads(tokenizer: pairpiece.Tokenizer) -> None:
    texts = [word.replace("▁", " ") * 3 for _, word, _ in PAIRS] * 20
    sources = [source for source, _, _ in PAIRS] * 20
    plain = tokenizer.encode_batch(texts)
    paired = tokenizer.encode_batch(texts, sources)
    for threads in (2, 3, 8):
        assert tokenizer.encode_batch(texts, num_threads=threads) == plain
        assert tokenizer.encode_batch(texts, sources, num_threads=threads) == paired
    assert [tokenizer.encode(text) for text in texts] == plain
