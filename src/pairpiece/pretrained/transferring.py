"""A pretrained model of the source language, given the vocabulary of the new one."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pairpiece import __version__
from pairpiece.errors import ModelFormatError, OptionError
from pairpiece.foreign import huggingface_files
from pairpiece.model import saving
from pairpiece.model.renumbering import reordered
from pairpiece.model.source_weights import TOP
from pairpiece.model.tokenizer import Tokenizer, load
from pairpiece.options import check_between, check_choice, check_flag, check_whole
from pairpiece.pretrained import configuration
from pairpiece.pretrained.extending import extended
from pairpiece.pretrained.joint_tokenizer import JointTokenizer
from pairpiece.pretrained.loadable import make_loadable, sample_text
from pairpiece.pretrained.model_tokenizer import ModelTokenizer
from pairpiece.pretrained.new_folder import appearing, check_new
from pairpiece.pretrained.rows import Rows, rows_of
from pairpiece.pretrained.vocabulary_tensors import (
    POSITIONS_AFTER_PAD,
    SIDES,
    VocabularyTensor,
    has_separate_vocabularies,
    sizes,
    text_config,
    vocabulary_tensors,
)
from pairpiece.pretrained.weight_files import Replacement, WeightFiles

REPORT, SOURCE_TOKENIZER = "transfer.json", "source_tokenizer"
TRAITS = 0.9
"""How far rows of output layers are moved to have the traits of their tokens."""

_FEW = 1000
"""Layers or experts that a model may be said to have without tensors to show for them."""
_FLOATS = ("F64", "F32", "F16", "BF16")
_KEPT = ("*.py", "LICENSE*", "chat_template.jinja", "*processor_config.json")
"""Files of a model that are the same for every vocabulary; some are licences."""


@dataclass(frozen=True)
class Transfer:
    """What came of a transfer; ``transfer.json`` holds the same."""

    signature: str
    architecture: str
    old_size: int
    new_size: int
    rows: dict[str, int]  # how many there are of each kind: see `pairpiece.pretrained.rows`
    entropy: float  # of the weights of a piece, in bits, on the mean
    tensors: list[str]  # those that were replaced


def transfer(
    model: Any,
    tokenizer: Tokenizer | str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    extend: bool = False,
    joint: bool = False,
    model_tokenizer: Any = None,
    side: str | None = None,
    top: int = TOP,
    traits: float = TRAITS,
) -> Transfer:
    """Write a model of the new language: `model` with the vocabulary of `tokenizer`.

    `model` is a folder of a Hugging Face model, or one that has been loaded, and `tokenizer` was
    trained with its tokenizer as the source tokenizer.  The row of a piece in the embeddings, and
    in the output layer, is the mean of the rows of the `top` source tokens that it was seen with
    most, by p(s|t).  Special tokens of the model are kept; all other weights stay as they are.
    `output` is a folder for ``from_pretrained``, with the tokenizer in it.

    With `extend` the model keeps its own vocabulary, with the same ids, and the new pieces come
    after it: a model of both languages.  A piece that is spelled like a token of the model and was
    mostly seen with it is that token.  The tokenizer in `output` is for the new language; the
    model's own, for text of the old one, lies in ``source_tokenizer``.

    With `joint` there is one tokenizer for text of both languages: the model's own, with the new
    pieces in it (see `pairpiece.extend_tokenizer`).

    `model_tokenizer` is the model's tokenizer, or its folder, if it does not lie beside the model.
    `side` is ``"decoder"`` or ``"encoder"`` for translation models whose sides have vocabularies
    of their own.  Rows of output layers are moved the part `traits` of the way (0 for not at all)
    to where those of tokens lie that are as frequent as the piece, and begin a word, or begin
    with a capital letter, as it does: see docs/transfer.md.
    """
    chosen = _Choices(extend, joint, side, top, traits)
    if not isinstance(tokenizer, Tokenizer):
        tokenizer = load(tokenizer)
    destination = Path(output)
    check_new(destination)
    if isinstance(model, str | os.PathLike):
        return _Job(Path(model), tokenizer, model_tokenizer, chosen).done(destination)
    if not hasattr(model, "save_pretrained"):
        raise OptionError(f"a model is a folder or an object of transformers, not {model!r}")
    with tempfile.TemporaryDirectory(prefix="pairpiece-") as name:
        model.save_pretrained(name)
        theirs = model.name_or_path if model_tokenizer is None else model_tokenizer
        return _Job(Path(name), tokenizer, theirs, chosen).done(destination)


@dataclass(frozen=True)
class _Choices:
    """How to transfer, checked."""

    extend: bool
    joint: bool
    side: str | None
    top: int
    traits: float

    def __post_init__(self) -> None:
        check_flag("extend", self.extend)
        check_flag("joint", self.joint)
        if self.extend and self.joint:
            raise OptionError("a model gets two tokenizers (extend) or one for both (joint)")
        check_whole("top", self.top, 1, 10**6)
        check_between("traits", self.traits, 0, 1)
        if self.side is not None:
            check_choice("side", self.side, SIDES)

    @property
    def use(self) -> str:
        """What becomes of the model's own vocabulary."""
        return "extend" if self.extend else "joint" if self.joint else "replace"

    def side_of(self, config: Any) -> str:
        """The side that gets the new vocabulary."""
        if self.side is not None:
            return self.side
        return "decoder" if has_separate_vocabularies(config) else "both"


class _Job:
    """One transfer: everything is read and checked first, then all is written."""

    def __init__(
        self,
        folder: Path,
        tokenizer: Tokenizer,
        model_tokenizer: Any,
        chosen: _Choices,
    ) -> None:
        self._folder, self._chosen = folder, chosen
        config = _config(folder)
        side = chosen.side_of(config)
        theirs = ModelTokenizer.open(folder if model_tokenizer is None else model_tokenizer)
        self._weights = WeightFiles(folder)
        _check_config(folder, config, len(self._weights.tensors))
        shapes = {name: tensor.shape for name, tensor in self._weights.tensors.items()}
        self._tensors = vocabulary_tensors(config, shapes, side)
        _check_tensors(folder, self._weights, self._tensors, theirs)
        self._rows, self._tokenizer = _rows(config, tokenizer, theirs, chosen)
        self._files: dict[str, bytes] = {}
        self._new_id: dict[int, int] = {}
        if isinstance(self._tokenizer, Tokenizer):
            self._files = huggingface_files.files_with(
                self._tokenizer.state, theirs.content, theirs.config
            )
            added = json.loads(self._files["tokenizer.json"])["added_tokens"]
            ids = {token["content"]: token["id"] for token in added}
            self._rows = _with_added(self._rows, ids, theirs)
            special = theirs.special_ids
            self._new_id = {old: ids[token] for old, token in special.items() if token in ids}
        self._sizes = sizes(config, side)
        self._theirs = theirs
        self._report = Transfer(
            _signature(config, tokenizer, chosen),
            config.architectures[0],
            getattr(text_config(config), self._sizes[0]),
            len(self._rows),
            self._rows.by_kind,
            self._rows.entropy,
            sorted(self._tensors),
        )

    def done(self, destination: Path) -> Transfer:
        """Write the new model."""
        with appearing(destination) as place:
            self._write_weights(place)
            self._write_settings(place)
            self._write_tokenizer(place)
            if self._chosen.extend:
                self._theirs.save(place / SOURCE_TOKENIZER)
            _write_json(place / REPORT, asdict(self._report))
        return self._report

    def _write_weights(self, place: Path) -> None:
        replaced = {
            name: _replacement(self._weights, name, tensor, self._rows, self._chosen.traits)
            for name, tensor in self._tensors.items()
        }
        self._weights.write(place, replaced)

    def _write_tokenizer(self, place: Path) -> None:
        if isinstance(self._tokenizer, JointTokenizer):
            self._tokenizer.save(place)
            return
        saving.save(self._tokenizer.state, place, self._files)
        text = sample_text(self._tokenizer.vocabulary)
        make_loadable(place, text, self._tokenizer.encode(text))

    def _write_settings(self, place: Path) -> None:
        for name in ("config.json", "generation_config.json"):
            if not (self._folder / name).is_file():
                continue
            settings = _json(self._folder / name)
            if self._chosen.use == "replace":
                settings = configuration.renumbered(settings, self._new_id)
            if name == "config.json":
                settings = configuration.resized(settings, self._sizes, len(self._rows))
            _write_json(place / name, settings)
        for pattern in _KEPT:
            for path in self._folder.glob(pattern):
                shutil.copyfile(path, place / path.name)


def _rows(
    config: Any, tokenizer: Tokenizer, theirs: ModelTokenizer, chosen: _Choices
) -> tuple[Rows, Tokenizer | JointTokenizer]:
    """The new rows, and the tokenizer with the ids that go with them."""
    if chosen.joint:
        return _joint_rows(tokenizer, theirs, chosen.top)
    if not chosen.extend:
        tokenizer = _with_pad_of(config, tokenizer, theirs)
        return rows_of(tokenizer, theirs, chosen.top), tokenizer
    rows = rows_of(tokenizer, theirs, chosen.top)
    try:
        both = extended(tokenizer, theirs)
    except ValueError as error:
        raise OptionError(f"the vocabularies do not go together: {error}") from None
    return rows.after(both.kept, both.pieces), both.tokenizer


def _joint_rows(
    tokenizer: Tokenizer, theirs: ModelTokenizer, top: int
) -> tuple[Rows, JointTokenizer]:
    joint = JointTokenizer(theirs, tokenizer)
    new = joint.vocabulary.tokens
    parts = [token for token, piece in new.items() if piece is None]
    rows = rows_of(tokenizer, theirs, top, [theirs.readable(part) for part in parts])
    place = {piece: i for i, piece in enumerate(tokenizer.vocabulary.pieces)}
    place_of_part = {part: len(tokenizer) + i for i, part in enumerate(parts)}
    places = [place_of_part[t] if piece is None else place[piece] for t, piece in new.items()]
    return rows.after(joint.vocabulary.old_size, places), joint


def _config(folder: Path) -> Any:
    try:
        from transformers import AutoConfig
    except ImportError:
        raise OptionError(
            'a transfer needs transformers and PyTorch: pip install "pairpiece[transfer]"'
        ) from None
    if not (folder / "config.json").is_file():
        raise OptionError(f"{folder}: there is no config.json in it; a model is a folder on disk")
    try:
        return AutoConfig.from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False
        )
    except Exception as error:  # whatever transformers meets in files of others
        raise ModelFormatError(f"{folder / 'config.json'}: {error}") from None


def _with_pad_of(config: Any, tokenizer: Tokenizer, theirs: ModelTokenizer) -> Tokenizer:
    """The tokenizer, with the model's id for padding where positions are counted from it."""
    if config.model_type not in POSITIONS_AFTER_PAD:
        return tokenizer
    pad = theirs.config.get("pad_token")
    wanted, given = theirs.ids.get(str(pad)), tokenizer.pad_id
    if wanted is None or wanted == given:
        return tokenizer
    order = list(range(len(tokenizer)))
    if given < 0 or tokenizer.id_to_piece(given) != pad or wanted >= len(order):
        raise OptionError(
            f"{config.model_type} counts positions from the id of {pad}, which the tokenizer "
            f"lacks: train it with `pairpiece train --set pad_id={wanted} --set pad_piece={pad}`"
        )
    order[wanted], order[given] = order[given], order[wanted]
    try:
        return Tokenizer(reordered(tokenizer.state, order))
    except ValueError as error:
        raise OptionError(
            f"{pad} cannot have the id {wanted}, as {theirs.name} has: {error}"
        ) from None


def _check_config(folder: Path, config: Any, tensors: int) -> None:
    """There are tensors for all that the model is said to be built of."""
    for part in (config.to_dict(), text_config(config).to_dict()):
        for name, value in part.items():
            counts = isinstance(value, int) and ("layers" in name or "experts" in name)
            if counts and value > max(tensors, _FEW):
                raise ModelFormatError(
                    f"{folder / 'config.json'}: {name} is {value:,}, but there are "
                    f"{tensors:,} tensors"
                )


def _check_tensors(
    folder: Path,
    weights: WeightFiles,
    tensors: dict[str, VocabularyTensor],
    theirs: ModelTokenizer,
) -> None:
    """There are embeddings, of a type that can be averaged, with a row for each token."""
    if not any(len(weights.tensors[name].shape) == 2 for name in tensors):
        raise ModelFormatError(f"{folder}: there are no embeddings in its weights")
    most = max(theirs.ids.values())
    for name, known in tensors.items():
        tensor, axis = weights.tensors[name], known.axis
        if tensor.dtype not in _FLOATS:
            raise ModelFormatError(
                f"{folder / tensor.file}: {name} is of type {tensor.dtype}; transfer the model "
                f"before it is quantized"
            )
        if len(tensor.shape) <= axis or tensor.shape[axis] <= most:
            raise ModelFormatError(
                f"{folder / tensor.file}: {name} has the shape {list(tensor.shape)}, but the "
                f"largest id of the tokenizer is {most}: the tokenizer is not that of the model"
            )


def _with_added(rows: Rows, ids: dict[str, int], theirs: ModelTokenizer) -> Rows:
    """Rows for the special tokens that the model's tokenizer brings with it."""
    added = sorted((number, token) for token, number in ids.items() if number >= len(rows))
    return rows.with_special([theirs.ids[token] for _, token in added])


def _replacement(
    weights: WeightFiles, name: str, tensor: VocabularyTensor, rows: Rows, traits: float
) -> Replacement:
    axis, shape = tensor.axis, list(weights.tensors[name].shape)
    shape[axis] = len(rows)

    def content() -> Iterator[bytes]:
        import torch

        matrix = weights.read(name).movedim(axis, 0)
        blocks = rows.blocks(matrix, traits if tensor.is_output else 0.0)
        if axis > 0:  # a bias, which is small
            blocks = iter([torch.cat(list(blocks)).movedim(0, axis).contiguous()])
        for block in blocks:
            yield block.contiguous().view(torch.uint8).numpy().tobytes()

    return Replacement(tuple(shape), content)


def _signature(config: Any, tokenizer: Tokenizer, chosen: _Choices) -> str:
    import transformers

    digest = hashlib.sha256(saving.packed(tokenizer.state).manifest).hexdigest()[:12]
    return "|".join(
        f"{name}:{value}"
        for name, value in {
            "architecture": config.architectures[0],
            "tokenizer": digest,
            "use": chosen.use,
            "side": chosen.side_of(config),
            "top": chosen.top,
            "traits": float(chosen.traits),
            "transformers": transformers.__version__,
            "version": __version__,
        }.items()
    )


def _json(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_bytes()))
    except (ValueError, TypeError, RecursionError):
        raise ModelFormatError(f"{path}: not a JSON object") from None


def _write_json(path: Path, value: dict[str, Any]) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    path.write_text(f"{text}\n", encoding="utf-8")
