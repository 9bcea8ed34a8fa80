"""The paper's sequential rule: rank columns first, then rows on the columns that were kept."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.solvers.registry import Answer, Run
from biselect.solvers.response import folded, top

AGGREGATES: dict[str, Callable[..., NDArray[Any]]] = {"max": np.max, "sum": np.sum, "median": np.median}


def feature_first(problem: SelectionProblem, run: Run, *, aggregate: str = "sum") -> Answer:
    """Keep the m columns with the largest aggregate, then the k rows with the largest over those columns.

    Args:
        problem: what to solve; marginals are folded into the weights.
        run: nothing is drawn, and there is one pass.
        aggregate: max, sum or median, used for columns and rows alike; or `best`, which keeps the one of the
            three with the highest score (the first of them on a tie).
    """
    if aggregate not in (*AGGREGATES, "best"):
        raise InputError(f"aggregate must be one of {', '.join(AGGREGATES)} or best, got {aggregate!r}")
    weights = folded(problem)
    answers = [_one_pass(problem, weights, name) for name in (AGGREGATES if aggregate == "best" else [aggregate])]
    best = min(answers, key=lambda answer: problem.energy(answer.samples, answer.features))
    run.improved(0, problem.energy(best.samples, best.features))
    return best


def _one_pass(problem: SelectionProblem, weights: NDArray[np.float64], name: str) -> Answer:
    combine = AGGREGATES[name]
    features = top(combine(weights, axis=0), problem.m)
    samples = top(combine(weights[:, features], axis=1), problem.k)
    return Answer(samples=samples, features=features, info={"aggregate": name})
