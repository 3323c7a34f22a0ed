"""encode, decode and align: lines in, lines out, as the Python API has them."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import stat
from pathlib import Path
from typing import Any

import pytest
import zstandard
from support.command_line import Ended, begin_of_sample, call, complaint, start, text, training

import pairpiece
from pairpiece.commands import line_streams
from pairpiece.links import eflomal

PAIRS = begin_of_sample(12)
SOURCES, TARGETS = ([pair[side] for pair in PAIRS] for side in (0, 1))
ODD = [
    "",
    " ",
    "  due  spazi  ",
    "\ttab\t",
    "non\u00a0separabile",
    "riga\u2028e\x85riga",
    "città 😀 ﬁne Ⅳ",
    "▁cosa▁",
    "<s> </s> <0x41>",
    "0 1 2",
    "xyzzy",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return training(tmp_path_factory.getbasetemp()).model


@pytest.fixture(scope="module")
def loaded(model: Path) -> pairpiece.Tokenizer:
    return pairpiece.load(model)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a few lines are several batches."""
    monkeypatch.setattr(line_streams, "BATCH_LINES", 2)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a source and a target text."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.fr").write_text(text(*SOURCES), encoding="utf-8")
    (tmp_path / "text.it").write_text(text(*TARGETS), encoding="utf-8")
    return tmp_path


def rows(ended: Ended) -> list[list[str]]:
    assert (ended.code, ended.err) == (0, "")
    return [line.split(" ") if line else [] for line in ended.out.split("\n")[:-1]]


def ids(ended: Ended) -> list[list[int]]:
    return [[int(token) for token in row] for row in rows(ended)]


def objects(ended: Ended) -> list[dict[str, Any]]:
    assert (ended.code, ended.err) == (0, "")
    return [json.loads(line) for line in ended.out.splitlines()]


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


# ---------------------------------------------------------------------- encode


@pytest.mark.usefixtures("small_batches")
def test_ids_and_pieces_are_those_of_the_api(
    model: Path, loaded: pairpiece.Tokenizer, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = TARGETS + ODD
    stdin = text(*lines).encode()
    assert ids(call(capfd, "encode", model, stdin=stdin)) == loaded.encode_batch(lines)
    pieces = call(capfd, "encode", model, "--output-format", "piece", stdin=stdin)
    assert rows(pieces) == loaded.encode_batch(lines, out_type=str)


def test_json_is_everything_the_api_knows(
    model: Path, loaded: pairpiece.Tokenizer, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = TARGETS + ODD
    found = objects(
        call(capfd, "encode", model, "--output-format", "json", stdin=text(*lines).encode())
    )
    expected = loaded.encode_batch(lines, out_type=pairpiece.Encoding)
    names = ("ids", "pieces", "offsets", "word_ids", "log_prob")
    assert found == [as_json({name: getattr(row, name) for name in names}) for row in expected]


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ([], {}),
        (["--source", "text.fr"], {"sources": SOURCES}),
        (
            ["--source", "text.fr", "--whole-sentence"],
            {"sources": SOURCES, "whole_sentence": True},
        ),
        (
            ["--source", "text.fr", "--alignment", "text.links"],
            {"sources": SOURCES, "alignments": [[(0, 1), (1, 0)]] * len(PAIRS)},
        ),
        (["--add-bos"], {"add_bos": True}),
        (["--add-eos", "--source", "text.fr"], {"add_eos": True, "sources": SOURCES}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
@pytest.mark.usefixtures("small_batches")
def test_options_are_those_of_the_api(
    options: list[str],
    arguments: dict[str, Any],
    model: Path,
    loaded: pairpiece.Tokenizer,
    folder: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (folder / "text.links").write_text("0-1 1-0\n" * len(PAIRS))
    expected = loaded.encode_batch(TARGETS, **arguments)
    assert ids(call(capfd, "encode", model, "-i", "text.it", *options)) == expected
    for name in arguments:  # each makes a difference
        fewer = {key: value for key, value in arguments.items() if key != name}
        if name != "sources" or not {"alignments", "whole_sentence"} & set(arguments):
            assert loaded.encode_batch(TARGETS, **fewer) != expected, name


@pytest.mark.parametrize("options", [[], ["--source", "text.fr"]], ids=" ".join)
def test_threads_make_no_difference(
    options: list[str], model: Path, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    del folder
    command = ["encode", model, "-i", "text.it", *options, "--threads"]
    assert ids(call(capfd, *command, 1)) == ids(call(capfd, *command, 3))


@pytest.mark.parametrize("seed", [None, 0, 7, -1])
@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ([], {}),
        (["--alpha", "0.5"], {"alpha": 0.5}),
        (["--source", "text.fr"], {"source": SOURCES}),
        (
            ["--source", "text.fr", "--alignment", "text.links", "--alpha", "1"],
            {"source": SOURCES, "alignment": [[(0, 1), (1, 0)]] * len(PAIRS), "alpha": 1.0},
        ),
        (
            ["--source", "text.fr", "--whole-sentence"],
            {"source": SOURCES, "whole_sentence": True},
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
@pytest.mark.usefixtures("small_batches")
def test_each_line_is_drawn_with_a_seed_of_its_own(
    options: list[str],
    arguments: dict[str, Any],
    seed: int | None,
    model: Path,
    loaded: pairpiece.Tokenizer,
    folder: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (folder / "text.links").write_text("0-1 1-0\n" * len(PAIRS))
    command = ["encode", model, "-i", "text.it", "--sample", *options]
    if seed is not None:
        command += ["--seed", seed]
    found = [ids(call(capfd, *command, "--threads", n)) for n in (1, 3)]
    first = loaded.state.seed if seed is None else seed
    expected = [
        loaded.sample(
            target,
            seed=first + n,
            **{
                name: value[n] if isinstance(value, list) else value
                for name, value in arguments.items()
            },
        )
        for n, target in enumerate(TARGETS)
    ]
    assert found == [expected, expected]
    assert list(map(loaded.decode, expected)) == list(map(loaded.normalize, TARGETS))
    assert expected != loaded.encode_batch(TARGETS)


def test_samples_differ_by_seed_and_by_line(model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    stdin = text(*[TARGETS[0]] * 20).encode()
    command = ["encode", model, "--sample", "--seed"]
    first, second = (ids(call(capfd, *command, seed, stdin=stdin)) for seed in (100, 200))
    assert first != second
    assert len(set(map(tuple, first))) > 10
    assert ids(call(capfd, *command, 100, stdin=stdin)) == first


@pytest.mark.parametrize("kind", ["piece", "json"])
def test_samples_come_in_every_format(
    kind: str, model: Path, loaded: pairpiece.Tokenizer, capfd: pytest.CaptureFixture[str]
) -> None:
    command = ["encode", model, "--sample", "--seed", 3, "--add-bos", "--add-eos"]
    stdin = text(*TARGETS).encode()
    expected = ids(call(capfd, *command, stdin=stdin))
    assert {(row[0], row[-1]) for row in expected} == {(loaded.bos_id, loaded.eos_id)}
    ended = call(capfd, *command, "--output-format", kind, stdin=stdin)
    if kind == "piece":
        assert [[loaded.piece_to_id(piece) for piece in row] for row in rows(ended)] == expected
    else:
        assert [row["ids"] for row in objects(ended)] == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--alpha", "0.5"], "go with --sample"),
        (["--seed", "0"], "go with --sample"),
        (["--sample", "--bigram"], "leave --bigram out"),
        (["--sample", "--alpha", "-1"], "alpha must be between"),
        (["--sample", "--alpha", "nan"], "alpha must be between"),
    ],
    ids=" ".join,
)
def test_what_sampling_cannot_do_is_refused(
    options: list[str], expected: str, model: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert expected in complaint(call(capfd, "encode", model, *options, stdin=b"uno\n"))


PACKERS = {
    "it": bytes,
    "it.gz": gzip.compress,
    "it.xz": lzma.compress,
    "it.zst": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("suffix", PACKERS)
def test_files_may_be_compressed(
    suffix: str,
    model: Path,
    loaded: pairpiece.Tokenizer,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / f"text.{suffix}"
    path.write_bytes(PACKERS[suffix](text(*TARGETS).encode()))
    assert ids(call(capfd, "encode", model, "--input", path)) == loaded.encode_batch(TARGETS)


def test_a_line_end_is_no_part_of_the_line(
    model: Path, loaded: pairpiece.Tokenizer, capfd: pytest.CaptureFixture[str]
) -> None:
    stdin = b"\xef\xbb\xbf due  spazi \r\nuno\nsenza fine"
    expected = loaded.encode_batch([" due  spazi ", "uno", "senza fine"])
    assert ids(call(capfd, "encode", model, "-i", "-", stdin=stdin)) == expected


@pytest.mark.parametrize(
    "command", ["encode", "decode", "align --source empty", "align --source empty --words"]
)
def test_nothing_in_is_nothing_out(
    command: str,
    model: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").touch()
    name, *options = command.split()
    assert call(capfd, name, model, *options) == (0, "", "")


@pytest.mark.parametrize("short", ["text.it", "text.fr", "text.links"])
@pytest.mark.parametrize("size", [0, 2, 3])
@pytest.mark.usefixtures("small_batches")
def test_the_input_that_ends_early_is_named(
    short: str, size: int, model: Path, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "text.links").write_text("0-0\n" * len(PAIRS))
    lines = (folder / short).read_text(encoding="utf-8").splitlines()
    (folder / short).write_text(text(*lines[:size]), encoding="utf-8")
    command = ["encode", model, "-i", "text.it", "--source", "text.fr"]
    ended = call(capfd, *command, "--alignment", "text.links", "-o", "out")
    assert complaint(ended).startswith(f"{short} ends after {size} lines")
    assert not (folder / "out").exists()


@pytest.mark.parametrize("command", ["encode", "align"])
@pytest.mark.usefixtures("small_batches")
def test_standard_input_is_one_input_only(
    command: str, model: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ended = call(capfd, command, model, "--source", "-", stdin=text(*TARGETS[:4]).encode())
    assert "standard input" in complaint(ended)


@pytest.mark.usefixtures("small_batches")
def test_a_bad_link_of_standard_input_is_named(
    model: Path, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    del folder
    command = ["encode", model, "-i", "text.it", "--source", "text.fr", "--alignment", "-"]
    stdin = b"0-0\n0-0\n0-0\n0:0\n" + b"\n" * (len(PAIRS) - 4)
    ended = call(capfd, *command, "-o", "out", stdin=stdin)
    assert complaint(ended).startswith("standard input:4: ")


# ---------------------------------------------------------------------- output


def test_output_goes_to_a_file(
    model: Path, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = os.umask(0o027)
    try:
        written = call(capfd, "encode", model, "-i", "text.it", "-o", "out")
    finally:
        os.umask(before)
    assert written == (0, "", "")
    assert stat.S_IMODE((folder / "out").stat().st_mode) == 0o640
    printed = call(capfd, "encode", model, "-i", "text.it", "-o", "-")
    assert (folder / "out").read_text(encoding="utf-8") == printed.out


@pytest.mark.parametrize("before", [None, b"old"], ids=["new file", "old file"])
@pytest.mark.usefixtures("small_batches")
def test_after_an_error_the_output_is_what_it_was(
    before: bytes | None, model: Path, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad").write_bytes(b"uno\n" * 9 + b"\xff\n")
    if before is not None:
        (folder / "out").write_bytes(before)
    there = {path.name for path in folder.iterdir()}
    assert "bad:10: " in complaint(call(capfd, "encode", model, "-i", "bad", "-o", "out"))
    assert {path.name for path in folder.iterdir()} == there
    assert before is None or (folder / "out").read_bytes() == before


def test_a_pipe_can_be_the_output(
    model: Path, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(folder / "pipe")
    reader = os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert call(capfd, "encode", model, "-i", "text.it", "-o", "pipe") == (0, "", "")
        assert stat.S_ISFIFO((folder / "pipe").stat().st_mode)
        found = os.read(reader, 2**16).decode()
    finally:
        os.close(reader)
    assert found == call(capfd, "encode", model, "-i", "text.it").out


def test_a_reader_that_has_seen_enough_is_no_error(
    model: Path, loaded: pairpiece.Tokenizer, tmp_path: Path
) -> None:
    (tmp_path / "long").write_text(text(*TARGETS) * 3000, encoding="utf-8")
    with start("encode", model, "-i", tmp_path / "long", cache=tmp_path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141
    assert first.decode() == " ".join(map(str, loaded.encode(TARGETS[0]))) + "\n"


def test_a_reader_that_has_gone_leaves_no_temporary_files(model: Path, tmp_path: Path) -> None:
    temporary, source, target = (tmp_path / name for name in ("temporary", "long.fr", "long.it"))
    temporary.mkdir()
    source.write_text(text(*SOURCES) * 30, encoding="utf-8")
    target.write_text(text(*TARGETS) * 30, encoding="utf-8")
    ours, theirs = os.pipe()
    os.close(ours)
    command = ["align", model, "-i", target, "--source", source, "--words"]
    environment = {"TMPDIR": str(temporary)}
    with start(*command, cache=tmp_path, stdout=theirs, env=environment) as process:
        os.close(theirs)
        _, err = process.communicate()
    assert err == b""
    assert list(temporary.iterdir()) == []


# ---------------------------------------------------------------------- decode


@pytest.mark.parametrize("kind", ["id", "piece"])
@pytest.mark.parametrize("options", [[], ["--add-bos", "--add-eos"]], ids=" ".join)
@pytest.mark.usefixtures("small_batches")
def test_decode_gives_back_the_normalised_text(
    kind: str,
    options: list[str],
    model: Path,
    loaded: pairpiece.Tokenizer,
    capfd: pytest.CaptureFixture[str],
) -> None:
    lines = TARGETS + ODD
    encoded = call(
        capfd, "encode", model, "--output-format", kind, *options, stdin=text(*lines).encode()
    )
    decoded = call(capfd, "decode", model, "--input-format", kind, stdin=encoded.out.encode())
    assert decoded == (0, text(*map(loaded.normalize, lines)), "")


@pytest.mark.parametrize(
    ("kind", "line", "expected"),
    [
        ("id", "5 x 7", "'x' is not an id"),
        ("id", "5 -1", "'-1' is not an id"),
        ("id", "1.5", "'1.5' is not an id"),
        ("id", "٣", "'٣' is not an id"),
        ("id", "9" * 30, "is not an id"),
        ("id", "5 600 7", "the id 600 is not in the vocabulary of 600 pieces"),
        ("piece", "▁xyzzy", "'▁xyzzy' is not a piece"),
    ],
)
@pytest.mark.usefixtures("small_batches")
def test_what_cannot_be_decoded_is_named(
    kind: str,
    line: str,
    expected: str,
    model: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    stdin = text("", "", line).encode()
    command = ["decode", model, "--input-format", kind, "-o", tmp_path / "out"]
    said = complaint(call(capfd, *command, stdin=stdin))
    assert said.startswith("standard input:3: ")
    assert expected in said
    assert not (tmp_path / "out").exists()


# ---------------------------------------------------------------------- align


@pytest.mark.parametrize("options", [[], ["--min-score", "0.5"]], ids=" ".join)
def test_token_links_are_those_of_the_api(
    options: list[str],
    model: Path,
    loaded: pairpiece.Tokenizer,
    folder: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    del folder
    command = ["align", model, "--source", "text.fr", "-i", "text.it", *options]
    expected = [
        loaded.align(source, target, min_score=float(options[-1]) if options else 0.0)
        for source, target in PAIRS
    ]
    assert call(capfd, *command) == (0, text(*(found.pharaoh() for found in expected)), "")
    found = objects(call(capfd, *command, "--output-format", "json"))
    assert found == [as_json(vars(links)) for links in expected]


@pytest.mark.parametrize("least", ["0", "0.5"])
def test_scores_lie_beside_the_links(
    least: str,
    model: Path,
    loaded: pairpiece.Tokenizer,
    folder: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    command = ["align", model, "--source", "text.fr", "-i", "text.it", "--min-score", least]
    ended = call(capfd, *command, "--scores", "text.probs")
    assert ended == call(capfd, *command)
    written = (folder / "text.probs").read_text().split("\n")
    assert written.pop() == ""
    found = [list(map(float, line.split())) for line in written]
    assert list(map(len, found)) == list(map(len, rows(ended)))
    every = [loaded.align(source, target).scores for source, target in PAIRS]
    kept = [[score for score in scores if score > float(least)] for scores in every]
    assert (sum(map(len, kept)) < sum(map(len, every))) == (least != "0")
    assert found == [pytest.approx(scores, rel=1e-5) for scores in kept]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--words", "--scores", "text.probs"], "--scores is for token links"),
        (["--words", "--min-score", "0"], "--min-score is for token links"),
        (["--scores", "-"], "cannot go to the same place"),
        (["--scores", "out", "-o", "out"], "cannot go to the same place"),
        (
            ["--scores", "text.probs", "--min-score", "1.5"],
            "must be between 0 and 1, not 1.5",
        ),
        (["--min-score", "nan"], "--min-score must be between 0 and 1"),
    ],
    ids=" ".join,
)
def test_scores_that_cannot_be_had_are_refused(
    options: list[str],
    expected: str,
    model: Path,
    folder: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    command = ["align", model, "--source", "text.fr", "-i", "text.it", *options]
    assert expected in complaint(call(capfd, *command))
    assert not (folder / "text.probs").exists()


def test_word_links_lie_inside_the_words_and_come_from_the_priors(
    model: Path,
    loaded: pairpiece.Tokenizer,
    folder: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used = []
    really = eflomal.Eflomal.align

    def align(self: eflomal.Eflomal, place: Path, **how: Any) -> None:
        used.append(how["priors"].read_bytes())
        really(self, place, **how)

    monkeypatch.setattr(eflomal.Eflomal, "align", align)
    command = ["align", model, "--source", "text.fr", "-i", "text.it", "--words"]
    ended = call(capfd, *command)
    linked = 0
    for (source, target), row in zip(PAIRS, rows(ended), strict=True):
        links = {tuple(map(int, link.split("-"))) for link in row}
        sizes = [len(pairpiece.split_words(source)), len(loaded.words(target))]
        assert all(
            0 <= word < size for link in links for word, size in zip(link, sizes, strict=True)
        )
        linked += len({word for _, word in links})
    assert linked > 0.8 * sum(len(loaded.words(target)) for target in TARGETS)
    assert used == [gzip.decompress(loaded.priors or b"")]
    assert used[0]
    (folder / "text.links").write_text(ended.out)
    paired = ["encode", model, "--source", "text.fr", "-i", "text.it", "--alignment", "text.links"]
    assert len(ids(call(capfd, *paired))) == len(PAIRS)
