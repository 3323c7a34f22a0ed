"""A sentence and its translation, token by token, coloured by what is linked with what."""

from __future__ import annotations

from rich.text import Text

from pairpiece.model.token_links import Alignment
from pairpiece.model.tokenizer import Tokenizer

COLOURS = ("#ffd6a5", "#a0c4ff", "#caffbf", "#ffadad", "#bdb2ff", "#9bf6ff", "#fdffb6", "#ffc6ff")
"""Backgrounds on which black text can be read; used in turn for the source tokens."""


def side_by_side(tokenizer: Tokenizer, source: str, target: str) -> list[Text]:
    """Lines with the source tokens, the target tokens in the colours of theirs, and the links."""
    alignment = tokenizer.align(source, target)
    colour_of = {t: COLOURS[s % len(COLOURS)] for s, t in alignment.links}
    linked = {s for s, _ in alignment.links}
    known = tokenizer.state.source_tokenizer
    sources = [
        (
            known.readable(token) if known else token,
            COLOURS[i % len(COLOURS)] if i in linked else None,
        )
        for i, token in enumerate(alignment.source_tokens)
    ]
    targets = [(token, colour_of.get(i)) for i, token in enumerate(alignment.target_tokens)]
    return [
        _line("source", sources),
        _line("target", targets),
        Text(f"  links   {links_in_words(alignment)}", style="dim"),
    ]


def _line(name: str, tokens: list[tuple[str, str | None]]) -> Text:
    line = Text(f"  {name}  ")
    for token, colour in tokens:
        line.append(token, style=f"black on {colour}" if colour else "")
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
