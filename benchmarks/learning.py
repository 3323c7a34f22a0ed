"""What learning costs, against the unigram trainers of SentencePiece and Hugging Face.

Each run is a process of its own, on one thread unless said; runs of all systems alternate, and a
ratio is taken within each round.  Ours learn from aligned word pairs, the others from the target
side of the same sentences.  CPU time is that of learning alone; peak memory is that of the process,
with the pairs or the text in it.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

from measuring import Section, Settings, Spread, Target, child, growth, number, table
from prepare import prepare, sentences

from pairpiece.run import memory

PARTS = {"×1": 16, "×4": 4, "×16": 1}  # of the sentences, every so manyth
SIZES = {"8k": 8000, "16k": 16000, "32k": 32000}
OURS = ("default", "paper", "unigram")
PEERS = ("SentencePiece", "Hugging Face")


def section(settings: Settings) -> Section:
    folder = prepare(settings.corpus, settings.work_dir)
    parts = dict(list(PARTS.items())[:2]) if settings.quick else PARTS
    sizes = {"8k": 8000} if settings.quick else SIZES
    for every in parts.values():
        make_part(folder, every)
    repeat = 2 if settings.quick else 3
    costs = {
        (part, size): rounds(folder, every, vocab_size, repeat)
        for part, every in parts.items()
        for size, vocab_size in sizes.items()
    }
    largest = list(parts)[-1]
    threads = speed_up(folder, parts[largest], repeat + 2)
    counts = [costs[part, "8k"]["default"][0]["pairs"] for part in parts]

    def exponent(system: str, per_pass: bool = False) -> Spread:
        """Of CPU seconds by distinct pairs, in each round."""
        return Spread.of(
            growth(
                counts,
                [run["cpu"] / (run["passes"] if per_pass else 1) for run in runs],
            )
            for runs in zip(*(costs[part, "8k"][system] for part in parts), strict=True)
        )

    whole, a_pass = exponent("default"), exponent("default", per_pass=True)
    passes = [costs[part, "8k"]["default"][0]["passes"] for part in parts]
    at_8k = costs[largest, "8k"]
    cpu, memory = ratio(at_8k, "default", "cpu"), ratio(at_8k, "default", "peak")
    targets = [
        Target("learning, default mode, 8k, CPU to SentencePiece's", "≤ 0.7", str(cpu),
               cpu.median <= 0.7),
        Target("the same, peak memory", "≤ 2", str(memory), memory.median <= 2),
        Target("growth of a pass with distinct pairs, exponent", "≤ 1.05", str(a_pass),
               a_pass.median <= 1.05),
        Target("growth of all learning with distinct pairs, exponent", "≤ 1.05", str(whole),
               whole.median <= 1.05),
        Target("2 threads in learning, times as fast", "≥ 1.7", str(threads),
               threads.median >= 1.7),
    ]  # fmt: skip
    text = [
        "CPU time and peak memory in ratio to SentencePiece's unigram trainer in the same round: "
        f"median (range) of {repeat} rounds. ×1 is every sixteenth sentence of French–Italian, ×16 "
        "all of them, so that distinct pairs grow as they do in real text.\n",
        table(
            ["text", "vocabulary", "system", "CPU", "memory", "CPU s", "peak MiB", "table entries"],
            rows(costs),
        ),
        "Growth of the CPU time from the smallest text to the largest, as a power of the number of "
        f"distinct pairs ({', '.join(f'{count:,}' for count in counts)}), 8k: "
        + ", ".join(f"{system} {exponent(system)}" for system in (*OURS, *PEERS))
        + f". More text has more seeds to prune, so the default makes more passes "
        f"({', '.join(map(str, passes))}); the time of a pass grows to the power of {a_pass}.\n",
        f"Two threads instead of one, default mode, 8k, {largest}, wall time: {threads} times as "
        "fast.\n",
    ]
    draw(settings.plots / "learning.svg", costs, parts)
    text.append("![CPU seconds of learning by the size of the text](plots/learning.svg)\n")
    return Section("Learning", "\n".join(text), targets)


def rounds(
    folder: Path, every: int, vocab_size: int, repeat: int
) -> dict[str, list[dict[str, Any]]]:
    """The costs of every system in each round."""
    found: dict[str, list[dict[str, Any]]] = {}
    for _ in range(repeat):
        for system in (*OURS, *PEERS):
            cost = run(folder, every, vocab_size, system, 1)
            found.setdefault(system, []).append(cost)
    return found


def run(folder: Path, every: int, vocab_size: int, system: str, threads: int) -> dict[str, Any]:
    part = str(folder / f"part-{every}")
    return child(__file__, part=part, vocab_size=vocab_size, system=system, threads=threads)


def speed_up(folder: Path, every: int, repeat: int) -> Spread:
    def wall(threads: int) -> float:
        return float(run(folder, every, 8000, "default", threads)["wall"])

    return Spread.of(wall(1) / wall(2) for _ in range(repeat))


def ratio(costs: dict[str, list[dict[str, Any]]], system: str, what: str) -> Spread:
    pairs = zip(costs[system], costs["SentencePiece"], strict=True)
    return Spread.of(ours[what] / peer[what] for ours, peer in pairs)


def rows(costs: dict[tuple[str, str], dict[str, list[dict[str, Any]]]]) -> list[list[str]]:
    return [
        [
            part,
            size,
            system,
            str(ratio(of_systems, system, "cpu")),
            str(ratio(of_systems, system, "peak")),
            number(min(cost["cpu"] for cost in runs)),
            number(min(cost["peak"] for cost in runs)),
            f"{runs[0]['entries']:,}" if runs[0]["entries"] else "",
        ]
        for (part, size), of_systems in costs.items()
        for system, runs in of_systems.items()
    ]


def draw(path: Path, costs: dict[tuple[str, str], Any], parts: dict[str, int]) -> None:
    from plots import figure, save

    drawing, axes = figure(5.2, 3.4)
    for system in (*OURS, *PEERS):
        found = [costs[part, "8k"][system] for part in parts]
        at = [costs[part, "8k"]["default"][0]["pairs"] for part in parts]
        axes.plot(at, [min(c["cpu"] for c in runs) for runs in found], marker="o", label=system)
    axes.set(xscale="log", yscale="log", xlabel="distinct pairs", ylabel="CPU seconds, 8k")
    axes.legend(frameon=False)
    save(drawing, path)


def make_part(folder: Path, every: int) -> None:
    """Keep every so manyth sentence: its text, its pairs and, for the paper, its links."""
    from pairpiece.learning.pairs import Pairs, pairs_from_links

    part = folder / f"part-{every}"
    if (part / "done").exists():
        return
    part.mkdir(exist_ok=True)
    chosen = [s for i, s in enumerate(sentences(folder, "train")) if i % every == 0]
    with (part / "target.txt").open("w", encoding="utf-8") as file:
        file.writelines(sentence.target + "\n" for sentence in chosen)
    for name, per_link in (("words", False), ("links", True)):
        pairs = Pairs.from_iterable(
            pair
            for s in chosen
            for pair in pairs_from_links(s.source, s.words, s.links, per_link=per_link)
        )
        pairs.save(part / f"{name}.safetensors")
    (part / "done").touch()


def learn(part: Path, vocab_size: int, system: str, threads: int) -> dict[str, Any]:
    """Learn once, in this process."""
    entries = count = passes = 0
    text = str(part / "target.txt")
    if system == "SentencePiece":
        import sentencepiece

        from pairpiece.foreign.sentencepiece_training import SOURCE_SETTINGS

        settings = {**SOURCE_SETTINGS, "input": text, "vocab_size": vocab_size}
        settings |= {"model_prefix": str(part / "timed"), "num_threads": threads}
        started = time.process_time(), time.perf_counter()
        sentencepiece.SentencePieceTrainer.train(**settings)
    elif system == "Hugging Face":
        os.environ["RAYON_NUM_THREADS"] = str(threads)
        import tokenizers
        from tokenizers import models, normalizers, pre_tokenizers, trainers

        tokenizer = tokenizers.Tokenizer(models.Unigram())
        tokenizer.normalizer = normalizers.NFKC()
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=vocab_size, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
        )
        started = time.process_time(), time.perf_counter()
        tokenizer.train([text], trainer)
    else:
        import pairpiece
        from pairpiece.learning.pairs import Pairs

        name = "links" if system == "paper" else "words"
        pairs = Pairs.load(part / f"{name}.safetensors")
        count = len(pairs)

        def progress(report: pairpiece.Progress) -> None:
            nonlocal passes
            passes = max(passes, report.iteration)

        started = time.process_time(), time.perf_counter()
        learned = pairpiece.train_from_pairs(
            pairs,
            vocab_size,
            system,
            num_threads=threads,
            hard_vocab_limit=False,
            progress=progress,
        )
        if learned.is_paired:
            entries = len(learned.cooccurrences().count)
    return {
        "cpu": time.process_time() - started[0],
        "wall": time.perf_counter() - started[1],
        "peak": memory.peak_bytes() / 2**20,
        "pairs": count,
        "entries": entries,
        "passes": passes,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="learn once; python benchmarks/suite.py runs all")
    parser.add_argument("--child", required=True, type=json.loads)
    wanted = parser.parse_args().child
    print(json.dumps(learn(Path(wanted.pop("part")), **wanted)))
