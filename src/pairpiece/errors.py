"""The errors that pairpiece raises on purpose."""

from __future__ import annotations

from collections.abc import Iterable


class PairPieceError(Exception):
    """Base of every error raised on purpose; its message says what is wrong and what to do.

    `options` are those words of the message that are names of arguments: the command line has
    other names for them.
    """

    def __init__(self, message: object = "", options: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.options = tuple(options)


class OptionError(PairPieceError, ValueError):
    """An option or argument has a value that cannot be used."""


class MissingLibraryError(PairPieceError, ImportError):
    """What is to be imported needs a library that is not installed."""


class MissingNameError(PairPieceError, AttributeError):
    """A name of the package is not there because a library is not installed."""


class PairError(PairPieceError, ValueError):
    """A training pair is malformed; the message gives its position in the input."""


class VocabularySizeError(OptionError):
    """The wanted vocabulary size cannot be reached with these pairs and options."""


class MemoryLimitError(PairPieceError):
    """Learning would need more memory than ``memory_limit`` allows."""


class ModelFormatError(PairPieceError):
    """A saved model is missing, corrupt, truncated, hostile or of an unknown version."""


class CorpusError(PairPieceError, ValueError):
    """Parallel text cannot be used; the message names the file and, if it can, the line."""


class AlignerError(PairPieceError):
    """The word aligner is missing or has failed, or an alignment does not fit the text."""
