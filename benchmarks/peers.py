"""The same problem for other solvers; each returns (seconds, whether it proved the optimum, score)."""

import time
from itertools import combinations

import numpy as np
from numba import njit

import biselect as bs
from biselect.core import SelectionProblem

Outcome = tuple[float, bool, float]


def ours(problem: SelectionProblem, limit: float) -> Outcome:
    """`exact`."""
    begin = time.perf_counter()
    found = bs.solve(problem, "exact", time_limit=limit)
    return time.perf_counter() - begin, found.proven_optimal, found.score


def highs(problem: SelectionProblem, limit: float) -> Outcome:
    """`milp`: HiGHS through SciPy, in column form, the strongest, with a heuristic cut-off."""
    begin = time.perf_counter()
    found = bs.solve(problem, "milp", time_limit=limit)
    return time.perf_counter() - begin, found.proven_optimal, found.score


def numpy_lines(problem: SelectionProblem, limit: float) -> Outcome:
    """What one writes first: every set of columns, its best rows by a partition; without scores of their own."""
    begin, columns, best = time.perf_counter(), problem.coupling.T.copy(), -np.inf
    sets = np.array(list(combinations(range(problem.n_features), problem.m)))
    for part in np.array_split(sets, 1 + sets.shape[0] * problem.n_samples // 1_500_000):
        values = columns[part[:, 0]]
        for column in part.T[1:]:
            values = values + columns[column]
        values = np.partition(values, -problem.k, axis=1)[:, -problem.k :]
        best = max(best, values.sum(axis=1).max())
        if time.perf_counter() - begin > limit:
            return time.perf_counter() - begin, False, best
    return time.perf_counter() - begin, True, best


def numba_lines(problem: SelectionProblem, limit: float) -> Outcome:
    """The same in a compiled loop, which scores a set only if k τ and what rises above τ reach the best so far."""
    begin, W, k, m = time.perf_counter(), problem.coupling, problem.k, problem.m
    columns = np.argsort(-np.sort(W, axis=0)[-k:].sum(axis=0))[:m]
    for _ in range(20):
        rows = np.argsort(-W[:, columns].sum(axis=1))[:k]
        columns = np.argsort(-W[rows].sum(axis=0))[:m]
    rows = np.argsort(-W[:, columns].sum(axis=1))[:k]
    score, tau = W[np.ix_(rows, columns)].sum(), W[rows][:, columns].sum(axis=1).min()
    best = _loop(np.ascontiguousarray(W.T), k, m, tau, score)
    return time.perf_counter() - begin, True, float(best)


@njit(cache=True, fastmath=True)
def _loop(columns, k, m, tau, best):  # type: ignore[no-untyped-def]
    d, n = columns.shape
    sums, places, depth = np.zeros((m, n)), np.full(m, -1), 0
    while depth >= 0:
        places[depth] += 1
        j = places[depth]
        if j > d - (m - depth):
            depth -= 1
        elif depth + 1 < m:
            for i in range(n):
                sums[depth + 1, i] = sums[depth, i] + columns[j, i]
            depth += 1
            places[depth] = j
        else:
            row, line, above = sums[depth], columns[j], 0.0
            for i in range(n):
                above += max(row[i] + line[i] - tau, 0.0)
            if k * tau + above > best:
                best = max(best, np.sort(row + line)[n - k :].sum())
    return best


def cp_sat(problem: SelectionProblem, limit: float) -> Outcome:
    """CP-SAT on all cores, the same formulation; weights as integers, nine digits for the largest."""
    from ortools.sat.python import cp_model

    begin = time.perf_counter()
    n, d = problem.n_samples, problem.n_features
    model = cp_model.CpModel()
    s = [model.new_bool_var("") for _ in range(n)]
    f = [model.new_bool_var("") for _ in range(d)]
    x = [[model.new_bool_var("") for _ in range(d)] for _ in range(n)]
    model.add(sum(s) == problem.k)
    model.add(sum(f) == problem.m)
    for i in range(n):
        model.add(sum(x[i]) == problem.m * s[i])
        for j in range(d):
            model.add_implication(x[i][j], s[i])
            model.add_implication(x[i][j], f[j])
    for j in range(d):
        model.add(sum(x[i][j] for i in range(n)) == problem.k * f[j])
    scale = 1e9 / float(np.abs(problem.coupling).max())
    weights = np.rint(scale * problem.coupling).astype(int).tolist()
    model.maximize(sum(weights[i][j] * x[i][j] for i in range(n) for j in range(d)))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = limit
    status = solver.solve(model)
    return time.perf_counter() - begin, status == cp_model.OPTIMAL, solver.objective_value / scale


def gurobi(problem: SelectionProblem, limit: float) -> Outcome | None:
    """Gurobi with the quadratic objective; None where its size-limited licence does not reach."""
    begin = time.perf_counter()
    found = _by_gurobi(problem, {"TimeLimit": limit})
    return None if found is None else (time.perf_counter() - begin, found[0], found[1])


def gurobi_gap(problem: SelectionProblem, limit: float) -> float | None:
    """What Gurobi leaves open on one thread, as a share of its score."""
    found = _by_gurobi(problem, {"TimeLimit": limit, "Threads": 1})
    return None if found is None else found[2] / found[1] - 1


def _by_gurobi(problem: SelectionProblem, settings: dict[str, float]) -> tuple[bool, float, float] | None:
    """Whether it is proven, the score, and the bound on it."""
    import gurobipy

    try:
        with gurobipy.Env(params={"OutputFlag": 0, **settings}) as env, gurobipy.Model(env=env) as model:
            s, f = model.addMVar(problem.n_samples, vtype="B"), model.addMVar(problem.n_features, vtype="B")
            model.addConstr(s.sum() == problem.k)
            model.addConstr(f.sum() == problem.m)
            model.setObjective(s @ problem.coupling @ f, gurobipy.GRB.MAXIMIZE)
            model.optimize()
            return model.Status == gurobipy.GRB.OPTIMAL, model.ObjVal, model.ObjBound
    except gurobipy.GurobiError as error:
        if "license" in str(error):
            return None
        raise
