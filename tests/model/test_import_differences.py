"""Tokenizers of other tools, taken over: what is known to differ, and what is refused for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tokenizers
from support.taken_over import (
    VARIANTS,
    Fast,
    Metaspace,
    Processor,
    fast,
    ids_of,
    normalized,
    of_sentencepiece,
    small_model,
    taken_over,
    trained,
    variant,
)
from tokenizers import models, normalizers, pre_tokenizers

import pairpiece

pytestmark = pytest.mark.usefixtures("no_fsync")

# ---------------------------------------------------------------------- known differences


def test_a_marker_in_the_text_is_a_space_elsewhere() -> None:
    theirs, ours = Processor(model_proto=trained("identity")), taken_over("identity")
    assert theirs.encode("il▁gatto") == ours.encode("il gatto")
    assert ours.unk_id in ours.encode("il▁gatto")
    fast_one, ours = variant("bytes, in the normalizer")
    assert ids_of(fast_one, ["il▁gatto"]) == [ours.encode("il gatto")]
    assert ours.decode(ours.encode("il▁gatto")) == "il▁gatto"


@pytest.mark.parametrize("name", ["split", "whole", "first", "bytes, split", "nfkc"])
@pytest.mark.parametrize("text", [" il gatto", "  il gatto", " "])
def test_before_a_space_hugging_face_puts_no_prefix(name: str, text: str) -> None:
    theirs, ours = variant(name)
    prefix = ours.piece_to_id("▁")
    assert [prefix, *ids_of(theirs, [text])[0]] == ours.encode(text)


def test_a_space_at_the_end_is_kept_by_hugging_face_if_nothing_strips_it() -> None:
    theirs, ours = variant("squeezed, not stripped")
    for text in ("il gatto ", "il  gatto   "):
        assert ids_of(theirs, [text])[0] == [*ours.encode("il gatto"), ours.piece_to_id("▁")]
        assert ours.encode(text) == ours.encode("il gatto")


def test_names_of_special_tokens_are_text() -> None:
    theirs, ours = variant("squeezed")
    assert ids_of(theirs, ["il<s>"]) == [[*ours.encode("il"), ours.bos_id]]
    assert {ours.bos_id, ours.eos_id}.isdisjoint(ours.encode("<s> il</s>"))
    assert Processor(model_proto=trained("default")).encode("<s> il") == taken_over(
        "default"
    ).encode("<s> il")


def test_names_of_bytes_are_bytes_for_hugging_face() -> None:
    theirs, ours = variant("bytes, split")
    assert ours.piece_to_id("<0x41>") in ids_of(theirs, ["il <0x41>"])[0]
    assert ours.piece_to_id("<0x41>") not in ours.encode("il <0x41>")
    assert ours.decode(ours.encode("il <0x41>")) == "il <0x41>"


def test_symbols_of_letters_are_found_inside_words() -> None:
    model = small_model([(1, "b"), (2, 0.0), (3, 4)], without="b")
    ours, theirs = pairpiece.from_sentencepiece(model), Processor(model_proto=model)
    assert theirs.encode("ab a", out_type=str) == ["▁ab", "▁", "a"]
    assert ours.encode("ab a", out_type=str) == ["▁", "a", "b", "▁", "a"]


def test_symbols_with_spaces_are_found_where_they_are_written() -> None:
    model = small_model([(1, "▁zz"), (2, 0.0), (3, 4)])
    ours, theirs = pairpiece.from_sentencepiece(model), Processor(model_proto=model)
    assert theirs.encode("zz a zz", out_type=str) == ["▁zz", "▁", "a", "▁zz"]
    assert ours.encode("zz a zz", out_type=str) == ["▁", "<unk>", "▁", "a", " zz"]
    assert theirs.encode("a  zz", out_type=str) == ["▁", "a", "▁zz"]
    assert ours.encode("a  zz", out_type=str) == ["▁", "a", "▁", " zz"]


def test_of_overlapping_symbols_the_first_and_longest_is_found() -> None:
    model = of_sentencepiece(user_defined_symbols=("<x>", "<x><x>"))
    ours, theirs = pairpiece.from_sentencepiece(model), Processor(model_proto=model)
    assert theirs.encode("<x><x><x>", out_type=str) == ["▁", "<x>", "<x><x>"]
    assert ours.encode("<x><x><x>", out_type=str) == ["▁", "<x><x>", "<x>"]


def test_hugging_face_puts_a_prefix_after_each_symbol() -> None:
    theirs = fast(pre_tokenizer=Metaspace())
    theirs.add_tokens([tokenizers.AddedToken("<x>", normalized=False)])
    ours = pairpiece.from_huggingface(theirs)
    il, gatto = (ours.encode(word, out_type=str) for word in ("il", "gatto"))
    assert theirs.encode("il<x>gatto").tokens == [*il, "<x>", *gatto]
    assert ours.encode("il<x>gatto", out_type=str) == [*il, "<x>", *gatto[1:]]
    assert theirs.encode("<x>").tokens == ["<x>"]
    assert ours.encode("<x>", out_type=str) == ["▁", "<x>"]


def test_hugging_face_strips_the_text_before_each_symbol() -> None:
    theirs = VARIANTS["squeezed"]()
    theirs.add_tokens([tokenizers.AddedToken("<x>", normalized=False)])
    ours = pairpiece.from_huggingface(theirs)
    il = ours.encode("il", out_type=str)
    assert theirs.encode("il <x>").tokens == [*il, "<x>"]
    assert ours.encode("il <x>", out_type=str) == [*il, "▁", "<x>"]


def test_hugging_face_drops_a_mark_after_a_character_that_normalisation_changes() -> None:
    theirs, ours = variant("squeezed")
    assert ids_of(theirs, ["x²\u0312"]) == ids_of(theirs, ["x²"])
    assert ours.encode("x²\u0312") != ours.encode("x²")


def test_only_spaces_are_white_space() -> None:
    theirs, ours = variant("white space")
    assert normalized(theirs, "il\x85la") == "il\x85la"
    assert ids_of(theirs, ["il\x85la"]) == [ours.encode("il la")]
    assert ours.unk_id in ours.encode("il\x85la")


def test_sequences_of_marks_are_composed_one_by_one() -> None:
    theirs, ours = variant("nfkc")
    assert normalized(theirs, "a\u0327\u0301") == "á\u0327"
    assert ours.normalize("a\u0327\u0301") == "a\u0327\u0301"


# ---------------------------------------------------------------------- the same, or refused


def with_pieces(pieces: list[tuple[str, float]]) -> Fast:
    made = Fast(models.Unigram([("<unk>", 0.0), *pieces], unk_id=0))
    made.add_special_tokens(["<unk>"])
    made.pre_tokenizer = Metaspace()
    return made


def with_added(content: str, **settings: bool) -> Fast:
    made = fast(pre_tokenizer=Metaspace(prepend_scheme="never"))
    made.add_tokens([tokenizers.AddedToken(content, normalized=False, **settings)])
    return made


def splitting(metaspace: Any) -> Any:
    return pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), metaspace])


UNLIKE: dict[str, tuple[Callable[[], Fast], str]] = {
    "no Metaspace": (lambda: fast(), "il gatto"),
    "WhitespaceSplit alone": (
        lambda: fast(pre_tokenizer=pre_tokenizers.WhitespaceSplit()),
        "il gatto",
    ),
    "WhitespaceSplit, never": (
        lambda: fast(pre_tokenizer=splitting(Metaspace(prepend_scheme="never"))),
        "il gatto",
    ),
    "WhitespaceSplit, first": (
        lambda: fast(pre_tokenizer=splitting(Metaspace(prepend_scheme="first"))),
        "il gatto",
    ),
    "spaces replaced by x": (
        lambda: fast(
            normalizer=normalizers.Replace(tokenizers.Regex(" {2,}"), "x"),
            pre_tokenizer=Metaspace(),
        ),
        "il  gatto",
    ),
    "spaces replaced by nothing": (
        lambda: fast(
            normalizer=normalizers.Replace(tokenizers.Regex(" {2,}"), ""),
            pre_tokenizer=Metaspace(),
        ),
        "il  gatto",
    ),
    "stripped, not squeezed": (
        lambda: fast(normalizer=normalizers.Strip(), pre_tokenizer=Metaspace()),
        "il  gatto",
    ),
    "many pieces over spaces, but split": (
        lambda: with_pieces([("▁", -1.0), ("a", -2.0), ("b", -2.0), ("a▁b", -0.5)]),
        "a b",
    ),
    "a piece with a real space": (
        lambda: with_pieces(
            [("▁", -1.0), (" b", -0.5), *((letter, -2.0) for letter in "abcdefghijklmnopqrst")]
        ),
        "a b",
    ),
    "no piece for a space": (lambda: with_pieces([("a", -1.0), ("▁a", -2.0)]), "Ω Ω"),
    "lstrip": (lambda: with_added("<x>", lstrip=True), "il <x> gatto"),
    "rstrip": (lambda: with_added("<x>", rstrip=True), "il <x> gatto"),
    "single_word": (lambda: with_added("gat", single_word=True), "il gatto"),
    "two normalizers": (
        lambda: fast(
            normalizer=normalizers.Sequence([normalizers.NFKC(), normalizers.NFC()]),
            pre_tokenizer=Metaspace(),
        ),
        "ﬁ",
    ),
}


@pytest.mark.parametrize("name", UNLIKE)
def test_what_cannot_be_done_alike_is_refused(name: str) -> None:
    make, text = UNLIKE[name]
    theirs = make()
    try:
        ours = pairpiece.from_huggingface(theirs)
    except pairpiece.ModelFormatError:
        return
    assert ours.encode(text) == ids_of(theirs, [text])[0]
