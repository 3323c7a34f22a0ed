"""Speed and memory, side by side: runs every section and writes benchmarks/RESULTS.md.

    python benchmarks/suite.py                     # full, about an hour
    python benchmarks/suite.py --quick             # minutes, prints instead of writing
    python benchmarks/suite.py --only encoding     # one section again, the others kept

needs the extras align and report, and parallel text in folders named SOURCE-TARGET (--data).
Everything is a ratio of CPU seconds, or of peak memory, to a peer measured in the same run.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path

from measuring import Section, Settings, table

HERE = Path(__file__).parent
SECTIONS = ("learning", "encoding", "loading", "stages", "aligners")


def main() -> None:
    parser = argparse.ArgumentParser(description="speed and memory, side by side")
    parser.add_argument("--data", type=Path, default=HERE / "../../shared/data")
    parser.add_argument("--work-dir", type=Path, default=Path("/tmp/pairpiece-bench"))
    parser.add_argument("--quick", action="store_true", help="less text, fewer rounds")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS)
    options = parser.parse_args()
    if not (options.data / "fra-ita").is_dir():
        parser.error(f"{options.data} has no folder fra-ita: say where the text is with --data")
    kept = options.work_dir / ("quick" if options.quick else "full")
    plots = kept / "plots" if options.quick else HERE / "plots"
    settings = Settings(options.data, options.work_dir, plots, options.quick)
    for name in options.only:
        print(f"{name} …", flush=True)
        section = importlib.import_module(name).section(settings)
        dataclasses.replace(section, commit=commit()).save(kept / f"{name}.json")
    sections = [
        Section.load(kept / f"{name}.json")
        for name in SECTIONS
        if (kept / f"{name}.json").is_file()
    ]
    results = render(sections)
    if options.quick:
        print(results)
    else:
        (HERE / "RESULTS.md").write_text(results, encoding="utf-8")
        print(f"written to {HERE / 'RESULTS.md'}")


def render(sections: list[Section]) -> str:
    targets = [target for section in sections for target in section.targets]
    rows = [[t.work, t.goal, t.measured, "yes" if t.met else "**no**"] for t in targets]
    notes = HERE / "missed.md"  # what stands in the way where a target is missed
    return "\n".join([
        "# Speed and memory\n",
        "Made by `python benchmarks/suite.py`; do not edit. Ratios of CPU time unless said, to a "
        "peer measured in the same run: median (range).\n",
        table(["", ""], machine()),
        table(["work", "target", "measured", "met"], rows),
        *([notes.read_text(encoding="utf-8")] if notes.is_file() else []),
        *(
            f"## {section.title}\n\nMeasured at commit {section.commit}. {section.text}"
            for section in sections
        ),
    ])  # fmt: skip


def machine() -> list[list[str]]:
    """What the figures were measured on and with."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    packages = ("pairpiece", "sentencepiece", "tokenizers", "numpy", "eflomal")
    return [
        [
            "processor",
            f"{[*names, platform.machine()][0]}, {os.cpu_count()} cores, shared",
        ],
        ["memory", f"{memory} GiB"],
        ["system", f"{platform.system()} {platform.release()}, Python {platform.python_version()}"],
        ["versions", ", ".join(f"{name} {version(name)}" for name in packages)],
    ]


def commit() -> str:
    """What is checked out now."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


if __name__ == "__main__":
    main()
