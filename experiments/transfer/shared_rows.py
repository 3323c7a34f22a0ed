"""Should pieces whose translation is beyond doubt share the row of the source token?

    python experiments/transfer/shared_rows.py ../shared/data/deu-hsb --seeds 3

A model of both languages (``pairpiece transfer --extend``) reads lines of the two by turns.  Either
every new piece has a row of its own, or one that is seen with one source token beyond doubt, and
that token with it, has the id of the token; as a control, such pieces have the ids of each other's
tokens.  Each result is a line of JSON in ``--results``: bits per byte of the new language after so
many lines, and of the old one at the end.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transfer import ADAPTING, Pair, Results, read_texts

import pairpiece
from pairpiece import files
from pairpiece.downstream.language_model import (
    Ends,
    LanguageModelTask,
    context_of,
    model_config,
    negative_log_likelihoods,
)
from pairpiece.downstream.rows import Ids, Rows
from pairpiece.downstream.settings import language_model_settings
from pairpiece.downstream.training_loop import train_model
from pairpiece.pretrained.model_tokenizer import ModelTokenizer
from pairpiece.text.vocabulary import PieceType

DOUBT = {"0.7": 0.7, "0.5": 0.5}
VARIANTS = ("separate", *DOUBT, "wrong 0.5")
TEST_LINES = 500


def main() -> None:
    """Measure what has not been measured."""
    options = parsed(__doc__, "shared.jsonl")
    torch.set_num_threads(1)
    results = Results(options.results)
    for corpus in options.corpus:
        both = Bilingual(Pair(read_texts(corpus, options.work_dir), options), options)
        for variant in VARIANTS:
            for seed in range(options.seeds):
                key = [corpus.name, options.vocab_size, options.split, options.lines, variant, seed]
                if key not in results:
                    results.add(key, **both.measured(variant, seed))


def parsed(documentation: str, results: str) -> argparse.Namespace:
    """The command line of an experiment with both languages of a pair."""
    parser = argparse.ArgumentParser(description=documentation.splitlines()[0])
    parser.add_argument("corpus", type=Path, nargs="+", help="folders named source-target")
    parser.add_argument("--split", choices=("dev", "test"), default="dev")
    parser.add_argument("--lines", type=int, default=8192, help="of both languages")
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--work-dir", type=Path, default=Path("/tmp/pairpiece-transfer"))
    parser.add_argument("--results", type=Path, default=Path(__file__).with_name(results))
    return parser.parse_args()


class Bilingual:
    """A model of both languages of a pair, and text of both."""

    def __init__(self, pair: Pair, options: argparse.Namespace) -> None:
        self._pair, self._options = pair, options
        self._before = pair.tokenizer
        self._start = pair.folder / "extended"
        if not self._start.is_dir():
            pairpiece.transfer(pair.model, self._before, self._start, extend=True)
        self._after = pairpiece.load(self._start)
        self._theirs = ModelTokenizer.open(pair.model)

    def measured(self, variant: str, seed: int) -> dict[str, Any]:
        """The curve of the new language, and what the model says of both in the end."""
        new = self._ids(variant)
        found = self._trained(variant, seed, self._start, lambda lines: self._target(lines, new))
        return {**found, "shared": int((new != np.arange(len(new))).sum())}

    def _trained(
        self, variant: str, seed: int, start: Path, target: Callable[[list[str]], Iterable[Ids]]
    ) -> dict[str, Any]:
        config = model_config(start)
        settings = language_model_settings(
            "tiny", **ADAPTING, examples=self._options.lines, context=context_of(config)
        )
        lines = [islice(files.lines(path), self._options.lines) for path in self._pair.texts.train]
        sides = self._source(list(lines[0])), target(list(lines[1]))
        train = Rows.of(chain.from_iterable(zip(*sides, strict=True)))
        test = self._pair.texts.splits[self._options.split, "like"]
        old_text, new_text = (side[:TEST_LINES] for side in test)
        task = LanguageModelTask(
            settings,
            config.vocab_size,
            train,
            np.array([len(row) for row in train]),
            Rows.of(target(new_text)),
            _bytes(new_text),
            Ends.of(config),
            start,
        )
        name = f"{variant}-{self._options.lines}-{seed}".replace(" ", "-")
        run = self._pair.folder / "shared" / name
        run.mkdir(parents=True, exist_ok=True)
        model, history = train_model(task, settings, seed, run)
        nats = negative_log_likelihoods(model, list(self._source(old_text))).sum()
        curve = [(u * settings.batch, loss / np.log(2)) for u, _, loss in history.curve]
        return {"curve": curve, "old": nats / np.log(2) / _bytes(old_text)}

    def _source(self, lines: list[str]) -> Iterable[Ids]:
        source = self._before.state.source_tokenizer
        assert source is not None
        unknown = self._theirs.ids[self._theirs.config["unk_token"]]
        for tokens in source.tokenize_batch(lines):
            yield np.array([self._theirs.ids.get(token, unknown) for token in tokens], np.int32)

    def _target(self, lines: list[str], new: Ids) -> Iterator[Ids]:
        for ids in self._after.encode_batch(lines):
            yield new[np.array(ids, np.int32)]

    def _ids(self, variant: str) -> Ids:
        """The id that stands for each id of the extended tokenizer."""
        new = np.arange(len(self._after), dtype=np.int32)
        if variant == "separate":
            return new
        pairs = self._beyond_doubt(DOUBT[variant.split()[-1]])
        tokens = [token for _, token in pairs]
        if variant.startswith("wrong"):
            tokens = [*tokens[1:], *tokens[:1]]
        for (piece, _), token in zip(pairs, tokens, strict=True):
            new[piece] = token
        return new

    def _beyond_doubt(self, least: float) -> list[tuple[int, int]]:
        """Pieces with rows of their own, and the tokens that they could share one with."""
        table = self._before.source_weights(10**6)
        kinds = self._after.piece_types()
        pieces = self._after.vocabulary.pieces
        now = {piece: i for i, piece in enumerate(pieces) if kinds[i] == PieceType.NORMAL}
        found = []
        for i, piece in enumerate(table.pieces):
            for token, weight in table.row(i)[:1]:
                source = table.source_tokens.index(token)
                back = weight * table.evidence[i] / table.source_counts[source]
                mine = now.get(piece, -1)
                if min(weight, back) >= least and mine >= len(self._theirs.ids):
                    found.append((mine, self._theirs.ids[token]))
        return found


def _bytes(lines: list[str]) -> int:
    return sum(len(line.encode()) for line in lines)


if __name__ == "__main__":
    main()
