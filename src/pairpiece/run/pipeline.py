"""From raw parallel text to a tokenizer: the stages of a run, each resumed from its result."""

from __future__ import annotations

import dataclasses
import gzip
import itertools
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairpiece import files
from pairpiece.corpus import checks
from pairpiece.corpus.reading import Corpus, Paths, SentencePair
from pairpiece.errors import AlignerError, CorpusError
from pairpiece.foreign.sentencepiece import SentencePieceTokenizer, train_sentencepiece
from pairpiece.foreign.words import without_surrogates
from pairpiece.learning.pairs import Example, Pairs, examples_of_links, examples_of_sentence
from pairpiece.learning.training import Progress, passes_left, train_from_pairs
from pairpiece.links.eflomal import for_aligner, symmetrized_links
from pairpiece.links.pharaoh import links_between_words, read_links
from pairpiece.links.symmetrization import Link
from pairpiece.model import calibration, opening, storage
from pairpiece.model.opening import tokens_by_word, words_to_align
from pairpiece.model.tokenizer import Tokenizer
from pairpiece.model.word_links import word_links
from pairpiece.run import provenance
from pairpiece.run.job import Job, prepare
from pairpiece.run.reporting import Reporter
from pairpiece.run.workspace import Result, Workspace, default_folder
from pairpiece.text.words import WordSplitter

VERSION = 2
"""Of what the stages make; results of other versions are not used again."""

_CALIBRATION_SENTENCES = 1000


@dataclass(frozen=True)
class Run:
    """A finished run: the tokenizer, and what each stage has made and cost."""

    tokenizer: Tokenizer
    stages: list[Result]
    examples: list[tuple[str, str]]  # a few sentences with their translations
    work_dir: Path | None  # None if nothing was kept

    def __getitem__(self, stage: str) -> Result:
        return next(result for result in self.stages if result.stage == stage)


def train(
    source: Paths | None = None,
    target: Paths | None = None,
    *,
    corpus: Paths | Iterable[tuple[str, str]] | None = None,
    output: str | os.PathLike[str] | None = None,
    vocab_size: int | None = None,
    mode: str = "default",
    source_tokenizer: Any = None,
    align: str | os.PathLike[str] = "eflomal",
    work_dir: str | os.PathLike[str] | None = None,
    cache: bool = True,
    reporter: Reporter | None = None,
    **options: Any,
) -> Tokenizer:
    """Learn a tokenizer for the target language from raw parallel text; saved to `output` if given.

    The text is `source` and `target`, line-aligned text files or gettext catalogues (one or a list
    of each), or `corpus`: files with both sides (TSV, JSONL, Parquet, TMX, gettext), or any
    iterable of (source, target) strings.  Files may be compressed (``.gz``, ``.xz``, ``.zst``).

    `options` are the other arguments of `pairpiece.job.prepare`, which explains them all, and the
    fields of `TextOptions` and `LearningOptions`.  Results of stages are kept in `work_dir` and
    used again, unless `cache` is false.

    >>> pairs = [("le chat dort", "il gatto dorme"), ("les chats dorment", "i gatti dormono")] * 5
    >>> tok = train(corpus=pairs, vocab_size=290, align="none", cache=False)
    >>> tok.decode(tok.encode("il gatto", source="le chat"))
    'il gatto'
    """
    job = prepare(
        source,
        target,
        corpus=corpus,
        vocab_size=vocab_size,
        mode=mode,
        source_tokenizer=source_tokenizer,
        align=align,
        **options,
    )
    if output is not None:
        storage.check_destination(output)
    finished = run(job, work_dir=work_dir, cache=cache, reporter=reporter)
    if output is not None:
        finished.tokenizer.save(output)
    return finished.tokenizer


def run(
    job: Job,
    *,
    work_dir: str | os.PathLike[str] | None = None,
    cache: bool = True,
    reporter: Reporter | None = None,
) -> Run:
    """Do a job, stage by stage.  Results of stages lie in `work_dir` and are used again."""
    reporter = reporter or Reporter()
    with ExitStack() as stack:
        stack.callback(reporter.close)
        if cache:
            folder = default_folder() if work_dir is None else Path(work_dir)
        else:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pairpiece-")))
        return _Stages(job, Workspace(folder), reporter).run(folder if cache else None)


@dataclass(frozen=True)
class _Sentence:
    """A target sentence with what is known about its words."""

    target: str
    words: list[str]  # of the target
    tokens: list[list[str]]  # of each source word
    links: list[Link] | None  # between words; None if nothing has aligned them


class _Stages:
    """The stages; each method makes one result, which depends on the results it is given."""

    def __init__(self, job: Job, workspace: Workspace, reporter: Reporter) -> None:
        self._job = job
        self._workspace = workspace
        self._reporter = reporter
        self._results: list[Result] = []

    def run(self, kept_in: Path | None) -> Run:
        dev = self._dev_text()
        text = self._read()
        source = self._source_tokenizer(text)
        links = self._align(self._words(text, source)) if self._job.align == "eflomal" else None
        pairs = self._pairs(text, source, links)
        learned = self._learn(text, source, links, pairs)
        tokenizer = self._tokenizer(self._calibrate(text, source, links, learned, dev), source)
        sides = (files.lines(text.folder / name) for name in ("source.txt", "target.txt"))
        examples = middling(itertools.islice(zip(*sides, strict=True), 50_000))
        return Run(tokenizer, self._results, examples, kept_in)

    def _stage(self, name: str, doing: str, depends_on: dict[str, Any] | None, make: Any) -> Result:
        self._reporter.begin(name, doing)
        if depends_on is not None:
            depends_on = {"version": VERSION, **depends_on}
        result = self._workspace.stage(name, depends_on, make)
        self._results.append(result)
        self._reporter.end(result)
        return result

    # ------------------------------------------------------------------ read

    def _dev_text(self) -> list[tuple[str, str]] | None:
        """The sentence pairs to calibrate on, if any were given."""
        if self._job.dev is None:
            return None
        pairs = [(pair.source, pair.target) for pair in self._job.dev]
        if not pairs:
            raise CorpusError("the dev text is empty: give some, or leave it out")
        return pairs

    def _read(self) -> Result:
        """``source.txt``, ``target.txt``: the pairs that passed the checks; ``numbers.txt``: which
        they are.
        """
        job = self._job
        depends_on = None
        if job.corpus.rereadable:
            depends_on = {
                "files": [[str(path), files.digest(path)] for path in job.corpus.files],
                "format": [job.corpus.format, job.corpus.source_column, job.corpus.target_column],
                "max_lines": job.max_lines,
                "seed": job.seed if job.max_lines else None,
            }
        result = self._stage("read", "reading the text", depends_on, self._make_text)
        findings = [checks.Finding(**finding) for finding in result.details["findings"]]
        for finding in findings:
            if job.strict:
                raise CorpusError(f"{finding} (--strict makes this an error)")
            self._reporter.warning(str(finding))
        return result

    def _make_text(self, folder: Path) -> dict[str, Any]:
        job = self._job
        found = checks.Checks()
        pairs: Iterable[SentencePair] = found.passing(self._watched(job.corpus))
        if job.max_lines is not None:
            pairs = checks.sample(pairs, job.max_lines, job.seed)
        used = 0
        characters = [0, 0]
        with (
            (folder / "source.txt").open("w", encoding="utf-8", newline="\n") as sources,
            (folder / "target.txt").open("w", encoding="utf-8", newline="\n") as targets,
            (folder / "numbers.txt").open("w") as numbers,
        ):
            for pair in pairs:
                sources.write(without_surrogates(pair.source) + "\n")
                targets.write(without_surrogates(pair.target) + "\n")
                numbers.write(f"{pair.number}\n")
                used += 1
                characters[0] += len(pair.source)
                characters[1] += len(pair.target)
        return {
            "read": found.read,
            "used": used,
            "source_characters": characters[0],
            "target_characters": characters[1],
            "findings": [dataclasses.asdict(finding) for finding in found.findings.values()],
        }

    def _watched(self, corpus: Corpus) -> Iterator[SentencePair]:
        total = sum(path.stat().st_size for path in corpus.files) if corpus.rereadable else None
        before = files.bytes_read()
        for number, pair in enumerate(corpus):
            if number % 4096 == 0:
                if total is None:
                    self._reporter.advance(number, None, "pairs")
                else:
                    done = files.bytes_read() - before
                    self._reporter.advance(min(done, total), total, "bytes")
            yield pair

    # ------------------------------------------------------------------ source tokenizer

    def _source_tokenizer(self, text: Result) -> Any:
        """The tokenizer given, or else ``source.model``."""
        if self._job.source_tokenizer is not None or self._job.learning.source_side == "none":
            return self._job.source_tokenizer
        depends_on = {
            "text": files.digest(text.folder / "source.txt"),
            "vocab_size": self._job.source_vocab_size,
        }
        result = self._stage(
            "source",
            "training a source tokenizer",
            depends_on,
            lambda folder: self._make_source(text, folder),
        )
        return SentencePieceTokenizer((result.folder / "source.model").read_bytes())

    def _make_source(self, text: Result, folder: Path) -> dict[str, Any]:
        def lines() -> Iterator[str]:
            for (line,) in self._sentences(text, "source"):
                yield line
            # How far it is from now on SentencePiece does not tell.
            self._reporter.advance(text.details["used"], None, "sentences")

        model = train_sentencepiece(lines(), self._job.source_vocab_size)
        (folder / "source.model").write_bytes(model.content)
        return {"vocab_size": model.vocab_size}

    # ------------------------------------------------------------------ words and links

    def _sentences(self, text: Result, *names: str) -> Iterator[tuple[str, ...]]:
        total = text.details["used"]
        sides = (files.lines(text.folder / f"{name}.txt") for name in names)
        for number, lines in enumerate(zip(*sides, strict=True)):
            if number % 1024 == 0:
                self._reporter.advance(number, total, "sentences")
            yield lines

    def _split(self) -> WordSplitter:
        fixed = self._job.vocabulary
        return WordSplitter(self._job.text, None if fixed is None else fixed.charsmap)

    def _words(self, text: Result, source: Any) -> Result:
        """``source.words`` and ``target.words``, as the aligner takes them."""
        depends_on = {
            "text": text.content,
            "splitting": dataclasses.asdict(self._job.text),
            "vocabulary": provenance.identity(self._job.vocabulary),
            "source": "words",
        }
        if opening.finds_own_words(source):
            depends_on["source"] = provenance.identity(source)

        def make(folder: Path) -> dict[str, Any]:
            split = self._split()
            counts = {"source_words": 0, "target_words": 0}
            with (
                (folder / "source.words").open("w", encoding="utf-8", newline="\n") as sources,
                (folder / "target.words").open("w", encoding="utf-8", newline="\n") as targets,
            ):
                for source_text, target_text in self._sentences(text, "source", "target"):
                    source_words = words_to_align(source, source_text)
                    target_words = split.words(target_text)
                    sources.write(for_aligner(source_words) + "\n")
                    targets.write(for_aligner(target_words) + "\n")
                    counts["source_words"] += len(source_words)
                    counts["target_words"] += len(target_words)
            return counts

        known = None if depends_on["source"] is None else depends_on
        return self._stage("words", "splitting into words", known, make)

    def _align(self, words: Result) -> Result:
        """``forward.links``, ``reverse.links`` and, if wanted, ``priors.gz``."""
        aligner = self._job.aligner
        depends_on = {
            "words": words.content,
            "aligner": ["eflomal", aligner.samplers, aligner.seed, aligner.length],
            "priors": self._job.keep_priors,
        }

        def advance(done: int, total: int) -> None:
            self._reporter.advance(done, total, "iterations")

        def make(folder: Path) -> dict[str, Any]:
            inputs = [folder / name for name in ("source.words", "target.words")]
            for path in inputs:
                path.symlink_to((words.folder / path.name).absolute())
            aligner.align(folder, num_threads=self._job.num_threads, advance=advance)
            if self._job.keep_priors:
                priors = aligner.make_priors(folder)
                # No time and no name in the header: the same priors are the same bytes.
                content = gzip.compress(priors.read_bytes(), 6, mtime=0)
                (folder / "priors.gz").write_bytes(content)
                priors.unlink()
            for path in inputs:
                path.unlink()
            return {"version": aligner.version, "repeatable": aligner.repeatable}

        return self._stage("align", "aligning words with Eflomal", depends_on, make)

    # ------------------------------------------------------------------ pairs

    def _pairs(self, text: Result, source: Any, links: Result | None) -> Result:
        """``pairs.safetensors``: the merged pairs of all sentences."""
        job = self._job
        per_link = job.mode.startswith("paper")
        identity = provenance.identity(source)
        depends_on = None
        if identity is not None:
            depends_on = {
                "text": text.content,
                "source": identity,
                "links": [*provenance.links_identity(job, links), text.details["read"]],
                "per_link": per_link,
                "text_options": dataclasses.asdict(job.text),
                "vocabulary": provenance.identity(job.vocabulary),
            }

        def make(folder: Path) -> dict[str, Any]:
            details = {"target_words": 0, "linked_words": 0, "links": 0}
            pairs = Pairs.from_examples(self._examples(text, source, links, details))
            pairs.save(folder / "pairs.safetensors")
            return {**details, "examples": pairs.total, "distinct": len(pairs)}

        return self._stage("pairs", "collecting word pairs", depends_on, make)

    def _examples(
        self, text: Result, source: Any, links: Result | None, details: dict[str, Any]
    ) -> Iterator[Example]:
        per_link = self._job.mode.startswith("paper")
        for sentence in self._aligned(text, source, links):
            tokens, words, linked = sentence.tokens, sentence.words, sentence.links
            details["target_words"] += len(words)
            if linked is None:
                yield from examples_of_sentence([t for word in tokens for t in word], words)
                continue
            details["links"] += len(linked)
            details["linked_words"] += len({target for _, target in linked})
            yield from examples_of_links(tokens, words, linked, per_link=per_link)

    def _aligned(
        self, text: Result, source: Any, links: Result | None, step: int = 1
    ) -> Iterator[_Sentence]:
        """Every (`step`-th) sentence that is used."""
        split = self._split()
        sentence_links = self._links(text, links, step)
        sentences = itertools.islice(self._sentences(text, "source", "target"), 0, None, step)
        for source_text, target_text in sentences:
            words = split.words(target_text)
            tokens = [] if source is None else tokens_by_word(source, source_text)
            if self._job.align == "none":
                yield _Sentence(target_text, words, tokens, None)
                continue
            linked, place = next(sentence_links)
            try:
                if links is None and self._job.links_between == "spaces":
                    source_words = words_to_align(source, source_text)
                    linked = links_between_words(linked, source_words, words)
                if any(s >= len(tokens) or t >= len(words) for s, t in linked):
                    raise IndexError
            except IndexError:
                raise AlignerError(
                    f"{place}: a link lies outside the {len(tokens)} source and {len(words)} "
                    f"target words of this sentence; the links are taken to be between "
                    f"{self._job.links_between} (--links-between)"
                ) from None
            yield _Sentence(target_text, words, tokens, linked)

    def _links(
        self, text: Result, links: Result | None, step: int = 1
    ) -> Iterator[tuple[list[Link], str]]:
        """The links of each (`step`-th) sentence that is used, with a name for its place."""
        if links is None:
            yield from itertools.islice(self._links_from_file(text), 0, None, step)
            return
        found = symmetrized_links(links.folder, self._job.symmetrization, step)
        for number, linked in zip(itertools.count(1, step), found, strict=False):
            yield linked, f"{links.folder}:{number}"

    def _links_from_file(self, text: Result) -> Iterator[tuple[list[Link], str]]:
        """From a Pharaoh file, which has a line for each pair of the corpus, used or not."""
        path = Path(self._job.align)
        lines = sum(1 for _ in files.lines(path))
        if lines != text.details["read"]:
            raise AlignerError(
                f"{path}: {lines:,} lines of links for {text.details['read']:,} sentence pairs"
            )
        numbers = map(int, files.lines(text.folder / "numbers.txt"))
        wanted = next(numbers)
        for number, linked in enumerate(read_links(path)):
            if number == wanted:
                yield sorted(set(linked)), f"{path}:{number + 1}"
                wanted = next(numbers, -1)

    # ------------------------------------------------------------------ learning

    def _learn(self, text: Result, source: Any, links: Result | None, pairs: Result) -> Result:
        """The model and, to calibrate it, a plain tokenizer in ``reference``."""
        job = self._job
        origin = provenance.provenance(job, text, source, links, pairs)
        depends_on = {
            "pairs": pairs.content,
            "vocab_size": job.vocab_size,
            "vocabulary": provenance.identity(job.vocabulary),
            "start_from": job.start_from,
            "seed": job.seed,
            "mode": job.mode,
            "text": dataclasses.asdict(job.text),
            "learning": dataclasses.asdict(job.learning),
            "hard_vocab_limit": job.learning_arguments["hard_vocab_limit"],
            "priors": links.content if links is not None and job.keep_priors else None,
            "provenance": origin,
            "reference": job.balance is not None,
        }

        def progress(event: Progress) -> None:
            left = passes_left(event.vocab_size, job.vocab_size, job.learning)
            self._reporter.advance(event.iteration, event.iteration + left, "passes")

        def make(folder: Path) -> dict[str, Any]:
            examples = Pairs.load(pairs.folder / "pairs.safetensors")
            tokenizer = train_from_pairs(
                examples,
                None if job.vocabulary is not None else job.vocab_size,
                job.mode,
                vocabulary=job.vocabulary,
                start_from=job.start_from,
                num_threads=job.num_threads,
                seed=job.seed,
                progress=progress,
                source_tokenizer=source,
                **job.learning_arguments,
            )
            priors = None
            if job.keep_priors and links is not None:
                priors = (links.folder / "priors.gz").read_bytes()
            tokenizer = tokenizer._replaced(
                provenance={**tokenizer.provenance, **origin}, priors=priors
            )
            tokenizer.save(folder)
            if job.balance is not None:
                self._plain(examples, tokenizer).save(folder / "reference")
            return {"vocab_size": tokenizer.vocab_size}

        return self._stage("learn", "learning the pieces", depends_on, make)

    def _plain(self, examples: Pairs, tokenizer: Tokenizer) -> Tokenizer:
        """What the tokenizer is compared with: the vocabulary it was given, or a plain unigram."""
        if self._job.vocabulary is not None:
            return self._job.vocabulary
        return train_from_pairs(
            examples,
            tokenizer.vocab_size,
            "unigram",
            num_threads=self._job.num_threads,
            hard_vocab_limit=False,
            **dataclasses.asdict(self._job.text),
        )

    def _tokenizer(self, result: Result, source: Any) -> Tokenizer:
        given = source if provenance.identity(source) is None else None
        tokenizer = storage.load(result.folder, source_tokenizer=given)
        tokenizer.__getstate__()  # reads what is otherwise read when needed: the folder may go
        return tokenizer

    # ------------------------------------------------------------------ calibration

    def _calibrate(
        self,
        text: Result,
        source: Any,
        links: Result | None,
        learned: Result,
        dev: list[tuple[str, str]] | None,
    ) -> Result:
        """The model with penalties that suit the dev text or, without one, the text itself."""
        job = self._job
        balance = job.balance
        if balance is None:
            return learned
        known = provenance.identity(source) is not None
        depends_on = {
            "learned": learned.content,
            "balance": balance,
            "text": text.content,
            "links": [*provenance.links_identity(job, links), text.details["read"]],
            "dev": dev,
        }

        def make(folder: Path) -> dict[str, Any]:
            tokenizer = self._tokenizer(learned, source)
            plain = storage.load(learned.folder / "reference")
            if dev is None:
                sample = self._sample(text, source, links)
            else:
                linked = word_links(tokenizer, dev) if job.align == "eflomal" else None
                sample = calibration.Text([t for _, t in dev], [s for s, _ in dev], linked)
            wanted = balance * sample.tokens(plain, job.num_threads)
            calibrated = calibration.calibrated(
                tokenizer, sample, wanted, job.num_threads, marginal=job.vocabulary is None
            )
            calibrated.save(folder)
            return dict(calibrated.provenance["calibration"])

        return self._stage("calibrate", "calibrating", depends_on if known else None, make)

    def _sample(self, text: Result, source: Any, links: Result | None) -> calibration.Text:
        """Sentences from all over the text."""
        step = max(1, text.details["used"] // _CALIBRATION_SENTENCES)
        sentences = list(self._aligned(text, source, links, step))
        return calibration.Text.of_training(
            [sentence.target for sentence in sentences],
            [sentence.tokens for sentence in sentences],
            [sentence.links for sentence in sentences] if self._job.align != "none" else None,
            [sentence.words for sentence in sentences],
        )


def middling(pairs: Iterable[tuple[str, str]], count: int = 3) -> list[tuple[str, str]]:
    """A few pairs of middling length, from all over the text, to show to people."""
    chosen = [pair for pair in pairs if all(30 <= len(side) <= 60 for side in pair)]
    step = max(1, len(chosen) // count)
    return chosen[step // 2 :: step][:count]
