"""Text files, plain or compressed, read line by line; and files written in one step."""

from __future__ import annotations

import contextlib
import functools
import gzip
import hashlib
import io
import lzma
import os
import re
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

import zstandard

from pairpiece.errors import CorpusError

COMPRESSIONS = (".gz", ".xz", ".zst")
MAX_LINE_BYTES = 2**20
"""A longer line is not a sentence; the limit keeps a file without line ends out of memory."""

_TRIES = 100
_OS_ERROR = re.compile(r"\(os error (\d+)\)")


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
        if str(error) == _NEEDS_MEMORY:
            raise CorpusError(
                f"{path}: takes more than {_XZ_MEMORY >> 20} MiB to unpack: compress it with xz -9"
            ) from None
        raise CorpusError(f"{path}: damaged or truncated: {error}; copy the file again") from None
    except OSError as error:
        raise CorpusError(f"{path}: {error.strerror or error}") from None


def _decompressed(raw: io.BufferedReader[Any], kind: str) -> BinaryIO:
    if kind == ".gz":
        return cast(BinaryIO, gzip.open(raw, "rb"))
    if kind == ".xz":
        frame = functools.partial(lzma.LZMADecompressor, memlimit=_XZ_MEMORY)
        return cast(BinaryIO, io.BufferedReader(_Frames(raw, frame, padding=b"\0"), 2**17))
    if kind == ".zst":
        return cast(BinaryIO, io.BufferedReader(_Frames(raw, _zstd_frame), 2**17))
    return cast(BinaryIO, raw)


# A file may ask for gigabytes, whatever its size; the highest setting of xz needs 65 MiB.
_XZ_MEMORY = 2**28
_NEEDS_MEMORY = "Memory usage limit exceeded"


def _zstd_frame() -> Any:
    return zstandard.ZstdDecompressor().decompressobj()


class _Frames(io.RawIOBase):
    """Decompresses frames, with `padding` between them; one that is cut short is an error.

    Little is fed at a time because a few bytes can stand for very many.
    """

    def __init__(
        self, raw: io.BufferedReader[Any], new: Callable[[], Any], padding: bytes = b""
    ) -> None:
        self._raw = raw
        self._new = new
        self._padding = padding
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
                self._input = self._input.lstrip(self._padding)
                if not self._input:
                    continue
                self._frame = self._new()
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


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """What the system refuses within, without saying where, it refuses at this path.

    Libraries that are not written in Python tell of it in exceptions of their own.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise
    except Exception as error:
        if (found := _OS_ERROR.search(str(error))) is None:
            raise
        number = int(found[1])
        raise OSError(number, os.strerror(number), str(path)) from None


def rename(old: Path, new: Path) -> None:
    """Put a file in the place of another; an error names that."""
    tries = _TRIES
    while True:
        tries -= 1
        try:
            return os.replace(old, new)  # noqa: PTH105
        except OSError as error:
            # Windows does not replace files while somebody reads them, which does not take long.
            if os.name != "nt" or not isinstance(error, PermissionError) or not tries:
                raise OSError(error.errno, error.strerror, str(new)) from None
        time.sleep(0.02)


def write(path: Path, content: bytes) -> None:
    """Replace a file in one step."""
    with replacing(path) as file:
        file.write(content)


def write_all(contents: Mapping[Path, bytes]) -> None:
    """Replace files, none of them before all are written; links are replaced themselves."""
    with contextlib.ExitStack() as stack:
        ready = {}
        for path, content in contents.items():
            if _is_device(path):
                write(path, content)
                continue
            with _written(path, stack) as (file, ready[path]):
                file.write(content)
        for path, temporary in ready.items():
            rename(temporary, path)


def write_new(path: Path, content: bytes) -> None:
    """Write a file that is not there yet, down to the disk."""
    with naming(path), path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `path` when it is complete, and not before.

    What is no regular file, such as a pipe, is written to as it is; of a link, what it points to
    is replaced.
    """
    if _is_device(path):
        with io.BufferedWriter(_NamedFile(str(path), path)) as file:
            yield cast(BinaryIO, file)
        return
    path = path.resolve() if path.is_symlink() else path
    with contextlib.ExitStack() as stack:
        with _written(path, stack) as (output, temporary):
            yield output
        rename(temporary, path)


def _is_device(path: Path) -> bool:
    """Whether this is something to write to, such as a pipe, but no file that could be replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextlib.contextmanager
def _written(path: Path, stack: contextlib.ExitStack) -> Iterator[tuple[BinaryIO, Path]]:
    """A file beside `path`, on the disk at the end; the stack removes it if it is still there."""
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    temporary = Path(name)
    stack.callback(temporary.unlink, missing_ok=True)
    with io.BufferedWriter(_NamedFile(descriptor, path)) as file:
        yield cast(BinaryIO, file), temporary
        file.flush()
        with naming(path):
            os.fsync(file.fileno())
    umask = os.umask(0)
    os.umask(umask)
    temporary.chmod(0o666 & ~umask)


class _NamedFile(io.FileIO):
    """A file to write whose errors name a path."""

    def __init__(self, file: int | str, path: Path) -> None:
        super().__init__(file, "wb")
        self._path = path

    def write(self, content: Any) -> int:
        with naming(self._path):
            return super().write(content)


def flush(path: Path) -> None:
    """Have a file, or the names in a folder, on disk: a loss of power must not leave halves."""
    windows = os.name == "nt"
    if windows and path.is_dir():
        return  # folders cannot be opened there, nor files flushed that are only read
    with naming(path):
        descriptor = os.open(path, os.O_RDWR if windows else os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
