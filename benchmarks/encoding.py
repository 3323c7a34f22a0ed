"""What encoding and decoding cost, against SentencePiece and Hugging Face tokenizers.

All three have the same pieces and scores, those of our exports, so that the work is identical.
Texts arrive in batches of 1,000 lines, made just before as a data loader would; only the calls are
timed, in alternating order.  A ratio is taken over all batches of a round.
"""

from __future__ import annotations

import os

os.environ.setdefault("RAYON_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")

import argparse
import gc
import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import sentencepiece
import tokenizers
from encoding_plot import TITLE, draw
from measuring import (
    Section,
    Settings,
    Spread,
    Target,
    child,
    cpu_seconds,
    growth,
    number,
    table,
    wall_seconds,
)
from prepare import prepare, sentences, training_pairs

import pairpiece
from pairpiece import files
from pairpiece.foreign.sentencepiece import SentencePieceTokenizer
from pairpiece.foreign.sentencepiece_format import to_sentencepiece

BATCH = 1000
VOCAB_SIZE = 8000
LONG = (1.25, 2.5, 5.0, 10.0)  # megabytes without a space


@dataclass(frozen=True)
class Batch:
    """Lines, with what paired encoding takes."""

    texts: list[str]
    sources: list[list[list[str]]]
    raw_sources: list[str]
    links: list[list[tuple[int, int]]]
    ids: list[list[int]]
    short: list[str]  # the first two words of each


class Contest:
    """The three tokenizers and the text."""

    def __init__(self, model: Path, lines: list[str]) -> None:
        self.lines = lines
        self.model = model
        self.megabytes = sum(len(json.loads(line)[0].encode()) for line in lines) / 1e6
        self.renew()

    def renew(self) -> None:
        """Load all three again: nothing remembered."""
        self.ours = pairpiece.load(self.model)
        self.sp = sentencepiece.SentencePieceProcessor(model_proto=self.exported)
        self.hf = tokenizers.Tokenizer.from_file(str(self.model / "tokenizer.json"))

    @cached_property
    def exported(self) -> bytes:
        """The model for SentencePiece."""
        return to_sentencepiece(pairpiece.load(self.model))

    def batches(self) -> Iterator[Batch]:
        """All lines, as new objects each time."""
        for begin in range(0, len(self.lines), BATCH):
            rows = [json.loads(line) for line in self.lines[begin : begin + BATCH]]
            texts, sources, raw, links = (list(column) for column in zip(*rows, strict=True))
            pairs = [[(a, b) for a, b in row] for row in links]
            short = [" ".join(text.split()[:2]) for text in texts]
            ids = self.sp.encode(texts)  # not with ours, which would remember the words
            yield Batch(texts, sources, raw, pairs, ids, short)

    def agreement(self) -> str:
        """How many lines the three encode alike."""
        alike = 0
        for batch in self.batches():
            found = zip(
                self.ours.encode_batch(batch.texts),
                self.sp.encode(batch.texts),
                (e.ids for e in self.hf.encode_batch(batch.texts, add_special_tokens=False)),
                strict=True,
            )
            alike += sum(ours == sp == hf for ours, sp, hf in found)
        return f"{alike:,} of {len(self.lines):,} lines"

    def times(
        self,
        works: list[Callable[[Batch], object]],
        repeat: int,
        clock: Callable[[Callable[[], object]], float] = cpu_seconds,
    ) -> list[list[float]]:
        """Seconds of each work, over all lines, in each round; a first round is not counted."""
        found: list[list[float]] = []
        for turn in range(repeat + 1):
            sums = [0.0] * len(works)
            for batch in self.batches():
                order = range(len(works)) if turn % 2 else reversed(range(len(works)))
                for k in order:
                    sums[k] += clock(lambda k=k, batch=batch: works[k](batch))  # type: ignore[misc]
            found.append(sums)
        return [list(column) for column in zip(*found[1:], strict=True)]


def contest(settings: Settings) -> Contest:
    folder = prepare(settings.corpus, settings.work_dir)
    count = 5_000 if settings.quick else 20_000
    every = max(1, 180_000 // count)
    source, _ = settings.corpus.name.split("-")
    raw = files.lines(settings.corpus / f"train.{source}.gz")
    both = zip(sentences(folder, "train"), raw, strict=True)
    chosen = itertools.islice(both, 0, every * count, every)
    lines = [json.dumps([s.target, s.source, text, s.links]) for s, text in chosen]
    model = folder / f"default-{VOCAB_SIZE}"
    if not (model / "pairpiece.json").exists():
        source_tokenizer = SentencePieceTokenizer((folder / "source.model").read_bytes(), "source")
        pairpiece.train_from_pairs(
            training_pairs(folder), VOCAB_SIZE, source_tokenizer=source_tokenizer
        ).save(model)
    return Contest(model, lines)


def section(settings: Settings) -> Section:
    c = contest(settings)
    gc.freeze()  # the collector should not walk through the corpus again and again
    repeat = settings.repeat
    agreement = c.agreement()
    plain, faster = plain_rows(c, repeat)
    paired, paired_ratios = paired_rows(c, repeat)
    two = child(
        __file__,
        data=str(settings.data),
        work_dir=str(settings.work_dir),
        plots=str(settings.plots),
        quick=settings.quick,
    )
    long_rows, exponent, peer_exponent, long_ratio = long_lines(c)
    goals = (
        ("ids, batch, to SentencePiece", faster["ids, batch"][0], 5.0),
        ("ids, batch, to tokenizers", faster["ids, batch"][1], 25.0),
        ("paired, links given, to SentencePiece's plain encoding", paired_ratios["links given"], 1),
        ("paired, whole sentence, to SentencePiece's plain encoding",
         paired_ratios["whole sentence"], 0.5),
        ("decoding, to SentencePiece", faster["decoding"][0], 3.0),
    )  # fmt: skip
    targets = [
        Target(work, f"≥ {goal:g} times as fast", str(spread), spread.median >= goal)
        for work, spread, goal in goals
    ]
    targets.append(
        Target("a line of 10 MB without a space, exponent", "linear",
               f"{number(exponent)} (SentencePiece {number(peer_exponent)})", exponent <= 1.15)
    )  # fmt: skip
    text = [
        f"{len(c.lines):,} lines, {c.megabytes:.1f} MB, French–Italian training text, 8k pieces; "
        f"all three encode {agreement} alike. Times as fast: median (range) of {repeat} rounds of "
        "CPU time on one thread.\n",
        table(["", "to SentencePiece", "to tokenizers", "MB per CPU s"], plain),
        "Paired encoding, against SentencePiece's *plain* encoding of the same target lines:\n",
        table(["", "to SentencePiece, plain", "MB per CPU s"], paired),
        "Two threads, wall time, ids in batches: ours "
        f"{two['ours']} times as fast as with one, {two['sp']} times SentencePiece with two, "
        f"{two['hf']} times tokenizers with two.\n",
        "A line without a space, ids:\n",
        table(["MB", "CPU s", "SentencePiece"], long_rows),
        f"Ours grows with the length to the power of {number(exponent)}, SentencePiece to "
        f"{number(peer_exponent)}; at the longest ours is {long_ratio} times as fast.\n",
        "![times as fast as SentencePiece](plots/encoding.svg)\n",
    ]
    draw(settings.plots / "encoding.svg", "\n".join(text))
    return Section(TITLE, "\n".join(text), targets)


def plain_rows(c: Contest, repeat: int) -> tuple[list[list[str]], dict[str, tuple[Spread, Spread]]]:
    """Rows of the table, and how many times as fast ours is, of all kinds of plain encoding."""
    encoding = pairpiece.Encoding
    works: dict[str, list[Callable[[Batch], Any]]] = {
        "ids, batch": [
            lambda b: c.ours.encode_batch(b.texts),
            lambda b: c.sp.encode(b.texts),
            lambda b: [e.ids for e in c.hf.encode_batch_fast(b.texts, add_special_tokens=False)],
        ],
        "ids, one call per line": [
            lambda b: [c.ours.encode(text) for text in b.texts],
            lambda b: [c.sp.encode(text) for text in b.texts],
            lambda b: [c.hf.encode(text, add_special_tokens=False).ids for text in b.texts],
        ],
        "ids, lines of two words": [
            lambda b: c.ours.encode_batch(b.short),
            lambda b: c.sp.encode(b.short),
            lambda b: [e.ids for e in c.hf.encode_batch_fast(b.short, add_special_tokens=False)],
        ],
        "pieces, batch": [
            lambda b: c.ours.encode_batch(b.texts, out_type=str),
            lambda b: c.sp.encode(b.texts, out_type=str),
            lambda b: [e.tokens for e in c.hf.encode_batch(b.texts)],
        ],
        "ids, pieces and offsets, batch": [
            lambda b: c.ours.encode_batch(b.texts, out_type=encoding),
            lambda b: c.sp.encode(b.texts, out_type="offset_mapping"),
            lambda b: [(e.ids, e.tokens, e.offsets) for e in c.hf.encode_batch(b.texts)],
        ],
        "sampling, one call per line": [
            lambda b: [c.ours.sample(text, alpha=0.1, seed=1) for text in b.texts],
            lambda b: [
                c.sp.encode(text, enable_sampling=True, alpha=0.1, nbest_size=-1)
                for text in b.texts
            ],
        ],
        "decoding": [
            lambda b: c.ours.decode_batch(b.ids),
            lambda b: c.sp.decode(b.ids),
            lambda b: c.hf.decode_batch(b.ids),
        ],
    }
    rows: list[list[str]] = []
    faster: dict[str, tuple[Spread, Spread]] = {}
    for name, of_systems in works.items():
        slow = name in ("sampling, one call per line", "ids, pieces and offsets, batch")
        times = c.times(of_systems, min(repeat, 3) if slow else repeat)
        ratios = [Spread.of(map(divide, peer, times[0])) for peer in times[1:]]
        rows.append([
            name, str(ratios[0]), str(ratios[1]) if len(ratios) > 1 else "has none",
            number(c.megabytes / min(times[0])),
        ])  # fmt: skip
        faster[name] = (ratios[0], ratios[-1])
    rows.append(cold_row(c, repeat))
    return rows, faster


def divide(a: float, b: float) -> float:
    return a / b


def cold_row(c: Contest, repeat: int) -> list[str]:
    """The first thousand lines after loading."""
    ratios: tuple[list[float], list[float]] = ([], [])
    fastest = float("inf")
    texts = next(c.batches()).texts
    for _ in range(repeat):
        c.renew()
        ours = cpu_seconds(lambda: c.ours.encode_batch(texts))
        ratios[0].append(cpu_seconds(lambda: c.sp.encode(texts)) / ours)
        ratios[1].append(cpu_seconds(lambda: [e.ids for e in c.hf.encode_batch_fast(texts)]) / ours)
        fastest = min(fastest, ours)
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    return [
        "ids, the first 1,000 lines after loading", *(str(Spread.of(r)) for r in ratios),
        number(megabytes / fastest),
    ]  # fmt: skip


def paired_rows(c: Contest, repeat: int) -> tuple[list[list[str]], dict[str, Spread]]:
    works: dict[str, Callable[[Batch], object]] = {
        "links given": lambda b: c.ours.encode_batch(b.texts, b.sources, alignments=b.links),
        "whole sentence": lambda b: c.ours.encode_batch(b.texts, b.sources, whole_sentence=True),
        "links inferred": lambda b: c.ours.encode_batch(b.texts, b.sources, whole_sentence=False),
        "links inferred, source as text": lambda b: c.ours.encode_batch(b.texts, b.raw_sources),
    }
    rows: list[list[str]] = []
    ratios: dict[str, Spread] = {}
    for name, work in works.items():
        ours, peer = c.times([work, lambda b: c.sp.encode(b.texts)], repeat)
        ratios[name] = Spread.of(map(divide, peer, ours))
        rows.append([name, str(ratios[name]), number(c.megabytes / min(ours))])
    return rows, ratios


def two_threads(settings: Settings) -> dict[str, str]:
    """Wall time of two threads; a process of its own, as tokenizers reads its number once."""
    c = contest(settings)
    gc.freeze()
    times = c.times(
        [
            lambda b: c.ours.encode_batch(b.texts, num_threads=2),
            lambda b: c.ours.encode_batch(b.texts),
            lambda b: c.sp.encode(b.texts, num_threads=2),
            lambda b: [e.ids for e in c.hf.encode_batch_fast(b.texts, add_special_tokens=False)],
        ],
        settings.repeat,
        wall_seconds,
    )
    spreads = [str(Spread.of(map(divide, other, times[0]))) for other in times[1:]]
    return dict(zip(("ours", "sp", "hf"), spreads, strict=True))


def long_lines(c: Contest) -> tuple[list[list[str]], float, float, str]:
    """Rows of the table, our exponent and SentencePiece's, and the ratio at the longest."""
    letters = "".join(filter(str.isalpha, "".join(json.loads(line)[0] for line in c.lines)))
    longest = (letters * (int(max(LONG) * 1e6) // len(letters) + 1))[: int(max(LONG) * 1e6)]
    ours, peer = [], []
    for size in LONG:
        text = longest[: int(size * 1e6)]
        ours.append(min(cpu_seconds(lambda text=text: c.ours.encode(text)) for _ in range(3)))
        peer.append(min(cpu_seconds(lambda text=text: c.sp.encode(text)) for _ in range(3)))
    rows = [
        [f"{size:g}", number(mine), number(theirs)]
        for size, mine, theirs in zip(LONG, ours, peer, strict=True)
    ]
    exponents = (growth(list(LONG), ours), growth(list(LONG), peer))
    return rows, *exponents, number(peer[-1] / ours[-1])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="two threads; python benchmarks/suite.py runs all")
    parser.add_argument("--child", required=True, type=json.loads)
    os.environ["RAYON_NUM_THREADS"] = "2"
    wanted = parser.parse_args().child
    for key in ("data", "work_dir", "plots"):
        wanted[key] = Path(wanted[key])
    print(json.dumps(two_threads(Settings(**wanted))))
