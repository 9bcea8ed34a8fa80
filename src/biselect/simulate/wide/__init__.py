"""Exact shots of sparse circuits on wide registers: a matrix product state in charge blocks."""

from biselect.simulate.wide.chain import BondLimitError
from biselect.simulate.wide.sampler import WideReport, WideSampler

__all__ = ["BondLimitError", "WideReport", "WideSampler"]
