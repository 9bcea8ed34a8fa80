"""Constraint-preserving QAOA with grouped angles."""

from biselect.qaoa.ansatz import Ansatz
from biselect.qaoa.groups import CostGroup, components, split_terms
from biselect.qaoa.mixers import colour_edges, mixer_classes
from biselect.qaoa.response import depth_efficiency, grouping_gain, responses
from biselect.qaoa.schedule import SCHEDULES, Schedule
from biselect.qaoa.wide import surrogate, wide_circuit
from biselect.simulate.circuit import ENERGY, Observable

__all__ = [
    "ENERGY",
    "SCHEDULES",
    "Ansatz",
    "CostGroup",
    "Observable",
    "Schedule",
    "colour_edges",
    "components",
    "depth_efficiency",
    "grouping_gain",
    "mixer_classes",
    "responses",
    "split_terms",
    "surrogate",
    "wide_circuit",
]
