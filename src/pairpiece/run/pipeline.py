"""From raw parallel text to a tokenizer: the list of stages, each resumed from its result."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairpiece import files
from pairpiece.corpus.checks import Finding
from pairpiece.corpus.reading import Paths
from pairpiece.errors import CorpusError
from pairpiece.foreign.protocol import SubwordTokenizer
from pairpiece.foreign.sentencepiece import SentencePieceTokenizer
from pairpiece.learning.plan import Plan
from pairpiece.learning.training import check_seeds, translated_again
from pairpiece.model.calibration import calibrated, misses
from pairpiece.model.saving import check_destination, check_no_other
from pairpiece.model.tokenizer import Tokenizer, load
from pairpiece.run.aligned_text import AlignedText
from pairpiece.run.job import EFLOMAL, Job, prepare
from pairpiece.run.reporting import Reporter
from pairpiece.run.stages.align import AlignWords
from pairpiece.run.stages.calibrate import Calibrate, read_dev
from pairpiece.run.stages.learn import Learn
from pairpiece.run.stages.pairs import CollectPairs, read_pairs
from pairpiece.run.stages.read import Read
from pairpiece.run.stages.source import TrainSource
from pairpiece.run.stages.stage import Doing
from pairpiece.run.stages.words import SplitWords, read_words
from pairpiece.run.workspace import Result, Workspace, default_folder


def train(
    source: Paths | None = None,
    target: Paths | None = None,
    *,
    corpus: Paths | Iterable[tuple[str, str]] | None = None,
    output: str | os.PathLike[str] | None = None,
    vocab_size: int | None = None,
    mode: str = "default",
    source_tokenizer: Any = None,
    align: str | os.PathLike[str] = EFLOMAL,
    work_dir: str | os.PathLike[str] | None = None,
    cache: bool = True,
    reporter: Reporter | None = None,
    **options: Any,
) -> Tokenizer:
    """Learn a tokenizer for the target language from raw parallel text; saved to `output` if given.

    The text is `source` and `target`, line-aligned text files or gettext catalogues (one or a list
    of each), or `corpus`: files with both sides (TSV, JSONL, Parquet, TMX, gettext), or any
    iterable of (source, target) strings.  Files may be compressed (``.gz``, ``.xz``, ``.zst``).

    `options` are the other arguments of `pairpiece.run.job.prepare`, which explains them all, and
    the fields of `TextOptions` and `LearningOptions`.  Results of stages are kept in `work_dir` and
    used again, unless `cache` is false.

    >>> pairs = [("le chat dort", "il gatto dorme"), ("les chats dorment", "i gatti dormono")] * 5
    >>> tok = train(corpus=pairs, vocab_size=290, align="none", cache=False)
    >>> tok.decode(tok.encode("il gatto", source="le chat"))
    'il gatto'
    """
    job = prepare(
        source,
        target,
        mode,
        corpus=corpus,
        vocab_size=vocab_size,
        source_tokenizer=source_tokenizer,
        align=align,
        **options,
    )
    if output is not None:
        check_destination(output)
        check_no_other(output)
    finished = run(job, work_dir=work_dir, cache=cache, reporter=reporter)
    if output is not None:
        finished.tokenizer.save(output)
    return finished.tokenizer


@dataclass(frozen=True)
class FinishedRun:
    """The tokenizer, and what each stage has made and cost."""

    tokenizer: Tokenizer
    stages: list[Result]
    examples: list[tuple[str, str]]  # a few sentences with their translations
    work_dir: Path | None  # None if nothing was kept

    def __getitem__(self, stage: str) -> Result:
        return next(result for result in self.stages if result.stage == stage)


def run(
    job: Job,
    *,
    work_dir: str | os.PathLike[str] | None = None,
    cache: bool = True,
    reporter: Reporter | None = None,
) -> FinishedRun:
    """Do a job, stage by stage.  Results of stages lie in `work_dir` and are used again."""
    reporter = reporter or Reporter()
    with ExitStack() as stack:
        stack.callback(reporter.close)
        if cache:
            folder = default_folder() if work_dir is None else Path(work_dir)
        else:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pairpiece-")))
        do = Doing(Workspace(folder), reporter)

        dev = read_dev(job.dev)
        text = do(Read(job))
        _tell_findings(text, job.strict, reporter)
        source = job.source_tokenizer
        if source is None and job.plan.learning.source_side != "none":
            source = _trained(do(TrainSource(job, text)))
        words = do(SplitWords(job, text, source))
        _check_memory(job.plan, words)
        links = do(AlignWords(job, words)) if job.links.align == EFLOMAL else None
        aligned = AlignedText(job.links, source, text, words, links)
        pairs = do(CollectPairs(job, aligned))
        learned = do(Learn(job, aligned, pairs))
        tokenizer = _learned(learned, source)
        if job.balance is not None:
            fitted = do(Calibrate(job, job.balance, aligned, learned, tokenizer, dev))
            for miss in misses(fitted.details):
                reporter.warning(miss)
            state = calibrated(tokenizer.state, fitted.details)
            tokenizer = Tokenizer(translated_again(state, read_pairs(pairs), job.plan))
        return FinishedRun(tokenizer, do.results, _examples(text), folder if cache else None)


def _check_memory(plan: Plan, words: Result) -> None:
    """Raise a `MemoryLimitError` before the words are aligned, if it is certain already."""
    if plan.memory_limit is not None and plan.learning.source_side != "aligned":
        rows = read_words(words.folder / "target.words")
        different = set(itertools.chain.from_iterable(rows)) - {"", *plan.text.user_defined_symbols}
        check_seeds(sorted(different), plan)


def _tell_findings(text: Result, strict: bool, reporter: Reporter) -> None:
    for finding in (Finding(**finding) for finding in text.details["findings"]):
        if strict:
            raise CorpusError(f"{finding} (strict=True makes this an error)", ["strict"])
        reporter.warning(str(finding))


def _trained(result: Result) -> SentencePieceTokenizer:
    return SentencePieceTokenizer((result.folder / "source.model").read_bytes())


def _learned(result: Result, source: SubwordTokenizer | None) -> Tokenizer:
    """The tokenizer that a stage has left, all of it in memory: its folder may go."""
    tokenizer = load(result.folder, source_tokenizer=source)
    state = tokenizer.state
    for part in (state.table, state.translations, state.priors):
        if part is not None:
            part.read()
    return tokenizer


def _examples(text: Result) -> list[tuple[str, str]]:
    sides = (files.lines(text.folder / name) for name in ("source.txt", "target.txt"))
    return middling(itertools.islice(zip(*sides, strict=True), 50_000))


def middling(pairs: Iterable[tuple[str, str]], count: int = 3) -> list[tuple[str, str]]:
    """A few pairs of middling length, from all over the text, to show to people."""
    chosen = [pair for pair in pairs if all(30 <= len(side) <= 60 for side in pair)]
    step = max(1, len(chosen) // count)
    return chosen[step // 2 :: step][:count]
