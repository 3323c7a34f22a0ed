"""Bytes as byte-level vocabularies spell them."""

from __future__ import annotations

import functools

from pairpiece.text.options import MARKER


@functools.cache
def byte_alphabet() -> dict[str, int]:
    """The characters by which byte-level vocabularies spell bytes (Radford et al., 2019).

    Printable Latin-1 characters stand for themselves, the others for the next free code point
    after 255.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    alphabet = {chr(byte): byte for byte in printable}
    alphabet.update({chr(256 + i): byte for i, byte in enumerate(others)})
    return alphabet


def readable_bytes(token: str) -> str:
    """A token of a byte-level vocabulary as text.

    >>> readable_bytes("ĠcafÃ©"), readable_bytes("âĢ")
    ('▁café', '<0xE2><0x80>')
    """
    alphabet = byte_alphabet()
    if not all(character in alphabet for character in token):
        return token  # a special token
    content = bytes(alphabet[character] for character in token)
    return "".join(
        character if not "\udc80" <= character <= "\udcff" else f"<0x{ord(character) - 0xDC00:02X}>"
        for character in content.decode("utf-8", "surrogateescape")
    ).replace(" ", MARKER)
