"""Subword tokenizers whose pieces line up with the tokens of another language."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from pairpiece.foreign.joint_vocabulary import JointVocabulary
    from pairpiece.learning.options import LearningOptions
    from pairpiece.learning.pairs import Pair, Pairs, pairs_from_links, pairs_from_sentence
    from pairpiece.learning.schedule import Progress
    from pairpiece.learning.training import train_from_pairs
    from pairpiece.model.encoding import Encoding
    from pairpiece.model.source_weights import SourceWeights
    from pairpiece.model.token_links import Alignment, Lexicon
    from pairpiece.model.tokenizer import Tokenizer, from_huggingface, from_sentencepiece, load
    from pairpiece.model.transformers_tokenizer import PairPieceTokenizer as PairPieceTokenizer
    from pairpiece.options import LengthPenalty
    from pairpiece.pretrained.joint_tokenizer import extend_tokenizer
    from pairpiece.pretrained.transferring import Transfer, transfer
    from pairpiece.run.pipeline import train
    from pairpiece.run.reporting import Reporter
    from pairpiece.text.options import TextOptions
    from pairpiece.text.words import split_words

__version__ = "0.4.0"

if getattr(sys.flags, "gil", None) == 0:
    raise ImportError(
        "PairPiece needs Python's global lock, which PYTHON_GIL=0 or -X gil=0 has ruled out: leave "
        "that out, and a free-threaded Python switches the lock on when PairPiece is used"
    )

_NAMES = {
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
    "text.options": ("TextOptions",),
    "text.words": ("split_words",),
    "model.source_weights": ("SourceWeights",),
    "model.token_links": ("Alignment", "Lexicon"),
    "model.encoding": ("Encoding",),
    "options": ("LengthPenalty",),
    "model.tokenizer": ("Tokenizer", "from_huggingface", "from_sentencepiece", "load"),
    "model.transformers_tokenizer": ("PairPieceTokenizer",),
    "foreign.joint_vocabulary": ("JointVocabulary",),
    "learning.options": ("LearningOptions",),
    "learning.pairs": ("Pair", "Pairs", "pairs_from_links", "pairs_from_sentence"),
    "learning.schedule": ("Progress",),
    "learning.training": ("train_from_pairs",),
    "run.pipeline": ("train",),
    "run.reporting": ("Reporter",),
    "evaluation": ("Evaluation", "evaluate"),
    "pretrained.joint_tokenizer": ("extend_tokenizer",),
    "pretrained.transferring": ("Transfer", "transfer"),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "AlignerError",
    "Alignment",
    "CorpusError",
    "Encoding",
    "Evaluation",
    "JointVocabulary",
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
    "SourceWeights",
    "TextOptions",
    "Tokenizer",
    "Transfer",
    "VocabularySizeError",
    "evaluate",
    "extend_tokenizer",
    "from_huggingface",
    "from_sentencepiece",
    "load",
    "pairs_from_links",
    "pairs_from_sentence",
    "split_words",
    "train",
    "train_from_pairs",
    "transfer",
]


def __getattr__(name: str) -> Any:
    """A public name; its module, and what that needs, is imported when it is first asked for."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name != "transformers":
            raise
        errors = import_module(f"{__name__}.errors")
        # Of `from pairpiece import name` an AttributeError would leave "cannot import name" only.
        importing = sys._getframe(1).f_code.co_name == "_handle_fromlist"
        kind = errors.MissingLibraryError if importing else errors.MissingNameError
        raise kind(
            f'{name} needs the library transformers: pip install "pairpiece[transformers]"'
        ) from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
