"""Every metric by hand, on samples, against other programs; and its signature."""

from __future__ import annotations

import dataclasses
import itertools
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import french_italian

import pairpiece
from pairpiece.evaluation.metric import Metric, all_metrics, chosen_metrics
from pairpiece.evaluation.parallel_text import ParallelText
from pairpiece.evaluation.systems import System
from pairpiece.evaluation.tokenized import Links, Resample, Settings, Tokenized, bare
from pairpiece.links.symmetrization import Link

METRICS = {metric.name: metric for metric in all_metrics()}
ALIGNER = ["one_to_one", "unaligned", "eflomal_score"]
ALIGNER += ["one_to_one_target", "unaligned_target", "link_f"]

by_name = pytest.mark.parametrize("name", METRICS)


def split(texts: list[str]) -> list[list[str]]:
    return [text.split() for text in texts]


def system(**changes: Any) -> System:
    return dataclasses.replace(System("s", "d", lambda t: split(t.targets), split), **changes)


def tokenized(
    *rows: str,
    targets: list[str] | None = None,
    sources: list[str] | None = None,
    others: list[list[str]] | None = None,
    links: list[list[list[Link]]] | None = None,
    certain: list[float] | None = None,
    scores: list[float] | None = None,
    power: float = 3.0,
    **changes: Any,
) -> Tokenized:
    """Tokens as they are written, separated by spaces."""
    text = ParallelText(targets or list(rows), sources, others or [])
    found = Tokenized(
        system(**changes),
        text,
        split(list(rows)),
        None if sources is None else split(sources),
        Settings(renyi_power=power),
    )
    for pairs in links or []:
        counted = [None if x is None else np.array(x) for x in (certain, scores)]
        found.runs.append(Links.of(pairs, found.source_total, *counted))
    return found


def of(
    *rows: str, reference: Tokenized | None = None, weights: list[float] | None = None, **how: Any
) -> Resample:
    return Resample(
        tokenized(*rows, **how),
        None if weights is None else np.array(weights),
        None if reference is None else Resample(reference),
    )


# ---------------------------------------------------------------------- by hand

# 7 tokens, 4 words, 12 characters, 14 bytes; 3 tokens of one character: ▁i, l, è.
TWO = ["▁i l ▁gat to", "▁ è ▁là"]
TARGETS = ["il gatto", "è là"]
SOURCES = ["▁le ▁chat", "▁il ▁est ▁là"]  # 5 tokens
WHOLE = tokenized("▁il ▁gatto", "è ▁là", targets=TARGETS)  # 4 tokens

# 5 source tokens and 6 target tokens.  One to one are 0-0 of the first sentence and both of the
# second; the third source token and the fourth target token of the first have no link.
LINKED: dict[str, Any] = {
    "sources": ["a b c", "d e"],
    "links": [[[(0, 0), (1, 1), (1, 2)], [(0, 1), (1, 0)]], [[], []]],
    "certain": [1, 2],
    "scores": [3.0, 5.0],
}
LINKED_ROWS = ["A B C D", "E F"]


class OwnLinks(pairpiece.Tokenizer):
    """A model that links what it is told to."""

    def __init__(self, links: dict[str, tuple[int, list[Link]]]) -> None:
        self._links = links

    def align(self, source: str, target: str) -> Any:
        del source
        size, links = self._links[target]
        return SimpleNamespace(source_tokens=["s"] * size, links=links)


# Of 5 source tokens, 2 are linked one to one.
OWN = {
    "sources": ["un", "deux"],
    "tokenizer": OwnLinks({"A B": (3, [(0, 0), (1, 1), (2, 1)]), "C": (2, [(0, 0)])}),
    "uses_source": True,
}

# Frequencies 1/2, 1/4, 1/4.
HALF = "a b a c"
HALF_RENYI = math.log2(1 / 8 + 1 / 64 + 1 / 64) / (1 - 3) / math.log2(3)
# Frequencies 3/4, 1/4, and two tokens.
THREE_QUARTERS = tokenized("x x x y")
THREE_QUARTERS_RENYI = math.log2(27 / 64 + 1 / 64) / (1 - 3)

EXAMPLES: dict[str, list[tuple[Resample, Any]]] = {
    "tokens": [(of(*TWO), 7), (of(*TWO, weights=[2, 1]), 11)],
    "fertility": [(of(*TWO, targets=TARGETS), 7 / 4), (of("a", "", targets=["a  b", " "]), 1 / 2)],
    "parity": [(of(*TWO, sources=SOURCES), 7 / 5), (of("a", sources=["b c"]), 1 / 2)],
    "length_ratio": [(of(*TWO, reference=WHOLE), 7 / 4)],
    "characters_per_token": [(of(*TWO, targets=TARGETS), 12 / 7)],
    "bytes_per_token": [(of(*TWO, targets=TARGETS), 14 / 7), (of("x", targets=["😀"]), 4)],
    "single_characters": [(of(*TWO), 3 / 7), (of("##a ##ab b@@ ▁c @ ## ▁"), 4 / 7)],
    "single_characters_macro": [(of(*TWO), (2 / 4 + 1 / 3) / 2), (of("a", "", "ab c"), 3 / 4)],
    "unknown": [
        (of("a <unk> <0xE2> <0xe2> <0x1> b", vocabulary=["a"], unknown="<unk>"), 2 / 6),
        (of("a <unk> <0x0A>", vocabulary=["a"]), 1 / 3),
        (of("a [UNK]", vocabulary=["a"], unknown="[UNK]"), 1 / 2),
    ],
    "vocabulary_usage": [(of("a b a", "b", vocabulary=["a", "b", "c", "d", "e"]), 2 / 5)],
    "vocabulary_overlap": [
        (of("a", vocabulary=list("abcd"), reference=tokenized("a", vocabulary=list("bcx"))), 2 / 4)
    ],
    "begin_of_word": [
        (of("a", vocabulary=["▁a", "▁", "b", "c▁", "<unk>"]), 2 / 5),
        (of("a", vocabulary=["a", "##b", "##c", "##", "d"]), 3 / 5),
        (of("a", vocabulary=["▁a", "##b", *map(str, range(38))]), 1 / 40),
    ],
    "renyi_efficiency": [
        (of(HALF), HALF_RENYI),
        (of(HALF, power=1), 1.5 / math.log2(3)),
        (of(HALF, power=0), 1),
        (of(HALF, power=0.5), 2 * math.log2(0.5**0.5 + 1) / math.log2(3)),
        (of("a b", "c d"), 1),
        (of("a a", "a"), 0),
    ],
    "renyi_ratio": [(of(HALF, reference=THREE_QUARTERS), HALF_RENYI / THREE_QUARTERS_RENYI)],
    "entropy": [(of(HALF), 1.5), (of("a a"), 0), (of("a b", "c d"), 2)],
    "zipf": [  # frequencies 12 / rank, 36 / rank², and all the same
        (of("a " * 12 + "b " * 6 + "c " * 4), 1),
        (of("b " * 9 + "c " * 4, "a " * 36), 2),
        (of("a b c"), 0),
    ],
    "gini": [  # of 2, 4 and 6 tokens: the mean of 0 0 0 2 2 2 2 4 4 is 16/9; twice the mean is 8
        (of("a b", sources=["a b c d"], others=[["a b c d e f"]]), 2 / 9),
        (of("a b", sources=["b a"], others=[["x y"]]), 0),
        (of("a", "b", sources=["c", "d"], others=[["e f", "g h"], ["i", "j"]]), 3 / 20),
    ],
    "one_to_one": [(of(*LINKED_ROWS, **LINKED), [3 / 5, 0])],
    "unaligned": [(of(*LINKED_ROWS, **LINKED), [1 / 5, 1])],
    "eflomal_score": [
        (of(*LINKED_ROWS, **LINKED), [4, 4]),
        (of(*LINKED_ROWS, **LINKED, weights=[3, 1]), [3.5, 3.5]),
    ],
    "one_to_one_target": [(of(*LINKED_ROWS, **LINKED), [3 / 6, 0])],
    "unaligned_target": [(of(*LINKED_ROWS, **LINKED), [1 / 6, 1])],
    "link_f": [(of(*LINKED_ROWS, **LINKED), [2 * 3 / (5 + 6)] * 2)],
    "own_one_to_one": [
        (of("A B", "C", **OWN), 2 / 5),
        (of("A B", "C", **OWN, weights=[0, 1]), 0.5),
    ],
}


def test_every_metric_has_an_example_by_hand() -> None:
    assert set(EXAMPLES) == set(METRICS)


@pytest.mark.parametrize(
    ("name", "number"), [(name, i) for name in METRICS for i in range(len(EXAMPLES.get(name, [])))]
)
def test_a_metric_is_what_it_is_by_hand(name: str, number: int) -> None:
    drawn, expected = EXAMPLES[name][number]
    assert METRICS[name].value(drawn) == pytest.approx(expected, abs=1e-12)


def test_zipf_is_the_slope_of_a_line_through_the_points() -> None:
    found = METRICS["zipf"].value(of("a a a a b b c"))
    slope = np.polyfit(np.log([1, 2, 3]), np.log([4, 2, 1]), 1)[0]
    assert found == pytest.approx(-slope)


def test_zipf_is_over_the_first_thousand_ranks() -> None:
    rows = ["".join(f"{rank} " * (2000 // rank)) for rank in range(1, 1001)]
    rare = [f"rare{i}" for i in range(500)]
    assert METRICS["zipf"].value(of(*rows, *rare)) == METRICS["zipf"].value(of(*rows))


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        *(("▁a", "a"), ("a", "a"), ("▁", ""), ("▁▁", ""), ("a▁b", "ab"), ("a@@", "a")),
        *(("##a", "a"), ("##", "##"), ("#", "#"), ("a##", "a##"), ("@", "@")),
    ],
)
def test_a_bare_token_has_no_marks(token: str, expected: str) -> None:
    assert bare(token) == expected


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ([], (0, 0, 0)),
        ([(0, 0)], (1, 1, 1)),
        ([(0, 3), (3, 0)], (2, 2, 2)),
        ([(0, 0), (0, 1)], (0, 1, 2)),
        ([(0, 0), (1, 0)], (0, 2, 1)),
        ([(0, 0), (0, 1), (1, 1), (2, 2)], (1, 3, 3)),
    ],
)
def test_links_are_counted(links: list[Link], expected: tuple[int, int, int]) -> None:
    found = Links.of([links], np.array([4.0]))
    assert (found.one_to_one[0], found.sources[0], found.targets[0]) == expected


# ---------------------------------------------------------------------- nothing to say

ONLY_TEXT = of("a b c", "d e")
NO_RUNS = of("a", sources=["b"])


@pytest.mark.parametrize("name", ["parity", "gini", "own_one_to_one", *ALIGNER])
def test_without_a_source_there_is_no(name: str) -> None:
    assert METRICS[name].value(ONLY_TEXT) is None


@pytest.mark.parametrize("name", ALIGNER)
def test_without_runs_of_the_aligner_there_is_no(name: str) -> None:
    assert METRICS[name].value(NO_RUNS) is None


@pytest.mark.parametrize(
    "name", ["unknown", "vocabulary_usage", "vocabulary_overlap", "begin_of_word"]
)
def test_without_a_vocabulary_there_is_no(name: str) -> None:
    known = tokenized("a", vocabulary=["a"])
    assert METRICS[name].value(of("a", reference=known)) is None


def test_without_the_vocabulary_of_the_reference_there_is_no_overlap() -> None:
    drawn = of("a", vocabulary=["a"], reference=tokenized("a"))
    assert METRICS["vocabulary_overlap"].value(drawn) is None


@pytest.mark.parametrize("name", ["length_ratio", "renyi_ratio", "vocabulary_overlap"])
def test_without_a_reference_there_is_no(name: str) -> None:
    assert METRICS[name].value(of("a b", vocabulary=["a"])) is None


NOTHING_TO_SAY: dict[str, tuple[str, Resample]] = {
    "gini: no other language": ("gini", of("a", sources=["b"])),
    "gini: two languages": ("gini", of("a", others=[["b"]])),
    "gini: cannot tokenize other text": (
        "gini",
        of("a", sources=["b"], others=[["c"]], tokenize_alone=None),
    ),
    "own links: no model": ("own_one_to_one", of("a", sources=["b"], uses_source=True)),
    "own links: target only": (
        "own_one_to_one",
        of("a", "b", **(OWN | {"uses_source": False})),
    ),
    "zipf: two tokens": ("zipf", of("a a b")),
    "ratio: no efficiency": ("renyi_ratio", of("a b", reference=tokenized("a a"))),
}


@pytest.mark.parametrize("why", NOTHING_TO_SAY)
def test_there_may_be_nothing_to_say(why: str) -> None:
    name, drawn = NOTHING_TO_SAY[why]
    assert METRICS[name].value(drawn) is None


# ---------------------------------------------------------------------- samples

PIECES = ["▁a", "b", "▁cd", "e@@", "▁", "<unk>", "<0x41>", "##f", "gh"]
ROW = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map(" ".join)


@st.composite
def texts_with_weights(draw: st.DrawFn) -> tuple[list[Any], list[int]]:
    """Sentences with all there is to know about them, and how often each is drawn."""
    sentences = []
    for i in range(draw(st.integers(1, 5))):
        target, reference, source, other = (draw(ROW) for _ in range(4))
        link = st.tuples(
            st.integers(0, len(source.split()) - 1), st.integers(0, len(target.split()) - 1)
        )
        links = [draw(st.lists(link, unique=True, max_size=6)) for _ in range(3)]
        numbers = draw(st.integers(0, 9)), draw(st.floats(0, 9))
        words = f"{i} " + "wö " * draw(st.integers(0, 4))
        sentences.append((target, reference, source, other, links, numbers, words))
    weights = draw(
        st.lists(st.integers(0, 3), min_size=len(sentences), max_size=len(sentences)).filter(any)
    )
    return sentences, weights


def sample_of(sentences: list[Any], weights: list[float] | None) -> Resample:
    targets, _, sources, others, links, numbers, words = map(list, zip(*sentences, strict=True))
    own = OwnLinks({row[6]: (len(row[2].split()), row[4][2]) for row in sentences})
    return of(
        *targets,
        targets=words,
        sources=sources,
        others=[others],
        links=[[row[0] for row in links], [row[1] for row in links]],
        certain=[float(number) for number, _ in numbers],
        scores=[number for _, number in numbers],
        weights=weights,
        vocabulary=PIECES,
        unknown="<unk>",
        uses_source=True,
        tokenizer=own,
    )


def with_reference(sentences: list[Any], weights: list[float] | None) -> Resample:
    found = sample_of(sentences, weights)
    found.baseline = sample_of([(row[1], *row[1:]) for row in sentences], weights)
    return found


def same(found: Any, expected: Any) -> bool:
    if expected is None:
        return found is None
    return bool(found == pytest.approx(expected, rel=1e-9, abs=1e-9))


@given(drawn=texts_with_weights())
@settings(max_examples=60, deadline=None)
def test_a_weight_is_how_often_a_sentence_occurs(drawn: tuple[list[Any], list[int]]) -> None:
    sentences, weights = drawn
    both = zip(sentences, weights, strict=True)
    repeated = with_reference([row for row, weight in both for _ in range(weight)], None)
    weighted = with_reference(sentences, [float(weight) for weight in weights])
    for name, metric in METRICS.items():
        assert same(metric.value(weighted), metric.value(repeated)), name


@given(drawn=texts_with_weights())
@settings(max_examples=30, deadline=None)
def test_the_order_of_sentences_does_not_matter(drawn: tuple[list[Any], list[int]]) -> None:
    sentences, _ = drawn
    ordered, reversed_ = with_reference(sentences, None), with_reference(sentences[::-1], None)
    for name, metric in METRICS.items():
        assert same(metric.value(ordered), metric.value(reversed_)), name


SHARES = ["single_characters", "single_characters_macro", "unknown", "vocabulary_usage"]
SHARES += ["vocabulary_overlap", "begin_of_word", "renyi_efficiency", "gini", "one_to_one"]
SHARES += ["unaligned", "one_to_one_target", "unaligned_target", "own_one_to_one"]


@given(drawn=texts_with_weights())
@settings(max_examples=30, deadline=None)
def test_shares_lie_between_none_and_all(drawn: tuple[list[Any], list[int]]) -> None:
    found = with_reference(drawn[0], None)
    for name in SHARES:
        value: Any = METRICS[name].value(found)
        assert -1e-12 <= np.min(value) <= np.max(value) <= 1 + 1e-12, name


# ---------------------------------------------------------------------- another program

POWERS = [0.5, 1, 2, 2.5, 3]


def random_rows(seed: int) -> list[list[str]]:
    random = np.random.default_rng(seed)
    types = int(random.integers(2, 300))
    sizes = random.integers(1, 30, 40)
    return [[f"t{int(x) % types}" for x in random.zipf(1.3, size)] for size in sizes]


@pytest.fixture(scope="module")
def token_lists(tokenizer: pairpiece.Tokenizer) -> list[list[list[str]]]:
    targets = french_italian.TARGETS
    real = tokenizer.encode_batch(targets, out_type=str)
    return [real, split(targets), [list(t.replace(" ", "▁")) for t in targets]] + [
        random_rows(seed) for seed in range(5)
    ]


@pytest.fixture(scope="module")
def theirs() -> Callable[..., float]:
    scorer = pytest.importorskip("tokenization_scorer")

    def score(rows: list[list[str]], power: float, kind: str = "efficiency") -> float:
        text = "\n".join(" ".join(row) for row in rows)
        if power == 1:  # its Rényi metrics have then used up the text before they count it
            return float(scorer.score(text, metric=f"shannon_{kind}"))
        return float(scorer.score(text, metric=f"renyi_{kind}", power=power))

    return score


@pytest.mark.parametrize("power", POWERS)
def test_renyi_is_that_of_tokenization_scorer(
    power: float, token_lists: list[list[list[str]]], theirs: Callable[..., float]
) -> None:
    for rows in token_lists:
        ours = of(*map(" ".join, rows), power=power)
        assert METRICS["renyi_efficiency"].value(ours) == pytest.approx(theirs(rows, power))


@pytest.mark.parametrize("power", POWERS)
def test_the_ratio_is_that_of_two_scores_of_tokenization_scorer(
    power: float, token_lists: list[list[list[str]]], theirs: Callable[..., float]
) -> None:
    for rows, others in itertools.pairwise(token_lists):
        reference = tokenized(*map(" ".join, others), power=power)
        ours = of(*map(" ".join, rows), power=power, reference=reference)
        expected = theirs(rows, power) / theirs(others, power)
        assert METRICS["renyi_ratio"].value(ours) == pytest.approx(expected)


def test_entropy_is_that_of_tokenization_scorer(
    token_lists: list[list[list[str]]], theirs: Callable[..., float]
) -> None:
    for rows in token_lists:
        ours = METRICS["entropy"].value(of(*map(" ".join, rows)))
        assert ours == pytest.approx(theirs(rows, 1, "entropy"))


# ---------------------------------------------------------------------- signatures

LINES = ["a b", "c"]


def signatures(text: Tokenized) -> dict[str, str]:
    return {name: metric.signature(text) for name, metric in METRICS.items()}


def changed(one: Tokenized, other: Tokenized) -> set[str]:
    before, after = signatures(one), signatures(other)
    return {name for name in METRICS if before[name] != after[name]}


def with_settings(**changes: Any) -> Tokenized:
    text = tokenized(*LINES, sources=LINES)
    text.settings = Settings(**changes)
    return text


@by_name
def test_a_signature_says_what_where_and_by_which_version(name: str) -> None:
    text = tokenized(*LINES, digest="0123456789ab")
    parts = METRICS[name].signature(text).split("|")
    assert parts[0] == f"{name}:{METRICS[name].version}"
    assert "tokenizer:0123456789ab" in parts
    assert f"data:{text.text.digest}" in parts
    assert parts[-1] == f"pairpiece:{pairpiece.__version__}"


@by_name
def test_a_signature_is_one_line_of_keys_and_values(name: str) -> None:
    found = METRICS[name].signature(with_settings())
    assert found.isprintable()
    keys = [part.partition(":")[0] for part in found.split("|")]
    assert len(set(keys)) == len(keys)
    assert all(part.partition(":")[2] for part in found.split("|"))


def test_every_signature_changes_with_the_tokenizer_the_data_and_the_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = tokenized(*LINES, sources=LINES)
    every = set(METRICS)
    assert changed(text, tokenized(*LINES, sources=LINES)) == set()
    assert changed(text, tokenized(*LINES, sources=LINES, digest="other")) == every
    assert changed(text, tokenized("a b", "c!", sources=LINES)) == every
    assert changed(text, tokenized(*LINES, sources=["a b", "c!"])) == every
    assert changed(text, tokenized(*LINES, sources=LINES, others=[LINES])) == every
    before = signatures(text)
    for metric in METRICS.values():
        monkeypatch.setattr(type(metric), "version", 2)
    assert all(f"{name}:2|" in found for name, found in signatures(text).items())
    assert not set(before.values()) & set(signatures(text).values())


@pytest.mark.parametrize(
    ("changes", "concerned"),
    [
        ({"renyi_power": 2.5}, {"renyi_efficiency", "renyi_ratio"}),
        ({"runs": 5}, set(ALIGNER)),
        ({"dev": "abc"}, set(ALIGNER)),
        ({"aligner": "eflomal-9"}, set(ALIGNER)),
        ({"symmetrization": "union"}, set(ALIGNER)),
    ],
    ids=lambda given: str(given) if isinstance(given, dict) else "",
)
def test_a_setting_is_in_the_signatures_it_concerns(
    changes: dict[str, Any], concerned: set[str]
) -> None:
    assert changed(with_settings(), with_settings(**changes)) == concerned
    value = next(iter(changes.values()))
    found = signatures(with_settings(**changes))
    assert all(f":{value}|" in found[name] for name in concerned)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ParallelText(["a"]), ParallelText(["b"])),
        (ParallelText(["a", "b"]), ParallelText(["b", "a"])),
        (ParallelText(["a b"]), ParallelText(["a", "b"])),
        (ParallelText(["a"]), ParallelText(["a"], ["a"])),
        (ParallelText(["a"], ["b"]), ParallelText(["b"], ["a"])),
        (ParallelText(["a"], ["b"]), ParallelText(["a"], None, [["b"]])),
        (ParallelText(["a"], ["b"], [["c"]]), ParallelText(["a"], ["b"], [["c"], ["c"]])),
        (ParallelText(["a ", "b"]), ParallelText(["a", " b"])),
        (ParallelText(["é"]), ParallelText(["e\u0301"])),
    ],
    ids=str,
)
def test_another_text_has_another_digest(one: ParallelText, other: ParallelText) -> None:
    assert one.digest != other.digest
    assert one.digest == dataclasses.replace(one).digest
    assert len(one.digest) == 12


# ---------------------------------------------------------------------- the list of metrics


@by_name
def test_a_metric_describes_itself(name: str) -> None:
    metric = METRICS[name]
    assert name.isidentifier()
    assert metric.about
    assert metric.better in ("lower", "higher", "")
    assert metric.digits >= 0
    assert type(metric).__doc__


def test_metrics_have_names_and_places_of_their_own() -> None:
    found = all_metrics()
    assert len({metric.name for metric in found}) == len(found)
    places = [metric.place for metric in found]
    assert places == sorted(set(places))


def test_metrics_are_chosen_by_name_in_the_order_of_tables() -> None:
    found = chosen_metrics(["parity", "tokens", "parity"])
    assert [metric.name for metric in found] == ["tokens", "parity"]
    assert [metric.name for metric in chosen_metrics(None)] == list(METRICS)
    with pytest.raises(pairpiece.OptionError, match=r"metric must be one of tokens, .* 'bleu'"):
        chosen_metrics(["tokens", "bleu"])


def test_a_metric_has_to_say_what_its_value_is() -> None:
    with pytest.raises(TypeError, match="value"):
        Metric()  # type: ignore[abstract]


NEW_METRIC = '''
from pairpiece.evaluation.metric import Metric

class Vowels(Metric):
    """How many tokens begin with a vowel."""

    name, place, better, about = "vowels", 5, "lower", "tokens that begin with a vowel"

    def value(self, sample):
        text = sample.tokenized
        return sample.total(text.count([token[0] in "aeiou" for token in text.types]))
'''

USE_IT = """
import sys
from pairpiece.evaluation import evaluate, formats, metrics

metrics.__path__.append(sys.argv[1])
found = evaluate([f"pretokenized:{sys.argv[1]}/text"], f"{sys.argv[1]}/text", resamples=20)
print(*(metric.name for metric in found.metrics))
print(found.score("text", "vowels").value, found.score("text", "vowels").signature)
print("vowels" in formats.to_terminal(found))
"""


def test_a_module_more_is_a_metric_more(tmp_path: Path) -> None:
    (tmp_path / "vowels.py").write_text(NEW_METRIC)
    (tmp_path / "text").write_text("a bc e\nox d e\n")
    command = [sys.executable, "-c", USE_IT, str(tmp_path)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    names = list(METRICS)
    assert said[0].split()[:3] == ["tokens", "vowels", "fertility"]
    assert set(said[0].split()) == {*names, "vowels"}
    assert said[1].startswith("4.0 vowels:1|tokenizer:")
    assert said[2] == "True"
