"""What the languages of a text are called, going by the names of its files."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pairpiece.errors import OptionError
from pairpiece.evaluation.parallel_text import Sentences
from pairpiece.files import COMPRESSIONS

_CODE = re.compile(r"[A-Z]{2}|[a-z]{2,3}([-_]([A-Z][a-z]{3}|[A-Z]{2}|[a-z]{2}|[0-9]{3}))*")
_KINDS = {"txt", "tok", "bpe", "spm", "raw", "src", "trg", "tgt", "ref", "hyp", "out", "tsv", "csv"}
"""Suffixes that look like the code of a language and are none."""


def languages(
    target: Sentences,
    source: Sentences | None = None,
    *,
    target_language: str | None = None,
    source_language: str | None = None,
) -> str:
    """``fr → it`` for ``test.fr`` and ``test.it``, or as they were said to be called.

    Where the names of the files do not tell two languages apart, it is the names of the files;
    nothing for a text that has none.
    """
    for what, name in (("target", target_language), ("source", source_language)):
        if name is not None and (not isinstance(name, str) or not name.strip()):
            raise OptionError(
                f"{what}_language must be the name of a language, such as 'it', not {name!r}",
                [f"{what}_language"],
            )
    sides = [(target_language, _path(target))]
    if source is not None:
        sides.insert(0, (source_language, _path(source)))
    names = [given or code(path) or "" for given, path in sides]
    if not all(names) or len(set(names)) < len(names):
        names = [given or path.name for given, path in sides]
    return " → ".join(names) if all(names) else names[-1]


def _path(side: Sentences) -> Path:
    """Where the text is; a path without a name if in memory."""
    return Path(side) if isinstance(side, str | os.PathLike) else Path()


def code(path: Path) -> str | None:
    """The code of a language in the name of a file, or None.

    >>> [code(Path(name)) for name in ("test.fr.gz", "test.pt_BR.txt", "it.txt", "test.txt")]
    ['fr', 'pt_BR', 'it', None]
    """
    stem, *suffixes = path.name.split(".")
    for suffix in reversed(suffixes):
        if suffix not in _KINDS and f".{suffix}" not in COMPRESSIONS and _CODE.fullmatch(suffix):
            return suffix
    return stem if _CODE.fullmatch(stem) and len(stem) != 3 else None
