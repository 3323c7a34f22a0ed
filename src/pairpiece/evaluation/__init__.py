"""Numbers that tell tokenizers apart: metrics with signatures, intervals and comparisons."""

from pairpiece.evaluation.measuring import evaluate
from pairpiece.evaluation.scores import Comparison, Evaluation, Score

__all__ = ["Comparison", "Evaluation", "Score", "evaluate"]
