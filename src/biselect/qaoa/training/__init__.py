"""Training: objectives, strategies and the search they share."""

from biselect.qaoa.training.records import Training
from biselect.qaoa.training.search_strategies import STRATEGIES
from biselect.qaoa.training.train import train

__all__ = ["STRATEGIES", "Training", "train"]
