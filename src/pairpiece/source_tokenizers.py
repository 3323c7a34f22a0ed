"""The fixed tokenizers of the source language, each giving the tokens of every source word.

Words are found in the raw source text as in the target text; a token belongs to the word that its
last character lies in.  What makes a tokenizer is kept as bytes, so that a model can carry it.
"""

from __future__ import annotations

import functools
import io
import json
import os
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeAlias

from pairpiece.errors import OptionError
from pairpiece.options import MARKER, TextOptions
from pairpiece.words import WordSplitter

Words: TypeAlias = list[list[str]]
"""The tokens of each word of a text."""

MAX_TOKENIZER_BYTES = 2**30

PRETOKENIZED = "pretokenized"

_SURROGATE = re.compile("[\ud800-\udfff]")

_SPACES = dict.fromkeys(map(ord, "\t\u00a0\u1680\u202f\u205f\u3000"), " ")
_SPACES.update(dict.fromkeys(range(0x2000, 0x200B), " "))
"""All kinds of space are plain ones when words are found, without moving any offset."""


class SentencePieceSource:
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


def train_sentencepiece(sentences: Iterable[str], vocab_size: int) -> SentencePieceSource:
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
    return SentencePieceSource(model.getvalue())


class HuggingFaceSource:
    """A ``tokenizer.json`` of the Hugging Face tokenizers library.

    Tokens are the strings of its vocabulary; `readable` shows those of byte-level vocabularies as
    text.
    """

    kind = "huggingface"

    def __init__(self, content: bytes, name: str = "source tokenizer") -> None:
        self.content = content
        self._name = name

    @functools.cached_property
    def _tokenizer(self) -> Any:
        tokenizers = _tokenizers()
        try:
            tokenizer = tokenizers.Tokenizer.from_str(self.content.decode("utf-8"))
        except Exception as error:  # the library raises plain Exception
            raise OptionError(f"{self._name}: not a Hugging Face tokenizer: {error}") from None
        tokenizer.no_truncation()  # a file may say how to cut and fill up batches
        tokenizer.no_padding()
        return tokenizer

    @functools.cached_property
    def is_byte_level(self) -> bool:
        """Whether tokens spell bytes in the alphabet of GPT-2."""
        settings = json.loads(self._tokenizer.to_str())
        return '"ByteLevel"' in json.dumps([settings["pre_tokenizer"], settings["decoder"]])

    def __call__(self, text: str) -> Words:
        """The tokens of every word of the text."""
        text = without_surrogates(text)
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        return by_word(text, encoding.tokens, encoding.offsets)

    def encode_batch(self, texts: list[str]) -> list[list[str]]:
        """The tokens of texts; unknown ones as the unknown token, not as they are written."""
        found = self._tokenizer.encode_batch(
            list(map(without_surrogates, texts)), add_special_tokens=False
        )
        return [[self._tokenizer.id_to_token(number) for number in row.ids] for row in found]

    def decode_batch(self, rows: list[list[str]]) -> list[str]:
        """The texts of lists of tokens; special ones are left out."""
        ids = [[self._tokenizer.token_to_id(token) for token in row] for row in rows]
        return list(self._tokenizer.decode_batch(ids))

    def vocabulary(self) -> list[str]:
        """All tokens, by id."""
        known: dict[str, int] = self._tokenizer.get_vocab()
        return sorted(known, key=known.__getitem__)

    @property
    def unknown(self) -> str | None:
        """The token for what is not in the vocabulary, if there is one."""
        model = json.loads(self._tokenizer.to_str())["model"]
        if isinstance(model.get("unk_token"), str):
            return str(model["unk_token"])
        number = model.get("unk_id")
        return None if number is None else str(self._tokenizer.id_to_token(number))

    def readable(self, token: str) -> str:
        """A token as people read it: ▁ for a space, ``<0xE2>`` for a piece of a character."""
        return readable_bytes(token) if self.is_byte_level else token

    def __getstate__(self) -> dict[str, Any]:
        return {"content": self.content, "_name": self._name}


class PretokenizedSource:
    """Text that is tokens already, separated by spaces.

    If tokens of a line mark where words begin (▁ or Ġ) or go on (@@), its words are put together
    from them; otherwise every token is a word.
    """

    kind = PRETOKENIZED
    content = b""

    def __call__(self, text: str) -> Words:
        """The tokens of every word of the text."""
        tokens = text.split()
        if any(token.endswith("@@") for token in tokens):
            surfaces = [t[:-2] if t.endswith("@@") else f"{t} " for t in tokens]
        elif any(token.startswith((MARKER, "Ġ")) for token in tokens):
            surfaces = [t.replace(MARKER, " ").replace("Ġ", " ") for t in tokens]
        else:
            return [[token] for token in tokens]
        ends = list(accumulate(map(len, surfaces)))
        spans = [
            (end - len(surface), end - surface.endswith(" "))
            for surface, end in zip(surfaces, ends, strict=True)
        ]
        return by_word("".join(surfaces).rstrip(), tokens, spans)


SavedSource: TypeAlias = SentencePieceSource | HuggingFaceSource | PretokenizedSource
"""The source tokenizers that a model carries with it."""


def source_tokenizer(what: object) -> Any:
    """The source tokenizer that a path, ``"pretokenized"`` or a Python object stands for.

    A path is a SentencePiece ``.model``, a ``tokenizer.json``, a Hugging Face directory, or a
    PairPiece model.
    """
    if callable(what) or hasattr(what, "tokens_by_word"):  # the latter is a pairpiece.Tokenizer
        return what
    if what == PRETOKENIZED:
        return PretokenizedSource()
    if not isinstance(what, str | os.PathLike):
        raise OptionError(f"a source tokenizer is a path or a function, not {what!r}")
    path = Path(what)
    if path.is_dir():
        return _from_directory(path)
    if not path.is_file():
        raise OptionError(
            f"{path}: there is no such file; a source tokenizer is a SentencePiece .model, a "
            f"tokenizer.json, a directory with one, or {PRETOKENIZED!r}"
        )
    if path.stat().st_size > MAX_TOKENIZER_BYTES:
        raise OptionError(f"{path}: too large for a tokenizer")
    content = path.read_bytes()
    if content.lstrip()[:1] == b"{":
        return _checked(HuggingFaceSource(content, str(path)))
    return _checked(SentencePieceSource(content, str(path)))


def _checked(source: Any) -> Any:
    source("a")  # a file that is no tokenizer is found out here
    return source


def _from_directory(path: Path) -> Any:
    from pairpiece import storage

    if (path / storage.MANIFEST).is_file():
        return storage.load(path)
    if (path / "tokenizer.json").is_file():
        return source_tokenizer(path / "tokenizer.json")
    models = sorted(path.glob("*.model"))
    if len(models) == 1:
        return source_tokenizer(models[0])
    if (path / "vocab.json").is_file() and (path / "merges.txt").is_file():
        return _checked(_byte_level(path))
    raise OptionError(
        f"{path}: there is no tokenizer.json in it, no single .model, and no vocab.json with "
        f"merges.txt; a slow Hugging Face tokenizer becomes a tokenizer.json when it is loaded "
        f"with AutoTokenizer and saved with save_pretrained"
    )


def _byte_level(path: Path) -> HuggingFaceSource:
    """The two files of a GPT-2 style vocabulary, as a ``tokenizer.json``."""
    tokenizers = _tokenizers()
    try:
        bpe = tokenizers.models.BPE.from_file(str(path / "vocab.json"), str(path / "merges.txt"))
    except Exception as error:  # the library raises plain Exception
        raise OptionError(f"{path}: not a vocabulary of byte-pair encoding: {error}") from None
    tokenizer = tokenizers.Tokenizer(bpe)
    if not all(tokenizer.token_to_id(c) is not None for c in _byte_alphabet()):
        raise OptionError(
            f"{path}: vocab.json lacks the 256 bytes, so it is not a byte-level vocabulary: load "
            f"it with AutoTokenizer and save it with save_pretrained for a tokenizer.json"
        )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return HuggingFaceSource(tokenizer.to_str().encode("utf-8"), str(path))


def _tokenizers() -> Any:
    try:
        import tokenizers
        import tokenizers.decoders
        import tokenizers.models
        import tokenizers.pre_tokenizers
    except ImportError:
        raise OptionError(
            'a Hugging Face source tokenizer needs tokenizers: pip install "pairpiece[hf]"'
        ) from None
    return tokenizers


# ---------------------------------------------------------------------- tokens to words


def tokens_by_word(tokenizer: Any, text: str) -> Words:
    """The tokens of each word, whatever the tokenizer is; a flat list has one token per word."""
    found = tokenizer(text) if callable(tokenizer) else tokenizer.tokens_by_word(text)
    return [[word] if isinstance(word, str) else list(word) for word in found]


def flat(tokenizer: Any, text: str) -> list[str]:
    """All tokens of a text, one after the other."""
    return [token for word in tokens_by_word(tokenizer, text) for token in word]


def words_to_align(tokenizer: Any, text: str) -> list[str]:
    """The words whose tokens `tokens_by_word` gives, for a word aligner."""
    if finds_own_words(tokenizer):
        return ["".join(tokens) for tokens in tokens_by_word(tokenizer, text)]
    return source_words(text)


def finds_own_words(tokenizer: Any) -> bool:
    """Whether the tokenizer says what a word is, rather than `source_words`."""
    return not isinstance(tokenizer, SentencePieceSource | HuggingFaceSource)


@functools.cache
def _splitter() -> WordSplitter:
    return WordSplitter(TextOptions(normalization="none"))


def source_words(text: str) -> list[str]:
    """The words of raw source text, which together are the text (up to the kind of spaces).

    >>> source_words("L'heure est là.")
    ['L', "'", 'heure', '▁est', '▁là', '.']
    """
    return _splitter().words(text.translate(_SPACES))


def by_word(text: str, tokens: Sequence[str], spans: Sequence[tuple[int, int]]) -> Words:
    """Group tokens by word; ``spans`` are their ranges of characters in the text.

    A token without any character of its own, such as the first bytes of a character, goes with the
    token that follows.

    >>> by_word("les souris", ["▁les", "▁sou", "ris"], [(0, 3), (3, 7), (7, 10)])
    [['▁les'], ['▁sou', 'ris']]
    """
    words = source_words(text)
    if not words:
        return [list(tokens)] if tokens else []
    grouped: Words = [[] for _ in words]
    last = len(words) - 1
    begin = len(text) - len(words[last])  # of word `last`
    following = len(text)
    for token, span in zip(reversed(tokens), reversed(spans), strict=True):
        end = span[1] if span[1] > span[0] else following
        following = end
        while end <= begin and last > 0:
            last -= 1
            begin -= len(words[last])
        grouped[last].append(token)
    for group in grouped:
        group.reverse()
    return grouped


def without_surrogates(text: str) -> str:
    """Lone surrogates, which Python strings may have but UTF-8 has not, become U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


# ---------------------------------------------------------------------- bytes for people


@functools.cache
def _byte_alphabet() -> dict[str, int]:
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
    alphabet = _byte_alphabet()
    if not all(character in alphabet for character in token):
        return token  # a special token
    content = bytes(alphabet[character] for character in token)
    return "".join(
        character if not "\udc80" <= character <= "\udcff" else f"<0x{ord(character) - 0xDC00:02X}>"
        for character in content.decode("utf-8", "surrogateescape")
    ).replace(" ", MARKER)
