"""Text files, plain or compressed, read line by line; and files written in one step."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import lzma
import os
import sys
import tempfile
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import zstandard

from pairpiece.errors import CorpusError

COMPRESSIONS = (".gz", ".xz", ".zst")
MAX_LINE_BYTES = 2**20
"""A longer line is not a sentence; the limit keeps a file without line ends out of memory."""


def suffix(path: Path) -> str:
    """What kind of file this is: the last suffix that is not a compression, in lower case.

    >>> suffix(Path("train.TMX.gz"))
    '.tmx'
    """
    suffixes = [part.lower() for part in path.suffixes]
    while suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


@contextlib.contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file's decompressed bytes; what goes wrong while they are read becomes a `CorpusError`."""
    try:
        with (
            _CountedFile(path) as counted,
            io.BufferedReader(counted, 2**17) as raw,
            _decompressed(raw, path.suffix.lower()) as file,
        ):
            if cast(object, file) is raw:
                yield file
            else:
                yield io.BufferedReader(_Unpacked(file, counted, str(path)), 2**17)
    except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
        raise CorpusError(f"{path}: damaged or truncated: {error}; copy the file again") from None
    except OSError as error:
        raise CorpusError(f"{path}: {error.strerror or error}") from None


def _decompressed(raw: io.BufferedReader[Any], kind: str) -> BinaryIO:
    if kind == ".gz":
        return cast(BinaryIO, gzip.open(raw, "rb"))
    if kind == ".xz":
        return cast(BinaryIO, lzma.open(raw, "rb"))
    if kind == ".zst":
        return cast(BinaryIO, io.BufferedReader(_Zstd(raw), 2**17))
    return cast(BinaryIO, raw)


class _Zstd(io.RawIOBase):
    """Decompresses zstd frames; a frame that is cut short is an error, unlike in zstandard.open.

    Little is fed at a time because a few bytes can stand for very many.
    """

    def __init__(self, raw: io.BufferedReader[Any]) -> None:
        self._raw = raw
        self._new = zstandard.ZstdDecompressor
        self._frame: Any = None
        self._input = b""
        self._output = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._output:
            self._input = self._input or self._raw.read1(2**10)
            if not self._input:
                if self._frame is not None:
                    raise EOFError("the last frame is not complete")
                return 0
            if self._frame is None:
                self._frame = self._new().decompressobj()
            self._output = self._frame.decompress(self._input)
            self._input = b""
            if self._frame.eof:
                self._input = self._frame.unused_data
                self._frame = None
        size = min(len(buffer), len(self._output))
        buffer[:size] = self._output[:size]
        self._output = self._output[size:]
        return size


def check_unpacked(size: int, packed: int, name: str) -> None:
    """Raise a `CorpusError` if so much has come of so few bytes that it can be no text."""
    if size > _LITTLE + _MAX_RATIO * packed:
        raise CorpusError(
            f"{name}: unpacks to more than {_MAX_RATIO} times its size, which text does not: if "
            f"that is meant, unpack it first"
        )


_LITTLE = 2**22
_MAX_RATIO = 100


class _Unpacked(io.RawIOBase):
    """Decompressed bytes, as long as they are not too many for those they came from."""

    def __init__(self, file: BinaryIO, packed: _CountedFile, name: str) -> None:
        self._file = file
        self._packed = packed
        self._name = name
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        self._size += len(data)
        check_unpacked(self._size, self._packed.count, self._name)
        buffer[: len(data)] = data
        return len(data)


class _Counter(threading.local):
    bytes = 0


_counter = _Counter()


def bytes_read() -> int:
    """How many bytes of files this thread has read so far, as they lie on disk."""
    return _counter.bytes


class _CountedFile(io.FileIO):
    count = 0

    def readinto(self, buffer: Any) -> int | None:
        size = super().readinto(buffer)
        self.count += size or 0
        _counter.bytes += size or 0
        return size


def lines(path: Path) -> Iterator[str]:
    r"""The lines of a UTF-8 file without their ends; only \n and \r\n end a line."""
    with opened(path) as file:
        yield from decoded_lines(file, str(path))


def standard_input_lines() -> Iterator[str]:
    """The lines of standard input."""
    if sys.stdin is None:
        raise CorpusError("standard input is closed")
    return decoded_lines(sys.stdin.buffer, "standard input")


def decoded_lines(file: BinaryIO, name: str) -> Iterator[str]:
    """The lines of a stream; an error names the stream and the line."""
    number = 0
    while raw := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(raw) > MAX_LINE_BYTES:
            raise CorpusError(
                f"{name}:{number}: a line of more than {MAX_LINE_BYTES:,} bytes; is this a text "
                f"file with one sentence per line?"
            )
        if number == 1:
            if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
                raise CorpusError(f"{name}: UTF-16, not UTF-8: convert the file with iconv")
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise CorpusError(
                f"{name}:{number}: not valid UTF-8 (byte {error.start + 1} of the line): convert "
                f"the file with iconv, or remove the line"
            ) from None
        yield line.removesuffix("\n").removesuffix("\r")


def digest(path: Path) -> str:
    """The SHA-256 of a file as it lies on disk."""
    found = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(2**20):
                found.update(chunk)
    except OSError as error:
        raise CorpusError(f"{path}: {error.strerror or error}") from None
    return found.hexdigest()


def write(path: Path, content: bytes) -> None:
    """Replace a file in one step."""
    with replacing(path) as file:
        file.write(content)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `path` when it is complete, and not before.

    What is no regular file, such as a pipe, is written to as it is.
    """
    path = path.resolve() if path.is_symlink() else path
    if path.exists() and not path.is_file() and not path.is_dir():
        with path.open("wb") as file:
            yield file
        return
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
