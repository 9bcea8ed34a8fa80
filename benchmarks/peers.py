"""The same problem for other solvers; each returns (seconds, whether it proved the optimum, score)."""

import time

import numpy as np

import biselect as bs
from biselect.core import SelectionProblem

Outcome = tuple[float, bool, float]


def ours(problem: SelectionProblem, limit: float) -> Outcome:
    """`exact`."""
    begin = time.perf_counter()
    found = bs.solve(problem, "exact", time_limit=limit)
    return time.perf_counter() - begin, found.proven_optimal, found.score


def highs(problem: SelectionProblem, limit: float) -> Outcome:
    """`milp`: HiGHS through SciPy, with the tight formulation and a heuristic cut-off."""
    begin = time.perf_counter()
    found = bs.solve(problem, "milp", time_limit=limit)
    return time.perf_counter() - begin, found.proven_optimal, found.score


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
