"""Bad input is named, and nothing crashes."""

from __future__ import annotations

import contextlib
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.evaluations import (
    NO_ALIGNER,
    QUICK,
)
from support.french_italian import PAIRS, SOURCES, TARGETS

import pairpiece
from pairpiece import evaluate

pytestmark = pytest.mark.usefixtures("here")


Change = Callable[[Path], dict[str, Any]]


def file(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def bare_directory(folder: Path) -> Path:
    (folder / "bpe").mkdir()
    file(folder / "bpe" / "vocab.json", "{}")
    return folder / "bpe"


def corrupt_model(folder: Path) -> Path:
    shutil.copytree("model", folder / "corrupt")
    manifest = folder / "corrupt" / "pairpiece.json"
    manifest.write_bytes(manifest.read_bytes()[:-20])
    return folder / "corrupt"


RANDOM = bytes(range(256)) * 4

BAD: dict[str, tuple[Change, str]] = {
    "line counts": (
        lambda folder: {"source": file(folder / "short", "un\ndeux\n")},
        r"short has 2 lines but text\.it has 10",
    ),
    "line counts of lists": (
        lambda _: {"target": TARGETS, "source": SOURCES[:9]},
        "the source text has 9 lines but the target text has 10",
    ),
    "line counts of another language": (
        lambda folder: {"other_languages": ["text.fr", file(folder / "la", "unus\n")]},
        r"la has 1 lines? but text\.it has 10",
    ),
    "line counts of dev": (
        lambda folder: {"dev_target": "text.it", "dev_source": file(folder / "dev.fr", "un\n")},
        r"dev\.fr has 1 lines? but text\.it has 10",
    ),
    "empty target": (lambda folder: {"target": file(folder / "e.it", "")}, r"e\.it.*no text in it"),
    "empty source": (lambda folder: {"source": file(folder / "e.fr", "")}, r"e\.fr"),
    "blank": (
        lambda folder: {"target": file(folder / "b.it", " \n\t\n\u3000\n"), "source": None},
        r"b\.it.*no text in it",
    ),
    "empty list": (lambda _: {"target": [], "source": None}, "target text.*no text in it"),
    "missing file": (lambda _: {"target": "nowhere.it"}, r"nowhere\.it: there is no such file"),
    "missing source": (lambda _: {"source": "nowhere.fr"}, r"nowhere\.fr: there is no such file"),
    "missing dev": (
        lambda _: {"dev_target": "text.it", "dev_source": "nowhere.fr"},
        r"nowhere\.fr: there is no such file",
    ),
    "a folder": (lambda _: {"target": "model"}, "model: there is no such file"),
    "not UTF-8": (
        lambda folder: {"target": file(folder / "latin.it", b"citt\xe0\n" * 10)},
        r"latin\.it:1: not valid UTF-8",
    ),
    "not strings": (
        lambda _: {"target": ["a", 5], "source": None},
        "target sentence 1 is not a string but 5",
    ),
    "bytes": (lambda _: {"source": [b"un"] * 10}, r"source sentence 0 is not a string but b'un'"),
    "one side of dev": (lambda _: {"dev_target": TARGETS}, "both sides.*dev_source"),
    "the other side of dev": (lambda _: {"dev_source": SOURCES}, "both sides.*dev_target"),
    "no tokenizers": (lambda _: {"tokenizers": []}, "at least one tokenizer"),
    "missing tokenizer": (lambda _: {"tokenizers": ["no.model"]}, r"no\.model: there is no such"),
    "missing tokens": (
        lambda _: {"tokenizers": ["pretokenized:no.txt"]},
        r"no\.txt: there is no such file",
    ),
    "too few tokens": (
        lambda folder: {
            "tokenizers": [f"pretokenized:{file(folder / 'few', 'a b')}"],
            "source": None,
        },
        "few has 1 lines? but the target text has 10",
    ),
    "random bytes": (
        lambda folder: {"tokenizers": [file(folder / "random.model", RANDOM)]},
        r"random\.model: not a SentencePiece model",
    ),
    "no bytes": (
        lambda folder: {"tokenizers": [file(folder / "none.model", b"")]},
        r"none\.model: not a SentencePiece model",
    ),
    "other JSON": (
        lambda folder: {"tokenizers": [file(folder / "tokenizer.json", '{"a": 1}')]},
        r"tokenizer\.json: not a Hugging Face tokenizer",
    ),
    "a folder without files": (
        lambda folder: {"tokenizers": [bare_directory(folder)]},
        r"bpe: there is no tokenizer\.json in it",
    ),
    "corrupt model": (lambda folder: {"tokenizers": [corrupt_model(folder)]}, "corrupt"),
    "unknown way": (lambda _: {"tokenizers": ["model/@both"]}, "@both.*marginal, paired"),
    "way of another tokenizer": (
        lambda _: {"tokenizers": ["sp.model@paired"]},
        "only a PairPiece model",
    ),
    "no tokenizer": (lambda _: {"tokenizers": [None]}, "None"),
    "number": (lambda _: {"tokenizers": [3]}, "not 3"),
    "missing source tokenizer": (lambda _: {"source_tokenizer": "no.model"}, r"no\.model"),
    "unknown metric": (lambda _: {"metrics": ["bleu"]}, "metric must be one of .*'bleu'"),
    "unknown baseline": (
        lambda _: {"baseline": "x"},
        "baseline must be one of model, target only, .* not 'x'",
    ),
    "unknown symmetrization": (
        lambda _: {"symmetrization": "grow"},
        "symmetrization must be one of .* not 'grow'",
    ),
    "no runs": (lambda _: {"runs": 0}, "runs must be between 1 and 1,000, not 0"),
    "half a run": (lambda _: {"runs": 1.5}, "runs"),
    "few resamples": (lambda _: {"resamples": 1}, "resamples must be"),
    "power": (lambda _: {"renyi_power": -1}, "renyi_power must be"),
    "no power": (lambda _: {"renyi_power": math.nan}, "renyi_power must be"),
    "power of text": (lambda _: {"renyi_power": "3"}, "renyi_power must be"),
    "seed": (lambda _: {"seed": 1.5}, "seed"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_named(what: str, tmp_path: Path) -> None:
    change, expected = BAD[what]
    given: dict[str, Any] = {"tokenizers": ["model"], "target": "text.it", "source": "text.fr"}
    with pytest.raises(pairpiece.PairPieceError, match=expected):
        evaluate(**(given | QUICK | change(tmp_path)))


def test_a_negative_seed_is_no_crash() -> None:
    with contextlib.suppress(pairpiece.OptionError):
        assert evaluate(["sp.model"], TARGETS, seed=-1, **NO_ALIGNER).scores


def test_a_model_that_cannot_read_source_text_says_so(tokenizer: pairpiece.Tokenizer) -> None:
    how: dict[str, Any] = NO_ALIGNER | {"source_tokenizer": str.split}
    with pytest.raises(pairpiece.OptionError, match="no source tokenizer"):
        evaluate([tokenizer], TARGETS, SOURCES, **how)


@pytest.mark.parametrize(
    ("way", "expected"), [("paired", "source"), ("aligned", "source"), ("bigram", "bigram")]
)
def test_a_model_that_has_no_such_way_says_so(way: str, expected: str, tmp_path: Path) -> None:
    pairs = [([], word, count) for _, word, count in PAIRS]
    pairpiece.train_from_pairs(pairs, 340, "unigram").save(tmp_path / "it")
    with pytest.raises(pairpiece.OptionError, match=expected):
        evaluate([f"{tmp_path}/it/@{way}"], TARGETS, SOURCES, source_tokenizer="model", **QUICK)
