"""What is saved comes back the same, and a save that fails harms nothing."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.french_italian import PAIRS, SENTENCES, TARGETS
from support.tampering import manifest_of, write_manifest

import pairpiece
from pairpiece import files
from pairpiece.model import switching

SOURCES = [source for source, _, _ in SENTENCES]
TEXTS = [*TARGETS, "", " ", "Ω≠☃ ﬁ e\u0301", "mangiàvano\ttopi"]


@pytest.fixture(scope="module")
def french() -> pairpiece.Tokenizer:
    words = [(["x"], "".join(source), count) for source, _, count in PAIRS if source]
    return pairpiece.train_from_pairs(words, 420, "unigram", seed=5)


@pytest.fixture(scope="module")
def full(pairs: pairpiece.Pairs, french: pairpiece.Tokenizer) -> pairpiece.Tokenizer:
    """A tokenizer with all that a model can have."""
    trained = pairpiece.train_from_pairs(
        pairs,
        600,
        seed=2**70 + 1,
        smoothing=1.5,
        pad_id=-1,
        bos_piece="<début>",
        user_defined_symbols=("<sep>", "[MASK]"),
        source_tokenizer=french,
    )
    return trained.distill_bigram(TARGETS, SOURCES)


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def behaviour(tokenizer: pairpiece.Tokenizer) -> list[Any]:
    """Everything that can be seen of a tokenizer without raw source text."""
    seen: list[Any] = [
        tokenizer.get_vocab(),
        tokenizer.options,
        tokenizer.provenance,
        tokenizer.has_bigram,
        tokenizer.is_paired,
        [tokenizer.score(i) for i in range(len(tokenizer))],
        tokenizer.encode_batch(TEXTS),
        tokenizer.encode_batch(TEXTS, out_type=str),
        tokenizer.encode_batch(TEXTS, out_type=pairpiece.Encoding),
        [tokenizer.nbest(text, 5) for text in TEXTS],
        [tokenizer.sample(text) for text in TEXTS],  # starts from the saved seed
        [tokenizer.sample(text, seed=3) for text in TEXTS],
    ]
    if tokenizer.has_bigram:
        seen.append(tokenizer.encode_batch(TEXTS, model="bigram"))
    if tokenizer.is_paired:
        links = [  # those between words that there are in every kind of pre-tokenization
            [link for link in links if link[1] < len(tokenizer.words(target))]
            for _, target, links in SENTENCES
        ]
        seen += [
            tokenizer.encode_batch(TARGETS, SOURCES, out_type=pairpiece.Encoding),
            tokenizer.encode_batch(TARGETS, SOURCES, alignments=links, out_type=pairpiece.Encoding),
            tokenizer.encode_batch(TARGETS, SOURCES, whole_sentence=True),
            [
                tokenizer.nbest(target, 5, source=source, alignment=alignment)
                for source, target, alignment in zip(SOURCES, TARGETS, links, strict=True)
            ],
            [tokenizer.align(source, target) for source, target, _ in SENTENCES],
            tokenizer.lexicon(3),
        ]
    return seen


# ---------------------------------------------------------------------- the same again


@pytest.mark.parametrize("mode", ["default", "paper", "paper-hard", "unigram"])
def test_a_loaded_model_behaves_like_the_saved_one(
    pairs: pairpiece.Pairs, mode: str, tmp_path: Path
) -> None:
    trained = pairpiece.train_from_pairs(pairs, 500, mode, seed=11)
    trained.save(tmp_path)
    assert behaviour(pairpiece.load(tmp_path)) == behaviour(trained)


def test_a_model_with_every_part_behaves_like_the_saved_one(
    full: pairpiece.Tokenizer, tmp_path: Path
) -> None:
    full.save(tmp_path)
    loaded = pairpiece.load(tmp_path)
    assert behaviour(loaded) == behaviour(full)
    raw = "Le chat mange la souris."
    assert loaded.encode(TEXTS[0], source=raw) == full.encode(TEXTS[0], source=raw)
    assert loaded.align(raw, TEXTS[0]) == full.align(raw, TEXTS[0])


@pytest.mark.parametrize("normalization", ["nfkc", "nfc", "none"])
@pytest.mark.parametrize("pretokenization", ["lossless", "none"])
def test_text_options_survive(
    pairs: pairpiece.Pairs, normalization: str, pretokenization: str, tmp_path: Path
) -> None:
    trained = pairpiece.train_from_pairs(
        pairs,
        200,
        normalization=normalization,
        pretokenization=pretokenization,
        byte_fallback=False,
        add_dummy_prefix=True,
        unk_id=7,
        split_digits=True,
    )
    trained.save(tmp_path)
    loaded = pairpiece.load(tmp_path)
    assert loaded.options == trained.options
    assert behaviour(loaded) == behaviour(trained)


def test_a_model_from_before_there_was_split_digits_does_not_split_them(
    tokenizer: pairpiece.Tokenizer, tmp_path: Path
) -> None:
    tokenizer.save(tmp_path)
    manifest = manifest_of(tmp_path)
    assert manifest["text"].pop("split_digits") is False
    write_manifest(tmp_path, manifest)
    loaded = pairpiece.load(tmp_path)
    assert loaded.options == tokenizer.options
    assert loaded.words("nel 2024") == ["nel", "▁2024"]


def test_provenance_says_what_the_model_was_trained_with(
    full: pairpiece.Tokenizer, tmp_path: Path
) -> None:
    full.save(tmp_path)
    provenance = pairpiece.load(tmp_path).provenance
    assert provenance["mode"] == "default"
    assert provenance["learning"]["smoothing"] == 1.5
    assert provenance["examples"] == sum(count for _, _, count in PAIRS)


def test_length_penalties_in_the_options_can_be_saved(
    pairs: pairpiece.Pairs, tmp_path: Path
) -> None:
    penalty = pairpiece.LengthPenalty(over=1.0, under=2.0)
    trained = pairpiece.train_from_pairs(pairs, 500, length_penalty=penalty)
    trained.save(tmp_path)
    assert behaviour(pairpiece.load(tmp_path)) == behaviour(trained)


def test_a_loaded_model_can_be_saved_pickled_and_distilled(
    full: pairpiece.Tokenizer, tmp_path: Path
) -> None:
    full.save(tmp_path / "one")
    pairpiece.load(tmp_path / "one").save(tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    again = pickle.loads(pickle.dumps(pairpiece.load(tmp_path / "one")))
    assert behaviour(again) == behaviour(full)
    distilled = pairpiece.load(tmp_path / "one").distill_bigram(TARGETS, SOURCES)
    assert behaviour(distilled) == behaviour(full)


def test_source_tokens_of_any_kind_survive(tmp_path: Path) -> None:
    odd = ["\ud800", "a\0b", "\n", "▁", " ", "𝔘", '"\\']
    trained = pairpiece.train_from_pairs(
        [([token], f"parola{i}", 3) for i, token in enumerate(odd)], 300
    )
    trained.save(tmp_path)
    assert pairpiece.load(tmp_path).lexicon() == trained.lexicon()


# ---------------------------------------------------------------------- files


def test_saving_twice_writes_the_same_bytes(full: pairpiece.Tokenizer, tmp_path: Path) -> None:
    full.save(tmp_path / "one")
    full.save(tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    # The manifest, three tables, the manifest of the source, and two files for Hugging Face.
    assert len(contents(tmp_path / "one")) == 7
    full.save(tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_training_again_gives_the_same_files(pairs: pairpiece.Pairs, tmp_path: Path) -> None:
    for name, threads in (("one", 1), ("two", 2)):
        pairpiece.train_from_pairs(pairs, 500, num_threads=threads).save(tmp_path / name)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_directories_are_made_and_paths_may_be_strings(
    tokenizer: pairpiece.Tokenizer, tmp_path: Path
) -> None:
    tokenizer.save(str(tmp_path / "a" / "b"))
    assert pairpiece.load(str(tmp_path / "a" / "b")).get_vocab() == tokenizer.get_vocab()


def test_files_are_as_readable_as_the_umask_says(
    tokenizer: pairpiece.Tokenizer, tmp_path: Path
) -> None:
    before = os.umask(0o027)
    try:
        tokenizer.save(tmp_path)
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o640}


def test_saving_over_a_model_replaces_it(
    full: pairpiece.Tokenizer, tokenizer: pairpiece.Tokenizer, tmp_path: Path
) -> None:
    full.save(tmp_path / "model")
    tokenizer.save(tmp_path / "model")
    tokenizer.save(tmp_path / "fresh")
    assert contents(tmp_path / "model") == contents(tmp_path / "fresh")
    assert not [path for path in (tmp_path / "model").iterdir() if path.is_dir()]
    assert behaviour(pairpiece.load(tmp_path / "model")) == behaviour(tokenizer)


def test_saving_leaves_other_files_alone(
    full: pairpiece.Tokenizer, tokenizer: pairpiece.Tokenizer, tmp_path: Path
) -> None:
    others = {
        "README.md": b"mine",
        "bigram.safetensors": b"mine too",
        "cooccurrence-notes.safetensors": b"also mine",
        "source-code/pairpiece.json": b"not a part",
        "source-0123456789ab/notes.txt": b"a folder without a model",
        ".hidden": b"",
    }
    for name, content in others.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    full.save(tmp_path)
    tokenizer.save(tmp_path)
    found = contents(tmp_path)
    assert {name: found.get(name) for name in others} == others


def test_stale_links_are_not_followed(tokenizer: pairpiece.Tokenizer, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    tokenizer.save(outside)
    kept = contents(outside)
    model = tmp_path / "model"
    model.mkdir()
    (model / "source-0123456789ab").symlink_to(outside)
    (model / "bigram-0123456789ab.safetensors").symlink_to(outside / "pairpiece.json")
    tokenizer.save(model)
    assert contents(outside) == kept


# ---------------------------------------------------------------------- failures


class StoppedError(Exception):
    """Stands for a full disk, a signal, or a lost machine."""


def failing_at(step: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, but its call number `step` raises."""
    calls = 0

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == step:
            raise StoppedError
        return function(*args, **kwargs)

    return wrapper


PLACES: Sequence[tuple[object, str]] = [
    (files, "write_new"),
    (files, "rename"),
    (files, "flush"),
    (switching, "_remove"),
    (switching, "_remove_stale"),
    (os, "fsync"),
    (os, "replace"),
    (Path, "mkdir"),
]


@pytest.mark.parametrize(("owner", "name"), PLACES, ids=[name for _, name in PLACES])
def test_a_failed_save_leaves_a_whole_model(
    owner: object,
    name: str,
    full: pairpiece.Tokenizer,
    french: pairpiece.Tokenizer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Alike in all but a few numbers, and with a source tokenizer that has the same pieces.
    other = full._replaced(seed=99, source_tokenizer=french._replaced(seed=6))
    old, new = behaviour(full), behaviour(other)
    other.save(tmp_path / "fresh")
    for step in range(1, 20):
        folder = tmp_path / str(step)
        full.save(folder)
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, failing_at(step, getattr(owner, name)))
            try:
                other.save(folder)
            except StoppedError:
                failed = True
            else:
                failed = False
        loaded = pairpiece.load(folder)
        assert behaviour(loaded) in ([old, new] if failed else [new])
        raw = "Le chat mange"
        assert loaded.encode("Il topo", source=raw) == full.encode("Il topo", source=raw)
        names = set(contents(folder))
        assert not [file for file in names if "/." in f"/{file}"], "temporary files are left"
        other.save(folder)
        assert contents(folder) == contents(tmp_path / "fresh"), "stale parts are left"
        if not failed:
            return
    pytest.fail("saving takes more steps than expected")


def test_a_failed_first_save_leaves_nothing_that_loads(
    full: pairpiece.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in range(1, 4):
        folder = tmp_path / str(step)
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", failing_at(step, os.replace))
            with pytest.raises(StoppedError):
                full.save(folder)
        with pytest.raises(pairpiece.ModelFormatError, match="not a PairPiece model"):
            pairpiece.load(folder)


# ---------------------------------------------------------------------- parts


def part(folder: Path, name: str) -> Path:
    [found] = folder.glob(f"{name}-*")
    return found


@pytest.mark.parametrize("harm", ["delete", "corrupt", "truncate", "empty"])
def test_target_only_use_does_not_read_the_table(
    harm: str, tokenizer: pairpiece.Tokenizer, tmp_path: Path
) -> None:
    tokenizer.save(tmp_path)
    table = part(tmp_path, "cooccurrence")
    content = table.read_bytes()
    if harm == "delete":
        table.unlink()
    else:
        middle = len(content) // 2
        changed = bytes([content[middle] ^ 1])
        table.write_bytes(
            {
                "corrupt": content[:middle] + changed + content[middle + 1 :],
                "truncate": content[:middle],
                "empty": b"",
            }[harm]
        )
    loaded = pairpiece.load(tmp_path)
    assert loaded.encode_batch(TEXTS) == tokenizer.encode_batch(TEXTS)
    assert loaded.decode(loaded.encode(TEXTS[0])) == TEXTS[0]
    assert loaded.is_paired
    uses: list[Callable[[], object]] = [
        lambda: loaded.encode(TARGETS[0], source=SOURCES[0]),
        lambda: loaded.encode(TARGETS[0], source=[]),
        lambda: loaded.nbest(TARGETS[0], source=SOURCES[0]),
        lambda: loaded.align(SOURCES[0], TARGETS[0]),
        lambda: loaded.lexicon(),
        lambda: loaded.save(tmp_path / "again"),
        lambda: pickle.dumps(loaded),
    ]
    for use in uses:
        with pytest.raises(pairpiece.ModelFormatError, match=table.name):
            use()
    table.write_bytes(content)
    assert behaviour(loaded) == behaviour(tokenizer)


def test_a_failed_save_of_a_model_that_cannot_be_read_whole_writes_nothing(
    tokenizer: pairpiece.Tokenizer, tmp_path: Path
) -> None:
    tokenizer.save(tmp_path / "model")
    part(tmp_path / "model", "cooccurrence").unlink()
    loaded = pairpiece.load(tmp_path / "model")
    tokenizer.save(tmp_path / "other")
    before = contents(tmp_path / "other")
    with pytest.raises(pairpiece.ModelFormatError):
        loaded.save(tmp_path / "other")
    assert contents(tmp_path / "other") == before


def test_a_model_may_be_moved_after_loading_if_the_table_was_used(
    tokenizer: pairpiece.Tokenizer, tmp_path: Path
) -> None:
    tokenizer.save(tmp_path / "model")
    loaded = pairpiece.load(tmp_path / "model")
    before = loaded.encode(TARGETS[0], source=SOURCES[0])
    part(tmp_path / "model", "cooccurrence").unlink()
    assert loaded.encode(TARGETS[0], source=SOURCES[0]) == before


def test_a_missing_bigram_table_is_noticed(full: pairpiece.Tokenizer, tmp_path: Path) -> None:
    full.save(tmp_path)
    part(tmp_path, "bigram").unlink()
    with pytest.raises(pairpiece.ModelFormatError, match="bigram"):
        pairpiece.load(tmp_path)


def test_a_source_tokenizer_is_saved_inside(
    full: pairpiece.Tokenizer, french: pairpiece.Tokenizer, tmp_path: Path
) -> None:
    full.save(tmp_path)
    inside = pairpiece.load(part(tmp_path, "source"))
    assert behaviour(inside) == behaviour(french)
    found = pairpiece.load(tmp_path).source_tokenizer
    assert isinstance(found, pairpiece.Tokenizer)
    assert behaviour(found) == behaviour(french)


def test_a_paired_source_tokenizer_keeps_its_table(
    full: pairpiece.Tokenizer, tokenizer: pairpiece.Tokenizer, tmp_path: Path
) -> None:
    full._replaced(source_tokenizer=tokenizer).save(tmp_path)
    found = pairpiece.load(tmp_path).source_tokenizer
    assert isinstance(found, pairpiece.Tokenizer)
    assert behaviour(found) == behaviour(tokenizer)


def test_another_source_tokenizer_can_be_given(
    full: pairpiece.Tokenizer, tokenizer: pairpiece.Tokenizer, tmp_path: Path
) -> None:
    full.save(tmp_path)
    assert pairpiece.load(tmp_path, source_tokenizer=tokenizer).source_tokenizer is tokenizer
    assert pairpiece.load(tmp_path, source_tokenizer=str.split).source_tokenizer is str.split


def test_a_callable_source_tokenizer_has_to_be_given_again(
    pairs: pairpiece.Pairs, tmp_path: Path
) -> None:
    def split(text: str) -> list[str]:
        return [f"▁{word}" for word in text.split()]

    trained = pairpiece.train_from_pairs(pairs, 500, source_tokenizer=split)
    expected = trained.encode("Il gatto", source="le chat")
    trained.save(tmp_path)
    loaded = pairpiece.load(tmp_path)
    assert loaded.source_tokenizer is None
    assert loaded.encode("Il gatto", source=["▁le", "▁chat"]) == expected
    with pytest.raises(pairpiece.OptionError, match="source_tokenizer="):
        loaded.encode("Il gatto", source="le chat")
    again = pairpiece.load(tmp_path, source_tokenizer=split)
    assert again.encode("Il gatto", source="le chat") == expected


def by_letter_case(text: str) -> list[str]:
    cut = next((i for i, c in enumerate(text) if i and c.isupper()), len(text))
    return [text[:cut], text[cut:]]


def test_a_callable_pretokenizer_has_to_be_given_again(
    pairs: pairpiece.Pairs, tmp_path: Path
) -> None:
    trained = pairpiece.train_from_pairs(pairs, 500, pretokenizer=by_letter_case)
    trained.save(tmp_path)
    with pytest.raises(pairpiece.OptionError, match="pretokenizer="):
        pairpiece.load(tmp_path)
    loaded = pairpiece.load(tmp_path, pretokenizer=by_letter_case)
    assert loaded.encode("ilGatto", out_type=str) == trained.encode("ilGatto", out_type=str)


def test_a_source_tokenizer_with_a_pretokenizer_has_to_be_given_again(
    pairs: pairpiece.Pairs, tmp_path: Path
) -> None:
    source = pairpiece.train_from_pairs(pairs, 500, "unigram", pretokenizer=by_letter_case)
    trained = pairpiece.train_from_pairs(pairs, 500, source_tokenizer=source)
    trained.save(tmp_path)
    with pytest.raises(pairpiece.OptionError, match="source_tokenizer="):
        pairpiece.load(tmp_path)
    loaded = pairpiece.load(tmp_path, source_tokenizer=source)
    assert loaded.encode("il", source="le") == trained.encode("il", source="le")
