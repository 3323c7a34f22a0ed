"""A tokenizer for the transformers library that also takes the source text."""

from __future__ import annotations

import copy
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformers import BatchEncoding, PreTrainedTokenizerFast

from pairpiece import files
from pairpiece.errors import ModelFormatError, OptionError
from pairpiece.foreign.huggingface import tokenizers_library
from pairpiece.foreign.protocol import Source
from pairpiece.model import saving
from pairpiece.model.encoding import Links
from pairpiece.model.folder import CONFIG, MANIFEST, TOKENIZER, state_of
from pairpiece.model.paired_backend import Conditions, PairedBackend
from pairpiece.model.saving import check_destination
from pairpiece.model.tokenizer import Tokenizer, load

_TRIES = 100  # of which each fails only if a model was saved to the folder meanwhile


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
        folder = Path(pretrained_model_name_or_path)
        for _ in range(_TRIES):
            before = state_of(folder)
            model = load(folder)
            try:
                tokenizer: PairPieceTokenizer = super().from_pretrained(
                    pretrained_model_name_or_path, *args, **kwargs
                )
            except (OSError, ValueError):
                if state_of(folder) == before:
                    raise
                continue
            if state_of(folder) == before:  # else what was read is of several models
                tokenizer.pairpiece = model
                if tokenizer.backend_tokenizer.post_processor is None:  # before version 5
                    _put_around(tokenizer)
                return tokenizer
        raise ModelFormatError(f"{folder}: models are saved there again and again")

    def __call__(
        self,
        text: Any = None,
        text_pair: Any = None,
        text_target: Any = None,
        text_pair_target: Any = None,
        *args: Any,
        source: Source | Sequence[Source] | None = None,
        alignment: Links | Sequence[Links | None] | None = None,
        source_pair: Source | Sequence[Source] | None = None,
        **kwargs: Any,
    ) -> BatchEncoding:
        """Tokenize one text or several, as any tokenizer does; with `source`, each with its own.

        The sources are those of `text_target` if that is given, else of `text`; `source_pair` are
        those of the second texts, which without them are tokenized target only.  `alignment` has
        the word links of each text with its source.  All other arguments, special tokens in texts
        and tokens that were added mean what they mean without a source.
        """
        if source is None:
            if alignment is not None or source_pair is not None:
                raise OptionError("alignment and source_pair need a source")
            plain: BatchEncoding = super().__call__(
                text, text_pair, text_target, text_pair_target, *args, **kwargs
            )
            return plain
        first = text if text_target is None else text_target
        paired = self._with_sources(isinstance(first, str), source, alignment, source_pair)
        call = super(PairPieceTokenizer, paired).__call__
        if text is None or text_target is None:
            found: BatchEncoding = call(
                text, text_pair, text_target, text_pair_target, *args, **kwargs
            )
            return found
        both: BatchEncoding = super().__call__(text, text_pair, *args, **kwargs)
        labels = call(None, None, text_target, text_pair_target, *args, **kwargs)
        both["labels"] = labels["input_ids"]
        return both

    def encode(self, text: Any, text_pair: Any = None, *args: Any, **kwargs: Any) -> Any:
        """The ids of one text."""
        if kwargs.get("source") is None:
            return super().encode(text, text_pair, *args, **_without_source(kwargs))
        return self(text, text_pair, None, None, *args, **kwargs)["input_ids"]

    def tokenize(
        self, text: str, pair: str | None = None, add_special_tokens: bool = False, **kwargs: Any
    ) -> list[str]:
        """The tokens of one text."""
        if kwargs.get("source") is None:
            kwargs = _without_source(kwargs)
            plain: list[str] = super().tokenize(text, pair, add_special_tokens, **kwargs)
            return plain
        found = self(text, pair, add_special_tokens=add_special_tokens, **kwargs)
        return list(found.tokens())

    def _with_sources(
        self, one: bool, source: Any, alignment: Any, source_pair: Any
    ) -> PairPieceTokenizer:
        """A copy whose next texts have these sources; other threads go on with this one."""

        def rows(values: Any) -> Any:
            return [values] if one and values is not None else values

        paired = copy.copy(self)
        paired._tokenizer = PairedBackend(
            self._tokenizer,
            self.pairpiece,
            Conditions(rows(source), rows(alignment)),
            Conditions(rows(source_pair)),
        )
        return paired

    def save_pretrained(
        self, save_directory: str | os.PathLike[str], *args: Any, **kwargs: Any
    ) -> tuple[str, ...]:
        """Save the files of transformers and the model beside them."""
        folder = Path(save_directory)
        check_destination(folder)
        with tempfile.TemporaryDirectory(prefix="pairpiece-") as name:
            place = Path(name) / folder.absolute().name
            written = super().save_pretrained(place, *args, **kwargs)
            contents = {Path(path).relative_to(place): Path(path).read_bytes() for path in written}
        beside = {name: contents.pop(Path(name)) for name in (TOKENIZER, CONFIG)}
        # AutoTokenizer has to know the class, and this one it cannot know.
        settings = json.loads(beside[CONFIG])
        settings["tokenizer_class"] = "PreTrainedTokenizerFast"
        beside[CONFIG] = json.dumps(settings, ensure_ascii=False, indent=1).encode("utf-8")
        for path in contents:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
        files.write_all({folder / path: content for path, content in contents.items()})
        saving.save(self.pairpiece.state, folder, beside)
        return (*(str(folder / Path(path).name) for path in written), str(folder / MANIFEST))


def _put_around(tokenizer: PairPieceTokenizer) -> None:
    """Let texts begin and end with special tokens where `add_bos_token`, `add_eos_token` say so."""
    wanted = {
        role: getattr(tokenizer, f"{role}_token")
        for role in ("bos", "eos")
        if tokenizer.init_kwargs.get(f"add_{role}_token")
    }
    special = [token for token in wanted.values() if token is not None]

    def around(text: str, type_id: int) -> list[str]:
        parts = [wanted.get("bos"), text, wanted.get("eos")]
        return [f"{part}:{type_id}" for part in parts if part is not None]

    tokenizer.backend_tokenizer.post_processor = tokenizers_library().processors.TemplateProcessing(
        single=around("$A", 0),
        pair=[*around("$A", 0), *around("$B", 1)],
        special_tokens=list(zip(special, tokenizer.convert_tokens_to_ids(special), strict=True)),
    )


def _without_source(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name != "source"}
