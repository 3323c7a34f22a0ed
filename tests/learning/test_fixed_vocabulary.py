"""Vocabularies that are given: kept as they are, or to choose pieces from."""

from __future__ import annotations

import functools
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
import tokenizers
from support import peers
from support.command_line import Ended, begin_of_sample, call, complaint, text
from support.french_italian import PAIRS, SENTENCES
from support.hostile import HOSTILE
from support.listener import Listener

import pairpiece
from pairpiece.foreign import huggingface_files
from pairpiece.foreign.sentencepiece_format import to_sentencepiece
from pairpiece.foreign.sentencepiece_training import train_sentencepiece
from pairpiece.run import pipeline
from pairpiece.run.job import prepare
from pairpiece.text.vocabulary import PieceType

pytestmark = pytest.mark.usefixtures("no_fsync")

MODES = ["default", "paper", "paper-hard"]
EXAMPLES = sum(count for _, _, count in PAIRS)
ALIGNED = sum(count for source, _, count in PAIRS if source)
CHARACTERS = sum(len(word) * count for _, word, count in PAIRS)


@functools.cache
def of_sentencepiece(size: int = 500, bytes_too: bool = False) -> bytes:
    words = [word.replace("▁", " ") for _, word, count in PAIRS for _ in range(count)]
    symbols = {"user_defined_symbols": ("<x>",), "control_symbols": ("<c>",)}
    more = symbols if bytes_too else {}
    text = [*(target for _, target in begin_of_sample(500)), *words]
    return peers.sentencepiece_model(text, size, byte_fallback=bytes_too, **more)


def hugging_face() -> pairpiece.Tokenizer:
    vocabulary = pairpiece.from_sentencepiece(of_sentencepiece()).vocabulary
    pieces = list(zip(vocabulary.pieces, vocabulary.scores, strict=True))
    made = tokenizers.Tokenizer(tokenizers.models.Unigram(pieces, unk_id=0))
    made.add_special_tokens(["<unk>", "<s>", "</s>"])
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="never")
    return pairpiece.from_huggingface(made)


VOCABULARIES: dict[str, Callable[[], pairpiece.Tokenizer]] = {
    "sentencepiece": lambda: pairpiece.from_sentencepiece(of_sentencepiece()),
    "bytes": lambda: pairpiece.from_sentencepiece(of_sentencepiece(800, bytes_too=True)),
    "hugging face": hugging_face,
    "own": lambda: pairpiece.train_from_pairs(PAIRS, 500, "unigram"),
    "paper": lambda: pairpiece.train_from_pairs(PAIRS, 500, "paper"),
}


@functools.cache
def given(name: str) -> pairpiece.Tokenizer:
    return VOCABULARIES[name]()


@functools.cache
def fixed(name: str, mode: str = "default") -> pairpiece.Tokenizer:
    return pairpiece.train_from_pairs(PAIRS, vocabulary=given(name), mode=mode)


def content_of(tokenizer: pairpiece.Tokenizer, folder: Path) -> dict[str, bytes]:
    tokenizer.save(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def paired_ids(tokenizer: pairpiece.Tokenizer) -> list[list[int]]:
    sources, targets, _ = zip(*SENTENCES, strict=True)
    return tokenizer.encode_batch(targets, sources)


# ---------------------------------------------------------------------- what stays


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", VOCABULARIES)
def test_pieces_ids_scores_and_target_only_tokens_stay(name: str, mode: str) -> None:
    before, after = given(name), fixed(name, mode)
    assert after.vocabulary == before.vocabulary
    assert after.options == before.options
    assert after.charsmap == before.charsmap
    texts = [*(target for _, target in begin_of_sample(300)), *HOSTILE]
    assert after.encode_batch(texts) == before.encode_batch(texts)
    ids = before.encode_batch(texts)
    assert after.decode_batch(ids) == before.decode_batch(ids)
    assert (before.is_paired, after.is_paired) == (name == "paper", True)
    assert after.provenance["mode"] == mode


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", VOCABULARIES)
def test_texts_can_be_encoded_with_a_source(name: str, mode: str) -> None:
    tokenizer = fixed(name, mode)
    textual = (PieceType.NORMAL, PieceType.BYTE)
    for source, target, links in SENTENCES:
        ways: list[dict[str, Any]] = [{}, {"whole_sentence": True}]
        if name != "paper":  # whose words are others
            ways.append({"alignment": links})
        for options in ways:
            found = tokenizer.encode(target, source=source, out_type=pairpiece.Encoding, **options)
            assert tokenizer.decode(found.ids) == tokenizer.normalize(target)
            assert all(tokenizer.vocabulary.types[i] in textual for i in found.ids)
            assert math.isfinite(found.log_prob)
            assert "".join(target[begin:end] for begin, end in found.offsets) == target


@pytest.mark.parametrize("name", VOCABULARIES)
def test_tokens_are_linked_with_source_tokens(name: str) -> None:
    tokenizer = fixed(name)
    source, target, _ = SENTENCES[0]
    alignment = tokenizer.align(source, target)
    assert alignment.target_tokens == tokenizer.encode(target, source=source, out_type=str)
    tokens = [token for word in source for token in word]
    assert alignment.source_tokens == tokens
    assert (tokens.index("."), alignment.target_tokens.index(".")) in alignment.links
    assert all(0 < score <= 1 for score in alignment.scores)


@pytest.mark.parametrize("mode", MODES)
def test_the_lexicon_knows_words_that_are_pieces(mode: str) -> None:
    lexicon = fixed("sentencepiece", mode).lexicon(3)
    for source, piece in (("▁la", "▁la"), (".", "."), ("▁de", "▁di"), ("▁et", "▁e")):
        assert piece in dict(lexicon.targets[source]), source
        assert source in dict(lexicon.sources[piece]), piece
    for entries in (lexicon.sources, lexicon.targets):
        assert all(0 < sum(p for _, p in row) <= 1 + 1e-6 for row in entries.values() if row)


# ---------------------------------------------------------------------- c(t, s)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", VOCABULARIES)
def test_counts_add_up(name: str, mode: str) -> None:
    tokenizer = fixed(name, mode)
    table = tokenizer.cooccurrences()
    normal = np.array([kind == PieceType.NORMAL for kind in tokenizer.vocabulary.types])
    assert (table.count > 0).all()
    assert normal[table.piece_ids].all()
    by_source = np.bincount(table.source, table.count, minlength=len(table.source_tokens))
    assert by_source == pytest.approx(table.source_count, rel=1e-3, abs=0.02)
    if mode == "default":
        assert EXAMPLES < table.source_count.sum() < CHARACTERS
    else:
        assert table.source_count.sum() == pytest.approx(ALIGNED)
    assert table.base.sum() == pytest.approx(1)
    assert ((table.base > 0) == normal).all()


def test_pieces_of_words_that_are_pieces_are_counted_whole() -> None:
    pairs = [(["le"], "il", 30), (["la"], "la", 20), ([], "il", 5)]
    vocabulary = pairpiece.train_from_pairs(pairs, 265, "unigram", min_seed_count=0)
    assert {"il", "la"} <= set(vocabulary.get_vocab())
    table = pairpiece.train_from_pairs(pairs, vocabulary=vocabulary).cooccurrences()
    counts = {
        (vocabulary.id_to_piece(piece), table.source_tokens[source]): count
        for piece, source, count in zip(table.piece_ids, table.source, table.count, strict=True)
    }
    assert counts["il", "le"] == pytest.approx(30, rel=0.02)
    assert counts["la", "la"] == pytest.approx(20, rel=0.02)
    assert counts["il", ""] == pytest.approx(5, rel=0.02)
    assert ("il", "la") not in counts


def test_pieces_that_do_not_occur_have_no_counts() -> None:
    tokenizer = fixed("sentencepiece")
    words = "|".join(word for _, word, _ in PAIRS)
    rows = np.diff(tokenizer.cooccurrences().row_begin)
    absent = [
        i
        for i, piece in enumerate(tokenizer.vocabulary.pieces)
        if tokenizer.vocabulary.types[i] == PieceType.NORMAL and piece not in words
    ]
    assert len(absent) > 10
    assert not rows[absent].any()
    assert (tokenizer.cooccurrences().base[absent] > 0).all()


def test_words_with_characters_outside_the_vocabulary_are_no_obstacle() -> None:
    rows = [*PAIRS, (["▁monde"], "▁мир", 9), (["▁chat"], "▁gatto漢字", 9), (["▁x"], "漢", 9)]
    for name in ("sentencepiece", "bytes"):
        tokenizer = pairpiece.train_from_pairs(rows, vocabulary=given(name))
        assert tokenizer.vocabulary == given(name).vocabulary
        ids = tokenizer.encode("gatto漢字 мир", source=["▁chat", "▁monde"])
        expected = "gatto漢字 мир" if name == "bytes" else "gatto ⁇   ⁇ "
        assert tokenizer.decode(ids) == expected


# ---------------------------------------------------------------------- the same again


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["sentencepiece", "bytes", "hugging face"])
def test_threads_and_order_leave_no_trace(name: str, mode: str, tmp_path: Path) -> None:
    other = pairpiece.train_from_pairs(
        PAIRS[::-1], vocabulary=given(name), mode=mode, num_threads=2
    )
    assert content_of(other, tmp_path / "b") == content_of(fixed(name, mode), tmp_path / "a")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["sentencepiece", "bytes", "hugging face"])
def test_saved_or_pickled_it_stays_the_same(name: str, mode: str, tmp_path: Path) -> None:
    tokenizer = fixed(name, mode)
    tokenizer.save(tmp_path)
    for again in (pairpiece.load(tmp_path), pickle.loads(pickle.dumps(tokenizer))):
        assert again.vocabulary == tokenizer.vocabulary
        assert again.vocabulary.summation in ("singles", "spaces")
        assert paired_ids(again) == paired_ids(tokenizer)
        assert again.lexicon() == tokenizer.lexicon()


def test_the_model_is_still_what_it_was_in_other_tools(tmp_path: Path) -> None:
    tokenizer = fixed("sentencepiece")
    texts = [target for _, target in begin_of_sample(300)]
    original = sentencepiece.SentencePieceProcessor(model_proto=of_sentencepiece())
    exported = sentencepiece.SentencePieceProcessor(model_proto=to_sentencepiece(tokenizer))
    assert exported.encode(texts) == original.encode(texts) == tokenizer.encode_batch(texts)
    tokenizer.save(tmp_path)
    fast = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert [found.ids for found in fast.encode_batch(texts)] == original.encode(texts)


def test_counts_can_be_learned_anew(tmp_path: Path) -> None:
    fixed("sentencepiece").save(tmp_path)
    again = pairpiece.train_from_pairs(PAIRS, vocabulary=pairpiece.load(tmp_path))
    assert paired_ids(again) == paired_ids(fixed("sentencepiece"))


# ---------------------------------------------------------------------- what cannot be


TEXT_OPTIONS: dict[str, Any] = {
    "normalization": "none",
    "pretokenization": "none",
    "add_dummy_prefix": True,
    "remove_extra_spaces": True,
    "byte_fallback": False,
    "unk_id": 5,
    "bos_piece": "<début>",
    "user_defined_symbols": ("<q>",),
    "control_symbols": ("<q>",),
}


@pytest.mark.parametrize("option", TEXT_OPTIONS)
def test_options_about_text_are_those_of_the_vocabulary(option: str) -> None:
    with pytest.raises(pairpiece.OptionError, match=option):
        pairpiece.train_from_pairs(
            PAIRS, vocabulary=given("sentencepiece"), **{option: TEXT_OPTIONS[option]}
        )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"vocab_size": 500}, "vocab_size cannot be set"),
        ({"start_from": ["▁il"]}, "exclude each other"),
        ({"mode": "unigram"}, "without a source side"),
        ({"source_side": "none"}, "without a source side"),
        ({"mode": "strange"}, "mode must be one of"),
    ],
    ids=str,
)
def test_what_has_no_meaning_with_a_vocabulary_is_refused(
    options: dict[str, Any], expected: str
) -> None:
    with pytest.raises(pairpiece.OptionError, match=expected):
        pairpiece.train_from_pairs(PAIRS, vocabulary=given("sentencepiece"), **options)


@pytest.mark.parametrize("what", ["it.model", Path("it.model"), 5, ["▁il"]], ids=repr)
def test_a_vocabulary_is_a_tokenizer(what: Any) -> None:
    with pytest.raises(pairpiece.OptionError, match="vocabulary"):
        pairpiece.train_from_pairs(PAIRS, vocabulary=what)


@pytest.mark.parametrize("mode", MODES)
def test_a_vocabulary_of_another_script_is_noticed(mode: str) -> None:
    with pytest.raises(pairpiece.PairError, match="is it their language"):
        pairpiece.train_from_pairs(
            [(["▁monde"], "мир", 3)], vocabulary=given("sentencepiece"), mode=mode
        )


def test_a_pretokenizer_is_not_lost_when_saving(tmp_path: Path) -> None:
    try:
        tokenizer = pairpiece.train_from_pairs(PAIRS, vocabulary=given("own"), pretokenizer=list)
    except pairpiece.OptionError:
        return
    tokenizer.save(tmp_path)
    with pytest.raises(pairpiece.OptionError, match="pretokenizer="):
        pairpiece.load(tmp_path)
    assert paired_ids(pairpiece.load(tmp_path, pretokenizer=list)) == paired_ids(tokenizer)


def test_memory_can_be_limited() -> None:
    with pytest.raises(pairpiece.MemoryLimitError):
        pairpiece.train_from_pairs(PAIRS, vocabulary=given("sentencepiece"), memory_limit=10)


# ---------------------------------------------------------------------- pieces to choose from


def longer_pieces(tokenizer: pairpiece.Tokenizer) -> set[str]:
    entries = zip(tokenizer.vocabulary.pieces, tokenizer.vocabulary.types, strict=True)
    return {piece for piece, kind in entries if kind == PieceType.NORMAL and len(piece) > 1}


@pytest.mark.parametrize("mode", [*MODES, "unigram"])
@pytest.mark.parametrize("name", ["sentencepiece", "bytes", "own"])
def test_new_pieces_are_chosen_among_the_given_ones(name: str, mode: str) -> None:
    chosen = pairpiece.train_from_pairs(PAIRS, 320, mode, start_from=given(name))
    assert chosen.vocab_size == 320
    found = longer_pieces(chosen)
    assert found
    assert found <= longer_pieces(given(name))
    assert chosen.decode(chosen.encode("Il gatto Ω")) == chosen.normalize("Il gatto Ω")
    assert chosen.options == pairpiece.train_from_pairs(PAIRS, 320, mode).options


def test_pieces_to_choose_from_may_be_a_list() -> None:
    pieces = ["▁il", " gatt", "▁mangi", "nowhere", "il", "▁il", "o"]
    for listed in (pieces, tuple(pieces), iter(pieces), dict.fromkeys(pieces)):
        found = pairpiece.train_from_pairs(PAIRS, 400, start_from=listed, hard_vocab_limit=False)
        assert longer_pieces(found) <= {"▁il", "▁gatt", "▁mangi", "il"}
        assert {"▁il", "▁gatt"} <= longer_pieces(found)


def test_all_pieces_as_a_beginning_are_none() -> None:
    words = {word for _, word, _ in PAIRS}
    every = {word[i:j] for word in words for i in range(len(word)) for j in range(i + 1, i + 17)}
    with_all = pairpiece.train_from_pairs(PAIRS, 500, start_from=sorted(every))
    assert with_all.vocabulary == pairpiece.train_from_pairs(PAIRS, 500).vocabulary


def test_the_order_of_the_given_pieces_leaves_no_trace(tmp_path: Path) -> None:
    pieces = sorted(longer_pieces(given("sentencepiece")))
    ways = [
        pairpiece.train_from_pairs(PAIRS, 320, start_from=pieces),
        pairpiece.train_from_pairs(PAIRS, 320, start_from=pieces[::-1], num_threads=2),
        pairpiece.train_from_pairs(PAIRS, 320, start_from=given("sentencepiece")),
    ]
    first, *others = (content_of(way, tmp_path / str(i)) for i, way in enumerate(ways))
    assert all(other == first for other in others)


def test_sizes_that_the_given_pieces_do_not_allow_are_refused() -> None:
    with pytest.raises(pairpiece.VocabularySizeError, match="cannot be reached"):
        pairpiece.train_from_pairs(PAIRS, 500, start_from=["▁il"])
    with pytest.raises(pairpiece.VocabularySizeError, match="cannot be reached"):
        pairpiece.train_from_pairs(PAIRS, 270, start_from=given("sentencepiece"))
    nearest = pairpiece.train_from_pairs(PAIRS, 500, start_from=["▁il"], hard_vocab_limit=False)
    assert longer_pieces(nearest) == {"▁il"}


@pytest.mark.parametrize("what", ["▁il", 5, b"il", [5], ["il", None], Path("it.model")], ids=repr)
def test_pieces_to_choose_from_are_strings(what: Any) -> None:
    with pytest.raises(pairpiece.OptionError, match="start_from"):
        pairpiece.train_from_pairs(PAIRS, 300, start_from=what)


# ---------------------------------------------------------------------- from raw text


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Text, links, and a vocabulary in all forms it may have."""
    folder = tmp_path_factory.mktemp("corpus")
    sides = dict(zip(("source", "target"), zip(*begin_of_sample(150), strict=True), strict=True))
    for name, lines in sides.items():
        (folder / name).write_text(text(*lines), encoding="utf-8")
    (folder / "links").write_text(text(*["0-0 1-1"] * 150), encoding="utf-8")
    (folder / "fr.model").write_bytes(train_sentencepiece(sides["source"], 400).content)
    (folder / "it.model").write_bytes(of_sentencepiece())
    (folder / "other.model").write_bytes(of_sentencepiece(450))
    given("sentencepiece").save(folder / "own")
    (folder / "folder").mkdir()
    for name, content in huggingface_files.files_for(given("sentencepiece")).items():
        (folder / "folder" / name).write_bytes(content)
    places = {path.name: path for path in folder.iterdir()}
    return {**places, "json": folder / "folder" / "tokenizer.json"}


def train(corpus: dict[str, Path], **options: Any) -> pairpiece.Tokenizer:
    settings = {"align": "none", "num_threads": 1, **options}
    return pairpiece.train(
        corpus["source"], corpus["target"], source_tokenizer=corpus["fr.model"], **settings
    )


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("form", ["it.model", "own", "folder", "json", "object"])
def test_a_vocabulary_may_be_a_path(form: str, corpus: dict[str, Path], tmp_path: Path) -> None:
    vocabulary = given("sentencepiece") if form == "object" else corpus[form]
    made = train(corpus, vocabulary=vocabulary, output=tmp_path / "model")
    assert made.get_vocab() == given("sentencepiece").get_vocab()
    assert made.options == given("sentencepiece").options
    assert made.vocabulary.scores == given("sentencepiece").vocabulary.scores
    again = pairpiece.load(tmp_path / "model")
    source, target = begin_of_sample(1)[0]
    ids = again.encode(target, source=source)
    assert ids == made.encode(target, source=source)
    assert again.decode(ids) == target
    assert again.encode(target) == given("sentencepiece").encode(target)


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("align", ["none", "links"])
def test_modes_and_links(mode: str, align: str, corpus: dict[str, Path]) -> None:
    how = corpus.get(align, align)
    made = train(corpus, vocabulary=corpus["it.model"], mode=mode, align=how)
    assert made.vocabulary == given("sentencepiece").vocabulary
    assert made.is_paired
    assert made.lexicon(1).targets


def test_an_interrupted_run_goes_on_with_the_same_result(
    corpus: dict[str, Path], cache: Path, tmp_path: Path
) -> None:
    vocabulary = corpus["it.model"]
    with pytest.raises(KeyboardInterrupt):
        train(corpus, vocabulary=vocabulary, reporter=Listener("learn"))
    listener = Listener()
    resumed = train(corpus, vocabulary=vocabulary, reporter=listener)
    assert listener.again == {"read", "words", "pairs"}
    fresh = train(corpus, vocabulary=vocabulary, work_dir=tmp_path / "fresh")
    again = Listener()
    repeated = train(corpus, vocabulary=vocabulary, reporter=again, num_threads=2)
    assert again.again == {"read", "words", "pairs", "learn"}
    first, *others = (
        content_of(tokenizer, tmp_path / str(i))
        for i, tokenizer in enumerate((resumed, fresh, repeated))
    )
    assert all(other == first for other in others)
    assert cache.is_dir()


@pytest.mark.usefixtures("cache")
def test_another_vocabulary_is_learned_for_anew(corpus: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "it.model"
    sizes = []
    for content in (of_sentencepiece(), of_sentencepiece(450), of_sentencepiece()):
        path.write_bytes(content)
        listener = Listener()
        made = train(corpus, vocabulary=path, reporter=listener)
        sizes.append(("learn" in listener.again, made.vocab_size))
        assert made.encode("Il gatto") == pairpiece.from_sentencepiece(content).encode("Il gatto")
    assert sizes == [(False, 500), (False, 450), (True, 500)]
    listener = Listener()
    train(corpus, vocab_size=500, reporter=listener)
    assert "learn" not in listener.again


@pytest.mark.usefixtures("cache")
def test_other_pieces_to_choose_from_are_learned_from_anew(corpus: dict[str, Path]) -> None:
    for start_from, known in (("it.model", False), ("other.model", False), ("it.model", True)):
        listener = Listener()
        made = train(corpus, vocab_size=330, start_from=corpus[start_from], reporter=listener)
        assert made.vocab_size == 330
        given_pieces = longer_pieces(pairpiece.from_sentencepiece(corpus[start_from]))
        assert longer_pieces(made) <= given_pieces
        assert ("learn" in listener.again) == known
    assert train(corpus, vocab_size=330, cache=False).vocabulary != made.vocabulary


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"vocabulary": "it.model", "vocab_size": 500}, "vocab_size cannot be set"),
        ({"vocabulary": "it.model", "start_from": "it.model"}, "exclude each other"),
        ({"vocabulary": "it.model", "mode": "unigram"}, "without a source side"),
        ({"vocabulary": "it.model", "normalization": "nfc"}, "normalization cannot be set"),
        ({"vocabulary": "it.model", "pretokenization": "none"}, "pretokenization cannot be set"),
        ({"vocabulary": 5}, "vocabulary must be"),
        ({"start_from": 5}, "start_from must be"),
        ({"start_from": [5]}, "start_from must be"),
        ({"vocabulary": "source"}, "not a SentencePiece model|without pieces"),
        ({"start_from": "links"}, "not a SentencePiece model|without pieces"),
        ({"vocabulary": "nowhere"}, "no such file"),
        ({"start_from": "nowhere"}, "no such file"),
    ],
    ids=str,
)
def test_mistakes_are_found_before_any_work(
    options: dict[str, Any], expected: str, corpus: dict[str, Path]
) -> None:
    named = {
        name: corpus.get(value, value)
        if name in ("vocabulary", "start_from") and isinstance(value, str)
        else value
        for name, value in options.items()
    }
    with pytest.raises(pairpiece.PairPieceError, match=expected):
        prepare(corpus["source"], corpus["target"], align="none", **named)


def test_the_provenance_does_not_depend_on_the_place(
    corpus: dict[str, Path], tmp_path: Path
) -> None:
    contents = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "it.model").write_bytes(of_sentencepiece())
        made = train(corpus, vocabulary=tmp_path / name / "it.model", cache=False)
        contents.append(content_of(made, tmp_path / name / "model"))
    assert contents[0] == contents[1]


# ---------------------------------------------------------------------- commands


Run = Callable[..., Ended]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], corpus: dict[str, Path], cache: Path) -> Run:
    del cache  # it is set

    def command(*options: object) -> Ended:
        sides = ("--source", corpus["source"], "--target", corpus["target"])
        quick = ("--source-tokenizer", corpus["fr.model"], "--threads", 1)
        return call(capfd, "train", *sides, *quick, *options)

    return command


@pytest.mark.parametrize(
    ("form", "align"),
    [("it.model", "none"), ("it.model", "links"), ("own", "none"), ("folder", "none")],
)
def test_the_command_keeps_a_vocabulary(
    form: str, align: str, run: Run, corpus: dict[str, Path], tmp_path: Path
) -> None:
    how = corpus.get(align, align)
    output = tmp_path / "model"
    ended = run("--vocabulary", corpus[form], "--align", how, "-o", output, "--quiet")
    assert ended == (0, "", "")
    made = pairpiece.load(output)
    assert made.get_vocab() == given("sentencepiece").get_vocab()
    settings = {"vocabulary": corpus[form], "align": how, "cache": False}
    assert content_of(train(corpus, **settings), tmp_path / "other") == {
        path.name: path.read_bytes() for path in output.iterdir()
    }


def test_the_command_says_what_it_did(run: Run, corpus: dict[str, Path], tmp_path: Path) -> None:
    ended = run("--vocabulary", corpus["it.model"], "--align", "none", "-o", tmp_path / "model")
    assert (ended.code, ended.err) == (0, "")
    assert f"Model    {tmp_path / 'model'}\n" in ended.out
    assert "500 pieces" in ended.out


def test_the_command_chooses_pieces(run: Run, corpus: dict[str, Path], tmp_path: Path) -> None:
    options = ["--start-from", corpus["it.model"], "--vocab-size", 330, "--align", "none"]
    assert run(*options, "-o", tmp_path / "model", "--quiet") == (0, "", "")
    made = pairpiece.load(tmp_path / "model")
    assert made.vocab_size == 330
    assert longer_pieces(made) <= longer_pieces(given("sentencepiece"))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--vocabulary", "it.model", "--vocab-size", 500], "--vocab-size cannot be set"),
        (["--vocabulary", "it.model", "--start-from", "it.model"], "exclude each other"),
        (["--vocabulary", "it.model", "--mode", "unigram"], "without a source side"),
        (
            ["--vocabulary", "it.model", "--set", "byte_fallback=true"],
            "--set byte_fallback cannot be set",
        ),
        (["--vocabulary", "links"], "not a SentencePiece model"),
        (["--vocabulary", "nowhere"], "nowhere: there is no such file"),
        (["--start-from", "nowhere.json"], "nowhere.json: there is no such file"),
        (["--set", "vocabulary=x"], "--vocabulary"),
        (["--set", "start_from=x"], "--start-from"),
    ],
    ids=str,
)
def test_the_command_explains_mistakes(
    options: list[Any], expected: str, run: Run, corpus: dict[str, Path], tmp_path: Path
) -> None:
    named = [corpus.get(option, option) for option in options]
    assert expected in complaint(run(*named, "--align", "none", "-o", tmp_path / "model"))
    assert not (tmp_path / "model").exists()


def test_a_fixed_vocabulary_is_not_cut_down(corpus: dict[str, Path]) -> None:
    job = prepare(
        corpus["source"],
        corpus["target"],
        align="none",
        vocabulary=corpus["it.model"],
        source_tokenizer=corpus["fr.model"],
    )
    finished = pipeline.run(job, cache=False)
    assert finished["learn"].details == {"vocab_size": 500}
