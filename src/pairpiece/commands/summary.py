"""What ``train`` says when it is done: what was read, aligned and learned, at what cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from pairpiece.commands.console import Terminal
from pairpiece.commands.side_by_side import side_by_side
from pairpiece.model.calibration import reached
from pairpiece.run.pipeline import FinishedRun
from pairpiece.run.stages.calibrate import Calibrate
from pairpiece.run.workspace import Result
from pairpiece.terminal import visible


def print_summary(run: FinishedRun, output: Path) -> None:
    """Print the summary on standard output."""
    console = Terminal(soft_wrap=True)
    model = escape(visible(str(output)))
    text = run["read"].details
    pairs = run["pairs"].details
    tokenizer = run.tokenizer
    console.print(f"\n[bold]Read[/]     {_read(text)}")
    if pairs["links"]:
        share = pairs["linked_words"] / max(1, pairs["target_words"])
        console.print(
            f"[bold]Aligned[/]  {pairs['links']:,} links; {share:.0%} of {pairs['target_words']:,} "
            f"target words have one"
        )
    console.print(
        f"[bold]Learned[/]  {tokenizer.vocab_size:,} pieces from {pairs['distinct']:,} different "
        f"word pairs"
    )
    for stage in run.stages:
        if stage.stage == Calibrate.name:
            console.print(f"[bold]Balanced[/] {_balance(stage.details)}")
    console.print(_stages(run.stages))
    if tokenizer.is_paired and tokenizer.source_tokenizer is not None and run.examples:
        console.print("Three sentences, each target token in the colour of its source token:\n")
        for source, target in run.examples:
            for line in side_by_side(tokenizer, source, target, console.color_system):
                console.print(line)
            console.print()
    if run.work_dir is not None:
        folder = escape(visible(str(run.work_dir)))
        console.print(f"[bold]Kept[/]     results of the stages in {folder}")
    console.print(f"[bold]Model[/]    {model}")
    console.print(f"[bold]Next[/]     echo TEXT | pairpiece encode {model} --output-format piece")
    console.print(f"         pairpiece inspect {model}")


def _read(text: dict[str, int]) -> str:
    if text["used"] == text["read"]:
        return f"{text['used']:,} sentence pairs"
    return f"{text['read']:,} sentence pairs, of which {text['used']:,} are used"


def _balance(record: dict[str, Any]) -> str:
    came_to = (f"{found:.3f} {use.replace('_', ' ')}" for use, found in reached(record).items())
    return f"{record['balance']:g} asked for: {', '.join(came_to)}"


def _stages(stages: list[Result]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("stage")
    table.add_column("seconds", justify="right")
    table.add_column("peak memory", justify="right")
    table.add_column("")
    for result in stages:
        table.add_row(
            result.stage,
            f"{result.seconds:.1f}",
            _memory([result]),
            "from an earlier run" if result.reused else "",
        )
    now = [result for result in stages if not result.reused]
    seconds = sum(result.seconds for result in now)
    table.add_row("this run", f"{seconds:.1f}", _memory(now), style="bold")
    return table


def _memory(stages: list[Result]) -> str:
    """The most that any of the stages has taken, as far as the system has told."""
    known = [result.peak_bytes for result in stages if result.peak_bytes is not None]
    return f"{max(known) / 2**20:,.0f} MiB" if known else "–"
