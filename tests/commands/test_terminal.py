"""A terminal is told nothing by texts, pieces and names; files and pipes get them as they are."""

from __future__ import annotations

import argparse
import json
import os
import pty
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from support.command_line import Ended, Training, call, complaint, quick, text
from support.french_italian import PAIRS
from support.hostile import HOSTILE
from support.tampering import manifest_of, write_manifest

import pairpiece
from pairpiece.commands import train
from pairpiece.commands.option_names import as_typed
from pairpiece.terminal import visible, visible_json, visible_lines

EVIL = "a\x1b]0;title\x07\x1b[2J\x9b31m\x7fb"
EVIL_AS_SHOWN = r"a\x1b]0;title\x07\x1b[2J\x9b31m\x7fb"

pytestmark = pytest.mark.usefixtures("own_cache")


def obeyed(shown: str) -> set[str]:
    """What a terminal would obey, line ends and tabs left out."""
    turning = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    controls = {c for c in shown if unicodedata.category(c) in ("Cc", "Cs")}
    return (controls | turning & set(shown)) - set("\n\t")


# ---------------------------------------------------------------------- the characters


@pytest.mark.parametrize("hostile", [*HOSTILE, EVIL], ids=lambda t: repr(t)[:30])
def test_nothing_is_left_to_obey(hostile: str) -> None:
    assert obeyed(visible(hostile)) == set()
    assert "\n" not in visible(hostile)
    assert obeyed(visible_lines(hostile)) == set()
    assert visible_lines(hostile).count("\n") == hostile.count("\n")
    assert obeyed(visible_json(hostile)) == set()
    assert json.loads(visible_json([hostile])) == json.loads(json.dumps([hostile]))


@pytest.mark.parametrize("plain", ["", "L'ora è tarda ▁ 日本語 שלום مرحبا 👩🏽‍🚀", "a\\x1b"])
def test_other_text_stays_as_it_is(plain: str) -> None:
    assert visible(plain) == visible_lines(plain) == plain


# ---------------------------------------------------------------------- a hostile model


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose pieces, source tokens and provenance are hostile."""
    pairs = [*PAIRS, *([([EVIL], f"▁{EVIL}", 1000.0)] * 2)]
    model = pairpiece.train_from_pairs(pairs, 660, normalization="none", max_piece_length=30)
    folder = tmp_path_factory.mktemp("hostile") / "model"
    model.save(folder)
    manifest = manifest_of(folder)
    manifest["provenance"][EVIL] = EVIL
    write_manifest(folder, manifest)
    return folder


@pytest.mark.parametrize("wanted", [[], ["--piece", EVIL], ["--source-token", EVIL]], ids=len)
def test_inspect_shows_what_it_is(
    wanted: list[str], hostile: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ended = call(capfd, "inspect", hostile, *wanted)
    assert (ended.code, ended.err) == (0, "")
    assert obeyed(ended.out) == set()
    assert EVIL_AS_SHOWN in ended.out


def test_what_is_for_programs_is_exact(hostile: Path, capfd: pytest.CaptureFixture[str]) -> None:
    listed = call(capfd, "inspect", hostile, "--pieces").out
    assert f"▁{EVIL}\t" in listed
    assert EVIL in json.loads(call(capfd, "inspect", hostile, "--json").out)["provenance"]
    given = f"{EVIL}\n".encode()
    pieces = call(capfd, "encode", hostile, "--output-format", "piece", stdin=given).out
    assert obeyed(pieces) >= {"\x1b", "\x9b"}
    ids = call(capfd, "encode", hostile, stdin=given).out
    assert call(capfd, "decode", hostile, stdin=ids.encode()).out == f"{EVIL}\n"


def at_a_terminal(*arguments: object, given: bytes = b"") -> Ended:
    """Run a command whose output, but not its input, is a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pairpiece", *map(str, arguments)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=theirs, stderr=pipe) as process:
        os.close(theirs)
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(given)
        process.stdin.close()
        shown = b""
        while True:
            try:
                part = os.read(ours, 2**16)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        said = process.stderr.read()
    os.close(ours)
    return Ended(process.returncode, shown.decode().replace("\r\n", "\n"), said.decode())


@pytest.mark.parametrize(
    "arguments",
    [
        ["encode", "MODEL", "--output-format", "piece"],
        ["encode", "MODEL", "--output-format", "json"],
    ],
    ids=["piece", "json"],
)
def test_at_a_terminal_lines_are_shown_as_what_they_are(
    arguments: list[str], hostile: Path
) -> None:
    named = [hostile if name == "MODEL" else name for name in arguments]
    ended = at_a_terminal(*named, given=f"{EVIL}\n\n".encode())
    assert (ended.code, ended.err) == (0, "")
    assert obeyed(ended.out) == set()
    assert ended.out.count("\n") == 2
    assert r"\x9b" in ended.out


def test_at_a_terminal_lists_keep_their_form(hostile: Path) -> None:
    ended = at_a_terminal("inspect", hostile, "--pieces")
    assert (ended.code, ended.err) == (0, "")
    assert obeyed(ended.out) == set()
    assert all(line.count("\t") == 2 for line in ended.out.splitlines())
    assert f"▁{EVIL_AS_SHOWN}\t" in ended.out


# ---------------------------------------------------------------------- messages


@pytest.mark.parametrize("name", [EVIL, "\n", "\udcff", "\u202ex"], ids=repr)
@pytest.mark.parametrize("command", ["encode", "inspect", "decode"])
def test_names_of_files_are_one_line_of_text(
    name: str, command: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    said = complaint(call(capfd, command, tmp_path / name))
    assert obeyed(said) == set()
    assert visible(name) in said


def test_a_log_for_programs_is_safe_to_look_at(
    trained: Training, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / f"{EVIL}\udcff.fr"
    command = ["train", "--source", bad, "--target", trained.target, "-o", tmp_path / "model"]
    ended = call(capfd, *command, "--log-format", "json")
    assert ended.code == 1
    assert obeyed(ended.err) == set()
    assert json.loads(ended.err)["message"].startswith(str(bad))


def test_wrong_usage_is_shown_as_what_it_is(capfd: pytest.CaptureFixture[str]) -> None:
    for arguments in ([EVIL], ["encode", "a", EVIL], ["encode", "a", "--alpha", EVIL]):
        ended = call(capfd, *arguments)
        assert ended.code == 2
        assert obeyed(ended.err) == set()


def test_a_summary_shows_names_as_what_they_are(
    trained: Training, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / EVIL
    ended = call(capfd, *quick(trained, model, "--work-dir", tmp_path / f"w{EVIL}"))
    assert (ended.code, ended.err) == (0, "")
    assert obeyed(ended.out) == set()
    assert ended.out.count(EVIL_AS_SHOWN) == 4


def test_a_summary_shows_sentences_as_what_they_are(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = [f"uno due tre {EVIL} numero {i}" for i in range(60)]
    for side in ("source", "target"):
        (tmp_path / side).write_text(text(*lines), encoding="utf-8")
    both = ["--source", tmp_path / "source", "--target", tmp_path / "target"]
    size = ["--vocab-size", 330, "--align", "none", "--set", "hard_vocab_limit=false"]
    settings = [*size, "--set", "normalization=none", "--source-tokenizer", "pretokenized"]
    ended = call(capfd, "train", *both, *settings, "-o", tmp_path / "model")
    assert ended.code == 0, ended.err
    assert "Three sentences" in ended.out
    assert obeyed(ended.out) | obeyed(ended.err) == set()
    assert r"\x1b" in ended.out


# ---------------------------------------------------------------------- names of options


def test_messages_in_python_know_nothing_of_the_command_line() -> None:
    """Those that name a whole command may; the others say what the argument is called."""
    folder = Path(pairpiece.__file__).parent
    lower = [p for p in folder.rglob("*.py") if p.parent.name not in ("commands", "downstream")]
    assert len(lower) > 80
    for path in lower:
        source = path.read_text(encoding="utf-8")
        for raised in re.findall(r"raise \w+Error\((?:[^()]|\([^()]*\))*\)", source):
            named = re.findall(r"--[a-z][a-z-]+", raised)
            if "pairpiece train" not in raised and "spm_train" not in raised:
                assert [n for n in named if "`" not in raised] == [], (path, raised)


def test_only_what_is_an_argument_becomes_an_option() -> None:
    parser = argparse.ArgumentParser()
    train.add_arguments(parser)
    for message, names, expected in (
        ("vocab_size must be", ["vocab_size"], "--vocab-size must be"),
        ("num_threads must be", ["num_threads"], "--threads must be"),
        ("seed_x and /a/seed/b and seed", ["seed"], "seed_x and /a/seed/b and --seed"),
        ("the source text: give source=", ["source"], "the source text: give --source"),
        ('no links (align="none")', ["align"], "no links (--align none)"),
        ("it (strict=True) stops", ["strict"], "it (--strict) stops"),
        ("pass hard_vocab_limit=False", ["hard_vocab_limit"], "pass --set hard_vocab_limit=False"),
        ("vocab_size is not named", [], "vocab_size is not named"),
    ):
        assert as_typed(message, names, parser._actions) == expected
