"""Does a tokenizer help where it counts?  Language models and translation, trained from scratch."""

from pairpiece.downstream.language_model_experiment import language_models
from pairpiece.downstream.results import Results
from pairpiece.downstream.translation_experiment import translations

__all__ = ["Results", "language_models", "translations"]
