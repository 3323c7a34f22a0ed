"""A tokenizer trained on the sample, for the tests that only use one."""

from __future__ import annotations

import pytest
import sample

import pairpiece


@pytest.fixture(scope="session")
def pairs() -> pairpiece.Pairs:
    return pairpiece.Pairs.from_iterable(sample.PAIRS)


@pytest.fixture(scope="session")
def tokenizer(pairs: pairpiece.Pairs) -> pairpiece.Tokenizer:
    return pairpiece.train_from_pairs(pairs, vocab_size=640)
