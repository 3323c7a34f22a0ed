"""Word links in Pharaoh files, made by whichever aligner."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pairpiece import files
from pairpiece.errors import AlignerError
from pairpiece.links.symmetrization import Link


def links_between_words(
    links: Iterable[Link], source_words: Sequence[str], target_words: Sequence[str]
) -> list[Link]:
    """Links between what stands between spaces as links between words.

    What is several words on one side or both is linked in order if there are equally many, else
    each with each.  Raises ``IndexError`` for a link outside the sentence.

    >>> links_between_words([(0, 0), (1, 1)], ["c", "'", "est", "▁tout"], ["è", "▁tutto"])
    [(0, 0), (1, 0), (2, 0), (3, 1)]
    """
    sources, targets = _between_spaces(source_words), _between_spaces(target_words)
    found: set[Link] = set()
    for source, target in links:
        ours, theirs = sources[source], targets[target]
        if len(ours) == len(theirs):
            found.update(zip(ours, theirs, strict=True))
        else:
            found.update(itertools.product(ours, theirs))
    return sorted(found)


def _between_spaces(words: Sequence[str]) -> list[list[int]]:
    """The numbers of the words that make up each stretch of text between spaces."""
    stretches: list[list[int]] = []
    for number, word in enumerate(words):
        if word == "▁":
            continue  # a space before another
        if word.startswith("▁") or not stretches:
            stretches.append([])
        stretches[-1].append(number)
    return stretches


def parse_links(line: str, place: str) -> list[Link]:
    """The links of a Pharaoh line such as ``0-0 1-2``.

    >>> parse_links("0-0 1-2", "links:1")
    [(0, 0), (1, 2)]
    """
    links = []
    for link in line.split():
        source, _, target = link.partition("-")
        if not (source.isascii() and source.isdigit() and target.isascii() and target.isdigit()):
            raise AlignerError(
                f"{place}: {link!r} is not a link; a Pharaoh file has source-target pairs of word "
                f"numbers from 0, such as 0-0 1-2"
            )
        if len(source) > 9 or len(target) > 9:
            raise AlignerError(f"{place}: there is no word number {max(source, target, key=len)}")
        links.append((int(source), int(target)))
    return links


def read_links(path: Path) -> Iterator[list[Link]]:
    """The links of every sentence of a Pharaoh file."""
    for number, line in enumerate(files.lines(path), 1):
        yield parse_links(line, f"{path}:{number}")
