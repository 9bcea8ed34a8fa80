"""Rows that stand for all those that are not there.

Of a table that no memory holds only some rows are kept. If none of the others adds more than c to any choice of
columns, then k rows that add c to every choice stand for them all: whatever could be chosen there can be replaced by
them without losing score. So a bound on the problem with the stand-ins holds for the whole table, and an optimum that
uses none of them is the optimum of the whole table, with the same proof.

Beside it: how much memory a proof may take, said before it is taken.
"""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from biselect.core import Selection, SelectionProblem
from biselect.core.threads import BLOCK_SHARE, MOST_BLOCK
from biselect.solvers._branch_and_bound import TABLE_BYTES
from biselect.solvers.registry import solve

NAME = "any other row"
WANTED = "rows that were not kept"  # how many of them the best choice could use, as far as is known
FEWEST_SECONDS = 0.5  # with less left, a climb has to do
PROVING = ("auto", "exact", "enumeration", "milp")
ROW_BYTES = 24  # bounds and values of all rows, in float64: three of them at a time at most
PROCESS = 250 << 20  # Python with its libraries
MUCH = 1 << 30


def with_stand_ins(problem: SelectionProblem, most: float) -> SelectionProblem:
    """The problem with k more rows, at the end, which add `most` to every choice.

    >>> with_stand_ins(SelectionProblem(coupling=[[3, 1], [0, 2]], k=1, m=1), 1.5).sample_scores.tolist()
    [0.0, 0.0, 1.5]
    """
    rows, columns = problem.coupling.shape
    coupling = np.zeros((rows + problem.k, columns), dtype=problem.coupling.dtype)
    coupling[:rows] = problem.coupling
    coupling.setflags(write=False)
    names = [problem.sample_name(i) for i in range(rows)]
    return replace(
        problem,
        coupling=coupling,
        sample_scores=np.append(problem.sample_scores, np.full(problem.k, most)),
        sample_names=(*names, *(f"{NAME} ({i + 1})" for i in range(problem.k))),
    )


def without_stand_ins(problem: SelectionProblem) -> SelectionProblem:
    """The problem without its last k rows, which stand for others."""
    rows = problem.n_samples - problem.k
    names = None if problem.sample_names is None else problem.sample_names[:rows]
    scores = problem.sample_scores[:rows]
    return replace(problem, coupling=problem.coupling[:rows], sample_scores=scores, sample_names=names)


def solve_for_whole(
    problem: SelectionProblem,
    most: float | None,
    solver: str = "auto",
    *,
    time_limit: float | None = None,
    **options: Any,
) -> Selection:
    """The best choice of the rows that are there, and how good it is among all rows of the table.

    Args:
        problem: over the rows that were kept.
        most: what any other row adds at most; None where there is none.
        solver: one of `biselect.solvers.solver_names()`.
        time_limit: seconds, as for `biselect.solve`.
        **options: as there.
    """
    begin = time.perf_counter()
    if most is None:
        return solve(problem, solver, time_limit=time_limit, **options)
    whole = with_stand_ins(problem, most)
    if solver not in PROVING:
        selection = solve(problem, solver, time_limit=time_limit, **options)
        return replace(selection, problem=whole, bound=-np.inf, proven_optimal=False, proof=None, proof_checked=False)
    selection = replace(solve(whole, solver, time_limit=time_limit, **options), proof_checked=False)
    if uses_kept_rows(selection, problem.n_samples):
        return selection
    seconds = None if time_limit is None else time_limit - (time.perf_counter() - begin)
    if seconds is None or seconds > FEWEST_SECONDS:
        inside = solve(problem, solver, time_limit=seconds, **options)
    else:
        inside = solve(problem, "coordinate-ascent", seed=options.get("seed", 0))
    score = problem.score_units(inside.samples, inside.features)
    equal = score == whole.score_units(selection.samples, selection.features)
    return replace(
        selection,
        samples=inside.samples,
        features=inside.features,
        energy=inside.energy,
        proven_optimal=equal and selection.proven_optimal,
        proof=selection.proof if equal else None,
        info={**selection.info, WANTED: int((selection.samples >= problem.n_samples).sum())},
    )


def uses_kept_rows(selection: Selection, row_count: int) -> bool:
    """Whether no stand-in was chosen."""
    return bool((selection.samples < row_count).all())


def of_kept_rows(selection: Selection, problem: SelectionProblem) -> Selection:
    """The same choice in the problem without the stand-ins, for everything that looks at rows."""
    return replace(selection, problem=problem, proof=None)


def is_open(selection: Selection) -> bool:
    """Whether rows that were not kept are what keeps the answer from being proven."""
    return not selection.proven_optimal and WANTED in selection.info


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
