"""What can be set about text: how it becomes words, and which pieces are not learned."""

from __future__ import annotations

from dataclasses import dataclass

from pairpiece.errors import OptionError
from pairpiece.options import check_choice, check_types
from pairpiece.text.normalization import NAMES as NORMALIZATIONS

MARKER = "▁"
"""U+2581, what a space looks like in a piece."""

BYTE_PIECES = tuple(f"<0x{byte:02X}>" for byte in range(256))

MAX_PIECE_BYTES = 255
"""Of what is found in text, in UTF-8."""

PRETOKENIZATIONS = ("lossless", "spaces", "paper", "none", "custom")


@dataclass(frozen=True)
class TextOptions:
    """How text becomes words, and which pieces exist besides the learned ones."""

    normalization: str = "nfkc"
    pretokenization: str = "lossless"
    add_dummy_prefix: bool = False
    remove_extra_spaces: bool = False  # at the ends, and after a space
    split_digits: bool = False  # every digit is a word of its own, as in SentencePiece
    byte_fallback: bool = True
    unk_id: int = 0
    bos_id: int = 1
    eos_id: int = 2
    pad_id: int = 3
    unk_piece: str = "<unk>"
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"
    user_defined_symbols: tuple[str, ...] = ()  # found in text as they are
    control_symbols: tuple[str, ...] = ()  # never found in text

    def __post_init__(self) -> None:
        check_types(self)
        check_choice("normalization", self.normalization, NORMALIZATIONS)
        check_choice("pretokenization", self.pretokenization, PRETOKENIZATIONS)
        if self.split_digits and self.pretokenization == "custom":
            raise OptionError(
                "split_digits cannot be set with a pre-tokenizer of your own: let it split digits",
                ["split_digits"],
            )
        if self.unk_id < 0:
            raise OptionError("unk_id cannot be negative: <unk> always exists", ["unk_id"])
        for name in ("bos_id", "eos_id", "pad_id"):
            if getattr(self, name) < -1:
                raise OptionError(f"{name} must be an id, or -1 for none", [name])
        special = self.special_tokens()
        if len(special) < 1 + (self.bos_id >= 0) + (self.eos_id >= 0) + (self.pad_id >= 0):
            raise OptionError(
                "unk_id, bos_id, eos_id and pad_id must differ (or be -1 for none)",
                ["unk_id", "bos_id", "eos_id", "pad_id"],
            )
        names = [*special.values(), *self.user_defined_symbols, *self.control_symbols]
        for name in names:
            if name == MARKER or (self.byte_fallback and name in BYTE_PIECES):
                raise OptionError(f"{name!r} is the name of another piece already")
        if len(set(names)) < len(names):
            raise OptionError(f"special tokens and symbols must differ: {names}")
        for symbol in self.user_defined_symbols:
            if len(symbol.encode("utf-8")) > MAX_PIECE_BYTES:
                raise OptionError(
                    f"the user-defined symbol {symbol[:20]!r}… is longer than {MAX_PIECE_BYTES} "
                    f"bytes"
                )

    def special_tokens(self) -> dict[int, str]:
        """Special pieces by id, those switched off with -1 left out."""
        tokens = {
            self.unk_id: self.unk_piece,
            self.bos_id: self.bos_piece,
            self.eos_id: self.eos_piece,
            self.pad_id: self.pad_piece,
        }
        tokens.pop(-1, None)
        return tokens
