"""pairpiece evaluate: tables in every format, files, and what it says of bad input."""

from __future__ import annotations

import csv
import inspect
import io
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from support import peers, tampering
from support.command_line import Ended, call, complaint, run, text
from support.french_italian import LETTERS, SOURCES, TARGETS

import pairpiece
from pairpiece import evaluation as evaluation_package
from pairpiece.evaluation import Comparison, Evaluation, Score, formats
from pairpiece.evaluation.formats import FORMATS
from pairpiece.evaluation.metric import all_metrics

METRICS = {metric.name: metric for metric in all_metrics()}
Console = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluate")
    shutil.copytree(tampering.saved().name, folder / "model")
    (folder / "sp.model").write_bytes(peers.sentencepiece_model(TARGETS * 3, 70))
    (folder / "text.it").write_text(text(*TARGETS), encoding="utf-8")
    (folder / "text.fr").write_text(text(*SOURCES), encoding="utf-8")
    (folder / "letters").write_text(text(*LETTERS), encoding="utf-8")
    return folder


@pytest.fixture
def folder(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with text and tokenizers."""
    for path in files.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


QUICK: list[object] = ["evaluate", "--target", "text.it", "--resamples", 50, "--runs", 1]
BOTH = ["--source", "text.fr", "--tokenizer", "model", "--tokenizer", "sp.model"]
THREE: list[object] = [*QUICK, "--tokenizer", "sp.model", "--tokenizer", "a|b=sp.model"]
THREE += ["--tokenizer", "pretokenized:letters"]
ODD_NAME = "a_b%&#"


def ok(ended: Ended) -> str:
    assert (ended.code, ended.err) == (0, "")
    return ended.out


def api(*given: str, **how: Any) -> Evaluation:
    return pairpiece.evaluate(list(given), "text.it", resamples=50, runs=1, **how)


# ---------------------------------------------------------------------- a table by hand


def evaluation(*names: str) -> Evaluation:
    """Two metrics and one without a better end; the second tokenizer is better at both."""
    rows = {"fertility": (2.0, 1.5), "one_to_one": (0.25, 0.5), "entropy": (7.0, 7.5)}
    scores = []
    for metric, values in rows.items():
        for i, (name, x) in enumerate(zip(names, values, strict=True)):
            runs = [x - 0.125, x + 0.125] if metric == "one_to_one" else []
            compared = Comparison(0.5, 0.25, 0.75, 0.01 if metric == "fertility" else 0.5)
            signature = f"{metric}:1|tokenizer:{i}"
            scores.append(Score(name, metric, x, x, x, runs, signature, compared if i else None))
    metrics = [METRICS[name] for name in rows]
    return Evaluation(
        dict.fromkeys(names, "d"), names[0], scores, 1234, "d", ["a note"], metrics, []
    )


def test_a_terminal_table_says_what_is_better_and_what_differs() -> None:
    lines = formats.to_terminal(evaluation("one", "two")).splitlines()
    rows = {line.split("  ")[0].strip(): line.split("  ")[1:] for line in lines if "  " in line}
    cells = {name: [cell.strip() for cell in row if cell.strip()] for name, row in rows.items()}
    assert cells["fertility ↓"] == ["2.000", "1.500*°"]
    assert cells["one to one ↑"] == ["0.250 ±0.125", "0.500 ±0.125°"]
    assert cells["entropy"] == ["7.000", "7.500"]
    assert "1,234 sentences" in lines[-2]
    assert "* differs from one" in lines[-2]
    assert lines[-1] == "a note"


def test_a_terminal_can_show_the_best_in_bold() -> None:
    shown = formats.to_terminal(evaluation("one", "two"), bold=True)
    assert "\x1b[1m" in shown
    assert "°" not in shown
    assert "\x1b" not in formats.to_terminal(evaluation("one", "two"))


@pytest.mark.parametrize("name", ["[bold]x[/bold]", "[/]", ":smile:", "x" * 70, "日本語"])
def test_a_terminal_table_shows_names_as_they_are(name: str) -> None:
    shown = formats.to_terminal(evaluation(name, "two"))
    assert name[:10] in shown
    assert "1.500*°" in shown


def test_a_terminal_table_cannot_tell_the_terminal_anything() -> None:
    shown = formats.to_terminal(evaluation("a\x1b[1mb", "two"))
    assert "\x1b" not in shown
    assert shown.count(r"a\x1b[1mb") == 2


def test_a_markdown_table_has_the_best_in_bold() -> None:
    lines = formats.to_markdown(evaluation("one", "two")).splitlines()
    assert lines[:5] == [
        "| | one | two |",
        "|---|---|---|",
        "| fertility ↓ | 2.000 | **1.500*** |",
        "| one to one ↑ | 0.250 ±0.125 | **0.500 ±0.125** |",
        "| entropy | 7.000 | 7.500 |",
    ]
    assert "    two: one_to_one:1|tokenizer:1" in lines
    assert "a note" in lines


def test_a_latex_table_has_the_best_in_bold() -> None:
    lines = formats.to_latex(evaluation("one", "two")).splitlines()
    assert lines[:8] == [
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r" & one & two \\",
        r"\midrule",
        r"fertility $\downarrow$ & 2.000 & \textbf{1.500$^*$} \\",
        r"one to one $\uparrow$ & 0.250 $\pm$ 0.125 & \textbf{0.500 $\pm$ 0.125} \\",
        r"entropy & 7.000 & 7.500 \\",
        r"\bottomrule",
    ]
    assert lines[8] == r"\end{tabular}"
    assert all(line.startswith("% ") for line in lines[9:])


def test_what_there_is_no_number_for_is_a_dash() -> None:
    found = evaluation("one", "two")
    found.scores.remove(found.scores[3])
    assert "| one to one ↑ | 0.250 ±0.125 | – |" in formats.to_markdown(found)
    assert r"0.250 $\pm$ 0.125 & -- \\" in formats.to_latex(found)
    assert "–" in formats.to_terminal(found)


LATEX = {
    ODD_NAME: r"a\_b\%\&\#",
    "$x^2$": r"\$x\^{}2\$",
    "{a}": r"\{a\}",
    "a\\b~c": r"a\textbackslash{}b\~{}c",
    "½ città": "½ città",
}


@pytest.mark.parametrize("name", LATEX)
def test_latex_has_its_special_characters_escaped(name: str) -> None:
    assert f" & {LATEX[name]} & two \\\\" in formats.to_latex(evaluation(name, "two"))


@pytest.mark.parametrize("name", [*LATEX, "}{", "%", "\\", "\\\\ \\input{x}"])
def test_latex_is_well_formed_whatever_the_name(name: str) -> None:
    assert_latex(formats.to_latex(evaluation(name, "two")), columns=3)


def assert_latex(table: str, columns: int) -> None:
    """Braces are balanced, every row has as many cells, the rest are comments."""
    lines = [line for line in table.split("\n") if line and not line.startswith("%")]
    begin, *rows, end = lines
    assert begin == rf"\begin{{tabular}}{{l{'r' * (columns - 1)}}}"
    assert end == r"\end{tabular}"
    rules = [r"\toprule", r"\midrule", r"\bottomrule"]
    assert [row for row in rows if row in rules] == rules
    depth = 0
    for row in rows:
        plain = re.sub(r"\\[&%$#_{}]", "", row)
        assert not set(plain) & set("%#_") or row in rules
        for brace in re.findall("[{}]", plain):
            depth += 1 if brace == "{" else -1
            assert depth >= 0
        assert depth == 0
        if row not in rules:
            assert plain.count("&") == columns - 1
            assert plain.endswith(r" \\")


@pytest.mark.parametrize("name", ["a|b", "|", "a\\", "*", "`x"])
def test_markdown_has_the_same_columns_in_every_row_whatever_the_name(name: str) -> None:
    assert_markdown(formats.to_markdown(evaluation(name, "two")), columns=3)


def assert_markdown(table: str, columns: int) -> None:
    lines = table.split("\n")
    rows = lines[: lines.index("")]
    assert len(rows) > 2
    for row in rows:
        assert row.startswith("|")
        unescaped = re.sub(r"\\.", "", row)
        assert unescaped.endswith("|")
        assert unescaped.count("|") == columns + 1


def test_csv_and_json_have_every_score() -> None:
    found = evaluation('quo"te,', "a\nb")
    rows = list(csv.DictReader(io.StringIO(formats.to_csv(found))))
    assert [row["tokenizer"] for row in rows] == [score.tokenizer for score in found.scores]
    assert json.loads(formats.to_json(found))["scores"][3]["runs"] == [0.375, 0.625]
    assert (rows[3]["spread"], rows[3]["p"], rows[3]["baseline"]) == ("0.125", "0.5", 'quo"te,')
    assert (rows[0]["spread"], rows[0]["p"], rows[0]["baseline"]) == ("", "", "")


# ---------------------------------------------------------------------- every format


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.usefixtures("folder")
def test_a_format_is_what_the_api_makes_of_the_same_numbers(kind: str, capfd: Console) -> None:
    out = ok(call(capfd, *QUICK, *BOTH, "--no-align", "--format", kind))
    found = api("model", "sp.model", source="text.fr", align=False)
    assert out == FORMATS[kind](found)


@pytest.mark.usefixtures("folder")
def test_a_table_is_the_default_and_names_every_metric(capfd: Console) -> None:
    out = ok(call(capfd, *QUICK, *BOTH))
    for metric in METRICS.values():
        assert (formats.title(metric) in out) == (metric.name != "gini")
    assert all(name in out for name in ("model, target", "model, with source", "sp.model"))
    assert "10 sentences" in out


@pytest.mark.usefixtures("folder")
def test_csv_can_be_read(capfd: Console) -> None:
    out = ok(call(capfd, *QUICK, *BOTH, "--format", "csv"))
    rows = list(csv.DictReader(io.StringIO(out), strict=True))
    names = ["model, target only", "model, with source", "model, wrong source", "sp.model"]
    assert {row["tokenizer"] for row in rows} == set(names)
    assert {row["metric"] for row in rows} == set(METRICS) - {"gini"}
    for row in rows:
        assert None not in row
        assert float(row["low"]) <= float(row["high"])
        assert row["signature"].startswith(f"{row['metric']}:1|")
        if row["baseline"]:
            assert row["baseline"] == names[0] != row["tokenizer"]
            assert 0 < float(row["p"]) <= 1
            float(row["difference"])


@pytest.mark.usefixtures("folder")
def test_json_can_be_read(capfd: Console) -> None:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    out = ok(call(capfd, *QUICK, *BOTH, "--format", "json"))
    found = json.loads(out, parse_constant=refuse)
    assert found["sentences"] == 10
    assert found["baseline"] == "model, target only"
    assert [one["name"] for one in found["tokenizers"]][3] == "sp.model"
    assert set(found["metrics"]) == {score["metric"] for score in found["scores"]}
    assert found["metrics"]["fertility"]["better"] == "lower"


@pytest.mark.usefixtures("folder")
def test_latex_can_be_set(capfd: Console) -> None:
    odd = ["--tokenizer", f"{ODD_NAME}=sp.model", "--tokenizer", "{=sp.model"]
    out = ok(call(capfd, *THREE, *odd, "--format", "latex"))
    assert_latex(out, columns=6)
    assert r" & a\_b\%\&\# & \{ \\" in out
    assert r"\textbf{" in out


@pytest.mark.parametrize("kind", ["latex", "markdown"])
@pytest.mark.usefixtures("folder")
def test_a_name_with_a_line_break_breaks_no_table(kind: str, capfd: Console) -> None:
    odd = ["--tokenizer", "a\nb=sp.model", "--metric", "tokens"]
    ended = call(capfd, *THREE, *odd, "--format", kind)
    if ended.code == 0:  # rather than refused
        check = {"latex": assert_latex, "markdown": assert_markdown}[kind]
        check(ended.out, columns=5)


@pytest.mark.usefixtures("folder")
def test_markdown_can_be_read(capfd: Console) -> None:
    out = ok(call(capfd, *THREE, "--format", "markdown"))
    assert_markdown(out, columns=4)
    assert "| | sp.model | a\\|b | letters |" in out
    assert re.search(r"\| fertility ↓ \| \*\*[\d.]+\*\* \| \*\*[\d.]+\*\* \| [\d.]+\* \|", out)


# ---------------------------------------------------------------------- options


@pytest.mark.usefixtures("folder")
def test_metrics_can_be_chosen(capfd: Console) -> None:
    chosen = ["--metric", "fertility", "--metric", "tokens", "--format", "csv"]
    out = ok(call(capfd, *THREE, *chosen))
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["metric"] for row in rows] == ["tokens"] * 3 + ["fertility"] * 3


@pytest.mark.usefixtures("folder")
def test_a_metric_of_the_vocabulary_alone_can_be_chosen(capfd: Console) -> None:
    out = ok(call(capfd, *THREE, "--metric", "begin_of_word", "--format", "csv"))
    assert {row["metric"] for row in csv.DictReader(io.StringIO(out))} == {"begin_of_word"}


@pytest.mark.usefixtures("folder")
def test_the_baseline_can_be_chosen(capfd: Console) -> None:
    out = ok(call(capfd, *THREE, "--baseline", "letters", "--format", "csv"))
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {row["baseline"] for row in rows} == {"", "letters"}
    assert not any(row["baseline"] for row in rows if row["tokenizer"] == "letters")
    assert "differs from letters" in ok(call(capfd, *THREE, "--baseline", "letters"))


@pytest.mark.usefixtures("folder")
def test_it_works_without_the_aligner(capfd: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    from pairpiece.links import eflomal

    monkeypatch.setattr(eflomal, "_program", None)
    out = ok(call(capfd, *QUICK, *BOTH, "--no-align"))
    assert "parity ↓" in out
    assert "unaligned" not in out
    assert "no aligner" in out


@pytest.mark.usefixtures("folder")
def test_without_a_source_it_says_what_is_left_out(capfd: Console) -> None:
    out = ok(call(capfd, *QUICK, "--tokenizer", "model", "--tokenizer", "sp.model"))
    assert "no source text" in out
    assert "parity ↓" not in out


def test_options_are_those_of_the_api(capfd: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []

    def record(*arguments: Any, **options: Any) -> None:
        given.extend([arguments, options])
        raise pairpiece.OptionError("enough")

    monkeypatch.setattr(evaluation_package, "evaluate", record)
    text = ["--tokenizer", "a", "--tokenizer", "b", "--target", "t", "--source", "s"]
    dev = ["--dev-target", "dt", "--dev-source", "ds", "--source-tokenizer", "st"]
    others = ["--other-language", "x", "--other-language", "y", "--baseline", "b"]
    how = ["--renyi-power", 2.5, "--seed", 5, "--symmetrization", "union", "--runs", 2]
    more = ["--metric", "gini", "--resamples", 70, "--no-align", "--no-control"]
    more += ["--aligner", "fast_align", "--source-language", "sl", "--target-language", "tl"]
    assert complaint(call(capfd, "evaluate", *text, *dev, *others, *how, *more)) == "enough"
    arguments, options = given
    assert arguments == (["a", "b"], "t", "s")
    assert options.pop("advance")
    assert options == {
        "source_tokenizer": "st",
        "source_language": "sl",
        "target_language": "tl",
        "dev_target": "dt",
        "dev_source": "ds",
        "other_languages": ["x", "y"],
        "baseline": "b",
        "metrics": ["gini"],
        "align": False,
        "aligner": "fast_align",
        "control": False,
        "runs": 2,
        "symmetrization": "union",
        "renyi_power": 2.5,
        "resamples": 70,
        "seed": 5,
    }


def test_defaults_are_those_of_the_api(capfd: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    defaults = inspect.signature(pairpiece.evaluate).parameters

    def record(*_: Any, **options: Any) -> None:
        given.update(options)
        raise pairpiece.OptionError("enough")

    monkeypatch.setattr(evaluation_package, "evaluate", record)
    complaint(call(capfd, "evaluate", "--tokenizer", "a", "--target", "t"))
    del given["advance"]
    assert {name: value or None for name, value in given.items()} == {
        name: defaults[name].default or None for name in given
    }


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize("kind", FORMATS)
def test_output_goes_to_a_file(kind: str, folder: Path, capfd: Console) -> None:
    command = [*THREE, "--format", kind]
    assert ok(call(capfd, *command, "-o", "out")) == ""
    assert (folder / "out").read_text(encoding="utf-8") == ok(call(capfd, *command))


def test_a_report_and_figures_are_written_beside_the_table(folder: Path, capfd: Console) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    extra = ["--report", "page.html", "--figures", "new/figures", "--metric", "fertility"]
    ended = call(capfd, *THREE, *extra)
    assert (ended.code, ended.err) == (0, "page.html: the report\n")
    assert "fertility" in ended.out
    assert (folder / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    kinds = {path.suffix for path in (folder / "new" / "figures").iterdir()}
    assert kinds == {".svg", ".pdf", ".png"}
    assert not [path for path in folder.rglob(".*") if path.is_file()]


@pytest.mark.parametrize("missing", ["matplotlib", "jinja2"])
@pytest.mark.parametrize("option", ["--report", "--figures"])
def test_what_a_report_needs_is_named_at_once(
    missing: str, option: str, folder: Path, capfd: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    said = complaint(call(capfd, *THREE, option, "page"))
    assert missing in said
    assert "pairpiece[report]" in said
    assert not (folder / "page").exists()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["-o", "no/where"], "no/where"),
        (["-o", "model"], "model"),
        (["-o", "out", "--report", "no/where.html"], "no/where.html"),
        (["-o", "out", "--figures", "text.it"], "text.it"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_place_that_cannot_be_written_is_named(
    options: list[str], named: str, folder: Path, capfd: Console
) -> None:
    before = {path.name for path in folder.iterdir()}
    assert named in complaint(call(capfd, *THREE, "--metric", "tokens", *options))
    assert {path.name for path in folder.iterdir()} <= {*before, "out"}


def test_a_program_of_its_own_says_nothing_but_the_table(folder: Path) -> None:
    ended = run(*THREE, "--metric", "tokens", cache=folder)
    assert "tokens ↓" in ok(ended)
    assert "\x1b" not in ended.out


# ---------------------------------------------------------------------- bad input


def write(folder: Path) -> None:
    """What bad input there may be."""
    (folder / "short.fr").write_text("un\ndeux\n")
    (folder / "empty").write_text("")
    (folder / "blank").write_text(" \n\t\n")
    (folder / "latin").write_bytes(b"citt\xe0\n" * 10)
    (folder / "random.model").write_bytes(bytes(range(256)) * 4)
    (folder / "other.json").write_text('{"a": 1}')
    (folder / "bare").mkdir()
    shutil.copytree(folder / "model", folder / "corrupt")
    manifest = folder / "corrupt" / "pairpiece.json"
    manifest.write_bytes(manifest.read_bytes()[:-20])
    (folder / "few").write_text("a b\n" * 9)


SP = "--target text.it --tokenizer sp.model"
BAD = {
    "--target text.it --source short.fr --tokenizer model": r"short\.fr has 2 lines but text\.it "
    r"has 10: ",
    "--target empty --tokenizer sp.model": "empty: there is no text in it",
    "--target blank --tokenizer sp.model": "blank: there is no text in it",
    "--target latin --tokenizer sp.model": "latin:1: not valid UTF-8",
    "--target nowhere --tokenizer sp.model": "nowhere: there is no such file",
    f"{SP} --other-language empty": "empty: there is no text in it",
    "--target text.it --tokenizer random.model": r"random\.model: not a SentencePiece model",
    "--target text.it --tokenizer other.json": r"other\.json: not a Hugging Face tokenizer",
    "--target text.it --tokenizer bare": r"bare: there is no tokenizer\.json",
    "--target text.it --tokenizer corrupt": "corrupt",
    "--target text.it --tokenizer none.model": r"none\.model: there is no such file(?!.*source)",
    "--target text.it --tokenizer model/@both": "@both: the ways to tokenize are marginal",
    "--target text.it --tokenizer model/@paired": "need the source text: give --source",
    "--target text.it --tokenizer sp.model@paired": "only a PairPiece model",
    "--target text.it --tokenizer pretokenized:few": "few has 9 lines but the target text has 10",
    "--target text.it --tokenizer pretokenized:no": "no: there is no such file",
    f"{SP} --source text.fr": "give --source-tokenizer",
    f"{SP} --source text.fr --source-tokenizer bare": "bare: ",
    f"{SP} --metric bleu": "metric must be one of tokens, .* 'bleu'",
    f"{SP} --baseline x": r"baseline must be one of sp\.model, not 'x'",
    f"{SP} --runs 0": "runs must be between 1 and 1,000, not 0",
    f"{SP} --resamples 9": "resamples must be between 10 and 100,000, not 9",
    f"{SP} --renyi-power nan": "--renyi-power must be between 0 and 100, not nan",
    f"{SP} --dev-target text.it": "both sides: --dev-source and --dev-target",
    f"{SP} --dev-source text.fr": "both sides: --dev-source and --dev-target",
    "--target text.it --tokenizer model --source text.fr --dev-target text.it --dev-source "
    "short.fr": r"short\.fr has 2 lines but text\.it has 10",
}


@pytest.mark.parametrize("options", BAD)
def test_bad_input_is_named_and_nothing_is_written(
    options: str, folder: Path, capfd: Console
) -> None:
    write(folder)
    (folder / "out").write_text("as before")
    before = sorted(path.name for path in folder.iterdir())
    command = ["evaluate", "--resamples", 50, *options.split(), "--format", "json"]
    ended = call(capfd, *command, "-o", "out", "--report", "page")
    assert re.search(BAD[options], complaint(ended))
    assert sorted(path.name for path in folder.iterdir()) == before
    assert (folder / "out").read_text() == "as before"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--tokenizer sp.model", "--target"),
        ("--target text.it", "--tokenizer"),
        (f"{SP} --format html", "--format"),
        (f"{SP} --symmetrization grow", "--symmetrization"),
        (f"{SP} --runs many", "--runs"),
        (f"{SP} --beam 5", "--beam"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_wrong_usage_has_an_exit_code_of_its_own(
    options: str, expected: str, capfd: Console
) -> None:
    ended = call(capfd, "evaluate", *options.split())
    assert (ended.code, ended.out) == (2, "")
    assert expected in ended.err


@pytest.mark.usefixtures("folder")
def test_a_negative_seed_is_no_traceback(capfd: Console) -> None:
    assert call(capfd, "evaluate", *SP.split(), "--resamples", 50, "--seed", -1).code in (0, 1)


@pytest.mark.usefixtures("folder")
def test_an_aligner_that_is_missing_is_named(
    capfd: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pairpiece.links import eflomal

    monkeypatch.setattr(eflomal.shutil, "which", lambda _: None)
    monkeypatch.setattr(eflomal.sys, "executable", "/nowhere/python")
    said = complaint(call(capfd, *QUICK, *BOTH))
    assert "Eflomal" in said
    assert "--no-align" in said
    assert "--align " not in said, "that is an option of train"


@pytest.mark.usefixtures("folder")
def test_ctrl_c_is_no_traceback(capfd: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pairpiece.evaluation.bootstrap.draws", interrupted)
    assert call(capfd, *THREE) == (130, "", "pairpiece: interrupted\n")
