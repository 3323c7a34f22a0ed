"""Alignment with fast_align (Dyer et al., 2013) through systran-align, in a process of its own.

It draws no random numbers, and with one thread the same text gives the same links.  It tells those
of both directions put together, not those of each.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import subprocess
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from pairpiece import child, files
from pairpiece.errors import AlignerError
from pairpiece.links.pharaoh import parse_links
from pairpiece.links.symmetrization import Link

_INSTALL = 'fast_align is not installed: pip install "pairpiece[fast-align]"'


def check_installed() -> None:
    """Raise an `AlignerError` that says how to install it if it is not there."""
    if importlib.util.find_spec("systran_align") is None:
        raise AlignerError(_INSTALL)


def version() -> str:
    """Of the package that is installed."""
    return metadata.version("systran-align")


def align(folder: Path) -> Iterator[list[Link]]:
    """The links of each line of ``source.words`` and ``target.words``, words between spaces."""
    check_installed()
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        child.command(__name__, str(folder.absolute())),
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()[-3:]
        raise AlignerError(
            f"fast_align failed with exit code {done.returncode} and said: {'; '.join(said)}"
        )
    for number, line in enumerate(files.lines(folder / "links"), 1):
        yield parse_links(line, f"{folder / 'links'}:{number}")


def _words(path: Path) -> Iterator[list[str]]:
    return (line.replace("|", "¦").split() for line in files.lines(path))  # ||| parts the sides


def main(arguments: list[str]) -> None:
    """Align in a folder, with the settings that the authors of fast_align recommend."""
    import systran_align

    folder = Path(arguments[0])
    sides = [list(_words(folder / f"{side}.words")) for side in ("source", "target")]
    joint = (f"{' '.join(s)} ||| {' '.join(t)}\n" for s, t in zip(*sides, strict=True) if s and t)
    files.write(folder / "joint", "".join(joint).encode("utf-8"))
    tables = [str(folder / name) for name in ("forward.table", "reverse.table")]
    systran_align.generate_alignment_probabilities(
        str(folder / "joint"),
        *tables,
        favor_diagonal=True,
        optimize_tension=True,
        variational_bayes=True,
    )
    found = systran_align.Aligner(*tables).align_batch(*sides)
    files.write(folder / "links", "".join(_lines(one["alignments"] for one in found)).encode())


def _lines(rows: Iterable[Iterable[Link]]) -> Iterator[str]:
    return (" ".join(itertools.starmap("{}-{}".format, row)) + "\n" for row in rows)
