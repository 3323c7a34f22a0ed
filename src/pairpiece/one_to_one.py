"""How well the tokens of two languages correspond: the share of source tokens linked one to one."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pairpiece.word_aligner import Eflomal, symmetrized_links


def one_to_one(
    sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]], last: int
) -> float:
    """The share of source tokens linked with one target token that is linked with no other.

    All sentences are aligned, token by token, with Eflomal and grow-diag-final-and; the `last` ones
    are counted.  The metric is that of Hämmerl et al. (2025), on the source side as in the paper.
    """
    with tempfile.TemporaryDirectory(prefix="pairpiece-") as name:
        folder = Path(name)
        for side, sentences in (("source", sources), ("target", targets)):
            with (folder / f"{side}.words").open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(" ".join(map(_visible, tokens)) + "\n" for tokens in sentences)
        Eflomal().align(folder)
        found = 0
        for links in list(symmetrized_links(folder, "grow-diag-final-and"))[-last:]:
            of_source = Counter(source for source, _ in links)
            of_target = Counter(target for _, target in links)
            found += sum(of_source[s] == 1 and of_target[t] == 1 for s, t in links)
    return found / sum(len(tokens) for tokens in sources[-last:])


def _visible(token: str) -> str:
    """A token without the spaces that Eflomal would take for the end of it."""
    return "".join(token.split()) or "_"
