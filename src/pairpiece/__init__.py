"""Subword tokenizers whose pieces line up with the tokens of another language."""

from typing import Any

from pairpiece.alignment import Alignment, Lexicon
from pairpiece.encoding import Encoding
from pairpiece.errors import (
    AlignerError,
    CorpusError,
    MemoryLimitError,
    ModelFormatError,
    OptionError,
    PairError,
    PairPieceError,
    VocabularySizeError,
)
from pairpiece.imports import from_huggingface, from_sentencepiece
from pairpiece.options import LearningOptions, LengthPenalty, TextOptions
from pairpiece.pairs import Pair, Pairs, pairs_from_links, pairs_from_sentence
from pairpiece.pipeline import train
from pairpiece.reporting import Reporter
from pairpiece.storage import load
from pairpiece.tokenizer import Tokenizer
from pairpiece.training import Progress, train_from_pairs
from pairpiece.words import split_words

__all__ = [
    "AlignerError",
    "Alignment",
    "CorpusError",
    "Encoding",
    "LearningOptions",
    "LengthPenalty",
    "Lexicon",
    "MemoryLimitError",
    "ModelFormatError",
    "OptionError",
    "Pair",
    "PairError",
    "PairPieceError",
    "Pairs",
    "Progress",
    "Reporter",
    "TextOptions",
    "Tokenizer",
    "VocabularySizeError",
    "from_huggingface",
    "from_sentencepiece",
    "load",
    "pairs_from_links",
    "pairs_from_sentence",
    "split_words",
    "train",
    "train_from_pairs",
]
__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    """What is imported when it is asked for, because it takes time or other packages."""
    if name == "evaluate":
        from pairpiece.evaluation import evaluate

        return evaluate
    if name == "PairPieceTokenizer":
        from pairpiece.transformers_tokenizer import PairPieceTokenizer

        return PairPieceTokenizer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
