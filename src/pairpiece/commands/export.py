"""Write a model as files that other tools load.

for example:
  pairpiece export it-fr/ --to sentencepiece -o it.model
  pairpiece export it-fr/ --to hf --special-tokens-from llama/ -o it-llama/
  pairpiece export it-fr/ --into llama/ -o llama-it/
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
from pairpiece.foreign.joint_vocabulary import JointVocabulary
from pairpiece.foreign.sentencepiece_format import to_sentencepiece, vocabulary_text
from pairpiece.model.table_files import lexical_table, write_table
from pairpiece.model.tokenizer import load
from pairpiece.pretrained.joint_tokenizer import extend_tokenizer
from pairpiece.terminal import visible_lines

_UNIGRAM = (
    "This is a unigram model. Classes of transformers that apply BPE (LlamaTokenizer, "
    "GemmaTokenizer, NllbTokenizer) load it and tokenize wrongly: for these take --to hf "
    "--special-tokens-from MODEL and AutoTokenizer (docs/exports.md)."
)


def _joined(joint: JointVocabulary) -> str:
    """What is new in a tokenizer."""
    pieces = len(joint.tokens) - joint.parts
    lines = [
        f"{joint.old_size:,} tokens → {joint.old_size + len(joint.tokens):,}",
        f"{pieces:>9,}  new pieces",
        f"{joint.shared:>9,}  pieces that were tokens before",
    ]
    if joint.parts:
        lines.insert(2, f"{joint.parts:>9,}  parts that pieces are joined from")
    if joint.left_out:
        examples = " ".join(joint.left_out[:5]) + (" …" if len(joint.left_out) > 5 else "")
        lines.append(
            f"{len(joint.left_out):>9,}  left out, as text is changed or cut there before tokens "
            f"are looked for: {examples}"
        )
    return "\n".join(lines)


_ONE_SIDE = (
    "The source tokenizer is no SentencePiece model, so there are files for the target side only; "
    "MarianTokenizer of transformers needs both."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="directory of the model")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--to",
        choices=("hf", "sentencepiece", "marian", "fairseq", "lexicon", "table"),
        help="hf: tokenizer.json and tokenizer_config.json in a directory (every saved model has "
        "them); sentencepiece: a .model, and a .vocab beside it; marian: a directory with .spm and "
        ".yml vocabularies of both sides, and what MarianTokenizer reads; fairseq: a dict.txt for "
        "text segmented with encode --output-format piece; lexicon: source token, piece and "
        "log p(t|s), separated by tabs; table: c(t, s) as .npz (scipy.sparse) or .parquet",
    )
    where.add_argument(
        "--into",
        metavar="PATH",
        help="put the pieces into this tokenizer of another language, whose tokens keep their ids: "
        "a Hugging Face folder (BPE or unigram), or a .model of SentencePiece",
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
    if options.into is not None:
        if options.output == "-":
            raise OptionError("--into needs a name: a tokenizer does not go to standard output")
        joint = extend_tokenizer(options.into, options.model, options.output)
        print(visible_lines(_joined(joint)))
        return
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
        vocabulary = vocabulary_text(state).encode("utf-8")
        model = path.resolve() if path.is_symlink() else path
        files.write_all({model: to_sentencepiece(state), path.with_suffix(".vocab"): vocabulary})
        say(_UNIGRAM)
    else:
        if options.to == "hf":
            written = huggingface_files.files_for(state, options.special_tokens_from)
        else:
            written = marian.files_for(state, state.source_tokenizer)
            if "source.spm" not in written:
                say(_ONE_SIDE)
        path.mkdir(parents=True, exist_ok=True)
        files.write_all({path / name: content for name, content in written.items()})
