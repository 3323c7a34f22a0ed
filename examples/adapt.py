"""Go on training a transferred language model, with transformers' Trainer: embeddings, then all.

    pip install ".[align,transfer]" accelerate peft
    pairpiece transfer MODEL/ --tokenizer it-fr/ --output MODEL-it/
    python examples/adapt.py MODEL-it/ train.it adapted/
    python examples/adapt.py MODEL-it/ train.it adapted/ --lora 16   # layers by LoRA: less memory

First the layers stand still and the embeddings, with the output layer, find their place among them.
Then everything learns; with ``--lora`` the embeddings again, and small matrices beside the layers,
which are added to them at the end.  What is written is a model like any other.
"""

from __future__ import annotations

import argparse
import shutil
from array import array
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="what `pairpiece transfer` has written")
    parser.add_argument("text", type=Path, help="of the new language, a sentence on each line")
    parser.add_argument("output", type=Path)
    parser.add_argument("--lines", type=int, help="of the text; all if not given")
    parser.add_argument("--embedding-steps", type=int, default=300, help="with still layers")
    parser.add_argument("--steps", type=int, default=3000, help="with all")
    parser.add_argument("--context", type=int, default=512, help="tokens to an example")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--learning-rate", type=float, default=1e-4)
    parser.add_argument("--lora", type=int, metavar="RANK", help="LoRA instead of whole layers")
    options = parser.parse_args(arguments)
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    model = AutoModelForCausalLM.from_pretrained(options.model).float()
    examples = blocks(tokenizer, options)
    model.requires_grad_(False)
    for row in vocabulary_parameters(model):
        row.requires_grad = True
    train(model, examples, options.embedding_steps, 10 * options.learning_rate, options)
    if options.lora is None:
        model.requires_grad_(True)
        train(model, examples, options.steps, options.learning_rate, options)
    else:
        adapted = with_lora(model, options.lora)
        train(adapted, examples, options.steps, options.learning_rate, options)
        model = adapted.merge_and_unload()
    model.save_pretrained(options.output)
    tokenizer.save_pretrained(options.output)
    of_the_old = Path(options.model) / "source_tokenizer"  # where there is one for each language
    if of_the_old.is_dir():
        shutil.copytree(of_the_old, Path(options.output) / of_the_old.name, dirs_exist_ok=True)


def blocks(tokenizer: Any, options: argparse.Namespace) -> list[dict[str, torch.Tensor]]:
    """The lines one after the other, each with its end, cut into examples of the same length."""
    ids = array("i")
    with options.text.open(encoding="utf-8") as lines:
        for line in islice(lines, options.lines):
            found = tokenizer(line.rstrip("\n"))["input_ids"]
            ids.extend(found)
            if found[-1:] != [tokenizer.eos_token_id]:
                ids.append(tokenizer.eos_token_id)
    whole = len(ids) // options.context
    if whole == 0:
        raise SystemExit(f"{options.text}: {len(ids)} tokens are less than one --context")
    rows = torch.frombuffer(ids, dtype=torch.int32)[: whole * options.context].long()
    return [{"input_ids": row, "labels": row} for row in rows.view(whole, options.context)]


def vocabulary_parameters(model: Any) -> list[torch.nn.Parameter]:
    """What has a row for each token."""
    both = [model.get_input_embeddings(), model.get_output_embeddings()]
    return [parameter for module in both for parameter in module.parameters()]


def with_lora(model: Any, rank: int) -> Any:
    """The model with small matrices beside all linear layers; only they and the rows learn.

    The rows are not given to PEFT (`modules_to_save`), which would cut the tie between embeddings
    and output layer.
    """
    from peft import LoraConfig, get_peft_model

    rows = vocabulary_parameters(model)
    config = LoraConfig(
        task_type="CAUSAL_LM",
        r=rank,
        lora_alpha=2 * rank,
        target_modules="all-linear",  # but the output layer
        fan_in_fan_out=model.config.model_type == "gpt2",  # whose layers lie the other way
    )
    adapted = get_peft_model(model, config)
    for row in rows:
        row.requires_grad = True
    return adapted


def train(model: Any, examples: Any, steps: int, rate: float, options: argparse.Namespace) -> None:
    if steps == 0:
        return
    settings = TrainingArguments(
        output_dir=str(options.output),
        max_steps=steps,
        per_device_train_batch_size=options.batch,
        learning_rate=rate,
        warmup_steps=min(100, steps // 10),
        lr_scheduler_type="cosine",
        save_strategy="no",
        logging_steps=max(1, steps // 10),
        report_to="none",
        dataloader_pin_memory=torch.cuda.is_available(),
        seed=0,
    )
    Trainer(model=model, args=settings, train_dataset=examples).train()


if __name__ == "__main__":
    main()
