"""Several processes save to one folder and load from it, and some are killed."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.french_italian import PAIRS, SENTENCES, TARGETS
from support.partner import go_on, process, said

import pairpiece
from pairpiece import locks
from pairpiece.foreign.huggingface_files import FILES
from pairpiece.model import parts, switching
from pairpiece.model.folder import LOCK, MANIFEST, STAGE

SOURCE = SENTENCES[0][0]

Model = tuple[Path, list[int], list[int]]
"""Where it is saved, and what it makes of a text, alone and with a source."""


def encoded(tokenizer: pairpiece.Tokenizer) -> tuple[list[int], list[int]]:
    return tokenizer.encode(TARGETS[0]), tokenizer.encode(TARGETS[0], source=SOURCE)


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two models that share no file."""
    folder = tmp_path_factory.mktemp("models")
    for name, size in (("a", 330), ("b", 300)):
        words = [(["x"], "".join(source), count) for source, _, count in PAIRS if source]
        source = pairpiece.train_from_pairs(words, 290 + size // 10, "unigram")
        trained = pairpiece.train_from_pairs(PAIRS, size, source_tokenizer=source)
        trained.distill_bigram(TARGETS).save(folder / name)
    a, b = (contents(folder / name) for name in ("a", "b"))
    assert {name for name in a if a[name] == b.get(name)} <= {FILES[1]}
    return [folder / "a", folder / "b"]


WRITER = """
import sys, pairpiece
model = pairpiece.load(sys.argv[1])
for part in (model.state.table, model.state.translations):
    part.read()
print("ready", flush=True)
for line in sys.stdin:
    model.save(sys.argv[2])
    print("saved", flush=True)
"""

READER = """
import sys, pairpiece
from pathlib import Path
folder, text, source = sys.argv[1:4]
print("ready", flush=True)
done = 0
while Path(folder).with_name("busy").exists():
    loaded = pairpiece.load(folder)
    seen = [loaded.encode(text), loaded.encode(text, model="bigram")]
    seen.append(loaded.encode(text, source=source))
    print(seen, flush=True)
    done += 1
"""


@contextlib.contextmanager
def ready(program: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A process that is ready to begin."""
    with process(program, *arguments) as running:
        assert said(running) == "ready"
        yield running


# ---------------------------------------------------------------------- processes


def test_of_two_models_saved_at_once_one_is_there_whole(models: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "model"
    expected = [contents(model) for model in models]
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(ready(WRITER, model, folder)) for model in models]
        for _ in range(25):
            for writer in writers:
                go_on(writer)
            assert [said(writer) for writer in writers] == ["saved", "saved"]
            assert contents(folder) in expected


def test_threads_save_to_one_folder_too(models: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "model"
    loaded = [pairpiece.load(model) for model in models]
    for _ in range(10):
        threads = [threading.Thread(target=model.save, args=(folder,)) for model in loaded]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert contents(folder) in [contents(model) for model in models]


def test_readers_meet_whole_models_only(models: list[Path], tmp_path: Path) -> None:
    folder, busy = tmp_path / "model", tmp_path / "busy"
    busy.touch()
    expected = []
    for model in models:
        loaded = pairpiece.load(model)
        loaded.save(folder)
        plain, paired = encoded(loaded)
        expected.append(str([plain, loaded.encode(TARGETS[0], model="bigram"), paired]))
    json_files = [(model / FILES[0]).read_bytes() for model in models]
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(ready(WRITER, model, folder)) for model in models]
        readers = [stack.enter_context(ready(READER, folder, TARGETS[0], SOURCE)) for _ in range(3)]
        for _ in range(30):
            for writer in writers:
                go_on(writer)
            for writer in writers:
                assert (folder / FILES[0]).read_bytes() in json_files
                assert said(writer) == "saved"
        busy.unlink()
        for reader in readers:
            found = reader.communicate()[0].splitlines()
            assert reader.returncode == 0
            assert found
            assert set(found) <= set(expected)


def test_a_save_that_is_killed_leaves_a_whole_model(models: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "model"
    draw = random.Random(0)
    first, second = map(pairpiece.load, models)
    expected = [encoded(model) for model in (first, second)]
    for _ in range(15):
        first.save(folder)
        with ready(WRITER, models[1], folder) as writer:
            go_on(writer)
            time.sleep(draw.random() * 0.03)
            os.kill(writer.pid, signal.SIGKILL)
            writer.wait()
        found = encoded(pairpiece.load(folder))
        assert found in expected
        model = models[expected.index(found)]
        assert (folder / FILES[0]).read_bytes() == (model / FILES[0]).read_bytes()
        second.save(folder)
        assert contents(folder) == contents(models[1])


# ---------------------------------------------------------------------- who has loaded before


def test_a_loaded_tokenizer_goes_on_when_its_folder_is_overwritten(
    models: list[Path], tmp_path: Path
) -> None:
    if not parts._HELD.is_dir():
        pytest.skip("files that are held open cannot be opened again on this system")
    first, second = map(pairpiece.load, models)
    first.save(tmp_path)
    loaded = pairpiece.load(tmp_path)
    second.save(tmp_path)
    assert encoded(loaded) == encoded(first)
    assert loaded.lexicon() == first.lexicon()
    assert loaded.source_weights().weights.tolist() == first.source_weights().weights.tolist()
    loaded.save(tmp_path / "again")
    assert contents(tmp_path / "again") == contents(models[0])


def test_files_are_held_open_no_longer_than_they_are_needed(models: list[Path]) -> None:
    if not parts._HELD.is_dir():
        pytest.skip("files that are held open cannot be counted on this system")

    def held() -> int:
        return len(list(parts._HELD.iterdir()))

    before = held()
    loaded = pairpiece.load(models[0])
    assert held() == before + 2  # of the two tables that are not read yet
    loaded.lexicon()
    loaded.source_weights()
    assert held() == before
    unused = pairpiece.load(models[0])
    del unused
    assert held() == before


def test_where_files_cannot_be_held_the_error_says_what_has_happened(
    models: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "_HELD", tmp_path / "no such folder")
    first, second = map(pairpiece.load, models)
    first.save(tmp_path)
    loaded = pairpiece.load(tmp_path)
    second.save(tmp_path)
    assert loaded.encode(TARGETS[0]) == first.encode(TARGETS[0])
    with pytest.raises(pairpiece.ModelFormatError, match=r"cooccurrence-.*saved there since"):
        loaded.encode(TARGETS[0], source=SOURCE)


def test_a_tokenizer_of_transformers_is_that_of_the_model_beside_it(
    models: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pairpiece.model import transformers_tokenizer

    first, second = map(pairpiece.load, models)
    first.save(tmp_path)

    def overtaken(folder: Path) -> pairpiece.Tokenizer:
        monkeypatch.setattr(transformers_tokenizer, "load", pairpiece.load)
        loaded = pairpiece.load(folder)
        second.save(folder)
        return loaded

    monkeypatch.setattr(transformers_tokenizer, "load", overtaken)
    loaded = pairpiece.PairPieceTokenizer.from_pretrained(tmp_path)
    assert loaded.get_vocab() == loaded.pairpiece.get_vocab() == second.get_vocab()


# ---------------------------------------------------------------------- what was left, what waits


def test_leftovers_of_the_killed_are_swept(models: list[Path], tmp_path: Path) -> None:
    (tmp_path / STAGE / "source-0123456789ab").mkdir(parents=True)
    (tmp_path / STAGE / "source-0123456789ab" / "half").write_bytes(b"half")
    (tmp_path / LOCK).touch()
    (tmp_path / "bigram-0123456789ab.safetensors").write_bytes(b"half")
    (tmp_path / "source-0123456789ab").mkdir()
    pairpiece.load(models[0]).save(tmp_path)
    assert contents(tmp_path) == contents(models[0])
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in models[0].iterdir()}


def test_what_a_live_writer_has_written_is_not_swept(models: list[Path], tmp_path: Path) -> None:
    first, second = map(pairpiece.load, models)
    first.save(tmp_path)
    (tmp_path / STAGE).mkdir()
    with locks.held(tmp_path / LOCK):
        waiting = threading.Thread(target=second.save, args=(tmp_path,))
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()
        assert (tmp_path / STAGE).is_dir()
    waiting.join()
    assert contents(tmp_path) == contents(models[1])


def test_where_there_are_no_locks_models_are_saved_all_the_same(
    models: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(locks.FileLock, "acquire", refuse)
    pairpiece.load(models[0]).save(tmp_path)
    assert contents(tmp_path) == contents(models[0])


# ---------------------------------------------------------------------- links


def test_links_are_replaced_and_what_they_point_to_is_not_touched(
    models: list[Path], tmp_path: Path
) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "model"
    outside.mkdir()
    folder.mkdir()
    names = [path.name for path in models[0].iterdir() if path.is_file()]
    for name in (*names, STAGE, LOCK):
        (outside / name).write_bytes(b"mine")
        (folder / name).symlink_to(outside / name)
    pairpiece.load(models[0]).save(folder)
    assert set(contents(outside).values()) == {b"mine"}
    assert {name: (folder / name).read_bytes() for name in names} == {
        name: (models[0] / name).read_bytes() for name in names
    }
    assert not [name for name in names if (folder / name).is_symlink()]


def test_a_link_in_the_place_of_a_folder_is_refused(models: list[Path], tmp_path: Path) -> None:
    [source] = models[0].glob("source-*")
    outside, folder = tmp_path / "outside", tmp_path / "model"
    outside.mkdir()
    folder.mkdir()
    (folder / source.name).symlink_to(outside)
    with pytest.raises(pairpiece.OptionError, match=f"{source.name}: not a folder.*remove it"):
        pairpiece.load(models[0]).save(folder)
    assert list(outside.iterdir()) == []
    assert [path.name for path in folder.iterdir()] == [source.name]


def test_a_folder_that_is_a_link_is_the_folder_it_points_to(
    models: list[Path], tmp_path: Path
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "model").symlink_to(tmp_path / "real")
    pairpiece.load(models[0]).save(tmp_path / "model")
    assert (tmp_path / "model").is_symlink()
    assert contents(tmp_path / "real") == contents(models[0])


def test_what_is_in_force_is_told_by_tokenizer_json(models: list[Path], tmp_path: Path) -> None:
    """As after a kill between the two renames: the manifest has not got its name yet."""
    first, second = map(pairpiece.load, models)
    first.save(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        rename = switching.files.rename

        def stopped(old: Path, new: Path) -> None:
            if new.name == MANIFEST and new.parent == tmp_path:
                raise KeyboardInterrupt
            rename(old, new)

        patch.setattr(switching.files, "rename", stopped)
        with pytest.raises(KeyboardInterrupt):
            second.save(tmp_path)
    assert (tmp_path / MANIFEST).read_bytes() == (models[0] / MANIFEST).read_bytes()
    assert encoded(pairpiece.load(tmp_path)) == encoded(second)
    assert (tmp_path / FILES[0]).read_bytes() == (models[1] / FILES[0]).read_bytes()
    first.save(tmp_path)
    assert contents(tmp_path) == contents(models[0])
