"""With a source, the tokenizer for transformers does all that it does without one.

A source that the model has never seen leaves the segmentation as it is target only, so that
everything must be equal.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support.command_line import begin_of_sample
from support.french_italian import PAIRS
from support.hostile import HOSTILE

import pairpiece

transformers = pytest.importorskip("transformers", reason="needs pairpiece[transformers]")

NOWHERE = ["never-seen"]
TEXTS = [
    "i gatti parlano",
    "il topo",
    "",
    " ",
    "  due  spazi ",
    "<s>il gatto</s>",
    "il gatto</s> e il topo",
    "il<new>gatto <new> parla <new>",
    "il <mask> parla, l'acqua <mask>.",
    "<mask>il",
    "½ kg ﬁne ① e\u0300 Ω <0x41> 漢字",
    "[SYM]il[SYM] topo",
]
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "no special tokens": {"add_special_tokens": False},
    "masks and offsets": {
        "return_special_tokens_mask": True,
        "return_offsets_mapping": True,
        "return_length": True,
        "return_token_type_ids": True,
    },
    "cut": {"truncation": True, "max_length": 4},
    "cut and filled up": {"truncation": True, "max_length": 6, "padding": "max_length"},
    "filled up": {"padding": True, "pad_to_multiple_of": 4},
    "filled up on the left": {"padding": True, "padding_side": "left"},
    "overflowing": {
        "truncation": True,
        "max_length": 5,
        "stride": 1,
        "return_overflowing_tokens": True,
        "return_offsets_mapping": True,
    },
    "arrays": {"padding": True, "return_tensors": "np"},
    "special tokens as text": {"split_special_tokens": True},
}
Make = Callable[..., pairpiece.PairPieceTokenizer]


MODELS: dict[str, dict[str, bool]] = {
    "no prefix": {},
    "prefix": {"add_dummy_prefix": True},
    "digits apart": {"split_digits": True},
}


@pytest.fixture(scope="module", params=MODELS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    options = {**MODELS[request.param], "user_defined_symbols": ("[SYM]",)}
    pairpiece.train_from_pairs(PAIRS, 500, **options).save(folder)
    return folder


@pytest.fixture
def tokenizer(folder: Path) -> pairpiece.PairPieceTokenizer:
    made = pairpiece.PairPieceTokenizer.from_pretrained(
        folder, add_bos_token=True, add_eos_token=True
    )
    made.add_tokens(["<new>"])
    made.add_special_tokens({"mask_token": transformers.AddedToken("<mask>", lstrip=True)})
    return made


def plain(values: Any) -> Any:
    return values.tolist() if hasattr(values, "tolist") else values


def assert_same(paired: Any, alone: Any) -> None:
    assert set(paired) == set(alone)
    for name in set(paired) - {"offset_mapping"}:
        assert plain(paired[name]) == plain(alone[name]), name
    for ours, theirs in zip(paired.encodings, alone.encodings, strict=True):
        assert ours.tokens == theirs.tokens
        assert ours.sequence_ids == theirs.sequence_ids
        assert ours.special_tokens_mask == theirs.special_tokens_mask


@pytest.mark.parametrize("name", OPTIONS)
def test_batches(tokenizer: pairpiece.PairPieceTokenizer, name: str) -> None:
    options = OPTIONS[name]
    alone = tokenizer(TEXTS, **options)
    assert_same(tokenizer(TEXTS, source=[NOWHERE] * len(TEXTS), **options), alone)


@pytest.mark.parametrize("text", [text for text in TEXTS if text])
def test_single_texts(tokenizer: pairpiece.PairPieceTokenizer, text: str) -> None:
    for options in OPTIONS.values():
        assert_same(tokenizer(text, source=NOWHERE, **options), tokenizer(text, **options))
    assert tokenizer.encode(text, source=NOWHERE) == tokenizer.encode(text)
    assert tokenizer.tokenize(text, source=NOWHERE) == tokenizer.tokenize(text)


@pytest.mark.parametrize(
    "text", ["il gatto, l'acqua e 13 topi (non 4).", "il<new>gatto <new> parla"]
)
def test_words(tokenizer: pairpiece.PairPieceTokenizer, text: str) -> None:
    alone = tokenizer(text)
    assert len(set(alone.word_ids())) > 4
    assert tokenizer(text, source=NOWHERE).word_ids() == alone.word_ids()


@pytest.mark.parametrize("source", [None, NOWHERE])
def test_every_word_has_a_number(
    tokenizer: pairpiece.PairPieceTokenizer, source: list[str] | None
) -> None:
    text = "il gatto, l'acqua e 13 topi (non 4)."
    numbers = tokenizer(text, source=source, add_special_tokens=False).word_ids()
    assert sorted(set(numbers)) == list(range(len(tokenizer.pairpiece.words(text))))


@pytest.mark.parametrize("text", [*TEXTS[:2], *TEXTS[5:10]])
def test_offsets(tokenizer: pairpiece.PairPieceTokenizer, text: str) -> None:
    alone = tokenizer(text, return_offsets_mapping=True)
    paired = tokenizer(text, source=NOWHERE, return_offsets_mapping=True)
    assert paired["offset_mapping"] == alone["offset_mapping"]
    assert paired.char_to_token(3) == alone.char_to_token(3)


@pytest.mark.parametrize("strategy", [True, "only_first", "only_second", "longest_first"])
def test_pairs(tokenizer: pairpiece.PairPieceTokenizer, strategy: bool | str) -> None:
    options = {
        "truncation": strategy,
        "max_length": 12,
        "padding": True,
        "return_token_type_ids": True,
        "return_special_tokens_mask": True,
    }
    first, second = ["i gatti parlano", "il<new>topo"], ["il topo parla ai gatti", "</s> i cani"]
    alone = tokenizer(first, second, **options)
    paired = tokenizer(first, second, source=[NOWHERE] * 2, source_pair=[NOWHERE] * 2, **options)
    assert_same(paired, alone)
    assert_same(tokenizer(first, second, source=[NOWHERE] * 2, **options), alone)


def test_labels_end_with_the_end_of_the_sentence(
    tokenizer: pairpiece.PairPieceTokenizer,
) -> None:
    found = tokenizer(text_target=["il topo"], source=[["▁le", "▁sou", "ris"]])
    assert found["input_ids"][0][-1] == tokenizer.eos_token_id
    both = tokenizer(["gatti"], text_target=["il topo"], source=[["▁le", "▁sou", "ris"]])
    assert both["labels"] == found["input_ids"]
    assert both["input_ids"] == tokenizer(["gatti"])["input_ids"]
    short = tokenizer(
        text_target=["i gatti parlano"], source=[NOWHERE], truncation=True, max_length=3
    )
    assert len(short["input_ids"][0]) == 3


def test_special_tokens_stay_around_texts(
    tokenizer: pairpiece.PairPieceTokenizer, tmp_path: Path
) -> None:
    begin, end = tokenizer.bos_token_id, tokenizer.eos_token_id
    tokenizer.save_pretrained(tmp_path)
    for copy in (
        tokenizer,
        pairpiece.PairPieceTokenizer.from_pretrained(tmp_path),
        transformers.AutoTokenizer.from_pretrained(tmp_path),
    ):
        inside = copy("il topo", add_special_tokens=False)["input_ids"]
        assert copy("il topo")["input_ids"] == [begin, *inside, end]
        assert copy("il topo", "il topo")["input_ids"] == [begin, *inside, end] * 2


def test_the_source_counts_between_added_tokens(tokenizer: pairpiece.PairPieceTokenizer) -> None:
    source = ["▁les", "▁chat", "s", "▁parl", "ent"]
    model = tokenizer.pairpiece
    links = [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2)]
    expected = model.encode("i gatti parlano", source=source, alignment=links)
    text = "i gatti parlano<new>"
    found = tokenizer(text, source=source, alignment=links, add_special_tokens=False)
    assert found["input_ids"] == [*expected, tokenizer.convert_tokens_to_ids("<new>")]
    later = [(s, t + 1) for s, t in links]  # an added token is a word
    text = "<new> i gatti parlano"
    found = tokenizer(text, source=source, alignment=later, add_special_tokens=False)
    inside = model.encode("\x01 i gatti parlano", source=source, alignment=later)
    assert found["input_ids"][1:] == inside[len(model.encode("\x01")) :]


def test_hostile_texts(tokenizer: pairpiece.PairPieceTokenizer) -> None:
    texts = [text for text in HOSTILE if "▁" not in text and text.isprintable()]
    texts = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
    alone = tokenizer(texts, return_offsets_mapping=True)
    paired = tokenizer(texts, source=[NOWHERE] * len(texts), return_offsets_mapping=True)
    same = sum(a == b for a, b in zip(paired["input_ids"], alone["input_ids"], strict=True))
    assert same > 0.8 * len(texts)  # marks that Hugging Face drops are kept with a source


def test_collators(tokenizer: pairpiece.PairPieceTokenizer) -> None:
    pytest.importorskip("torch")
    source = [["▁les", "▁chat", "s", "▁parl", "ent"], ["▁le", "▁sou", "ris"]]
    texts = ["i gatti parlano", "il topo"]
    paired = tokenizer(text_target=texts, source=source, return_special_tokens_mask=True)
    rows = [{"input_ids": ids, "labels": ids} for ids in paired["input_ids"]]
    batch = transformers.DataCollatorForSeq2Seq(tokenizer)(rows)
    assert batch["labels"].shape == batch["input_ids"].shape
    masked = transformers.DataCollatorForLanguageModeling(tokenizer, mlm=True)(
        [{k: paired[k][i] for k in ("input_ids", "special_tokens_mask")} for i in range(2)]
    )
    assert masked["input_ids"].shape == batch["input_ids"].shape


def test_threads_keep_their_sources_apart(tokenizer: pairpiece.PairPieceTokenizer) -> None:
    texts, sources = ["i gatti parlano"] * 50, [NOWHERE] * 50

    def one(i: int) -> Any:
        return tokenizer(texts, source=sources if i % 2 else None)["input_ids"]

    with ThreadPoolExecutor(4) as pool:
        assert len({json.dumps(ids) for ids in pool.map(one, range(40))}) == 1


def test_a_source_for_each_text(tokenizer: pairpiece.PairPieceTokenizer) -> None:
    with pytest.raises(pairpiece.OptionError, match="2 texts but 1 of source"):
        tokenizer(["il", "topo"], source=[NOWHERE])
    with pytest.raises(pairpiece.OptionError, match="need a source"):
        tokenizer(["il", "topo"], alignment=[[(0, 0)], None])
    with pytest.raises(pairpiece.OptionError, match="join its words"):
        tokenizer([["il", "topo"]], source=[NOWHERE], is_split_into_words=True)


# ---------------------------------------------------------------------- what tokenizer.json says


def test_added_tokens_are_found_anywhere(tokenizer: pairpiece.PairPieceTokenizer) -> None:
    auto = transformers.AutoTokenizer.from_pretrained(tokenizer.name_or_path)
    auto.add_tokens(["<new>"])
    ids = auto("il<new>gatto <new>.<new>")["input_ids"]
    assert ids.count(auto.convert_tokens_to_ids("<new>")) == 3
    assert auto.decode(ids) == "il<new>gatto <new>.<new>"


def test_no_space_is_added_after_a_special_token(tokenizer: pairpiece.PairPieceTokenizer) -> None:
    auto = transformers.AutoTokenizer.from_pretrained(tokenizer.name_or_path)
    for text in ("<s> il gatto", "<s>il gatto", "il </s> gatto</s>"):
        assert auto.decode(auto(text, add_special_tokens=False)["input_ids"]) == text


def test_a_new_tokenizer_keeps_to_words(tokenizer: pairpiece.PairPieceTokenizer) -> None:
    auto = transformers.AutoTokenizer.from_pretrained(tokenizer.name_or_path)
    text = [line for _, line in begin_of_sample(1_000)]
    new = auto.train_new_from_iterator([text], vocab_size=800, show_progress=False)
    added = {token.content for token in new.added_tokens_decoder.values()}
    learned = [piece for piece in new.get_vocab() if len(piece) > 2 and piece not in added]
    assert len(learned) > 100
    assert [
        piece for piece in learned if len(pairpiece.split_words(piece.replace("▁", " "))) > 1
    ] == []
