"""Constraint-preserving QAOA with grouped angles."""

from biselect.qaoa.ansatz import Ansatz
from biselect.qaoa.cost_groups import CostGroup, components, split_terms, surrogate
from biselect.qaoa.mixers import colour_edges, mixer_classes
from biselect.qaoa.schedule import SCHEDULES, Schedule
from biselect.qaoa.small_angle import depth_efficiency, grouping_gain, responses
from biselect.qaoa.spec import AnsatzSpec
from biselect.qaoa.thresholds import Threshold, load_thresholds, save_thresholds, threshold_for
from biselect.qaoa.training import OBJECTIVES, STRATEGIES, Training, train
from biselect.simulate.layers import ENERGY, Observable
from biselect.simulate.program import Op, Program

__all__ = [
    "ENERGY",
    "OBJECTIVES",
    "SCHEDULES",
    "STRATEGIES",
    "Ansatz",
    "AnsatzSpec",
    "CostGroup",
    "Observable",
    "Op",
    "Program",
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
]
