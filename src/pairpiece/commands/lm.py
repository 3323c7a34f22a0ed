r"""Train language models with different tokenizers, and compare their bits per byte.

for example:
  pairpiece lm --target train.it --dev-target dev.it --test-target test.it \
      --tokenizer sp=it.model --tokenizer it-fr/ --output lm/
  pairpiece lm --target train.it --dev-target dev.it --test-target test.it --source train.fr \
      --tokenizer sp=it.model --tokenizer it-fr/ --preset paper --seeds 5 --output lm-paper/

  pairpiece lm --target train.it --dev-target dev.it --test-target test.it \
      --tokenizer new=it-fr/ --init transferred=MODEL-it/ --output lm-transferred/

Every model sees the same lines in the same order.  --init goes on from the weights of a model that
`pairpiece transfer` has written.  With --source there is a bilingual setting too,
where source text in the pieces of its own tokenizer is mixed in.  Run it again with the same
--output to go on after a crash, or to add tokenizers and seeds: what is done is not done again.
"""

from __future__ import annotations

import argparse

from pairpiece.commands import experiments
from pairpiece.downstream import language_models
from pairpiece.downstream.language_model_experiment import BILINGUAL, MONOLINGUAL
from pairpiece.downstream.settings import LanguageModelSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    text = experiments.add_tokenizers(parser, required=False)
    parser.add_argument(
        "--init",
        action="append",
        default=[],
        metavar="[NAME=]DIR",
        help="a transferred model to go on from, with its own tokenizer; say it once for each",
    )
    text.add_argument("--target", required=True, metavar="FILE", help="to learn from")
    text.add_argument("--dev-target", required=True, metavar="FILE", help="to stop by")
    text.add_argument("--test-target", required=True, metavar="FILE", help="to measure on")
    text.add_argument(
        "--source", metavar="FILE", help="source-language text to mix in; need not be parallel"
    )
    parser.add_argument(
        "--setting",
        action="append",
        choices=(MONOLINGUAL, BILINGUAL),
        help="default: monolingual, and with --source bilingual too",
    )
    experiments.add_options(parser, LanguageModelSettings)


def run(options: argparse.Namespace) -> None:
    """Train, measure, and print the table."""
    with experiments.progress(options) as arguments:
        results = language_models(
            options.tokenizer,
            options.target,
            options.dev_target,
            options.test_target,
            options.source,
            init=options.init,
            settings=options.setting,
            **arguments,
        )
    experiments.show(results, options)
