"""Vocabularies of other tools with new pieces after their own tokens, whose ids stay."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pairpiece.errors import ModelFormatError, OptionError
from pairpiece.foreign.byte_level import byte_alphabet
from pairpiece.foreign.byte_pairs import Merges, PairMerges, TokenMerges, teach
from pairpiece.foreign.huggingface import tokenizers_library
from pairpiece.foreign.sentencepiece import SentencePieceTokenizer
from pairpiece.text.options import MARKER
from pairpiece.text.protobuf import Fields, fields_of, message
from pairpiece.text.vocabulary import Vocabulary

LOWERED = 4.0
"""In a unigram model new pieces score so many nats less than in their own (docs/exports.md)."""


@dataclass(frozen=True)
class JointVocabulary:
    """What is in a vocabulary now: the tokens that were there have the ids that they had."""

    old_size: int  # new tokens have the ids from here on
    # New ones in order, and the piece that each is; None for a part.
    tokens: dict[str, str | None] = field(repr=False)
    shared: int  # pieces that were tokens before
    left_out: list[str] = field(repr=False)  # pieces that would never be found in a text

    @property
    def parts(self) -> int:
        """How many new tokens are there only for pieces to be joined from them."""
        return list(self.tokens.values()).count(None)


def joint_tokenizer_json(content: dict[str, Any], ours: Vocabulary) -> JointVocabulary:
    """Put our pieces into what a ``tokenizer.json`` says, after all ids there are.

    Into a unigram model with their scores, lowered; into byte-pair encoding with what joins them,
    after all that it joins.  Raises `KeyError`, `TypeError` or the like if it is no such file.
    """
    model = content["model"]
    kind = model.get("type") or ("Unigram" if isinstance(model["vocab"], list) else "other")
    if kind not in ("BPE", "Unigram") or any(map(model.get, _AFFIXES)):
        raise OptionError(
            f"new pieces can be put into tokenizers of the types BPE and Unigram, in which a token "
            f"is what it spells; this one is of the type {kind}"
        )
    words, spelled = _words_of(content)
    pieces = _Pieces(ours, words, spelled)
    is_unigram = kind == "Unigram"
    ids = (
        {piece: i for i, (piece, _) in enumerate(model["vocab"])} if is_unigram else model["vocab"]
    )
    size = len(ids)
    if len(ids) < len(model["vocab"]):
        raise ModelFormatError("a token is in the vocabulary twice")
    old = _with_all_ids(ids, content.get("added_tokens") or [])
    if is_unigram:
        scores = pieces.scores(ids, min(float(score) for _, score in model["vocab"]))
        model["vocab"] += [[token, 0.0] for token in list(ids)[size:]]
        model["vocab"] += map(list, scores.items())
        return pieces.joint(old, ids, list(scores))
    pairs = (pair.split(" ") if isinstance(pair, str) else pair for pair in model["merges"])
    merges = PairMerges((first, second) for first, second in pairs)
    joint = pieces.taught(old, ids, merges)
    ids.update({token: old + i for i, token in enumerate(joint.tokens)})
    model["merges"] = [list(pair) for pair in merges.pairs()]
    return joint


_AFFIXES = ("continuing_subword_prefix", "end_of_word_suffix")


def joint_sentencepiece(
    content: bytes, ours: Vocabulary, name: str
) -> tuple[bytes, JointVocabulary]:
    """A ``.model`` of the type unigram or BPE with our pieces after its own."""
    processor = SentencePieceTokenizer(content, name).processor
    try:
        fields = list(fields_of(content))
        entries = [dict(fields_of(value)) for number, value in fields if number == 1]
        trainer = next((value for number, value in fields if number == 2), b"")
        kind = dict(fields_of(trainer)).get(3, 1)
        ids = {entry[1].decode("utf-8"): i for i, entry in enumerate(entries)}
        found = {
            p: float(entries[i][2]) for p, i in ids.items() if entries[i].get(3, 1) in _IN_TEXT
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ModelFormatError(f"{name}: not a SentencePiece model") from None
    if kind not in (_UNIGRAM, _BPE):
        raise OptionError(f"{name}: new pieces can be put into models of the types unigram and bpe")
    pieces = _Pieces(ours, lambda text: [processor.normalize(text)], str)
    if kind == _UNIGRAM:
        scores = pieces.scores(ids, min(found.values()))
        joint = pieces.joint(len(ids), ids, list(scores))
    else:
        merges = TokenMerges(found)
        joint = pieces.taught(len(ids), ids, merges)
        lowest = min(merges.scores.values())  # for characters, which nothing is joined to
        scores = {token: merges.scores.get(token, lowest) for token in joint.tokens}
    more: Fields = [(1, message([(1, token), (2, score)])) for token, score in scores.items()]
    resized = trainer + message([(4, len(ids) + len(more))])  # of two values the last one counts
    old = [field for field in fields if field[0] == 1]
    others = [field for field in fields if field[0] not in (1, 2)]
    return message([*old, *more, (2, resized), *others]), joint


_UNIGRAM, _BPE = 1, 2
_IN_TEXT = (1, 4, 5)  # normal, user-defined and unused pieces


class _Pieces:
    """Our pieces as another tokenizer spells them, those that it can find in a text."""

    def __init__(
        self,
        ours: Vocabulary,
        words: Callable[[str], list[str]],
        spelled: Callable[[str], str],
    ) -> None:
        normal = set(ours.normal())
        self._scores = {
            piece: score
            for piece, score in zip(ours.pieces, ours.scores, strict=True)
            if piece in normal
        }
        self._found: dict[str, str] = {}  # ours by theirs
        self._left_out: list[str] = []
        for piece in self._scores:
            if _is_within_a_word(piece, spelled(piece), words):
                self._found[spelled(piece)] = piece
            else:
                self._left_out.append(piece)

    def scores(self, known: Mapping[str, int], lowest: float) -> dict[str, float]:
        """Scores of new pieces; none is below the lowest, which unknown text is scored by."""
        return {
            token: max(lowest, self._scores[piece] - LOWERED)
            for token, piece in self._found.items()
            if token not in known
        }

    def taught(self, old: int, known: Mapping[str, int], merges: Merges) -> JointVocabulary:
        """Make `merges` join the pieces."""
        taught = teach(list(self._found), merges, known)
        self._left_out += [self._found.pop(token) for token in taught.unreached]
        return self.joint(old, known, taught.tokens)

    def joint(self, old: int, known: Mapping[str, int], new: Sequence[str]) -> JointVocabulary:
        """The result, with these new tokens."""
        shared = sum(token in known for token in self._found)
        return JointVocabulary(old, {t: self._found.get(t) for t in new}, shared, self._left_out)


def _is_within_a_word(piece: str, token: str, words: Callable[[str], list[str]]) -> bool:
    """Whether a word can hold the token; normalising may change it, and splitting cut it."""
    text = piece.replace(MARKER, " ")
    return any(token in word for before in ("", "a") for word in words(before + text))


def _words_of(content: dict[str, Any]) -> tuple[Callable[[str], list[str]], Callable[[str], str]]:
    """How a ``tokenizer.json`` splits text into words, and how its tokens spell a piece."""
    tokenizer = tokenizers_library().Tokenizer.from_str(json.dumps(content))
    normalizer, splitter = tokenizer.normalizer, tokenizer.pre_tokenizer

    def words(text: str) -> list[str]:
        if normalizer is not None:
            text = normalizer.normalize_str(text)
        return [text] if splitter is None else [w for w, _ in splitter.pre_tokenize_str(text)]

    if '"ByteLevel"' not in json.dumps([content.get("normalizer"), content.get("pre_tokenizer")]):
        return words, str
    characters = {byte: character for character, byte in byte_alphabet().items()}

    def spelled(piece: str) -> str:
        return "".join(characters[byte] for byte in piece.replace(MARKER, " ").encode("utf-8"))

    return words, spelled


def _with_all_ids(ids: dict[str, int], added: Iterable[dict[str, Any]]) -> int:
    """Give added tokens, and ids that nothing has, a place among the tokens; how many there are.

    Else the tokens library would number the added ones anew, after the new pieces.
    """
    special = {int(token["id"]): str(token["content"]) for token in added}
    size = max([*ids.values(), *special], default=-1) + 1
    taken = set(ids.values())
    for i in range(size):
        if i not in taken:
            ids[special.get(i, f" <{i}>")] = i
    return size
