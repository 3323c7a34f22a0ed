"""What learning costs: the default of 0.4.0, the present one, and a plain unigram tokenizer.

    python experiments/quality/learning_time.py ../shared/data/ces-ukr

CPU seconds on one thread and their ratio to 0.4.0, medians of interleaved rounds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

from quality import CONFIGURATIONS

from pairpiece import train_from_pairs
from pairpiece.learning.pairs import Pairs
from pairpiece.run import pipeline
from pairpiece.run.job import prepare


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, nargs="+", help="folders named source-target")
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work-dir", type=Path, default=Path("/tmp/pairpiece-quality"))
    options = parser.parse_args()
    print("| corpus | step | CPU seconds | ratio |\n|---|---|---|---|")
    for corpus in options.corpus:
        texts = [corpus / f"train.{name}.gz" for name in corpus.name.split("-")]
        job = prepare(*texts, vocab_size=options.vocab_size, keep_priors=True, num_threads=1)
        finished = pipeline.run(job, work_dir=options.work_dir / "stages")
        pairs = Pairs.load(finished["pairs"].folder / "pairs.safetensors")
        steps = {name: _learning(name) for name in ("0.4.0", "λ 0", "default", "unigram")}
        seconds: dict[str, list[float]] = {name: [] for name in steps}
        for _ in range(options.rounds):
            for name, learning in steps.items():
                before = time.process_time()
                train_from_pairs(pairs, options.vocab_size, **learning)
                seconds[name].append(time.process_time() - before)
        for name, values in seconds.items():
            ratio = statistics.median(
                ours / theirs for ours, theirs in zip(values, seconds["0.4.0"], strict=True)
            )
            median = statistics.median(values)
            print(f"| {corpus.name} | {name} | {median:.1f} | {ratio:.2f} |", flush=True)


def _learning(name: str) -> dict[str, Any]:
    """The options of a configuration that are about learning."""
    return {key: value for key, value in CONFIGURATIONS[name].items() if key != "balance"}


if __name__ == "__main__":
    main()
