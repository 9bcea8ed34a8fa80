"""Constraint-preserving QAOA with grouped angles."""

from biselect.qaoa.ansatz import Ansatz
from biselect.qaoa.best_known import Threshold, load_thresholds, save_thresholds
from biselect.qaoa.cost_groups import CostGroup, components, split_terms, surrogate
from biselect.qaoa.schedule import SCHEDULES, Schedule
from biselect.qaoa.small_angle import depth_efficiency, grouping_gain, grouping_suffices, responses
from biselect.qaoa.spec import AnsatzSpec
from biselect.qaoa.starts import WarmStart
from biselect.qaoa.training import STRATEGIES, Training, train
from biselect.simulate.layers import Observable
from biselect.simulate.program import Program

__all__ = [
    "SCHEDULES",
    "STRATEGIES",
    "Ansatz",
    "AnsatzSpec",
    "CostGroup",
    "Observable",
    "Program",
    "Schedule",
    "Threshold",
    "Training",
    "WarmStart",
    "components",
    "depth_efficiency",
    "grouping_gain",
    "grouping_suffices",
    "load_thresholds",
    "responses",
    "save_thresholds",
    "split_terms",
    "surrogate",
    "train",
]
