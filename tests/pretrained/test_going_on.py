"""Language models that go on from transferred weights."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from support import pretrained  # noqa: E402
from support.pretrained import Models  # noqa: E402

from pairpiece.downstream import language_models  # noqa: E402
from pairpiece.errors import OptionError  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

SMALL: dict[str, Any] = {
    "seeds": 1,
    "jobs": 1,
    "resamples": 10,
    "examples": 64,
    "batch": 8,
    "evaluate_every": 4,
    "warmup": 1,
}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("text")
    lines = pretrained.italian(600)
    parts = {"train": lines[:500], "dev": lines[500:550], "test": lines[550:]}
    for name, part in parts.items():
        (folder / name).write_text("".join(f"{line}\n" for line in part), encoding="utf-8")
    return [folder / name for name in parts]


def bits(family: str, folder: Path, path: Path) -> float:
    """Bits per byte of lines, with nothing but transformers."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = pretrained.loaded(family, folder)
    begin = tokenizer.bos_token_id
    nats, size = 0.0, 0
    for line in path.read_text(encoding="utf-8").splitlines():
        ids = tokenizer(line, add_special_tokens=False)["input_ids"]
        row = torch.tensor([[begin, *ids, tokenizer.eos_token_id]])
        with torch.no_grad():
            said = torch.log_softmax(model(row).logits[0, :-1].double(), -1)
        nats -= float(said[range(len(ids) + 1), row[0, 1:]].sum())
        size += len(line.encode())
    return nats / size / math.log(2)


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_training_goes_on_from_the_weights(
    models: Models, text: list[Path], family: str, tmp_path: Path
) -> None:
    folder = models.transferred(family)
    found = language_models(
        [f"new={folder}"], *text, init=[f"transferred={folder}"], output=tmp_path, **SMALL
    )
    new, transferred = found.curves
    assert [lines for lines, _ in transferred.points] == [0, 32, 64]
    assert [lines for lines, _ in new.points] == [32, 64]
    assert transferred.points[0][1] == pytest.approx(bits(family, folder, text[1]), rel=1e-4)
    assert transferred.points[-1][1] < transferred.points[0][1]
    best = next(tmp_path.glob("runs/transferred*/model"))  # a model like any other
    score = found.evaluation.score("transferred", "bits_per_byte_monolingual")
    assert score.value == pytest.approx(bits(family, best, text[2]), rel=1e-4)


def test_there_must_be_a_model_to_go_on_from(
    models: Models, text: list[Path], tmp_path: Path
) -> None:
    folder = models.tokenizer("byte-level")
    with pytest.raises(OptionError, match=r"there is no model to go on from: no config\.json"):
        language_models([], *text, init=[folder], output=tmp_path, **SMALL)
    started = [models.transferred("gpt2")]
    with pytest.raises(OptionError, match="read the target language alone"):
        language_models([], *text, text[0], init=started, output=tmp_path, **SMALL)
