"""A tokenizer that exists, with the pieces of the new language in it: one for both languages."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from pairpiece import files
from pairpiece.errors import ModelFormatError, OptionError, PairPieceError
from pairpiece.foreign.huggingface import tokenizers_library
from pairpiece.foreign.joint_vocabulary import (
    JointVocabulary,
    joint_sentencepiece,
    joint_tokenizer_json,
)
from pairpiece.model.tokenizer import Tokenizer, load
from pairpiece.pretrained.loadable import make_loadable, sample_text
from pairpiece.pretrained.model_tokenizer import ModelTokenizer
from pairpiece.pretrained.new_folder import appearing, check_new

_FILE = "tokenizer.json"
_OF_THE_OLD_VOCABULARY = ("*.model", "*.spm", "vocab.*", "merges.txt", "added_tokens.json")


def extend_tokenizer(
    into: str | os.PathLike[str],
    tokenizer: Tokenizer | str | os.PathLike[str],
    output: str | os.PathLike[str],
) -> JointVocabulary:
    """Put the pieces of `tokenizer` into another tokenizer, whose tokens keep their ids.

    `into` is a Hugging Face folder with a tokenizer of the type BPE or Unigram, and `output` the
    folder for the new one; or both are ``.model`` files of SentencePiece.  Special tokens, the
    chat template and all else stay.  Text of the old language is split as before, but for words
    in which new pieces are found.  `pairpiece.transfer(…, joint=True)` does the same for a model
    with its tokenizer.

    Returns what is new.
    """
    if not isinstance(tokenizer, Tokenizer):
        tokenizer = load(tokenizer)
    given, destination = Path(into), Path(output)
    if not given.exists():
        raise OptionError(f"{given}: there is no such file or folder")
    if given.is_dir():
        if destination.suffix == ".model":
            raise OptionError(f"{destination}: name a folder, as {given} is one")
        check_new(destination)
        joint = JointTokenizer(ModelTokenizer.open(given), tokenizer)
        with appearing(destination) as place:
            joint.save(place)
        return joint.vocabulary
    if given.suffix != ".model":
        raise OptionError(
            f"{given}: neither a folder of Hugging Face nor a .model file of SentencePiece; of a "
            f"tokenizer.json give the folder"
        )
    if destination.suffix != ".model":
        raise OptionError(f"{destination}: name a .model file, as {given.name} is one")
    if destination.exists() and destination.samefile(given):
        raise OptionError(f"{destination}: this is the model itself, which would be lost")
    try:
        content = given.read_bytes()
    except OSError as error:
        raise ModelFormatError(f"{given}: {error.strerror}") from None
    content, vocabulary = joint_sentencepiece(content, tokenizer.vocabulary, str(given))
    files.write(destination, content)
    return vocabulary


class JointTokenizer:
    """A tokenizer of transformers with our pieces in it."""

    def __init__(self, theirs: ModelTokenizer, tokenizer: Tokenizer) -> None:
        self._theirs, self._tokenizer = theirs, tokenizer
        with tempfile.TemporaryDirectory(prefix="pairpiece-") as name:
            theirs.save(Path(name))
            path = Path(name) / _FILE
            if not path.is_file():
                raise OptionError(f"{theirs.name}: transformers has no {_FILE} for this tokenizer")
            self._content = json.loads(path.read_bytes())
        try:
            self.vocabulary = joint_tokenizer_json(self._content, tokenizer.vocabulary)
        except PairPieceError as error:
            raise type(error)(f"{theirs.name}: {error}") from None
        except (KeyError, TypeError, AttributeError, ValueError):
            raise ModelFormatError(f"{theirs.name}: its {_FILE} cannot be extended") from None

    def save(self, folder: Path) -> None:
        """Write its files, as ``AutoTokenizer`` reads them."""
        self._theirs.save(folder)
        for pattern in _OF_THE_OLD_VOCABULARY:
            for stale in folder.glob(pattern):
                stale.unlink()
        content = json.dumps(self._content, ensure_ascii=False, indent=1) + "\n"
        (folder / _FILE).write_text(content, encoding="utf-8")
        text = sample_text(self._tokenizer.vocabulary)
        backend = tokenizers_library().Tokenizer.from_file(str(folder / _FILE))
        make_loadable(folder, text, backend.encode(text, add_special_tokens=False).ids)
