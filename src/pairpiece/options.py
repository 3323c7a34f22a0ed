"""What can be set about a tokenizer and its training, with the four modes as presets."""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields
from typing import Any

from pairpiece.errors import OptionError
from pairpiece.normalization import NAMES as NORMALIZATIONS

MARKER = "▁"
"""U+2581, what a space looks like in a piece."""

BYTE_PIECES = tuple(f"<0x{byte:02X}>" for byte in range(256))

PRETOKENIZATIONS = ("lossless", "spaces", "paper", "none", "custom")
MODES = ("default", "paper", "paper-hard", "unigram")


def is_text(value: str) -> bool:
    """Whether a string is Unicode text, without lone surrogates."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return True


def _check_types(options: TextOptions | LearningOptions) -> None:
    """Every field has a value of its declared type; numbers are finite, strings not empty."""
    for option in fields(options):
        value = getattr(options, option.name)
        if not _TYPE_CHECKS[str(option.type)](value):
            raise OptionError(f"{option.name} must be of type {option.type}, not {value!r}")


_TYPE_CHECKS: dict[str, Callable[[Any], bool]] = {
    "bool": lambda value: type(value) is bool,
    "int": lambda value: type(value) is int,
    "float": lambda value: type(value) in (int, float) and math.isfinite(value),
    "str": lambda value: isinstance(value, str) and value != "" and is_text(value),
    "LengthPenalty": lambda value: isinstance(value, LengthPenalty),
    "tuple[str, ...]": lambda value: (
        isinstance(value, tuple) and all(_TYPE_CHECKS["str"](item) for item in value)
    ),
}


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise an `OptionError` for anything but one of the choices."""
    if value not in choices:
        raise OptionError(f"{name} must be one of {', '.join(choices)}, not {value!r}")


def check_whole(name: str, value: object, low: int, high: int) -> None:
    """Raise an `OptionError` for anything but a whole number in the range."""
    if type(value) is not int or not low <= value <= high:
        raise OptionError(f"{name} must be between {low:,} and {high:,}, not {value!r}")


def check_balance(balance: float) -> None:
    """Raise an `OptionError` for what is not a sensible proportion of tokens."""
    _between("balance", balance, 0.5, 2)


def _between(name: str, value: float, low: float, high: float = math.inf) -> None:
    if not (isinstance(value, int | float) and low <= value <= high and not math.isnan(value)):
        limit = f"between {low:g} and {high:g}" if high < math.inf else f"at least {low:g}"
        raise OptionError(f"{name} must be {limit}, not {value!r}")


@dataclass(frozen=True)
class LengthPenalty:
    """Nats per piece above or below the expected number; per extra piece of unaligned words."""

    over: float = 0.0
    under: float = 0.0
    unlinked: float = 0.0


@dataclass(frozen=True)
class TextOptions:
    """How text becomes words, and which pieces exist besides the learned ones."""

    normalization: str = "nfkc"
    pretokenization: str = "lossless"
    add_dummy_prefix: bool = False
    remove_extra_spaces: bool = False  # at the ends, and after a space
    byte_fallback: bool = True
    unk_id: int = 0
    bos_id: int = 1
    eos_id: int = 2
    pad_id: int = 3
    unk_piece: str = "<unk>"
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"
    user_defined_symbols: tuple[str, ...] = ()  # found in text as they are
    control_symbols: tuple[str, ...] = ()  # never found in text

    def __post_init__(self) -> None:
        _check_types(self)
        check_choice("normalization", self.normalization, NORMALIZATIONS)
        check_choice("pretokenization", self.pretokenization, PRETOKENIZATIONS)
        if self.unk_id < 0:
            raise OptionError("unk_id cannot be negative: <unk> always exists")
        for name in ("bos_id", "eos_id", "pad_id"):
            if getattr(self, name) < -1:
                raise OptionError(f"{name} must be an id, or -1 for none")
        special = self.special_tokens()
        if len(special) < 1 + (self.bos_id >= 0) + (self.eos_id >= 0) + (self.pad_id >= 0):
            raise OptionError("unk_id, bos_id, eos_id and pad_id must differ (or be -1 for none)")
        names = [*special.values(), *self.user_defined_symbols, *self.control_symbols]
        for name in names:
            if name == MARKER or (self.byte_fallback and name in BYTE_PIECES):
                raise OptionError(f"{name!r} is the name of another piece already")
        if len(set(names)) < len(names):
            raise OptionError(f"special tokens and symbols must differ: {names}")

    def special_tokens(self) -> dict[int, str]:
        """Special pieces by id, those switched off with -1 left out."""
        tokens = {
            self.unk_id: self.unk_piece,
            self.bos_id: self.bos_piece,
            self.eos_id: self.eos_piece,
            self.pad_id: self.pad_piece,
        }
        tokens.pop(-1, None)
        return tokens


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
    shrinking_factor: float = 0.75
    pruning_margin: float = 1.0  # prune by score to so many times the size, then by frequency
    num_sub_iterations: int = 2
    num_final_iterations: int = 4
    # Inference.
    paired_length_penalty: LengthPenalty = field(default_factory=LengthPenalty)
    paired_piece_penalty: float = 0.0  # τ
    # Scores without a source: "fitted" to the best paired segmentations, or the logarithms of how
    # often pieces stand in the "best" ones, or of the "expected" counts of the last pass.
    marginal: str = "fitted"
    marginal_piece_penalty: float = 0.0  # z
    whole_sentence: bool = False  # condition every word on the whole source sentence
    min_table_count: float = 1e-3  # smaller c(t, s) are not kept in the model
    # Which pairs are used.
    source_side: str = "all"  # "aligned" leaves unaligned words out, "none" the source tokens

    def __post_init__(self) -> None:
        _check_types(self)
        check_choice("conditional", self.conditional, ("mixture", "pooled"))
        check_choice("counting", self.counting, ("posterior", "printed", "best"))
        check_choice(
            "pruning", self.pruning, ("information+length", "information", "loss", "frequency")
        )
        check_choice("marginal", self.marginal, ("fitted", "best", "expected"))
        check_choice("source_side", self.source_side, ("all", "aligned", "none"))
        _between("character_coverage", self.character_coverage, 1e-6, 1)
        _between("max_piece_length", self.max_piece_length, 1, 63)
        _between("min_seed_count", self.min_seed_count, 0)
        _between("max_seeds", self.max_seeds, 0)
        _between("min_expected_count", self.min_expected_count, 0)
        _between("smoothing", self.smoothing, 0)
        _between("base_offset", self.base_offset, 1e-9)
        if self.conditional == "mixture" and self.smoothing == 0 and self.source_side != "none":
            raise OptionError(
                "a mixture needs smoothing above 0: unseen pieces would be impossible"
            )
        _between("shrinking_factor", self.shrinking_factor, 0.01, 0.99)
        _between("pruning_margin", self.pruning_margin, 1, 10)
        _between("num_sub_iterations", self.num_sub_iterations, 1)
        _between("num_final_iterations", self.num_final_iterations, 0)
        _between("min_table_count", self.min_table_count, 0)
        for name in ("paired_piece_penalty", "marginal_piece_penalty"):
            _between(name, getattr(self, name), -50, 50)
        for name in ("length_penalty", "paired_length_penalty"):
            for part in dataclasses.astuple(getattr(self, name)):
                _between(name, part, 0, 100)


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

_PRESETS = {
    "default": LearningOptions(
        length_penalty=LengthPenalty(over=4.0, under=2.0, unlinked=4.0),
        min_expected_count=1.0,
        paired_length_penalty=LengthPenalty(over=12.0, under=0.0, unlinked=12.0),
    ),
    "paper": _PAPER,
    "paper-hard": dataclasses.replace(_PAPER, counting="best"),
    "unigram": LearningOptions(
        smoothing=0.0,
        min_expected_count=0.5,
        pruning="loss",
        pruning_margin=1.1,
        marginal="expected",
        source_side="none",
    ),
}


_ARGUMENTS = {"vocab_size", "mode", "num_threads", "seed", "hard_vocab_limit", "memory_limit"}
"""Of `train_from_pairs`, to be suggested to those who misspell them."""


def options_for(mode: str, overrides: dict[str, Any]) -> tuple[TextOptions, LearningOptions]:
    """The options of a mode with some of them replaced by name.

    >>> text, learning = options_for("default", {"smoothing": 2.0})
    >>> learning.smoothing, learning.length_penalty.under
    (2.0, 2.0)
    """
    check_choice("mode", mode, MODES)
    text = TextOptions()
    if mode.startswith("paper"):
        text = TextOptions(pretokenization="paper", add_dummy_prefix=True)
    learning = _PRESETS[mode]
    text_names = {f.name for f in dataclasses.fields(TextOptions)}
    learning_names = {f.name for f in dataclasses.fields(LearningOptions)}
    for name in overrides:
        if name not in text_names | learning_names:
            known = sorted(text_names | learning_names | _ARGUMENTS)
            close = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise OptionError(f"there is no option {name!r}{hint}")
    overrides = {k: tuple(v) if isinstance(v, list) else v for k, v in overrides.items()}
    text = dataclasses.replace(text, **{k: v for k, v in overrides.items() if k in text_names})
    learning = dataclasses.replace(
        learning, **{k: v for k, v in overrides.items() if k in learning_names}
    )
    return text, learning
