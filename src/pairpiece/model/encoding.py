"""What goes into encoding a text, and what comes out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict, TypeVar

from pairpiece.errors import OptionError
from pairpiece.foreign.protocol import Source
from pairpiece.options import check_between, check_whole

T = TypeVar("T")

Links: TypeAlias = Iterable[tuple[int, int]]
"""(source word, target word) pairs, as in a Pharaoh file."""


class EncodeOptions(TypedDict, total=False):
    """The arguments of `Tokenizer.encode` besides the text and the type of the result."""

    source: Source | None
    alignment: Links | None
    model: Literal["unigram", "bigram"]
    whole_sentence: bool | None
    add_bos: bool
    add_eos: bool


@dataclass(frozen=True, slots=True)
class Encoding:
    """All that is known about one encoded text.

    ``offsets`` are character ranges of the text as it was given, before normalisation; the byte
    pieces of one character share its range.  ``log_prob`` is the sum of the tokens' scores.
    """

    ids: list[int]
    pieces: list[str]
    offsets: list[tuple[int, int]]
    word_ids: list[int]
    log_prob: float

    def __len__(self) -> int:
        return len(self.ids)

    def between(
        self, first: list[int], first_pieces: list[str], last: list[int], last_pieces: list[str]
    ) -> Encoding:
        """The encoding with tokens around it that belong to no characters and no word."""
        end = self.offsets[-1][1] if self.offsets else 0
        return Encoding(
            first + self.ids + last,
            first_pieces + self.pieces + last_pieces,
            [(0, 0)] * len(first) + self.offsets + [(end, end)] * len(last),
            [-1] * len(first) + self.word_ids + [-1] * len(last),
            self.log_prob,
        )


def check_out_type(out_type: object) -> None:
    """Raise an `OptionError` for anything but ``int``, ``str`` and `Encoding`."""
    if out_type not in (int, str, Encoding):
        raise OptionError(f"out_type must be int, str or pairpiece.Encoding, not {out_type!r}")


def listed(name: str, batch: Iterable[T]) -> list[T]:
    """A batch as a list of its own; raises an `OptionError` for what is no batch."""
    if isinstance(batch, str):
        raise OptionError(f"{name} must be a list with an item for each text, not one string")
    try:
        iterator = iter(batch)
    except TypeError:
        raise OptionError(f"{name} must be a list, not {type(batch).__name__}") from None
    return list(iterator)


def lists_of(
    targets: Iterable[str],
    sources: Iterable[Source] | None,
    alignments: Iterable[Links | None] | None,
) -> tuple[list[str], list[Source] | None, list[Links | None] | None]:
    """A batch as it is now: what is done to the caller's lists meanwhile changes nothing."""
    if isinstance(targets, str):
        raise OptionError("a batch is a list of texts, not one text: use encode for that")
    return (
        listed("the texts", targets),
        None if sources is None else listed("sources", sources),
        None if alignments is None else listed("alignments", alignments),
    )


def check_text(text: object) -> None:
    """Raise an `OptionError` for anything but a string."""
    if not isinstance(text, str):
        raise OptionError(f"the text is not a string but {type(text).__name__}")


def check_seed(seed: object) -> None:
    """Raise an `OptionError` for anything but a whole number."""
    if type(seed) is not int:
        raise OptionError(f"seed must be a whole number, not {seed!r}", ["seed"])


def check_alpha(alpha: object) -> None:
    """Raise an `OptionError` for anything but an exponent of probabilities."""
    check_between("alpha", alpha, 0, 100)


MAX_THREADS = 1024
"""More than any machine has processors; the core starts no more than there are, or 16."""


def check_threads(num_threads: object) -> None:
    """Raise an `OptionError` for anything but a sensible number."""
    check_whole("num_threads", num_threads, 1, MAX_THREADS)
