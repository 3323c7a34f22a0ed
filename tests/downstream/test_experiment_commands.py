"""``lm`` and ``mt`` with every option that is documented, as a user types them."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command_line import Ended, Training, begin_of_sample, call, complaint, text

pytest.importorskip("torch")
pytest.importorskip("sacrebleu")

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("own_cache")]

Console = pytest.CaptureFixture[str]

SMALL = ("layers=1", "width=16", "heads=2", "examples=64", "batch=8", "evaluate_every=4")
LM = ["--dev-target", "dev.it", "--test-target", "test.it", "--target", "train.it"]
MT = [*LM, "--source", "train.fr", "--dev-source", "dev.fr", "--test-source", "test.fr"]
HOW: list[object] = ["--preset", "tiny", "--device", "cpu", "--threads", 1, "--jobs", 1]
HOW += ["--seeds", 1, "--seed", 7, "--resamples", 20, "--quiet"]
HOW += [word for value in SMALL for word in ("--set", value)]


@pytest.fixture(scope="module")
def world(trained: Training, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Text and tokenizers by the names that the documentation uses; experiments stay here."""
    folder = tmp_path_factory.mktemp("experiments")
    lines = begin_of_sample(240)
    for split, part in (("train", lines[:200]), ("dev", lines[200:220]), ("test", lines[220:])):
        for side, some in zip(("fr", "it"), zip(*part, strict=True), strict=True):
            (folder / f"{split}.{side}").write_text(text(*some), encoding="utf-8")
    (folder / "it-fr").symlink_to(trained.model)
    return folder


@pytest.fixture
def here(world: Path, monkeypatch: pytest.MonkeyPatch, capfd: Console) -> Path:
    monkeypatch.chdir(world)
    for language in ("fr", "it"):
        if not Path(f"{language}.model").exists():
            baseline = ["baseline", "--text", f"train.{language}", "--vocab-size", 400, "--quiet"]
            assert call(capfd, *baseline, "-o", f"{language}.model") == (0, "", "")
    return world


TOKENIZERS = ["--tokenizer", "sp=it.model", "--tokenizer", "ours=it-fr/"]
TOKENIZERS += ["--source-tokenizer", "fr.model", "--baseline", "ours"]


def done(ended: Ended, folder: str) -> str:
    """What a command prints that has done its work."""
    assert ended.code == 0, ended.err
    assert ended.err == f"{folder}: results.json, results.md, curves, models\n"
    return ended.out


def seeds(folder: str) -> list[str]:
    return sorted(path.name.rsplit("-", 1)[0] for path in Path(folder, "runs").iterdir())


# ---------------------------------------------------------------------- language models


@pytest.mark.usefixtures("here")
def test_language_models_of_both_languages(capfd: Console) -> None:
    command = ["lm", *TOKENIZERS, *LM, "--source", "train.fr", "--setting", "bilingual", *HOW]
    out = done(call(capfd, *command, "-o", "lm", "--format", "csv"), "lm")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {row["tokenizer"] for row in rows} == {"sp", "ours"}
    assert {row["metric"].rpartition("_")[2] for row in rows} == {"bilingual"}
    assert all("seeds:7-7" in row["signature"] for row in rows)
    assert [run for run in seeds("lm") if "-7" not in run] == []


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("kind", ["json", "latex", "table", "markdown"])
def test_results_come_in_every_format(kind: str, capfd: Console) -> None:
    """Nothing is trained again for another format."""
    command = ["lm", *TOKENIZERS, *LM, *HOW, "--setting", "monolingual", "-o", "formats"]
    out = done(call(capfd, *command, "--format", kind), "formats")
    if kind == "json":
        found = json.loads(out)
        assert {one["tokenizer"] for one in found["scores"]} == {"sp", "ours"}
    else:
        beginning = {"latex": "\\begin{tabular}", "markdown": "| ", "table": " "}[kind]
        assert out.startswith(beginning)
        assert "bits per byte" in out


# ---------------------------------------------------------------------- COMET

COMET = '''
"""As much of COMET as its users call: a score is the share of words that are in the reference."""

from pathlib import Path


def download_model(model, saving_directory=None, local_files_only=False):
    checkpoint = Path(__file__).parent / "checkpoints" / (model.replace("/", "--") + ".ckpt")
    if not checkpoint.exists():
        raise KeyError(f"Model '{model}' not supported by COMET.")
    return str(checkpoint)


def load_from_checkpoint(checkpoint_path, reload_hparams=False, strict=False):
    if Path(checkpoint_path).read_text() != "weights":
        raise ValueError("not a checkpoint")
    return Model()


class Prediction(dict):
    __getattr__ = dict.__getitem__


class Model:
    def predict(self, samples, batch_size=16, gpus=1, progress_bar=True):
        assert gpus == 0
        scores = [self.score(**sample) for sample in samples]
        return Prediction(scores=scores, system_score=sum(scores) / len(scores))

    def score(self, src, mt, ref):
        assert src
        return len({*mt.split()} & {*ref.split()}) / len(ref.split())
'''


@pytest.fixture
def comet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The package where Python finds it, and a model on this disk."""
    package = tmp_path / "site" / "comet"
    (package / "checkpoints").mkdir(parents=True)
    (package / "__init__.py").write_text(COMET, encoding="utf-8")
    model = package / "checkpoints" / "Unbabel--wmt22-comet-da.ckpt"
    model.write_text("weights", encoding="utf-8")
    monkeypatch.syspath_prepend(package.parent)
    sys.modules.pop("comet", None)
    yield model
    sys.modules.pop("comet", None)


@pytest.fixture
def translation(here: Path, capfd: Console) -> list[object]:
    """The command that has trained translation models."""
    del here
    command = ["mt", *TOKENIZERS, *MT, *HOW, "--set", "beam=1", "--set", "inner_width=32"]
    command += ["--output", "mt", "--format", "json"]
    done(call(capfd, *command), "mt")
    return command


def scores(out: str) -> dict[tuple[str, str], float]:
    rows = json.loads(out)["scores"]
    return {(row["tokenizer"], row["metric"]): row["value"] for row in rows}


def test_without_its_package_comet_is_explained(
    translation: list[object], capfd: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "comet", None)  # type: ignore[arg-type]
    said = complaint(call(capfd, *translation, "--comet", "Unbabel/wmt22-comet-da"))
    assert 'pip install "pairpiece[comet]" in an environment of its own' in said


@pytest.mark.parametrize("by", ["name", "path"])
def test_comet_is_added_to_models_that_are_trained_already(
    by: str, translation: list[object], comet: Path, capfd: Console
) -> None:
    trained = {path: path.stat().st_mtime_ns for path in Path("mt", "runs").rglob("*.safetensors")}
    assert trained
    before = scores(done(call(capfd, *translation), "mt"))
    given = "Unbabel/wmt22-comet-da" if by == "name" else comet
    found = scores(done(call(capfd, *translation, "--comet", given), "mt"))
    assert {key: value for key, value in found.items() if key[1] != "comet"} == before
    references = Path("test.it").read_text(encoding="utf-8").splitlines()
    for tokenizer in ("sp", "ours"):
        written = Path("mt", "translations", f"{tokenizer}.7.txt").read_text(encoding="utf-8")
        shares = [
            len({*mt.split()} & {*ref.split()}) / len(ref.split())
            for mt, ref in zip(written.splitlines(), references, strict=True)
        ]
        assert found[tokenizer, "comet"] == pytest.approx(sum(shares) / len(shares))
    assert trained == {path: path.stat().st_mtime_ns for path in trained}
    assert f"COMET|model:{given}" in Path("mt", "results.json").read_text(encoding="utf-8")


@pytest.mark.usefixtures("comet")
def test_a_comet_model_that_is_not_here_is_named(
    translation: list[object], tmp_path: Path, capfd: Console
) -> None:
    (tmp_path / "broken.ckpt").write_text("", encoding="utf-8")
    for given, why in (("Unbabel/other", "KeyError"), (tmp_path / "broken.ckpt", "ValueError")):
        said = complaint(call(capfd, *translation, "--comet", given))
        assert f"there is no COMET model {given} on this disk ({why})" in said
