"""A tokenizer as a SentencePiece model."""

from __future__ import annotations

from pairpiece.errors import OptionError
from pairpiece.model.tokenizer import Tokenizer
from pairpiece.text.options import MARKER
from pairpiece.text.protobuf import Fields, message
from pairpiece.text.vocabulary import PieceType

# ModelProto.SentencePiece.Type
_TYPES = {
    PieceType.NORMAL: 1,
    PieceType.UNKNOWN: 2,
    PieceType.CONTROL: 3,
    PieceType.USER_DEFINED: 4,
    PieceType.BYTE: 6,
}


def to_sentencepiece(tokenizer: Tokenizer) -> bytes:
    """A ``.model`` that tokenizes as this tokenizer does on its own, token for token."""
    check_exportable(tokenizer, "SentencePiece")
    options = tokenizer.options
    pieces: Fields = [
        (
            1,
            message(
                [
                    # A user-defined symbol may hold a space.
                    (1, piece.replace(" ", MARKER)),
                    (2, tokenizer.score(i)),
                    (3, _TYPES[PieceType(kind)]),
                ]
            ),
        )
        for i, (piece, kind) in enumerate(
            zip(tokenizer.get_vocab(), tokenizer.piece_types(), strict=True)
        )
    ]
    trainer: Fields = [
        (3, 1),  # model_type: UNIGRAM
        (4, tokenizer.vocab_size),
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
        (1, "pairpiece"),
        (2, tokenizer.charsmap),
        (3, options.add_dummy_prefix),
        (4, options.remove_extra_spaces),
        (5, True),  # escape_whitespaces
    ]
    return message([*pieces, (2, message(trainer)), (3, message(normalizer))])


def vocabulary_text(tokenizer: Tokenizer) -> str:
    """The pieces with their scores, as in the ``.vocab`` file that SentencePiece writes."""
    return "".join(
        f"{piece}\t{tokenizer.score(i):g}\n" for i, piece in enumerate(tokenizer.get_vocab())
    )


def is_exportable(tokenizer: Tokenizer) -> bool:
    """Whether tools that segment whole texts find the words of this model."""
    return tokenizer.options.pretokenization in ("lossless", "spaces", "none")


def check_exportable(tokenizer: Tokenizer, tool: str) -> None:
    """Raise an `OptionError` if another tool cannot split text into words as this model does."""
    if not is_exportable(tokenizer):
        raise OptionError(
            f"{tool} cannot split text as this model does (pretokenization "
            f"{tokenizer.options.pretokenization!r}); train with pretokenization=lossless"
        )
