"""Give a pretrained model the new language: its layers, and embeddings for the new pieces.

for example:
  pairpiece train --source train.fr --target train.it --source-tokenizer MODEL/ --output it-fr/
  pairpiece transfer MODEL/ --tokenizer it-fr/ --output MODEL-it/

MODEL/ is a folder of a Hugging Face model with safetensors files.  The row of each new piece is
the mean of the rows of the source tokens that it was seen with in the parallel text.  What comes
out is a folder for from_pretrained, with the new tokenizer in it, to be trained on text of the new
language.
"""

from __future__ import annotations

import argparse

from pairpiece.model.source_weights import TOP
from pairpiece.pretrained.rows import KINDS
from pairpiece.pretrained.transferring import TRAITS, transfer
from pairpiece.pretrained.vocabulary_tensors import SIDES
from pairpiece.terminal import visible

_MEANING = {
    "kept": "tokens of the model",
    "special": "special tokens of the model",
    "byte": "bytes",
    "weighted": "means of the source tokens they were seen with",
    "containing": "means of the source tokens of longer pieces",
    "spelling": "means of the source tokens they are spelled with",
    "mean": "the mean of all tokens",
}
assert set(_MEANING) == set(KINDS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument("model", metavar="MODEL", help="folder of a Hugging Face model")
    parser.add_argument(
        "--tokenizer",
        required=True,
        metavar="DIR",
        help="PairPiece model that was trained with --source-tokenizer MODEL",
    )
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="the new model")
    both = parser.add_mutually_exclusive_group()
    both.add_argument(
        "--extend",
        action="store_true",
        help="keep the model's own vocabulary, and put the new pieces after it: a model of both "
        "languages; the model's tokenizer will lie in DIR/source_tokenizer",
    )
    both.add_argument(
        "--joint",
        action="store_true",
        help="the same with one tokenizer for text of both languages: the model's own, with the "
        "new pieces in it",
    )
    parser.add_argument(
        "--side",
        choices=SIDES,
        help="of translation models whose sides have vocabularies of their own: the one that gets "
        "the new vocabulary; default: decoder",
    )
    parser.add_argument(
        "--top",
        type=int,
        default=TOP,
        metavar="N",
        help=f"source tokens that count for a piece, default {TOP}",
    )
    parser.add_argument(
        "--traits",
        type=float,
        default=TRAITS,
        metavar="PART",
        help="how far rows of the output layer are moved to where those of tokens lie that are as "
        "frequent as the piece, and begin a word or with a capital letter as it does, "
        f"default {TRAITS}",
    )


def run(options: argparse.Namespace) -> None:
    """Write the model, and say what its rows are."""
    done = transfer(
        options.model,
        options.tokenizer,
        options.output,
        extend=options.extend,
        joint=options.joint,
        side=options.side,
        top=options.top,
        traits=options.traits,
    )
    print(f"{visible(done.architecture)}: {done.old_size:,} tokens → {done.new_size:,}")
    for kind, count in done.rows.items():
        print(f"{count:>9,}  {_MEANING[kind]}")
    print(f"entropy of the weights of a piece: {done.entropy:.2f} bits")
    print(f"{visible(options.output)}: a model for from_pretrained; the report is in transfer.json")
