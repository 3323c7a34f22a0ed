"""What can be set about learning, with the four modes as presets."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from pairpiece.errors import OptionError
from pairpiece.options import (
    LEAST,
    MAX_SMOOTHING,
    MOST,
    LengthPenalty,
    check_between,
    check_choice,
    check_known,
    check_types,
)
from pairpiece.text.options import TextOptions


@dataclass(frozen=True)
class LearningOptions:
    """How the pieces and c(t, s) are learned; the symbols are those of docs/algorithm.md."""

    # What p(t|S) is (eq. 2 or 7) and how a pass counts (eq. 3, 9, or best segmentations).
    conditional: str = "mixture"
    counting: str = "posterior"
    smoothing: float = 1.0  # κ
    base_offset: float = 0.01  # ε of p0
    length_penalty: LengthPenalty = field(default_factory=LengthPenalty)
    # The vocabulary.
    character_coverage: float = 1.0
    max_piece_length: int = 16
    min_seed_count: float = 2.0
    max_seeds: int = 0
    min_expected_count: float = 0.3  # pieces that a pass counts less often are dropped
    pruning: str = "information+length"
    likelihood_weight: float = 0.0  # λ: how much losses of likelihood count beside information
    shrinking_factor: float = 0.75
    pruning_margin: float = 1.0  # prune by score to so many times the size, then by frequency
    num_sub_iterations: int = 2
    num_final_iterations: int = 4
    # Inference.  With a source, pieces score log p(t|S) ("conditional"), or by how much that is
    # above log p0(t) more than without one ("evidence").
    paired_scoring: str = "conditional"
    paired_smoothing: float = 1.0  # κ in encoding
    paired_length_penalty: LengthPenalty = field(default_factory=LengthPenalty)
    paired_piece_penalty: float = 0.0  # τ
    # Scores without a source: the "likeliest" for the words, or "fitted" to the best paired
    # segmentations, or the logarithms of how often pieces stand in the "best" ones, or of the
    # "expected" counts of the last pass.
    marginal: str = "fitted"
    marginal_piece_penalty: float = 0.0  # z
    whole_sentence: bool = False  # condition every word on the whole source sentence
    min_table_count: float = 1e-3  # smaller c(t, s) are not kept in the model
    # Which pairs are used.
    source_side: str = "all"  # "aligned" leaves unaligned words out, "none" the source tokens

    def __post_init__(self) -> None:
        check_types(self)
        check_choice("conditional", self.conditional, ("mixture", "pooled"))
        check_choice("counting", self.counting, ("posterior", "printed", "best"))
        check_choice(
            "pruning", self.pruning, ("information+length", "information", "loss", "frequency")
        )
        check_choice("marginal", self.marginal, ("likeliest", "fitted", "best", "expected"))
        check_choice("paired_scoring", self.paired_scoring, ("evidence", "conditional"))
        check_choice("source_side", self.source_side, ("all", "aligned", "none"))
        check_between("character_coverage", self.character_coverage, 1e-6, 1)
        check_between("max_piece_length", self.max_piece_length, 1, 63)
        for name in ("min_seed_count", "min_expected_count", "min_table_count"):
            check_between(name, getattr(self, name), 0, MOST)
        check_between("max_seeds", self.max_seeds, 0, 2**31)
        check_between("likelihood_weight", self.likelihood_weight, 0, 1000)
        check_between("base_offset", self.base_offset, LEAST, 1e9)
        for name, most in (("smoothing", 1e9), ("paired_smoothing", MAX_SMOOTHING)):
            mixture = self.conditional == "mixture" and self.source_side != "none"
            if mixture and getattr(self, name) == 0:
                raise OptionError(
                    f"a mixture needs {name} above 0: unseen pieces would be impossible",
                    [name],
                )
            if getattr(self, name) != 0:
                check_between(name, getattr(self, name), LEAST, most)
        check_between("shrinking_factor", self.shrinking_factor, 0.01, 0.99)
        check_between("pruning_margin", self.pruning_margin, 1, 10)
        check_between("num_sub_iterations", self.num_sub_iterations, 1, 1000)
        check_between("num_final_iterations", self.num_final_iterations, 0, 1000)
        for name in ("paired_piece_penalty", "marginal_piece_penalty"):
            check_between(name, getattr(self, name), -50, 50)
        for name in ("length_penalty", "paired_length_penalty"):
            for part in dataclasses.astuple(getattr(self, name)):
                check_between(name, part, 0, 100)


_PAPER = LearningOptions(
    conditional="pooled",
    counting="printed",
    smoothing=0.0,
    min_seed_count=1.0,
    min_expected_count=0.0,
    pruning="information",
    num_final_iterations=1,
    marginal="expected",
    whole_sentence=True,
    min_table_count=0.0,
    source_side="aligned",
)


@dataclass(frozen=True)
class Preset:
    """What a mode is: options, and what a run does besides learning."""

    learning: LearningOptions
    text: TextOptions = field(default_factory=TextOptions)
    pairs_per: str = "word"  # a pair for each "word" of the target, or for each "link"
    adjustable: bool = False  # whether a number of tokens can be asked for


_PAPER_PRESET = Preset(
    _PAPER, TextOptions(pretokenization="paper", add_dummy_prefix=True), pairs_per="link"
)

PRESETS = {
    "default": Preset(
        LearningOptions(
            length_penalty=LengthPenalty(over=4.0, under=2.0, unlinked=4.0),
            min_expected_count=1.0,
            likelihood_weight=3.0,
            marginal="likeliest",
            paired_scoring="evidence",
            paired_smoothing=20.0,
            paired_length_penalty=LengthPenalty(over=2.0, under=2.0, unlinked=0.0),
        ),
        adjustable=True,
    ),
    "paper": _PAPER_PRESET,
    "paper-hard": dataclasses.replace(
        _PAPER_PRESET, learning=dataclasses.replace(_PAPER, counting="best")
    ),
    "unigram": Preset(
        LearningOptions(
            smoothing=0.0,
            min_expected_count=0.5,
            pruning="loss",
            pruning_margin=1.1,
            marginal="expected",
            source_side="none",
        )
    ),
}
"""The modes by name."""

MODES = tuple(PRESETS)

PENALTIES = frozenset({"paired_piece_penalty", "marginal_piece_penalty"})
"""The options that calibration would set."""

_ARGUMENTS = {"vocab_size", "mode", "num_threads", "seed", "hard_vocab_limit", "memory_limit"}
"""Of `train_from_pairs`, to be suggested to those who misspell them."""


def options_for(mode: str, overrides: dict[str, Any]) -> tuple[TextOptions, LearningOptions]:
    """The options of a mode with some of them replaced by name.

    >>> text, learning = options_for("default", {"smoothing": 2.0})
    >>> learning.smoothing, learning.length_penalty.under
    (2.0, 2.0)
    """
    check_choice("mode", mode, MODES)
    preset = PRESETS[mode]
    text_names = {f.name for f in dataclasses.fields(TextOptions)}
    learning_names = {f.name for f in dataclasses.fields(LearningOptions)}
    for name in overrides:
        check_known("option", name, text_names | learning_names | _ARGUMENTS - {name})
    overrides = {k: tuple(v) if isinstance(v, list) else v for k, v in overrides.items()}
    return (
        dataclasses.replace(preset.text, **{k: v for k, v in overrides.items() if k in text_names}),
        dataclasses.replace(
            preset.learning, **{k: v for k, v in overrides.items() if k in learning_names}
        ),
    )
