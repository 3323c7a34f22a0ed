"""Do language models and translation gain from the tokenizer?  Tables for some directions.

    python experiments/downstream/downstream.py ../shared/data/deu-hsb \
        --directions deu-hsb hsb-deu --lm-test test_domain --mt-test test_domain --characters
    python experiments/downstream/downstream.py ../shared/data/fra-ita \
        --directions fra-ita --lm-test test --mt-test test_tatoeba

A folder has ``train.<language>.gz``, ``dev`` and the tests.  SentencePiece, the default and the
paper's mode are trained on the same text, then language models (alone, and mixed with the source
language) and translation models with each of them.  ``--characters`` adds language models of
characters, to show what the paper's perplexity per byte makes of those.

Everything is kept in ``--work-dir``: started again, it goes on.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable
from pathlib import Path

import sentencepiece

import pairpiece
from pairpiece import files
from pairpiece.commands.console import progress_bar
from pairpiece.downstream import Results, language_models, translations
from pairpiece.evaluation.formats import to_markdown
from pairpiece.foreign.sentencepiece_training import SOURCE_SETTINGS, train_sentencepiece

MODES = ("default", "paper")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="folder named source-target")
    parser.add_argument("--directions", nargs="+", required=True, help="such as deu-hsb hsb-deu")
    parser.add_argument("--lm-test", default="test", help="split")
    parser.add_argument("--mt-test", default="test", help="split")
    parser.add_argument("--characters", action="store_true", help="for the first direction")
    parser.add_argument("--vocab-size", type=int, default=4000)
    parser.add_argument("--preset", default="tiny")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--work-dir", type=Path, default=Path("/tmp/pairpiece-downstream"))
    options = parser.parse_args()
    for i, direction in enumerate(options.directions):
        Direction(options, direction).tables(options.characters and i == 0)


class Direction:
    """A source and a target language."""

    def __init__(self, options: argparse.Namespace, direction: str) -> None:
        self._options = options
        self._name = direction
        self._languages = direction.split("-")
        self._folder = options.work_dir / direction
        self._folder.mkdir(parents=True, exist_ok=True)

    def tables(self, characters: bool) -> None:
        """Train all there is to train, and print the numbers."""
        tokenizers = [f"SentencePiece={self._sentencepiece()}"]
        tokenizers += [f"{mode}={self._model(mode)}" for mode in MODES]
        lm_test, mt_test = self._options.lm_test, self._options.mt_test
        (source, target), (dev_source, dev_target) = self._text("train"), self._text("dev")
        text = (target, dev_target, self._text(lm_test)[1])
        results = self._conduct("lm", language_models, tokenizers, *text, source)
        self._print(f"language models, {lm_test}", results)
        both = (source, target, dev_source, dev_target, *self._text(mt_test))
        results = self._conduct("mt", translations, tokenizers, *both)
        self._print(f"translation, {mt_test}", results)
        if characters:
            tokenizers.append(f"characters={self._characters()}")
            results = self._conduct("characters", language_models, tokenizers, *text)
            self._print(f"language models with characters, {lm_test}", results)

    def _conduct(self, folder: str, experiment: Callable[..., Results], *what: object) -> Results:
        with progress_bar(quiet=False) as advance:
            return experiment(
                *what,
                source_tokenizer=pairpiece.load(self._folder / MODES[0]).source_tokenizer,
                output=self._folder / folder,
                preset=self._options.preset,
                seeds=self._options.seeds,
                jobs=self._options.jobs,
                advance=advance,
            )

    def _print(self, what: str, results: Results) -> None:
        table = to_markdown(results.evaluation).partition("\n    ")[0]  # without signatures
        seconds = sum(run["seconds"] for run in results.runs)
        print(f"## {self._name}: {what}\n\n{table}\nTraining: {seconds:,.0f} s.\n", flush=True)

    def _text(self, split: str) -> list[Path]:
        return [self._options.corpus / f"{split}.{name}.gz" for name in self._languages]

    def _sentencepiece(self) -> Path:
        path = self._folder / "sp.model"
        if not path.is_file():
            lines = files.lines(self._text("train")[1])
            files.write(path, train_sentencepiece(lines, self._options.vocab_size).content)
        return path

    def _characters(self) -> Path:
        path = self._folder / "characters.model"
        if not path.is_file():
            model = io.BytesIO()
            settings = {**SOURCE_SETTINGS, "model_type": "char"}
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=files.lines(self._text("train")[1]),
                model_writer=model,
                vocab_size=2000,
                **settings,
            )
            files.write(path, model.getvalue())
        return path

    def _model(self, mode: str) -> Path:
        folder = self._folder / mode
        if not (folder / "pairpiece.json").is_file():
            pairpiece.train(
                *self._text("train"),
                vocab_size=self._options.vocab_size,
                mode=mode,
                hard_vocab_limit=False,
                output=folder,
                work_dir=self._options.work_dir / "stages",
            )
        return folder


if __name__ == "__main__":
    main()
