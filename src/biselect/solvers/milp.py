"""`milp`: the same problem for HiGHS, an independent witness of what `exact` proves.

Binary s_i and f_j, and x_ij in [0, 1] for their products:

    maximise Σ λW_ij x_ij + Σ a_i s_i + Σ b_j f_j
    Σ_i s_i = k,  Σ_j f_j = m,  Σ_j x_ij = m s_i,  Σ_i x_ij = k f_j,  x_ij ≤ s_i,  x_ij ≤ f_j

The two families of equations make x the product at every integer point, whatever the sign of the weights, and are
much tighter than the usual x ≥ s + f - 1. A heuristic's score enters as a cut-off on the objective, in problems of
moderate size.

HiGHS computes in float64 within tolerances, so its word alone proves nothing here: what it found is handed to `exact`,
and counts as proven where both agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import Rules, SelectionProblem
from biselect.solvers.coordinate_ascent import coordinate_ascent
from biselect.solvers.exact import exact
from biselect.solvers.grid import grid_for
from biselect.solvers.one_sided import by_features
from biselect.solvers.registry import Answer, Run

if TYPE_CHECKING:
    import scipy.optimize
    from scipy.sparse import csr_array

INFEASIBLE = 2  # status of SciPy
CUT_OFF_CELLS = 10_000  # beyond this the one dense row of the cut-off holds up HiGHS's presolve for minutes
CELLS_A_SECOND = 25_000  # stated and presolved; HiGHS does not look at the clock meanwhile
TOLERANCE = 1e-6  # of HiGHS, on constraints and on the gap, in units of the largest coefficient


def milp(problem: SelectionProblem, run: Run) -> Answer:
    """Hand the problem to HiGHS, and what it says is the optimum to `exact`.

    `info["highs_bound"]` is HiGHS's own bound on the energy, good to 1e-6 of the largest coefficient.

    Args:
        problem: what to solve.
        run: seed of the heuristic, deadline; HiGHS reports no progress on the way.
    """
    start = coordinate_ascent(problem, replace(run, progress=None, trajectory=None))
    samples, features, score = start.samples, start.features, problem.score(start.samples, start.features)
    run.improved(0, -score)
    run.report(0.0, -score)
    n, d = problem.n_samples, problem.n_features
    info: dict[str, Any] = {"status": "not asked: it takes longer than the time limit to state the problem to HiGHS"}
    info |= {"nodes": None, "highs_bound": None}
    solved = False
    if run.deadline - Run.now() > n * d / CELLS_A_SECOND:
        found, unit = _asked(problem, run, start, score)
        solved = found.status == 0
        nodes, dual = found.get("mip_node_count"), found.get("mip_dual_bound")
        info["status"], info["nodes"] = str(found.message), None if nodes is None else int(nodes)
        info["highs_bound"] = None if dual is None else unit * float(dual)
        if found.x is not None:
            theirs = np.flatnonzero(found.x[:n] > 0.5), np.flatnonzero(found.x[n : n + d] > 0.5)
            if problem.score(*theirs) > score:
                samples, features = theirs
                run.improved(1, problem.energy(samples, features))
    ours = exact(problem, replace(run, progress=None, trajectory=None), search=solved)
    if problem.score_units(ours.samples, ours.features) > problem.score_units(samples, features):
        samples, features = ours.samples, ours.features
    agreed = solved and ours.proven
    return Answer(
        samples=samples,
        features=features,
        bound=ours.bound if not ours.proven else problem.energy(ours.samples, ours.features),
        proven=agreed,
        info=info,
        proof=ours.proof if agreed else None,
    )


def _asked(
    problem: SelectionProblem, run: Run, start: Answer, score: float
) -> tuple[scipy.optimize.OptimizeResult, float]:
    """What HiGHS says, and the unit of its numbers."""
    import scipy.optimize

    n, d = problem.n_samples, problem.n_features
    objective = -np.concatenate(
        [
            problem.sample_scores,
            problem.feature_scores,
            problem.coupling_weight * problem.coupling.astype(np.float64).ravel(),
        ]
    )
    lowest = grid_for(by_features(problem), problem.score_units(start.samples, start.features)).lowest
    objective = np.minimum(objective, -lowest)  # cells that say "never" would make HiGHS's tolerances too coarse
    unit = float(np.abs(objective).max()) or 1.0
    objective /= unit
    rows, low, high = constraints(problem)
    cut_off = scipy.optimize.LinearConstraint(objective[None, :], -np.inf, -score / unit + TOLERANCE)

    def solved(*further: scipy.optimize.LinearConstraint) -> scipy.optimize.OptimizeResult:
        options = {"mip_rel_gap": 0.0}
        if run.deadline < np.inf:
            options["time_limit"] = max(0.0, run.deadline - Run.now() - n * d / CELLS_A_SECOND)
        return scipy.optimize.milp(
            objective,
            integrality=np.concatenate([np.ones(n + d), np.zeros(n * d)]),
            bounds=scipy.optimize.Bounds(0.0, 1.0),
            constraints=[scipy.optimize.LinearConstraint(rows, low, high), *further],
            options=options,
        )

    found = solved(*([cut_off] if n * d <= CUT_OFF_CELLS else []))
    if found.status == INFEASIBLE:  # a cut-off right at the optimum can be presolved away; the problem itself cannot
        found = solved()
    return found, unit


def constraints(problem: SelectionProblem) -> tuple[csr_array, NDArray[np.float64], NDArray[np.float64]]:
    """Matrix, lower and upper sides over the variables s, f and x, in this order."""
    import scipy.sparse as sparse

    n, d, k, m = problem.n_samples, problem.n_features, problem.k, problem.m
    eye_s, eye_f = sparse.eye_array(n), sparse.eye_array(d)
    row_sums = sparse.kron(eye_s, np.ones((1, d)))  # Σ_j x_ij
    column_sums = sparse.kron(np.ones((1, n)), eye_f)  # Σ_i x_ij
    own_sample = sparse.kron(eye_s, np.ones((d, 1)))  # s_i for every x_ij
    own_feature = sparse.kron(np.ones((n, 1)), eye_f)
    x = sparse.eye_array(n * d)
    blocks: list[Sequence[object]] = [
        [np.ones((1, n)), None, None],
        [None, np.ones((1, d)), None],
        [-m * eye_s, None, row_sums],
        [None, -k * eye_f, column_sums],
        [-own_sample, None, x],
        [None, -own_feature, x],
    ]
    low = [np.array([k, m]), np.zeros(n + d), np.full(2 * n * d, -np.inf)]
    high = [np.array([k, m]), np.zeros(n + d), np.zeros(2 * n * d)]
    for position, rules, length in ((0, problem.sample_rules, n), (1, problem.feature_rules, d)):
        if rules.groups:
            blocks.append([_members(rules, length) if slot == position else None for slot in range(3)])
            low.append(np.full(len(rules.groups), -np.inf))
            high.append(rules.limits.astype(np.float64))
    widths = [n, d, n * d]
    matrix = sparse.block_array(
        [
            [
                sparse.csr_array((_height(row), widths[slot])) if block is None else sparse.csr_array(block)
                for slot, block in enumerate(row)
            ]
            for row in blocks
        ],
        format="csr",
    )
    return matrix, np.concatenate(low).astype(np.float64), np.concatenate(high).astype(np.float64)


def _height(row: Sequence[object]) -> int:
    return next(int(block.shape[0]) for block in row if block is not None)  # type: ignore[attr-defined]


def _members(rules: Rules, length: int) -> NDArray[np.float64]:
    """One row for each group, 1 at its members."""
    matrix = np.zeros((len(rules.groups), length))
    for row, group in zip(matrix, rules.groups, strict=True):
        row[list(group.members)] = 1
    return matrix
