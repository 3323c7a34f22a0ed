"""The report: one page that loads nothing, runs nothing but its own script, and can be used."""

from __future__ import annotations

import dataclasses
import functools
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from xml.etree import ElementTree

import pytest
from support import tampering
from support.browser import WINDOWS, Tab
from support.command_line import run, text
from support.french_italian import LETTERS, PAIRS, SOURCES, TARGETS

import pairpiece
from pairpiece.evaluation import Evaluation
from pairpiece.evaluation.systems import System, systems_of

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

from pairpiece.evaluation import figures, report

QUICK: dict[str, Any] = {"resamples": 20, "runs": 1}


def split(texts: list[str]) -> list[list[str]]:
    return [sentence.split() for sentence in texts]


def given_tokens(name: str, rows: list[str]) -> System:
    return System(name, "0123456789ab", lambda _: split(rows), None)


def with_name(name: str, path: object = "") -> System:
    [one] = systems_of(path or f"{tampering.saved().name}/@marginal")
    return dataclasses.replace(one, name=name)


# ---------------------------------------------------------------------- pages


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    given = [*systems_of(f"our={tampering.saved().name}"), given_tokens("letters", LETTERS)]
    return pairpiece.evaluate(given, TARGETS, SOURCES, **QUICK)


@pytest.fixture(scope="module")
def page(evaluation: Evaluation) -> str:
    return report.html(evaluation)


@pytest.fixture
def no_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """For pages that are about something else: charts take time."""
    monkeypatch.setattr(figures, "charts", lambda _: [])


EVIL = "<script>alert(1)</script>"
HOSTILE = [
    f"uno due tre {EVIL} quattro",
    "uno \"due\" 'tre' & quattro &amp; cinque",
    "uno </script><img src=x onerror=alert(1)> tre quattro",
    "x\" onmouseover=\"alert(1) y' onclick='alert(1) z w",
    "{{ 7 * 7 }} {% raw %} uno due tre",
    "riga\u2028riga\u2029riga\x85riga uno due tre",
    "\u202eabc\u202c שלום עולם مرحبا uno due",
    "nullo \0 byte \x1b[1m uno due tre quattro",
    "]]> <!-- --> <![CDATA[ uno due tre",
    "javascript:alert(1) https://example.com/x.png uno due tre",
]
NAMES = [f"{EVIL}\"'&<>", "\u202eשלום </title><svg onload=alert(1)>"]


@pytest.fixture(scope="module")
def hostile_page() -> str:
    """Hostile sentences, tokens, pieces, source tokens and names."""
    pairs: list[Any] = [(source, target, count) for source, target, count in PAIRS if source]
    odd = [token for sentence in HOSTILE for token in sentence.split()]
    pairs += [([token], f"▁{token}", 50.0) for token in odd]
    model = pairpiece.train_from_pairs(
        pairs, 900, normalization="none", source_tokenizer=str.split, pretokenization="spaces"
    )
    both = [
        dataclasses.replace(one, name=name)
        for one, name in zip(systems_of(model), NAMES, strict=True)
    ]
    return report.html(pairpiece.evaluate(both, HOSTILE, HOSTILE, **QUICK))


class Page(HTMLParser):
    """What a page has in it."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.styles: list[str] = []
        self._open: list[str] = []
        self.feed(content)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        if inside == "style":
            self.styles.append(data)
        elif inside != "script":
            self.texts.append(data)

    def values(self, name: str) -> list[str]:
        return [value for _, attribute, value in self.attributes if attribute == name]


parsed = functools.cache(Page)


@pytest.mark.parametrize("which", ["page", "hostile_page"])
def test_a_page_loads_nothing(which: str, request: pytest.FixtureRequest) -> None:
    content: str = request.getfixturevalue(which)
    found = parsed(content)
    loading = ("src", "href", "xlink:href", "srcset", "action", "data", "poster", "background")
    for name in loading:
        assert all(value.startswith(("#", "data:,")) for value in found.values(name)), name
    forbidden = {"iframe", "object", "embed", "img", "form", "base", "audio", "video", "image"}
    assert not forbidden & set(found.tags)
    named = [a for _, a, value in found.attributes if re.search(r"https?:", value)]
    assert {name for name in named if not name.startswith("xmlns")} <= {"rdf:resource"}
    styles = [*found.styles, *found.values("style"), *found.values("clip-path")]
    for style in styles:
        assert "@import" not in style
        assert re.findall(r"url\((?!#)", style) == []
    [policy] = [v for v in found.values("content") if "default-src" in v]
    assert "default-src 'none'" in policy


@pytest.mark.parametrize("which", ["page", "hostile_page"])
def test_a_page_has_two_scripts_and_no_handlers(which: str, request: pytest.FixtureRequest) -> None:
    found = parsed(request.getfixturevalue(which))
    assert found.tags["script"] == 2
    assert not [name for _, name, _ in found.attributes if name.startswith("on")]


def test_hostile_text_is_shown_as_it_is(hostile_page: str) -> None:
    shown = "".join(parsed(hostile_page).texts)
    for sentence in HOSTILE:
        assert sentence in shown
    for name in NAMES:
        assert shown.count(name) > 3
    assert EVIL not in hostile_page
    assert hostile_page.count("</script>") == 2
    assert hostile_page.count("<title>") == 1


def test_ids_are_used_once_and_what_is_referred_to_is_there(page: str) -> None:
    found = parsed(page)
    ids = Counter(found.values("id"))
    assert set(ids.values()) == {1}
    referred = set(re.findall(r"url\(#([^)]+)\)", page)) | {
        value[1:] for value in found.values("xlink:href") if value.startswith("#")
    }
    assert referred
    assert referred <= set(ids)


def test_the_numbers_are_in_the_page(page: str, evaluation: Evaluation) -> None:
    shown = "".join(parsed(page).texts)
    titles = parsed(page).values("title")
    for score in evaluation.scores:
        assert score.signature in shown
        assert any(score.signature in title for title in titles)
    for metric in evaluation.shown_metrics():
        assert metric.about in shown
    assert "10 sentences" in shown
    assert evaluation.data in shown
    assert page.count('class="best"') > 5


def test_another_process_makes_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.it").write_text(text(*TARGETS), encoding="utf-8")
    Path("text.fr").write_text(text(*SOURCES), encoding="utf-8")
    Path("letters").write_text(text(*LETTERS), encoding="utf-8")
    shutil.copytree(tampering.saved().name, "model")
    command = ["evaluate", "--tokenizer", "model", "--tokenizer", "pretokenized:letters"]
    command += ["--target", "text.it", "--source", "text.fr", "--no-align", "--resamples", "20"]
    options = ["--report", "page.html", "-o", "table"]
    ended = run(*command, *options, cache=tmp_path, env={"PYTHONHASHSEED": "1"})
    assert (ended.code, ended.err) == (0, "page.html: the report\n")
    given = ["model", "pretokenized:letters"]
    found = pairpiece.evaluate(given, "text.it", "text.fr", align=False, **QUICK)
    assert Path("page.html").read_text(encoding="utf-8") == report.html(found)


@pytest.mark.usefixtures("no_charts")
def test_words_that_are_segmented_otherwise_are_listed() -> None:
    rows = ["▁il ▁gatto ▁nero .", "▁il ▁gatto", "un ▁gatto"]
    others = ["▁il ▁gat to ▁nero .", "▁il ▁gat to", "u n ▁gatto"]
    given = [given_tokens("one", rows), given_tokens("two", others)]
    found = pairpiece.evaluate(given, TARGETS[:3], **QUICK)
    [difference] = report._differences(found)
    assert (difference["name"], difference["count"], difference["of"]) == ("two", 2, 4)
    words = [(w["word"], w["count"], w["theirs"], w["ours"]) for w in difference["words"]]
    assert words == [("gatto", 3, ("gatto",), ("gat", "to")), ("un", 1, ("un",), ("u", "n"))]
    assert "gat·to" in report.html(found)


def test_sentences_that_differ_most_come_first() -> None:
    same = ["a b c d e f"] * 40
    other = [*same[:7], "a b c d e f g h i", *same[8:30], "a b c d e f g", *same[31:]]
    given = [given_tokens("one", same), given_tokens("two", other)]
    found = pairpiece.evaluate(given, ["x"] * 40, **QUICK)
    numbers = [sentence["number"] for sentence in report._sentences(found)]
    assert numbers[:2] == [8, 31]
    assert len(numbers) == len(set(numbers)) == report.SENTENCES


@pytest.mark.parametrize(
    ("rows", "targets"),
    [(["a"], ["x"]), (["a " * 100], ["x"]), (["a b c d e", ""], ["x", "y"])],
    ids=["one token", "a long sentence", "an empty sentence"],
)
@pytest.mark.usefixtures("no_charts")
def test_little_text_makes_a_page(rows: list[str], targets: list[str]) -> None:
    found = pairpiece.evaluate([given_tokens("one", rows)], targets, metrics=["tokens"], **QUICK)
    assert "<h2>Sentences</h2>" in report.html(found)


@pytest.mark.usefixtures("no_charts")
def test_a_page_can_be_written_whatever_the_text() -> None:
    odd = ["un gatto \ud800 mangia un topo"]
    found = pairpiece.evaluate([f"{tampering.saved().name}/@marginal"], odd, **QUICK)
    assert report.html(found).encode("utf-8")


# ---------------------------------------------------------------------- figures

MAGIC = {"svg": b"<?xml", "pdf": b"%PDF-", "png": b"\x89PNG\r\n\x1a\n"}


@pytest.fixture(scope="module")
def drawn(evaluation: Evaluation) -> dict[str, bytes]:
    return figures.files_for(evaluation)


def test_every_chart_is_a_file_of_each_kind(drawn: dict[str, bytes]) -> None:
    charts = ("fertility-parity", "alignment", "token-lengths", "rank-frequency")
    assert set(drawn) == {f"{chart}.{kind}" for chart in charts for kind in MAGIC}
    for name, content in drawn.items():
        assert content.startswith(MAGIC[name.rpartition(".")[2]])
        assert len(content) > 2000


def test_figures_are_the_same_bytes_every_time(
    drawn: dict[str, bytes], evaluation: Evaluation
) -> None:
    for chart, kinds in zip(
        figures.charts(evaluation), (["pdf"], ["svg", "pdf", "png"], ["svg"], ["svg"]), strict=True
    ):
        for kind in kinds:
            assert figures.rendered(chart.figure, kind) == drawn[f"{chart.name}.{kind}"]


def test_figures_keep_their_text(drawn: dict[str, bytes], evaluation: Evaluation) -> None:
    for name in ("fertility-parity", "token-lengths", "rank-frequency"):
        shown = "".join(ElementTree.fromstring(drawn[f"{name}.svg"]).itertext())
        assert all(one in shown for one in evaluation.tokenizers)


def chart_names(*given: Any, **how: Any) -> list[str]:
    found = pairpiece.evaluate(list(given), TARGETS, **QUICK, **how)
    return [chart.name for chart in figures.charts(found)]


def test_there_are_charts_of_what_there_are_numbers_for() -> None:
    alone = ["token-lengths", "rank-frequency"]
    assert chart_names(given_tokens("one", LETTERS)) == alone
    how: dict[str, Any] = {"source": SOURCES, "source_tokenizer": str.split, "align": False}
    assert chart_names(given_tokens("one", LETTERS), **how) == ["fertility-parity", *alone]
    assert chart_names(given_tokens("one", LETTERS), **how, metrics=["parity"]) == alone


def test_a_chart_has_the_signatures_of_its_numbers(evaluation: Evaluation) -> None:
    charts = {chart.name: chart.signatures(evaluation) for chart in figures.charts(evaluation)}
    expected = [s.signature for s in evaluation.scores if s.metric in ("fertility", "parity")]
    assert charts["fertility-parity"] == expected
    assert all(evaluation.data in signature for found in charts.values() for signature in found)
    assert all(len(set(found)) == len(found) for found in charts.values())


ODD_NAMES = ["_x", "a$b$c", r"$\foo$", "a_b^c", "<b>&amp;", 'id="x', "a\\nb", "שלום", "日本語"]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_chart_shows_a_name_as_it_is(name: str) -> None:
    given = [with_name(name), given_tokens("other", LETTERS)]
    found = pairpiece.evaluate(given, TARGETS, metrics=["tokens"], **QUICK)
    drawing = ElementTree.fromstring(figures.svg_for_page(figures.charts(found)[-1]))
    assert name in [" ".join("".join(element.itertext()).split()) for element in drawing.iter()]


def test_many_tokenizers_can_be_drawn() -> None:
    given = [given_tokens(f"number {i}", LETTERS) for i in range(20)]
    found = pairpiece.evaluate(given, TARGETS, metrics=["tokens"], **QUICK)
    assert "number 19" in figures.svg_for_page(figures.charts(found)[0])


def test_charts_of_a_page_take_their_ink_from_it(page: str) -> None:
    assert page.count("<svg role=") == 4
    assert "currentColor" in page
    assert figures._INK not in page
    assert "<?xml" not in page


# ---------------------------------------------------------------------- in a browser


@pytest.fixture(scope="module")
def tab(browser: Any, page: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    tab = Tab(browser, tmp_path_factory.mktemp("report") / "report.html", page)
    yield tab
    assert tab.troubles == []
    tab.page.close()


@pytest.mark.parametrize(
    ("which", "window"),
    [("page", "light"), ("page", "dark"), ("page", "narrow"), ("hostile_page", "narrow")],
)
def test_a_page_opens_without_trouble(
    which: str, window: str, browser: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    tab = Tab(browser, tmp_path / "x.html", request.getfixturevalue(which), **WINDOWS[window])
    tab.page.locator(".token").first.hover()
    assert tab.troubles == []
    assert tab.requests == [(tmp_path / "x.html").as_uri()]
    assert tab.overflow() == 0
    tab.page.close()


SMUGGLED = {
    "script": "<script>window.ran = 1</script>",
    "handler": '<b onmouseover="window.ran = 1" onclick="window.ran = 1" class="x">x</b>',
    "picture": '<img src="data:," onerror="window.ran = 1">',
    "drawing": '<svg onload="window.ran = 1"><script>window.ran = 1</script></svg>',
    "link": '<a class="x" href="javascript:window.ran = 1">x</a>',
    "frame": '<iframe srcdoc="<script>parent.ran = 1</script>"></iframe>',
    "from elsewhere": '<script src="ELSEWHERE/x.js"></script><img src="ELSEWHERE/x.png">',
    "form": '<form action="javascript:window.ran = 1"><button class="x">x</button></form>',
    "base": '<base href="ELSEWHERE/"><img src="x"><script src="x"></script>',
    "event of a frame": '<object data="data:text/html,<script>parent.ran = 1</script>"></object>',
}


@pytest.fixture
def elsewhere() -> Iterator[tuple[str, list[str]]]:
    """A server, and what it was asked for; it answers with a script."""
    asked: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"window.ran = 1")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


@pytest.mark.parametrize("name", SMUGGLED)
def test_what_got_into_a_page_all_the_same_would_not_run(
    name: str, browser: Any, page: str, elsewhere: tuple[str, list[str]], tmp_path: Path
) -> None:
    smuggled = SMUGGLED[name].replace("ELSEWHERE", elsewhere[0])
    content = page.replace("<main>", f"<main>{smuggled}", 1)
    tab = Tab(browser, tmp_path / "x.html", content)
    for found in tab.page.locator(".x").all():
        found.hover()
        found.click()
    tab.page.locator(".token").first.hover()
    assert state(tab)["active"], "the page's own script runs"
    assert tab.page.evaluate("window.ran") is None
    assert elsewhere[1] == []
    tab.page.close()


def test_everything_hostile_is_text_for_a_browser(browser: Any, tmp_path: Path) -> None:
    evil = "</title></style></script><script>window.ran = 1</script><img src=x onerror=ran=1>"
    both = [with_name(f"{evil}{i}") for i in range(2)]
    found = pairpiece.evaluate(both, HOSTILE, HOSTILE, **QUICK)
    found = dataclasses.replace(found, languages=evil, notes=[evil], data=evil)
    tab = Tab(browser, tmp_path / "x.html", report.html(found))
    assert tab.page.evaluate("window.ran") is None
    assert tab.page.title() == f"Tokenizers compared: {evil}"
    assert tab.page.locator("img").count() == 0
    assert evil in tab.page.locator("main").inner_text()
    assert tab.troubles == []
    tab.page.close()


def test_a_page_is_dark_where_the_system_is(browser: Any, page: str, tmp_path: Path) -> None:
    def light(colour: str) -> float:
        return sum(map(int, re.findall(r"\d+", colour)[:3])) / (3 * 255)

    for window, bright in (("light", True), ("dark", False)):
        tab = Tab(browser, tmp_path / "x.html", page, **WINDOWS[window])
        ink, paper = (
            light(tab.page.evaluate(f"getComputedStyle({where}).{what}"))
            for where, what in (
                ("document.querySelector('figure svg')", "color"),
                ("document.body", "backgroundColor"),
            )
        )
        assert (paper > ink) is bright
        assert abs(paper - ink) > 0.6
        tab.page.close()


@pytest.mark.usefixtures("no_charts")
def test_long_words_and_names_do_not_widen_a_page(browser: Any, tmp_path: Path) -> None:
    word = "x" * 300
    rows = [f"▁{word} a b c d e", "a b c d e"]
    given = [given_tokens("n" * 80, rows), given_tokens("m" * 80, ["a b c d e", *rows[1:]])]
    found = pairpiece.evaluate(given, [f"{word} y", "y"], metrics=["tokens"], **QUICK)
    tab = Tab(browser, tmp_path / "x.html", report.html(found), **WINDOWS["narrow"])
    assert tab.overflow() == 0
    tab.page.close()


STATE = """sentence => ({
    active: sentence.classList.contains("active"),
    tokens: [...sentence.querySelectorAll(".token")].map(token => ({
        row: [...sentence.querySelectorAll(".row")].indexOf(token.closest(".row")),
        links: token.dataset.links.split(" ").filter(Boolean).map(Number),
        on: token.classList.contains("on"),
        sub: token.querySelector("sub") ? token.querySelector("sub").textContent : null,
        seen: token.querySelector("sub") ? token.querySelector("sub").offsetWidth > 0 : null,
    })),
})"""


def state(tab: Tab, number: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = tab.page.locator(".sentence").nth(number).evaluate(STATE)
    return found


def away(tab: Tab) -> None:
    tab.page.locator("h1").hover()


def linked_source(tab: Tab) -> int:
    """A token of the first source sentence that every tokenizer has a link to."""
    tokens = state(tab)["tokens"]
    rows = {token["row"] for token in tokens} - {0}
    for i in range(sum(token["row"] == 0 for token in tokens)):
        if {t["row"] for t in tokens if t["row"] and i in t["links"]} == rows:
            return i
    raise AssertionError("no source token is linked by all")


def test_links_can_be_seen_without_pointing(tab: Tab, evaluation: Evaluation) -> None:
    away(tab)
    found = state(tab)
    assert not found["active"]
    assert not any(token["on"] for token in found["tokens"])
    linked = 0
    sources = [token for token in found["tokens"] if token["row"] == 0]
    assert [token["sub"] for token in sources] == [str(i + 1) for i in range(len(sources))]
    for token in found["tokens"]:
        if token["row"] > 0:
            numbers = ",".join(str(link + 1) for link in token["links"])
            assert token["sub"] == (numbers or None)
            assert token["seen"] in (True, None)
            linked += bool(numbers)
    assert linked > 3
    [number] = re.findall(r"^(\d+)\.", tab.page.locator(".sentence p").first.inner_text())
    i = int(number) - 1
    expected = [len(tokenized.tokens[i]) for tokenized in evaluation.tokenized]
    shown = [sum(t["row"] == row for t in found["tokens"]) for row in range(1 + len(expected))]
    assert shown == [len((evaluation.tokenized[0].source_tokens or [])[i]), *expected]
    for row, tokenized in enumerate(evaluation.tokenized, 1):
        pairs = {
            (link, k)
            for k, token in enumerate(t for t in found["tokens"] if t["row"] == row)
            for link in token["links"]
        }
        assert pairs == set(tokenized.runs[0].pairs[i])


def test_pointing_at_a_source_token_shows_what_it_is_linked_with(tab: Tab) -> None:
    i = linked_source(tab)
    sentence = tab.page.locator(".sentence").first
    sentence.locator(".token").nth(i).hover()
    found = state(tab)
    assert found["active"]
    assert not state(tab, 1)["active"]
    for token in found["tokens"]:
        assert token["on"] == (i in token["links"])
    assert sum(token["on"] for token in found["tokens"]) >= 4
    away(tab)
    found = state(tab)
    assert not found["active"]
    assert not any(token["on"] for token in found["tokens"])


def test_pointing_at_a_target_token_shows_its_source(tab: Tab) -> None:
    tokens = state(tab)["tokens"]
    k = next(k for k, token in enumerate(tokens) if token["row"] > 0 and token["links"])
    tab.page.locator(".sentence").first.locator(".token").nth(k).hover()
    found = state(tab)["tokens"]
    assert found[k]["on"]
    for token in found:
        assert token["on"] == bool(set(token["links"]) & set(tokens[k]["links"]))
    away(tab)


def test_a_token_can_be_reached_with_the_keyboard(tab: Tab) -> None:
    i = linked_source(tab)
    away(tab)
    tokens = tab.page.locator(".sentence").first.locator(".token")
    tokens.nth(i).focus()
    found = state(tab)
    assert found["active"]
    assert [t["on"] for t in found["tokens"]] == [i in t["links"] for t in found["tokens"]]
    tab.page.keyboard.press("Tab")
    here = state(tab)["tokens"]
    focused = tab.page.evaluate(
        "[...document.querySelectorAll('.sentence .token')].indexOf(document.activeElement)"
    )
    assert focused > i
    assert here[focused]["on"]
    tab.page.evaluate("document.activeElement.blur()")
    found = state(tab)
    assert not found["active"]
    assert not any(token["on"] for token in found["tokens"])


@pytest.fixture
def search(tab: Tab) -> Iterator[Any]:
    box = tab.page.locator("#search")
    box.fill("")
    yield box
    box.fill("")


def rows_found(tab: Tab) -> list[list[str]]:
    script = "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    found: list[list[str]] = tab.page.locator("#pieces tbody tr").evaluate_all(script)
    return found


def test_pieces_can_be_searched(tab: Tab, search: Any, evaluation: Evaluation) -> None:
    pieces = report._pieces(evaluation)
    assert pieces is not None
    total = len(pieces["rows"])
    everything = rows_found(tab)
    assert len(everything) == min(total, 200)
    assert tab.page.locator("#found").inner_text().startswith(f"{total} of {total} pieces")
    search.fill("GATT")
    found = rows_found(tab)
    expected = [
        piece
        for piece, _, near in pieces["rows"]
        if "gatt" in piece.lower() or any("gatt" in token.lower() for token, _ in near)
    ]
    assert [row[0] for row in found] == expected
    assert expected
    assert tab.page.locator("#found").inner_text() == f"{len(expected)} of {total} pieces"
    search.fill("")
    assert rows_found(tab) == everything


def test_a_search_finds_source_tokens(tab: Tab, search: Any) -> None:
    search.fill("▁chat")
    found = rows_found(tab)
    assert found
    assert all("▁chat" in row[0] + row[2] for row in found)


@pytest.mark.parametrize("wanted", ["nothing like it", "(", "\\", "<b>", "[", "*"])
def test_what_is_not_found_is_no_trouble(wanted: str, tab: Tab, search: Any) -> None:
    search.fill(wanted)
    found = rows_found(tab)
    assert all(wanted in row[0] + row[2] for row in found)
    count = tab.page.locator("#found").inner_text()
    assert count.startswith(f"{len(found)} of ")


def test_hostile_pieces_are_searched_as_text(
    browser: Any, hostile_page: str, tmp_path: Path
) -> None:
    tab = Tab(browser, tmp_path / "x.html", hostile_page)
    tab.page.locator("#search").fill("<script>")
    found = rows_found(tab)
    assert any(EVIL in row[0] + row[2] for row in found)
    assert tab.page.locator("#pieces script, #pieces img").count() == 0
    assert tab.page.locator("h2").last.inner_text().startswith("Pieces of ")
    assert tab.page.title() == "Tokenizers compared"
    assert tab.troubles == []
    tab.page.close()


@pytest.mark.usefixtures("no_charts")
def test_a_page_without_a_source_opens_too(browser: Any, tmp_path: Path) -> None:
    given = [given_tokens("letters", LETTERS), with_name("our")]
    found = pairpiece.evaluate(given, TARGETS, **QUICK)
    tab = Tab(browser, tmp_path / "x.html", report.html(found), **WINDOWS["narrow"])
    tab.page.locator(".token").first.hover()
    assert state(tab)["active"] is False
    assert tab.troubles == []
    assert tab.overflow() == 0
    tab.page.close()
