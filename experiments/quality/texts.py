"""The text of a language pair: for training, and to measure on, like the training and unlike it.

A corpus is a folder named source-target with ``train.<language>.gz`` and splits.  Text *like the
training* is ``test_domain`` (``dev`` of deu-hsb for tuning) where there is such a split, else lines
held out of the training.  Text *from elsewhere* is ``test`` (FLORES devtest, or Tatoeba) and, for
tuning, ``dev`` and ``dev_ntrex``.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

from pairpiece import files

HELD_OUT, MIN_WORDS = 1000, 6
"""Lines of the training that are held out for each of tuning and testing, and their least length
on both sides."""

DOMAIN_DEV = {"deu-hsb"}
"""Corpora whose ``dev`` is text like the training."""

Text = tuple[list[str], list[str]]
"""Sentences of the two languages of a corpus, in the order of its name."""


@dataclass(frozen=True)
class Texts:
    """What there is of a language pair; splits are (dev or test, like or elsewhere)."""

    languages: tuple[str, str]
    train: tuple[Path, Path]
    splits: dict[tuple[str, str], Text]

    def side(self, language: str) -> int:
        """0 for the first language of the corpus and 1 for the second."""
        return self.languages.index(language)


def read_texts(corpus: Path, work_dir: Path) -> Texts:
    """The texts of a corpus; what is left of the training is written to `work_dir` once."""
    first, second = corpus.name.split("-")

    def split(name: str) -> Text:
        both = [corpus / f"{name}.{language}.gz" for language in (first, second)]
        sides = [list(files.lines(path)) if path.is_file() else [] for path in both]
        return sides[0], sides[1]

    train = split("train")
    held = _held_out(train)
    dev, domain = split("dev"), split("test_domain")
    if corpus.name in DOMAIN_DEV:
        held, like_dev, elsewhere = [], dev, split("dev_ntrex")
    else:
        like_dev, elsewhere = _lines(train, held[0::2]), _joined(dev, split("dev_ntrex"))
        if domain[0]:
            held = held[0::2]
    splits = {
        ("dev", "like"): like_dev,
        ("test", "like"): domain if domain[0] else _lines(train, held[1::2]),
        ("dev", "elsewhere"): elsewhere,
        ("test", "elsewhere"): split("test"),
    }
    folder = work_dir / "text" / corpus.name
    paths = (folder / f"train.{first}.gz", folder / f"train.{second}.gz")
    if not all(path.is_file() for path in paths):
        folder.mkdir(parents=True, exist_ok=True)
        for path, side in zip(paths, _without(train, held), strict=True):
            files.write(path, gzip.compress("".join(f"{x}\n" for x in side).encode(), mtime=0))
    return Texts((first, second), paths, splits)


def _held_out(train: Text) -> list[int]:
    """Line numbers from all over the training, of lines that are not too short."""
    long = [
        number
        for number, pair in enumerate(zip(*train, strict=True))
        if all(len(side.split()) >= MIN_WORDS for side in pair)
    ]
    step = max(1, len(long) // (2 * HELD_OUT))
    return long[step // 2 :: step][: 2 * HELD_OUT]


def _lines(text: Text, numbers: list[int]) -> Text:
    return [text[0][number] for number in numbers], [text[1][number] for number in numbers]


def _joined(one: Text, other: Text) -> Text:
    return one[0] + other[0], one[1] + other[1]


def _without(train: Text, numbers: list[int]) -> Text:
    """The training without these lines, and without any that has a side in common with them."""
    held = [set(side) for side in _lines(train, numbers)]
    kept = [
        number
        for number, pair in enumerate(zip(*train, strict=True))
        if not any(side in known for side, known in zip(pair, held, strict=True))
    ]
    return _lines(train, kept)
