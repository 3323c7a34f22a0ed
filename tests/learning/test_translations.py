"""r(t, s): which source tokens each piece stands for."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.french_italian import PAIRS

import pairpiece
from pairpiece.learning.pairs import Pair, Pairs
from pairpiece.learning.translations import translations_of
from pairpiece.model.tables import TranslationTable

Counts = dict[tuple[str, str], float]


@pytest.fixture(scope="module")
def trained() -> pairpiece.Tokenizer:
    return pairpiece.train_from_pairs(PAIRS, 400)


def found(table: TranslationTable, tokenizer: pairpiece.Tokenizer, tokens: list[str]) -> Counts:
    pieces = tokenizer.vocabulary.pieces
    rows = zip(table.piece_ids, table.source, table.count, strict=True)
    return {(pieces[t], tokens[s]): float(count) for t, s, count in rows}


def in_plain_python(pairs: list[Pair], tokenizer: pairpiece.Tokenizer) -> Counts:
    """Equations 21 and 22, word for word."""
    cut = {pair.target: tokenizer.encode(pair.target, out_type=str) for pair in pairs}
    share: Counts = defaultdict(lambda: 1.0)
    for _ in range(4):
        counts: Counts = defaultdict(float)
        for pair in pairs:
            for s in pair.source:
                total = sum(share[t, s] for t in cut[pair.target])
                for t in cut[pair.target]:
                    counts[t, s] += pair.count * share[t, s] / total
        of_pieces: dict[str, float] = defaultdict(float)
        for (t, _s), count in counts.items():
            of_pieces[t] += count
        share = {(t, s): count / of_pieces[t] for (t, s), count in counts.items()}
    return counts


WORDS = sorted({" " + str(pair[1]).strip("▁ ") for pair in PAIRS})
SOURCES = st.lists(st.sampled_from(["▁le", "▁chat", "s", "▁souris"]), max_size=3)


@given(rows=st.lists(st.tuples(SOURCES, st.sampled_from(WORDS), st.integers(1, 9)), min_size=1))
@settings(deadline=None, max_examples=60)
def test_counts_are_those_of_the_equations(
    trained: pairpiece.Tokenizer, rows: list[tuple[list[str], str, int]]
) -> None:
    pairs = Pairs.from_iterable(rows)
    table = translations_of(pairs, trained.state, 0.0)
    wanted = in_plain_python([Pair(*row) for row in rows], trained)
    learned = {p for p, k in zip(trained.token_list(), trained.piece_types(), strict=True) if k < 1}
    wanted = {key: count for key, count in wanted.items() if key[0] in learned}
    assert found(table, trained, pairs.source_tokens) == pytest.approx(wanted, rel=1e-5)


def test_every_source_token_is_shared_out_once(trained: pairpiece.Tokenizer) -> None:
    pairs = Pairs.from_iterable(PAIRS)
    table = translations_of(pairs, trained.state, 0.0)
    wanted = np.zeros(len(pairs.source_tokens))
    for source, _, *count in PAIRS:
        for token in source:
            wanted[pairs.source_tokens.index(token)] += count[0] if count else 1
    counts = np.bincount(table.source, table.count, minlength=len(wanted))
    assert counts == pytest.approx(wanted, rel=1e-5)


def test_pieces_are_counted_as_the_target_alone_is_cut(trained: pairpiece.Tokenizer) -> None:
    assert trained.state.translations is not None
    wanted = np.zeros(len(trained))
    for _, word, *count in PAIRS:
        for i in trained.encode(word.replace("▁", " ")):
            wanted[i] += count[0] if count else 1
    used = trained.state.translations.value.piece_count
    learned = np.array(trained.piece_types()) == 0
    assert np.array_equal(used[learned], wanted[learned])


def test_a_piece_that_others_explain_better_is_left_out(trained: pairpiece.Tokenizer) -> None:
    """An ending takes part in all words; what the words mean is said by the stems."""
    words = sorted((word for word in WORDS if len(trained.encode(word)) == 2), key=trained.encode)
    stem, ending = trained.encode(words[0], out_type=str)
    pairs = Pairs.from_iterable(
        [(["▁x"], words[0], 10), (["▁x"], stem.replace("▁", " "), 100), (["▁y"], ending, 100)]
    )
    counts = found(translations_of(pairs, trained.state, 0.0), trained, pairs.source_tokens)
    assert counts[stem, "▁x"] > 109
    assert counts[ending, "▁x"] < 1


def test_a_plain_tokenizer_stands_for_nothing() -> None:
    assert pairpiece.train_from_pairs(PAIRS, 400, "unigram").state.translations is None


def test_memory_is_not_taken_beyond_the_limit(trained: pairpiece.Tokenizer) -> None:
    pairs = Pairs.from_iterable(PAIRS)
    with pytest.raises(pairpiece.MemoryLimitError, match=r"stands for may need .* align the words"):
        translations_of(pairs, trained.state, 0.0, 1000)
    translations_of(pairs, trained.state, 0.0, 2**20)


def test_a_calibrated_run_counts_pieces_as_it_cuts_them() -> None:
    text = [("le chat dort", "il gatto dorme"), ("les chats dorment", "i gatti dormono")] * 20
    tokenizer = pairpiece.train(corpus=text, vocab_size=290, align="none", cache=False, balance=1.5)
    assert tokenizer.provenance["calibration"]["target_only"]["penalty"] < 0
    used = np.zeros(len(tokenizer))
    for _, line in text:
        np.add.at(used, tokenizer.encode(line), 1)
    assert tokenizer.state.translations is not None
    assert np.array_equal(tokenizer.state.translations.value.piece_count, used)
