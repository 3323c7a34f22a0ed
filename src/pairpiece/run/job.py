"""What a run is to do: all arguments of `train`, checked before any work is done."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairpiece.corpus.reading import Corpus, Paths
from pairpiece.errors import AlignerError, OptionError
from pairpiece.learning.options import LearningOptions
from pairpiece.learning.training import DEFAULT_SIZE, check_fixed, pieces_of, text_and_learning
from pairpiece.links.eflomal import TRAINING_LENGTH, Eflomal
from pairpiece.links.symmetrization import SYMMETRIZATIONS
from pairpiece.model import opening
from pairpiece.model.encoding import check_seed, check_threads
from pairpiece.model.imports import import_tokenizer
from pairpiece.model.tokenizer import Tokenizer
from pairpiece.options import check_balance, check_choice
from pairpiece.text.options import TextOptions

LINKS_BETWEEN = ("words", "spaces")

DEFAULT_BALANCE = 0.99
"""Tokens in proportion to those of a plain unigram tokenizer."""

_PENALTIES = {"paired_piece_penalty", "marginal_piece_penalty"}


@dataclass(frozen=True)
class Job:
    """Everything that the result of a run depends on, and how to go about it."""

    corpus: Corpus
    vocab_size: int
    vocabulary: Tokenizer | None  # learn c(t, s) for its pieces and nothing else
    start_from: list[str] | None  # choose the pieces among these
    mode: str
    source_tokenizer: Any  # None: train one
    source_vocab_size: int
    align: str  # "eflomal", "none", or a Pharaoh file
    links_between: str  # of a Pharaoh file: "words" or "spaces"
    symmetrization: str
    aligner: Eflomal
    keep_priors: bool
    max_lines: int | None
    strict: bool
    num_threads: int
    seed: int
    learning_arguments: dict[str, Any]  # of train_from_pairs
    text: TextOptions
    learning: LearningOptions
    balance: float | None  # None: penalties stay as they are
    dev: Corpus | None  # to calibrate on; None: a sample of the text


def prepare(
    source: Paths | None = None,
    target: Paths | None = None,
    *,
    corpus: Paths | Iterable[tuple[str, str]] | None = None,
    dev_source: Paths | None = None,
    dev_target: Paths | None = None,
    balance: float | None = None,
    vocab_size: int | None = None,
    vocabulary: Tokenizer | str | os.PathLike[str] | None = None,
    start_from: Tokenizer | str | os.PathLike[str] | Iterable[str] | None = None,
    mode: str = "default",
    source_tokenizer: Any = None,
    source_vocab_size: int | None = None,
    align: str | os.PathLike[str] = "eflomal",
    links_between: str = "words",
    symmetrization: str = "grow-diag-final-and",
    samplers: int = 1,
    aligner_length: float = TRAINING_LENGTH,
    keep_priors: bool = False,
    max_lines: int | None = None,
    strict: bool = False,
    format: str | None = None,  # noqa: A002
    source_column: str | None = None,
    target_column: str | None = None,
    num_threads: int | None = None,
    seed: int = 0,
    hard_vocab_limit: bool = True,
    memory_limit: int | None = None,
    **options: Any,
) -> Job:
    """Check all arguments before any work is done.

    * `source_tokenizer`: a SentencePiece ``.model``, a ``tokenizer.json`` or a Hugging Face
      directory, a PairPiece model, a function from text to tokens, or ``"pretokenized"`` for source
      text that is tokens already.  Without one a SentencePiece unigram model of
      `source_vocab_size` (else `vocab_size`) is trained.
    * `vocabulary`, `start_from`: see `train_from_pairs`; a path to a PairPiece model, a
      SentencePiece ``.model``, a ``tokenizer.json`` or a Hugging Face directory will do.
    * `align`: ``"eflomal"``, a Pharaoh file with word links made elsewhere, or ``"none"``.  The
      numbers in the file are those of words as `split_words` finds them, or, if `links_between` is
      ``"spaces"``, of what stands between spaces.
    * `symmetrization`: of the two directions, ``"grow-diag-final-and"``, ``"intersection"`` or
      ``"union"``.
    * `samplers` of Eflomal, and its iterations in proportion to its own number (`aligner_length`);
      `keep_priors` for aligning new text later.
    * `dev_source`, `dev_target`: text like that which will be tokenized.  The default mode makes as
      many tokens of it as a plain unigram tokenizer (or `vocabulary`) does, times `balance`, 0.99
      if not given: less is more compact, more is better aligned.  Without such text it goes by a
      sample of the corpus.  Nothing is fitted where penalties per piece are given.
    * `max_lines`: use a random sample of so many sentence pairs.  `strict`: stop at warnings.
    * `format`, `source_column`, `target_column`: see `Corpus`.
    * `num_threads`: all processors if not given; the result does not depend on it.
    * `vocab_size`, `mode`, `seed`, `hard_vocab_limit`, `memory_limit`: see `train_from_pairs`.
    """
    if num_threads is None:
        num_threads = os.cpu_count() or 1
    check_threads(num_threads)
    check_seed(seed)
    for name, value in (
        ("max_lines", max_lines),
        ("source_vocab_size", source_vocab_size),
        ("vocab_size", vocab_size),
    ):
        if value is not None and (type(value) is not int or value < 1):
            raise OptionError(f"{name} must be a positive number, not {value!r}")
    for name, flag in (
        ("strict", strict),
        ("keep_priors", keep_priors),
        ("hard_vocab_limit", hard_vocab_limit),
    ):
        if type(flag) is not bool:
            raise OptionError(f"{name} must be true or false, not {flag!r}")
    check_choice("symmetrization", symmetrization, SYMMETRIZATIONS)
    check_choice("links_between", links_between, LINKS_BETWEEN)
    fixed = _tokenizer(vocabulary)
    if fixed is not None:
        check_fixed(vocab_size, start_from)
        vocab_size = fixed.vocab_size
    if isinstance(start_from, str | os.PathLike):
        start_from = import_tokenizer(start_from)
    if fixed is None and not mode.startswith("paper"):
        options = {"add_dummy_prefix": True, **options}  # a first word is like any other
    text, learning = text_and_learning(mode, options, fixed)
    calibrates = mode == "default" and not options.keys() & _PENALTIES
    if not calibrates and (balance is not None or dev_source is not None or dev_target is not None):
        raise OptionError(
            "dev text and balance are for the default mode, without penalties per piece"
        )
    balance = DEFAULT_BALANCE if balance is None else balance
    check_balance(balance)
    if (dev_source is None) != (dev_target is None):
        raise OptionError("the dev text needs both sides: --dev-source and --dev-target")
    if text.pretokenization == "custom":
        raise OptionError("a pre-tokenizer of one's own works with train_from_pairs only")
    align = os.fspath(align)
    if align not in ("eflomal", "none") and not Path(align).is_file():
        raise AlignerError(f"{align}: there is no such Pharaoh file; or say eflomal or none")
    if align == "eflomal" and learning.source_side != "none":
        Eflomal.check_installed()
    if keep_priors and align != "eflomal":
        raise OptionError("keep_priors needs Eflomal: priors are what it learns about words")
    return Job(
        corpus=Corpus.of(
            source,
            target,
            corpus,
            format=format,
            source_column=source_column,
            target_column=target_column,
        ),
        vocab_size=vocab_size or DEFAULT_SIZE,
        vocabulary=fixed,
        start_from=pieces_of(start_from),
        mode=mode,
        source_tokenizer=None
        if source_tokenizer is None
        else opening.source_tokenizer(source_tokenizer),
        source_vocab_size=source_vocab_size or vocab_size or DEFAULT_SIZE,
        align="none" if learning.source_side == "none" else align,
        links_between=links_between,
        symmetrization=symmetrization,
        aligner=Eflomal(samplers, seed, aligner_length),
        keep_priors=keep_priors,
        max_lines=max_lines,
        strict=strict,
        num_threads=num_threads,
        seed=seed,
        learning_arguments={
            "hard_vocab_limit": hard_vocab_limit,
            "memory_limit": memory_limit,
            **options,
        },
        text=text,
        learning=learning,
        balance=balance if calibrates else None,
        dev=None if dev_source is None else Corpus.of(dev_source, dev_target, None),
    )


def _tokenizer(given: Tokenizer | str | os.PathLike[str] | None) -> Tokenizer | None:
    if given is None or isinstance(given, Tokenizer):
        return given
    if not isinstance(given, str | os.PathLike):
        raise OptionError(f"vocabulary must be a tokenizer or a path to one, not {given!r}")
    return import_tokenizer(given)
