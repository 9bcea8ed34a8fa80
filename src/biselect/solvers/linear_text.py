"""The linear model of `milp` as LP or MPS text, for any solver that reads files.

Variables are named as in `interop`: s0, s1, ... for samples, f0, f1, ... for features, and x0_0, ... for their
products. Forced choices become bounds. The objective is the energy, to be minimised.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.solvers.milp import constraints


@dataclass(frozen=True, kw_only=True, eq=False)
class _Row:
    """Σ coefficient · variable, between its sides; `sense` is "=" or "<="."""

    name: str
    variables: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    sense: str
    side: float


def to_lp(problem: SelectionProblem) -> str:
    """CPLEX LP text.

    >>> print(to_lp(SelectionProblem(coupling=[[2.0]], k=1, m=1)).splitlines()[2])
     obj: - 2.0 x0_0
    """
    names, costs = _names(problem), _costs(problem)
    lines = ["\\ biselect", "Minimize", " obj: " + (_sum(costs[costs != 0], names, np.flatnonzero(costs)) or "0 s0")]
    lines.append("Subject To")
    for row in _rows(problem):
        lines.append(f" {row.name}: {_sum(row.coefficients, names, row.variables)} {row.sense} {row.side!r}")
    lines.append("Bounds")
    fixed = _fixed(problem)
    lines += [f" {name} = {fixed[name]}" if name in fixed else f" 0 <= {name} <= 1" for name in names]
    binaries = names[: problem.n_samples + problem.n_features]
    return "\n".join([*lines, "Binaries", *(f" {name}" for name in binaries), "End", ""])


def to_mps(problem: SelectionProblem) -> str:
    """Free MPS text."""
    names, costs = _names(problem), _costs(problem)
    rows = list(_rows(problem))
    entries: list[list[str]] = [[f" {name} obj {cost!r}"] for name, cost in zip(names, costs.tolist(), strict=True)]
    for row in rows:
        for variable, coefficient in zip(row.variables.tolist(), row.coefficients.tolist(), strict=True):
            entries[variable].append(f" {names[variable]} {row.name} {coefficient!r}")
    binaries = problem.n_samples + problem.n_features
    lines = ["NAME biselect", "ROWS", " N obj"]
    lines += [f" {'E' if row.sense == '=' else 'L'} {row.name}" for row in rows]
    lines += ["COLUMNS", " MARKER 'MARKER' 'INTORG'"]
    lines += [line for variable in entries[:binaries] for line in variable]
    lines.append(" MARKER 'MARKER' 'INTEND'")
    lines += [line for variable in entries[binaries:] for line in variable]
    lines += ["RHS", *(f" RHS {row.name} {row.side!r}" for row in rows if row.side), "BOUNDS"]
    fixed = _fixed(problem)
    lines += [f" FX BND {name} {fixed[name]}" if name in fixed else f" UP BND {name} 1" for name in names]
    return "\n".join([*lines, "ENDATA", ""])


def _names(problem: SelectionProblem) -> list[str]:
    n, d = problem.n_samples, problem.n_features
    products = [f"x{i}_{j}" for i in range(n) for j in range(d)]
    return [f"s{i}" for i in range(n)] + [f"f{j}" for j in range(d)] + products


def _costs(problem: SelectionProblem) -> NDArray[np.float64]:
    products = problem.coupling_weight * problem.coupling.astype(np.float64).ravel()
    return 0.0 - np.concatenate([problem.sample_scores, problem.feature_scores, products])


def _fixed(problem: SelectionProblem) -> dict[str, int]:
    """Variables that forced choices settle."""
    sides = (("s", problem.sample_rules), ("f", problem.feature_rules))
    settled = {f"{letter}{item}": 1 for letter, rules in sides for item in rules.forced_in}
    return settled | {f"{letter}{item}": 0 for letter, rules in sides for item in rules.forced_out}


def _rows(problem: SelectionProblem) -> Iterator[_Row]:
    matrix, low, high = constraints(problem)
    for number, (begin, end) in enumerate(zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)):
        yield _Row(
            name=f"c{number}",
            variables=matrix.indices[begin:end],
            coefficients=matrix.data[begin:end],
            sense="=" if low[number] == high[number] else "<=",
            side=float(high[number]),
        )


def _sum(coefficients: NDArray[np.float64], names: list[str], variables: NDArray[np.int64]) -> str:
    terms = []
    for coefficient, variable in zip(coefficients.tolist(), variables.tolist(), strict=True):
        terms.append(f"{'-' if coefficient < 0 else '+'} {abs(coefficient)!r} {names[variable]}")
    return " ".join(terms).removeprefix("+ ")
