r"""Train translation models with different target tokenizers, and compare their translations.

for example:
  pairpiece mt --source train.fr --target train.it --dev-source dev.fr --dev-target dev.it \
      --test-source test.fr --test-target test.it \
      --tokenizer sp=it.model --tokenizer it-fr/ --output mt/
  pairpiece mt --source train.fr --target train.it --dev-source dev.fr --dev-target dev.it \
      --test-source test.fr --test-target test.it \
      --tokenizer it-fr/ --preset paper --marian --output marian/

Target text to learn from is tokenized with its source; model/@marginal says without.  Every model
sees the same lines in the same order.  Run it again with the same --output to go on after a crash,
or to add tokenizers and seeds: what is done is not done again.  --marian writes what it takes to do
the same with Marian.
"""

from __future__ import annotations

import argparse

from pairpiece.commands import experiments
from pairpiece.commands.console import say
from pairpiece.downstream import translations
from pairpiece.downstream.marian_training import write_marian_experiment
from pairpiece.downstream.settings import TranslationSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    text = experiments.add_tokenizers(parser)
    for name, what in (("", "to learn from"), ("dev-", "to stop by"), ("test-", "to measure on")):
        for side in ("source", "target"):
            text.add_argument(f"--{name}{side}", required=True, metavar="FILE", help=what)
    parser.add_argument(
        "--comet",
        metavar="MODEL",
        help="also score with COMET: a .ckpt, or the name of a model that is on this disk, such as "
        "Unbabel/wmt22-comet-da",
    )
    parser.add_argument(
        "--marian",
        action="store_true",
        help="only write configuration, vocabularies and tokenized text for Marian into DIR",
    )
    experiments.add_options(parser, TranslationSettings)


def run(options: argparse.Namespace) -> None:
    """Train, measure, and print the table."""
    texts = (
        *(options.source, options.target, options.dev_source, options.dev_target),
        *(options.test_source, options.test_target),
    )
    if options.marian:
        for folder in write_marian_experiment(
            options.output,
            options.tokenizer,
            *texts,
            source_tokenizer=options.source_tokenizer,
            preset=options.preset,
            **experiments.changes(options),
        ):
            say(f"{folder}: now sh {folder}/train.sh")
        return
    with experiments.progress(options) as arguments:
        results = translations(options.tokenizer, *texts, comet=options.comet, **arguments)
    experiments.show(results, options)
