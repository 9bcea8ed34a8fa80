"""Whether the states and tables of a sector fit into memory: asked before any of them is made."""

from typing import Any

import numpy as np

from biselect.core.checks import free_memory
from biselect.core.sector import Sector, TooLargeError, count_in_words

ITEM_BYTES = 18  # measured: what building the tables takes for each item of each subset of a register
ANY_MACHINE = 2**50  # bytes; beyond this figures help nobody


def check_memory(sector: Sector, dtype: Any, *, states: int, plain: bool = False) -> None:
    """Refuse what would not fit, with the figures and the ways out that there are."""
    each, available = sector.size * np.dtype(dtype).itemsize, free_memory()
    tables = ITEM_BYTES * (sector.sample_subsets * sector.n_samples + sector.feature_subsets * sector.n_features)
    needed = each * states + tables
    if available is None or needed <= available:
        return
    n, d, k, m = sector.n_samples, sector.n_features, sector.k, sector.m
    figures = f"the sector has C({n}, {k})·C({d}, {m}) choices"
    if sector.sample_rules or sector.feature_rules:
        figures += " less those that the rules forbid"
    figures += f", {count_in_words(sector.size)}, and its circuit needs "
    if needed > ANY_MACHINE:
        figures += "far more memory than any machine has"
    else:
        figures += f"{needed / 2**30:,.1f} GiB, but {available / 2**30:.1f} GiB are free"
    ways = []
    if plain and each + tables <= available:
        ways.append("take backend='compiled', which fits")
    if np.dtype(dtype) == np.complex128 and each * states // 2 + tables <= available:
        ways.append("take dtype='complex64', which fits")
    ways.append("take fewer samples or features, draw the shots of a sparse circuit with simulate.wide.WideSampler")
    raise TooLargeError(figures, ", ".join([*ways, "or let solve(problem) choose without a circuit"]))
