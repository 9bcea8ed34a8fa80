"""Constraint-preserving QAOA with grouped angles."""

from biselect.qaoa.ansatz import Ansatz
from biselect.qaoa.groups import CostGroup, components, split_terms
from biselect.qaoa.mixers import colour_edges, mixer_classes
from biselect.qaoa.response import depth_efficiency, grouping_gain, responses
from biselect.qaoa.schedule import SCHEDULES, Schedule
from biselect.qaoa.thresholds import Threshold, load_thresholds, save_thresholds, threshold_for
from biselect.qaoa.training import OBJECTIVES, STRATEGIES, Training, train
from biselect.qaoa.wide import surrogate, wide_circuit
from biselect.simulate.circuit import ENERGY, Observable

__all__ = [
    "ENERGY",
    "OBJECTIVES",
    "SCHEDULES",
    "STRATEGIES",
    "Ansatz",
    "CostGroup",
    "Observable",
    "Schedule",
    "Threshold",
    "Training",
    "colour_edges",
    "components",
    "depth_efficiency",
    "grouping_gain",
    "load_thresholds",
    "mixer_classes",
    "responses",
    "save_thresholds",
    "split_terms",
    "surrogate",
    "threshold_for",
    "train",
    "wide_circuit",
]
