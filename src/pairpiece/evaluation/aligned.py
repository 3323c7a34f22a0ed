"""Links between source and target tokens, for several tokenizers by one aligner.

The paper's protocol: the dev text is tokenized by every tokenizer, each target token marked with
the tokenizer that made it; Eflomal aligns the union with the source and yields priors; with those
it aligns the test text, prepared in the same way.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from pairpiece.evaluation.parallel_text import Array
from pairpiece.evaluation.tokenized import Links, Tokenized
from pairpiece.links.eflomal import Eflomal, symmetrized_links


def align(
    texts: Sequence[Tokenized],
    dev: Sequence[Tokenized | None] | None,
    *,
    runs: int,
    seed: int,
    symmetrization: str,
    num_threads: int = 2,
    advance: Callable[[int, int], object] | None = None,
) -> None:
    """Give each of the tokenized texts the links of so many runs of the aligner.

    `dev` has, in the same order, the dev text of each tokenizer that can tokenize it.
    """
    for run in range(runs):
        if advance is not None:
            advance(run, runs)
        aligner = Eflomal(seed=seed + run)
        with tempfile.TemporaryDirectory(prefix="pairpiece-") as name:
            folder = Path(name)
            priors = None
            if dev is not None and any(dev):
                _write(folder, dev)
                aligner.align(folder, num_threads=num_threads)
                priors = aligner.make_priors(folder)
            _write(folder, texts)
            aligner.align(folder, priors=priors, scores=True, num_threads=num_threads)
            links = list(symmetrized_links(folder, symmetrization))
            certain = [len(both) for both in symmetrized_links(folder, "intersection")]
            scores = _scores(folder)
        for i, text in enumerate(texts):
            part = slice(i * len(text.tokens), (i + 1) * len(text.tokens))
            agreed = np.array(certain[part], float)
            empty = (text.lengths == 0) | (text.source_total == 0)
            scored = np.where(empty, np.nan, scores[part])
            text.runs.append(Links.of(links[part], text.source_total, agreed, scored))


def _scores(folder: Path) -> Array:
    both = [np.loadtxt(folder / f"{side}.scores", ndmin=1) for side in ("forward", "reverse")]
    return np.asarray(sum(both) / 2, np.float64)


def _write(folder: Path, texts: Sequence[Tokenized | None]) -> None:
    """All tokenized texts, one after the other, each target token with the number of its text."""
    numbered = [(i, text) for i, text in enumerate(texts) if text is not None]
    write_tokens(folder, "source", (row for _, t in numbered for row in t.source_tokens or ()))
    write_tokens(
        folder,
        "target",
        ([f"{i}:{_visible(token)}" for token in row] for i, t in numbered for row in t.tokens),
    )


def write_tokens(folder: Path, side: str, rows: Iterable[Iterable[str]]) -> None:
    """The tokens of one side, as the aligner takes them."""
    with (folder / f"{side}.words").open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(" ".join(map(_visible, tokens)) + "\n" for tokens in rows)


def _visible(token: str) -> str:
    """A token without the spaces that Eflomal would take for the end of it."""
    return "".join(token.split()) or "_"
