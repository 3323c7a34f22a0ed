"""Kill a training at random moments, resume it, and compare what it ends with.

    python benchmarks/interruption.py ../shared/data/deu-hsb --times 5

trains once without interruption; then several times in a new work directory, with a ``kill -9`` at
a random moment and a second start; and compares the files of the models byte by byte.
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
        expected = digests(work / "whole")
        same = True
        for number in range(options.times):
            name = f"killed-{number}"
            moment = draw.uniform(0.5, whole)
            process = start(options.corpus, work, name)
            time.sleep(moment)
            process.kill()
            process.wait()
            found = (work / f"{name}-stages").glob("[a-z]*")
            done = sorted(found, key=lambda path: path.stat().st_mtime)
            stages = ", ".join(path.name.split("-")[0] for path in done) or "none"
            start(options.corpus, work, name).wait()
            equal = digests(work / name) == expected
            same = same and equal
            verdict = "the same model" if equal else "ANOTHER MODEL"
            print(f"killed after {moment:.1f} s, finished stages: {stages}; resumed: {verdict}")
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
