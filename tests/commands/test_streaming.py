"""Long texts take no more memory than short ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import pairpiece

SHORT, LONG = 30_000, 300_000
ALLOWED = 40 * 2**20

MEASURED = """
import sys
from pairpiece import commands
from pairpiece.run import memory

code = commands.main(sys.argv[2:])
with open(sys.argv[1], "w") as file:
    print(code, memory.peak_bytes(), file=file)
"""


def peak_bytes(folder: Path, *arguments: object, expected: int = 0) -> int:
    """The memory that a command has taken at most, in a process of its own."""
    command = [sys.executable, "-c", MEASURED, folder / "peak", *arguments]
    with (folder / "output").open("wb") as out, (folder / "errors").open("wb") as err:
        subprocess.run([str(word) for word in command], stdout=out, stderr=err, check=True)
    code, peak = map(int, (folder / "peak").read_text().split())
    assert code == expected, (folder / "errors").read_text()
    return peak


def growth(peaks: list[int]) -> int:
    short, long = peaks
    return long - short


@pytest.fixture(scope="module")
def model(tokenizer: pairpiece.Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    tokenizer.save(folder)
    return folder


def test_encode_and_decode_take_the_same_memory_for_any_text(model: Path, tmp_path: Path) -> None:
    encoding, decoding = [], []
    text, encoded, output = (tmp_path / name for name in ("text", "encoded", "output"))
    for size in (SHORT, LONG):
        text.write_text("".join(f"Il gatto dorme {i}.\n" for i in range(size)))
        encoding.append(peak_bytes(tmp_path, "encode", model, "-i", text, "--threads", 2))
        output.rename(encoded)
        decoding.append(peak_bytes(tmp_path, "decode", model, "-i", encoded, "--threads", 2))
        assert output.read_bytes() == text.read_bytes()
    assert growth(encoding) < ALLOWED
    assert growth(decoding) < ALLOWED


def test_reading_takes_little_memory_for_any_corpus(tmp_path: Path) -> None:
    peaks = []
    for size in (SHORT, LONG):
        corpus = tmp_path / f"{size}.tsv"
        rows = (f"Le chat dort {i}.\tIl gatto dorme {i}.\n" for i in [*range(size), 0])
        corpus.write_text("".join(rows))
        # The last pair is a duplicate: strict ends the run when all has been read.
        command = ["train", "--corpus", corpus, "-o", tmp_path / "model", "--strict", "--no-cache"]
        peaks.append(peak_bytes(tmp_path, *command, expected=1))
        assert f"{corpus}:{size + 1}" in (tmp_path / "errors").read_text()
    assert growth(peaks) < ALLOWED
