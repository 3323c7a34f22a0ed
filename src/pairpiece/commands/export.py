"""Write a model as files that other tools load.

for example:
  pairpiece export it-fr/ --to sentencepiece -o it.model
  pairpiece export it-fr/ --to hf --special-tokens-from llama/ -o it-llama/
  pairpiece export it-fr/ --to marian -o marian/
  pairpiece export it-fr/ --to fairseq -o dict.it.txt
  pairpiece export it-fr/ --to lexicon -o fr-it.lex
  pairpiece export it-fr/ --to table -o fr-it.npz
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pairpiece import files
from pairpiece.commands.console import say
from pairpiece.commands.line_streams import output_stream
from pairpiece.errors import OptionError
from pairpiece.foreign import huggingface_files, marian
from pairpiece.foreign.fairseq import dictionary
from pairpiece.foreign.sentencepiece_format import to_sentencepiece, vocabulary_text
from pairpiece.model.table_files import lexical_table, write_table
from pairpiece.model.tokenizer import load

_UNIGRAM = (
    "This is a unigram model. Classes of transformers that apply BPE (LlamaTokenizer, "
    "GemmaTokenizer, NllbTokenizer) load it and tokenize wrongly: for these take --to hf "
    "--special-tokens-from MODEL and AutoTokenizer (docs/exports.md)."
)


_ONE_SIDE = (
    "The source tokenizer is no SentencePiece model, so there are files for the target side only; "
    "MarianTokenizer of transformers needs both."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="directory of the model")
    parser.add_argument(
        "--to",
        required=True,
        choices=("hf", "sentencepiece", "marian", "fairseq", "lexicon", "table"),
        help="hf: tokenizer.json and tokenizer_config.json in a directory (every saved model has "
        "them); sentencepiece: a .model, and a .vocab beside it; marian: a directory with .spm and "
        ".yml vocabularies of both sides, and what MarianTokenizer reads; fairseq: a dict.txt for "
        "text segmented with encode --output-format piece; lexicon: source token, piece and "
        "log p(t|s), separated by tabs; table: c(t, s) as .npz (scipy.sparse) or .parquet",
    )
    parser.add_argument(
        "--special-tokens-from",
        metavar="PATH",
        help="with --to hf: add the special tokens of this Hugging Face tokenizer",
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="PATH", help="- for a lexicon: stdout"
    )


def run(options: argparse.Namespace) -> None:
    """Write the files."""
    if options.special_tokens_from is not None and options.to != "hf":
        raise OptionError("--special-tokens-from goes with --to hf")
    tokenizer = load(options.model)
    state = tokenizer.state
    if options.to == "lexicon":
        with output_stream(options.output) as output:
            output.writelines(f"{line}\n" for line in lexical_table(tokenizer))
        return
    if options.output == "-":
        raise OptionError(
            f"--to {options.to} needs a name: only a lexicon can go to standard output"
        )
    path = Path(options.output)
    if options.to == "table":
        write_table(tokenizer, path)
    elif options.to == "fairseq":
        used = None if state.translations is None else state.translations.value.piece_count.tolist()
        files.write(path, dictionary(state, used).encode("utf-8"))
    elif options.to == "sentencepiece":
        if path.suffix == ".vocab":
            raise OptionError(f"{path}: name the model (.model); a .vocab is written beside it")
        files.write(path, to_sentencepiece(state))
        files.write(path.with_suffix(".vocab"), vocabulary_text(state).encode("utf-8"))
        say(_UNIGRAM)
    else:
        if options.to == "hf":
            written = huggingface_files.files_for(state, options.special_tokens_from)
        else:
            written = marian.files_for(state, state.source_tokenizer)
            if "source.spm" not in written:
                say(_ONE_SIDE)
        path.mkdir(parents=True, exist_ok=True)
        for name, content in written.items():
            files.write(path / name, content)
