"""Encoding with a source: what it is conditioned on, and that the best segmentation is found."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.french_italian import PAIRS, SENTENCES
from support.tampering import manifest_of, write_manifest

import pairpiece
from pairpiece import Encoding, LengthPenalty, OptionError
from pairpiece.learning import oracle
from pairpiece.model.tables import CooccurrenceTable

UNSEEN_PENALTY = 10.0


@pytest.fixture(scope="module")
def paper() -> pairpiece.Tokenizer:
    return pairpiece.train_from_pairs(
        PAIRS, 500, "paper", pretokenization="lossless", add_dummy_prefix=False
    )


def log_probability(table: CooccurrenceTable, piece: int, sources: list[int]) -> float:
    """log p(t|S) straight from the table (eq. 2, 6 and 7)."""
    row = slice(int(table.row_begin[piece]), int(table.row_begin[piece + 1]))
    counts = dict(zip(table.source[row].tolist(), table.count[row].tolist(), strict=True))
    base = float(table.base[piece])
    sources = sources or [0]
    if table.settings.conditional == "pooled":
        total = sum(table.source_count[s] for s in sources if s >= 0)
        together = sum(counts.get(s, 0.0) for s in sources)
        return math.log(together / total) if together else math.log(base) - UNSEEN_PENALTY
    kappa = table.settings.smoothing
    terms = (
        (counts.get(s, 0.0) + kappa * base) / ((table.source_count[s] if s >= 0 else 0.0) + kappa)
        for s in sources
    )
    return math.log(sum(terms) / len(sources))


def expected_pieces(
    tokenizer: pairpiece.Tokenizer, word: str, tokens: list[str], expected: float
) -> list[str]:
    """The best segmentation of one word by the reference implementation."""
    table = tokenizer.cooccurrences()
    vocabulary = {
        p
        for p in tokenizer.get_vocab()
        if tokenizer.vocabulary.types[tokenizer.piece_to_id(p)] == 0
    }
    edges = oracle.edges_of(word, vocabulary, 16)
    sources = [table.source_ids.get(token, -1) for token in tokens]
    ids = [tokenizer.piece_to_id(t) for *_, t in edges]
    weights = [log_probability(table, i, sources) - table.settings.piece_penalty for i in ids]
    log_prior = oracle.log_length_prior(table.settings.length_penalty, len(word), expected)
    if table.settings.scoring == "evidence":
        alone = [tokenizer.vocabulary.scores[i] for i in ids]
        evidence = [w - math.log(table.base[i]) for w, i in zip(weights, ids, strict=True)]
        weights = [a + e for a, e in zip(alone, evidence, strict=True)]
        if all(source == -1 for source in sources):
            weights, log_prior = alone, [0.0]
    return [t for *_, t in oracle.best_path(len(word), edges, weights, log_prior)[1]]


SEEN_WORDS = sorted({word for _, word, _ in PAIRS if word.isalpha() or word[1:].isalpha()})
TOKENS = [*sorted({token for source, _, _ in PAIRS for token in source}), "never seen"]


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_the_best_segmentation_of_the_reference_is_found(
    data: st.DataObject, tokenizer: pairpiece.Tokenizer, paper: pairpiece.Tokenizer
) -> None:
    model = data.draw(st.sampled_from([tokenizer, paper]))
    word = data.draw(st.sampled_from(SEEN_WORDS))
    tokens = data.draw(st.lists(st.sampled_from(TOKENS), max_size=4))
    links = [(i, 0) for i in range(len(tokens))]
    found = model.encode(word.replace("▁", " "), source=tokens, alignment=links, out_type=str)
    # Letters only, so this is one word, and none of it bytes.
    assert found == expected_pieces(model, word, tokens, float(len(tokens)))


def test_the_source_decides(tokenizer: pairpiece.Tokenizer) -> None:
    for source, target, links in SENTENCES:
        encoding = tokenizer.encode(target, source=source, alignment=links, out_type=Encoding)
        assert tokenizer.decode(encoding.ids) == target
        assert encoding.ids == tokenizer.encode(target, source=source, alignment=links)
        assert encoding.pieces == tokenizer.encode(
            target, source=source, alignment=links, out_type=str
        )


def test_kinds_of_source_agree(tokenizer: pairpiece.Tokenizer) -> None:
    for source, target, _ in SENTENCES:
        flat = [token for word in source for token in word]
        assert tokenizer.encode(target, source=source, whole_sentence=True) == tokenizer.encode(
            target, source=flat, whole_sentence=True
        )
        assert tokenizer.encode(target, source=tuple(map(tuple, source))) == tokenizer.encode(
            target, source=source
        )
        # Tokens of a flat list are words of the alignment.
        every = [(i, j) for i in range(len(flat)) for j in range(len(tokenizer.words(target)))]
        alone = [[token] for token in flat]
        assert tokenizer.encode(target, source=flat, alignment=every) == tokenizer.encode(
            target, source=alone, alignment=every
        )


@pytest.mark.parametrize(
    "call",
    [
        lambda tokenizer: tokenizer.encode("Il gatto", whole_sentence=True),
        lambda tokenizer: tokenizer.encode("Il gatto", whole_sentence=True, out_type=Encoding),
        lambda tokenizer: tokenizer.encode_batch(["Il gatto"], whole_sentence=True),
        lambda tokenizer: tokenizer.nbest("Il gatto", 2, whole_sentence=True),
        lambda tokenizer: tokenizer.sample("Il gatto", whole_sentence=True),
    ],
    ids=["encode", "encoding", "batch", "nbest", "sample"],
)
def test_the_whole_sentence_of_no_source_is_an_error(
    call: Callable[[pairpiece.Tokenizer], object], tokenizer: pairpiece.Tokenizer
) -> None:
    with pytest.raises(OptionError, match="whole_sentence is about the source"):
        call(tokenizer)
    assert tokenizer.encode("Il gatto", whole_sentence=False) == tokenizer.encode("Il gatto")


def test_raw_text_needs_a_source_tokenizer(tokenizer: pairpiece.Tokenizer) -> None:
    with pytest.raises(OptionError, match="source tokenizer"):
        tokenizer.encode("Il gatto", source="Le chat")


def test_raw_text_goes_through_the_source_tokenizer() -> None:
    words = {"Le chat": [["▁Le"], ["▁chat"]]}
    tokenizer = pairpiece.train_from_pairs(PAIRS, 500, source_tokenizer=words.__getitem__)
    links = [(0, 0), (1, 1)]
    assert tokenizer.encode("Il gatto", source="Le chat", alignment=links) == tokenizer.encode(
        "Il gatto", source=words["Le chat"], alignment=links
    )


def test_a_pairpiece_tokenizer_can_tokenize_the_source() -> None:
    french = pairpiece.train_from_pairs(
        [([], token, 3) for token in TOKENS if token.startswith("▁")], 330, "unigram"
    )
    tokenizer = pairpiece.train_from_pairs(PAIRS, 500, source_tokenizer=french)
    text = " chat noir"
    groups = [["▁" + word] if f"▁{word}" in french.get_vocab() else None for word in text.split()]
    if all(groups):
        assert tokenizer.encode("gatto nero", source=text) == tokenizer.encode(
            "gatto nero", source=[group for group in groups if group]
        )
    assert tokenizer.decode(tokenizer.encode("gatto nero", source=text)) == "gatto nero"


def test_empty_and_unseen_sources(tokenizer: pairpiece.Tokenizer) -> None:
    empty = tokenizer.encode("Il gatto dorme.", source=[])
    assert tokenizer.decode(empty) == "Il gatto dorme."
    assert tokenizer.encode("Il gatto dorme.", source=[], alignment=[]) == empty
    unseen = tokenizer.encode("Il gatto dorme.", source=["never", "seen"])
    assert tokenizer.decode(unseen) == "Il gatto dorme."
    assert tokenizer.encode("", source=["▁chat"]) == []


def test_a_link_to_a_word_that_is_not_there_is_named(tokenizer: pairpiece.Tokenizer) -> None:
    with pytest.raises(OptionError, match=r"text 1: .* links 0-7 but .* 2 target words"):
        tokenizer.encode_batch(
            ["il", "il gatto"], [["▁le"], ["▁le"]], alignments=[[(0, 0)], [(0, 7)]]
        )
    for bad in ([(0,)], [("a", "b")], [(0, -1)], 3):
        with pytest.raises(OptionError, match="alignment"):
            tokenizer.encode("il", source=["▁le"], alignment=bad)  # type: ignore[arg-type]


def test_an_alignment_without_a_source_is_refused(tokenizer: pairpiece.Tokenizer) -> None:
    with pytest.raises(OptionError, match="source"):
        tokenizer.encode("il", alignment=[(0, 0)])


@pytest.mark.parametrize("bad", [["▁le", ["▁le"]], [["▁le"], "▁le"], [3], [["a", 3]]])
def test_a_malformed_source_is_refused(tokenizer: pairpiece.Tokenizer, bad: object) -> None:
    with pytest.raises(OptionError, match="source 0"):
        tokenizer.encode("il", source=bad)  # type: ignore[call-overload]


def test_nbest_is_sorted_and_begins_with_the_best(tokenizer: pairpiece.Tokenizer) -> None:
    for source, target, links in SENTENCES:
        for condition in ({}, {"source": source}, {"source": source, "alignment": links}):
            found = tokenizer.nbest(target, 20, out_type=Encoding, **condition)
            assert found[0].ids == tokenizer.encode(target, **condition)
            assert 1 < len({tuple(encoding.ids) for encoding in found}) == len(found) <= 20
            assert all(tokenizer.decode(encoding.ids) == target for encoding in found)
            if not condition:  # with a source the length prior has a say as well
                scores = [encoding.log_prob for encoding in found]
                assert scores == sorted(scores, reverse=True)


def test_nbest_of_a_word_is_that_of_the_reference(tokenizer: pairpiece.Tokenizer) -> None:
    vocabulary = {
        p
        for p in tokenizer.get_vocab()
        if tokenizer.vocabulary.types[tokenizer.piece_to_id(p)] == 0
    }
    for word in SEEN_WORDS[:40]:
        edges = oracle.edges_of(word, vocabulary, 16)
        scores = [tokenizer.score(tokenizer.piece_to_id(t)) for *_, t in edges]
        wanted = [score for score, _ in oracle.best_paths(len(word), edges, scores, [0.0], 8)]
        found = tokenizer.nbest(word.replace("▁", " "), 8, out_type=Encoding)
        assert [encoding.log_prob for encoding in found] == pytest.approx(wanted)


def test_samples_follow_the_model(tokenizer: pairpiece.Tokenizer) -> None:
    text = " mangiano"
    encodings = tokenizer.nbest(text, 1000, out_type=Encoding)
    total = sum(math.exp(encoding.log_prob) for encoding in encodings)
    share = math.exp(encodings[0].log_prob) / total
    drawn = [tokenizer.sample(text, alpha=1.0, seed=seed) for seed in range(2000)]
    hits = sum(ids == encodings[0].ids for ids in drawn)
    deviation = math.sqrt(share * (1 - share) / len(drawn))
    assert abs(hits / len(drawn) - share) < 5 * deviation + 1e-9


def test_samples_depend_on_the_seed_alone(tokenizer: pairpiece.Tokenizer) -> None:
    source, target, links = SENTENCES[0]
    for condition in ({}, {"source": source}, {"source": source, "alignment": links}):
        first = [tokenizer.sample(target, seed=seed, **condition) for seed in range(30)]
        assert first == [tokenizer.sample(target, seed=seed, **condition) for seed in range(30)]
        assert len(set(map(tuple, first))) > 10
        assert all(tokenizer.decode(ids) == target for ids in first)
    assert tokenizer.sample(target) == tokenizer.sample(target, seed=0)


def test_models_of_earlier_versions_score_by_the_conditional_probability_alone(
    tmp_path: Path,
) -> None:
    options: dict[str, Any] = {
        "paired_scoring": "conditional",
        "paired_smoothing": 1.0,
        "paired_length_penalty": LengthPenalty(12.0, 0.0, 12.0),
    }
    earlier = pairpiece.train_from_pairs(PAIRS, 640, **options)
    present = pairpiece.train_from_pairs(PAIRS, 640)
    earlier.save(tmp_path)
    manifest = manifest_of(tmp_path)
    manifest["version"] = 2
    del manifest["paired"]["scoring"]
    write_manifest(tmp_path, manifest)
    loaded = pairpiece.load(tmp_path)
    assert loaded.cooccurrences().settings.scoring == "conditional"
    tokens = [
        [model.encode(text, source=source, alignment=links) for source, text, links in SENTENCES]
        for model in (earlier, loaded, present)
    ]
    assert tokens[0] == tokens[1] != tokens[2]


def test_a_word_of_which_nothing_is_known_is_encoded_as_without_a_source(
    tokenizer: pairpiece.Tokenizer,
) -> None:
    turned = tokenizer.calibrate([text for _, text, _ in SENTENCES], reference=300, balance=1.5)
    for model in (tokenizer, turned):
        for _, text, _ in SENTENCES:
            alone = model.encode(text)
            unseen = [["never", "seen"]] * 3
            every = [(i, j) for i in range(3) for j in range(len(model.words(text)))]
            assert model.encode(text, source=unseen, alignment=every) == alone
            assert model.encode(text, source=unseen, alignment=[]) == alone
            assert model.encode(text, source=unseen) == alone
            assert model.encode(text, source=[]) == alone
