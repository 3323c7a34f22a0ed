"""Draw a paired segmentation: source tokens above, target tokens below, lines between them.

pairpiece demo --output it-fr/
python tools/segmentation_picture.py it-fr/ SOURCE TARGET [SOURCE TARGET …] > picture.svg
"""

from __future__ import annotations

import sys
from xml.sax.saxutils import escape

import pairpiece
from pairpiece.commands.side_by_side import COLOURS

CHARACTER, HEIGHT, GAP, ROW, MARGIN = 9.0, 26, 5, 66, 14


def main() -> None:
    model = pairpiece.load(sys.argv[1])
    drawings: list[str] = []
    width = 0.0
    top = float(MARGIN)
    for source, target in zip(sys.argv[2::2], sys.argv[3::2], strict=True):
        alignment = model.align(source, target)
        drawn, used = draw(alignment, top)
        drawings += drawn
        width = max(width, used)
        top += ROW + HEIGHT + 26
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + MARGIN:.0f}" '
        f'height="{top - 26 + MARGIN:.0f}" font-family="monospace" font-size="15">'
    )
    print('<rect width="100%" height="100%" rx="8" fill="white"/>')
    print("\n".join(drawings))
    print("</svg>")


def draw(alignment: pairpiece.Alignment, top: float) -> tuple[list[str], float]:
    """The boxes and lines of one sentence pair, and how wide they are."""
    colour_of_source = {s: COLOURS[s % len(COLOURS)] for s, _ in alignment.links}
    colour_of_target = {t: COLOURS[s % len(COLOURS)] for s, t in alignment.links}
    above, above_width = place(alignment.source_tokens)
    below, below_width = place(alignment.target_tokens)
    lines = [
        f'<line x1="{middle(above[s])}" y1="{top + HEIGHT}" x2="{middle(below[t])}" '
        f'y2="{top + ROW}" stroke="{COLOURS[s % len(COLOURS)]}" stroke-width="4"/>'
        for s, t in alignment.links
    ]
    boxes = [
        box(token, span, top, colour_of_source.get(i))
        for i, (token, span) in enumerate(zip(alignment.source_tokens, above, strict=True))
    ]
    boxes += [
        box(token, span, top + ROW, colour_of_target.get(i))
        for i, (token, span) in enumerate(zip(alignment.target_tokens, below, strict=True))
    ]
    return lines + boxes, max(above_width, below_width)


Span = tuple[float, float]


def place(tokens: list[str]) -> tuple[list[Span], float]:
    spans: list[Span] = []
    left = float(MARGIN)
    for token in tokens:
        if token.startswith("▁") and spans:
            left += 2 * GAP
        size = CHARACTER * len(token.strip("▁") or " ") + 10
        spans.append((left, left + size))
        left += size + GAP
    return spans, left


def middle(span: Span) -> float:
    return (span[0] + span[1]) / 2


def box(token: str, span: Span, top: float, colour: str | None) -> str:
    text = escape(token.strip("▁"))
    return (
        f'<rect x="{span[0]}" y="{top}" width="{span[1] - span[0]}" height="{HEIGHT}" rx="4" '
        f'fill="{colour or "#eeeeee"}"/>'
        f'<text x="{middle(span)}" y="{top + 18}" text-anchor="middle" fill="black">{text}</text>'
    )


if __name__ == "__main__":
    main()
