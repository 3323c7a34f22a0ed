"""Text that is tokens already."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from pairpiece.foreign.protocol import ForeignTokenizer, Words
from pairpiece.foreign.source_words import by_word, source_words
from pairpiece.text.options import MARKER


class Pretokenized(ForeignTokenizer):
    """Text that is tokens already, separated by spaces.

    If tokens of a line mark where words begin (▁ or Ġ) or go on (@@), its words are put together
    from them; otherwise every token is a word.
    """

    kind = "pretokenized"

    def tokens_by_word(self, text: str, words: Sequence[str] | None = None) -> Words:
        """The tokens of every word of the text."""
        del words  # the tokens say what they are
        tokens = text.split()
        if any(token.endswith("@@") for token in tokens):
            surfaces = [t[:-2] if t.endswith("@@") else f"{t} " for t in tokens]
        elif any(token.startswith((MARKER, "Ġ")) for token in tokens):
            surfaces = [t.replace(MARKER, " ").replace("Ġ", " ") for t in tokens]
        else:
            return [[token] for token in tokens]
        ends = list(accumulate(map(len, surfaces)))
        spans = [
            (end - len(surface), end - surface.endswith(" "))
            for surface, end in zip(surfaces, ends, strict=True)
        ]
        return by_word(source_words("".join(surfaces).rstrip()), tokens, spans)
