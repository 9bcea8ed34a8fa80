"""F1@k of selectors, rules and detectors on time-split slices of the Credit Card table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.metrics import f1_at_k
from biselect.data.candidates import Candidates
from biselect.solvers import solve
from biselect.solvers.response import top
from biselect_studies import creditcard_fields as fields
from biselect_studies.experiments.benchmark import OPTIONS
from biselect_studies.rankers import RULES
from biselect_studies.task import Cell, Values

KAWASAKI = {"temperature": 0.05}  # the temperature at which its row of the paper's table comes out


def work(cell: Cell, seeds: Iterable[int]) -> Values:
    """F1@k by method and slice (`seed`), and which fraud each slice holds.

    A method is a solver (`exact`), a sequential rule (`feature-first:sum`), a ranking of weights (`rule:weight-sum`)
    or a detector on the first features (`detector:ecod:12`). In balanced pools `hits METHOD` says which of the k
    frauds, in the order of `frauds`, were chosen.
    """
    values: Values = {}
    size, D, k, m = cell["N"], cell["D"], cell["k"], cell["m"]
    percent, window = tuple(cell["percent"]), cell["window"]
    field = fields.weights(percent, window, cell["map"], cell.get("reference", "first"))
    for seed in seeds:
        pool = fields.draw(cell["pool"], percent, window, size, k, seed)
        problem = SelectionProblem(coupling=field[pool.rows, :D], k=k, m=m)
        frauds = pool.rows[pool.positive]
        _add(values, "fraud", int(frauds[0]) if frauds.size else -1)
        _add(values, "prevalence", pool.positive.size / size)
        if cell["pool"] == "balanced":
            _add(values, "frauds", frauds.tolist())
        for method in cell["methods"]:
            chosen = choose(method, problem, pool, percent, window, seed)
            _add(values, method, f1_at_k(chosen.tolist(), pool.positive.tolist()))
            if cell["pool"] == "balanced":
                _add(values, f"hits {method}", np.isin(pool.positive, chosen).astype(int).tolist())
    return values


def choose(
    method: str, problem: SelectionProblem, pool: Candidates, percent: fields.Percent, window: str, seed: int
) -> NDArray[np.int64]:
    """The pool's rows that a method chooses, k of them."""
    kind, _, rest = method.partition(":")
    if kind == "rule":
        return RULES[rest](problem.coupling, problem.k, problem.m)
    if kind == "detector":
        name, _, features = rest.partition(":")
        return top(fields.scores(percent, window, name, int(features))[pool.rows], problem.k)
    options: dict[str, Any] = KAWASAKI if kind == "kawasaki" else dict(OPTIONS.get(kind, {}))
    if rest:
        options = {"aggregate": rest}
    return solve(problem, kind, seed=seed, **options).samples


def _add(values: Values, name: str, value: Any) -> None:
    values.setdefault(name, []).append(value)
