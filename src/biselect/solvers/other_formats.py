"""The problem in other libraries' forms, and their solutions as a Selection.

Sample i is the variable "s{i}", feature j is "f{j}"; every objective is the energy, to be minimised.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from biselect.core import Rules, Selection, SelectionProblem
from biselect.errors import InfeasibleError, InputError, MissingDependencyError
from biselect.solvers.response import top


def penalties(problem: SelectionProblem) -> tuple[float, float]:
    """Weights of (Σs - k)² and (Σf - m)² that make every ground state meet both budgets.

    Let R be the largest `|a_i|` + λ·(sum of the m largest `|W_ij|` of row i), C the largest `|b_j|` + λ·(sum of the k
    largest `|W_ij|` of column j), and `M = λ·max|W|`. A state that is c samples and e features off its budgets becomes
    feasible by adding or dropping `|c|` samples and `|e|` features; that changes the energy by at most
    `|c|·(R + |e|·M) + |e|·C`, and saves c²·P_s + e²·P_f. With P_s > R + M/2 and P_f > C + M/2 the saving is larger, as
    `|c·e| ≤ (c² + e²)/2`.
    """
    weights = problem.coupling_weight * np.abs(problem.coupling.astype(np.float64))
    rows = np.take_along_axis(weights, top(weights, problem.m), axis=1).sum(axis=1) + np.abs(problem.sample_scores)
    columns = np.take_along_axis(weights.T, top(weights.T, problem.k), axis=1).sum(axis=1)
    columns += np.abs(problem.feature_scores)
    cell = float(weights.max())
    unit = 1e-6 * (float(rows.max()) + float(columns.max())) or 1.0
    return float(rows.max()) + cell / 2 + unit, float(columns.max()) + cell / 2 + unit


def to_bqm(
    problem: SelectionProblem, *, sample_penalty: float | None = None, feature_penalty: float | None = None
) -> Any:
    """A dimod BinaryQuadraticModel: the energy plus a penalty for each budget, each block with its own weight.

    Args:
        problem: what to export; rules have no form here, so there must be none.
        sample_penalty: weight of (Σs - k)²; None for the weight of `penalties`, at which ground states are feasible.
        feature_penalty: weight of (Σf - m)².
    """
    if problem.sample_rules or problem.feature_rules:
        raise InputError("a binary quadratic model has no place for rules; export with to_cqm, or drop them")
    dimod = _import("dimod")
    safe = penalties(problem)
    model = dimod.BinaryQuadraticModel(vartype="BINARY")
    blocks = (
        ("s", problem.sample_scores, problem.k, safe[0] if sample_penalty is None else sample_penalty),
        ("f", problem.feature_scores, problem.m, safe[1] if feature_penalty is None else feature_penalty),
    )
    for letter, scores, budget, penalty in blocks:
        names = [f"{letter}{item}" for item in range(scores.size)]
        for name, score in zip(names, scores.tolist(), strict=True):
            model.add_linear(name, -score + penalty * (1 - 2 * budget))
        model.add_quadratic_from((u, v, 2 * penalty) for q, v in enumerate(names) for u in names[:q])
        model.offset += penalty * budget**2
    model.add_quadratic_from(_products(problem))
    return model


def to_cqm(problem: SelectionProblem) -> Any:
    """A dimod ConstrainedQuadraticModel, rules included."""
    dimod = _import("dimod")
    objective = dimod.BinaryQuadraticModel(vartype="BINARY")
    for name, score in _marginals(problem):
        objective.add_linear(name, -score)
    objective.add_quadratic_from(_products(problem))
    model = dimod.ConstrainedQuadraticModel()
    model.set_objective(objective)
    for label, members, sense, side in _linear_constraints(problem):
        model.add_constraint_from_iterable([(name, 1) for name in members], sense, rhs=side, label=label)
    return model


def fill_quadratic_program(problem: SelectionProblem, program: Any) -> Any:
    """Fill an empty `qiskit_optimization.QuadraticProgram`, rules included, and return it."""
    for name, _ in _marginals(problem):
        program.binary_var(name)
    program.minimize(
        linear={name: -score for name, score in _marginals(problem)},
        quadratic={(u, v): weight for u, v, weight in _products(problem)},
    )
    for label, members, sense, side in _linear_constraints(problem):
        program.linear_constraint(dict.fromkeys(members, 1), sense, side, label)
    return program


def from_values(problem: SelectionProblem, values: Mapping[str, float], *, solver: str) -> Selection:
    """A Selection from a solution found elsewhere: variables to values, others than s and f are left out.

    dimod: `sampleset.first.sample`. Qiskit optimization: `result.variables_dict`.

    Args:
        problem: what was exported.
        values: one value for each of the variables; above ½ is chosen.
        solver: a name for who found it.
    """
    missing = [name for name, _ in _marginals(problem) if name not in values]
    if missing:
        raise InputError(f"the solution lacks {len(missing)} variables, {missing[0]!r} among them")
    samples = [i for i in range(problem.n_samples) if values[f"s{i}"] > 0.5]
    features = [j for j in range(problem.n_features) if values[f"f{j}"] > 0.5]
    if not problem.obeys(samples, features):
        raise InfeasibleError(
            f"the solution chooses {len(samples)} samples and {len(features)} features; it misses the budgets "
            f"{problem.k} and {problem.m} or breaks a rule. Raise the penalties, or solve it again"
        )
    return Selection(
        problem=problem,
        samples=np.array(samples, dtype=np.int64),
        features=np.array(features, dtype=np.int64),
        energy=problem.energy(samples, features),
        bound=-np.inf,
        proven_optimal=False,
        solver=solver,
        seconds=0.0,
    )


def _marginals(problem: SelectionProblem) -> Iterator[tuple[str, float]]:
    for letter, scores in (("s", problem.sample_scores), ("f", problem.feature_scores)):
        for item, score in enumerate(scores.tolist()):
            yield f"{letter}{item}", score


def _products(problem: SelectionProblem) -> Iterator[tuple[str, str, float]]:
    for i, row in enumerate(problem.coupling):
        for j, weight in enumerate(row.tolist()):
            if weight:
                yield f"s{i}", f"f{j}", -problem.coupling_weight * weight


def _linear_constraints(problem: SelectionProblem) -> Iterator[tuple[str, list[str], str, int]]:
    """(label, variables, sense, side) of the budgets and of every rule."""
    sides: tuple[tuple[str, str, int, int, Rules], ...] = (
        ("samples", "s", problem.n_samples, problem.k, problem.sample_rules),
        ("features", "f", problem.n_features, problem.m, problem.feature_rules),
    )
    for what, letter, length, budget, rules in sides:
        yield what, [f"{letter}{item}" for item in range(length)], "==", budget
        for item in rules.forced_in:
            yield f"{letter}{item}_in", [f"{letter}{item}"], "==", 1
        for item in rules.forced_out:
            yield f"{letter}{item}_out", [f"{letter}{item}"], "==", 0
        for number, group in enumerate(rules.groups + rules.overlapping):
            yield f"{what}_group_{number}", [f"{letter}{item}" for item in group.members], "<=", group.at_most


def _import(package: str) -> Any:
    from importlib import import_module

    try:
        return import_module(package)
    except ImportError as error:
        raise MissingDependencyError(f"this export needs {package}: pip install {package}") from error
