"""Do other tools find the same ids?  A table of lines compared and lines that differ, by tool.

    python benchmarks/tools.py it-fr/ dev.it test.it [--node-modules FOLDER]

`it-fr/` is a saved model.  What is not installed here is listed as such: kitoken, tokie,
llama-cpp-python with gguf, transformers, and in FOLDER @huggingface/tokenizers and
@huggingface/transformers for node.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pairpiece
from pairpiece import files
from pairpiece.foreign.sentencepiece_format import to_sentencepiece
from pairpiece.text.vocabulary import PieceType

Ids = list[list[int]]
CLASSES = {
    "T5Tokenizer": "spiece.model",
    "DebertaV2Tokenizer": "spm.model",
    "BigBirdTokenizer": "spiece.model",
    "XLNetTokenizer": "spiece.model",
    "LlamaTokenizer": "tokenizer.model",
    "GemmaTokenizer": "tokenizer.model",
    "NllbTokenizer": "sentencepiece.bpe.model",
}
NODE = """
import fs from "fs";
import { WHAT } from "PACKAGE";
const [folder, texts] = process.argv.slice(2);
const read = (path) => JSON.parse(fs.readFileSync(path, "utf-8"));
const [json, config] = ["tokenizer", "tokenizer_config"].map((n) => read(`${folder}/${n}.json`));
const tokenizer = new WHAT(json, config);
const ids = (text) => {
  const found = tokenizer.encode(text, { add_special_tokens: false });
  return found.ids ?? found;
};
console.log(JSON.stringify(read(texts).map(ids)));
"""


def sentencepiece_ids(model: bytes, texts: list[str]) -> Ids:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(model)
    found: Ids = processor.encode(texts)
    return found


def fast_ids(folder: Path, texts: list[str]) -> Ids:
    import tokenizers

    fast = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    return [encoding.ids for encoding in fast.encode_batch(texts)]


def class_ids(name: str, folder: Path, texts: list[str]) -> Ids:
    import transformers

    tokenizer = getattr(transformers, name).from_pretrained(folder)
    found: Ids = tokenizer(texts, add_special_tokens=False)["input_ids"]
    return found


def class_ids_of_model(name: str, model: bytes, texts: list[str]) -> Ids:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / CLASSES[name]).write_bytes(model)
        return class_ids(name, Path(folder), texts)


def kitoken_ids(make: str, what: Any, texts: list[str]) -> Ids:
    import kitoken

    return [list(ids) for ids in getattr(kitoken.Kitoken, make)(what).encode_all(texts)]


def tokie_ids(folder: Path, texts: list[str]) -> Ids:
    import tokie

    tokenizer = tokie.Tokenizer.from_json(str(folder / "tokenizer.json"))
    return [list(e.ids) for e in tokenizer.encode_batch(texts, add_special_tokens=False)]


def llama_ids(model: pairpiece.Tokenizer, texts: list[str]) -> Ids:
    """A vocabulary of the kind "t5", llama.cpp's unigram, in a GGUF file without weights."""
    import gguf
    import llama_cpp

    kinds = {
        PieceType.NORMAL: gguf.TokenType.NORMAL,
        PieceType.UNKNOWN: gguf.TokenType.UNKNOWN,
        PieceType.CONTROL: gguf.TokenType.CONTROL,
        PieceType.USER_DEFINED: gguf.TokenType.USER_DEFINED,
        PieceType.UNUSED: gguf.TokenType.UNUSED,
        PieceType.BYTE: gguf.TokenType.BYTE,
    }
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/vocabulary.gguf"
        writer = gguf.GGUFWriter(path, "t5")
        writer.add_context_length(512)
        writer.add_embedding_length(64)
        writer.add_feed_forward_length(64)
        writer.add_block_count(1)
        writer.add_head_count(1)
        writer.add_layer_norm_rms_eps(1e-6)
        writer.add_relative_attn_buckets_count(32)
        writer.add_tokenizer_model("t5")
        writer.add_tokenizer_pre("default")
        vocabulary = model.vocabulary
        writer.add_token_list([piece.encode("utf-8") for piece in vocabulary.pieces])
        writer.add_token_scores(vocabulary.scores)
        writer.add_token_types([kinds[kind] for kind in vocabulary.types])
        writer.add_add_space_prefix(model.options.add_dummy_prefix)
        writer.add_remove_extra_whitespaces(model.options.remove_extra_spaces)
        if model.state.charsmap:
            writer.add_precompiled_charsmap(model.state.charsmap)
        writer.add_unk_token_id(model.unk_id)
        writer.add_add_bos_token(False)
        writer.add_add_eos_token(False)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        llama = llama_cpp.Llama(path, vocab_only=True, verbose=False)
        return [llama.tokenize(text.encode("utf-8"), add_bos=False) for text in texts]


def node_ids(what: str, package: str, modules: Path, folder: Path, texts: list[str]) -> Ids:
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "node_modules").symlink_to(modules.absolute())
        program, written = Path(place) / "ids.mjs", Path(place) / "texts.json"
        program.write_text(NODE.replace("WHAT", what).replace("PACKAGE", package), encoding="utf-8")
        written.write_text(json.dumps(texts), encoding="utf-8")
        command = ["node", str(program), str(folder.absolute()), str(written)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(ended.stderr.strip().splitlines()[-1])
    found: Ids = json.loads(ended.stdout)
    return found


def version(package: str, modules: Path | None = None) -> str:
    if modules is not None:
        page = (modules / package / "package.json").read_text(encoding="utf-8")
        return str(json.loads(page)["version"])
    return importlib.metadata.version(package)


def row(tool: str, number: Callable[[], str], ids: Callable[[], Ids], ours: Ids) -> str:
    """A line of the table; what goes wrong in the other tool is told, not raised."""
    try:
        known = number()
    except (importlib.metadata.PackageNotFoundError, OSError):
        return f"| {tool} | not installed | | |"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = ids()
    except Exception as error:
        return f"| {tool} | {known} | | {type(error).__name__}: {str(error)[:100]} |"
    different = sum(a != b for a, b in zip(theirs, ours, strict=True))
    return f"| {tool} | {known} | {len(ours):,} | {different:,} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("text", type=Path, nargs="+")
    parser.add_argument("--node-modules", type=Path, default=Path("node_modules"))
    options = parser.parse_args(arguments)
    folder, modules = options.model, options.node_modules
    texts = list(dict.fromkeys(line for path in options.text for line in files.lines(path)))
    model = pairpiece.load(folder)
    ours = model.encode_batch(texts)
    exported = to_sentencepiece(model.state)
    loaders: list[tuple[str, str, Path | None, Callable[[], Ids]]] = [
        ("SentencePiece", "sentencepiece", None, lambda: sentencepiece_ids(exported, texts)),
        ("tokenizers", "tokenizers", None, lambda: fast_ids(folder, texts)),
        ("AutoTokenizer", "transformers", None, lambda: class_ids("AutoTokenizer", folder, texts)),
        *(
            (
                f"{name}, the `.model` as `{file}`",
                "transformers",
                None,
                lambda name=name: class_ids_of_model(name, exported, texts),  # type: ignore[misc]
            )
            for name, file in CLASSES.items()
        ),
        *(
            (
                f"`{package}` (node)",
                package,
                modules,
                lambda what=what, package=package: node_ids(  # type: ignore[misc]
                    what, package, modules, folder, texts
                ),
            )
            for package, what in (
                ("@huggingface/tokenizers", "Tokenizer"),
                ("@huggingface/transformers", "PreTrainedTokenizer"),
            )
        ),
        (
            "kitoken, the `.model`",
            "kitoken",
            None,
            lambda: kitoken_ids("from_sentencepiece", exported, texts),
        ),
        (
            "kitoken, `tokenizer.json`",
            "kitoken",
            None,
            lambda: kitoken_ids("from_tokenizers_file", str(folder / "tokenizer.json"), texts),
        ),
        ("tokie, `tokenizer.json`", "tokie", None, lambda: tokie_ids(folder, texts)),
        ('llama.cpp, vocabulary "t5"', "llama_cpp_python", None, lambda: llama_ids(model, texts)),
    ]
    print("| tool | version | lines | different |\n|---|---|---|---|")
    for tool, package, place, ids in loaders:
        number: Callable[[], str] = lambda p=package, m=place: version(p, m)  # type: ignore[misc]  # noqa: E731
        print(row(tool, number, ids, ours), flush=True)


if __name__ == "__main__":
    main()
