"""Show what is in a model: settings, provenance, pieces, and what they go with.

for example:
  pairpiece inspect it-fr/
  pairpiece inspect it-fr/ --piece ▁gatti --piece ano
  pairpiece inspect it-fr/ --source-token ▁chat -k 10
  pairpiece inspect it-fr/ --pieces | sort -k2 -g | head
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pairpiece.commands.line_streams import output_stream
from pairpiece.errors import OptionError
from pairpiece.model.tokenizer import Tokenizer, load
from pairpiece.terminal import visible
from pairpiece.text.options import MARKER
from pairpiece.text.vocabulary import PieceType


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="directory of the model")
    parser.add_argument("--piece", action="append", default=[], help="show its source tokens")
    parser.add_argument("--source-token", action="append", default=[], help="show its pieces")
    parser.add_argument("-k", type=int, default=5, metavar="N", help="neighbours to show")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--pieces", action="store_true", help="list piece, score and id as TSV")
    how.add_argument("--json", action="store_true", help="everything as one JSON object")


def run(options: argparse.Namespace) -> None:
    """Show it."""
    tokenizer = load(options.model)
    if options.pieces:
        with output_stream(None) as output:
            for piece, number in tokenizer.get_vocab().items():
                output.write(f"{piece}\t{tokenizer.score(number):.6g}\t{number}\n")
        return
    wanted = bool(options.piece or options.source_token)
    found = _neighbours(tokenizer, options) if wanted else _overview(tokenizer)
    if options.json:
        with output_stream(None) as output:
            output.write(json.dumps(found, ensure_ascii=False, indent=2) + "\n")
        return
    lines = _neighbour_lines(found) if wanted else _overview_lines(options.model, found)
    with output_stream(None) as output:
        output.writelines(visible(line) + "\n" for line in lines)


def _overview(tokenizer: Tokenizer) -> dict[str, Any]:
    kinds = Counter(PieceType(kind).name.lower() for kind in tokenizer.piece_types())
    learned = [
        piece
        for piece, kind in zip(tokenizer.get_vocab(), tokenizer.piece_types(), strict=True)
        if kind == PieceType.NORMAL
    ]
    lengths = [len(piece) for piece in learned]
    source = tokenizer.state.source_tokenizer
    return {
        "vocab_size": tokenizer.vocab_size,
        "pieces": dict(kinds),
        "begin_words": sum(piece.startswith(MARKER) for piece in learned),
        "mean_length": round(sum(lengths) / max(1, len(lengths)), 2),
        "longest": sorted(learned, key=len, reverse=True)[:8],
        "paired": tokenizer.is_paired,
        "bigram": tokenizer.has_bigram,
        "priors": tokenizer.has_priors,
        "source_tokenizer": None if source is None else source.kind,
        "text": dataclasses.asdict(tokenizer.options),
        "provenance": tokenizer.provenance,
    }


def _neighbours(tokenizer: Tokenizer, options: argparse.Namespace) -> dict[str, Any]:
    lexicon = tokenizer.lexicon(options.k)
    found: dict[str, Any] = {"pieces": {}, "source_tokens": {}}
    for kind, names, known, what in (
        ("pieces", options.piece, lexicon.sources, "a learned piece of this model"),
        ("source_tokens", options.source_token, lexicon.targets, "a source token seen in training"),
    ):
        for name in names:
            name = name if name in known else MARKER + name
            if name not in known:
                raise OptionError(f"{name.removeprefix(MARKER)!r} is not {what}")
            found[kind][name] = known[name]
    return found


def _neighbour_lines(found: dict[str, Any]) -> Iterator[str]:
    for kind, of_what in (("pieces", "p(s|t)"), ("source_tokens", "p(t|s)")):
        for name, neighbours in found[kind].items():
            yield f"{name}  {of_what}"
            for neighbour, probability in neighbours:
                yield f"  {probability:.3f}  {neighbour}"


def _overview_lines(model: Path, found: dict[str, Any]) -> Iterator[str]:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in found["pieces"].items())
    has = [name for name in ("paired", "bigram", "priors") if found[name]]
    rows = [
        ("model", str(model)),
        ("pieces", f"{found['vocab_size']:,}: {kinds}"),
        ("begin with a space", f"{found['begin_words']:,} of the learned pieces"),
        ("mean length", f"{found['mean_length']} characters"),
        ("longest", " ".join(found["longest"])),
        ("can do", ", ".join(["target only", *has])),
        ("source tokenizer", found["source_tokenizer"] or "none"),
        *((f"text.{name}", value) for name, value in _flat(found["text"])),
        *_flat(found["provenance"]),
    ]
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        yield f"{name:{width}}  {value}"


def _flat(values: dict[str, Any]) -> list[tuple[str, str]]:
    """Nested settings as dotted names with short values."""
    rows: list[tuple[str, str]] = []
    waiting = list(values.items())
    while waiting:
        name, value = waiting.pop(0)
        if isinstance(value, dict) and value:
            waiting[:0] = [(f"{name}.{inner}", item) for inner, item in value.items()]
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            waiting[:0] = [(f"{name}.{i}", item) for i, item in enumerate(value)]
        else:
            rows.append((name, value if isinstance(value, str) else json.dumps(value)))
    return rows
