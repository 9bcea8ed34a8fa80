"""Exact shots of sparse circuits on wide registers: a matrix product state in charge blocks."""

from biselect.simulate.wide.chain import BondLimitError
from biselect.simulate.wide.sampler import WideSampler

__all__ = ["BondLimitError", "WideSampler"]
