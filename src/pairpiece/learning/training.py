"""From aligned word pairs to a tokenizer."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pairpiece import _core
from pairpiece.errors import MemoryLimitError, OptionError, PairError, VocabularySizeError
from pairpiece.learning import pruning
from pairpiece.learning.engine import Engine, compiled
from pairpiece.learning.options import LearningOptions, options_for
from pairpiece.learning.pairs import PairLike, Pairs
from pairpiece.model.encoding import check_seed, check_threads
from pairpiece.model.tables import CooccurrenceTable
from pairpiece.model.tokenizer import PreTokenizer, SourceTokenizer, Tokenizer
from pairpiece.text.normalization import charsmap
from pairpiece.text.options import MARKER, TextOptions
from pairpiece.text.vocabulary import PieceType, Vocabulary, lay_out, quantize, reserved_pieces
from pairpiece.text.words import WordSplitter


@dataclass(frozen=True)
class Progress:
    """What a progress callback is told after every step of learning."""

    stage: str  # "seeds", "count" or "prune"
    iteration: int  # passes made so far
    vocab_size: int  # learned pieces there are now
    log_likelihood: float  # of the pairs in the last pass; NaN before the first
    table_entries: int  # stored c(t, s)
    seconds: float  # since the beginning


DEFAULT_SIZE = 8000
"""Of a vocabulary, everything included."""

ProgressCallback = Callable[[Progress], object]


def train_from_pairs(
    pairs: Pairs | Iterable[PairLike],
    vocab_size: int | None = None,
    mode: str = "default",
    *,
    vocabulary: Tokenizer | None = None,
    start_from: Tokenizer | Iterable[str] | None = None,
    num_threads: int = 1,
    seed: int = 0,
    hard_vocab_limit: bool = True,
    memory_limit: int | None = None,
    progress: ProgressCallback | None = None,
    source_tokenizer: SourceTokenizer | None = None,
    pretokenizer: PreTokenizer | None = None,
    **options: Any,
) -> Tokenizer:
    """Learn a tokenizer from (source tokens, target word[, count[, expected length]]) tuples.

    In target words ▁ stands for a space.  `vocab_size`, 8000 if not given, counts everything:
    special tokens, bytes, characters and learned pieces.  `mode` is ``"default"``, ``"paper"``,
    ``"paper-hard"`` or ``"unigram"``; `options` are the fields of `TextOptions` and
    `LearningOptions`, by name.

    With `vocabulary`, a tokenizer from `from_sentencepiece`, `from_huggingface` or `load`, nothing
    but c(t, s) is learned: pieces, ids and target-only tokenization stay as they are.  With
    `start_from`, a tokenizer or its pieces, the new pieces are chosen among those.

    The result depends on the set of pairs and the options alone, not on the order of the pairs or
    on `num_threads`.  Learning draws no random numbers; `seed` is what `Tokenizer.sample` starts
    from when it is given none.  `memory_limit` (bytes) stops with a `MemoryLimitError` before the
    memory is taken.

    >>> pairs = [(["▁les", "▁souris"], "▁topi"), (["▁souris"], "▁topo"), (["▁de"], "▁di", 5)]
    >>> tok = train_from_pairs(pairs, vocab_size=272)
    >>> tok.encode(" di", out_type=str)
    ['▁di']
    """
    check_threads(num_threads)
    check_seed(seed)
    _check_sizes(vocab_size, memory_limit)
    _check_functions(
        progress=progress, pretokenizer=pretokenizer, source_tokenizer=source_tokenizer
    )
    if pretokenizer is not None and vocabulary is None:
        options = {**options, "pretokenization": "custom"}
    text, learning = text_and_learning(mode, options, vocabulary)
    if pretokenizer is not None and text.pretokenization != "custom":
        raise OptionError("pretokenizer cannot be set: the vocabulary has its own way to split")
    if text.pretokenization == "custom" and pretokenizer is None:
        raise OptionError('pretokenization="custom" needs the pretokenizer argument')
    normalization = charsmap(text.normalization) if vocabulary is None else vocabulary.charsmap
    if not isinstance(pairs, Pairs):
        pairs = Pairs.from_iterable(pairs)
    pairs = _select(_normalized(pairs, text, normalization), learning)
    reserved = reserved_pieces(text)
    allowed = pieces_of(start_from if vocabulary is None else vocabulary)
    if vocabulary is not None:
        check_fixed(vocab_size, start_from)
        learning = _with_all_pieces(learning, allowed or [])
        reserved += set("".join(pairs.words)).difference(allowed or [])
    engine = _start(pairs, reserved, allowed, learning, num_threads, memory_limit)
    if vocabulary is None:
        wanted = _learned_size(engine, len(reserved), vocab_size or DEFAULT_SIZE, hard_vocab_limit)
        _check_special_ids(text, wanted + len(reserved))
    else:
        wanted = len(engine.pieces())
        if wanted == 0:
            raise PairError("no piece of the vocabulary occurs in the words: is it their language?")
    learn(engine, learning, wanted, progress)
    pieces = vocabulary_of(engine, text, learning) if vocabulary is None else vocabulary.vocabulary
    table = None
    if learning.source_side != "none":
        table = CooccurrenceTable.from_engine(engine, pieces, learning, pairs)
    return Tokenizer(
        pieces,
        text,
        normalization,
        table=table,
        source_tokenizer=source_tokenizer,
        pretokenizer=pretokenizer,
        seed=seed,
        provenance={
            "mode": mode,
            "pairs": len(pairs),
            "examples": pairs.total,
            "learning": dataclasses.asdict(learning),
        },
    )


def _check_sizes(vocab_size: object, memory_limit: object) -> None:
    if vocab_size is not None and (type(vocab_size) is not int or vocab_size < 1):
        raise OptionError(f"vocab_size must be a positive number, not {vocab_size!r}")
    if memory_limit is not None and (type(memory_limit) is not int or memory_limit < 0):
        raise OptionError(f"memory_limit must be a number of bytes, not {memory_limit!r}")


def _check_functions(**functions: object) -> None:
    for name, function in functions.items():
        if not (function is None or callable(function) or isinstance(function, Tokenizer)):
            raise OptionError(f"{name} must be a function, not {function!r}")


def learn(
    engine: Engine, options: LearningOptions, wanted: int, progress: ProgressCallback | None = None
) -> None:
    """Run the schedule: count and prune until `wanted` pieces are left, then count again."""
    started = time.monotonic()
    iteration = 0
    log_likelihood = float("nan")

    def report(stage: str) -> None:
        if progress is not None:
            size = len(engine.piece_counts())
            entries = int(engine.table_entries())
            seconds = time.monotonic() - started
            progress(Progress(stage, iteration, size, log_likelihood, entries, seconds))

    def count() -> None:
        nonlocal iteration, log_likelihood
        log_likelihood = engine.count()
        iteration += 1
        report("count")

    def keep(scores: pruning.Scores, size: int) -> None:
        if size < len(scores):
            engine.keep(pruning.keep_best(engine, scores, max(size, wanted)))
            report("prune")

    def drop_unused() -> None:
        counts = np.asarray(engine.piece_counts())
        enough = options.min_expected_count * (1 - 1e-9)  # up to rounding
        keep(counts, int((counts >= enough).sum()))

    engine.initialize()
    report("seeds")
    goal = int(wanted * options.pruning_margin)
    while (size := len(engine.piece_counts())) > goal:
        for _ in range(options.num_sub_iterations):
            count()
            drop_unused()
        if len(engine.piece_counts()) > size * options.shrinking_factor:
            scores = pruning.SCORES[options.pruning](engine)
            keep(scores, max(goal, int(size * options.shrinking_factor)))
    if size > wanted:
        for _ in range(options.num_sub_iterations):
            count()
        keep(np.asarray(engine.piece_counts()), wanted)
    for _ in range(options.num_final_iterations):
        count()


def passes_left(size: int, wanted: int, options: LearningOptions) -> int:
    """How many passes there are still to come at most, with `size` pieces of `wanted`."""
    prunings = max(0.0, math.log(size / wanted)) / -math.log(options.shrinking_factor)
    return math.ceil(prunings) * options.num_sub_iterations + options.num_final_iterations


def vocabulary_of(engine: Engine, text: TextOptions, options: LearningOptions) -> Vocabulary:
    """Scores for target-only use, and ids for all pieces."""
    if options.marginal == "expected":
        counts = np.asarray(engine.piece_counts())
        # What no pass has counted must not be impossible: half of the smallest count there is.
        least = max(counts[counts > 0].min() / 2, np.finfo(np.float64).tiny)
        counts = np.maximum(counts, least)
        scores = np.log(counts) - np.log(counts.sum())
    else:
        penalty = options.paired_length_penalty
        used = np.asarray(
            engine.best_counts(
                penalty.over, penalty.under, penalty.unlinked, options.paired_piece_penalty
            )
        )
        scores = np.log(used + 0.1) - np.log((used + 0.1).sum())  # eq. 16
        if options.marginal == "fitted":
            scores = _fitted(engine, used, scores)
    scores = scores - options.marginal_piece_penalty
    return lay_out(text, list(zip(engine.pieces(), map(quantize, scores), strict=True)))


def _fitted(
    engine: Engine, used: npt.NDArray[np.float64], scores: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Scores under which each piece is expected as often in the words as it is `used` (eq. 19)."""
    for _ in range(_FITTING_PASSES):
        expected = np.asarray(engine.unigram_counts(scores))
        scores = scores + 0.5 * (np.log(used + 1) - np.log(expected + 1))
    return scores


_FITTING_PASSES = 20


def text_and_learning(
    mode: str, options: dict[str, Any], vocabulary: Tokenizer | None
) -> tuple[TextOptions, LearningOptions]:
    """The options of a run; those about text are the vocabulary's, if there is one."""
    text, learning = options_for(mode, options)
    if vocabulary is None:
        return text, learning
    if not isinstance(vocabulary, Tokenizer):
        raise OptionError(f"vocabulary must be a tokenizer, not {vocabulary!r}")
    own = {field.name for field in dataclasses.fields(TextOptions)} | _ABOUT_PIECES.keys()
    for name in options:
        if name in own:
            raise OptionError(f"{name} cannot be set: the vocabulary has its own")
    if learning.source_side == "none":
        raise OptionError("without a source side there is nothing to learn for a vocabulary")
    return vocabulary.options, learning


def check_fixed(vocab_size: int | None, start_from: object) -> None:
    """Raise an `OptionError` for what has no meaning with a fixed vocabulary."""
    if vocab_size is not None:
        raise OptionError(
            "vocab_size cannot be set with vocabulary, which stays as it is; start_from takes "
            "another one as a beginning"
        )
    if start_from is not None:
        raise OptionError("vocabulary and start_from exclude each other")


def pieces_of(given: Tokenizer | Iterable[str] | None) -> list[str] | None:
    """The learned pieces of a tokenizer, or the given ones."""
    if given is None:
        return None
    if isinstance(given, Tokenizer):
        vocabulary = given.vocabulary
        kinds = zip(vocabulary.pieces, vocabulary.types, strict=True)
        return [piece for piece, kind in kinds if kind == PieceType.NORMAL]
    pieces = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [None]
    if not all(isinstance(piece, str) for piece in pieces):
        raise OptionError(f"start_from must be a tokenizer or a list of pieces, not {given!r}")
    return [piece.replace(" ", MARKER) for piece in pieces if piece]


def _with_all_pieces(learning: LearningOptions, pieces: list[str]) -> LearningOptions:
    """The options with which no piece is left out."""
    longest = max(map(len, pieces), default=1)
    return dataclasses.replace(learning, **{**_ABOUT_PIECES, "max_piece_length": min(longest, 63)})


_ABOUT_PIECES: dict[str, Any] = {
    "max_piece_length": 63,
    "min_seed_count": 0.0,
    "max_seeds": 0,
    "character_coverage": 1.0,
    "min_expected_count": 0.0,
}
"""With these options no piece is left out."""


def _normalized(pairs: Pairs, text: TextOptions, normalization: bytes) -> Pairs:
    """Words as the encoder will see them: normalised, ▁ for spaces, no user-defined symbols."""
    splitter = WordSplitter(text, normalization)
    symbols = set(text.user_defined_symbols)
    renamed = ("" if word in symbols else splitter.normalize_word(word) for word in pairs.words)
    return pairs.with_words(renamed)


def _select(pairs: Pairs, learning: LearningOptions) -> Pairs:
    if learning.source_side == "none":
        pairs = pairs.without_source()
    elif learning.source_side == "aligned":
        pairs = pairs.aligned()
    if len(pairs) == 0:
        needed = "aligned pairs" if learning.source_side == "aligned" else "pairs"
        raise PairError(f"there are no {needed} to learn from")
    return pairs


def _start(
    pairs: Pairs,
    reserved: list[str],
    allowed: list[str] | None,
    learning: LearningOptions,
    threads: int,
    memory_limit: int | None,
) -> Engine:
    def check(stage: str, needed: int, advice: str) -> None:
        if memory_limit is not None and needed > memory_limit:
            raise MemoryLimitError(
                f"{stage} may need {needed / 2**20:,.0f} MiB but memory_limit is "
                f"{memory_limit / 2**20:,.0f} MiB: {advice}"
            )

    shorter = f"lower max_piece_length (now {learning.max_piece_length})"
    fewer = f"raise min_seed_count (now {learning.min_seed_count:g}), cap the seeds with max_seeds"

    if memory_limit is not None:
        needed = _core.seed_bytes(pairs.words, learning.max_piece_length)
        check("collecting the seeds", needed, f"{shorter} or leave out rare words")
    engine = compiled(pairs, learning, reserved, threads, allowed)
    check("the co-occurrence table", engine.table_bytes(), f"{fewer} or {shorter}")
    return engine


def _check_special_ids(text: TextOptions, size: int) -> None:
    for name in ("unk_id", "bos_id", "eos_id", "pad_id"):
        if getattr(text, name) >= size:
            raise OptionError(f"{name} {getattr(text, name)} lies outside the {size} ids there are")


def _learned_size(engine: Engine, fixed: int, vocab_size: int, hard: bool) -> int:
    """How many pieces to learn, characters included, for `vocab_size` with the `fixed` ones."""
    lowest, highest = fixed + engine.characters(), fixed + len(engine.pieces())
    if hard and not lowest <= vocab_size <= highest:
        advice = (
            "lower character_coverage to leave rare characters to the bytes"
            if vocab_size < lowest
            else "give more text or lower min_seed_count"
        )
        raise VocabularySizeError(
            f"vocab_size {vocab_size} cannot be reached: with these pairs and options it must be "
            f"between {lowest} and {highest}; {advice}, or pass hard_vocab_limit=False for the "
            f"nearest size"
        )
    return min(max(vocab_size, lowest), highest) - fixed
