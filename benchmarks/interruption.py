"""Kill a training again and again and compare what it ends with.

    python benchmarks/interruption.py ../shared/data/deu-hsb --times 5

trains once without interruption, then in another work directory with a ``kill -9`` at random
moments, each time resumed, and compares the files of both models byte by byte.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STARTING = 0.5  # seconds until a process has begun to work


def main() -> None:
    parser = argparse.ArgumentParser(description="resume after kill -9")
    parser.add_argument("corpus", type=Path, help="folder named SOURCE-TARGET")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        started = time.monotonic()
        start(options.corpus, work, "whole").wait()
        whole = time.monotonic() - started
        print(f"uninterrupted: {whole:.1f} s")
        for number in range(options.times):
            # Each time it goes on a fraction of a whole run further, so that every stage is met.
            moment = draw.uniform(0.1, 1) * whole / options.times
            process = start(options.corpus, work, "killed")
            time.sleep(STARTING + moment)
            process.kill()
            process.wait()
            done = sorted(
                (work / "killed-stages").glob("[a-z]*"), key=lambda path: path.stat().st_mtime
            )
            names = ", ".join(path.name.split("-")[0] for path in done) or "none"
            print(f"kill {number + 1} after {moment:.1f} s; finished stages: {names}")
        start(options.corpus, work, "killed").wait()
        same = digests(work / "whole") == digests(work / "killed")
        print("the models are the same, byte by byte" if same else "THE MODELS DIFFER")
    sys.exit(not same)


def start(corpus: Path, work: Path, name: str) -> subprocess.Popen[bytes]:
    source, target = corpus.name.split("-")
    command = [sys.executable, "-m", "pairpiece", "train", "--quiet"]
    command += ["--source", f"{corpus}/train.{source}.gz"]
    command += ["--target", f"{corpus}/train.{target}.gz"]
    command += ["--output", f"{work}/{name}", "--work-dir", f"{work}/{name}-stages"]
    return subprocess.Popen(command)


def digests(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }


if __name__ == "__main__":
    main()
