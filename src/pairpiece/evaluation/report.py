"""An evaluation as a report: one HTML page to look at, which needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from pairpiece import __version__
from pairpiece.evaluation import figures
from pairpiece.evaluation.formats import caption, cells, number, p_value, title
from pairpiece.evaluation.scores import Evaluation
from pairpiece.evaluation.tokenized import Tokenized
from pairpiece.links.symmetrization import Link
from pairpiece.text.options import MARKER

SENTENCES = 12
WORDS = 25
NEIGHBOURS = 5

COLUMNS_ON_PAPER = 5

_TEMPLATE, _STYLE, _SCRIPT = (
    Path(__file__).with_name(f"report.{kind}") for kind in ("html.jinja", "css", "js")
)


def html(evaluation: Evaluation) -> str:
    """The whole page."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    charts = [
        {
            "svg": Markup(figures.svg_for_page(chart)),
            "caption": chart.caption,
            "signatures": chart.signatures(evaluation),
        }
        for chart in figures.charts(evaluation)
    ]
    pieces = _pieces(evaluation)
    script = _SCRIPT.read_text(encoding="utf-8")
    environment.filters |= {"number": number, "p_value": p_value}
    page: str = environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        evaluation=evaluation,
        style=Markup(_STYLE.read_text(encoding="utf-8")),
        script=Markup(script),
        script_hash=_hash(script),
        caption=caption(evaluation),
        version=__version__,
        parts=_parts(len(evaluation.tokenizers)),
        rows=list(_rows(evaluation)),
        charts=charts,
        sentences=list(_sentences(evaluation)),
        differences=list(_differences(evaluation)),
        pieces=pieces,
        pieces_json=Markup(_script_json([] if pieces is None else pieces["rows"])),
    )
    return page


def _parts(columns: int) -> list[range]:
    """The columns of each table on paper, which cannot be scrolled: about as many in each."""
    number = -(-columns // COLUMNS_ON_PAPER)
    ends = [columns * i // number for i in range(number + 1)]
    return [range(*both) for both in pairwise(ends)]


def _hash(script: str) -> str:
    """What a page says about the only script that may run in it."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _script_json(value: Any) -> str:
    """JSON that cannot end the script it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


# ---------------------------------------------------------------------- summary


def _rows(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    for metric in evaluation.shown_metrics():
        row = []
        for cell in cells(evaluation, metric):
            score = cell.score
            details = []
            if score is not None and score.low < score.high:
                details.append(f"95 %: {number(score.low)} to {number(score.high)}")
            if score is not None and score.comparison is not None:
                compared = score.comparison
                far, low, high = (
                    number(x, sign=True) for x in (compared.difference, compared.low, compared.high)
                )
                details.append(f"difference {far} ({low} to {high}), {p_value(compared.p)}")
            row.append(
                {
                    "text": cell.text,
                    "best": cell.best,
                    "details": "; ".join(details),
                    "signature": "" if score is None else score.signature,
                }
            )
        yield {"title": title(metric), "about": metric.about, "cells": row}


# ---------------------------------------------------------------------- sentences


@dataclass(frozen=True)
class _Token:
    text: str
    links: list[int]  # source tokens, or for a source token itself
    colour: int | None


def _sentences(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    """Sentences with the tokens of every tokenizer, those first where they differ most."""
    for i in _chosen(evaluation.tokenized):
        texts = evaluation.tokenized
        sources = texts[0].source_tokens
        rows = []
        linked: set[int] = set()
        for text in texts:
            links = _links_of(text, i)
            of_target: dict[int, list[int]] = {}
            for source, target in links:
                of_target.setdefault(target, []).append(source)
                linked.add(source)
            tokens = [
                _Token(token, of_target.get(k, []), of_target.get(k, [None])[0])
                for k, token in enumerate(text.tokens[i])
            ]
            rows.append({"name": text.system.name, "tokens": tokens})
        source_row = [
            _Token(token, [k], k if k in linked else None)
            for k, token in enumerate(sources[i] if sources is not None else [])
        ]
        both = texts[0].text
        yield {
            "number": i + 1,
            "target": both.targets[i],
            "text": both.sources[i] if both.sources is not None else None,
            "source": source_row,
            "rows": rows,
        }


def _links_of(text: Tokenized, i: int) -> list[Link]:
    return text.runs[0].pairs[i] if text.runs else []


def _chosen(texts: list[Tokenized]) -> list[int]:
    """Sentences of a length that can be read, with the most different numbers of tokens."""
    lengths = [[len(text.tokens[i]) for text in texts] for i in range(len(texts[0].tokens))]
    readable = [i for i, counts in enumerate(lengths) if min(counts) >= 5 and max(counts) <= 60]
    candidates = readable or [i for i, counts in enumerate(lengths) if min(counts) > 0]

    def difference(i: int) -> tuple[float, int]:
        return (min(lengths[i]) / max(lengths[i]), i)

    half = SENTENCES // 2
    different = sorted(candidates, key=difference)[:half]
    others = [i for i in candidates if i not in different]
    step = max(1, len(others) // half)
    return different + others[step // 2 :: step][:half]


# ---------------------------------------------------------------------- words


def _differences(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    """The most frequent words that a tokenizer segments otherwise than the baseline."""
    ways = {
        text.system.name: _words(text)
        for text in evaluation.tokenized
        if any(token.startswith(MARKER) for token in text.types)
    }
    theirs = ways.pop(evaluation.baseline, {})
    for name, ours in ways.items():
        different = [
            (sum(ours[word].values()), word)
            for word in ours.keys() & theirs.keys()
            if _usual(ours[word]) != _usual(theirs[word])
        ]
        different.sort(key=lambda item: (-item[0], item[1]))
        yield {
            "name": name,
            "count": len(different),
            "of": len(ours.keys() & theirs.keys()),
            "words": [
                {
                    "word": word,
                    "count": count,
                    "theirs": _usual(theirs[word]),
                    "ours": _usual(ours[word]),
                }
                for count, word in different[:WORDS]
            ],
        }


def _usual(segmentations: Counter[tuple[str, ...]]) -> tuple[str, ...]:
    """The most frequent segmentation of a word."""
    return min(segmentations, key=lambda tokens: (-segmentations[tokens], tokens))


def _words(text: Tokenized) -> dict[str, Counter[tuple[str, ...]]]:
    """How the words of a text, which begin at ▁, are segmented."""
    found: dict[str, Counter[tuple[str, ...]]] = {}
    for row in text.tokens:
        word: list[str] = []
        for token in [*row, MARKER]:
            if token.startswith(MARKER) and word:
                surface = "".join(word).strip(MARKER)
                # The first word of a text may do without the mark.
                tokens = tuple(filter(None, (word[0].lstrip(MARKER), *word[1:])))
                found.setdefault(surface, Counter())[tokens] += 1
                word = []
            word.append(token)
    return found


# ---------------------------------------------------------------------- pieces


def _pieces(evaluation: Evaluation) -> dict[str, Any] | None:
    """The pieces of the first PairPiece model that has a source: frequency, source neighbours."""
    for text in evaluation.tokenized:
        model = text.system.model
        if model is None or not model.is_paired:
            continue
        counts = Counter(token for row in text.tokens for token in row)
        neighbours = model.lexicon(NEIGHBOURS).sources
        pieces = [piece for piece in model.get_vocab() if neighbours.get(piece)]
        pieces.sort(key=lambda piece: -counts[piece])
        rows = [
            (piece, counts[piece], [(token, round(p, 3)) for token, p in neighbours[piece]])
            for piece in pieces
        ]
        return {"name": text.system.name, "rows": rows}
    return None
