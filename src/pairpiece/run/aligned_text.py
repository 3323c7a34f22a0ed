"""The sentences of a text with all that is known about their words."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairpiece import files
from pairpiece.errors import AlignerError
from pairpiece.foreign.protocol import SubwordTokenizer, Words
from pairpiece.links.eflomal import symmetrized_links
from pairpiece.links.pharaoh import links_between_words, read_links
from pairpiece.links.symmetrization import Link
from pairpiece.run.job import NO_LINKS, LinkChoice
from pairpiece.run.reporting import Reporter
from pairpiece.run.stages.stage import sentences
from pairpiece.run.stages.words import read_words
from pairpiece.run.workspace import Result


@dataclass(frozen=True)
class Sentence:
    """A target sentence with what is known about its words."""

    target: str
    words: list[str]  # of the target
    tokens: Words  # of each source word
    links: list[Link] | None  # between words; None if nothing has aligned them


@dataclass(frozen=True)
class AlignedText:
    """Text, its words, and the links between them."""

    choice: LinkChoice
    source: SubwordTokenizer | None
    text: Result
    words: Result
    links: Result | None  # of Eflomal

    @property
    def links_identity(self) -> list[Any]:
        """What the links between words are, as plain data."""
        if self.links is not None:
            found = [self.links.content, self.choice.symmetrization]
        elif self.choice.pharaoh is None:
            found = ["none"]
        else:
            file = files.digest(self.choice.pharaoh)
            found = ["pharaoh", file, self.choice.links_between]
        return [*found, self.text.details["read"]]

    def sentences(self, reporter: Reporter, step: int = 1) -> Iterator[Sentence]:
        """Every (`step`-th) sentence that is used."""
        rows = sentences(
            self.text,
            reporter,
            *(files.lines(self.text.folder / name) for name in ("source.txt", "target.txt")),
            *(read_words(self.words.folder / name) for name in ("source.words", "target.words")),
        )
        links = self._links(step)
        for source_text, target_text, source_words, words in itertools.islice(rows, 0, None, step):
            tokens: Words = []
            if self.source is not None:
                tokens = self.source.tokens_by_word(source_text, source_words)
                if self.source.finds_own_words:
                    source_words = list(map("".join, tokens))
            linked = None
            if self.choice.align != NO_LINKS:
                linked = self._between_words(*next(links), source_words, words)
            yield Sentence(target_text, words, tokens, linked)

    def _between_words(
        self, links: list[Link], place: str, source_words: list[str], words: list[str]
    ) -> list[Link]:
        """The links of a sentence, found to lie inside it."""
        try:
            if self.links is None and self.choice.links_between == "spaces":
                links = links_between_words(links, source_words, words)
            if any(s >= len(source_words) or t >= len(words) for s, t in links):
                raise IndexError
        except IndexError:
            raise AlignerError(
                f"{place}: a link lies outside the {len(source_words)} source and {len(words)} "
                f"target words of this sentence; the links are taken to be between "
                f"{self.choice.links_between} (links_between)",
                ["links_between"],
            ) from None
        return links

    def _links(self, step: int) -> Iterator[tuple[list[Link], str]]:
        """The links of each (`step`-th) sentence that is used, with a name for its place."""
        if self.links is not None:
            found = symmetrized_links(self.links.folder, self.choice.symmetrization, step)
            for number, linked in zip(itertools.count(1, step), found, strict=False):
                yield linked, f"{self.links.folder}:{number}"
        elif self.choice.pharaoh is not None:
            yield from itertools.islice(self._of_file(self.choice.pharaoh), 0, None, step)

    def _of_file(self, path: Path) -> Iterator[tuple[list[Link], str]]:
        """From a Pharaoh file, which has a line for each pair of the corpus, used or not."""
        lines = sum(1 for _ in files.lines(path))
        read = self.text.details["read"]
        if lines != read:
            raise AlignerError(f"{path}: {lines:,} lines of links for {read:,} sentence pairs")
        numbers = map(int, files.lines(self.text.folder / "numbers.txt"))
        wanted = next(numbers)
        for number, linked in enumerate(read_links(path)):
            if number == wanted:
                yield sorted(set(linked)), f"{path}:{number + 1}"
                wanted = next(numbers, -1)
