"""From raw parallel text to a tokenizer: whole runs, and what is used again of earlier ones."""

from __future__ import annotations

import gzip
import itertools
import json
import random
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.listener import STAGES, Listener

import pairpiece
from pairpiece.learning.pairs import Pairs
from pairpiece.links.eflomal import TRAINING_LENGTH
from pairpiece.run import pipeline
from pairpiece.run.job import prepare

pytestmark = pytest.mark.usefixtures("no_fsync", "cache")

DICTIONARY = {
    "le": "il", "chat": "gatto", "chats": "gatti", "chien": "cane", "chiens": "cani",
    "mange": "mangia", "mangent": "mangiano", "petit": "piccolo", "petits": "piccoli",
    "souris": "topo", "voit": "vede", "dort": "dorme", "grand": "grande", "livre": "libro",
}  # fmt: skip


def sentences(size: int = 120) -> list[tuple[str, str]]:
    draw = random.Random(3)
    chosen = [draw.choices(sorted(DICTIONARY), k=draw.randint(3, 8)) for _ in range(size)]
    return [
        (" ".join(words) + ".", " ".join(DICTIONARY[w] for w in words) + ".") for words in chosen
    ]


SENTENCES = sentences()
LINKS = [" ".join(f"{i}-{i}" for i in range(len(s.split()) + 1)) for s, _ in SENTENCES]
SIZE = 310


def write(path: Path, lines: Iterable[str]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> dict[str, Path]:
    """The arguments for a corpus of two files."""
    return {
        name: write(tmp_path / f"text.{name}", (pair[side] for pair in SENTENCES))
        for side, name in enumerate(("source", "target"))
    }


@pytest.fixture
def links(tmp_path: Path) -> Path:
    return write(tmp_path / "links", LINKS)


def run(
    *, work_dir: Path | None = None, reporter: Any = None, **arguments: Any
) -> pipeline.FinishedRun:
    job = prepare(**{"vocab_size": SIZE, "align": "none", "num_threads": 1, **arguments})
    return pipeline.run(job, work_dir=work_dir, reporter=reporter or Listener())


def contents(tokenizer: pairpiece.Tokenizer) -> dict[str, bytes]:
    """The files of a model."""
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save(folder)
        files = (path for path in Path(folder).rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def behaviour(tokenizer: pairpiece.Tokenizer) -> list[Any]:
    raw, text = SENTENCES[0]
    return [tokenizer.get_vocab(), tokenizer.encode(text, source=raw), tokenizer.lexicon()]


# ---------------------------------------------------------------------- whole runs


def test_files_tsv_and_sentences_in_memory_are_the_same_text(
    corpus: dict[str, Path], tmp_path: Path
) -> None:
    tsv = write(tmp_path / "text.tsv", map("\t".join, SENTENCES))
    compressed = tmp_path / "text.tsv.gz"
    compressed.write_bytes(gzip.compress(tsv.read_bytes()))
    forms: list[dict[str, Any]] = [
        dict(corpus),
        {"source": [str(corpus["source"])], "target": [str(corpus["target"])]},
        {"corpus": tsv},
        {"corpus": compressed},
        {"corpus": SENTENCES},
        {"corpus": iter(SENTENCES)},
    ]
    how: Any = {"vocab_size": SIZE, "align": "none", "num_threads": 1}
    found = [
        behaviour(pairpiece.train(**form, **how, work_dir=tmp_path / str(i)))
        for i, form in enumerate(forms)
    ]
    assert len(found[0][0]) == SIZE
    assert all(other == found[0] for other in found)


@pytest.mark.parametrize("mode", ["default", "paper", "paper-hard", "unigram"])
@pytest.mark.parametrize("align", ["none", "eflomal"])
def test_every_mode_gives_a_tokenizer_of_its_kind(mode: str, align: str) -> None:
    tokenizer = run(corpus=SENTENCES, mode=mode, align=align).tokenizer
    assert tokenizer.vocab_size == SIZE
    assert tokenizer.provenance["mode"] == mode
    assert tokenizer.is_paired == (mode != "unigram")
    raw, text = SENTENCES[0]
    paired = tokenizer.encode(text, source=raw) if tokenizer.is_paired else []
    for ids in filter(None, [tokenizer.encode(text), paired]):
        assert tokenizer.decode(ids) == tokenizer.normalize(text)


def test_words_are_learned_with_the_words_they_are_linked_to() -> None:
    found = run(corpus=SENTENCES, align="eflomal", vocab_size=340)
    assert list(found.tokenizer.align("le chat dort", "il gatto dorme").links) != []
    likeliest = found.tokenizer.lexicon(1).targets
    assert likeliest["▁voit"][0][0] == "▁vede"
    assert found["align"].details["repeatable"] is True


@pytest.mark.parametrize("mode", ["default", "paper", "paper-hard", "unigram"])
def test_no_piece_has_a_digit_beside_anything_else_if_digits_are_split(mode: str) -> None:
    years = [(f"en {year} il dort", f"nel {year} dorme") for year in range(1990, 2030)] * 3
    for split in (False, True):
        found = run(
            corpus=[*SENTENCES, *years], mode=mode, split_digits=split, hard_vocab_limit=False
        )
        learned = found.tokenizer.vocabulary.normal()
        longer = [piece for piece in learned if len(piece) > 1 and re.search(r"\d", piece)]
        assert (longer == []) == split
    source = None if mode == "unigram" else "en 2024 il dort"
    pieces = found.tokenizer.encode("nel 2024 dorme", source=source, out_type=str)
    begin = pieces.index("2") - 1
    assert pieces[begin : begin + 5] == ["▁", "2", "0", "2", "4"]


def test_the_model_at_the_output_is_the_one_that_is_returned(tmp_path: Path) -> None:
    output = tmp_path / "model"
    returned = pairpiece.train(corpus=SENTENCES, vocab_size=SIZE, align="none", output=output)
    assert contents(pairpiece.load(output)) == contents(returned)
    assert behaviour(pairpiece.load(output)) == behaviour(returned)


def test_without_a_cache_nothing_is_left_and_the_tokenizer_works(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    arguments: Any = {"corpus": SENTENCES, "vocab_size": SIZE, "align": "none"}
    found = pairpiece.train(**arguments, cache=False)
    assert not cache.exists()
    assert list(temporary.iterdir()) == []
    assert behaviour(found) == behaviour(pairpiece.train(**arguments))
    assert cache.is_dir()


def test_the_model_does_not_depend_on_threads_or_on_how_the_run_went(
    corpus: dict[str, Path], tmp_path: Path
) -> None:
    arguments: dict[str, Any] = {**corpus, "align": "eflomal", "keep_priors": True}
    expected = contents(run(**arguments, work_dir=tmp_path / "one").tokenizer)
    two = run(**arguments, work_dir=tmp_path / "two", num_threads=2)
    assert contents(two.tokenizer) == expected
    again = run(**arguments, work_dir=tmp_path / "one")
    assert all(result.reused for result in again.stages)
    assert contents(again.tokenizer) == expected


def test_lone_surrogates_become_replacement_characters() -> None:
    found = run(corpus=[*SENTENCES, ("le \ud800", "il \udfff")])
    for side, text in (("source", "le \ufffd"), ("target", "il \ufffd")):
        lines = (found["read"].folder / f"{side}.txt").read_text(encoding="utf-8").splitlines()
        assert lines[-1] == text


# ---------------------------------------------------------------------- Pharaoh files


def coded(number: int) -> str:
    """A word of its own for each number."""
    return "".join(chr(ord("a") + digit) for digit in divmod(number, 26))


def linked_rows(found: pipeline.FinishedRun) -> list[tuple[str, str]]:
    """(source tokens, target word) of all pairs that a run has learned from."""
    pairs = Pairs.load(found["pairs"].folder / "pairs.safetensors")
    return sorted(
        (" ".join(pairs.source_tokens[i] for i in ids), word.strip("▁"))
        for word, ids, _, _ in pairs.rows()
    )


@pytest.mark.parametrize("max_lines", [None, 1, 10])
def test_links_stay_in_step_with_the_pairs_that_are_used(
    max_lines: int | None, tmp_path: Path
) -> None:
    texts, lines = [], []
    for number in range(60):
        words = (
            [f"s{coded(number)}", f"s{coded(number)}x"],
            [f"t{coded(number)}", f"t{coded(number)}x"],
        )
        crossed = number % 3 == 0  # the links of other lines would not do
        texts.append((" ".join(words[0]), " ".join(words[1][::-1] if crossed else words[1])))
        lines.append("0-1 1-0" if crossed else "0-0 1-1")
        if number % 4 == 0:  # pairs that the checks leave out
            texts.append([("", "b"), ("a", " "), ("a", "b " * 500)][number % 3])
            lines.append("0-0" if number % 3 else "")
    found = run(
        corpus=texts,
        align=write(tmp_path / "links", lines),
        source_tokenizer="pretokenized",
        max_lines=max_lines,
        hard_vocab_limit=False,
    )
    rows = linked_rows(found)
    assert len(rows) == 2 * (max_lines or 60)
    assert all(source[1:] == target[1:] for source, target in rows)


def test_links_may_be_between_what_stands_between_spaces(tmp_path: Path) -> None:
    sentences = [("c'est le chat", "è il gatto"), ("le chat dort", "il gatto dorme")] * 40
    by_spaces = write(tmp_path / "spaces", ["0-0 1-1 2-2"] * 80)
    by_words = write(tmp_path / "words", ["0-0 1-0 2-0 3-1 4-2", "0-0 1-1 2-2"] * 40)
    bad = write(tmp_path / "bad", ["3-0"] * 80)
    spaces = run(corpus=sentences, align=by_spaces, links_between="spaces", hard_vocab_limit=False)
    words = run(corpus=sentences, align=by_words, hard_vocab_limit=False)
    assert spaces["pairs"].content == words["pairs"].content
    with pytest.raises(pairpiece.AlignerError, match=r"bad:1: a link lies outside.*between spaces"):
        run(corpus=sentences, align=bad, links_between="spaces")
    with pytest.raises(pairpiece.OptionError, match="links_between must be one of words, spaces"):
        run(corpus=sentences, align=by_words, links_between="tokens")


def test_links_may_be_repeated_and_in_any_order(tmp_path: Path) -> None:
    shuffled = [" ".join(reversed(line.split() + line.split()[:2])) for line in LINKS]
    assert shuffled != LINKS
    models = [
        contents(run(corpus=SENTENCES, align=write(tmp_path / name, lines)).tokenizer)
        for name, lines in (("plain", LINKS), ("shuffled", shuffled))
    ]
    assert models[0] == models[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lines": LINKS[:-1]}, r"links: 119 lines of links for 120 sentence pairs"),
        ({"lines": [*LINKS, ""]}, r"links: 121 lines of links for 120 sentence pairs"),
        ({7: "0-0 99-0"}, r"links:8: a link lies outside"),
        ({7: "0-0 0-99"}, r"links:8: a link lies outside"),
        ({7: "0-0 1:1"}, r"links:8: '1:1' is not a link"),
        ({7: "0-99999999999"}, r"links:8: there is no word number 99999999999"),
    ],
)
def test_an_unfit_pharaoh_file_is_refused_with_its_place(
    change: dict[Any, Any], message: str, tmp_path: Path
) -> None:
    lines = change.get("lines") or [change.get(number, line) for number, line in enumerate(LINKS)]
    with pytest.raises(pairpiece.AlignerError, match=message):
        run(corpus=SENTENCES, align=write(tmp_path / "links", lines))


def test_the_number_of_links_is_checked_when_an_earlier_result_would_do(
    links: Path, tmp_path: Path
) -> None:
    run(corpus=SENTENCES, align=links, work_dir=tmp_path)
    with pytest.raises(pairpiece.AlignerError, match="120 lines of links for 121"):
        run(corpus=[*SENTENCES, ("", "")], align=links, work_dir=tmp_path)


# ---------------------------------------------------------------------- findings

FLAWED = [*SENTENCES, SENTENCES[0], ("vide", " "), ("court", "b " * 400)]


def test_what_is_wrong_with_the_text_is_told_also_when_it_is_not_read_again(
    tmp_path: Path,
) -> None:
    tsv = write(tmp_path / "text.tsv", map("\t".join, FLAWED))
    first, second = Listener(), Listener()
    found = run(corpus=tsv, reporter=first)
    run(corpus=tsv, reporter=second)
    assert second.reused["read"]
    for listener in (first, second):
        assert len([w for w in listener.warnings if "text.tsv:122" in w and "empty" in w]) == 1
        assert len([w for w in listener.warnings if "text.tsv:123" in w and "lengths" in w]) == 1
    findings = found.tokenizer.provenance["corpus"]["findings"]
    assert findings["empty"] == findings["ratio"] == 1
    assert findings["duplicate"] >= 1


@pytest.mark.parametrize("before", [False, True])
def test_strict_turns_a_finding_into_an_error(before: bool, tmp_path: Path) -> None:
    tsv = write(tmp_path / "text.tsv", map("\t".join, [("a", "b"), ("c", "")]))
    if before:
        with pytest.raises(pairpiece.VocabularySizeError):
            run(corpus=tsv, vocab_size=9000)
    with pytest.raises(pairpiece.CorpusError, match=r"empty side.*text\.tsv:2.*strict"):
        run(corpus=tsv, strict=True)


def test_strict_does_not_mind_good_text() -> None:
    distinct = list(dict.fromkeys(SENTENCES))
    assert run(corpus=distinct, strict=True).tokenizer.vocab_size == SIZE


# ---------------------------------------------------------------------- used again


def test_another_vocabulary_size_costs_only_the_learning(corpus: dict[str, Path]) -> None:
    arguments: dict[str, Any] = {**corpus, "align": "eflomal", "source_vocab_size": 300}
    run(**arguments)
    listener = Listener()
    assert run(**arguments, vocab_size=300, reporter=listener).tokenizer.vocab_size == 300
    made = {stage for stage, reused in listener.reused.items() if not reused}
    assert made == {"learn"}
    assert listener.reused.keys() == {*STAGES}


def test_a_size_that_cannot_be_reached_does_not_waste_the_alignment(
    corpus: dict[str, Path],
) -> None:
    with pytest.raises(pairpiece.VocabularySizeError, match="9000"):
        run(**corpus, align="eflomal", vocab_size=9000)
    listener = Listener()
    assert run(**corpus, align="eflomal", reporter=listener).tokenizer.vocab_size == SIZE
    assert listener.reused["read"]
    assert listener.reused["align"]
    assert not listener.reused["learn"]


def test_a_run_that_is_interrupted_at_every_stage_goes_on_where_it_was(
    corpus: dict[str, Path], tmp_path: Path
) -> None:
    arguments: dict[str, Any] = {**corpus, "align": "eflomal", "balance": 1.1}
    stages = [*STAGES, "calibrate"]
    for number, stage in enumerate(stages):
        listener = Listener(interrupt_at=stage)
        with pytest.raises(KeyboardInterrupt):
            run(**arguments, reporter=listener)
        made = stages[number - 1] if number else None
        assert listener.reused == {name: name != made for name in stages[:number]}
    resumed = run(**arguments)
    assert [result.stage for result in resumed.stages if not result.reused] == ["calibrate"]
    at_once = run(**arguments, work_dir=tmp_path / "at once")
    assert contents(resumed.tokenizer) == contents(at_once.tokenizer)


@pytest.mark.parametrize(
    ("change", "made", "kept"),
    [
        ({"max_lines": 100}, "read", set()),
        ({"source_vocab_size": 290}, "source", {"read", "words", "align"}),
        ({"seed": 1}, "align", {"read", "source", "words"}),
        ({"samplers": 2}, "align", {"read", "source", "words"}),
        ({"aligner_length": 1.0}, "align", {"read", "source", "words"}),
        ({"symmetrization": "union"}, "pairs", {"read", "source", "words", "align"}),
        ({"smoothing": 2.0}, "learn", {"read", "source", "words", "align", "pairs"}),
    ],
)
def test_a_change_makes_only_what_depends_on_it(
    change: dict[str, Any], made: str, kept: set[str], corpus: dict[str, Path]
) -> None:
    run(**corpus, align="eflomal")
    listener = Listener()
    run(**corpus, align="eflomal", **change, reporter=listener)
    assert listener.again >= kept
    assert not listener.reused[made]


def test_text_that_has_changed_is_read_again(corpus: dict[str, Path]) -> None:
    run(**corpus)
    write(corpus["target"], (target.replace("gatto", "micio") for _, target in SENTENCES))
    found = run(**corpus)
    assert not found["read"].reused
    assert any("mici" in piece for piece in found.tokenizer.get_vocab())


# ---------------------------------------------------------------------- what a model says


def names_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from names_in(inner)
    elif isinstance(value, list):
        yield from itertools.chain.from_iterable(map(names_in, value))


def test_provenance_has_facts_but_neither_paths_nor_times(
    corpus: dict[str, Path], tmp_path: Path
) -> None:
    provenance = run(**corpus, align="eflomal").tokenizer.provenance
    assert provenance["corpus"]["used"] == provenance["corpus"]["read"] == len(SENTENCES)
    assert [file["name"] for file in provenance["corpus"]["files"]] == [
        "text.source",
        "text.target",
    ]
    assert all(len(file["sha256"]) == 64 for file in provenance["corpus"]["files"])
    assert provenance["source_tokenizer"]["trained"] is True
    assert provenance["source_tokenizer"]["is"].startswith("sentencepiece:")
    alignment = provenance["alignment"]
    assert (alignment["aligner"], alignment["seed"], alignment["samplers"]) == ("eflomal", 0, 1)
    assert alignment["length"] == TRAINING_LENGTH
    assert 0 < alignment["linked_words"] <= alignment["target_words"]
    assert str(tmp_path) not in json.dumps(provenance)
    assert not {"seconds", "peak_bytes", "time", "date"} & set(names_in(provenance))


@pytest.mark.parametrize(
    ("arguments", "aligner", "trained"),
    [
        ({}, "none", True),
        ({"source_tokenizer": "pretokenized"}, "none", False),
        ({"mode": "unigram"}, "none", False),
        ({"align": "links"}, "pharaoh", True),
    ],
)
def test_provenance_says_which_source_tokenizer_and_which_links(
    arguments: dict[str, Any], aligner: str, trained: bool, links: Path
) -> None:
    if "align" in arguments:
        arguments = {**arguments, "align": links}
    provenance = run(corpus=SENTENCES, **arguments).tokenizer.provenance
    assert provenance["alignment"]["aligner"] == aligner
    assert provenance["source_tokenizer"]["trained"] is trained


@pytest.mark.parametrize("before", [False, True])
def test_priors_are_kept_in_the_model(before: bool, tmp_path: Path) -> None:
    if before:
        assert run(corpus=SENTENCES, align="eflomal").tokenizer.priors is None
    found = run(corpus=SENTENCES, align="eflomal", keep_priors=True).tokenizer
    assert found.priors is not None
    assert "LEX\t" in gzip.decompress(found.priors).decode()
    found.save(tmp_path / "model")
    assert pairpiece.load(tmp_path / "model").priors == found.priors


@pytest.mark.parametrize("wish", [290, 100_000])
def test_the_source_vocabulary_is_as_large_as_wished_or_smaller(wish: int) -> None:
    found = run(corpus=SENTENCES, source_vocab_size=wish)
    size = found["source"].details["vocab_size"]
    assert 256 < size <= wish
    assert (size == wish) == (wish == 290)


def test_a_source_vocabulary_that_is_too_small_is_refused_with_advice() -> None:
    with pytest.raises(pairpiece.OptionError, match=r"tokenizer of 5 .*source_vocab_size"):
        run(corpus=SENTENCES, source_vocab_size=5)


def test_a_function_may_be_the_source_tokenizer() -> None:
    found = run(corpus=SENTENCES, source_tokenizer=str.split, align="eflomal").tokenizer
    assert found.source_tokenizer == str.split
    raw, text = SENTENCES[0]
    assert found.encode(text, source=raw) == found.encode(text, source=raw.split())


# ---------------------------------------------------------------------- bad arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"vocab_sise": 300}, "did you mean vocab_size"),
        ({"smothing": 1.0}, "did you mean smoothing"),
        ({"symmetrization": "grow"}, "symmetrization must be one of grow-diag-final-and"),
        ({"align": "nowhere.links"}, "nowhere.links: there is no such Pharaoh file"),
        ({"vocab_size": 0}, "vocab_size"),
        ({"vocab_size": 300.0}, "vocab_size"),
        ({"source_vocab_size": -1}, "source_vocab_size"),
        ({"max_lines": 0}, "max_lines"),
        ({"max_lines": True}, "max_lines"),
        ({"num_threads": 0}, "num_threads"),
        ({"seed": "0"}, "seed"),
        ({"samplers": 0}, "samplers"),
        ({"aligner_length": 0}, "aligner_length"),
        ({"mode": "fast"}, "mode must be one of"),
        ({"format": "docx"}, "format must be one of"),
        ({"keep_priors": True}, "keep_priors needs Eflomal"),
        ({"pretokenization": "custom"}, "train_from_pairs"),
        ({"source_tokenizer": "nowhere.model"}, "nowhere.model: there is no such file"),
        ({"source_tokenizer": 5}, "source tokenizer"),
        ({"source": "a.txt"}, "not both"),
    ],
)
def test_bad_arguments_are_refused_before_any_work(
    arguments: dict[str, Any], message: str, cache: Path
) -> None:
    def unread() -> Iterator[tuple[str, str]]:
        yield pytest.fail("work was done")

    with pytest.raises(pairpiece.PairPieceError) as caught:
        pairpiece.train(**{"corpus": unread(), "align": "none", **arguments})
    assert message in str(caught.value)
    assert not cache.exists()


def test_there_has_to_be_text() -> None:
    with pytest.raises(pairpiece.OptionError, match="nothing to read"):
        pairpiece.train()
    with pytest.raises(pairpiece.CorpusError, match="no sentence pairs"):
        run(corpus=[("", "a"), ("b", "")])
