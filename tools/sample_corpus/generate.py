"""The corpus: the sentences written by hand, and templates in turn until there are enough."""

from __future__ import annotations

from itertools import cycle
from random import Random

from lexicon import sentences
from sampling import Sampler
from templates import Template, UnfitError, templates

SEED = 20240229
ATTEMPTS = 50


def corpus(count: int) -> list[tuple[str, str]]:
    """``count`` distinct sentence pairs in an order that mixes everything."""
    random = Random(SEED)
    sampler = Sampler(random)
    pairs = dict.fromkeys(sentences())
    for template in cycle(templates()):
        if len(pairs) >= count:
            break
        pair = fresh(template, sampler, pairs)
        if pair is not None:
            pairs[pair] = None
    shuffled = list(pairs)[:count]
    random.shuffle(shuffled)
    return shuffled


def fresh(
    template: Template, sampler: Sampler, seen: dict[tuple[str, str], None]
) -> tuple[str, str] | None:
    """A sentence pair of the template that has not been seen, if one is found soon."""
    for _ in range(ATTEMPTS):
        try:
            pair = template.draw(sampler)
        except UnfitError:
            continue
        if pair not in seen:
            return pair
    return None
