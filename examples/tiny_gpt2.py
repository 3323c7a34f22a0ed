"""Train a tiny GPT-2 on text tokenized by a saved model, save it, load it, and let it write.

    pip install ".[align,transformers]" torch
    pairpiece demo --output it-fr/
    python examples/tiny_gpt2.py it-fr/ src/pairpiece/corpus/sample/sample.it

transformers loads the directory as it is; PairPiece is not imported here.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2Config, GPT2LMHeadModel

STEPS, BATCH = 60, 32


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="directory of a tokenizer that pairpiece has saved")
    parser.add_argument("text", type=Path, help="a sentence on each line")
    options = parser.parse_args(arguments)
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    lines = options.text.read_text(encoding="utf-8").splitlines()
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=64,
        n_embd=64,
        n_layer=2,
        n_head=2,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = GPT2LMHeadModel(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(STEPS):
        texts = lines[step * BATCH % len(lines) :][:BATCH]
        batch = tokenizer(
            [f"{tokenizer.bos_token}{text}{tokenizer.eos_token}" for text in texts],
            padding=True,
            truncation=True,
            max_length=64,
            return_tensors="pt",
        )
        labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
        loss = model(**batch, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0 or step == STEPS - 1:
            print(f"step {step}: loss {loss.item():.3f}")
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        again = AutoModelForCausalLM.from_pretrained(folder)
        words = AutoTokenizer.from_pretrained(folder)
        start = words(f"{words.bos_token}Il", return_tensors="pt")
        written = again.generate(**start, max_new_tokens=20, do_sample=False)
        print(words.decode(written[0], skip_special_tokens=True))
    sample = lines[0]
    assert words.decode(words(sample)["input_ids"]) == sample


if __name__ == "__main__":
    main()
