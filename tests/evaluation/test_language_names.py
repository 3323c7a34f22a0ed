"""What a title calls the languages of a text, going by the names of its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.french_italian import LETTERS, SOURCES, TARGETS

import pairpiece
from pairpiece.evaluation.language_names import code, languages
from pairpiece.evaluation.systems import System


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("test.fr", "fr"),
        ("test.IT", "IT"),
        ("test.hsb.gz", "hsb"),
        ("test.fr.txt", "fr"),
        ("test.fr.tok.zst", "fr"),
        ("test.fr-it.it", "it"),
        ("test.pt_BR", "pt_BR"),
        ("dev.zh-Hant.txt", "zh-Hant"),
        ("eng_Latn.devtest", "eng_Latn"),
        ("it.txt", "it"),
        ("test.txt", None),
        ("dev.txt", None),
        ("test.src", None),
        ("source", None),
        ("my-file.txt", None),
        (".gz", None),
        ("", None),
    ],
)
def test_the_code_of_a_language_is_found_in_the_name_of_a_file(
    name: str, expected: str | None
) -> None:
    assert code(Path("folder.de") / name) == (expected if name else "de")


@pytest.mark.parametrize(
    ("target", "source", "how", "expected"),
    [
        ("test.it", "test.fr", {}, "fr → it"),
        (Path("a/test.it"), Path("b/test.fr.gz"), {}, "fr → it"),
        ("test.it", None, {}, "it"),
        ("test.it", None, {"source_language": "French"}, "it"),
        ("x/t.txt", "x/s.txt", {}, "s.txt → t.txt"),
        ("test.it", "source.txt", {}, "source.txt → test.it"),
        ("new.it", "old.it", {}, "old.it → new.it"),
        ("x/t.txt", "x/s.txt", {"source_language": "French"}, "French → t.txt"),
        ("test.it", "s.txt", {"source_language": "French"}, "French → it"),
        (TARGETS, SOURCES, {}, ""),
        (TARGETS, SOURCES, {"target_language": "Italian"}, "Italian"),
        (TARGETS, SOURCES, {"target_language": "it", "source_language": "fr"}, "fr → it"),
        ("test.it", SOURCES, {}, "test.it"),
    ],
)
def test_languages(target: Any, source: Any, how: Any, expected: str) -> None:
    assert languages(target, source, **how) == expected


@pytest.mark.parametrize("wrong", ["", " ", 3, b"it"])
@pytest.mark.parametrize("side", ["source_language", "target_language"])
def test_what_is_no_name_is_refused(side: str, wrong: Any) -> None:
    how: dict[str, Any] = {side: wrong}
    with pytest.raises(pairpiece.OptionError, match=f"{side} must be the name of a language"):
        pairpiece.evaluate(["never read"], TARGETS, SOURCES, **how)


def test_an_evaluation_knows_its_languages(tmp_path: Path) -> None:
    (tmp_path / "test.it").write_text("\n".join(TARGETS), encoding="utf-8")
    rows = [sentence.split() for sentence in LETTERS]
    letters = System("letters", "0123456789ab", lambda _: rows, None)
    how: dict[str, Any] = {"metrics": ["tokens"], "resamples": 10}
    found = pairpiece.evaluate([letters], tmp_path / "test.it", **how)
    assert found.languages == "it"
    found = pairpiece.evaluate([letters], tmp_path / "test.it", target_language="Italian", **how)
    assert found.languages == "Italian"
