"""A tokenizer that ``AutoTokenizer`` loads as it is, whichever model it lies beside."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

from pairpiece.errors import ModelFormatError
from pairpiece.text.options import MARKER
from pairpiece.text.vocabulary import Vocabulary

_CLASS = '''\
from transformers import PreTrainedTokenizerFast


class PlainTokenizer(PreTrainedTokenizerFast):
    """What tokenizer.json says, and nothing else."""
'''
_MODULE = "plain_tokenizer"


def sample_text(vocabulary: Vocabulary) -> str:
    """Text that tells tokenizers apart: rare pieces beside each other."""
    pieces = islice(reversed(vocabulary.normal()), 200)
    return "".join(pieces).replace(MARKER, " ").strip()


def make_loadable(folder: Path, text: str, ids: list[int]) -> None:
    """See to it that ``AutoTokenizer`` makes these ids of the text.

    For some models (Qwen 2, Phi 3) transformers 5 puts a tokenizer of its own together whatever
    ``tokenizer_config.json`` says, unless that names a class beside it.
    """
    if _loads(folder, text, ids):
        return
    path = folder / "tokenizer_config.json"
    config = json.loads(path.read_bytes())
    name = f"{_MODULE}.PlainTokenizer"
    config["auto_map"] = {"AutoTokenizer": [None, name]}
    path.write_text(json.dumps(config, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    (folder / f"{_MODULE}.py").write_text(_CLASS, encoding="utf-8")
    if not _loads(folder, text, ids):
        raise ModelFormatError(
            f"{folder}: AutoTokenizer does not load this tokenizer as it is beside such a model"
        )


def _loads(folder: Path, text: str, ids: list[int]) -> bool:
    from transformers import AutoTokenizer

    loaded = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    return bool(loaded(text, add_special_tokens=False)["input_ids"] == ids)
