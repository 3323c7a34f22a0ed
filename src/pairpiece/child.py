"""Parts of the package that run as a program, in a process of their own."""

from __future__ import annotations

import sys

_PROGRAM = """
import sys
name, paths = sys.argv[1:3]
del sys.argv[1:3]
sys.path[:] = paths.splitlines()
import importlib
importlib.import_module(name).main(sys.argv[1:])
"""


def command(module: str, *arguments: str) -> list[str]:
    """What runs a module's `main` with arguments, and imports from where this process does.

    With ``python -m`` a file called like a library would be run if it lay in the current folder.
    """
    return [sys.executable, "-c", _PROGRAM, module, "\n".join(sys.path), *arguments]
