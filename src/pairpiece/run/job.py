"""What a run is to do: all arguments of `train`, parsed and checked before any work is done."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pairpiece import _core
from pairpiece.corpus.reading import Corpus, Paths
from pairpiece.errors import AlignerError, MemoryLimitError, OptionError
from pairpiece.foreign.protocol import SubwordTokenizer
from pairpiece.learning.options import PENALTIES, PRESETS
from pairpiece.learning.plan import Plan, check_special_ids
from pairpiece.links.eflomal import TRAINING_LENGTH, Eflomal
from pairpiece.links.symmetrization import SYMMETRIZATIONS
from pairpiece.model.encoding import check_seed, check_threads
from pairpiece.model.opening import open_tokenizer
from pairpiece.model.tokenizer import Tokenizer, open_vocabulary
from pairpiece.options import check_balance, check_choice, check_flag, check_positive, check_size
from pairpiece.text.vocabulary import reserved_pieces

EFLOMAL, NO_LINKS = "eflomal", "none"
LINKS_BETWEEN = ("words", "spaces")

DEFAULT_BALANCE = 1.0
"""Tokens in proportion to those of a plain unigram tokenizer, where dev text is given."""


@dataclass(frozen=True)
class TextChoice:
    """Which text to learn from.

    * `source`, `target`: line-aligned text files or gettext catalogues, one or a list of each; or
      `corpus`: files with both sides, or any iterable of (source, target) strings.
    * `format`, `source_column`, `target_column`: see `Corpus`.
    * `max_lines`: use a random sample of so many sentence pairs.  `strict`: stop at warnings.
    """

    source: Paths | None = None
    target: Paths | None = None
    corpus: Paths | Iterable[tuple[str, str]] | None = None
    format: str | None = None
    source_column: str | None = None
    target_column: str | None = None
    max_lines: int | None = None
    strict: bool = False

    def __post_init__(self) -> None:
        check_positive("max_lines", self.max_lines)
        check_flag("strict", self.strict)

    def opened(self) -> Corpus:
        """The corpus, with the files there to be read."""
        return Corpus.of(
            self.source,
            self.target,
            self.corpus,
            format=self.format,
            source_column=self.source_column,
            target_column=self.target_column,
        )


@dataclass(frozen=True)
class SourceChoice:
    """Which tokens the source language has.

    `source_tokenizer`: a SentencePiece ``.model``, a ``tokenizer.json`` or a Hugging Face
    directory, a PairPiece model, a function from text to tokens, or ``"pretokenized"`` for source
    text that is tokens already.  Without one a SentencePiece unigram model of `source_vocab_size`
    (else `vocab_size`) is trained.
    """

    source_tokenizer: Any = None
    source_vocab_size: int | None = None

    def __post_init__(self) -> None:
        check_size("source_vocab_size", self.source_vocab_size)

    def opened(self) -> SubwordTokenizer | None:
        """The tokenizer that was given, if one was."""
        return None if self.source_tokenizer is None else open_tokenizer(self.source_tokenizer)


@dataclass(frozen=True)
class LinkChoice:
    """Where the links between words come from.

    * `align`: ``"eflomal"``, a Pharaoh file with word links made elsewhere, or ``"none"``.  The
      numbers in the file are those of words as `split_words` finds them, or, if `links_between` is
      ``"spaces"``, of what stands between spaces.
    * `symmetrization`: of the two directions, ``"grow-diag-final-and"``, ``"intersection"`` or
      ``"union"``.
    * `samplers` of Eflomal, and its iterations in proportion to its own number (`aligner_length`);
      `keep_priors` for aligning new text later.
    """

    align: str | os.PathLike[str] = EFLOMAL
    links_between: str = "words"
    symmetrization: str = "grow-diag-final-and"
    samplers: int = 1
    aligner_length: float = TRAINING_LENGTH
    keep_priors: bool = False

    def __post_init__(self) -> None:
        check_flag("keep_priors", self.keep_priors)
        check_choice("symmetrization", self.symmetrization, SYMMETRIZATIONS)
        check_choice("links_between", self.links_between, LINKS_BETWEEN)
        self.aligner(seed=0)

    def aligner(self, seed: int) -> Eflomal:
        """Eflomal as it was chosen."""
        return Eflomal(self.samplers, seed, self.aligner_length)

    def settled(self, source_side: str) -> LinkChoice:
        """The choice, found to be possible; none without a source side to link with."""
        align = os.fspath(self.align)
        if align not in (EFLOMAL, NO_LINKS) and not Path(align).is_file():
            raise AlignerError(f"{align}: there is no such Pharaoh file; or say eflomal or none")
        if align == EFLOMAL and source_side != "none":
            Eflomal.check_installed(
                "pass the links of another aligner as a Pharaoh file (align=), or train without "
                'links (align="none")',
                ["align"],
            )
        if self.keep_priors and align != EFLOMAL:
            raise OptionError(
                "keep_priors needs Eflomal: priors are what it learns about words", ["keep_priors"]
            )
        return dataclasses.replace(self, align=NO_LINKS if source_side == "none" else align)

    @property
    def pharaoh(self) -> Path | None:
        """The file that the links are in, if somebody else has made them."""
        return None if self.align in (EFLOMAL, NO_LINKS) else Path(self.align)


@dataclass(frozen=True)
class VocabularyChoice:
    """Which pieces there are to be.

    * `vocab_size`, `hard_vocab_limit`: see `train_from_pairs`.
    * `vocabulary`, `start_from`: see `train_from_pairs`; a path to a PairPiece model, a
      SentencePiece ``.model``, a ``tokenizer.json`` or a Hugging Face directory will do.
    """

    vocab_size: int | None = None
    vocabulary: Tokenizer | str | os.PathLike[str] | None = None
    start_from: Tokenizer | str | os.PathLike[str] | Iterable[str] | None = None
    hard_vocab_limit: bool = True

    def __post_init__(self) -> None:
        check_size("vocab_size", self.vocab_size)
        check_flag("hard_vocab_limit", self.hard_vocab_limit)

    def opened(self) -> VocabularyChoice:
        """The choice with tokenizers instead of paths."""
        vocabulary, start_from = self.vocabulary, self.start_from
        if isinstance(vocabulary, str | os.PathLike):
            vocabulary = open_vocabulary(vocabulary)
        elif not isinstance(vocabulary, Tokenizer | None):
            raise OptionError(
                f"vocabulary must be a tokenizer or a path to one, not {vocabulary!r}",
                ["vocabulary"],
            )
        if isinstance(start_from, str | os.PathLike):
            start_from = open_vocabulary(start_from)
        return dataclasses.replace(self, vocabulary=vocabulary, start_from=start_from)


@dataclass(frozen=True)
class CalibrationChoice:
    """How many tokens to make, if that is not left to what was learned.

    With `balance` or dev text, penalties per piece are fitted with which the default mode makes as
    many tokens as a plain unigram tokenizer (or `vocabulary`) does, times `balance`, 1 if not
    given: less is more compact, more is better aligned.  `dev_source`, `dev_target`: text like that
    which will be tokenized, to fit them to; without it, a sample of the corpus.
    """

    dev_source: Paths | None = None
    dev_target: Paths | None = None
    balance: float | None = None

    def __post_init__(self) -> None:
        if self.balance is not None:
            check_balance(self.balance)
        if (self.dev_source is None) != (self.dev_target is None):
            raise OptionError(
                "the dev text needs both sides: dev_source and dev_target",
                ["dev_source", "dev_target"],
            )

    @property
    def proportion(self) -> float | None:
        """The balance that was asked for; None if nothing is to be fitted."""
        return DEFAULT_BALANCE if self.balance is None and self.dev_source else self.balance

    def dev(self) -> Corpus | None:
        """The dev text, if there is any."""
        return None if self.dev_source is None else Corpus.of(self.dev_source, self.dev_target)


@dataclass(frozen=True)
class Running:
    """How to go about it; the result depends on the seed alone.

    `num_threads`: all processors if not given.  `seed`, `memory_limit`: see `train_from_pairs`.
    """

    num_threads: int | None = None
    seed: int = 0
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        check_threads(self.threads)
        check_seed(self.seed)

    @property
    def threads(self) -> int:
        """How many there are to be."""
        return (os.cpu_count() or 1) if self.num_threads is None else self.num_threads


CHOICES = (TextChoice, SourceChoice, LinkChoice, VocabularyChoice, CalibrationChoice, Running)


@dataclass(frozen=True)
class Job:
    """Everything that the result of a run depends on, and how to go about it."""

    corpus: Corpus
    max_lines: int | None
    strict: bool
    source_tokenizer: SubwordTokenizer | None  # None: train one
    source_vocab_size: int
    links: LinkChoice
    aligner: Eflomal
    pairs_per: str  # "word" of the target, or "link"
    plan: Plan  # of learning
    balance: float | None  # None: penalties stay as they are
    dev: Corpus | None  # to calibrate on; None: a sample of the text


def prepare(
    source: Paths | None = None, target: Paths | None = None, mode: str = "default", **options: Any
) -> Job:
    """Check all arguments before any work is done.

    `options` are the fields of `TextChoice`, `SourceChoice`, `LinkChoice`, `VocabularyChoice`,
    `CalibrationChoice` and `Running`, which explain them, and of `TextOptions` and
    `LearningOptions`.
    """
    options |= {"source": source, "target": target}
    text_choice = _taken(TextChoice, options)
    running = _taken(Running, options)
    source_choice = _taken(SourceChoice, options)
    link_choice = _taken(LinkChoice, options)
    vocabulary_choice = _taken(VocabularyChoice, options).opened()
    calibration = _taken(CalibrationChoice, options)

    if vocabulary_choice.vocabulary is None:
        options = {"add_dummy_prefix": True, **options}  # a first word is like any other
    plan = Plan.of(
        mode,
        options,
        **vars(vocabulary_choice),
        num_threads=running.threads,
        seed=running.seed,
        memory_limit=running.memory_limit,
    )
    if plan.text.pretokenization == "custom":
        raise OptionError("a pre-tokenizer of one's own works with train_from_pairs only")
    _check_size(plan)
    preset = PRESETS[mode]
    adjustable = preset.adjustable and not options.keys() & PENALTIES
    if not adjustable and calibration != CalibrationChoice():
        raise OptionError(
            "dev text and balance are for the default mode, without penalties per piece",
            ["balance"],
        )
    return Job(
        balance=calibration.proportion,
        dev=calibration.dev(),
        links=link_choice.settled(plan.learning.source_side),
        corpus=text_choice.opened(),
        max_lines=text_choice.max_lines,
        strict=text_choice.strict,
        source_tokenizer=source_choice.opened(),
        source_vocab_size=source_choice.source_vocab_size or plan.vocab_size,
        aligner=link_choice.aligner(running.seed),
        pairs_per=preset.pairs_per,
        plan=plan,
    )


def _check_size(plan: Plan) -> None:
    """Raise an error if the size does not go with the other options, whatever the text."""
    learned = plan.vocab_size - len(reserved_pieces(plan.text))
    if plan.vocabulary is not None or not plan.hard_vocab_limit or learned < 1:
        return
    check_special_ids(plan.text, plan.vocab_size)
    needed = learned * _core.seed_bytes(["a"], 1)  # each was a seed
    if plan.memory_limit is not None and needed > plan.memory_limit:
        raise MemoryLimitError(
            f"learning {learned:,} pieces takes {needed / 2**20:,.1f} MiB or more but memory_limit "
            f"is {plan.memory_limit / 2**20:,.1f} MiB: raise it, or lower vocab_size",
            ["memory_limit", "vocab_size"],
        )


_Choice = TypeVar("_Choice")


def _taken(kind: type[_Choice], options: dict[str, Any]) -> _Choice:
    """The options of one kind, taken out of all."""
    names = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    return kind(**{name: options.pop(name) for name in names if name in options})
