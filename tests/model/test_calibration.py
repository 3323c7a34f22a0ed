"""Calibration: as many tokens as wanted, ids as they were, kept with the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from support.command_line import Training
from support.french_italian import SENTENCES
from support.listener import Listener

import pairpiece
from pairpiece import OptionError, files
from pairpiece.corpus import sample
from pairpiece.model.calibration import CalibrationText
from pairpiece.model.penalty_search import (
    HIGHEST,
    LIMITS,
    LOWEST,
    TOLERANCE,
    TRIALS,
    find_penalty,
)

TARGETS = list(files.lines(sample.ITALIAN))[-300:]
SOURCES = list(files.lines(sample.FRENCH))[-300:]


@pytest.fixture(scope="module")
def model(trained: Training) -> pairpiece.Tokenizer:
    return pairpiece.load(trained.model)


def tokens(tokenizer: pairpiece.Tokenizer, *arguments: Any, **options: Any) -> int:
    return sum(map(len, tokenizer.encode_batch(TARGETS, *arguments, **options)))


@pytest.mark.parametrize("balance", [0.97, 1.0, 1.1])
def test_as_many_tokens_as_wanted(model: pairpiece.Tokenizer, balance: float) -> None:
    reference = tokens(model)
    calibrated = model.calibrate(TARGETS, SOURCES, reference=model, balance=balance)
    found = calibrated.provenance["calibration"]
    fewest = {"target_only": calibrated.encode_batch(TARGETS)}
    fewest["with_source"] = calibrated.encode_batch(TARGETS, SOURCES)
    for way, rows in fewest.items():
        assert sum(map(len, rows)) == found[way]["tokens"]
        if "limit" not in found[way]:
            assert 0.97 * balance * reference < found[way]["tokens"] <= balance * reference


def test_more_tokens_for_more_balance(model: pairpiece.Tokenizer) -> None:
    counts = [
        tokens(model.calibrate(TARGETS, reference=model, balance=balance))
        for balance in (0.98, 1.05, 1.2)
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_links_have_a_penalty_of_their_own(tokenizer: pairpiece.Tokenizer) -> None:
    sources, targets, links = zip(*SENTENCES, strict=True)
    most = sum(map(len, targets))
    calibrated = tokenizer.calibrate(targets, sources, alignments=links, reference=most)
    settings = calibrated.cooccurrences().settings
    found = calibrated.provenance["calibration"]
    assert settings.piece_penalty == found["with_links"]["penalty"]
    assert settings.inferred_piece_penalty == found["with_source"]["penalty"]
    alone = tokenizer.calibrate(targets, sources, reference=most)
    before = tokenizer.cooccurrences().settings
    assert alone.cooccurrences().settings.piece_penalty == before.piece_penalty


def test_pieces_ids_and_round_trip_stay(model: pairpiece.Tokenizer) -> None:
    calibrated = model.calibrate(TARGETS, SOURCES, reference=model, balance=1.3)
    assert calibrated.get_vocab() == model.get_vocab()
    for target, source in zip(TARGETS, SOURCES, strict=True):
        assert calibrated.decode(calibrated.encode(target)) == target
        assert calibrated.decode(calibrated.encode(target, source=source)) == target


def test_a_saved_model_stays_calibrated(model: pairpiece.Tokenizer, tmp_path: Path) -> None:
    calibrated = model.calibrate(TARGETS, SOURCES, reference=model, balance=1.2)
    calibrated.save(tmp_path / "model")
    loaded = pairpiece.load(tmp_path / "model")
    assert loaded.provenance["calibration"] == calibrated.provenance["calibration"]
    assert loaded.encode_batch(TARGETS) == calibrated.encode_batch(TARGETS)
    assert loaded.encode_batch(TARGETS, SOURCES) == calibrated.encode_batch(TARGETS, SOURCES)


def test_threads_do_not_matter(model: pairpiece.Tokenizer) -> None:
    one, two = (
        model.calibrate(TARGETS, SOURCES, reference=model, num_threads=threads)
        for threads in (1, 2)
    )
    assert one.provenance == two.provenance


def test_references_of_all_kinds(model: pairpiece.Tokenizer) -> None:
    by_number = model.calibrate(TARGETS, reference=tokens(model))
    by_tokenizer = model.calibrate(TARGETS, reference=model)
    by_function = model.calibrate(TARGETS, reference=lambda text: model.encode(text, out_type=str))
    assert by_number.provenance == by_tokenizer.provenance == by_function.provenance
    peer = sentencepiece.SentencePieceProcessor()
    peer.LoadFromSerializedProto(model.source_tokenizer.content)  # type: ignore[union-attr]
    wanted = model.calibrate(TARGETS, reference=peer.encode).provenance["calibration"]["wanted"]
    assert wanted == sum(map(len, peer.encode(TARGETS)))


@pytest.mark.parametrize(
    "arguments",
    [
        {"targets": []},
        {"targets": "one text"},
        {"reference": 0},
        {"reference": "it.model"},
        {"reference": lambda _: []},
        {"balance": 0.1},
        {"balance": "much"},
        {"num_threads": 0},
    ],
)
def test_what_makes_no_sense(model: pairpiece.Tokenizer, arguments: dict[str, Any]) -> None:
    given = {"targets": TARGETS, "reference": 100, **arguments}
    with pytest.raises(OptionError):
        model.calibrate(given.pop("targets"), **given)


STEEP = {1.5: 100, 3.0: 90, 4.0: 40}
"""Tokens up to a penalty; beyond the last one 30."""


def steep(penalty: float) -> float:
    return next((count for end, count in STEEP.items() if penalty < end), 30)


@pytest.mark.parametrize(
    ("wanted", "penalty", "reached", "limit"),
    [
        (100, 0.0, 100, None),  # as many as there can be, for nothing
        (99.5, 1.5, 90, "step"),
        (90.25, 1.5, 90, None),
        (89, 3.0, 40, "step"),
        (30, 4.0, 30, None),
        (20, 4.0, 30, "fewest"),  # and not more paid than for 30
        (200, 0.0, 100, "most"),
    ],
)
def test_a_penalty_and_its_limit(
    wanted: float, penalty: float, reached: float, limit: str | None
) -> None:
    found = find_penalty(steep, wanted)
    assert (found.penalty, found.tokens, found.limit) == (penalty, reached, limit)


@pytest.mark.parametrize("wanted", [50, 200])
def test_where_nothing_helps_nothing_is_paid(wanted: float) -> None:
    assert find_penalty(lambda _: 100, wanted).penalty == 0


def test_the_end_of_the_dial_is_not_taken_for_that_of_the_pieces() -> None:
    beyond = find_penalty(lambda penalty: 100 - penalty / 100, 50)
    assert (beyond.penalty, beyond.limit) == (HIGHEST, "penalty")
    below = find_penalty(lambda penalty: 100 - penalty / 100, 150)
    assert (below.penalty, below.limit) == (LOWEST, "penalty")


@pytest.mark.parametrize("wanted", [-1000, 68.001, 69, 99.9, 100, 107.77, 132, 1000])
def test_a_search_is_short(wanted: float) -> None:
    tried = []

    def tokens(penalty: float) -> float:
        tried.append(penalty)
        return 100 - penalty

    find_penalty(tokens, wanted)
    assert len(tried) <= TRIALS < 20
    assert len(set(tried)) == len(tried)


def test_the_last_calibration_is_the_one_that_counts(model: pairpiece.Tokenizer) -> None:
    once = model.calibrate(TARGETS, SOURCES, reference=model, balance=1.05)
    before = model.calibrate(TARGETS, SOURCES, reference=model, balance=1.4)
    twice = before.calibrate(TARGETS, SOURCES, reference=model, balance=1.05)
    assert twice.vocabulary == once.vocabulary
    assert twice.provenance == once.provenance


def test_frequent_words_of_a_training_count_less() -> None:
    words = [["▁di"] * 16, ["▁topo"]]
    text = CalibrationText.of_training(["di " * 16, "topo"], None, None, words)
    assert text.weights is not None
    assert sum(text.weights[0]) == pytest.approx(16**0.75)
    assert text.weights[1] == [1.0]


def test_a_training_leaves_the_number_of_tokens_to_what_was_learned(trained: Training) -> None:
    assert "calibration" not in pairpiece.load(trained.model).provenance


# ---------------------------------------------------------------------- in a training


def trained_with(tmp_path: Path, **options: Any) -> pairpiece.Tokenizer:
    corpus = list(zip(list(files.lines(sample.FRENCH)), files.lines(sample.ITALIAN), strict=True))
    return pairpiece.train(
        corpus=corpus[:1500], vocab_size=800, align="none", work_dir=tmp_path / "work", **options
    )


@pytest.fixture
def dev(tmp_path: Path) -> dict[str, Path]:
    names = {"dev_source": tmp_path / "dev.fr", "dev_target": tmp_path / "dev.it"}
    for path, lines in zip(names.values(), (SOURCES, TARGETS), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return names


def test_dev_text_is_what_counts(dev: dict[str, Path], tmp_path: Path) -> None:
    found = trained_with(tmp_path, **dev)
    record = found.provenance["calibration"]
    assert record["sentences"] == len(TARGETS)
    assert record["target_only"]["tokens"] == tokens(found) <= 1.01 * record["wanted"]
    assert record["with_source"]["tokens"] == tokens(found, SOURCES)


FARTHER = (0.5, 0.9)
"""Than the pieces go."""

BALANCES = (0.97, 0.99, 1.0, 1.01, 1.05, 1.1)


def test_the_balance_is_a_dial(tmp_path: Path) -> None:
    usual = trained_with(tmp_path)
    ways = ("target_only", "with_source")
    counts = []
    for balance in (*FARTHER, *BALANCES, 1.5, 2.0):
        turned = trained_with(tmp_path, balance=balance)
        found = turned.provenance["calibration"]
        assert found["balance"] == balance
        for way in ways:
            if balance in FARTHER:
                assert found[way]["limit"] == "fewest"
            else:
                within = TOLERANCE if balance in BALANCES else 0.01  # steps are longer there
                assert found[way]["tokens"] == pytest.approx(found["wanted"], rel=within)
                assert found[way].get("limit") in (
                    {None} if balance in BALANCES else {None, "step"}
                )
        counts.append([found[way]["tokens"] for way in ways])
        assert turned.get_vocab() == usual.get_vocab()
    end = len(FARTHER) - 1
    for of_way in zip(*counts, strict=True):
        assert list(of_way[end:]) == sorted(set(of_way[end:]))  # every turn counts
        assert set(of_way[: end + 1]) == {of_way[end]}


def test_a_dial_at_its_end_says_how_far_it_came(tmp_path: Path) -> None:
    listener = Listener()
    few = trained_with(tmp_path, balance=0.5, reporter=listener)
    found = few.provenance["calibration"]
    assert 0 <= found["target_only"]["penalty"] < HIGHEST
    for way in ("target_only", "with_source"):
        assert found[way]["limit"] == "fewest"
        reached = 0.5 * found[way]["tokens"] / found["wanted"]
        message = (
            f"{way.replace('_', ' ')}: a balance of 0.5 was asked for and {reached:.3f} reached: "
            f"{LIMITS['fewest']}"
        )
        assert message in listener.warnings
    silent = Listener()
    trained_with(tmp_path, balance=1.1, reporter=silent)
    assert not [w for w in silent.warnings if "balance" in w]


def fewest_pieces(word: str, pieces: set[str]) -> int:
    """By counting alone; every character is a piece."""
    fewest = [0]
    for end in range(1, len(word) + 1):
        fewest.append(1 + min(fewest[i] for i in range(end) if word[i:end] in pieces))
    return fewest[-1]


def test_fewest_are_as_few_as_the_pieces_can_be(model: pairpiece.Tokenizer) -> None:
    pieces = set(model.get_vocab())
    few = model.calibrate(TARGETS, reference=model, balance=0.5)
    for text in TARGETS:
        encoding = few.encode(text, out_type=pairpiece.Encoding)
        cut: dict[int, list[str]] = {}
        for piece, number in zip(encoding.pieces, encoding.word_ids, strict=True):
            cut.setdefault(number, []).append(piece)
        for row in cut.values():
            if set("".join(row)) <= pieces:
                assert len(row) == fewest_pieces("".join(row), pieces)


def test_calibrate_says_how_far_it_came(
    model: pairpiece.Tokenizer, caplog: pytest.LogCaptureFixture
) -> None:
    model.calibrate(TARGETS, SOURCES, reference=model, balance=1.2)
    assert not caplog.records
    few = model.calibrate(TARGETS, SOURCES, reference=model, balance=0.5)
    reached = tokens(few) / tokens(model)
    assert {record.name for record in caplog.records} == {"pairpiece"}
    assert f"target only: a balance of 0.5 was asked for and {reached:.3f} reached" in caplog.text
    assert "with source: a balance of 0.5" in caplog.text


def test_the_bar_moves_while_calibrating(tmp_path: Path) -> None:
    class Watching(Listener):
        def __init__(self) -> None:
            super().__init__()
            self.seen: list[tuple[float, float | None]] = []

        def advance(self, done: float, total: float | None, unit: str) -> None:
            super().advance(done, total, unit)
            if unit == "trials":
                self.seen.append((done, total))

    watching = Watching()
    trained_with(tmp_path, balance=1.05, reporter=watching)
    done = [done for done, _ in watching.seen]
    assert len(done) > 20
    assert done == sorted(set(done))
    assert {total for _, total in watching.seen} == {2 * TRIALS}
    assert (done[0], done[-1]) == (0, 2 * TRIALS)


def test_penalties_by_hand_are_kept(tmp_path: Path) -> None:
    by_hand = trained_with(tmp_path, paired_piece_penalty=2.5)
    assert by_hand.cooccurrences().settings.inferred_piece_penalty == 2.5
    assert "calibration" not in by_hand.provenance


@pytest.mark.parametrize(
    "wrong",
    [
        {"balance": 3},
        {"mode": "paper", "balance": 1.0},
        {"marginal_piece_penalty": 1.0, "balance": 1.0},
        {"dev_target": None},
    ],
)
def test_what_a_training_refuses(
    wrong: dict[str, Any], dev: dict[str, Path], tmp_path: Path
) -> None:
    given = {**dev, **wrong} if "dev_target" in wrong else wrong
    with pytest.raises(OptionError):
        trained_with(tmp_path, **given)
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("content", [b"", b"caf\xe9\n"])
def test_bad_dev_text_is_found_before_any_work(
    content: bytes, dev: dict[str, Path], tmp_path: Path
) -> None:
    for path in dev.values():
        path.write_bytes(content)
    with pytest.raises(pairpiece.PairPieceError, match="dev"):
        trained_with(tmp_path, **dev)
    assert not list((tmp_path / "work").glob("[!.]*"))
