"""`milp`: the same problem for HiGHS, an independent program, beside the proof of `exact`.

Binary s_i and f_j, and u_j for what a column holds in the rows that are chosen (the column form, of few variables):

    maximise Σ a_i s_i + Σ b_j f_j + Σ u_j
    Σ_i s_i = k,  Σ_j f_j = m,  u_j ≤ U_j f_j,  u_j ≤ Σ_i λW_ij s_i - L_j (1 - f_j)

U_j is the most that k rows of column j can hold, and L_j the least, but no more than 0. A heuristic's score enters as a
cut-off on the objective.

HiGHS sees the problem as asked: forced choices are fixed variables, and only the products λW are rounded. Weights that
no good choice can use are raised, so that they do not make its tolerances coarse. It computes in float64 within those
tolerances, so that it calls a choice optimal is no proof. The proof is that of `exact`; HiGHS is a witness of it where
the choice that it calls optimal scores exactly the same. Where its choice scores more, nothing is proven.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import Rules, SelectionProblem
from biselect.core.exact_sums import at_most, nearest
from biselect.solvers._exact import exact
from biselect.solvers._incumbent import grid_for
from biselect.solvers._reduction import reduce_problem
from biselect.solvers.local_search import coordinate_ascent
from biselect.solvers.registry import Answer, Run, keeps_limits
from biselect.solvers.response import by_features

if TYPE_CHECKING:
    import scipy.optimize
    from scipy.sparse import csr_array

INFEASIBLE = 2  # status of SciPy
CELLS_A_SECOND = 500_000  # stated and presolved; HiGHS does not look at the clock meanwhile
TOLERANCE = 1e-6  # of HiGHS, on constraints and on the gap, in units of the largest coefficient


@keeps_limits("all")
def milp(problem: SelectionProblem, run: Run) -> Answer:
    """Hand the problem as asked to HiGHS, and prove the optimum by `exact`.

    `info["witness"]` says whether HiGHS calls a choice optimal that scores exactly what `exact` proves;
    `info["highs_bound"]` is its own bound on the energy, good to 1e-6 of the largest coefficient.

    Args:
        problem: what to solve.
        run: seed of the heuristic, deadline; HiGHS reports no progress on the way.
    """
    reduced = run.reduced or reduce_problem(problem)
    whole, quiet = reduced.whole, replace(run, progress=None, trajectory=None)
    start = coordinate_ascent(problem, quiet)
    best = reduced.restore(start.samples, start.features)
    units, forced = whole.score_units(*best), reduced.units
    run.improved(0, -nearest(units - forced))
    run.report(0.0, -nearest(units - forced))
    n, d = whole.n_samples, whole.n_features
    info: dict[str, Any] = {"status": "not asked: it takes longer than the time limit to state the problem to HiGHS"}
    info |= {"nodes": None, "highs_bound": None}
    solved, theirs = False, None
    if run.deadline - Run.now() > n * d / CELLS_A_SECOND:
        result, exponent = _asked(whole, run, units)
        solved = result.status == 0
        nodes, dual = result.get("mip_node_count"), result.get("mip_dual_bound")
        info["status"], info["nodes"] = str(result.message), None if nodes is None else int(nodes)
        info["highs_bound"] = None if dual is None else float(np.ldexp(dual, exponent))
        choice = (np.empty(0, dtype=np.int64),) * 2
        if result.x is not None:
            choice = np.flatnonzero(result.x[:n] > 0.5), np.flatnonzero(result.x[n : n + d] > 0.5)
        if whole.obeys(*choice):
            theirs = whole.score_units(*choice)
            if theirs > units:
                best, units = choice, theirs
                run.improved(1, -nearest(units - forced))
    ours = exact(problem, quiet, search=solved)
    mine = reduced.restore(ours.samples, ours.features)
    refuted = ours.proven and units > whole.score_units(*mine)
    if whole.score_units(*mine) > units:
        best, units = mine, whole.score_units(*mine)
    proven = solved and ours.proven and not refuted
    samples, features = reduced.inside(*best)
    bound = at_most(forced - units) if ours.proven else ours.bound
    return Answer(
        samples=samples,
        features=features,
        bound=-np.inf if refuted else bound,
        proven=proven,
        info={**info, "witness": proven and theirs == units},
        proof=ours.proof if proven else None,
    )


def _asked(problem: SelectionProblem, run: Run, units: int) -> tuple[scipy.optimize.OptimizeResult, int]:
    """What HiGHS says where a choice of this exact score is known, and the exponent of two that its numbers are in."""
    import scipy.optimize

    n, d = problem.n_samples, problem.n_features
    numbers = np.concatenate([problem.sample_scores, problem.feature_scores, problem.columns.ravel()])
    numbers[n + d :] *= problem.coupling_weight
    lowest = grid_for(by_features(problem), units).lowest
    numbers = np.maximum(numbers, lowest)  # cells that say "never" would make HiGHS's tolerances too coarse
    exponent = int(np.frexp(np.abs(numbers).max())[1])  # a power of two, so that nothing is rounded
    numbers = np.ldexp(numbers, -exponent)
    columns = numbers[n + d :].reshape(d, n)
    falling = -np.sort(-columns, axis=1)
    least, most = np.minimum(falling[:, n - problem.k :].sum(axis=1), 0.0), falling[:, : problem.k].sum(axis=1)
    objective = -np.concatenate([numbers[: n + d], np.ones(d)])
    rows, low, high = constraints(problem, columns, least, most)
    enough = float(np.ldexp(-nearest(units), -exponent)) + TOLERANCE
    cut_off = scipy.optimize.LinearConstraint(objective[None, :], -np.inf, enough)
    fixed = scipy.optimize.Bounds(
        np.concatenate([np.zeros(n + d), least]), np.concatenate([np.ones(n + d), np.maximum(most, 0.0)])
    )
    for first, rules in ((0, problem.sample_rules), (n, problem.feature_rules)):
        fixed.lb[[first + item for item in rules.forced_in]] = 1.0
        fixed.ub[[first + item for item in rules.forced_out]] = 0.0

    def solved(*further: scipy.optimize.LinearConstraint) -> scipy.optimize.OptimizeResult:
        options = {"mip_rel_gap": 0.0}
        if run.deadline < np.inf:
            options["time_limit"] = max(0.0, run.deadline - Run.now() - n * d / CELLS_A_SECOND)
        return scipy.optimize.milp(
            objective,
            integrality=np.concatenate([np.ones(n + d), np.zeros(d)]),
            bounds=fixed,
            constraints=[scipy.optimize.LinearConstraint(rows, low, high), *further],
            options=options,
        )

    result = solved(cut_off)
    if result.status == INFEASIBLE:  # a cut-off right at the optimum can be presolved away; the problem itself cannot
        result = solved()
    return result, exponent


def constraints(
    problem: SelectionProblem, columns: NDArray[np.float64], least: NDArray[np.float64], most: NDArray[np.float64]
) -> tuple[csr_array, NDArray[np.float64], NDArray[np.float64]]:
    """Matrix, lower and upper sides over the variables s, f and u, in this order.

    Args:
        problem: its budgets and limits.
        columns: weights of each column.
        least: the least that the rows of a choice can hold of each, at most 0.
        most: the most.
    """
    import scipy.sparse as sparse

    n, d = problem.n_samples, problem.n_features
    each, diagonal = sparse.eye_array(d), sparse.diags_array
    blocks: list[list[Any]] = [
        [np.ones((1, n)), np.zeros((1, d)), np.zeros((1, d))],
        [np.zeros((1, n)), np.ones((1, d)), np.zeros((1, d))],
        [sparse.csr_array((d, n)), -diagonal(most), each],
        [sparse.csr_array(-columns), -diagonal(least), each],
    ]
    low = [np.array([problem.k, problem.m]), np.full(2 * d, -np.inf)]
    high = [np.array([problem.k, problem.m]), np.zeros(d), -least]
    for slot, rules in enumerate((problem.sample_rules, problem.feature_rules)):
        if rules.has_limits:
            row = [sparse.csr_array((rules.limits.size, width)) for width in (n, d, d)]
            row[slot] = sparse.csr_array(_members(rules, (n, d)[slot]))
            blocks.append(row)
            low.append(np.full(rules.limits.size, -np.inf))
            high.append(rules.limits.astype(np.float64))
    matrix = sparse.block_array([[sparse.csr_array(block) for block in row] for row in blocks], format="csr")
    return matrix, np.concatenate(low).astype(np.float64), np.concatenate(high).astype(np.float64)


def _members(rules: Rules, length: int) -> NDArray[np.float64]:
    """One row for each limit, 1 at its members."""
    matrix = np.zeros((rules.limits.size, length))
    for row, group in zip(matrix, rules.groups + rules.overlapping, strict=True):
        row[list(group.members)] = 1
    return matrix
