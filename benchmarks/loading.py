"""What it costs to import the package and to load a model, in processes of their own."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from measuring import Section, Settings, Spread, Target, child, number, table
from prepare import prepare, training_pairs

VOCAB_SIZE = 32000
SYSTEMS = ("ours", "SentencePiece", "tokenizers")
HEAVY = ("numpy", "sentencepiece", "tokenizers", "safetensors", "matplotlib", "torch", "rich")

IMPORT = """
import json, sys, time
started = time.process_time()
import pairpiece
print(json.dumps({"cpu": time.process_time() - started, "modules": list(sys.modules)}))
"""


def section(settings: Settings) -> Section:
    model = make_model(settings)
    repeat = settings.repeat + 4
    loaded = [
        {system: child(__file__, system=system, model=str(model)) for system in SYSTEMS}
        for _ in range(repeat)
    ]
    imported = [
        json.loads(subprocess.run([sys.executable, "-c", IMPORT], capture_output=True).stdout)
        for _ in range(repeat)
    ]
    heavy = [name for name in HEAVY if name in imported[0]["modules"]]
    milliseconds = Spread.of(1000 * run["cpu"] for run in imported)
    slower = Spread.of(run["ours"]["cpu"] / run["SentencePiece"]["cpu"] for run in loaded)
    rows = [
        [
            system,
            str(Spread.of(1000 * run[system]["cpu"] for run in loaded)),
            str(Spread.of(run[system]["cpu"] / run["SentencePiece"]["cpu"] for run in loaded)),
            number(min(run[system]["memory"] for run in loaded)),
        ]
        for system in SYSTEMS
    ]
    text = [
        f"A target-only model of {VOCAB_SIZE:,} pieces, the same in all three formats; median "
        f"(range) of {repeat} processes that load it once, after their imports. Memory is what the "
        "process grows by.\n",
        table(["", "CPU ms", "to SentencePiece", "MiB"], rows),
        f"`import pairpiece` takes {milliseconds} CPU ms and brings none of "
        f"{', '.join(HEAVY)} with it{', except ' + ', '.join(heavy) if heavy else ''}.\n",
    ]
    targets = [
        Target("loading 32k pieces, CPU to SentencePiece's", "≤ 1", str(slower),
               slower.median <= 1),
        Target("`import pairpiece`, CPU ms", "< 100, nothing heavy", str(milliseconds),
               milliseconds.median < 100 and not heavy),
    ]  # fmt: skip
    return Section("Importing and loading", "\n".join(text), targets)


def make_model(settings: Settings) -> Path:
    import pairpiece
    from pairpiece.foreign.sentencepiece_format import to_sentencepiece

    folder = prepare(settings.corpus, settings.work_dir)
    model = folder / f"unigram-{VOCAB_SIZE}"
    if not (model / "same.model").exists():
        tokenizer = pairpiece.train_from_pairs(
            training_pairs(folder), VOCAB_SIZE, "unigram", num_threads=2, hard_vocab_limit=False
        )
        tokenizer.save(model)
        (model / "same.model").write_bytes(to_sentencepiece(tokenizer))
    return model


def load(system: str, model: Path) -> dict[str, Any]:
    if system == "ours":
        import pairpiece.model.tokenizer

        work = lambda: pairpiece.load(model)  # noqa: E731
    elif system == "SentencePiece":
        import sentencepiece

        work = lambda: sentencepiece.SentencePieceProcessor(  # noqa: E731
            model_file=str(model / "same.model")
        )
    else:
        import tokenizers

        work = lambda: tokenizers.Tokenizer.from_file(str(model / "tokenizer.json"))  # noqa: E731
    before = resident()
    started = time.process_time()
    loaded = work()
    cpu = time.process_time() - started
    memory = resident() - before
    del loaded
    return {"cpu": cpu, "memory": memory}


def resident() -> float:
    """Memory that this process has now, in MiB."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="load once; python benchmarks/suite.py runs all")
    parser.add_argument("--child", required=True, type=json.loads)
    wanted = parser.parse_args().child
    print(json.dumps(load(wanted["system"], Path(wanted["model"]))))
