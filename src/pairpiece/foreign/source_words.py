"""The words of raw source text, and the tokens of each."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from pairpiece.foreign.protocol import SubwordTokenizer, Words
from pairpiece.text.options import TextOptions
from pairpiece.text.words import WordSplitter

# All kinds of space are plain ones when words are found, without moving any offset.
_SPACES = dict.fromkeys(map(ord, "\t\u00a0\u1680\u202f\u205f\u3000"), " ")
_SPACES.update(dict.fromkeys(range(0x2000, 0x200B), " "))


@functools.cache
def _splitter() -> WordSplitter:
    return WordSplitter(TextOptions(normalization="none"))


def source_words(text: str) -> list[str]:
    """The words of raw source text, which together are the text (up to the kind of spaces).

    >>> source_words("L'heure est là.")
    ['L', "'", 'heure', '▁est', '▁là', '.']
    """
    return _splitter().words(text.translate(_SPACES))


def words_to_align(tokenizer: SubwordTokenizer, text: str) -> list[str]:
    """The words whose tokens `tokens_by_word` gives, for a word aligner."""
    if tokenizer.finds_own_words:
        return ["".join(tokens) for tokens in tokenizer.tokens_by_word(text)]
    return source_words(text)


def by_word(words: Sequence[str], tokens: Sequence[str], spans: Sequence[tuple[int, int]]) -> Words:
    """Group tokens by word; ``spans`` are their ranges of characters in the text.

    A token belongs to the word that its last character lies in.  One without any character of its
    own, such as the first bytes of a character, goes with the token that follows.

    >>> by_word(["les", "▁souris"], ["▁les", "▁sou", "ris"], [(0, 3), (3, 7), (7, 10)])
    [['▁les'], ['▁sou', 'ris']]
    """
    if not words:
        return [list(tokens)] if tokens else []
    grouped: Words = [[] for _ in words]
    last = len(words) - 1
    following = sum(map(len, words))
    begin = following - len(words[last])  # of word `last`
    for token, span in zip(reversed(tokens), reversed(spans), strict=True):
        end = span[1] if span[1] > span[0] else following
        following = end
        while end <= begin and last > 0:
            last -= 1
            begin -= len(words[last])
        grouped[last].append(token)
    for group in grouped:
        group.reverse()
    return grouped
