"""How cheap can the word alignment be before the tokenizer suffers?

    python benchmarks/aligners.py ../shared/data/{ces-ukr,ita-mlt,deu-hsb,fra-ita} --dev-lines 1000

aligns up to 40,000 training pairs of both directions with each setting, learns the default mode at
8k from the links, and prints the CPU seconds of the alignment, how far the links agree with the
usual ones, and what the tokenizer is worth on dev text, target only and with the source.  Scores
are means over runs of the usual aligner, whatever made the links of the training.  The usual
setting, which is Eflomal's own, comes with two seeds: what they differ by is chance.  fast_align
needs the package systran-align.  The speed suite compares the usual setting with the one adopted,
and measures what they cost on a whole text.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from measuring import Section, Settings, Spread, Target, number, table

from pairpiece import files
from pairpiece.evaluation import evaluate
from pairpiece.foreign.source_words import source_words
from pairpiece.links import fast_align
from pairpiece.links.eflomal import TRAINING_LENGTH, Eflomal, for_aligner, symmetrized_links
from pairpiece.links.pharaoh import read_links
from pairpiece.links.symmetrization import Link
from pairpiece.run import pipeline
from pairpiece.run.job import prepare
from pairpiece.text.options import TextOptions
from pairpiece.text.words import WordSplitter

USUAL, CHANCE, FAST_ALIGN = "usual", "usual, other seed", "fast_align"
ADOPTED = f"length {TRAINING_LENGTH}"
SETTINGS = {
    USUAL: Eflomal(seed=0),
    CHANCE: Eflomal(seed=1),
    **{f"length {length}": Eflomal(seed=1, length=length) for length in (0.5, 0.4, 0.25)},
    FAST_ALIGN: None,
}

METRICS = {
    "tokens per word": "fertility",
    "one-to-one": "one_to_one",
    "unaligned": "unaligned",
    "link F": "link_f",
}
WAYS = {"target only": "marginal", "with source": "paired"}
COLUMNS = [f"{metric}, {way}" for way in WAYS for metric in METRICS]


def main() -> None:
    parser = argparse.ArgumentParser(description="compare settings of the word aligner")
    parser.add_argument("corpora", nargs="+", type=Path, help="folders named SOURCE-TARGET")
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--work-dir", type=Path, default=Path("/tmp/pairpiece-aligners"))
    parser.add_argument("--lines", type=int, default=40_000, help="of training text, at most")
    parser.add_argument("--runs", type=int, default=3, help="of the aligner that scores")
    parser.add_argument("--dev-lines", type=int, help="of dev text to score on; all if not given")
    options = parser.parse_args()
    options.ways_round = (1, -1)
    settings = list(dict.fromkeys([USUAL, *options.settings]))
    print(qualities(options, settings))


def section(suite: Settings) -> Section:
    """What the speed suite says about the aligner."""
    repeat = 2 if suite.quick else 4
    measured_on = suite.data / "deu-hsb" if suite.quick else suite.corpus
    ratio, seconds = cost(measured_on, suite.work_dir / "aligners", repeat)
    corpora = sorted(path for path in suite.data.iterdir() if path.is_dir())
    options = argparse.Namespace(
        corpora=[suite.data / "deu-hsb"] if suite.quick else corpora,
        work_dir=suite.work_dir / "aligners",
        ways_round=(1,),
        lines=5_000 if suite.quick else 40_000,
        runs=1 if suite.quick else 3,
        dev_lines=1_000,
    )
    text = [
        f"Eflomal with 0.4 of its own number of iterations (`--aligner-length`, our default) takes "
        f"{ratio} of the CPU time of the usual on all of {measured_on.name} ({number(seconds)} s); "
        f"{repeat} rounds. What it does to the tokenizer, on dev text, with up to "
        f"{options.lines:,} sentence pairs; *usual, other seed* shows what chance alone does:\n",
        qualities(options, [USUAL, CHANCE, ADOPTED]),
    ]
    target = Target(
        "alignment, CPU to Eflomal's own number of iterations", "≤ 0.5", str(ratio),
        ratio.median <= 0.5,
    )  # fmt: skip
    return Section("Word alignment", "\n".join(text), [target])


def qualities(options: argparse.Namespace, settings: list[str]) -> str:
    """Tables of all directions, and of the differences from the usual setting."""
    found: dict[str, list[Row]] = defaultdict(list)
    rows: list[list[str]] = []
    for way_round, corpus in itertools.product(options.ways_round, options.corpora):
        source, target = corpus.name.split("-")[::way_round]
        compared = compare(corpus, source, target, settings, options)
        for setting, row in compared.items():
            found[setting].append(row)
            costs = [number(row.cpu), number(row.cpu / compared[USUAL].cpu), f"{row.agreement:.3f}"]
            scores = [f"{score:.4f}" for score in row.scores]
            rows.append([f"{source} → {target}", setting, *costs, *scores])
        spreads = [f"{spread:.4f}" for spread in compared[USUAL].spreads]
        rows.append(["", "spread of runs", "", "", "", *spreads])
    header = ["", "aligner", "CPU s", "ratio", "agreement", *COLUMNS]
    return table(header, rows) + "\n" + summary(found)


@dataclass(frozen=True)
class Row:
    """What an alignment has cost, and the scores of the tokenizer learned from it."""

    cpu: float
    agreement: float
    scores: list[float]
    spreads: list[float]  # between the runs of the aligner that scores


def summary(found: dict[str, list[Row]]) -> str:
    """Differences from the usual setting over all directions: mean and standard error."""
    lines = []
    for setting, rows in found.items():
        if setting == USUAL:
            continue
        ratios = [row.cpu / usual.cpu for row, usual in zip(rows, found[USUAL], strict=True)]
        cells = [str(Spread.of(ratios))]
        for column in range(len(COLUMNS)):
            differences = [
                row.scores[column] - usual.scores[column]
                for row, usual in zip(rows, found[USUAL], strict=True)
            ]
            error = (
                statistics.stdev(differences) / len(differences) ** 0.5 if differences[1:] else 0
            )
            cells.append(f"{statistics.mean(differences):+.4f} ± {error:.4f}")
        lines.append([setting, *cells])
    return table(["difference from the usual", "CPU ratio", *COLUMNS], lines)


def compare(
    corpus: Path, source: str, target: str, settings: list[str], options: argparse.Namespace
) -> dict[str, Row]:
    """Align, learn and measure with each of the settings."""
    folder = options.work_dir / f"{source}-{target}"
    write_text(corpus, source, target, folder, options.lines)
    costs, links, systems = {}, {}, []
    for setting in settings:
        costs[setting] = align(folder, setting)
        path = folder / f"{setting}.links"
        (folder / "links").replace(path)
        links[setting] = list(read_links(path))
        job = prepare(
            folder / "source.txt",
            folder / "target.txt",
            align=path,
            hard_vocab_limit=False,
            num_threads=1,
        )
        tokenizer = pipeline.run(job, work_dir=options.work_dir / "stages").tokenizer
        tokenizer.save(folder / setting)
        systems += [f"{setting}, {name}={folder / setting}@{way}" for name, way in WAYS.items()]
    dev = [dev_text(corpus, language)[: options.dev_lines] for language in (target, source)]
    measured = evaluate(
        systems, *dev, metrics=list(METRICS.values()), runs=options.runs, resamples=10
    )
    rows = {}
    for setting in settings:
        scores = [
            measured.score(f"{setting}, {way}", metric)
            for way in WAYS
            for metric in METRICS.values()
        ]
        rows[setting] = Row(
            costs[setting],
            agreement(links[setting], links[USUAL]),
            [score.value for score in scores if score is not None],
            [max(score.runs or [0]) - min(score.runs or [0]) for score in scores if score],
        )
    return rows


def dev_text(corpus: Path, language: str) -> list[str]:
    paths = [corpus / f"{split}.{language}.gz" for split in ("dev", "dev_ntrex")]
    return [line for path in paths if path.is_file() for line in files.lines(path)]


def cost(corpus: Path, work_dir: Path, repeat: int) -> tuple[Spread, float]:
    """CPU time of the adopted setting on a whole text: as a share of the usual, and in seconds."""
    source, target = corpus.name.split("-")
    folder = work_dir / f"{source}-{target}-whole"
    write_text(corpus, source, target, folder, None)
    times = [(align(folder, ADOPTED), align(folder, USUAL)) for _ in range(repeat)]
    return Spread.of(ours / usual for ours, usual in times), min(ours for ours, _ in times)


def write_text(corpus: Path, source: str, target: str, folder: Path, lines: int | None) -> None:
    """The training text, and its words as the aligner takes them."""
    folder.mkdir(parents=True, exist_ok=True)
    splits = {"source": source_words, "target": WordSplitter(TextOptions()).words}
    for (side, split), language in zip(splits.items(), (source, target), strict=True):
        text = list(itertools.islice(files.lines(corpus / f"train.{language}.gz"), lines))
        files.write(folder / f"{side}.txt", "".join(f"{line}\n" for line in text).encode())
        words = "".join(f"{for_aligner(split(line))}\n" for line in text)
        files.write(folder / f"{side}.words", words.encode())


def align(folder: Path, setting: str) -> float:
    """Write the file ``links`` and return the CPU seconds that the aligner took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    aligner = SETTINGS[setting]
    if aligner is None:
        links = fast_align.align(lower_cased(folder))
    else:
        aligner.align(folder, num_threads=1)
        links = symmetrized_links(folder, "grow-diag-final-and")
    write_links(folder, links)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def lower_cased(folder: Path) -> Path:
    """The words as Eflomal takes them, in a folder of their own."""
    lower = folder / "lower"
    lower.mkdir(exist_ok=True)
    for side in ("source", "target"):
        words = "".join(f"{line.lower()}\n" for line in files.lines(folder / f"{side}.words"))
        files.write(lower / f"{side}.words", words.encode())
    return lower


def write_links(folder: Path, links: Iterable[list[Link]]) -> None:
    lines = (" ".join(f"{source}-{target}" for source, target in row) + "\n" for row in links)
    files.write(folder / "links", "".join(lines).encode())


def agreement(links: list[list[Link]], others: list[list[Link]]) -> float:
    """F1 of links, the others taken for right."""
    both = sum(len({*a} & {*b}) for a, b in zip(links, others, strict=True))
    return 2 * both / (sum(map(len, links)) + sum(map(len, others)))


if __name__ == "__main__":
    main()
