"""Subword tokenizers whose pieces line up with the tokens of another language."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from pairpiece.evaluation import Evaluation, evaluate
    from pairpiece.imports import from_huggingface, from_sentencepiece
    from pairpiece.options import LearningOptions, LengthPenalty, TextOptions
    from pairpiece.pairs import Pair, Pairs, pairs_from_links, pairs_from_sentence
    from pairpiece.pipeline import train
    from pairpiece.reporting import Reporter
    from pairpiece.storage import load
    from pairpiece.tokenizer import Tokenizer
    from pairpiece.training import Progress, train_from_pairs
    from pairpiece.transformers_tokenizer import PairPieceTokenizer as PairPieceTokenizer
    from pairpiece.words import split_words

__version__ = "0.4.0"

_NAMES = {
    "alignment": ("Alignment", "Lexicon"),
    "encoding": ("Encoding",),
    "errors": (
        "AlignerError",
        "CorpusError",
        "MemoryLimitError",
        "ModelFormatError",
        "OptionError",
        "PairError",
        "PairPieceError",
        "VocabularySizeError",
    ),
    "evaluation": ("Evaluation", "evaluate"),
    "imports": ("from_huggingface", "from_sentencepiece"),
    "options": ("LearningOptions", "LengthPenalty", "TextOptions"),
    "pairs": ("Pair", "Pairs", "pairs_from_links", "pairs_from_sentence"),
    "pipeline": ("train",),
    "reporting": ("Reporter",),
    "storage": ("load",),
    "tokenizer": ("Tokenizer",),
    "training": ("Progress", "train_from_pairs"),
    "transformers_tokenizer": ("PairPieceTokenizer",),
    "words": ("split_words",),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "AlignerError",
    "Alignment",
    "CorpusError",
    "Encoding",
    "Evaluation",
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
    "evaluate",
    "from_huggingface",
    "from_sentencepiece",
    "load",
    "pairs_from_links",
    "pairs_from_sentence",
    "split_words",
    "train",
    "train_from_pairs",
]


def __getattr__(name: str) -> Any:
    """A public name; its module, and what that needs, is imported when it is first asked for."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
