"""Token links, the lexicon and the bigram model."""

from __future__ import annotations

import math

import pytest
from support.french_italian import PAIRS, SENTENCES

import pairpiece
from pairpiece import Encoding, OptionError


def test_links_carry_the_probability_of_the_paper(tokenizer: pairpiece.Tokenizer) -> None:
    source, target, links = SENTENCES[0]
    found = tokenizer.align(source, target, alignment=links)
    table = tokenizer.cooccurrences()
    words = tokenizer.words(target)
    inside = {
        tokenizer.piece_to_id(word[i:j])
        for word in words
        for i in range(len(word))
        for j in range(i + 1, len(word) + 1)
        if word[i:j] in tokenizer.get_vocab()
    }

    def count(piece: int, s: int) -> float:
        row = slice(int(table.row_begin[piece]), int(table.row_begin[piece + 1]))
        return dict(zip(table.source[row].tolist(), table.count[row].tolist(), strict=True)).get(
            s, 0.0
        )

    assert found.links
    for (i, j), score in zip(found.links, found.scores, strict=True):
        s = table.source_ids[found.source_tokens[i]]
        piece = tokenizer.piece_to_id(found.target_tokens[j])
        assert score == pytest.approx(count(piece, s) / sum(count(t, s) for t in inside))


def test_every_target_token_has_at_most_one_link(tokenizer: pairpiece.Tokenizer) -> None:
    for source, target, links in SENTENCES:
        found = tokenizer.align(source, target, alignment=links)
        assert found.target_tokens == tokenizer.encode(
            target, source=source, alignment=links, out_type=str
        )
        linked = [j for _, j in found.links]
        assert len(set(linked)) == len(linked)
        assert found.pharaoh() == " ".join(f"{i}-{j}" for i, j in found.links)
        assert all(0 < score <= 1 for score in found.scores)


def test_translations_are_linked() -> None:
    pairs = [(["▁chat"], "▁gatto", 9), (["▁chien"], "▁cane", 9), (["▁noir"], "▁nero", 9)]
    tokenizer = pairpiece.train_from_pairs(pairs, 300, hard_vocab_limit=False)
    found = tokenizer.align(["▁chien", "▁noir", "▁chat"], " gatto nero cane")
    by_word = {(found.source_tokens[i], found.target_tokens[j]) for i, j in found.links}
    assert {("▁chat", "▁gatto"), ("▁noir", "▁nero"), ("▁chien", "▁cane")} <= by_word
    assert tokenizer.align(["▁chien"], " gatto", min_score=0.99).links == []
    assert tokenizer.align([], " gatto").links == []
    for wrong in (-0.1, 1.5, math.nan, "0.5", None):
        with pytest.raises(OptionError, match="from 0 to 1"):
            tokenizer.align(["▁chat"], " gatto", min_score=wrong)  # type: ignore[arg-type]


def test_the_lexicon_has_translations() -> None:
    pairs = [(["▁chat"], "▁gatto", 9), (["▁chat"], "▁micio", 2), (["▁chien"], "▁cane", 9)]
    tokenizer = pairpiece.train_from_pairs(pairs, 300, hard_vocab_limit=False)
    lexicon = tokenizer.lexicon(k=2)
    assert lexicon.sources["▁cane"][0][0] == "▁chien"
    assert [piece for piece, _ in lexicon.targets["▁chat"]] == ["▁gatto", "▁micio"]
    assert all(len(entries) <= 2 for entries in lexicon.targets.values())
    assert all(0 < p <= 1 for entries in lexicon.sources.values() for _, p in entries)


def bigram_log_probability(tokenizer: pairpiece.Tokenizer, encoding: Encoding) -> float:
    """Eq. 17, straight from the table."""
    table = tokenizer.state.bigram
    assert table is not None
    total = 0.0
    previous, previous_word = tokenizer.vocab_size, -1
    for piece, word in zip(encoding.ids, encoding.word_ids, strict=True):
        row_number = previous if word == previous_word else tokenizer.vocab_size
        row = slice(int(table.row_begin[row_number]), int(table.row_begin[row_number + 1]))
        counts = dict(zip(table.next[row].tolist(), table.count[row].tolist(), strict=True))
        share = (counts.get(piece, 0.0) + table.base[piece]) / (sum(counts.values()) + 1)
        total += math.log(share)
        previous, previous_word = piece, word
    return total


def test_a_bigram_model_imitates_what_it_was_distilled_from(tokenizer: pairpiece.Tokenizer) -> None:
    sources, targets, links = map(list, zip(*SENTENCES, strict=True))
    distilled = tokenizer.distill_bigram(targets * 50, sources * 50, alignments=links * 50)
    assert distilled.has_bigram
    assert not tokenizer.has_bigram
    paired = tokenizer.encode_batch(targets, sources, alignments=links)
    imitated = distilled.encode_batch(targets, model="bigram")
    plain = tokenizer.encode_batch(targets)
    assert all(map(distilled.decode, imitated))
    same = sum(a == b for a, b in zip(imitated, paired, strict=True))
    assert same >= sum(a == b for a, b in zip(plain, paired, strict=True))
    assert same > len(targets) / 2
    encoding = distilled.encode(targets[0], model="bigram", out_type=Encoding)
    assert encoding.ids == imitated[0]
    assert encoding.log_prob == pytest.approx(bigram_log_probability(distilled, encoding))
    assert distilled.encode_batch(targets) == plain
    assert distilled.encode_batch(targets, sources, alignments=links) == paired


def test_a_bigram_model_loses_no_character(tokenizer: pairpiece.Tokenizer) -> None:
    distilled = tokenizer.distill_bigram([word.replace("▁", " ") for _, word, _ in PAIRS])
    for text in ["Il gatto 漢字 \0 ▁", "", "  ", "xyzzy" * 50]:
        assert distilled.decode(distilled.encode(text, model="bigram")) == text


def test_the_bigram_model_must_be_there(tokenizer: pairpiece.Tokenizer) -> None:
    with pytest.raises(OptionError, match="distill_bigram"):
        tokenizer.encode("Il gatto", model="bigram")
    with pytest.raises(OptionError, match="bigram"):
        tokenizer.encode("Il gatto", model="trigram")  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="source"):
        tokenizer.distill_bigram(["gatto"]).encode("gatto", source=["▁chat"], model="bigram")
