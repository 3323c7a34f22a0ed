"""What the dial ``--balance`` reaches, and what it costs: tokens, link F and bits per byte.

    python experiments/quality/dial.py ../shared/data/{fra-ita,deu-hsb} --directions fra-ita deu-hsb

One model is learned and a plain one to compare it with.  Rows with penalties are the ends of a dial
whose penalties stop there; rows with a balance are calibrated on the very text that is measured.
Tokens are in proportion to the plain tokenizer's.  Link F is by fast_align, and bits per byte are
those of trigram models of a quarter of the training text, cut in the same way.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import islice

import quality
from ngram import bits_per_byte
from tables import TEXTS, arrow, row

import pairpiece
from pairpiece import Tokenizer, files
from pairpiece.evaluation import evaluate
from pairpiece.model.calibration import with_inferred_penalty, with_marginal_penalty

PENALTIES = (0, 2, 4, 8, 16, 32)
BALANCES = (0.9, 0.99, 1.0, 1.05, 1.1)


def main() -> None:
    """Measure and print a table."""
    parser = quality.parser_of(__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=26_000, help="of the training")
    parser.set_defaults(split="dev")
    options = parser.parse_args()
    print(row("direction", "text", "dial", "z, τ", *("tokens", "link F", "bits per byte") * 2))
    print("|---" * 10 + "|")
    for direction in quality.directions_of(options):
        sides = [list(islice(files.lines(path), options.lines)) for path in direction.paths]
        plain, model = (
            pairpiece.train(
                corpus=list(zip(*sides, strict=True)),
                vocab_size=options.vocab_size,
                mode=mode,
                hard_vocab_limit=False,
                work_dir=options.work_dir / "stages",
            )
            for mode in ("unigram", "default")
        )
        for kind in direction.kinds():
            text = direction.text(kind)
            wanted = sum(map(len, plain.encode_batch(text[1])))
            for name, turned in _turned(model, text, wanted):
                settings = turned.cooccurrences().settings
                z = model.vocabulary.scores[-1] - turned.vocabulary.scores[-1]
                cells = [arrow(direction.name), TEXTS[kind], name]
                cells.append(f"{z:+.2f}, {settings.inferred_piece_penalty:+.2f}")
                for way, count, link_f in _aligned(turned, text):
                    paired = way == "paired"
                    quarter = [side[::4] for side in sides]
                    train, test = (
                        turned.encode_batch(target, source if paired else None, num_threads=2)
                        for source, target in (quarter, text)
                    )
                    bits = bits_per_byte(train, test, text[1], turned.vocab_size)
                    cells += [f"{count / wanted:.3f}", f"{link_f:.3f}", f"{bits:.3f}"]
                print(row(*cells), flush=True)


Text = tuple[list[str], list[str]]


def _turned(model: Tokenizer, text: Text, wanted: int) -> Iterator[tuple[str, Tokenizer]]:
    """The model at the ends of dials, and at some places of the one there is."""
    for penalty in PENALTIES:
        state = with_inferred_penalty(with_marginal_penalty(model.state, penalty), penalty)
        provenance = {**state.provenance, "penalty": penalty}
        yield "", Tokenizer(dataclasses.replace(state, provenance=provenance))
    for balance in BALANCES:
        yield f"{balance:g}", model.calibrate(text[1], text[0], reference=wanted, balance=balance)


def _aligned(model: Tokenizer, text: Text) -> Iterator[tuple[str, int, float]]:
    """Way, tokens and link F, target only and with the source."""
    found = evaluate(
        [model],
        text[1],
        text[0],
        metrics=("tokens", "link_f"),
        aligner="fast_align",
        control=False,
        resamples=10,
    )
    values = {(score.tokenizer, score.metric): score.value for score in found.scores}
    for tokenized in found.tokenized:
        system = tokenized.system
        yield system.way, int(values[system.name, "tokens"]), values[system.name, "link_f"]


if __name__ == "__main__":
    main()
