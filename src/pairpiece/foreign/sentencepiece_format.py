"""SentencePiece models: the files, written and read."""

from __future__ import annotations

from typing import Any

from pairpiece.errors import ModelFormatError, OptionError
from pairpiece.foreign.spaced_symbols import spaced
from pairpiece.foreign.taking_over import ROLES, taken_over
from pairpiece.text.normalization import sentencepiece_rule
from pairpiece.text.options import MARKER
from pairpiece.text.protobuf import Fields, fields_of, message
from pairpiece.text.vocabulary import PieceType, Unigram, Vocabulary

# ModelProto.SentencePiece.Type
_TYPES = {
    PieceType.NORMAL: 1,
    PieceType.UNKNOWN: 2,
    PieceType.CONTROL: 3,
    PieceType.USER_DEFINED: 4,
    PieceType.BYTE: 6,
    PieceType.UNUSED: 5,
}


def to_sentencepiece(tokenizer: Unigram) -> bytes:
    """A ``.model`` that tokenizes as this tokenizer does on its own, token for token.

    With the paper's pre-tokenization that is so for text without two spaces beside each other.
    """
    check_exportable(tokenizer, "SentencePiece")
    options, vocabulary = tokenizer.options, tokenizer.vocabulary
    is_paper = options.pretokenization == "paper"
    if is_paper and not options.add_dummy_prefix:
        raise OptionError(
            "SentencePiece cannot put a space before a symbol that begins a text, as this model "
            "does; train with add_dummy_prefix=true"
        )
    table = spaced(tokenizer.charsmap) if is_paper else tokenizer.charsmap
    pieces: Fields = [
        (
            1,
            message(
                [
                    # A user-defined symbol may hold a space.
                    (1, piece if kind == PieceType.UNUSED else piece.replace(" ", MARKER)),
                    (2, score),
                    (3, _TYPES[kind]),
                ]
            ),
        )
        for piece, kind, score in zip(
            vocabulary.pieces, vocabulary.types, vocabulary.scores, strict=True
        )
    ]
    trainer: Fields = [
        (3, 1),  # model_type: UNIGRAM
        (4, len(vocabulary)),
        (25, options.split_digits),
        (35, options.byte_fallback),
        (40, options.unk_id),
        (41, options.bos_id),
        (42, options.eos_id),
        (43, options.pad_id),
        (45, options.unk_piece),
        (46, options.bos_piece),
        (47, options.eos_piece),
        (48, options.pad_piece),
    ]
    normalizer: Fields = [
        (1, sentencepiece_rule(table)),  # some readers go by the name
        (2, table),
        (3, options.add_dummy_prefix),
        (4, options.remove_extra_spaces or is_paper),
        (5, True),  # escape_whitespaces
    ]
    return message([*pieces, (2, message(trainer)), (3, message(normalizer))])


def vocabulary_text(tokenizer: Unigram) -> str:
    """The pieces with their scores, as in the ``.vocab`` file that SentencePiece writes."""
    vocabulary = tokenizer.vocabulary
    rows = zip(vocabulary.pieces, vocabulary.scores, strict=True)
    return "".join(f"{piece}\t{score:g}\n" for piece, score in rows)


def is_exportable(tokenizer: Unigram) -> bool:
    """Whether other tools can be told what the words of this model are."""
    return tokenizer.options.pretokenization != "custom"


def check_exportable(tokenizer: Unigram, tool: str) -> None:
    """Raise an `OptionError` if another tool cannot split text into words as this model does."""
    if not is_exportable(tokenizer):
        raise OptionError(
            f"{tool} cannot split text as this model does (pretokenization "
            f"{tokenizer.options.pretokenization!r}); train with pretokenization=lossless"
        )


_KINDS = {number: kind for kind, number in _TYPES.items()}
_KINDS[5] = PieceType.CONTROL  # "unused": not found in text either
_MODEL_TYPES = {1: "unigram", 2: "BPE", 3: "word", 4: "character"}


def read_model(content: bytes, name: str) -> Unigram:
    """What a ``.model`` says; raises `ModelFormatError` if it is no unigram model."""
    try:
        entries, specs = _model_parts(content)
        trainer, normalizer, denormalizer = specs[2], specs[3], specs[5]
        _check_types(trainer, normalizer, denormalizer)
        pieces = [entry[1].decode("utf-8") for entry in entries]
        special = {key: trainer.get(40 + i, i if i < 3 else -1) for i, key in enumerate(ROLES)}
        special = {key: i - 2**64 if i >= 2**63 else i for key, i in special.items()}
        kinds = [_KINDS[entry.get(3, 1)] for entry in entries]
        table = normalizer.get(2, b"")
    except (ValueError, KeyError, AttributeError, TypeError):
        raise ModelFormatError(f"{name}: not a SentencePiece model") from None
    if not entries:
        raise ModelFormatError(f"{name}: a SentencePiece model without pieces")
    kind = trainer.get(3, 1)
    if kind != 1:
        raise ModelFormatError(
            f"{name}: a {_MODEL_TYPES.get(kind, 'strange')} model of SentencePiece; PairPiece "
            f"takes over unigram models only (spm_train --model_type=unigram)"
        )
    if not all(isinstance(entry.get(2), float) for entry in entries):
        missing = next(i for i, entry in enumerate(entries) if not isinstance(entry.get(2), float))
        raise ModelFormatError(f"{name}: piece {missing}, {pieces[missing]!r}, has no score")
    for what, found in (
        ("treat_whitespace_as_suffix", trainer.get(24, 0)),
        ("a denormalizer", denormalizer.get(2)),
        ("escape_whitespaces=false", not normalizer.get(5, 1)),
    ):
        if found:
            raise ModelFormatError(f"{name}: {what} is not supported")
    scores = [entry[2] for entry in entries]
    return taken_over(
        name,
        Vocabulary(pieces, kinds, scores, "singles"),
        special,
        table,
        add_dummy_prefix=bool(normalizer.get(3, 1)),
        remove_extra_spaces=bool(normalizer.get(4, 1)),
    )


def _check_types(
    trainer: dict[int, Any], normalizer: dict[int, Any], denormalizer: dict[int, Any]
) -> None:
    """Raise a ``ValueError`` if a field that is read below is not of its type."""
    numbers = [trainer.get(number, 0) for number in (3, 24, 40, 41, 42, 43)]
    numbers += [normalizer.get(number, 0) for number in (3, 4, 5)]
    tables = [spec.get(2, b"") for spec in (normalizer, denormalizer)]
    if set(map(type, numbers)) != {int} or set(map(type, tables)) != {bytes}:
        raise ValueError("a field has another type")


def _model_parts(content: bytes) -> tuple[list[dict[int, Any]], dict[int, dict[int, Any]]]:
    """The pieces of a ``ModelProto``, and its trainer, normalizer and denormalizer specs."""
    entries: list[dict[int, Any]] = []
    specs: dict[int, dict[int, Any]] = {2: {}, 3: {}, 5: {}}
    for number, value in fields_of(content):
        if number == 1:
            entries.append(dict(fields_of(value)))
        elif number in specs:
            specs[number] = dict(fields_of(value))
    return entries, specs
