"""The recipe for going on with the Trainer of transformers, whole or with LoRA (adapt.py)."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")
pytest.importorskip("peft")

from support import pretrained  # noqa: E402
from support.pretrained import Models  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]

RECIPE = Path(__file__).parents[2] / "examples" / "adapt.py"
SHORT = ["--embedding-steps", "5", "--steps", "20", "--context", "32", "--batch", "8"]


@pytest.fixture(scope="module")
def recipe() -> Any:
    specification = importlib.util.spec_from_file_location("adapt", RECIPE)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "train.it"
    path.write_text("".join(f"{line}\n" for line in pretrained.italian(200)), encoding="utf-8")
    return path


def changed(before: Any, after: Any) -> dict[str, bool]:
    old = dict(before.named_parameters())
    new = dict(after.named_parameters())
    assert old.keys() == new.keys()  # what was tied is tied
    return {name: not torch.equal(old[name], new[name]) for name in old}


def loss(model: Any, folder: Path, text: Path) -> float:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    lines = text.read_text(encoding="utf-8").splitlines()[:50]
    rows = [tokenizer(line, return_tensors="pt")["input_ids"][:, :64] for line in lines]
    with torch.no_grad():
        return sum(float(model(row, labels=row).loss) for row in rows if row.shape[1] > 1)


@pytest.mark.parametrize("lora", [False, True])
@pytest.mark.parametrize("family", ["gpt2", "llama"])  # tied, and not
def test_a_transferred_model_learns(
    models: Models, recipe: Any, text: Path, tmp_path: Path, family: str, lora: bool
) -> None:
    folder, output = models.transferred(family), tmp_path / "adapted"
    more = ["--lora", "4"] if lora else []
    recipe.main([str(folder), str(text), str(output), *SHORT, *more])
    before, after = (pretrained.loaded(family, place) for place in (folder, output))
    assert loss(after, output, text) < loss(before, folder, text)
    found = changed(before, after)
    rows = [name for name in found if any(part in name for part in ("wte", "embed", "lm_head"))]
    norms = [name for name in found if "norm" in name or "ln_" in name]
    layers = [name for name in found if "mlp" in name and name.endswith("weight")]
    assert all(found[name] for name in [*rows, *layers])
    assert all(found[name] is not lora for name in norms)  # LoRA has no part in these
    beside = {path.name for path in output.iterdir()}
    assert not {name for name in beside if "adapter" in name}


def test_at_first_the_layers_stand_still(
    models: Models, recipe: Any, text: Path, tmp_path: Path
) -> None:
    folder, output = models.transferred("llama"), tmp_path / "adapted"
    recipe.main([str(folder), str(text), str(output), *SHORT, "--steps", "0"])
    found = changed(*(pretrained.loaded("llama", place) for place in (folder, output)))
    rows = {"model.embed_tokens.weight", "lm_head.weight"}
    assert {name for name, is_new in found.items() if is_new} == rows


def test_too_little_text_is_said(models: Models, recipe: Any, tmp_path: Path) -> None:
    short = tmp_path / "short.it"
    short.write_text("Il gatto.\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"short\.it: \d+ tokens are less than one --context"):
        recipe.main([str(models.transferred("gpt2")), str(short), str(tmp_path / "out")])
