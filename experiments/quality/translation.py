r"""Where does a gain in translation come from: the pieces, the source, or chance?

    python experiments/quality/translation.py ../shared/data/deu-hsb --directions deu-hsb --seeds 5
    python experiments/quality/translation.py ../shared/data/deu-hsb --directions hsb-deu \
        --seeds 5 --no-sampling \
        --set layers=2 width=128 inner_width=512 batch=32 learning_rate=0.002 evaluate_every=500

Transformers are trained on the same lines in the same order, tokenized by SentencePiece and by the
default in five ways: target only, with the source, with the source of another sentence (the
control), and target only and with the source with segmentations drawn at random (subword
regularisation; Kudo, 2018).  Text that models are tested on is like that of the training.
"""

from __future__ import annotations

from typing import Any

from quality import SP, Direction, directions_of, parser_of

from pairpiece import Tokenizer
from pairpiece.commands.assignments import assignment
from pairpiece.commands.console import progress_bar
from pairpiece.downstream import translations
from pairpiece.evaluation.formats import to_markdown
from pairpiece.evaluation.parallel_text import ParallelText
from pairpiece.evaluation.systems import System, Tokens, systems_of

ALPHA = 0.3
"""The exponent of the probabilities that segmentations are drawn by."""


def main() -> None:
    """Train and print a table for each direction."""
    parser = parser_of(__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=500, help="of the test text")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--preset", default="tiny")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="as in mt")
    parser.add_argument("--no-sampling", action="store_true", help="leave the last two ways out")
    parser.add_argument("--jobs", type=int)
    options = parser.parse_args()
    changes = dict(assignment(text) for text in options.set)
    for direction in directions_of(options):
        with progress_bar(quiet=False) as advance:
            found = translations(
                _systems(direction, sampled=not options.no_sampling),
                *direction.paths,
                *direction.text("like", "dev"),
                *(side[: options.lines] for side in direction.text("like")),
                source_tokenizer=direction.model("default").source_tokenizer,
                output=options.work_dir / "translation" / f"{direction.name}-{direction.size}",
                preset=options.preset,
                seeds=options.seeds,
                jobs=options.jobs,
                advance=advance,
                **changes,
            )
        table = to_markdown(found.evaluation).partition("\n    ")[0]  # without signatures
        print(f"## {direction.name}, {options.preset}\n\n{table}\n", flush=True)


def _systems(direction: Direction, *, sampled: bool) -> list[Any]:
    folder = direction.folder("default")
    ways = {"target only": "marginal", "with source": "paired", "wrong source": "wrong"}
    systems: list[Any] = [f"{SP}={direction.sentencepiece()}"]
    systems += [f"{name}={folder}/@{way}" for name, way in ways.items()]
    if not sampled:
        return systems
    model = direction.model("default")
    return [*systems, _sampled(model, paired=False), _sampled(model, paired=True)]


def _sampled(model: Tokenizer, *, paired: bool) -> System:
    """The text to learn from is drawn at random; what models are tested on is not."""
    [usual] = systems_of(model, ["paired"])
    how = "with source" if paired else "target only"

    def tokenize(text: ParallelText) -> Tokens:
        sources = text.given_sources if paired else [None] * len(text)
        if len(text) < 5000:  # dev and test
            given = text.given_sources if paired else None
            return model.encode_batch(text.targets, given, out_type=str)
        return [
            model.sample(target, source=source, alpha=ALPHA, seed=number, out_type=str)
            for number, (target, source) in enumerate(zip(text.targets, sources, strict=True))
        ]

    return System(
        f"{how}, sampled",
        f"{usual.digest}:sampled:{paired}:{ALPHA}",
        tokenize,
        None,
        usual.vocabulary,
        usual.unknown,
        uses_source=paired,
        tokenizer=model,
    )


if __name__ == "__main__":
    main()
