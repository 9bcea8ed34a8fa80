"""Training: objectives, strategies and the search they share."""

from biselect.qaoa.training.records import Training, load_angles
from biselect.qaoa.training.search_strategies import STRATEGIES
from biselect.qaoa.training.train import backend_for, train

__all__ = ["STRATEGIES", "Training", "backend_for", "load_angles", "train"]
