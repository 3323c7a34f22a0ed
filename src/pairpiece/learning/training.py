"""From aligned word pairs to a tokenizer."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from pairpiece import _core
from pairpiece.errors import MemoryLimitError, OptionError, PairError, VocabularySizeError
from pairpiece.foreign.protocol import SubwordTokenizer
from pairpiece.learning.engine import Engine, compiled
from pairpiece.learning.options import LearningOptions
from pairpiece.learning.outcome import table_of, vocabulary_of
from pairpiece.learning.pairs import PairLike, Pairs
from pairpiece.learning.plan import Plan, check_special_ids
from pairpiece.learning.schedule import ProgressCallback, follow_schedule
from pairpiece.learning.translations import translations_of
from pairpiece.model.opening import as_tokenizer
from pairpiece.model.state import ModelState, known
from pairpiece.model.tokenizer import SourceTokenizer, Tokenizer
from pairpiece.text.options import TextOptions
from pairpiece.text.vocabulary import reserved_pieces
from pairpiece.text.words import PreTokenizer, WordSplitter


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
    is learned but what its pieces go with: pieces, ids and target-only tokenization stay.  With
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
    _check_functions(
        progress=progress, pretokenizer=pretokenizer, source_tokenizer=source_tokenizer
    )
    if pretokenizer is not None and vocabulary is None:
        options = {**options, "pretokenization": "custom"}
    plan = Plan.of(
        mode,
        options,
        vocab_size=vocab_size,
        vocabulary=vocabulary,
        start_from=start_from,
        hard_vocab_limit=hard_vocab_limit,
        num_threads=num_threads,
        seed=seed,
        memory_limit=memory_limit,
    )
    if pretokenizer is not None and plan.text.pretokenization != "custom":
        raise OptionError("pretokenizer cannot be set: the vocabulary has its own way to split")
    if plan.text.pretokenization == "custom" and pretokenizer is None:
        raise OptionError('pretokenization="custom" needs the pretokenizer argument')
    source = None if source_tokenizer is None else as_tokenizer(source_tokenizer)
    pairs = pairs if isinstance(pairs, Pairs) else Pairs.from_iterable(pairs)
    return learn_tokenizer(pairs, plan, progress, source, pretokenizer)


def learn_tokenizer(
    pairs: Pairs,
    plan: Plan,
    progress: ProgressCallback | None = None,
    source_tokenizer: SubwordTokenizer | None = None,
    pretokenizer: PreTokenizer | None = None,
) -> Tokenizer:
    """Carry out a plan."""
    text, learning, vocabulary = plan.text, plan.learning, plan.vocabulary
    charsmap = plan.charsmap()
    pairs = _select(_normalized(pairs, text, charsmap), learning)
    reserved = reserved_pieces(text)
    if vocabulary is not None:
        reserved += set("".join(pairs.words)).difference(plan.allowed or [])
    engine = _start(pairs, reserved, plan)
    if vocabulary is None:
        wanted = _learned_size(engine, len(reserved), plan.vocab_size, plan.hard_vocab_limit)
        check_special_ids(text, wanted + len(reserved))
    else:
        wanted = len(engine.pieces())
        if wanted == 0:
            raise PairError("no piece of the vocabulary occurs in the words: is it their language?")
    follow_schedule(engine, learning, wanted, progress)
    pieces = vocabulary_of(engine, text, learning) if vocabulary is None else vocabulary.vocabulary
    state = ModelState(
        pieces,
        text,
        charsmap,
        source_tokenizer=source_tokenizer,
        pretokenizer=pretokenizer,
        seed=plan.seed,
        provenance={
            "mode": plan.mode,
            "pairs": len(pairs),
            "examples": pairs.total,
            "learning": dataclasses.asdict(learning),
        },
    )
    if learning.source_side != "none":
        state = dataclasses.replace(state, table=known(table_of(engine, pieces, learning, pairs)))
        del engine  # its memory is needed now
        state = _with_translations(state, pairs, plan)
    return Tokenizer(state)


def translated_again(state: ModelState, pairs: Pairs, plan: Plan) -> ModelState:
    """A model that cuts text in another way than when it was learned, with r(t, s) for that."""
    if state.translations is None:
        return state
    pairs = _select(_normalized(pairs, plan.text, state.charsmap), plan.learning)
    return _with_translations(state, pairs, plan)


def _with_translations(state: ModelState, pairs: Pairs, plan: Plan) -> ModelState:
    table = translations_of(pairs, state, plan.learning.min_table_count, plan.memory_limit)
    return dataclasses.replace(state, translations=known(table))


def _check_functions(**functions: object) -> None:
    for name, function in functions.items():
        if not (function is None or callable(function) or isinstance(function, SubwordTokenizer)):
            raise OptionError(f"{name} must be a function, not {function!r}")


def _normalized(pairs: Pairs, text: TextOptions, normalization: bytes) -> Pairs:
    """Words as the encoder will see them: normalised, digits split, no user-defined symbols."""
    splitter = WordSplitter(text, normalization)
    symbols = set(text.user_defined_symbols)
    words = ([] if word in symbols else splitter.normalize_word(word) for word in pairs.words)
    return pairs.with_words(words)


def _select(pairs: Pairs, learning: LearningOptions) -> Pairs:
    if learning.source_side == "none":
        pairs = pairs.without_source()
    elif learning.source_side == "aligned":
        pairs = pairs.aligned()
    if len(pairs) == 0:
        needed = "aligned pairs" if learning.source_side == "aligned" else "pairs"
        raise PairError(f"there are no {needed} to learn from")
    return pairs


def check_seeds(words: list[str], plan: Plan) -> None:
    """Raise a `MemoryLimitError` if the seeds of these different words may take too much."""
    if plan.memory_limit is not None:
        longest = plan.learning.max_piece_length
        advice = f"{_shorter(plan)} or leave out rare words"
        _check_memory("collecting the seeds", _core.seed_bytes(words, longest), advice, plan)


def _start(pairs: Pairs, reserved: list[str], plan: Plan) -> Engine:
    check_seeds(pairs.words, plan)
    engine = compiled(pairs, plan.learning, reserved, plan.num_threads, plan.allowed)
    least = plan.learning.min_seed_count
    fewer = f"raise min_seed_count (now {least:g}), cap the seeds with max_seeds"
    advice = f"{fewer} or {_shorter(plan)}"
    _check_memory("the co-occurrence table", engine.table_bytes(), advice, plan)
    return engine


def _shorter(plan: Plan) -> str:
    return f"lower max_piece_length (now {plan.learning.max_piece_length})"


def _check_memory(stage: str, needed: int, advice: str, plan: Plan) -> None:
    if plan.memory_limit is not None and needed > plan.memory_limit:
        raise MemoryLimitError(
            f"{stage} may need {needed / 2**20:,.0f} MiB but memory_limit is "
            f"{plan.memory_limit / 2**20:,.0f} MiB: {advice}",
            ["memory_limit", "max_piece_length", "min_seed_count", "max_seeds"],
        )


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
            f"nearest size",
            ["vocab_size", "character_coverage", "min_seed_count", "hard_vocab_limit"],
        )
    return min(max(vocab_size, lowest), highest) - fixed
