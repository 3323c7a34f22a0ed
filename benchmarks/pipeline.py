"""Train end to end on raw parallel text and show what each stage costs.

    python benchmarks/pipeline.py ../shared/data/fra-ita ../shared/data/deu-hsb

trains both directions of every pair at 8k with the default settings, each in a process and a work
directory of its own, and prints a table of stages with seconds and peak memory.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

STAGES = ("read", "source", "words", "align", "pairs", "learn")


def main() -> None:
    parser = argparse.ArgumentParser(description="cost of each stage of training")
    parser.add_argument("corpora", nargs="+", type=Path, help="folders named SOURCE-TARGET")
    parser.add_argument("--vocab-size", type=int, default=8000)
    options = parser.parse_args()
    print("| | sentence pairs |", *(f" {stage} |" for stage in STAGES), " all |", sep="")
    print("|---|---|", "---|" * (len(STAGES) + 1), sep="")
    warnings: list[str] = []
    for corpus in options.corpora:
        first, second = corpus.name.split("-")
        for source, target in ((first, second), (second, first)):
            events = train(corpus, source, target, options.vocab_size)
            stages = {event["stage"]: event for event in events if event["event"] == "end"}
            cells = [f"{s['seconds']:.1f} s, {s['peak_bytes'] >> 20} MiB" for s in stages.values()]
            seconds = sum(stage["seconds"] for stage in stages.values())
            peak = max(stage["peak_bytes"] for stage in stages.values()) >> 20
            name = f"{source} → {target}"
            cells = [name, f"{stages['read']['used']:,}", *cells, f"{seconds:.0f} s, {peak} MiB"]
            print(f"| {' | '.join(cells)} |", flush=True)
            warnings += [f"{name}: {e['message']}" for e in events if e["event"] == "warning"]
    print("\nWarnings:", *(warnings or ["none"]), sep="\n")


def train(corpus: Path, source: str, target: str, vocab_size: int) -> list[dict[str, object]]:
    with tempfile.TemporaryDirectory() as work:
        command = [sys.executable, "-m", "pairpiece", "train", "--log-format", "json"]
        command += ["--source", f"{corpus}/train.{source}.gz"]
        command += ["--target", f"{corpus}/train.{target}.gz"]
        command += ["--vocab-size", str(vocab_size), "--output", f"{work}/model"]
        command += ["--work-dir", f"{work}/stages"]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=True)
        return [json.loads(line) for line in done.stderr.splitlines()]


if __name__ == "__main__":
    main()
