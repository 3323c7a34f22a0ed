"""Links between source and target tokens, for several tokenizers by one aligner.

The paper's protocol: the dev text is tokenized by every tokenizer, each target token marked with
the tokenizer that made it; Eflomal aligns the union with the source and yields priors; with those
it aligns the test text, prepared in the same way.  Or by fast_align, another kind of aligner.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from pairpiece.evaluation.parallel_text import Array
from pairpiece.evaluation.tokenized import Links, Tokenized
from pairpiece.links import fast_align
from pairpiece.links.eflomal import Eflomal, symmetrized_links

EFLOMAL, FAST_ALIGN = "eflomal", "fast_align"
ALIGNERS = (EFLOMAL, FAST_ALIGN)

Dev = Sequence[Tokenized | None] | None


def align(
    texts: Sequence[Tokenized],
    dev: Dev,
    *,
    aligner: str = EFLOMAL,
    runs: int,
    seed: int,
    symmetrization: str,
    num_threads: int = 2,
    advance: Callable[[int, int], object] | None = None,
) -> None:
    """Give each of the tokenized texts the links of so many runs of the aligner.

    `dev` has, in the same order, the dev text of each tokenizer that can tokenize it.
    """
    if aligner == FAST_ALIGN:
        _fast_align(texts, dev)
        return
    for run in range(runs):
        if advance is not None:
            advance(run, runs)
        _eflomal(texts, dev, Eflomal(seed=seed + run), symmetrization, num_threads)


def _eflomal(
    texts: Sequence[Tokenized], dev: Dev, aligner: Eflomal, symmetrization: str, num_threads: int
) -> None:
    with tempfile.TemporaryDirectory(prefix="pairpiece-") as name:
        folder = Path(name)
        priors = None
        if dev is not None and any(dev):
            _write(folder, enumerate(dev))
            aligner.align(folder, num_threads=num_threads)
            priors = aligner.make_priors(folder)
        _write(folder, enumerate(texts))
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


def _fast_align(texts: Sequence[Tokenized], dev: Dev) -> None:
    """The dev text is aligned together with the text: there are no priors.

    Nor are there two directions to agree: links are certain if they are one to one.
    """
    with tempfile.TemporaryDirectory(prefix="pairpiece-") as name:
        _write(Path(name), [*enumerate(texts), *enumerate(dev or ())])
        links = list(fast_align.align(Path(name)))
    for i, text in enumerate(texts):
        found = Links.of(links[i * len(text.tokens) :][: len(text.tokens)], text.source_total)
        text.runs.append(dataclasses.replace(found, certain=found.one_to_one))


def _scores(folder: Path) -> Array:
    both = [np.loadtxt(folder / f"{side}.scores", ndmin=1) for side in ("forward", "reverse")]
    return np.asarray(sum(both) / 2, np.float64)


def _write(folder: Path, texts: Iterable[tuple[int, Tokenized | None]]) -> None:
    """Texts one after the other, each target token with the number of its tokenizer."""
    numbered = [(i, text) for i, text in texts if text is not None]
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
