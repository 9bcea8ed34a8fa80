"""Constraint-preserving QAOA with grouped angles."""

from biselect_quantum.circuits.ansatz import Ansatz
from biselect_quantum.circuits.cost_groups import CostGroup, components, split_terms, surrogate
from biselect_quantum.circuits.schedule import SCHEDULES, Schedule
from biselect_quantum.circuits.spec import AnsatzSpec
from biselect_quantum.circuits.thresholds import Threshold, load_thresholds, save_thresholds
from biselect_quantum.circuits.training import STRATEGIES, Training, train
from biselect_quantum.simulate.layers import Observable
from biselect_quantum.simulate.program import Program

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
    "components",
    "load_thresholds",
    "save_thresholds",
    "split_terms",
    "surrogate",
    "train",
]
