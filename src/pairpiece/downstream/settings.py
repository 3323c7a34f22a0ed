"""How downstream models are built and trained: the paper's settings, and smaller ones."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, TypeVar

from pairpiece.errors import OptionError
from pairpiece.options import check_choice, check_flag, check_known

PRESETS = ("tiny", "small", "paper")


@dataclass(frozen=True)
class TrainingSettings:
    """How a model learns.  An example is a line of the training text.

    Because the unit is the line and not the token, models with different tokenizers see the same
    text in the same order.
    """

    examples: int  # seen in all, lines that come again included
    batch: int  # lines that go through the model at once
    accumulation: int  # batches to an update
    learning_rate: float  # the highest
    schedule: str  # "cosine" or "inverse-sqrt", after a linear rise
    warmup: int  # updates
    betas: tuple[float, float]
    epsilon: float
    weight_decay: float
    clip_norm: float
    label_smoothing: float
    averaging: float  # of weights over updates: the part of the newest, 0 for none
    half_precision: bool  # fp16; on a GPU only
    evaluate_every: int  # updates
    patience: int  # evaluations without gain on the dev text before training ends; 0: no limit

    @property
    def updates(self) -> int:
        """How often the weights change."""
        return -(-self.examples // (self.batch * self.accumulation))


@dataclass(frozen=True)
class LanguageModelSettings(TrainingSettings):
    """A GPT-2 model."""

    layers: int
    width: int
    heads: int
    context: int  # tokens
    dropout: float


@dataclass(frozen=True)
class TranslationSettings(TrainingSettings):
    """An encoder and decoder of the Transformer as in Marian."""

    layers: int  # of the encoder, and of the decoder
    width: int
    heads: int
    inner_width: int
    max_length: int  # tokens; what is longer is cut
    dropout: float
    beam: int
    length_normalization: float


_LANGUAGE_MODELS = {
    # Appendix G of the paper.  Adam and clipping are the defaults of its trainer.
    "paper": LanguageModelSettings(
        layers=12,
        width=768,
        heads=12,
        context=512,
        dropout=0.1,
        examples=2_000_000,
        batch=64,
        accumulation=8,
        learning_rate=5e-5,
        schedule="cosine",
        warmup=1000,
        betas=(0.9, 0.999),
        epsilon=1e-8,
        weight_decay=0.1,
        clip_norm=1.0,
        label_smoothing=0.0,
        averaging=0.0,
        half_precision=True,
        evaluate_every=250,
        patience=0,
    ),
}
_LANGUAGE_MODELS["small"] = dataclasses.replace(
    _LANGUAGE_MODELS["paper"],
    layers=4,
    width=256,
    heads=4,
    context=256,
    examples=400_000,
    accumulation=1,
    learning_rate=1e-3,
    warmup=200,
    half_precision=False,
    patience=5,
)
_LANGUAGE_MODELS["tiny"] = dataclasses.replace(
    _LANGUAGE_MODELS["small"],
    layers=2,
    width=96,
    context=128,
    dropout=0.0,
    examples=20_000,
    batch=8,  # many small steps learn more from so little text than few large ones
    learning_rate=3e-3,
    warmup=100,
    evaluate_every=500,
)

_TRANSLATION = {
    # Appendix F of the paper: Marian's options.
    "paper": TranslationSettings(
        layers=6,
        width=512,
        heads=8,
        inner_width=2048,
        max_length=512,
        dropout=0.1,
        beam=8,
        length_normalization=0.6,
        examples=1_000_000_000,  # a million updates
        batch=100,
        accumulation=10,
        learning_rate=3e-4,
        schedule="inverse-sqrt",
        warmup=16_000,
        betas=(0.9, 0.98),
        epsilon=1e-9,
        weight_decay=0.0,
        clip_norm=1.0,
        label_smoothing=0.1,
        averaging=1e-4,
        half_precision=True,
        evaluate_every=100_000,
        patience=10,
    ),
}
_TRANSLATION["small"] = dataclasses.replace(
    _TRANSLATION["paper"],
    layers=3,
    width=256,
    heads=4,
    inner_width=1024,
    max_length=256,
    beam=4,
    examples=400_000,
    batch=64,
    accumulation=1,
    learning_rate=1e-3,
    warmup=1000,
    averaging=0.0,
    half_precision=False,
    evaluate_every=500,
    patience=5,
)
_TRANSLATION["tiny"] = dataclasses.replace(
    _TRANSLATION["small"],
    layers=1,
    width=96,
    inner_width=384,
    dropout=0.0,
    examples=64_000,
    batch=16,
    learning_rate=3e-3,
    warmup=300,
    evaluate_every=1000,
)

AnySettings = TypeVar("AnySettings", bound=TrainingSettings)


def language_model_settings(preset: str, **changes: Any) -> LanguageModelSettings:
    """The settings of a preset, with some of them replaced by name.

    >>> language_model_settings("paper").updates
    3907
    >>> language_model_settings("tiny", layers=3).layers
    3
    """
    check_choice("preset", preset, PRESETS)
    return _changed(_LANGUAGE_MODELS[preset], changes)


def translation_settings(preset: str, **changes: Any) -> TranslationSettings:
    """The settings of a preset, with some of them replaced by name."""
    check_choice("preset", preset, PRESETS)
    return _changed(_TRANSLATION[preset], changes)


def _changed(settings: AnySettings, changes: dict[str, Any]) -> AnySettings:
    known = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    for name, value in changes.items():
        check_known("setting", name, known)
        changes[name] = _checked(name, value, known[name])
    settings = dataclasses.replace(settings, **changes)
    if getattr(settings, "width", 0) % (2 * getattr(settings, "heads", 1)):
        raise OptionError(
            "width must be a multiple of twice the number of heads", ["width", "heads"]
        )
    return settings


_MAY_BE_ZERO = ("warmup", "weight_decay", "label_smoothing", "averaging", "patience", "dropout")
_BELOW_ONE = ("weight_decay", "label_smoothing", "averaging", "dropout", "betas", "epsilon")


def _checked(name: str, value: Any, like: Any) -> Any:
    """A value of the kind that the setting has, within what makes sense."""
    if name == "schedule":
        check_choice(name, value, ("cosine", "inverse-sqrt"))
        return value
    if isinstance(like, bool):
        check_flag(name, value)
        return value
    if isinstance(like, tuple):
        if not isinstance(value, list | tuple) or len(value) != len(like):
            raise OptionError(f"{name} must be {len(like)} numbers, not {value!r}", [name])
        return tuple(_checked(name, one, like[0]) for one in value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or (isinstance(like, int) and not isinstance(value, int)):
        kind = "a whole number" if isinstance(like, int) else "a number"
        raise OptionError(f"{name} must be {kind}, not {value!r}", [name])
    if not value >= 0 or (value == 0 and name not in _MAY_BE_ZERO):
        raise OptionError(f"{name} must be above 0, not {value!r}", [name])
    limit = 1 if name in _BELOW_ONE else 10**12
    if value >= limit:
        raise OptionError(f"{name} must be below {limit:,}, not {value!r}", [name])
    return value
