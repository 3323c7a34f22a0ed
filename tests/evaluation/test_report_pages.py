"""The report as people look at it: on a wide screen, on a phone, in the dark and on paper."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from support import tampering
from support.browser import Tab
from support.french_italian import LETTERS, SOURCES, TARGETS

import pairpiece
from pairpiece.evaluation import Evaluation, formats
from pairpiece.evaluation.scores import Score
from pairpiece.evaluation.systems import System, systems_of

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

from pairpiece.evaluation import figures, report

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 800}, "has_touch": True}
WIDE: dict[str, Any] = {"viewport": {"width": 1300, "height": 900}}


def given_tokens(name: str, rows: list[str]) -> System:
    return System(name, "0123456789ab", lambda _: [row.split() for row in rows], None)


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    """Seven tokenizers: ways that are near each other, and letters, which are far off."""
    folder = tmp_path_factory.mktemp("text")
    (folder / "test.it").write_text("\n".join(TARGETS * 12), encoding="utf-8")
    (folder / "test.fr").write_text("\n".join(SOURCES * 12), encoding="utf-8")
    marked = [" ".join(f"▁{word}" for word in sentence.split()) for sentence in TARGETS]
    given = [
        *systems_of(f"our={tampering.saved().name}"),
        *(given_tokens(f"words {i}", marked * 12) for i in range(3)),
        given_tokens("letters", LETTERS * 12),
    ]
    return pairpiece.evaluate(given, folder / "test.it", folder / "test.fr", resamples=20, runs=1)


@pytest.fixture(scope="module")
def page(evaluation: Evaluation) -> str:
    return report.html(evaluation)


@pytest.fixture
def opened(browser: Any, page: str, tmp_path: Path) -> Iterator[Any]:
    """Open the page in a window of some kind; nothing may go wrong in it."""
    tabs = []

    def open_tab(**how: Any) -> Any:
        tabs.append(Tab(browser, tmp_path / "report.html", page, **how))
        return tabs[-1].page

    yield open_tab
    for tab in tabs:
        assert tab.troubles == []
        tab.page.close()


# ---------------------------------------------------------------------- title and contents


def headings(page: str) -> tuple[str, str]:
    """The title and the first heading."""
    both = [re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL) for tag in ("title", "h1")]
    [title], [heading] = both
    return unescape(title), unescape(re.sub("<[^<>]*>", "", heading))


def test_the_title_has_the_languages(page: str) -> None:
    assert headings(page) == ("Tokenizers compared: fr → it",) * 2


def test_names_of_languages_are_text(
    evaluation: Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "charts", lambda _: [])
    evil = "</title><script>alert(1)</script>"
    found = report.html(dataclasses.replace(evaluation, languages=evil))
    assert evil not in found
    assert headings(found) == (f"Tokenizers compared: {evil}",) * 2


def contents(page: str) -> list[str]:
    [nav] = re.findall("<nav.*?</nav>", page, re.DOTALL)
    return re.findall(r'href="#([^"]+)"', nav)


def sections(page: str) -> list[str]:
    return re.findall(r'<section id="([^"]+)">', page)


def test_the_contents_name_every_section_and_the_top(page: str) -> None:
    assert sections(page) == ["summary", "charts", "sentences", "words", "neighbours"]
    assert contents(page) == [*sections(page), "top"]
    assert page.count('id="top"') == 1


def test_the_contents_name_only_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "charts", lambda _: [])
    one = given_tokens("letters", LETTERS)
    found = pairpiece.evaluate([one], TARGETS, metrics=["tokens"], resamples=10)
    page = report.html(found)
    assert sections(page) == ["summary", "sentences"]
    assert contents(page) == ["summary", "sentences", "top"]


# ---------------------------------------------------------------------- numbers for people

EXPONENT = re.compile(r"\d[eE][-+]?\d\d\b")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (43610.25, "43,610"),
        (1234567.9, "1,234,568"),
        (766.0, "766"),
        (12.3456, "12.35"),
        (0.69534, "0.6953"),
        (0.000012345, "0.000012"),
        (1e-12, "0"),
        (-1e-12, "0"),
        (0.0, "0"),
        (-0.04, "-0.04000"),
        (float("inf"), "inf"),
    ],
)
def test_a_number_for_people(value: float, shown: str) -> None:
    assert formats.number(value) == shown


def test_a_number_for_people_can_have_a_sign() -> None:
    assert [formats.number(x, sign=True) for x in (5045.0, -3.5, 0.0)] == ["+5,045", "-3.500", "0"]


@pytest.fixture(scope="module")
def large(evaluation: Evaluation) -> Evaluation:
    """As of a text with millions of tokens."""

    def grown(score: Score) -> Score:
        if score.metric != "tokens":
            return score
        big = {name: 54321.0 * getattr(score, name) for name in ("value", "low", "high")}
        compared = score.comparison
        if compared is not None:
            names = ("difference", "low", "high")
            more = {name: 54321.0 * getattr(compared, name) for name in names}
            compared = dataclasses.replace(compared, **more, p=0.00001)
        return dataclasses.replace(
            score, **big, runs=[0.0, 2 * big["value"]], signature="", comparison=compared
        )

    small = [dataclasses.replace(score, signature="") for score in evaluation.scores]
    return dataclasses.replace(evaluation, scores=list(map(grown, small)))


def test_no_number_of_a_page_has_an_exponent(large: Evaluation) -> None:
    charts = [figures.svg_for_page(chart) for chart in figures.charts(large)]
    shown = [" ".join(ElementTree.fromstring(chart).itertext()) for chart in charts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "charts", lambda _: [])
        text = re.sub(
            "<(style|script).*?</(style|script)>", "", report.html(large), flags=re.DOTALL
        )
    for found in (text, *shown):
        assert EXPONENT.findall(re.sub(r"\b[0-9a-f]{12}\b", "", found)) == []
    score = large.score("letters", "tokens")
    assert score is not None
    assert f"{score.low:,.0f} to {score.high:,.0f}" in text
    assert "p &lt; 0.001" in text


def test_tables_for_people_have_commas_and_those_for_programs_every_digit(
    large: Evaluation,
) -> None:
    score = large.score("letters", "tokens")
    assert score is not None
    for kind in ("table", "markdown", "latex"):
        shown = formats.FORMATS[kind](large)
        assert f"{score.value:,.0f}" in shown
        assert re.search(rf"± ?{score.value:,.0f}|pm\$ {score.value:,.0f}", shown)
    assert repr(score.value) in formats.to_csv(large)
    found = json.loads(formats.to_json(large))["scores"]
    assert dataclasses.asdict(score) in found


def test_logarithmic_axes_have_numbers_rather_than_powers(evaluation: Evaluation) -> None:
    [chart] = [c for c in figures.charts(evaluation) if c.name == "rank-frequency"]
    shown = [
        "".join(text.itertext())
        for text in ElementTree.fromstring(figures.rendered(chart.figure, "svg")).iter()
        if text.tag.endswith("}text")
    ]
    assert {"1", "10", "100"} <= set(shown)


# ---------------------------------------------------------------------- charts


def points(chart: figures.Chart) -> Iterator[list[tuple[float, float]]]:
    """Where the marks of each panel are, in points of the drawing."""
    chart.figure.draw_without_rendering()
    for axes in chart.figure.axes:
        marks = [line for line in axes.lines if line.get_marker() != "None"]
        found = [line.get_transform().transform(line.get_xydata())[0] for line in marks]
        scale = 72 / chart.figure.dpi
        yield [(float(x) * scale, float(y) * scale) for x, y in found]


@pytest.mark.parametrize("name", ["fertility-parity", "alignment"])
def test_no_point_hides_another(name: str, evaluation: Evaluation) -> None:
    """Three of the tokenizers have the very same numbers, and one is far off."""
    [chart] = [chart for chart in figures.charts(evaluation) if chart.name == name]
    panels = list(points(chart))
    assert len(panels) == 2
    for found in panels:
        assert len(found) == len(evaluation.tokenizers) == 7
        for i, (x, y) in enumerate(found):
            for other_x, other_y in found[:i]:
                assert max(abs(x - other_x), abs(y - other_y)) > 10


def test_one_far_off_does_not_squeeze_the_others(evaluation: Evaluation) -> None:
    chart = figures.charts(evaluation)[0]
    values = {name: evaluation.score(name, "fertility") for name in evaluation.tokenizers}
    far = values.pop("letters")
    others = [score.value for score in values.values() if score is not None]
    assert far is not None
    assert far.value > 2 * max(others) > 0
    left, right = chart.figure.axes[0].get_xlim()
    assert left < min(others) < max(others) < right < far.value
    assert max(others) - min(others) > (right - left) / 2
    [arrow] = [line for line in chart.figure.axes[0].lines if line.get_marker() == ">"]
    assert arrow.get_xdata()[0] == right
    assert "an arrow stands for a value beyond" in chart.caption
    shown = "".join(ElementTree.fromstring(figures.rendered(chart.figure, "svg")).itertext())
    assert f"{far.value:.3f}" in shown


def test_a_caption_is_about_arrows_only_if_there_are_any() -> None:
    given = [given_tokens("words", TARGETS), given_tokens("letters", LETTERS)]
    how: dict[str, Any] = {"source_tokenizer": str.split, "align": False, "resamples": 10}
    chart = figures.charts(pairpiece.evaluate(given, TARGETS, SOURCES, **how))[0]
    assert "arrow" not in chart.caption
    assert not [line for line in chart.figure.axes[0].lines if line.get_marker() in "<>"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0], (1.0, 1.0)),
        ([1.0, 9.0], (1.0, 9.0)),
        ([2.0, 2.0, 2.0], (2.0, 2.0)),
        ([1.5, 9.0, 1.0], (1.0, 1.5)),
        ([9.0, 0.5, 8.5], (8.5, 9.0)),
        ([1.0, 2.0, 3.0, 4.0], (1.0, 4.0)),
        ([1.0, 1.1, 9.0, 9.1], (1.0, 9.1)),
    ],
)
def test_an_axis_leaves_out_what_is_far_off(
    values: list[float], expected: tuple[float, float]
) -> None:
    assert figures.window(values) == expected


@pytest.mark.parametrize("name", ["n" * 200, "word " * 40, "  ", "$x$"])
def test_a_long_name_leaves_room_for_the_points(name: str) -> None:
    given = [given_tokens(name, TARGETS), given_tokens("letters", LETTERS)]
    how: dict[str, Any] = {"source_tokenizer": str.split, "align": False, "resamples": 10}
    chart = figures.charts(pairpiece.evaluate(given, TARGETS, SOURCES, **how))[0]
    chart.figure.draw_without_rendering()
    assert all(axes.get_position().width > 0.2 for axes in chart.figure.axes)


# ---------------------------------------------------------------------- in a browser

BOX = """box => ({
    wider: box.scrollWidth - box.clientWidth,
    hint: box.previousElementSibling.offsetHeight > 0 && box.previousElementSibling.textContent,
    focus: box.tabIndex,
    shade: getComputedStyle(box).backgroundImage.split("gradient").length - 1,
    first: box.querySelector("tbody tr").cells[0].getBoundingClientRect().left
        - box.getBoundingClientRect().left,
    last: [...box.querySelector("tbody tr").cells].at(-1).getBoundingClientRect().right
        - box.getBoundingClientRect().right,
})"""


def unfold(page: Any) -> None:
    page.locator(".difference").evaluate_all("all => all.forEach(one => { one.open = true; })")


@pytest.mark.parametrize("which", ["#summary", "#words", "#neighbours"])
def test_a_wide_table_scrolls_in_its_box_on_a_phone_and_says_so(opened: Any, which: str) -> None:
    page = opened(**PHONE)
    unfold(page)
    box = page.locator(f"{which} .scroll:has(td)").first
    box.evaluate("box => { box.querySelector('td:last-child').style.minWidth = '30rem'; }")
    page.wait_for_timeout(100)
    found = box.evaluate(BOX)
    assert found["wider"] > 50
    assert found["hint"] == "Scroll sideways for the rest →"
    assert found["focus"] == 0
    assert found["shade"] == 4
    assert found["first"] == 0
    assert found["last"] > 0
    box.evaluate("box => { box.scrollLeft = box.scrollWidth; }")
    found = box.evaluate(BOX)
    assert found["first"] == 0  # still
    assert found["last"] <= 1
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_table_that_fits_says_nothing(opened: Any) -> None:
    page = opened(**WIDE)
    unfold(page)
    box = page.locator("#words .scroll:has(td)").first
    found = box.evaluate(BOX)
    assert found["wider"] == 0
    assert not found["hint"]
    assert found["focus"] == -1


def top_of(page: Any, where: str) -> float:
    return float(page.locator(where).evaluate("element => element.getBoundingClientRect().top"))


def test_the_contents_stay_beside_the_text_of_a_wide_window(opened: Any) -> None:
    page = opened(**WIDE)
    nav, main = page.locator("nav"), page.locator("main")
    for section in ("charts", "words", "sentences", "neighbours"):
        page.click(f"nav a[href='#{section}']")
        page.locator(f"nav a[href='#{section}'][aria-current]").wait_for()
        assert 0 <= nav.bounding_box()["y"] < 100
        assert nav.bounding_box()["x"] + nav.bounding_box()["width"] <= main.bounding_box()["x"]
    page.click("nav a[href='#sentences']")
    assert abs(top_of(page, "#sentences")) < 50
    page.click("nav .top")
    assert page.evaluate("scrollY") == 0


def test_the_contents_are_folded_in_a_bar_on_a_phone(opened: Any) -> None:
    page = opened(**PHONE)
    assert not page.locator("nav li a").first.is_visible()
    for section in ("charts", "sentences", "words", "neighbours"):
        page.click("nav summary")
        page.click(f"nav a[href='#{section}']")
        assert not page.locator("nav li a").first.is_visible()
        bar = page.locator("nav").bounding_box()
        assert (bar["y"], bar["height"] < 60) == (0, True)
        assert bar["height"] - 1 <= top_of(page, f"#{section} h2") < 120
    page.click("nav .top")
    assert page.evaluate("scrollY") == 0


def test_nothing_is_cut_off_on_paper(opened: Any, evaluation: Evaluation) -> None:
    page = opened(viewport={"width": 690, "height": 1000})  # A4 without its margins
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert not page.locator("nav").is_visible()
    assert page.locator(".more:visible, input:visible, .aside:visible").count() == 0
    tables = page.locator("#summary table:visible")
    widths = tables.evaluate_all("all => all.map(table => table.getBoundingClientRect().right)")
    assert len(widths) == 2
    assert max(widths) <= 690
    heads = page.locator("#summary table:visible thead th:not(:first-child)").all_inner_texts()
    assert heads == evaluation.tokenizers
    assert page.evaluate("document.documentElement.scrollWidth") == 690
    words = page.locator("#words details")
    folded = words.evaluate_all("all => all.map(one => one.open)")
    assert len(folded) > 1
    assert all(folded)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert words.evaluate_all("all => all.map(one => one.open)") == [True] + [False] * (
        len(folded) - 1
    )


def test_paper_is_white_even_in_the_dark(opened: Any) -> None:
    page = opened(color_scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) != "rgb(255, 255, 255)"
    page.emulate_media(media="print")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
