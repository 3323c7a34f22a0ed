"""A tokenizer that is given by path or as an object is found by one rule, whatever it is for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import peers
from support.french_italian import SENTENCES
from tokenizers import decoders

import pairpiece
from pairpiece.evaluation.systems import systems_of
from pairpiece.foreign.huggingface import HuggingFaceTokenizer
from pairpiece.foreign.protocol import SubwordTokenizer, digest_of, flat
from pairpiece.foreign.sentencepiece import SentencePieceTokenizer
from pairpiece.model.opening import as_tokenizer, open_tokenizer
from pairpiece.run.job import prepare

pytestmark = pytest.mark.usefixtures("no_fsync")

TARGETS = [target for _, target, _ in SENTENCES]
PAIRS = [(" ".join(map("".join, source)), target) for source, target, _ in SENTENCES]


def sentencepiece() -> bytes:
    return peers.sentencepiece_model(TARGETS, 320, byte_fallback=True)


def of_tokenizer_json(folder: Path) -> Path:
    peers.unigram(TARGETS, 320, decoder=decoders.Metaspace()).save(str(folder / "tokenizer.json"))
    return folder


def of_model_file(folder: Path) -> Path:
    (folder / "it.model").write_bytes(sentencepiece())
    return folder / "it.model"


def of_folder_with_a_model(folder: Path) -> Path:
    return of_model_file(folder).parent


def of_pairpiece(folder: Path) -> Path:
    pairpiece.from_sentencepiece(sentencepiece()).save(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    return folder


PLACES = [of_tokenizer_json, of_model_file, of_folder_with_a_model, of_pairpiece]

USES: dict[str, Callable[[Any], Any]] = {
    "source_tokenizer": lambda path: prepare(corpus=PAIRS, align="none", source_tokenizer=path),
    "vocabulary": lambda path: prepare(corpus=PAIRS, align="none", vocabulary=path),
    "start_from": lambda path: prepare(corpus=PAIRS, align="none", start_from=path),
    "tokenizer": lambda path: systems_of(str(path)),
    "reference": lambda path: pairpiece.train_from_pairs(
        [([], target) for target in TARGETS], 300, "unigram", hard_vocab_limit=False
    ).calibrate(TARGETS[:20], reference=path),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_a_place_is_good_for_every_use(
    place: Callable[[Path], Path], use: str, tmp_path: Path
) -> None:
    assert USES[use](place(tmp_path)) is not None


@pytest.mark.parametrize("use", USES)
def test_what_is_not_there_is_refused_alike(use: str, tmp_path: Path) -> None:
    own = use in ("vocabulary", "start_from")  # as from_sentencepiece and from_huggingface
    kind = pairpiece.ModelFormatError if own else pairpiece.OptionError
    with pytest.raises(kind, match=r"nowhere: there is no such file"):
        USES[use](tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(kind, match=r"empty: there is no tokenizer\.json in it"):
        USES[use](tmp_path / "empty")


def test_a_reference_by_path_counts_as_the_object_does(
    tokenizer: pairpiece.Tokenizer, tmp_path: Path
) -> None:
    path = of_model_file(tmp_path)
    other = pairpiece.from_sentencepiece(path)
    found = [tokenizer.calibrate(TARGETS, reference=r) for r in (path, other, open_tokenizer(path))]
    wanted = sum(map(len, other.encode_batch(TARGETS)))
    assert [one.provenance["calibration"]["wanted"] for one in found] == [wanted] * 3


def tokenizers(folder: Path) -> dict[str, SubwordTokenizer]:
    return {
        "pairpiece": pairpiece.from_sentencepiece(sentencepiece()),
        "sentencepiece": SentencePieceTokenizer(sentencepiece()),
        "huggingface": HuggingFaceTokenizer(
            (of_tokenizer_json(folder) / "tokenizer.json").read_bytes()
        ),
        "pretokenized": open_tokenizer("pretokenized"),
        "callable": as_tokenizer(str.split),
    }


KINDS = ["pairpiece", "sentencepiece", "huggingface", "pretokenized", "callable"]


@pytest.mark.parametrize("kind", KINDS)
def test_all_tokenizers_answer_the_same_questions(kind: str, tmp_path: Path) -> None:
    tokenizer = tokenizers(tmp_path)[kind]
    assert tokenizer.kind == kind
    [tokens] = tokenizer.tokenize_batch(["Il gatto"])
    assert tokens == flat(tokenizer, "Il gatto")
    assert "".join(tokens).replace("▁", "") == "Ilgatto"
    digest = digest_of(tokenizer)
    assert digest is None if kind == "callable" else digest and digest.startswith(f"{kind}:")
    if kind in ("pretokenized", "callable"):
        for refused in (tokenizer.token_list, tokenizer.unigram, lambda: flat_back(tokenizer)):
            with pytest.raises(pairpiece.OptionError, match=kind):
                refused()
        return
    assert set(tokens) <= set(tokenizer.token_list())
    assert tokenizer.unknown in tokenizer.token_list()
    assert flat_back(tokenizer) == "Il gatto"
    assert tokenizer.unigram().vocabulary.pieces == tokenizer.token_list()


def flat_back(tokenizer: SubwordTokenizer) -> str:
    return tokenizer.detokenize_batch(tokenizer.tokenize_batch(["Il gatto"]))[0].strip()


def test_a_digest_is_that_of_the_saved_model(
    tokenizer: pairpiece.Tokenizer, tmp_path: Path
) -> None:
    tokenizer.save(tmp_path / "model")
    assert pairpiece.load(tmp_path / "model").digest == tokenizer.digest
    assert tokenizer._replaced(seed=5).digest != tokenizer.digest


def test_a_source_tokenizer_can_be_given_again_by_path(
    tokenizer: pairpiece.Tokenizer, tmp_path: Path
) -> None:
    tokenizer.save(tmp_path / "model")
    path = of_model_file(tmp_path)
    loaded = pairpiece.load(tmp_path / "model", source_tokenizer=path)
    assert loaded.source_words("Il gatto") == open_tokenizer(path).tokens_by_word("Il gatto")


def test_an_opened_tokenizer_can_be_measured(tmp_path: Path) -> None:
    opened = open_tokenizer(of_model_file(tmp_path))
    [by_object], [by_path] = systems_of(opened), systems_of(tmp_path / "it.model")
    assert by_object.digest == by_path.digest
    assert by_object.name == "sentencepiece"


def test_what_is_no_tokenizer_is_refused(tokenizer: pairpiece.Tokenizer) -> None:
    for wrong in (1.5, [], None):
        with pytest.raises(pairpiece.OptionError, match="reference must be a tokenizer"):
            tokenizer.calibrate(TARGETS[:5], reference=wrong)  # type: ignore[arg-type]

    for wrong in (7, [], None):
        with pytest.raises(pairpiece.OptionError, match="tokenizer is a path or a function"):
            open_tokenizer(wrong)
