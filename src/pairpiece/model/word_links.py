"""Word links of new text, by Eflomal with what it has learned from the text of a training."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterable
from pathlib import Path

from pairpiece.errors import CorpusError, OptionError
from pairpiece.foreign.source_words import words_to_align
from pairpiece.links.eflomal import Eflomal, for_aligner, symmetrized_links
from pairpiece.links.symmetrization import Link
from pairpiece.model.tokenizer import Tokenizer

MAX_PRIORS_BYTES = 2**32


def word_links(
    tokenizer: Tokenizer,
    pairs: Iterable[tuple[str, str]],
    *,
    symmetrization: str = "grow-diag-final-and",
    seed: int = 0,
    num_threads: int = 2,
) -> list[list[Link]]:
    """The links between the words of each (source, target) pair, as `Tokenizer.encode` takes them.

    The priors that the model has kept (``train --keep-priors``) are used if there are any.
    """
    source_tokenizer = tokenizer.state.source_tokenizer
    if source_tokenizer is None:
        raise OptionError("this model knows no source tokenizer, so it cannot find source words")
    with tempfile.TemporaryDirectory(prefix="pairpiece-") as name:
        folder = Path(name)
        with (
            (folder / "source.words").open("w", encoding="utf-8", newline="\n") as sources,
            (folder / "target.words").open("w", encoding="utf-8", newline="\n") as targets,
        ):
            for source, target in pairs:
                words = words_to_align(source_tokenizer, source)
                sources.write(for_aligner(words) + "\n")
                targets.write(for_aligner(tokenizer.words(target)) + "\n")
        if (folder / "source.words").stat().st_size == 0:
            return []
        priors = _priors(tokenizer, folder)
        Eflomal(seed=seed).align(folder, priors=priors, num_threads=num_threads)
        return list(symmetrized_links(folder, symmetrization))


def _priors(tokenizer: Tokenizer, folder: Path) -> Path | None:
    """The priors of the training as a file, if the model has kept them."""
    if tokenizer.priors is None:
        return None
    path = folder / "priors.gz"
    path.write_bytes(tokenizer.priors)
    plain = folder / "priors"
    written = 0
    with gzip.open(path, "rb") as packed, plain.open("wb") as unpacked:
        while chunk := packed.read(2**20):
            written += len(chunk)
            if written > MAX_PRIORS_BYTES:
                raise CorpusError("the priors of this model are larger than any training makes")
            unpacked.write(chunk)
    return plain
