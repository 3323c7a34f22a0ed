"""How much memory a stretch of work has taken at most."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from types import ModuleType

resource: ModuleType | None
try:
    import resource
except ImportError:  # Windows
    resource = None

_SELF = Path("/proc/self")


def reset_peak() -> None:
    """Begin to measure anew, where the system can do that (Linux)."""
    with contextlib.suppress(OSError):
        (_SELF / "clear_refs").write_text("5")


def peak_bytes() -> int | None:
    """The most memory since `reset_peak`, or since the process began where that does nothing.

    Programs that were run and have ended count, those of earlier stretches included.  None where
    the system does not tell.
    """
    known = []
    unit = 1 if sys.platform == "darwin" else 1024
    try:
        status = (_SELF / "status").read_text()
    except OSError:
        if resource is not None:
            known.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
    else:
        known.append(int(status.partition("VmHWM:")[2].split()[0]) * 1024)
    if resource is not None:
        known.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit)
    return max(known, default=None)
