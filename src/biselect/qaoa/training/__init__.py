"""Training: objectives, strategies and the search they share."""

from biselect.qaoa.training.backend import backend_for
from biselect.qaoa.training.result import Stage, Training, load_angles
from biselect.qaoa.training.train import STRATEGIES, train

__all__ = ["STRATEGIES", "Stage", "Training", "backend_for", "load_angles", "train"]
