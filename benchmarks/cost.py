"""What learning and encoding cost, as ratios to SentencePiece measured in the same run.

    python benchmarks/cost.py ../shared/data/fra-ita --work-dir /tmp/pairpiece-bench

Learning: CPU seconds and peak memory of a process that learns from prepared pairs, against one in
which SentencePiece's unigram trainer learns from the target side of the same text.  Encoding: CPU
seconds of one thread over the training lines, ids out, interleaved and repeated; the spread is the
range over the repetitions.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import sentencepiece
from fertility import sentencepiece_model
from prepare import prepare, sentences, training_pairs

import pairpiece
from pairpiece.source_tokenizers import SOURCE_SETTINGS

LINES = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description="cost of learning and encoding")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--work-dir", type=Path, default=Path("/tmp/pairpiece-bench"))
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--encoding-only", action="store_true")
    parser.add_argument(
        "--child", nargs=3, metavar=("WHAT", "PAIRS", "OUT"), help=argparse.SUPPRESS
    )
    options = parser.parse_args()
    folder = options.work_dir / options.corpus.name
    if options.child:
        print(json.dumps(child(folder, options.vocab_size, *options.child)))
        return
    prepare(options.corpus, options.work_dir)
    if not options.encoding_only:
        learning(options, folder)
    encoding(options, folder)


def learning(options: argparse.Namespace, folder: Path) -> None:
    full = store_pairs(folder)
    print("| learning | pairs | CPU s | peak MiB | CPU ratio | memory ratio |")
    print("|---|---|---|---|---|---|")
    peer = measured(options, "sentencepiece", 0)
    report("SentencePiece unigram", peer, peer)
    sizes = [full // 4, full // 2, full]
    costs = {}
    for mode in ("default", "paper", "unigram"):
        for size in sizes if mode == "default" else [full]:
            costs[mode, size] = measured(options, mode, size)
            report(mode, costs[mode, size], peer)
    small, large = costs["default", sizes[0]], costs["default", full]
    growth = math.log(large["cpu"] / small["cpu"]) / math.log(large["pairs"] / small["pairs"])
    print(
        f"\nCPU time of the default mode grows with distinct pairs to the power of {growth:.2f}\n"
    )


def store_pairs(folder: Path) -> int:
    """Write the merged pairs in random order, so that any first part of them is a sample."""
    path = folder / "pairs.npz"
    if not path.exists():
        pairs = training_pairs(folder)
        rows = list(pairs.rows())
        order = np.random.default_rng(0).permutation(len(rows))
        lines = [
            json.dumps(
                [
                    [pairs.source_tokens[s] for s in rows[i][1] if s],
                    rows[i][0],
                    rows[i][3],
                    rows[i][2] or None,
                ]
            )
            for i in order
        ]
        np.savez_compressed(path, lines=np.array("\n".join(lines)))
    return str(np.load(path)["lines"]).count("\n") + 1


def measured(options: argparse.Namespace, what: str, size: int) -> dict[str, float]:
    command = [sys.executable, __file__, str(options.corpus), "--work-dir", str(options.work_dir)]
    command += ["--vocab-size", str(options.vocab_size), "--child", what, str(size), "-"]
    runs = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(3)
    ]
    return min(runs, key=lambda run: float(run["cpu"]))


def child(folder: Path, vocab_size: int, what: str, size: str, _: str) -> dict[str, float]:
    if what == "sentencepiece":
        started = time.process_time()
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "target.txt"),
            model_prefix=str(folder / "timed"),
            vocab_size=vocab_size,
            num_threads=1,
            **SOURCE_SETTINGS,
        )
        count = 0
    else:
        lines = str(np.load(folder / "pairs.npz")["lines"]).split("\n")[: int(size)]
        pairs = pairpiece.Pairs.from_iterable(json.loads(line) for line in lines)
        del lines
        count = len(pairs)
        started = time.process_time()
        pairpiece.train_from_pairs(pairs, vocab_size, what, hard_vocab_limit=False)
    cpu = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu": cpu, "peak": peak, "pairs": count}


def report(name: str, cost: dict[str, float], peer: dict[str, float]) -> None:
    print(
        f"| {name} | {cost['pairs']:,.0f} | {cost['cpu']:.1f} | {cost['peak']:.0f} | "
        f"{cost['cpu'] / peer['cpu']:.2f} | {cost['peak'] / peer['peak']:.2f} |",
        flush=True,
    )


def encoding(options: argparse.Namespace, folder: Path) -> None:
    training = list(sentences(folder, "train"))[:: max(1, 181_831 // LINES)][:LINES]
    texts = [sentence.target for sentence in training]
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    sources = [sentence.source for sentence in training]
    links = [sentence.links for sentence in training]
    peer = sentencepiece_model(folder, options.vocab_size)
    model = folder / f"default-{options.vocab_size}"
    if not (model / "pairpiece.json").exists():
        pairpiece.train_from_pairs(training_pairs(folder), options.vocab_size).save(model)
    ours = pairpiece.load(model)
    ids = ours.encode_batch(texts)
    peer_ids = peer.encode(texts)
    work: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "ids, batch": (lambda: ours.encode_batch(texts), lambda: peer.encode(texts)),
        "ids, one by one": (
            lambda: [ours.encode(text) for text in texts],
            lambda: [peer.encode(text) for text in texts],
        ),
        "pieces, batch": (
            lambda: ours.encode_batch(texts, out_type=str),
            lambda: peer.encode(texts, out_type=str),
        ),
        "paired, links given": (
            lambda: ours.encode_batch(texts, sources, alignments=links),
            lambda: peer.encode(texts),
        ),
        "paired, links inferred": (
            lambda: ours.encode_batch(texts, sources),
            lambda: peer.encode(texts),
        ),
        "paired, whole sentence": (
            lambda: ours.encode_batch(texts, sources, whole_sentence=True),
            lambda: peer.encode(texts),
        ),
        "decode": (lambda: ours.decode_batch(ids), lambda: peer.decode(peer_ids)),
    }
    gc.freeze()  # the collector should not walk through the corpus again and again
    print("| encoding | MB per CPU s | SentencePiece | times as fast | spread |")
    print("|---|---|---|---|---|")
    for name, (mine, theirs) in work.items():
        times = [(cpu_seconds(mine), cpu_seconds(theirs)) for _ in range(options.repeat)]
        ratios = sorted(their / my for my, their in times)
        fastest, peer_fastest = (min(column) for column in zip(*times, strict=True))
        print(
            f"| {name} | {megabytes / fastest:.1f} | {megabytes / peer_fastest:.1f} | "
            f"{peer_fastest / fastest:.2f} | {ratios[0]:.2f}–{ratios[-1]:.2f} |",
            flush=True,
        )


def cpu_seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    main()
