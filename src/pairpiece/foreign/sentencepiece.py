"""SentencePiece models, of whatever type."""

from __future__ import annotations

import functools
import io
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from pairpiece.errors import OptionError
from pairpiece.foreign.words import Words, by_word, without_surrogates


class SentencePieceTokenizer:
    """A SentencePiece model, of whatever type."""

    kind = "sentencepiece"

    def __init__(self, content: bytes, name: str = "source tokenizer") -> None:
        self.content = content
        self._name = name

    @functools.cached_property
    def processor(self) -> Any:
        """What SentencePiece makes of the model."""
        import sentencepiece

        processor = sentencepiece.SentencePieceProcessor()
        try:
            loaded = bool(self.content) and processor.LoadFromSerializedProto(self.content)
        except (RuntimeError, ValueError):
            loaded = False
        if not loaded:
            raise OptionError(f"{self._name}: not a SentencePiece model")
        return processor

    @property
    def vocab_size(self) -> int:
        """The number of pieces."""
        return int(self.processor.vocab_size())

    def __call__(self, text: str) -> Words:
        """The tokens of every word of the text."""
        text = without_surrogates(text)
        found = self.processor.encode(text, return_type="offset_mapping")
        return by_word(text, found["pieces"], found["offsets"])

    def __getstate__(self) -> dict[str, Any]:
        return {"content": self.content, "_name": self._name}


# The paper's settings for the source tokenizer (appendix B).  The size is a wish: SentencePiece
# stops below it if the text has too little to offer.
SOURCE_SETTINGS: dict[str, Any] = {
    "model_type": "unigram",
    "character_coverage": 1.0,
    "shrinking_factor": 0.75,
    "num_sub_iterations": 2,
    "allow_whitespace_only_pieces": True,
    "byte_fallback": True,
    "normalization_rule_name": "nfkc",
    "hard_vocab_limit": False,
    "minloglevel": 2,
}


def train_sentencepiece(sentences: Iterable[str], vocab_size: int) -> SentencePieceTokenizer:
    """A SentencePiece unigram model with the paper's settings; Ctrl-C works meanwhile."""
    import sentencepiece

    model = io.BytesIO()
    failures: list[BaseException] = []

    def watched() -> Iterator[str]:
        try:
            yield from sentences
        except BaseException as error:  # SentencePiece would make a text of it
            failures.append(error)
            raise

    def train() -> None:
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=watched(),
                model_writer=model,
                vocab_size=vocab_size,
                **SOURCE_SETTINGS,
            )
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=train, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.2)
    if failures and isinstance(failures[0], RuntimeError):
        raise OptionError(
            f"SentencePiece cannot train a source tokenizer of {vocab_size} pieces: "
            f"{failures[0]}; choose another size (--source-vocab-size)"
        )
    if failures:
        raise failures[0]
    return SentencePieceTokenizer(model.getvalue())
