"""A sentence and its translation, token by token, coloured by what is linked with what."""

from __future__ import annotations

from rich.text import Text

from pairpiece.model.token_links import Alignment
from pairpiece.model.tokenizer import Tokenizer
from pairpiece.terminal import visible

COLOURS = ("#ffd6a5", "#a0c4ff", "#caffbf", "#ffadad", "#bdb2ff", "#9bf6ff", "#fdffb6", "#ffc6ff")
"""Backgrounds on which black text can be read; used in turn for the source tokens."""

_MANY = tuple(f"black on {colour}" for colour in COLOURS)
_FEW = (
    *("black on yellow", "white on blue", "black on green", "white on red", "black on cyan"),
    *("white on magenta", "black on white"),
)
"""For terminals of 8 or 16 colours, where several of those above would become the same."""

_ROUNDS = ("", " underline", " italic", " underline italic")
"""When all colours are used they come again, but not quite the same."""


def side_by_side(
    tokenizer: Tokenizer, source: str, target: str, color_system: str | None = "truecolor"
) -> list[Text]:
    """Lines with the source tokens, the target tokens in the colours of theirs, and the links.

    `color_system` is that of the console that will show them, as rich calls it.
    """
    alignment = tokenizer.align(source, target)
    styles = _MANY if color_system in ("truecolor", "256") else _FEW
    linked = sorted({s for s, _ in alignment.links})
    style_of = {
        s: styles[i % len(styles)] + _ROUNDS[i // len(styles) % len(_ROUNDS)]
        for i, s in enumerate(linked)
    }
    style_of_target = {t: style_of[s] for s, t in alignment.links}
    known = tokenizer.state.source_tokenizer
    sources = [
        (known.readable(token) if known else token, style_of.get(i, ""))
        for i, token in enumerate(alignment.source_tokens)
    ]
    targets = [
        (token, style_of_target.get(i, "")) for i, token in enumerate(alignment.target_tokens)
    ]
    return [
        _line("source", sources),
        _line("target", targets),
        Text(f"  links   {visible(links_in_words(alignment))}", style="dim"),
    ]


def _line(name: str, tokens: list[tuple[str, str]]) -> Text:
    line = Text(f"  {name}  ")
    for token, style in tokens:
        line.append(visible(token), style=style)
        line.append(" ")
    return line


def links_in_words(alignment: Alignment) -> str:
    """The links as ``token=token`` pairs, in the order of the target."""
    by_target = sorted(alignment.links, key=lambda link: link[1])
    return " ".join(
        f"{alignment.target_tokens[t].strip('▁')}={alignment.source_tokens[s].strip('▁')}"
        for s, t in by_target
        if alignment.target_tokens[t].strip("▁") and alignment.source_tokens[s].strip("▁")
    )
