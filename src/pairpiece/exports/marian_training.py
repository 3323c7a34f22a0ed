"""Everything to train a translation model with Marian itself, in a folder for each tokenizer.

| file | what |
|---|---|
| ``train.source``, ``train.target``, ``dev.…``, ``test.source`` | tokens, separated by spaces |
| ``test.target`` | the references, as they are |
| ``vocab.source.yml``, ``vocab.target.yml`` | the pieces with Marian's ids |
| ``config.yml`` | the options of the paper (or of a smaller preset) |
| ``train.sh``, ``translate.sh`` | train with a seed; translate the test text and score it |

Text is tokenized here, because target text is tokenized with its source, which Marian's built-in
SentencePiece cannot do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from pairpiece import files
from pairpiece.downstream.pieces import SourcePieces, TargetPieces
from pairpiece.downstream.settings import TranslationSettings, translation_settings
from pairpiece.errors import OptionError
from pairpiece.evaluation.measuring import with_names
from pairpiece.evaluation.parallel_text import ParallelText, Sentences
from pairpiece.evaluation.systems import source_side, systems_of
from pairpiece.options import MARKER

_END, _UNK = "</s>", "<unk>"


def write_experiment(
    folder: str | PathLike[str],
    tokenizers: Sequence[Any],
    source: Sentences,
    target: Sentences,
    dev_source: Sentences,
    dev_target: Sentences,
    test_source: Sentences,
    test_target: Sentences,
    *,
    source_tokenizer: Any = None,
    preset: str = "paper",
    seeds: Iterable[int] = (1,),
    **changes: Any,
) -> list[Path]:
    """Write a folder for each tokenizer that is to be compared, and return their paths."""
    settings = translation_settings(preset, **changes)
    systems = with_names([s for one in tokenizers for s in systems_of(one, ["paired"])])
    sides = {
        "train": (target, source),
        "dev": (dev_target, dev_source),
        "test": (test_target, test_source),
    }
    texts = {name: ParallelText.read(*both) for name, both in sides.items()}
    source_pieces = SourcePieces(source_side(source_tokenizer, systems), sources_of(texts["train"]))
    written = []
    for system in systems:
        pieces = TargetPieces(system)
        own = Path(folder) / system.name.replace("/", "-")
        own.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            tokens = source_pieces.rows(sources_of(text))
            _write_lines(own / f"{name}.source", map(source_pieces.readable, tokens))
            if name != "test":
                _write_lines(own / f"{name}.target", map(pieces.readable, pieces.rows(text)))
        files.write(own / "test.target", "".join(f"{t}\n" for t in texts["test"].targets).encode())
        files.write(own / "vocab.source.yml", _vocabulary(source_pieces.pieces[1:]))
        files.write(own / "vocab.target.yml", _vocabulary(pieces.readable(range(len(pieces.pieces)))))
        files.write(own / "config.yml", _config(settings).encode("utf-8"))
        written.append(own)
    return written
