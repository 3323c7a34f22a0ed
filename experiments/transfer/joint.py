"""A model of both languages: with a tokenizer for each, or with one for both?

    python experiments/transfer/joint.py ../shared/data/deu-hsb --split test --seeds 3

The model reads lines of the two languages by turns.  ``separate`` is ``pairpiece transfer
--extend``, ``joint`` is ``--joint``; ``joint, new rows by transformers`` is a control: the same
tokenizer, and rows as ``resize_token_embeddings`` makes them.  Each result is a line of JSON in
``--results``: bits per byte of the new language after so many lines, and of the old one at the end.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from shared_rows import Bilingual, parsed
from transfer import Pair, Results, read_texts
from transformers import AutoModelForCausalLM, AutoTokenizer

import pairpiece
from pairpiece.downstream.rows import Ids

SEPARATE, JOINT, CONTROL = "separate", "joint", "joint, new rows by transformers"


def main() -> None:
    """Measure what has not been measured."""
    options = parsed(__doc__, "joint.jsonl")
    torch.set_num_threads(1)
    results = Results(options.results)
    for corpus in options.corpus:
        pair = Pair(read_texts(corpus, options.work_dir), options)
        for variant in (SEPARATE, JOINT, CONTROL):
            both = (Bilingual if variant == SEPARATE else OneTokenizer)(pair, options)
            for seed in range(options.seeds):
                key = [corpus.name, options.vocab_size, options.split, options.lines, variant, seed]
                if key not in results:
                    results.add(key, **both.measured(variant, seed))


class OneTokenizer(Bilingual):
    """A model of both languages of a pair with one tokenizer."""

    def __init__(self, pair: Pair, options: argparse.Namespace) -> None:
        super().__init__(pair, options)
        self._joint = pair.folder / "joint"
        if not self._joint.is_dir():
            pairpiece.transfer(pair.model, self._before, self._joint, joint=True)
        self._tokenizer = AutoTokenizer.from_pretrained(self._joint)
        self._resized = pair.folder / "resized"
        if not self._resized.is_dir():
            model = AutoModelForCausalLM.from_pretrained(pair.model)
            model.resize_token_embeddings(len(self._tokenizer))
            model.save_pretrained(self._resized)
            self._tokenizer.save_pretrained(self._resized)

    def measured(self, variant: str, seed: int) -> dict[str, Any]:
        """The curve of the new language, and what the model says of both in the end."""
        start = self._resized if variant == CONTROL else self._joint
        return self._trained(variant, seed, start, self._source)

    def _source(self, lines: list[str]) -> Iterable[Ids]:
        for ids in self._tokenizer(lines, add_special_tokens=False)["input_ids"]:
            yield np.array(ids, np.int32)


if __name__ == "__main__":
    main()
