"""A tokenizer for the transformers library that also takes the source text."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformers import BatchEncoding, PreTrainedTokenizerFast

from pairpiece import files
from pairpiece.errors import OptionError
from pairpiece.foreign.protocol import Source
from pairpiece.model import saving
from pairpiece.model.encoding import Encoding, Links
from pairpiece.model.tokenizer import Tokenizer, load


class PairPieceTokenizer(PreTrainedTokenizerFast):
    """A fast tokenizer like any other, whose call takes `source` (and `alignment`) for paired use.

    ``PairPieceTokenizer.from_pretrained(directory)`` loads a saved model.

    ``tokenizer(["Abbiamo topi"], source=["Nous avons des souris"], padding=True)`` gives what
    ``tokenizer(["Abbiamo topi"], padding=True)`` gives, tokenized with the source.
    """

    pairpiece: Tokenizer

    # No __init__: transformers takes tokenizer.json as it is only for classes without one.

    @classmethod
    def from_pretrained(
        cls,
        pretrained_model_name_or_path: str | os.PathLike[str],
        *args: Any,
        **kwargs: Any,
    ) -> PairPieceTokenizer:
        """Load a model from a directory."""
        model = load(pretrained_model_name_or_path)
        tokenizer: PairPieceTokenizer = super().from_pretrained(
            pretrained_model_name_or_path, *args, **kwargs
        )
        tokenizer.pairpiece = model
        return tokenizer

    def __call__(
        self,
        text: Any = None,
        *args: Any,
        source: Source | Sequence[Source] | None = None,
        alignment: Links | Sequence[Links | None] | None = None,
        **kwargs: Any,
    ) -> BatchEncoding:
        """Tokenize one text or several, as any tokenizer does; with `source`, each with its own.

        With a source, the arguments are `padding`, `truncation`, `max_length`,
        `pad_to_multiple_of`, `return_offsets_mapping` and `return_tensors`.
        """
        if source is None:
            plain: BatchEncoding = super().__call__(text, *args, **kwargs)
            return plain
        one = isinstance(text, str)
        encodings: list[Encoding] = self.pairpiece.encode_batch(
            [text] if one else list(text),
            [source] if one else source,  # type: ignore[list-item]
            alignments=[alignment] if one and alignment is not None else alignment,  # type: ignore[list-item, arg-type]
            out_type=Encoding,
        )
        return self._batch(encodings, one=one, **kwargs)

    def _batch(
        self,
        encodings: list[Encoding],
        *,
        one: bool,
        padding: Any = False,
        truncation: Any = None,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        return_offsets_mapping: bool = False,
        return_tensors: Any = None,
        add_special_tokens: bool = True,
        **unknown: Any,
    ) -> BatchEncoding:
        del add_special_tokens  # there are none to add, with a source or without
        if unknown:
            raise OptionError(f"with a source there is no argument {', '.join(unknown)}")
        limit = (max_length or self.model_max_length) if truncation else None
        rows: dict[str, list[Any]] = {"input_ids": [encoding.ids[:limit] for encoding in encodings]}
        rows["attention_mask"] = [[1] * len(ids) for ids in rows["input_ids"]]
        if one and return_tensors is None and not padding:
            single: dict[str, Any] = {name: values[0] for name, values in rows.items()}
            if return_offsets_mapping:
                single["offset_mapping"] = encodings[0].offsets[:limit]
            return BatchEncoding(single)
        batch = self.pad(
            BatchEncoding(rows),
            padding=padding,
            max_length=max_length if padding == "max_length" else None,
            pad_to_multiple_of=pad_to_multiple_of,
            return_tensors=return_tensors,
        )
        if return_offsets_mapping:
            batch["offset_mapping"] = [encoding.offsets[:limit] for encoding in encodings]
        if one and return_tensors is None:
            return BatchEncoding({name: values[0] for name, values in batch.items()})
        return batch

    def save_pretrained(
        self, save_directory: str | os.PathLike[str], *args: Any, **kwargs: Any
    ) -> tuple[str, ...]:
        """Save the files of transformers and the model beside them."""
        written: tuple[str, ...] = super().save_pretrained(save_directory, *args, **kwargs)
        # AutoTokenizer has to know the class, and this one it cannot know.
        config = Path(save_directory) / "tokenizer_config.json"
        settings = json.loads(config.read_text(encoding="utf-8"))
        settings["tokenizer_class"] = "PreTrainedTokenizerFast"
        files.write(config, json.dumps(settings, ensure_ascii=False, indent=1).encode("utf-8"))
        saving.save_alone(self.pairpiece.state, Path(save_directory))
        return (*written, str(Path(save_directory) / saving.MANIFEST))
