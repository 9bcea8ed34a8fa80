"""Combined F1 of several selectors on the synthetic benchmark."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from biselect.core import SelectionProblem
from biselect.core.metrics import f1_at_k
from biselect.data.synthetic import Planted, benchmark
from biselect.solvers import solve
from biselect_studies.task import Cell, Values

OPTIONS: dict[str, dict[str, Any]] = {
    "exact": {"workers": 1},  # tasks run side by side already
    "swap-sa": {"workers": 1, "restarts": 4, "steps": 5000},
    "tabu": {"steps": 100},  # the walk has closed its loop long before
}
"""Options where defaults made for larger problems would only cost time."""


def work(cell: Cell, seeds: Iterable[int]) -> Values:
    """F1 by method and seed; `feature-first` is the best of its three aggregates by planted F1, as in the paper."""
    values: Values = {method: [] for method in cell["methods"]}
    for seed in seeds:
        planted = benchmark(cell["N"], cell["D"], cell["k"], cell["noise"], seed=seed)
        problem = planted.problem(cell["k"], cell["m"])
        for method, found in values.items():
            found.append(
                best_sequential(problem, planted)[0]
                if method == "feature-first"
                else _f1(problem, planted, method, seed)
            )
    return values


def combined_f1(samples: Any, features: Any, planted: Planted) -> float:
    """½(F1 of the samples + F1 of the features), both set F1: m and |F*| may differ."""
    return (f1_at_k(samples, planted.samples) + f1_at_k(features, planted.features)) / 2


def best_sequential(problem: SelectionProblem, planted: Planted) -> tuple[float, str]:
    """Highest planted F1 among the three aggregates, and which one it was (the first on a tie)."""
    scores = {}
    for aggregate in ("max", "sum", "median"):
        found = solve(problem, "feature-first", aggregate=aggregate)
        scores[aggregate] = combined_f1(found.samples, found.features, planted)
    best = max(scores, key=lambda name: scores[name])
    return scores[best], best


def _f1(problem: SelectionProblem, planted: Planted, method: str, seed: int) -> float:
    found = solve(problem, method, seed=seed, **OPTIONS.get(method, {}))
    return combined_f1(found.samples, found.features, planted)
