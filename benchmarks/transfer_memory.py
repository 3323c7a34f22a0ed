"""What it takes to transfer a model that is large on disk: memory and time of `pairpiece.transfer`.

    python benchmarks/transfer_memory.py --layers 12

A Llama of 128,256 tokens and a width of 4,096 with random weights in bfloat16 is written in shards,
and given a new vocabulary in a process of its own.  Peers would load the model.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import pairpiece
from pairpiece import files
from pairpiece.corpus import sample

TOKENS, WIDTH = 128_256, 4096


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--work-dir", type=Path, help="default: a temporary one")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        measure(*options.child)
        return
    with tempfile.TemporaryDirectory(dir=options.work_dir) as name:
        folder = Path(name)
        make_model(folder / "model", options.layers)
        pairpiece.train(
            sample.FRENCH,
            sample.ITALIAN,
            vocab_size=2000,
            align="none",
            source_tokenizer=folder / "model",
            output=folder / "tokenizer",
            cache=False,
        )
        size = sum(path.stat().st_size for path in (folder / "model").glob("*.safetensors"))
        paths = [str(folder / part) for part in ("model", "tokenizer", "new")]
        command = [sys.executable, __file__, "--child", *paths]
        found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        matrix = TOKENS * WIDTH * 2
        print(f"model on disk: {size / 1e9:.1f} GB; one matrix of rows: {matrix / 1e9:.2f} GB")
        for what, (seconds, peak, before) in found.items():
            print(
                f"{what}: {seconds:.1f} s, peak memory {peak / 1e9:.2f} GB "
                f"({before / 1e9:.2f} GB of it PyTorch and transformers), "
                f"{(peak - before) / matrix:.2f} matrices"
            )


def make_model(folder: Path, layers: int) -> None:
    """A folder as it would be downloaded."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=4000,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(files.lines(sample.FRENCH), trainer)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|endoftext|>"
    ).save_pretrained(folder)
    config = transformers.LlamaConfig(
        vocab_size=TOKENS,
        hidden_size=WIDTH,
        intermediate_size=14_336,
        num_hidden_layers=layers,
        num_attention_heads=32,
        num_key_value_heads=8,
        architectures=["LlamaForCausalLM"],
        dtype="bfloat16",
        eos_token_id=0,
        bos_token_id=0,
    )
    config.save_pretrained(folder)
    with torch.device("meta"):
        shapes = {k: v.shape for k, v in transformers.LlamaForCausalLM(config).state_dict().items()}
    shards: dict[str, list[str]] = {}
    for name in shapes:
        part = name.split(".")[2] if ".layers." in name else name
        shards.setdefault(f"model-{part}.safetensors", []).append(name)
    for file, names in shards.items():
        tensors = {name: torch.rand(shapes[name], dtype=torch.bfloat16) for name in names}
        save_file(tensors, folder / file, {"format": "pt"})
    weight_map = {name: file for file, names in shards.items() for name in names}
    size = sum(2 * shape.numel() for shape in shapes.values())
    index = {"metadata": {"total_size": size}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def measure(model: str, tokenizer: str, output: str) -> None:
    """Transfer in this process, which has done nothing else."""
    transformers.logging.set_verbosity_error()
    found = {}
    for what, extend in (("replace", False), ("extend", True)):
        before = peak_memory()
        start = time.monotonic()
        pairpiece.transfer(model, tokenizer, f"{output}-{what}", extend=extend)
        found[what] = (time.monotonic() - start, peak_memory(), before)
        shutil.rmtree(f"{output}-{what}")
    print(json.dumps(found))


def peak_memory() -> int:
    """Of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
