"""How well could the default's pieces be aligned at best?  Oracles that see the aligner's links.

    python experiments/quality/ceiling.py ../shared/data/ita-mlt --directions ita-mlt

The text is cut in many ways: target only, with the source, and drawn at random.  Eflomal aligns
them all, and the oracle takes for every word the way that brings link F most (two for each link
that both directions agree on, less F for each token).  What it took is a further way in the next
round.  Another oracle takes one way for each word of the vocabulary of the text, whatever the
source: the best that a tokenizer without a source could do.  Both are then measured like any
tokenizer, with other seeds of the aligner than those they chose by.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import quality
from tables import TEXTS, arrow, interval, row

from pairpiece import Encoding, Tokenizer
from pairpiece.evaluation import evaluate
from pairpiece.evaluation.aligned import write_tokens
from pairpiece.links.eflomal import Eflomal, symmetrized_links

ROUNDS, SAMPLES, CHOOSING_RUNS = 4, 3, 3
ALPHA = 0.3
"""The exponent of the probabilities that segmentations are drawn by."""

FIRST_SEED = 1000
"""Of the aligner, where the oracle chooses."""

METRICS = ("one_to_one", "unaligned", "link_f")

Words = list[list[tuple[str, ...]]]
"""The pieces of each word of each sentence."""


def main() -> None:
    """Measure and print a table."""
    parser = quality.parser_of(__doc__.splitlines()[0])
    parser.add_argument("--texts", nargs="+", choices=TEXTS, default=["like"])
    parser.add_argument("--runs", type=int, default=3, help="of Eflomal, where it measures")
    options = parser.parse_args()
    print(row("direction", "text", "tokenizer", "tokens", "one-to-one", "unaligned", "link F"))
    print("|---" * 7 + "|")
    for direction in quality.directions_of(options):
        for kind in options.texts:
            for cells in _measured(direction, kind):
                print(row(arrow(direction.name), TEXTS[kind], *cells), flush=True)


def _measured(direction: quality.Direction, kind: str) -> Iterator[list[str]]:
    """Name, tokens and differences from SentencePiece of the default and of the oracles."""
    source, target = direction.text(kind)
    model, folder = direction.model("default"), direction.folder("default")
    with tempfile.TemporaryDirectory(prefix="pairpiece-") as name:
        oracles = {"oracle": _occurrence, "oracle by word": _word}
        for number, choose in enumerate(oracles.values()):
            best = _best(model, source, target, choose)
            tokens = ([piece for word in line for piece in word] for line in best)
            Path(name, str(number)).write_text("".join(" ".join(line) + "\n" for line in tokens))
        found = evaluate(
            [
                f"SentencePiece={direction.sentencepiece()}",
                f"target only={folder}/@marginal",
                f"with source={folder}/@paired",
                *(f"{oracle}=pretokenized:{name}/{i}" for i, oracle in enumerate(oracles)),
            ],
            target,
            source,
            source_tokenizer=model.source_tokenizer,
            metrics=("tokens", *METRICS),
            runs=direction.options.runs,
            control=False,
        )
    scores = {(score.tokenizer, score.metric): score for score in found.scores}
    plain, *others = [text.system.name for text in found.tokenized]
    for other in others:
        compared = [scores[other, metric].comparison for metric in METRICS]
        cells = [interval([c.difference, c.low, c.high]) for c in compared if c is not None]
        yield [
            other,
            f"{scores[other, 'tokens'].value / scores[plain, 'tokens'].value:.3f}",
            *cells,
        ]


Choose = Callable[[list[Words], list[list[Any]]], Words]


def _best(model: Tokenizer, source: list[str], target: list[str], choose: Choose) -> Words:
    sources = model.source_tokenizer.tokenize_batch(source)
    usual = [
        list(map(_words, model.encode_batch(target, given, out_type=Encoding)))
        for given in (None, source)
    ]
    best = usual[1]
    for number in range(ROUNDS):
        drawn = [_drawn(model, source, target, number * SAMPLES + k) for k in range(SAMPLES)]
        ways = [best, *usual, *drawn]
        best = choose(ways, _gains(sources, ways, FIRST_SEED + number * CHOOSING_RUNS))
    return best


def _drawn(model: Tokenizer, source: list[str], target: list[str], number: int) -> Words:
    """With the source and without in turn."""
    return [
        _words(
            model.sample(
                text,
                source=given if number % 2 else None,
                alpha=ALPHA,
                seed=number * len(target) + i,
                out_type=Encoding,
            )
        )
        for i, (text, given) in enumerate(zip(target, source, strict=True))
    ]


def _words(encoding: Encoding) -> list[tuple[str, ...]]:
    words: dict[int, list[str]] = defaultdict(list)
    for piece, word in zip(encoding.pieces, encoding.word_ids, strict=True):
        words[word].append(piece)
    return [tuple(pieces) for pieces in words.values()]


def _gains(sources: list[list[str]], ways: Sequence[Words], seed: int) -> list[list[Any]]:
    """By way and sentence, of each word: twice its links less F for each of its tokens."""
    gains = [[np.zeros(len(line)) for line in way] for way in ways]
    for run in range(CHOOSING_RUNS):
        with tempfile.TemporaryDirectory(prefix="pairpiece-") as name:
            folder = Path(name)
            write_tokens(folder, "source", sources * len(ways))
            marked = (
                [f"{i}:{piece}" for word in line for piece in word]
                for i, way in enumerate(ways)
                for line in way
            )
            write_tokens(folder, "target", marked)
            Eflomal(seed=seed + run).align(folder)
            links = list(symmetrized_links(folder, "intersection"))
        tokens = sum(map(len, sources)) + sum(len(word) for line in ways[0] for word in line)
        f = 2 * sum(map(len, links[: len(sources)])) / tokens
        for number, line_links in enumerate(links):
            way, line = divmod(number, len(sources))
            words = ways[way][line]
            of_token = np.repeat(np.arange(len(words)), [len(word) for word in words])
            found = np.bincount(of_token[[t for _, t in line_links]], minlength=len(words))
            gains[way][line] += 2 * found - f * np.array([len(word) for word in words])
    return gains


def _occurrence(ways: list[Words], gains: list[list[Any]]) -> Words:
    """The best way of every word where it stands; of equal ones the first."""
    chosen = []
    for line in range(len(ways[0])):
        best = np.argmax([way[line] for way in gains], axis=0)
        chosen.append([ways[way][line][word] for word, way in enumerate(best)])
    return chosen


def _word(ways: list[Words], gains: list[list[Any]]) -> Words:
    """The way of every word that is best on the mean of where it was taken."""
    sums: dict[str, dict[tuple[str, ...], list[float]]] = defaultdict(lambda: defaultdict(list))
    for way, of_way in zip(ways, gains, strict=True):
        for words, values in zip(way, of_way, strict=True):
            for word, value in zip(words, values, strict=True):
                sums["".join(word)][word].append(value)
    best = {word: max(cuts, key=lambda cut: np.mean(cuts[cut])) for word, cuts in sums.items()}
    return [[best["".join(word)] for word in line] for line in ways[0]]


if __name__ == "__main__":
    main()
