"""A tokenizer that ``AutoTokenizer`` loads as it is, whichever model it lies beside."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

from pairpiece.errors import ModelFormatError
from pairpiece.model.tokenizer import Tokenizer
from pairpiece.text.options import MARKER

_CLASS = '''\
from transformers import PreTrainedTokenizerFast


class PlainTokenizer(PreTrainedTokenizerFast):
    """What tokenizer.json says, and nothing else."""
'''
_MODULE = "plain_tokenizer"


def make_loadable(folder: Path, tokenizer: Tokenizer) -> None:
    """See to it that ``AutoTokenizer`` gives the ids that `tokenizer` gives.

    For some models (Qwen 2, Phi 3) transformers 5 puts a tokenizer of its own together whatever
    ``tokenizer_config.json`` says, unless that names a class beside it.
    """
    if _loads(folder, tokenizer):
        return
    path = folder / "tokenizer_config.json"
    config = json.loads(path.read_bytes())
    name = f"{_MODULE}.PlainTokenizer"
    config["auto_map"] = {"AutoTokenizer": [None, name]}
    path.write_text(json.dumps(config, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    (folder / f"{_MODULE}.py").write_text(_CLASS, encoding="utf-8")
    if not _loads(folder, tokenizer):
        raise ModelFormatError(
            f"{folder}: AutoTokenizer does not load this tokenizer as it is beside such a model"
        )


def _loads(folder: Path, tokenizer: Tokenizer) -> bool:
    from transformers import AutoTokenizer

    pieces = islice(reversed(tokenizer.vocabulary.normal()), 200)
    text = "".join(pieces).replace(MARKER, " ").strip()
    loaded = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    ids: list[int] = loaded(text, add_special_tokens=False)["input_ids"]
    return ids == tokenizer.encode(text)
