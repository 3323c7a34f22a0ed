"""A disk that refuses to write is told of in one line, and nothing half-written is left."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command_line import Training, begin_of_sample, complaint, quick, run, text
from support.faults import Fault, Faults, Server, contents

from pairpiece import files

REFUSALS = {
    errno.ENOSPC: "No space left on device: the disk is full; make room there, or write elsewhere",
    errno.EDQUOT: "Disk quota exceeded: make room there, or write elsewhere",
    errno.EFBIG: "File too large: raise the limit of the size of files (ulimit -f), or write",
    errno.EROFS: "Read-only file system: nothing can be written there; write elsewhere",
}

COMMANDS = {
    "encode": "encode MODEL -i TEXT -o OUT/ids",
    "lexicon": "export MODEL --to lexicon -o OUT/lexicon",
    "table": "export MODEL --to table -o OUT/table.npz",
    "parquet": "export MODEL --to table -o OUT/table.parquet",
    "fairseq": "export MODEL --to fairseq -o OUT/dict.txt",
    "sentencepiece": "export MODEL --to sentencepiece -o OUT/it.model",
    "hf": "export MODEL --to hf -o OUT",
    "marian": "export MODEL --to marian -o OUT",
    "report": "evaluate --target TEXT --tokenizer MODEL --report OUT/report.html --no-align -q",
    "scores": "evaluate --target TEXT --tokenizer MODEL -o OUT/scores --no-align -q",
}
"""What they write; the report and the rest of `evaluate` are separate."""

_MODULES = ("pairpiece.commands.export", "pairpiece.commands.encode", "pairpiece.commands.evaluate")
_LIBRARIES = ("pyarrow.parquet", "matplotlib.pyplot", "jinja2", "sentencepiece")


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Faults:
    return Faults(tmp_path_factory.mktemp("below"), tmp_path_factory.mktemp("own"))


@pytest.fixture(scope="module")
def server(faults: Faults, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    said = tmp_path_factory.mktemp("said") / "said"
    with Server(faults, said, *_MODULES, *_LIBRARIES, OMP_NUM_THREADS="1") as server:
        yield server


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_refused_is_told_and_what_was_there_stays(
    command: str, trained: Training, faults: Faults, server: Server, tmp_path: Path
) -> None:
    out = faults.root / command
    out.mkdir()
    lines = tmp_path / "text"
    lines.write_text(text(*(target for _, target in begin_of_sample(20))), encoding="utf-8")
    places = {"MODEL": trained.model, "TEXT": lines}
    arguments = [str(places.get(word, word)) for word in COMMANDS[command].split()]
    arguments = [word.replace("OUT", str(out)) for word in arguments]
    faults.plan(None)
    assert server.run(*arguments).code == 0
    calls = [call for call in faults.calls() if call.name in ("open", "write", "fsync", "rename")]
    assert {call.name for call in calls} == {"open", "write", "fsync", "rename"}
    written = contents(out)
    first_rename = next(call.number for call in calls if call.name == "rename")
    for name in written:
        (out / name).write_bytes(b"of earlier")
    before = contents(out)
    for i, call in enumerate(calls):
        if call.number > first_rename:
            break
        number = list(REFUSALS)[i % len(REFUSALS)]
        faults.plan(Fault(call.number, number, half=True))
        code, said = server.run(*arguments)
        place = f"{call}: {said}"
        assert code == 1, place
        assert said.startswith(f"pairpiece: {out}"), place
        assert REFUSALS[number] in said, place
        assert said.count("\n") == 1, place
        assert contents(out) == before, place
    faults.plan(None)
    assert server.run(*arguments).code == 0
    assert contents(out) == written


def test_a_model_that_has_no_room_leaves_the_old_one(
    trained: Training, faults: Faults, server: Server
) -> None:
    model, cache = faults.root / "model", faults.root / "cache"
    command = [*quick(trained, model, "--work-dir", cache), "-q"]
    assert server.run(*command) == (0, "")
    before = contents(model)
    faults.plan(None)
    assert server.run(*command) == (0, "")
    opened = [call for call in faults.calls() if call.name == "open"]
    calls = [call for call in opened if model in call.path.parents][-len(REFUSALS) :]
    for call, (number, advice) in zip(calls, REFUSALS.items(), strict=True):
        shutil.rmtree(model)
        for again in (False, True):  # there is no model yet, and then there is one
            faults.plan(Fault(call.number, number))
            code, said = server.run(*command)
            assert code == 1
            assert said.startswith(f"pairpiece: {model}")
            assert advice in said
            assert contents(model) == (before if again else {})
            faults.plan(None)
            assert server.run(*command) == (0, "")
            assert contents(model) == before


# ---------------------------------------------------------------------- limits of the system


def limited(size: int) -> dict[str, object]:
    """For processes that may write files of so many bytes; signals are as a shell leaves them."""
    resource = pytest.importorskip("resource")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return {"preexec_fn": limit}


def test_files_may_not_be_too_large(trained: Training, tmp_path: Path) -> None:
    model, cache = tmp_path / "model", tmp_path / "cache"
    command = quick(trained, model)
    assert run(*command, "-q", cache=cache).code == 0
    largest = max(map(len, contents(model).values()))
    shutil.rmtree(model)
    shutil.copytree(trained.model, model)
    before = contents(model)
    for size, work, place in ((1000, "other", "read-"), (largest - 1, "cache", str(model))):
        ended = run(*command, "-q", cache=tmp_path / work, **limited(size))
        said = complaint(ended)
        assert place in said
        assert REFUSALS[errno.EFBIG] in said
        assert contents(model) == before
    out = tmp_path / "ids"
    ended = run("encode", model, "-i", trained.target, "-o", out, cache=cache, **limited(1000))
    assert complaint(ended).startswith(f"{out}: {REFUSALS[errno.EFBIG]}")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith((".ids", "ids"))]


def test_the_aligner_may_not_write_too_much(trained: Training, tmp_path: Path) -> None:
    """It is killed by a signal, or goes on without a word, where Python is told."""
    command = ["train", *trained.text, "--output", tmp_path / "model", "--vocab-size", 600, "-q"]
    with_links = contents(trained.cache)
    links = min(len(content) for name, content in with_links.items() if name.endswith(".links"))
    cache = tmp_path / "cache"
    cache.mkdir()
    for path in trained.cache.iterdir():
        if path.name.startswith(("read-", "source-", "words-")):
            (cache / path.name).symlink_to(path)
    for size in (100, links - 1):
        ended = run(*command, cache=cache, **limited(size))
        said = complaint(ended)
        assert str(cache / ".align-") in said
        assert "File too large" in said or "enough room" in said
        assert not list(cache.glob("align-*"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_standard_output_that_is_full_is_told_of(trained: Training, tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        arguments = ["encode", trained.model, "-i", trained.target]
        ended = run(*arguments, cache=tmp_path, stdout=full)
    assert ended.code == 1
    assert ended.err == f"pairpiece: standard output: {REFUSALS[errno.ENOSPC]}\n"


def test_an_error_of_python_names_the_path_too(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=f"'{tmp_path / 'out'}'"), files.replacing(tmp_path / "out"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "out"))
    assert list(tmp_path.iterdir()) == []


def test_devices_are_written_to_and_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(os.devnull)
    files.write_all({tmp_path / "link": b"gone", tmp_path / "file": b"kept"})
    assert (tmp_path / "link").readlink() == Path(os.devnull)
    assert (tmp_path / "file").read_bytes() == b"kept"
    assert not Path(os.devnull).is_file()


def test_libraries_that_tell_of_it_in_their_own_way_are_understood(tmp_path: Path) -> None:
    with (
        pytest.raises(OSError, match="No space left on device") as told,
        files.naming(tmp_path),
    ):
        raise RuntimeError("I/O error: No space left on device (os error 28)")
    assert (told.value.errno, told.value.filename) == (errno.ENOSPC, str(tmp_path))
    with pytest.raises(RuntimeError, match="of another kind"), files.naming(tmp_path):
        raise RuntimeError("of another kind")
