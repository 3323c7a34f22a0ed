"""The tables of what `quality` has measured, in Markdown.

    python experiments/quality/tables.py --split test

Intervals are those of 95 %; differences are from SentencePiece unless it says otherwise.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pairpiece import files

SP, DEFAULT, SOURCE = "SentencePiece", "default", "default, source"
WRONG = "default, source, wrong source"
TEXTS = {"like": "like the training", "elsewhere": "from elsewhere"}


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path(__file__).with_name("results.jsonl"))
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    parser.add_argument("--ablation", action="store_true", help="one table of all configurations")
    options = parser.parse_args()
    found = [json.loads(line) for line in files.lines(options.results)]
    found = [result for result in found if result["key"][2] == options.split]
    for size in sorted({result["key"][1] for result in found}):
        of_size = [result for result in found if result["key"][1] == size]
        if options.ablation:
            print("\n".join(ablation(of_size)))
            continue
        print(f"### {size // 1000}k pieces\n")
        for title, rows in {
            "With the source, by Eflomal": with_source(of_size, "eflomal"),
            "With the source, by fast_align": with_source(of_size, "fast_align"),
            "Target only": target_only(of_size),
            "Bits per byte of n-gram models, target only": ngrams(of_size),
            "Bits per byte of neural models, target only": neural(of_size),
        }.items():
            lines = list(rows)
            if len(lines) > 2:
                print(f"**{title}**\n\n" + "\n".join(lines) + "\n")


def with_source(found: list[dict[str, Any]], aligner: str) -> Iterator[str]:
    """One-to-one and unaligned against SentencePiece; link F also against the controls."""
    yield row(
        *("direction", "text", "tokens", "one-to-one", "wrong source", "unaligned"),
        *("wrong source", "link F", "over target only", "over wrong source"),
    )
    yield "|---" * 10 + "|"
    for direction, kind, scores in _alignments(found, aligner):
        ours, wrong = scores[SOURCE], scores[WRONG]
        yield row(
            direction,
            TEXTS[kind],
            f"{ours['tokens']['value'] / scores[SP]['tokens']['value']:.3f}",
            interval(ours["one_to_one"][SP]),
            f"{wrong['one_to_one'][SP][0]:+.3f}",
            interval(ours["unaligned"][SP]),
            f"{wrong['unaligned'][SP][0]:+.3f}",
            interval(ours["link_f"][SP]),
            interval(ours["link_f"][DEFAULT]),
            interval(ours["link_f"][WRONG]),
        )


def ablation(found: list[dict[str, Any]]) -> Iterator[str]:
    """Every configuration in every way, by Eflomal."""
    yield row("direction", "text", "tokenizer", "tokens", "one-to-one", "unaligned", "link F")
    yield "|---" * 7 + "|"
    for direction, kind, scores in _alignments(found, "eflomal"):
        for name, of_name in scores.items():
            if name != SP:
                tokens = of_name["tokens"]["value"] / scores[SP]["tokens"]["value"]
                metrics = ("one_to_one", "unaligned", "link_f")
                cells = [interval(of_name[metric][SP]) for metric in metrics]
                yield row(direction, TEXTS[kind], name, f"{tokens:.3f}", *cells)


def target_only(found: list[dict[str, Any]]) -> Iterator[str]:
    """Tokens and link F, with `unigram` as the control."""
    yield row("direction", "text", "tokens", "unigram", "link F", "unigram")
    yield "|---" * 6 + "|"
    for direction, kind, scores in _alignments(found, "eflomal"):
        tokens = scores[SP]["tokens"]["value"]
        yield row(
            direction,
            TEXTS[kind],
            f"{scores[DEFAULT]['tokens']['value'] / tokens:.3f}",
            f"{scores['unigram']['tokens']['value'] / tokens:.3f}",
            interval(scores[DEFAULT]["link_f"][SP]),
            f"{scores['unigram']['link_f'][SP][0]:+.3f}",
        )


def ngrams(found: list[dict[str, Any]]) -> Iterator[str]:
    """With more and more of the training, against SentencePiece."""
    yield row("direction", "text", "tokenizer", "1/64", "1/16", "1/4", "all")
    yield "|---" * 7 + "|"
    bits = {
        (r["key"][0], r["key"][4], kind): values
        for r in found
        if r["key"][3] == "ngrams"
        for kind, values in r["bits"].items()
    }
    for (direction, name, kind), values in bits.items():
        if name != SP:
            pairs = zip(values, bits[direction, SP, kind], strict=True)
            cells = [f"{ours / theirs - 1:+.2%}" for ours, theirs in pairs]
            yield row(arrow(direction), TEXTS[kind], name, *cells)


def neural(found: list[dict[str, Any]]) -> Iterator[str]:
    """Means over seeds against SentencePiece's, ± twice the standard error; all directions last."""
    yield row("direction", "text", "tokenizer", "seeds", "difference")
    yield "|---" * 5 + "|"
    bits: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for result in found:
        if result["key"][3] == "neural":
            for kind, value in result["bits"].items():
                bits[result["key"][0], result["key"][4], kind].append(value)
    all_of: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for (direction, name, kind), values in bits.items():
        theirs = bits[direction, SP, kind]
        if name == SP or len(values) < 2 or len(theirs) < 2:
            continue
        difference = statistics.mean(values) / statistics.mean(theirs) - 1
        error = math.hypot(*(_relative_error(v) for v in (values, theirs)))
        all_of[name, kind].append((difference, error))
        yield row(
            arrow(direction),
            TEXTS[kind],
            name,
            len(values),
            f"{difference:+.2%} ± {2 * error:.2%}",
        )
    for (name, kind), pairs in all_of.items():
        mean = statistics.mean(difference for difference, _ in pairs)
        error = math.sqrt(sum(e**2 for _, e in pairs)) / len(pairs)
        yield row(f"mean of {len(pairs)}", TEXTS[kind], name, "", f"{mean:+.2%} ± {2 * error:.2%}")


def _relative_error(values: list[float]) -> float:
    return statistics.stdev(values) / math.sqrt(len(values)) / statistics.mean(values)


def _alignments(
    found: list[dict[str, Any]], aligner: str
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for result in found:
        direction, _, _, measure, *what = result["key"]
        if measure == "alignment" and what[1] == aligner:
            yield arrow(direction), what[0], result["scores"]


def interval(values: list[float]) -> str:
    """A difference and its 95 % interval."""
    return "{:+.3f} [{:+.3f}, {:+.3f}]".format(*values)


def row(*cells: object) -> str:
    """A row of a table."""
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def arrow(direction: str) -> str:
    """A direction as people write it."""
    return direction.replace("-", " → ")


if __name__ == "__main__":
    main()
