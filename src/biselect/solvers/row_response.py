"""The best rows for given lines, where there are very many rows: one pass at the speed of memory.

The pass sums in the precision the weights are stored in and keeps every row that could be among the best; those few
are summed again in float64, so the response is exact. With u the unit roundoff of the stored precision, M ≥ |weight|,
λ the scale and B ≥ |base|, a row's value λ·Σw + base is computed with an error of at most

    δ = (m + 4)·u·(λ·m·M + B)·(1 + 2⁻¹⁰),

since summing m terms in any order loses at most (m - 1)·u of m·M to first order, storing λ and base, multiplying
and adding lose one u each, and the last factor covers the higher orders while (m + 4)·u < 2⁻¹¹. The k-th largest exact
value is at least the k-th largest computed one less δ, so every row of the true top-k was computed as at least that
one less 2δ.
"""

import numpy as np
from numpy.typing import NDArray

from biselect.solvers.one_sided import OneSided
from biselect.solvers.response import top


def best_rows(task: OneSided, subset: NDArray[np.int64]) -> NDArray[np.int64]:
    """What `task.respond` gives, for many rows; group limits take the plain way."""
    if task.base_limits:
        return task.respond(subset)
    from biselect.solvers.row_kernel import candidates  # loads numba, and compiles on first use

    dtype = task.lines.dtype
    margin = dtype.type(2 * rounding_of_pass(task))
    rows = candidates(task.lines, subset, dtype.type(task.scale), task.stored_base, task.keep, margin)
    if rows.size < task.keep:  # too many near-ties to hold
        return task.respond(subset)
    values = task.base[rows] + task.scale * task.lines[subset[:, None], rows].sum(axis=0, dtype=np.float64)
    return rows[top(values, task.keep)]


def rounding_of_pass(task: OneSided) -> float:
    """δ of the module's docstring."""
    unit = float(np.finfo(task.lines.dtype).eps) / 2
    size = task.choose * task.largest + task.largest_base
    return (task.choose + 4) * unit * size * (1 + 2**-10)
