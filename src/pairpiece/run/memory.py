"""How much memory a stretch of work has taken at most."""

from __future__ import annotations

import contextlib
import resource
import sys
from pathlib import Path

_SELF = Path("/proc/self")


def reset_peak() -> None:
    """Begin to measure anew, where the system can do that (Linux)."""
    with contextlib.suppress(OSError):
        (_SELF / "clear_refs").write_text("5")


def peak_bytes() -> int:
    """The most memory since `reset_peak`, or since the process began where that does nothing.

    Programs that were run and have ended count, those of earlier stretches included.
    """
    unit = 1 if sys.platform == "darwin" else 1024
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
    try:
        status = (_SELF / "status").read_text()
    except OSError:
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    else:
        own = int(status.partition("VmHWM:")[2].split()[0]) * 1024
    return max(own, children)
