"""Exact shots of sparse circuits on wide registers: a matrix product state in charge blocks."""

from biselect_quantum.simulate.wide._chain import BondLimitError
from biselect_quantum.simulate.wide.sampler import WideSampler

__all__ = ["BondLimitError", "WideSampler"]
