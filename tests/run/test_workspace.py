"""Results of stages are made once, are whole, and survive whatever ends a run."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import subprocess
import textwrap
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest
from support.partner import go_on, process, said

from pairpiece.run import workspace
from pairpiece.run.workspace import RECORD, Result, Workspace

Make = Callable[[Path], dict[str, Any]]


class Maker:
    """Makes a result and counts how often it had to."""

    def __init__(self, content: str = "content") -> None:
        self.calls = 0
        self._content = content

    def __call__(self, folder: Path) -> dict[str, Any]:
        self.calls += 1
        assert list(folder.iterdir()) == []
        (folder / "file").write_text(self._content)
        return {"words": 7, "name": "é"}


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "work")


def results(space: Workspace) -> set[str]:
    """What looks like a result."""
    return {path.name for path in space.folder.iterdir() if not path.name.startswith(".")}


def leftovers(space: Workspace) -> set[str]:
    """Hidden folders, and locks."""
    return {path.name for path in space.folder.glob(".*")}


# ---------------------------------------------------------------------- keys


def test_a_result_is_used_again_for_the_same_key(space: Workspace) -> None:
    make = Maker()
    first = space.stage("words", {"text": "a", "options": [1, None]}, make)
    again = Workspace(space.folder).stage("words", {"options": [1, None], "text": "a"}, make)
    assert make.calls == 1
    assert (first.reused, again.reused) == (False, True)
    assert first.folder == again.folder
    assert (again.folder / "file").read_text() == "content"


@pytest.mark.parametrize(
    ("name", "depends_on"), [("words", {"text": "b"}), ("words", {}), ("links", {"text": "a"})]
)
def test_another_key_or_stage_has_a_result_of_its_own(
    name: str, depends_on: dict[str, Any], space: Workspace
) -> None:
    make = Maker()
    first = space.stage("words", {"text": "a"}, make)
    other = space.stage(name, depends_on, make)
    assert make.calls == 2
    assert first.folder != other.folder


def test_what_depends_on_the_unknown_is_made_each_time_and_named_by_content(
    space: Workspace,
) -> None:
    make, other = Maker(), Maker("other content")
    first, again = space.stage("read", None, make), space.stage("read", None, make)
    different = space.stage("read", None, other)
    assert make.calls == 2
    assert (first.reused, again.reused) == (False, False)
    assert first.folder == again.folder != different.folder
    assert (different.folder / "file").read_text() == "other content"
    assert results(space) == {first.folder.name, different.folder.name}
    assert leftovers(space) == set()


def test_the_content_is_that_of_all_files_and_their_names(space: Workspace) -> None:
    def making(name: str, text: str) -> Make:
        def make(folder: Path) -> dict[str, Any]:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
            return {}

        return make

    files = [("a", "1"), ("a", "2"), ("b", "1"), ("c/a", "1")]
    found = [space.stage("x", {"key": i}, making(*file)) for i, file in enumerate(files)]
    assert len({result.content for result in found}) == len(files)
    same = space.stage("x", {"key": "another"}, making("a", "1"))
    assert same.content == found[0].content


def test_the_record_comes_back_with_the_result(space: Workspace) -> None:
    made = space.stage("words", {"text": "a"}, Maker())
    again = space.stage("words", {"text": "a"}, Maker())
    assert made.details == {"words": 7, "name": "é"}
    assert made.stage == "words"
    assert made.seconds >= 0
    assert made.peak_bytes > 2**20
    assert again == Result(**{**made.__dict__, "reused": True})
    record = json.loads((made.folder / RECORD).read_text(encoding="utf-8"))
    expected = {name: value for name, value in made.__dict__.items() if name in record}
    assert record == expected
    assert set(record) == {"stage", "content", "details", "seconds", "peak_bytes"}


@pytest.mark.parametrize(
    "change", [{"content": 7}, {"details": []}, {"seconds": "1"}, {"more": 1}], ids=str
)
def test_a_record_that_no_stage_has_written_is_not_used(
    change: dict[str, Any], space: Workspace
) -> None:
    make = Maker()
    made = space.stage("words", {"text": "a"}, make)
    record = json.loads((made.folder / RECORD).read_text(encoding="utf-8"))
    (made.folder / RECORD).write_text(json.dumps({**record, **change}))
    assert space.stage("words", {"text": "a"}, make).content == made.content
    (made.folder / RECORD).write_text("[" * 100_000)
    assert space.stage("words", {"text": "a"}, make).content == made.content
    assert make.calls == 3


def test_everything_can_be_deleted_at_any_time(space: Workspace) -> None:
    make = Maker()
    first = space.stage("words", {}, make)
    for path in first.folder.iterdir():
        path.unlink()
    first.folder.rmdir()
    assert space.stage("words", {}, make).content == first.content
    assert make.calls == 2


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"PAIRPIECE_CACHE": "/a"}, "/a"),
        ({"PAIRPIECE_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, "/a"),
        ({"XDG_CACHE_HOME": "/b"}, "/b/pairpiece"),
        ({"XDG_CACHE_HOME": "", "HOME": "/c"}, "/c/.cache/pairpiece"),
    ],
)
def test_the_default_folder_is_where_the_user_says(
    variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PAIRPIECE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert workspace.default_folder() == Path(expected)


# ---------------------------------------------------------------------- failures


@pytest.mark.parametrize("depends_on", [{"text": "a"}, None])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_stage_that_fails_leaves_no_result(
    depends_on: dict[str, Any] | None, error: type[BaseException], space: Workspace
) -> None:
    def fail(folder: Path) -> dict[str, Any]:
        (folder / "file").write_text("half")
        raise error

    with pytest.raises(error):
        space.stage("words", depends_on, fail)
    assert results(space) == set()
    assert leftovers(space) == set()
    make = Maker()
    assert (space.stage("words", depends_on, make).folder / "file").read_text() == "content"
    assert make.calls == 1


@pytest.mark.parametrize(("owner", "place"), [(workspace, "_content"), (os, "fsync")])
def test_a_disk_that_fails_leaves_no_result(
    owner: object, place: str, space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(owner, place, fail)
        with pytest.raises(OSError, match=rf"No space left on device: '{space.folder}"):
            space.stage("words", {}, Maker())
    assert results(space) | leftovers(space) == set()
    assert not space.stage("words", {}, Maker()).reused


# ---------------------------------------------------------------------- processes

PROGRAM = """
    import sys, time
    from pathlib import Path
    from pairpiece.run.workspace import Workspace

    def make(folder):
        (folder / "file").write_text("half")
        with open(sys.argv[3], "a") as calls:
            calls.write("begun\\n")
        print("begun", flush=True)
        sys.stdin.readline()
        (folder / "file").write_text("content")
        return {}

    key = {"text": "a"} if sys.argv[2] == "known" else None
    print(Workspace(Path(sys.argv[1])).stage("words", key, make).reused, flush=True)
"""


def run_of(
    space: Workspace, key: str = "known"
) -> contextlib.AbstractContextManager[subprocess.Popen[str]]:
    """Another run of a stage, which says that it has begun and waits for a line to go on."""
    calls = space.folder.parent / "calls"
    return process(textwrap.dedent(PROGRAM), space.folder, key, calls)


@pytest.mark.parametrize("key", ["known", "unknown"])
def test_a_killed_run_leaves_nothing_in_the_way_of_the_next(key: str, space: Workspace) -> None:
    with run_of(space, key) as running:
        assert said(running) == "begun"
        os.kill(running.pid, signal.SIGKILL)
        assert running.wait() == -signal.SIGKILL
    assert leftovers(space), "nothing was under way"
    assert results(space) == set()
    make = Maker()
    result = space.stage("words", {"text": "a"} if key == "known" else None, make)
    assert make.calls == 1
    assert not result.reused
    assert (result.folder / "file").read_text() == "content"
    assert results(space) == {result.folder.name}
    assert leftovers(space) == set()


def test_what_a_killed_run_has_left_goes_with_the_next_run_of_any_key(space: Workspace) -> None:
    with run_of(space) as running, run_of(space, "unknown") as alive:
        assert said(running) == said(alive) == "begun"
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        killed = f".words-{workspace.digest({'text': 'a'})}.lock"
        assert killed in leftovers(space)
        mine = space.folder / ".words"
        mine.mkdir()
        space.stage("words", {"text": "b"}, Maker())
        left = leftovers(space)
        assert killed not in left
        assert killed.removesuffix(".lock") not in left
        assert len(left) == 3, "that of the run that is alive, its lock, and what is nobody's"
        go_on(alive)
        assert said(alive) == "False"


def test_two_processes_with_the_same_key_make_the_result_once(space: Workspace) -> None:
    with run_of(space) as first:
        assert said(first) == "begun"
        with run_of(space) as second:
            go_on(first)
            assert {said(first), said(second)} == {"False", "True"}
            assert first.wait() == second.wait() == 0
    assert (space.folder.parent / "calls").read_text() == "begun\n"


def test_a_process_that_waits_for_a_killed_one_makes_the_result_itself(space: Workspace) -> None:
    with run_of(space) as first, run_of(space) as second, ThreadPoolExecutor() as pool:
        begun = {pool.submit(said, running): running for running in (first, second)}
        done, waiting = wait(begun, return_when=FIRST_COMPLETED)
        [owner], [other] = done, waiting  # which of them has the lock is left to chance
        os.kill(begun[owner].pid, signal.SIGKILL)
        assert owner.result() == other.result() == "begun"
        go_on(begun[other])
        assert said(begun[other]) == "False"
    assert leftovers(space) == set()


def test_runs_that_find_the_same_unknown_content_at_once_share_a_result(
    space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def overtaken(path: Path, target: Path) -> Path:
        monkeypatch.setattr(Path, "rename", rename)
        space.stage("read", None, Maker())  # another run is faster by a moment
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", overtaken)
    found = space.stage("read", None, Maker())
    assert (found.folder / "file").read_text() == "content"
    assert results(space) == {found.folder.name}
    assert leftovers(space) == set()
