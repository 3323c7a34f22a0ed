"""What is exported says what the tokenizer knows, and what cannot be exported is refused whole."""

from __future__ import annotations

import io
import itertools
import json
import math
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st
from support.command_line import Ended, call, complaint
from support.peers import sentencepiece_model

import pairpiece
from pairpiece.foreign import huggingface_files
from pairpiece.foreign.sentencepiece_format import to_sentencepiece
from pairpiece.model.table_files import lexical_table
from pairpiece.text.protobuf import fields_of, message
from pairpiece.text.vocabulary import PieceType

pytestmark = pytest.mark.usefixtures("no_fsync")

Export = Callable[..., Ended]
FORMATS = [("sentencepiece", "it.model"), ("lexicon", "fr-it.lex"), ("table", "fr-it.npz")]


@pytest.fixture
def saved(tokenizer: pairpiece.Tokenizer, tmp_path: Path) -> Path:
    tokenizer.save(tmp_path / "saved")
    return tmp_path / "saved"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """An empty directory, to see what is written."""
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


@pytest.fixture
def export(capfd: pytest.CaptureFixture[str]) -> Export:
    def run(model: Path, what: str, output: object) -> Ended:
        return call(capfd, "export", model, "--to", what, "-o", output)

    return run


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def processor(content: bytes) -> Any:
    loaded = sentencepiece.SentencePieceProcessor()
    loaded.LoadFromSerializedProto(content)
    return loaded


def counts_of(tokenizer: pairpiece.Tokenizer) -> dict[tuple[str, str], float]:
    """c(t, s) by piece and source token, read off the table entry by entry."""
    table = tokenizer.cooccurrences()
    return {
        (piece, table.source_tokens[table.source[j]]): float(table.count[j])
        for piece, i in tokenizer.get_vocab().items()
        for j in range(int(table.row_begin[i]), int(table.row_begin[i + 1]))
    }


# ---------------------------------------------------------------------- sentencepiece


def test_a_sentencepiece_model_has_its_vocabulary_beside_it(
    tokenizer: pairpiece.Tokenizer, saved: Path, place: Path, export: Export
) -> None:
    ended = export(saved, "sentencepiece", place / "it.model")
    assert ended[:2] == (0, "")
    assert "LlamaTokenizer" in ended.err  # which loads it, and is wrong
    assert "--to hf" in ended.err
    assert names_in(place) == ["it.model", "it.vocab"]
    assert (place / "it.model").read_bytes() == to_sentencepiece(tokenizer)
    lines = (place / "it.vocab").read_text(encoding="utf-8").removesuffix("\n").split("\n")
    rows = [line.split("\t") for line in lines]
    assert [piece for piece, _ in rows] == list(tokenizer.get_vocab())
    scores = [tokenizer.score(i) for i in range(len(tokenizer))]
    assert [float(score) for _, score in rows] == pytest.approx(scores, rel=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"user_defined_symbols": ("<sep>", "[MASK]")},
        {"unk_id": 5, "bos_id": 0, "eos_id": 7, "pad_id": 2},
        {"bos_id": -1, "eos_id": -1, "pad_id": -1},
        {"unk_piece": "⟨?⟩", "bos_piece": "<début>", "eos_piece": "<fin>", "pad_piece": "<vide>"},
        {"byte_fallback": False, "vocab_size": 250},
        {"mode": "unigram"},
    ],
    ids=str,
)
def test_sentencepiece_has_the_same_pieces_with_the_same_types_and_scores(
    pairs: pairpiece.Pairs, options: dict[str, Any]
) -> None:
    ours = pairpiece.train_from_pairs(pairs, **{"vocab_size": 500, **options})
    theirs = processor(to_sentencepiece(ours))
    ids = range(len(ours))
    assert theirs.get_piece_size() == len(ours)
    assert [theirs.id_to_piece(i) for i in ids] == list(ours.get_vocab())
    assert [theirs.get_score(i) for i in ids] == [ours.score(i) for i in ids]
    assert [theirs.piece_to_id(piece) for piece in ours.get_vocab()] == list(ids)
    for name in ("unk", "bos", "eos", "pad"):
        assert getattr(theirs, f"{name}_id")() == getattr(ours, f"{name}_id"), name
    kinds = [PieceType(kind) for kind in ours.piece_types()]
    for question, kind in (
        (theirs.is_unknown, PieceType.UNKNOWN),
        (theirs.is_control, PieceType.CONTROL),
        (theirs.is_byte, PieceType.BYTE),
    ):
        assert [i for i in ids if question(i)] == [i for i in ids if kinds[i] == kind]
    assert not any(theirs.is_unused(i) for i in ids)


def normalizer_name(model: bytes) -> str:
    name: bytes = dict(fields_of(dict(fields_of(model))[3]))[1]
    return name.decode()


@pytest.mark.parametrize(
    ("normalization", "name"), [("nfkc", "nfkc"), ("nfc", "user_defined"), ("none", "identity")]
)
def test_the_normalizer_has_the_name_of_its_rule(
    pairs: pairpiece.Pairs, normalization: str, name: str
) -> None:
    ours = pairpiece.train_from_pairs(pairs, 500, normalization=normalization)
    assert normalizer_name(to_sentencepiece(ours)) == name


@pytest.mark.parametrize("rule", ["nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf", "identity"])
def test_a_normalizer_that_came_from_sentencepiece_keeps_its_name(rule: str) -> None:
    theirs = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["il gatto mangia", "i topi"]),
        model_writer=theirs,
        vocab_size=40,
        hard_vocab_limit=False,
        normalization_rule_name=rule,
        minloglevel=2,
    )
    taken = pairpiece.from_sentencepiece(theirs.getvalue())
    assert normalizer_name(to_sentencepiece(taken)) == rule


# ---------------------------------------------------------------------- lexicon


@pytest.mark.parametrize("split_digits", [False, True])
def test_sentencepiece_is_told_whether_digits_are_split(
    pairs: pairpiece.Pairs, split_digits: bool
) -> None:
    ours = pairpiece.train_from_pairs(pairs, 500, split_digits=split_digits)
    theirs = sentencepiece_model(["il 24 agosto"] * 50, 20, split_digits=split_digits)

    def said(model: bytes) -> bool:
        [trainer] = [dict(fields_of(value)) for number, value in fields_of(model) if number == 2]
        return bool(trainer.get(25, 0))

    assert said(to_sentencepiece(ours)) == said(theirs) == split_digits


def test_a_lexicon_is_the_same_in_a_file_and_on_standard_output(
    saved: Path, place: Path, export: Export
) -> None:
    assert export(saved, "lexicon", place / "fr-it.lex") == Ended(0, "", "")
    printed = export(saved, "lexicon", "-")
    assert printed == Ended(0, (place / "fr-it.lex").read_text(encoding="utf-8"), "")
    assert names_in(place) == ["fr-it.lex"]


def test_the_lexicon_has_every_probability_of_a_piece_given_a_source_token(
    tokenizer: pairpiece.Tokenizer,
) -> None:
    table = tokenizer.cooccurrences()
    totals = dict(zip(table.source_tokens, table.source_count, strict=True))
    expected = {
        (source or "<eps>", piece): math.log(count / totals[source])
        for (piece, source), count in counts_of(tokenizer).items()
        if count / totals[source] >= 1e-6
    }
    rows = [line.split("\t") for line in lexical_table(tokenizer)]
    assert all(len(row) == 3 for row in rows)
    found = {(source, piece): float(logarithm) for source, piece, logarithm in rows}
    assert len(found) == len(rows)
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-5)
    sources = [source for source, _, _ in rows]
    assert len(list(itertools.groupby(sources))) == len(set(sources)), "sources are not together"


def test_unlikely_translations_can_be_left_out(tokenizer: pairpiece.Tokenizer) -> None:
    everything = list(lexical_table(tokenizer))
    likely = list(lexical_table(tokenizer, min_probability=0.1))
    assert 0 < len(likely) < len(everything)
    limit = math.log(0.1) - 1e-5
    assert likely == [line for line in everything if float(line.split("\t")[2]) >= limit]


def test_the_best_translations_are_those_of_the_lexicon(tokenizer: pairpiece.Tokenizer) -> None:
    best: dict[str, tuple[float, str]] = {}
    for source, piece, logarithm in (line.split("\t") for line in lexical_table(tokenizer)):
        best[source] = max(best.get(source, (-math.inf, "")), (float(logarithm), piece))
    lexicon = tokenizer.lexicon(1).targets
    for source in ("▁chat", "▁et", "▁maison", "."):
        [(piece, probability)] = lexicon[source]
        assert best[source][1] == piece
        assert math.exp(best[source][0]) == pytest.approx(probability, rel=1e-4)


@pytest.mark.parametrize("odd", ["a\tb", "a\nb", "\ud800"], ids=ascii)
def test_every_line_of_a_lexicon_has_three_columns(
    odd: str, tmp_path: Path, export: Export
) -> None:
    words = [([odd], "parola", 3), (["x"], "altro", 3)]
    pairpiece.train_from_pairs(words, 290, hard_vocab_limit=False).save(tmp_path)
    ended = export(tmp_path, "lexicon", "-")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.removesuffix("\n").split("\n")
    assert {line.count("\t") for line in lines} == {2}
    assert "x" in {line.split("\t")[0] for line in lines}


# ---------------------------------------------------------------------- table


def test_an_npz_table_has_a_row_for_each_piece_and_a_column_for_each_source_token(
    tokenizer: pairpiece.Tokenizer, saved: Path, place: Path, export: Export
) -> None:
    assert export(saved, "table", place / "fr-it.npz") == Ended(0, "", "")
    assert names_in(place) == ["fr-it.npz"]
    with np.load(place / "fr-it.npz", allow_pickle=False) as file:
        parts = dict(file)
    pieces, sources = parts["pieces"].tolist(), parts["source_tokens"].tolist()
    assert pieces == list(tokenizer.get_vocab())
    assert sources == tokenizer.cooccurrences().source_tokens
    rows = np.repeat(np.arange(len(pieces)), np.diff(parts["indptr"]))
    found = zip(rows, parts["indices"], parts["data"], strict=True)
    assert {(pieces[i], sources[j]): value for i, j, value in found} == counts_of(tokenizer)
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.load_npz(place / "fr-it.npz")
    assert matrix.shape == (len(pieces), len(sources))
    assert {
        (pieces[i], sources[j]): value for (i, j), value in matrix.todok().items()
    } == counts_of(tokenizer)


def test_a_parquet_table_has_the_same_counts(
    tokenizer: pairpiece.Tokenizer, saved: Path, place: Path, export: Export
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert export(saved, "table", place / "fr-it.parquet") == Ended(0, "", "")
    assert names_in(place) == ["fr-it.parquet"]
    columns = parquet.read_table(place / "fr-it.parquet").to_pydict()
    assert list(columns) == ["piece", "source_token", "count"]
    keys = zip(columns["piece"], columns["source_token"], strict=True)
    assert dict(zip(keys, columns["count"], strict=True)) == counts_of(tokenizer)


# ---------------------------------------------------------------------- what cannot be


@pytest.mark.parametrize("name", ["table", "table.csv", "table.npz.gz", "npz", ".npz"])
def test_tables_of_other_kinds_are_refused(
    name: str, saved: Path, place: Path, export: Export
) -> None:
    assert ".npz or .parquet" in complaint(export(saved, "table", place / name))
    assert names_in(place) == []


@pytest.mark.parametrize(("what", "name"), FORMATS[1:])
def test_a_model_without_a_source_side_has_no_table(
    what: str, name: str, pairs: pairpiece.Pairs, tmp_path: Path, place: Path, export: Export
) -> None:
    pairpiece.train_from_pairs(pairs, 500, "unigram").save(tmp_path / "model")
    assert "without a source side" in complaint(export(tmp_path / "model", what, place / name))
    assert names_in(place) == []


def test_other_tools_cannot_split_words_in_other_ways(pairs: pairpiece.Pairs) -> None:
    tokenizer = pairpiece.train_from_pairs(pairs, 500, pretokenizer=list)
    with pytest.raises(pairpiece.OptionError, match=r"SentencePiece cannot split .*lossless"):
        to_sentencepiece(tokenizer)
    with pytest.raises(pairpiece.OptionError, match=r"Hugging Face cannot split .*lossless"):
        huggingface_files.files_for(tokenizer)


def test_a_refused_export_leaves_what_is_there(
    pairs: pairpiece.Pairs, tmp_path: Path, place: Path, export: Export
) -> None:
    options = {"pretokenization": "paper", "add_dummy_prefix": False}
    pairpiece.train_from_pairs(pairs, 500, **options).save(tmp_path / "model")
    (place / "it.vocab").write_text("mine", encoding="utf-8")
    ended = export(tmp_path / "model", "sentencepiece", place / "it.model")
    assert "train with add_dummy_prefix=true" in complaint(ended)
    assert names_in(place) == ["it.vocab"]
    assert (place / "it.vocab").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(("what", "name"), FORMATS)
def test_what_is_no_model_cannot_be_exported(
    what: str, name: str, place: Path, export: Export
) -> None:
    assert "not a PairPiece model" in complaint(export(place, what, place / name))
    assert names_in(place) == []


@pytest.mark.parametrize(("what", "name"), FORMATS)
def test_a_place_that_is_not_there_is_named(
    what: str, name: str, saved: Path, place: Path, export: Export
) -> None:
    assert "nowhere" in complaint(export(saved, what, place / "nowhere" / name))
    assert names_in(place) == []


def test_a_sentencepiece_model_cannot_be_named_like_its_vocabulary(
    saved: Path, place: Path, export: Export
) -> None:
    assert ".vocab" in complaint(export(saved, "sentencepiece", place / "it.vocab"))
    assert names_in(place) == []


@pytest.mark.parametrize("what", ["sentencepiece", "table"])
def test_only_a_lexicon_goes_to_standard_output(
    what: str, saved: Path, place: Path, export: Export, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    complaint(export(saved, what, "-"))
    assert names_in(place) == []


# ---------------------------------------------------------------------- Hugging Face files


def test_saving_a_model_that_cannot_be_exported_removes_the_old_files(
    pairs: pairpiece.Pairs, saved: Path
) -> None:
    assert set(huggingface_files.FILES) < set(names_in(saved))
    (saved / "special_tokens_map.json").write_text("mine", encoding="utf-8")
    pairpiece.train_from_pairs(pairs, 500, pretokenizer=list).save(saved)
    assert set(huggingface_files.FILES).isdisjoint(names_in(saved))
    assert "special_tokens_map.json" in names_in(saved)


def test_saving_again_replaces_the_old_files(pairs: pairpiece.Pairs, saved: Path) -> None:
    other = pairpiece.train_from_pairs(pairs, 450, bos_piece="<début>")
    other.save(saved)
    for name, content in huggingface_files.files_for(other).items():
        assert (saved / name).read_bytes() == content


@pytest.mark.parametrize(
    ("options", "tokens"),
    [
        ({}, {"unk": "<unk>", "bos": "<s>", "eos": "</s>", "pad": "<pad>"}),
        ({"bos_id": -1, "pad_id": -1}, {"unk": "<unk>", "eos": "</s>"}),
        ({"bos_id": -1, "eos_id": -1, "pad_id": -1, "unk_piece": "?!"}, {"unk": "?!"}),
    ],
    ids=str,
)
def test_the_configuration_names_the_special_tokens_that_there_are(
    options: dict[str, Any], tokens: dict[str, str], pairs: pairpiece.Pairs, tmp_path: Path
) -> None:
    trained = pairpiece.train_from_pairs(pairs, 500, **options)
    trained.save(tmp_path)
    config = json.loads((tmp_path / "tokenizer_config.json").read_text(encoding="utf-8"))
    found = {name: value for name, value in config.items() if name.endswith("_token")}
    assert found == {f"{name}_token": piece for name, piece in tokens.items()}
    content = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    added = {token["content"]: token["id"] for token in content["added_tokens"]}
    assert added == {piece: trained.piece_to_id(piece) for piece in tokens.values()}
    assert all(token["special"] for token in content["added_tokens"])


# ---------------------------------------------------------------------- protocol buffers


VALUES = (
    st.integers(0, 2**64 - 1)
    | st.binary()
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.booleans()
    | st.floats(width=32, allow_nan=False)
)
FIELDS = st.lists(st.tuples(st.integers(1, 2**29 - 1), VALUES), max_size=8)


def read(content: bytes) -> list[tuple[int, Any]] | None:
    """The fields, or nothing where the bytes are no message."""
    try:
        return list(fields_of(content))
    except ValueError:
        return None


@given(FIELDS)
def test_messages_can_be_read_again(fields: list[tuple[int, Any]]) -> None:
    written = [(n, v.encode() if isinstance(v, str) else v) for n, v in fields]
    found = list(fields_of(message(fields)))
    assert found == written
    assert [math.copysign(1, v) for _, v in found if isinstance(v, float)] == [
        math.copysign(1, v) for _, v in written if isinstance(v, float)
    ]


@given(st.integers(-(2**63), -1))
def test_negative_numbers_are_written_as_protocol_buffers_do(value: int) -> None:
    assert list(fields_of(message([(41, value)]))) == [(41, value + 2**64)]


@given(FIELDS, st.data())
def test_the_beginning_of_a_message_is_no_message_or_has_its_first_fields(
    fields: list[tuple[int, Any]], data: st.DataObject
) -> None:
    content = message(fields)
    size = data.draw(st.integers(0, len(content)))
    ends = {len(message(fields[:i])): i for i in range(len(fields) + 1)}
    found = read(content[:size])
    assert found == (list(fields_of(content))[: ends[size]] if size in ends else None)


@given(st.binary(max_size=200))
def test_garbage_raises_value_errors_only(content: bytes) -> None:
    found = read(content)
    assert found is None or len(found) <= len(content)


@pytest.mark.parametrize(
    "content",
    [
        b"\x0b",  # a group, which nothing here has
        b"\x0f",  # no wire type
        b"\x08",  # no value
        b"\x80",  # half a key
        b"\x0a\xff\xff\xff\xff\x0f",  # 4 GiB announced
        b"\x0a" + b"\xff" * 9 + b"\x01",  # 2^64 - 1 bytes announced
        b"\x08" + b"\x80" * 30,  # a number without end
        b"\x08" + b"\xff" * 11 + b"\x01",  # a number of more than 64 bits
        b"\x0d\0\0\0",  # three bytes of a float
        b"\x09" + struct.pack("<d", 1.0)[:7],  # seven bytes of a double
    ],
    ids=bytes.hex,
)
def test_what_is_no_message_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        list(fields_of(content))
