"""At the least and the largest values that are accepted, training works and nothing is lost."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.french_italian import PAIRS
from support.tampering import (
    manifest_of,
    pristine,
    refused,
    use_paired,
    use_plain,
    write_manifest,
    write_part,
)

import pairpiece
from pairpiece.learning.options import MODES, LearningOptions, options_for
from pairpiece.options import LEAST, MAX_SMOOTHING, MOST, LengthPenalty

pytestmark = pytest.mark.usefixtures("no_fsync")

RANGES: dict[str, tuple[Any, Any]] = {
    "smoothing": (LEAST, 1e9),
    "base_offset": (LEAST, 1e9),
    "length_penalty": (LengthPenalty(), LengthPenalty(100.0, 100.0, 100.0)),
    "character_coverage": (1e-6, 1.0),
    "max_piece_length": (1, 63),
    "min_seed_count": (0.0, MOST),
    "max_seeds": (0, 2**31),
    "min_expected_count": (0.0, MOST),
    "likelihood_weight": (0.0, 1000.0),
    "shrinking_factor": (0.01, 0.99),
    "pruning_margin": (1.0, 10.0),
    "num_sub_iterations": (1, 1000),
    "num_final_iterations": (0, 1000),
    "paired_smoothing": (LEAST, float(MAX_SMOOTHING)),
    "paired_length_penalty": (LengthPenalty(), LengthPenalty(100.0, 100.0, 100.0)),
    "paired_piece_penalty": (-50.0, 50.0),
    "marginal_piece_penalty": (-50.0, 50.0),
    "min_table_count": (0.0, MOST),
}
"""What is accepted, by option."""

CASES = [(name, value) for name, values in RANGES.items() for value in values]
PENALTY_SIDES = [field.name for field in dataclasses.fields(LengthPenalty)]


def used(tokenizer: pairpiece.Tokenizer, folder: Path) -> None:
    """It loses nothing, with a source and without, as it is and saved."""
    tokenizer.save(folder)
    for one in (tokenizer, pairpiece.load(folder)):
        use_plain(one)
        if one.is_paired:
            use_paired(one)


def test_every_number_of_the_options_has_its_range_here() -> None:
    kinds = ("int", "float", "LengthPenalty")
    numbers = {f.name for f in dataclasses.fields(LearningOptions) if f.type in kinds}
    assert numbers == set(RANGES)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("name", "value"), CASES, ids=[f"{n}={v}" for n, v in CASES])
def test_options_at_the_ends_of_their_range(
    name: str, value: Any, mode: str, tmp_path: Path
) -> None:
    pairs = PAIRS[:12]
    few = {} if name.startswith("num_") else {"num_sub_iterations": 1}
    tokenizer = pairpiece.train_from_pairs(
        pairs, 330, mode, hard_vocab_limit=False, **{**few, name: value}
    )
    used(tokenizer, tmp_path)


@pytest.mark.parametrize("name", RANGES)
def test_options_beyond_their_range_are_refused(name: str) -> None:
    low, high = RANGES[name]
    beyond: list[Any] = [math.nan, math.inf, -math.inf, "1", None]
    if isinstance(low, LengthPenalty):
        numbers: list[Any] = [-1e-300, 100.1, *beyond]
        beyond = [LengthPenalty(**{side: n}) for side in PENALTY_SIDES for n in numbers]
    elif isinstance(low, int):
        beyond += [low - 1, high + 1, 10**400, 1.0]
    else:
        beyond += [math.nextafter(low, -math.inf), math.nextafter(high, math.inf), 10**400]
        beyond += [5e-324] if low > 0 else []
    for value in beyond:
        with pytest.raises(pairpiece.OptionError):
            options_for("default", {name: value})


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "values",
    [
        {"smoothing": LEAST, "base_offset": LEAST, "paired_smoothing": LEAST},
        {"smoothing": 1e9, "base_offset": 1e9, "paired_smoothing": 1000.0},
        {"smoothing": LEAST, "base_offset": 1e9, "paired_smoothing": LEAST},
        {"smoothing": 1e9, "base_offset": LEAST, "paired_smoothing": LEAST},
    ],
)
@pytest.mark.parametrize("counts", [(LEAST, LEAST), (MOST, MOST), (LEAST, MOST), (MOST, LEAST)])
def test_counts_and_lengths_at_the_ends_of_their_range(
    counts: tuple[float, float], values: dict[str, float], mode: str, tmp_path: Path
) -> None:
    lengths = (1e9, LEAST)
    pairs = [
        (source, word, counts[i % 2], lengths[i // 2 % 2])
        for i, (source, word, _) in enumerate(PAIRS)
    ]
    tokenizer = pairpiece.train_from_pairs(pairs, 330, mode, hard_vocab_limit=False, **values)
    used(tokenizer, tmp_path)


@pytest.mark.parametrize("count", [0, -1, 5e-324, LEAST / 2, MOST * 2, 1e308, math.inf, math.nan])
def test_counts_and_lengths_beyond_their_range_are_refused(count: float) -> None:
    with pytest.raises(pairpiece.PairError):
        pairpiece.Pairs.from_iterable([(["S"], "a", count)])
    with pytest.raises(pairpiece.PairError):
        pairpiece.Pairs.from_iterable([(["S"], "a", 1, count)])


SETTINGS: dict[tuple[str, ...], tuple[float, float]] = {
    ("smoothing",): (1 / 1e30, 1000),
    ("piece_penalty",): (-1000, 1000),
    ("inferred_piece_penalty",): (-1000, 1000),
    ("length_penalty", "over"): (0, 1000),
    ("length_penalty", "under"): (0, 1000),
    ("length_penalty", "unlinked"): (0, 1000),
}
"""What is accepted of a model file."""


def with_setting(folder: Path, path: tuple[str, ...], value: Any, **others: Any) -> Path:
    manifest = manifest_of(folder)
    manifest["paired"] |= others
    place = manifest["paired"]
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    write_manifest(folder, manifest)
    return folder


@pytest.mark.parametrize("scoring", ["evidence", "conditional"])
@pytest.mark.parametrize("conditional", ["mixture", "pooled"])
@pytest.mark.parametrize("path", SETTINGS)
def test_settings_of_models_at_the_ends_of_their_range(
    path: tuple[str, ...], conditional: str, scoring: str, model: Path
) -> None:
    for value in SETTINGS[path]:
        with_setting(model, path, value, conditional=conditional, scoring=scoring)
        use_paired(pairpiece.load(model))


@pytest.mark.parametrize("path", SETTINGS)
def test_settings_of_models_beyond_their_range_are_refused(
    path: tuple[str, ...], model: Path
) -> None:
    low, high = SETTINGS[path]
    for value in (math.nextafter(low, -math.inf), math.nextafter(high, math.inf)):
        refused(with_setting(model, path, value))


def test_a_mixture_with_hardly_any_smoothing_is_refused(model: Path) -> None:
    """5e-324 times a probability is 0, and no segmentation would be possible."""
    refused(with_setting(model, ("smoothing",), 5e-324))


TABLE_VALUES = {
    "cooccurrence": {
        "count": (float(np.finfo(np.float32).smallest_subnormal), 9e29),
        "source_count": (1.1e-30, 9e29),
        "base": (1.1e-30, 9e29),
    },
    "bigram": {
        "count": (float(np.finfo(np.float32).smallest_subnormal), 9e29),
        "base": (1.1e-30, 9e29),
    },
}
TABLE_CASES = [
    (table, low_or_high, smoothing)
    for table in TABLE_VALUES
    for low_or_high in range(2 ** len(TABLE_VALUES[table]))
    for smoothing in (1e-30, 1000)
]


@pytest.mark.parametrize("scoring", ["evidence", "conditional"])
@pytest.mark.parametrize("conditional", ["mixture", "pooled"])
@pytest.mark.parametrize(("table", "which", "smoothing"), TABLE_CASES)
def test_tables_at_the_ends_of_their_range(
    table: str, which: int, smoothing: float, conditional: str, scoring: str, model: Path
) -> None:
    """All counts, totals and probabilities are the least or the largest, each with each."""
    arrays = {name: array.copy() for name, array in pristine()[1][table].items()}
    learned = arrays["base"] > 0
    for bit, (name, ends) in enumerate(TABLE_VALUES[table].items()):
        value = ends[which >> bit & 1]
        if name == "base":
            arrays[name][learned] = value
        else:
            arrays[name].fill(value)
    write_part(model, table, arrays)
    with_setting(model, ("smoothing",), smoothing, conditional=conditional, scoring=scoring)
    tokenizer = pairpiece.load(model)
    use_plain(tokenizer)
    use_paired(tokenizer)


def test_scores_at_the_ends_of_their_range(model: Path) -> None:
    manifest = manifest_of(model)
    for pattern in ([65536, -65536], [-65536], [65536]):
        for summation in ("words", "spaces", "texts", "singles"):
            size = len(manifest["scores"])
            manifest["scores"] = (pattern * size)[:size]
            manifest["summation"] = summation
            write_manifest(model, json.loads(json.dumps(manifest)))
            tokenizer = pairpiece.load(model)
            use_plain(tokenizer)
            use_paired(tokenizer)
            texts = ["Il gatto mangia il topo."] * 3
            use_plain(tokenizer.calibrate(texts, reference=30))
