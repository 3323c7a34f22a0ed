"""Options: what is refused and how, special tokens, user-defined symbols and vocabulary sizes."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from support.french_italian import PAIRS

import pairpiece
from pairpiece import LearningOptions, LengthPenalty, TextOptions
from pairpiece.learning.options import MODES, options_for

NAN, INF = math.nan, math.inf
NO_TRUTH: list[Any] = ["yes", None, 2, 0.5]
NO_CHOICE: list[Any] = ["x", "", None, 1, ["nfkc"], NAN]
NO_COUNT: list[Any] = [-1, 1.5, NAN, INF, "1", None, [1]]  # for whole numbers
NO_AMOUNT: list[Any] = [-1, NAN, INF, -INF, "1", None, [1], 1j]  # for numbers
NO_ID: list[Any] = [-2, 1.5, NAN, "1", None, 10**6, 2**64]
NO_PIECE: list[Any] = ["", None, 3, b"<s>", "\ud800", ["<s>"]]
NO_PENALTY: list[Any] = [4.0, None, "x", {"over": 4}, (1, 2, 3), LengthPenalty(-1), *[
    LengthPenalty(*values) for values in ((101,), (0, NAN), (0, 0, INF), ("1",), (None,))
]]  # fmt: skip

BAD_VALUES: dict[str, list[Any]] = {
    "normalization": [*NO_CHOICE, "nfd", "NFKC"],
    "pretokenization": [*NO_CHOICE, "whitespace"],
    "add_dummy_prefix": NO_TRUTH,
    "remove_extra_spaces": NO_TRUTH,
    "split_digits": NO_TRUTH,
    "byte_fallback": NO_TRUTH,
    "unk_id": [*NO_ID, -1],
    "bos_id": NO_ID,
    "eos_id": NO_ID,
    "pad_id": NO_ID,
    "unk_piece": NO_PIECE,
    "bos_piece": NO_PIECE,
    "eos_piece": NO_PIECE,
    "pad_piece": NO_PIECE,
    "user_defined_symbols": ["abc", None, 3, [3], [None], [["a"]], [""], ["\ud800"]],
    "control_symbols": ["abc", None, 3, [3], [None], [["a"]], [""], ["\ud800"]],
    "conditional": NO_CHOICE,
    "counting": NO_CHOICE,
    "smoothing": [*NO_AMOUNT, 0],
    "base_offset": [*NO_AMOUNT, 0],
    "length_penalty": NO_PENALTY,
    "character_coverage": [*NO_AMOUNT, 0, 1.01],
    "max_piece_length": [*NO_COUNT, 0, 64],
    "min_seed_count": NO_AMOUNT,
    "max_seeds": NO_COUNT,
    "min_expected_count": NO_AMOUNT,
    "pruning": NO_CHOICE,
    "likelihood_weight": [*NO_AMOUNT, 1001],
    "shrinking_factor": [*NO_AMOUNT, 0, 1],
    "pruning_margin": [*NO_AMOUNT, 0.99, 11],
    "num_sub_iterations": [*NO_COUNT, 0],
    "num_final_iterations": NO_COUNT,
    "paired_scoring": NO_CHOICE,
    "paired_smoothing": [*NO_AMOUNT, 0],
    "paired_length_penalty": NO_PENALTY,
    "paired_piece_penalty": [*NO_AMOUNT[1:], -51, 51],
    "marginal": NO_CHOICE,
    "marginal_piece_penalty": [*NO_AMOUNT[1:], -51, 51],
    "whole_sentence": NO_TRUTH,
    "min_table_count": NO_AMOUNT,
    "source_side": NO_CHOICE,
    # Arguments of the function itself.
    "mode": NO_CHOICE,
    "vocab_size": [*NO_COUNT, 0, True, "many"],
    "num_threads": [*NO_COUNT, 0],
    "seed": ["x", None, 1.5, NAN],
    "memory_limit": ["1 GB", -1, NAN, [1]],
    "progress": [3, "bar"],
    "pretokenizer": [3, "words"],
    "source_tokenizer": [3, "words"],
}


def train(vocab_size: int = 400, **options: Any) -> pairpiece.Tokenizer:
    return pairpiece.train_from_pairs(PAIRS, **{"vocab_size": vocab_size, **options})


def test_every_option_has_bad_values() -> None:
    options = {*TextOptions.__dataclass_fields__, *LearningOptions.__dataclass_fields__}
    assert options <= set(BAD_VALUES)


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in BAD_VALUES.items() for value in values],
    ids=[f"{name}={value!r:.40}" for name, values in BAD_VALUES.items() for value in values],
)
def test_a_bad_value_is_refused_by_name(name: str, value: Any) -> None:
    steps: list[pairpiece.Progress] = []
    with pytest.raises(pairpiece.OptionError, match=name) as caught:
        train(**{"progress": steps.append, name: value})
    assert isinstance(caught.value, pairpiece.PairPieceError)
    assert isinstance(caught.value, ValueError)
    assert not steps, "training had begun"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("smoothing", 3),
        ("max_piece_length", 1),
        ("max_piece_length", 63),
        ("character_coverage", 1),
        ("character_coverage", 0.5),
        ("shrinking_factor", 0.01),
        ("shrinking_factor", 0.99),
        ("pruning_margin", 10),
        ("num_sub_iterations", 1),
        ("num_final_iterations", 0),
        ("length_penalty", LengthPenalty()),
        ("length_penalty", LengthPenalty(100, 100, 100)),
        ("paired_piece_penalty", -50),
        ("marginal_piece_penalty", 50),
        ("min_table_count", 1000),
        ("min_expected_count", 1e9),
        ("whole_sentence", True),
        ("user_defined_symbols", ["<a>", "<b>"]),
        ("user_defined_symbols", ("<a>", "<b>")),
        ("counting", "best"),
        ("conditional", "pooled"),
        ("pruning", "frequency"),
        ("marginal", "expected"),
        ("marginal", "fitted"),
        ("likelihood_weight", 0),
        ("paired_scoring", "conditional"),
        ("source_side", "aligned"),
        ("source_side", "none"),
        ("add_dummy_prefix", True),
        ("seed", -1),
        ("seed", 2**100),
        ("memory_limit", 2**40),
    ],
    ids=str,
)
def test_the_extremes_are_allowed(name: str, value: Any) -> None:
    tokenizer = train(**{"hard_vocab_limit": False, name: value})
    assert tokenizer.decode(tokenizer.encode("Il gatto")) == "Il gatto"


def test_a_mixture_needs_smoothing() -> None:
    with pytest.raises(pairpiece.OptionError, match="smoothing"):
        train(smoothing=0.0)
    train(smoothing=0.0, conditional="pooled")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("smothing", "smoothing"),
        ("byte_fallbak", "byte_fallback"),
        ("bosid", "bos_id"),
        ("character_converage", "character_coverage"),
        ("user_symbols", "user_defined_symbols"),
        ("num_sub_iteration", "num_sub_iterations"),
        ("vocabsize", "vocab_size"),
        ("num_thread", "num_threads"),
        ("memory_limt", "memory_limit"),
    ],
)
def test_misspelled_options_are_suggested(wrong: str, right: str) -> None:
    with pytest.raises(pairpiece.OptionError, match=f"{wrong}.*did you mean.*{right}"):
        train(**{wrong: 1})


def test_nothing_is_suggested_for_nonsense() -> None:
    with pytest.raises(pairpiece.OptionError, match=r"no option 'qqqq'$"):
        train(qqqq=1)


@pytest.mark.parametrize("mode", MODES)
def test_modes_are_presets_that_can_be_changed(mode: str) -> None:
    text, learning = options_for(mode, {"max_piece_length": 5, "bos_id": -1})
    assert learning.max_piece_length == 5
    assert text.bos_id == -1
    _, preset = options_for(mode, {})
    assert preset.max_piece_length == 16
    assert preset.smoothing == learning.smoothing


def test_a_custom_pretokenization_needs_its_function() -> None:
    with pytest.raises(pairpiece.OptionError, match="pretokenizer"):
        train(pretokenization="custom")


def test_uses_of_a_tokenizer_check_their_arguments(tokenizer: pairpiece.Tokenizer) -> None:
    text, source = "Il gatto", ["Le", "▁chat"]
    for name, call in {
        "n must": lambda: tokenizer.nbest(text, 0),
        "n must be between 1 and 1024": lambda: tokenizer.nbest(text, 1025),
        "alpha": lambda: tokenizer.sample(text, alpha=-1),
        "alpha must be between 0 and 100": lambda: tokenizer.sample(text, alpha=NAN),
        "out_type": lambda: tokenizer.encode(text, out_type=float),
        "model must": lambda: tokenizer.encode(text, model="trigram"),
        "distill_bigram": lambda: tokenizer.encode(text, model="bigram"),
        "leave the source out": lambda: tokenizer.encode(text, source=source, model="bigram"),
        "needs the source": lambda: tokenizer.encode(text, alignment=[(0, 0)]),
        "5-0 but there are 2 source and 2 target words": lambda: tokenizer.encode(
            text, source=source, alignment=[(5, 0)]
        ),
        "0-5 but there are 2 source and 2 target words": lambda: tokenizer.encode(
            text, source=source, alignment=[(0, 5)]
        ),
        "alignment": lambda: tokenizer.encode(text, source=source, alignment=[(-1, 0)]),
        "pairs": lambda: tokenizer.encode(text, source=source, alignment=["0-0"]),
        "source is raw text": lambda: tokenizer.encode(text, source="Le chat"),
        "source": lambda: tokenizer.encode(text, source=["Le", ["▁chat"]]),
        "1 targets but 2 sources": lambda: tokenizer.encode_batch([text], [source, source]),
        "and 2 alignments": lambda: tokenizer.encode_batch([text], [source], alignments=[[], []]),
        "not a string but int": lambda: tokenizer.encode(3),
        "not a string but bytes": lambda: tokenizer.encode_batch([b"x"]),
        "not a string but NoneType": lambda: tokenizer.encode(None, source=source),
        "k must be": lambda: tokenizer.lexicon(0),
        "id 640 is not": lambda: tokenizer.id_to_piece(640),
        "id -1 is not": lambda: tokenizer.score(-1),
        "these are not ids": lambda: tokenizer.decode([640]),
        "not ids of this tokenizer": lambda: tokenizer.decode(["x"]),
        "these are not ids of": lambda: tokenizer.decode([2**40]),
    }.items():
        with pytest.raises(pairpiece.OptionError, match=re.escape(name)):
            call()


@pytest.mark.parametrize("threads", [0, -1, 1.5, None])
def test_numbers_of_threads_are_checked(tokenizer: pairpiece.Tokenizer, threads: Any) -> None:
    with pytest.raises(pairpiece.OptionError, match="num_threads"):
        tokenizer.encode_batch(["Il gatto"], num_threads=threads)
    with pytest.raises(pairpiece.OptionError, match="num_threads"):
        tokenizer.decode_batch([[5]], num_threads=threads)


@pytest.mark.parametrize("n", [1.5, "2", None])
def test_numbers_of_another_type_are_checked(tokenizer: pairpiece.Tokenizer, n: Any) -> None:
    with pytest.raises(pairpiece.OptionError, match="n must"):
        tokenizer.nbest("Il gatto", n)
    with pytest.raises(pairpiece.OptionError, match="k must"):
        tokenizer.lexicon(n)
    with pytest.raises(pairpiece.OptionError, match="seed must"):
        tokenizer.sample("Il gatto", seed=n if n is not None else "x")


def test_alphas_of_another_type_are_checked(tokenizer: pairpiece.Tokenizer) -> None:
    for alpha in ("0.1", None, [0.1]):
        with pytest.raises(pairpiece.OptionError, match="alpha must"):
            tokenizer.sample("Il gatto", alpha=alpha)


# ---------------------------------------------------------------------- special tokens


def whole(tokenizer: pairpiece.Tokenizer, size: int, tmp_path: Path) -> None:
    """The vocabulary has the right size and no piece twice, and can be saved."""
    assert tokenizer.vocab_size == len(tokenizer) == size
    assert sorted(tokenizer.get_vocab().values()) == list(range(size))
    tokenizer.save(tmp_path)
    assert pairpiece.load(tmp_path).get_vocab() == tokenizer.get_vocab()


def test_special_tokens_have_their_usual_ids() -> None:
    tokenizer = train()
    assert [tokenizer.id_to_piece(i) for i in range(4)] == ["<unk>", "<s>", "</s>", "<pad>"]
    assert [tokenizer.unk_id, tokenizer.bos_id, tokenizer.eos_id, tokenizer.pad_id] == [0, 1, 2, 3]
    assert tokenizer.id_to_piece(4) == "<0x00>"


@pytest.mark.parametrize(
    "ids",
    [
        (3, 2, 1, 0),
        (1, 0, 2, 3),
        (0, 1, 2, 399),
        (399, 398, 397, 396),
        (200, 100, 300, 0),
        (0, 5, 10, 15),
        (0, -1, -1, -1),
        (0, -1, 1, -1),
        (7, -1, 3, 399),
        (399, -1, -1, -1),
    ],
)
def test_special_tokens_can_be_moved_and_switched_off(
    ids: tuple[int, int, int, int], tmp_path: Path
) -> None:
    names = ("unk_id", "bos_id", "eos_id", "pad_id")
    tokenizer = train(**dict(zip(names, ids, strict=True)))
    whole(tokenizer, 400, tmp_path)
    for name, id_, piece in zip(names, ids, ("<unk>", "<s>", "</s>", "<pad>"), strict=True):
        assert getattr(tokenizer, name) == id_
        if id_ >= 0:
            assert tokenizer.id_to_piece(id_) == piece
            assert tokenizer.piece_to_id(piece) == id_
        else:
            assert piece not in tokenizer.get_vocab()
    text = "Il gatto mangia Ω"
    plain = train().encode(text, out_type=str)
    if -1 not in ids:
        assert tokenizer.encode(text, out_type=str) == plain
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert not set(ids) & set(tokenizer.encode(text))


def test_special_tokens_are_added_and_left_out() -> None:
    tokenizer = train(bos_id=-1)
    ids = tokenizer.encode("Il gatto", add_eos=True)
    assert ids[-1] == tokenizer.eos_id == 2
    assert tokenizer.decode([3, *ids, 3]) == "Il gatto"
    with pytest.raises(pairpiece.OptionError, match="no bos token"):
        tokenizer.encode("Il gatto", add_bos=True)


@pytest.mark.parametrize(
    "ids", [{"bos_id": 0}, {"eos_id": 1}, {"pad_id": 2}, {"unk_id": 3}, {"bos_id": 9, "pad_id": 9}]
)
def test_two_special_tokens_cannot_have_one_id(ids: dict[str, int]) -> None:
    with pytest.raises(pairpiece.OptionError, match="must differ"):
        train(**ids)


def test_an_id_outside_the_vocabulary_is_refused() -> None:
    train(pad_id=399)
    with pytest.raises(pairpiece.OptionError, match=r"pad_id.*400"):
        train(pad_id=400)


def test_special_tokens_can_have_other_names(tmp_path: Path) -> None:
    names = {"unk_piece": "[UNK]", "bos_piece": "[ÀB ▁]", "eos_piece": "x", "pad_piece": "\n"}
    tokenizer = train(420, **names)
    whole(tokenizer, 420, tmp_path)
    assert [tokenizer.id_to_piece(i) for i in range(4)] == list(names.values())
    text = "[UNK] [ÀB ▁] x\n"
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert not set(tokenizer.encode(text)) & {0, 1, 2, 3}, "special tokens are not read from text"


@pytest.mark.parametrize(
    "names",
    [
        {"bos_piece": "<unk>"},
        {"bos_piece": "<x>", "pad_piece": "<x>"},
        {"user_defined_symbols": ("<s>",)},
        {"user_defined_symbols": ("<x>", "<y>", "<x>")},
    ],
)
def test_no_two_special_pieces_are_alike(names: dict[str, Any]) -> None:
    with pytest.raises(pairpiece.OptionError, match="must differ"):
        train(**names)


@pytest.mark.parametrize(
    "names",
    [{"user_defined_symbols": ["<0x41>"]}, {"bos_piece": "<0x41>"}, {"unk_piece": "<0xFF>"}],
)
def test_special_pieces_cannot_be_bytes(names: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(pairpiece.OptionError, match="<0x"):
        train(**names)
    whole(train(200, byte_fallback=False, **names), 200, tmp_path)


@pytest.mark.parametrize("piece", ["a", "o", "è", "▁", "il", "▁il", "gatto"])
def test_special_pieces_that_look_like_text_work_or_are_refused(piece: str, tmp_path: Path) -> None:
    try:
        tokenizer = train(bos_piece=piece)
    except pairpiece.OptionError:
        return
    whole(tokenizer, 400, tmp_path)
    text = "il gatto è qui"
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_a_switched_off_token_leaves_its_name_free(tmp_path: Path) -> None:
    tokenizer = train(bos_id=-1, user_defined_symbols=("<s>",))
    whole(tokenizer, 400, tmp_path)
    assert tokenizer.encode("<s>") == [tokenizer.piece_to_id("<s>")]


# ---------------------------------------------------------------------- user-defined symbols


def test_symbols_come_after_the_special_tokens_in_their_order(tmp_path: Path) -> None:
    symbols = ("<z>", "<a>", "[M]")
    tokenizer = train(user_defined_symbols=symbols)
    whole(tokenizer, 400, tmp_path)
    assert [tokenizer.id_to_piece(i) for i in (4, 5, 6)] == list(symbols)
    assert tokenizer.options.user_defined_symbols == symbols


@pytest.mark.parametrize("options", [{}, {"pretokenization": "none"}, {"mode": "paper"}])
def test_symbols_are_never_split_and_the_longest_wins(options: dict[str, Any]) -> None:
    symbols = ["<a>", "<a><b>", "ﬁ", "e\u0301", "à la carte", "\t", "▁▁"]
    tokenizer = train(user_defined_symbols=symbols, **options)
    text = "il<a><b><a>gatto ﬁne e\u0301 à la carte\t<a><a> ▁▁▁"
    pieces = tokenizer.encode(text, out_type=str)
    found = [piece for piece in pieces if piece in symbols]
    expected = ["<a><b>", "<a>", "ﬁ", "e\u0301", "à la carte", "\t", "<a>", "<a>", "▁▁"]
    assert found == expected
    for alternative in tokenizer.nbest(text, 20, out_type=str):
        assert [piece for piece in alternative if piece in symbols] == expected
    for seed in range(20):
        sampled = tokenizer.sample(text, alpha=0.0, seed=seed, out_type=str)
        assert [piece for piece in sampled if piece in symbols] == expected
    paired = tokenizer.encode(text, source=["▁le", "▁chat"], out_type=str)
    assert [piece for piece in paired if piece in symbols] == expected


@pytest.mark.parametrize("symbol", ["a", ".", "è", "▁il", "gatto", " ", "\n", "€", "\ufffd"])
def test_symbols_may_be_text_that_is_in_the_pairs(symbol: str, tmp_path: Path) -> None:
    tokenizer = train(user_defined_symbols=[symbol])
    whole(tokenizer, 400, tmp_path)
    text = f"il{symbol}gatto è una città.{symbol}"
    assert tokenizer.decode(tokenizer.encode(text)) == text
    pieces = tokenizer.encode(text, out_type=str)
    assert pieces.count(symbol) == text.count(symbol)
    assert not [piece for piece in pieces if symbol in piece and piece != symbol]


def test_nothing_is_learned_from_symbols_in_the_pairs() -> None:
    pairs = [*PAIRS, (["<sep>"], "<sep>", 50)]
    tokenizer = pairpiece.train_from_pairs(pairs, 400, user_defined_symbols=["<sep>"])
    assert tokenizer.encode("il<sep>gatto", out_type=str).count("<sep>") == 1
    assert [piece for piece in tokenizer.get_vocab() if "<s" in piece] == ["<s>", "<sep>"]


# ---------------------------------------------------------------------- without bytes


def test_without_bytes_unknown_characters_are_unknown(tmp_path: Path) -> None:
    tokenizer = train(200, byte_fallback=False)
    whole(tokenizer, 200, tmp_path)
    assert not [piece for piece in tokenizer.get_vocab() if piece.startswith("<0x")]
    pieces = tokenizer.encode("il ΩΩ gatto", out_type=str)
    assert pieces.count("<unk>") == 1, "neighbours are one token"
    assert "".join(pieces) == "il▁<unk>▁gatto"
    assert tokenizer.decode(tokenizer.encode("il gatto")) == "il gatto"
    assert "⁇" in tokenizer.decode(tokenizer.encode("Ω"))


# ---------------------------------------------------------------------- sizes


def feasible(mode: str, **options: Any) -> tuple[int, int]:
    """The range that the error for a hopeless size names."""
    ranges = set()
    for size in (1, 10**9):
        with pytest.raises(pairpiece.VocabularySizeError) as caught:
            train(size, mode=mode, **options)
        assert isinstance(caught.value, pairpiece.OptionError)
        message = str(caught.value)
        assert f"vocab_size {size}" in message
        assert "hard_vocab_limit=False" in message
        assert ("character_coverage" if size == 1 else "min_seed_count") in message
        ranges.add(tuple(map(int, re.search(r"between (\d+) and (\d+)", message).groups())))
    [(lowest, highest)] = ranges
    return lowest, highest


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "options", [{}, {"byte_fallback": False, "user_defined_symbols": ["<x>"], "bos_id": -1}]
)
def test_every_size_in_the_range_is_reached(
    mode: str, options: dict[str, Any], tmp_path: Path
) -> None:
    lowest, highest = feasible(mode, **options)
    for size in {lowest, lowest + 1, *range(lowest, highest, 97), highest - 1, highest}:
        tokenizer = train(size, mode=mode, **options)
        whole(tokenizer, size, tmp_path / str(size))
    for size in (lowest - 1, highest + 1):
        with pytest.raises(pairpiece.VocabularySizeError):
            train(size, mode=mode, **options)


@pytest.mark.parametrize("mode", MODES)
def test_a_soft_limit_gives_the_nearest_size(mode: str) -> None:
    lowest, highest = feasible(mode)
    for size, expected in (
        (1, lowest),
        (lowest - 1, lowest),
        (highest + 1, highest),
        (10**9, highest),
    ):
        assert len(train(size, mode=mode, hard_vocab_limit=False)) == expected
    assert len(train(500, mode=mode, hard_vocab_limit=False)) == 500


def test_the_smallest_vocabulary_is_the_characters() -> None:
    lowest, _ = feasible("default")
    tokenizer = train(lowest)
    learned = [tokenizer.id_to_piece(i) for i in range(260, lowest)]
    assert all(len(piece) == 1 for piece in learned)
    words = {word for _, word, _ in PAIRS}
    assert set(learned) == {character for word in words for character in word}


@pytest.mark.parametrize(
    "options",
    [
        {"max_piece_length": 1},
        {"min_seed_count": 1e9},
        {"max_seeds": 1},
        {"character_coverage": 0.01, "byte_fallback": False},
    ],
)
def test_narrow_ranges_are_named_too(options: dict[str, Any], tmp_path: Path) -> None:
    for size in feasible("default", **options):
        whole(train(size, **options), size, tmp_path / str(size))
