"""Experiments: language models and translation models, trained from scratch with each tokenizer."""

from pairpiece.downstream.language_model_experiment import language_models
from pairpiece.downstream.results import Results
from pairpiece.downstream.translation_experiment import translations

__all__ = ["Results", "language_models", "translations"]
