"""How much memory a proof may take, said before it is taken."""

from biselect.core import SelectionProblem
from biselect.solvers.branch_and_bound import BLOCK_SHARE, MOST_BLOCK, TABLE_BYTES

ROW_BYTES = 24  # bounds and values of all rows, in float64: three of them at a time at most
PROCESS = 250 << 20  # Python with its libraries
MUCH = 1 << 30


def most_memory(problem: SelectionProblem) -> int:
    """Bytes that `auto` and `exact` take at most, the weights and the process itself included.

    >>> import numpy as np
    >>> most_memory(SelectionProblem(coupling=np.ones((10, 5)), k=2, m=2)) >> 20
    314
    """
    weights = problem.coupling.nbytes
    total = weights + (0 if problem.coupling.T.flags.c_contiguous else weights)  # columns are read one by one
    cells = problem.coupling.size * (max(problem.k, problem.m) + 2)
    tables = max(min(8 * cells, TABLE_BYTES), MOST_BLOCK, int(BLOCK_SHARE * weights))  # search, then averaging
    return total + ROW_BYTES * max(problem.coupling.shape) + tables + PROCESS


def memory_in_words(problem: SelectionProblem, solver: str) -> str:
    """What whoever waits is told beforehand; nothing where it is little, or the solver keeps no such promise."""
    needed = most_memory(problem) if solver in ("auto", "exact") else 0
    return f" in up to {needed / 2**30:.1f} GiB" if needed > MUCH else ""
