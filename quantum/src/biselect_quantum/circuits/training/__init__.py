"""Training: objectives, strategies and the search they share."""

from biselect_quantum.circuits.training.records import Training
from biselect_quantum.circuits.training.strategies import STRATEGIES
from biselect_quantum.circuits.training.trainer import train

__all__ = ["STRATEGIES", "Training", "train"]
