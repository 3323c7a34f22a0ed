"""Where the time of a training goes: every stage of a run from raw parallel text, 8k pieces.

Both directions of every pair, each in a process and a work directory of its own, two threads.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from measuring import Section, Settings, number, table

STAGES = ("read", "source", "words", "align", "pairs", "learn", "save")
VOCAB_SIZE = 8000


def section(settings: Settings) -> Section:
    corpora = sorted(path for path in settings.data.iterdir() if path.is_dir())
    if settings.quick:
        corpora = [settings.data / "deu-hsb"]
    found: dict[str, list[dict[str, Any]]] = {}
    for corpus in corpora:
        first, second = corpus.name.split("-")
        for source, target in ((first, second), (second, first)):
            found[f"{source} → {target}"] = train(corpus, source, target)
    rows = []
    for name, events in found.items():
        stages = {event["stage"]: event for event in events if event["event"] == "end"}
        seconds = sum(stage["seconds"] for stage in stages.values())
        peak = max(stage["peak_bytes"] for stage in stages.values())
        cells = [
            f"{number(stages[stage]['seconds'])} s, {stages[stage]['peak_bytes'] >> 20} MiB"
            for stage in STAGES
            if stage in stages
        ]
        rows.append([name, f"{stages['read']['used']:,}", *cells, f"{seconds:.0f} s, {peak >> 20}"])
    shown = [stage for stage in STAGES if any(stage == e.get("stage") for e in events)]
    text = [
        "Wall time and peak memory of each stage with the default settings; one run each, so these "
        "are not ratios: they show where the time goes.\n",
        table(["", "sentence pairs", *shown, "all, MiB"], rows),
        "![share of each stage](plots/stages.svg)\n",
    ]
    draw(settings.plots / "stages.svg", found)
    return Section("The stages of a training", "\n".join(text))


def train(corpus: Path, source: str, target: str) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as work:
        command = [sys.executable, "-m", "pairpiece", "train", "--log-format", "json"]
        command += ["--source", f"{corpus}/train.{source}.gz"]
        command += ["--target", f"{corpus}/train.{target}.gz"]
        command += ["--vocab-size", str(VOCAB_SIZE), "--output", f"{work}/model"]
        command += ["--work-dir", f"{work}/stages"]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=True)
        return [json.loads(line) for line in done.stderr.splitlines()]


def draw(path: Path, found: dict[str, list[dict[str, Any]]]) -> None:
    from plots import figure, save

    drawing, axes = figure(6.4, 0.9 + 0.28 * len(found))
    names = list(found)[::-1]
    colors = ("#4477aa", "#66ccee", "#228833", "#cc6677", "#ccbb44", "#aa3377", "#bbbbbb")
    for place, name in enumerate(names):
        ends = {event["stage"]: event for event in found[name] if event["event"] == "end"}
        left = 0.0
        for stage, color in zip(STAGES, colors, strict=True):
            if stage not in ends:
                continue
            label = stage if place == 0 else None
            axes.barh(place, ends[stage]["seconds"], left=left, color=color, label=label)
            left += ends[stage]["seconds"]
    axes.set(yticks=range(len(names)), yticklabels=names, xlabel="seconds")
    axes.legend(frameon=False, ncols=2)
    save(drawing, path)
