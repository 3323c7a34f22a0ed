"""The sample that comes with the package: whole, clean, bilingual, and made by tools/."""

from __future__ import annotations

import importlib.resources
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from pairpiece.corpus import sample

SIDES = {"sample.fr": sample.FRENCH, "sample.it": sample.ITALIAN}
GENERATOR = Path(__file__).parents[2] / "tools" / "sample_corpus"

# Words that hold sentences together; a few are words of both languages.
FUNCTION_WORDS = {
    "sample.fr": "le les l' du des de d' au aux un une et est sont dans avec sur pour ne n' pas "
    "que qu' je j' tu il elle elles nous vous ils on ce cette ces mon ma mes ton ta tes son sa "
    "ses leur notre votre nos vos à y en qui où quand si chez plus se s' a ont",
    "sample.it": "il lo la i gli le l' un una uno di del della dei delle al alla ai e è sono in "
    "nel nella con sul sulla per non che io lei noi voi mi ti ci vi si questo questa questi "
    "queste mio mia tuo tua suo sua nostro nostra vostro loro a da dal dalla chi dove quando se "
    "più ha hanno ho hai abbiamo avete cui anche",
}


def lines(name: str) -> list[str]:
    content = SIDES[name].read_bytes().decode("utf-8", "strict")
    assert content.endswith("\n")
    return content.split("\n")[:-1]


def words(line: str) -> set[str]:
    return set(re.findall(r"\w+['’]?", line.lower().replace("’", "'")))


def test_there_are_6000_different_pairs() -> None:
    pairs = list(zip(lines("sample.fr"), lines("sample.it"), strict=True))
    assert len(pairs) == 6000
    assert len(set(pairs)) == 6000


@pytest.mark.parametrize("name", SIDES)
def test_every_line_is_a_clean_sentence(name: str) -> None:
    for number, line in enumerate(lines(name), 1):
        place = f"{name}:{number}: {line!r}"
        assert line.strip() == line != "", place
        assert "  " not in line, place
        assert line[-1] in ".?!…»", place
        assert line[0].isupper() or line[0].isdigit() or line[0] in "«", place
        assert unicodedata.normalize("NFC", line) == line, place
        assert all(c == " " or c == "\u202f" or c == "\u00a0" or c.isprintable() for c in line), (
            place
        )
        assert 3 <= len(line) <= 250, place


@pytest.mark.parametrize("name", SIDES)
def test_lines_are_in_their_language(name: str) -> None:
    [other] = set(SIDES) - {name}
    own, foreign = (set(FUNCTION_WORDS[side].split()) for side in (name, other))
    all_words = [words(line) for line in lines(name)]
    with_own = sum(bool(found & own) for found in all_words)
    more_foreign = sum(
        len(found & (foreign - own)) > len(found & (own - foreign)) for found in all_words
    )
    assert with_own > 0.95 * len(all_words)
    assert more_foreign < 0.02 * len(all_words)


def test_sentences_say_about_as_much_as_their_translations() -> None:
    for source, target in zip(lines("sample.fr"), lines("sample.it"), strict=True):
        assert 1 / 3 < len(source) / len(target) < 3, (source, target)


@pytest.mark.parametrize("name", SIDES)
def test_the_files_come_with_the_package(name: str) -> None:
    found = importlib.resources.files("pairpiece.corpus.sample").joinpath(name)
    assert found.read_bytes() == SIDES[name].read_bytes()


@pytest.mark.skipif(not GENERATOR.is_dir(), reason="tools/ is not here: not a source tree")
def test_the_generator_makes_exactly_these_files(tmp_path: Path) -> None:
    subprocess.run([sys.executable, GENERATOR, "--output", tmp_path], check=True)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(made) == set(SIDES)
    for name, path in SIDES.items():
        assert made[name] == path.read_bytes(), f"{name} is not what tools/sample_corpus makes"
