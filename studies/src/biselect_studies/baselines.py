"""Ways of choosing k rows that joint selection has to beat: rankings of weights, plain detectors; and all by name."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.solvers import solve
from biselect.solvers.response import top
from biselect_studies.experiments.benchmark import OPTIONS

Scorer = Callable[[NDArray[np.float64]], NDArray[np.float64]]
DETECTORS = {"isolation-forest": "Isolation Forest", "ecod": "ECOD", "copod": "COPOD", "lof": "LOF"}
TREES = 100
NEIGHBOURS = 20
NEIGHBOUR_ROWS = 10_000  # of the reference, for LOF alone: its search for neighbours is what takes time
RANKERS = {
    "weight-sum": "sum of all weights",
    "largest-weights": "sum of a row's m largest weights",
    "tall-columns": "columns by their k largest weights",
}
WEIGHING = {
    "feature-first:sum": "feature-first, sum",
    "feature-first:max": "feature-first, max",
    "feature-first:median": "feature-first, median",
    **{f"rule:{name}": label for name, label in RANKERS.items()},
}
"""Every plain method that reads the weights, as the experiments name it, for people."""

FIXED = "swap-sa:fixed"
SLICES: dict[str, dict[str, Any]] = {
    "kawasaki": {"temperature": 0.05, "steps": 10_000},
    FIXED: {**OPTIONS["swap-sa"], "temperature": 1.0, "final_temperature": 1.0},
}
"""Options on slices of public tables: the ring-local walk as its row of the paper's Credit Card table wants it, and
Swap-SA at one temperature."""


def choose(
    method: str, problem: SelectionProblem, seed: int, score: Callable[[str], NDArray[np.float64]]
) -> NDArray[np.int64]:
    """A pool's rows, k of them.

    Args:
        method: a solver (`exact`, `swap-sa:fixed`), a sequential rule (`feature-first:sum`), a ranking of weights
            (`rule:weight-sum`), or a detector (`detector:ecod`), `trigger` or `budgeted`, which rank the rows by a
            score.
        problem: the pool's weights and budgets.
        seed: of solvers that draw.
        score: gives the scores of the pool's rows by such a method.
    """
    kind, _, rest = method.partition(":")
    if kind == "rule":
        return ranked(rest, problem.coupling, problem.k, problem.m)
    if kind in ("detector", "trigger", "budgeted"):
        return top(score(method), problem.k)
    known = {**OPTIONS, **SLICES}
    options = known.get(method, {"aggregate": rest} if rest else {})
    return solve(problem, kind, seed=seed, **options).samples


def ranked(name: str, W: NDArray[np.floating[Any]], k: int, m: int) -> NDArray[np.int64]:
    """The k rows that a rule without a search puts first.

    `weight-sum` takes those with the largest sum of all weights (m plays no part), `largest-weights`, the budget-aware
    trigger, those with the largest sum of their own m largest. `tall-columns` takes the m columns with the largest sum
    of their k largest weights, then the rows with most on those.
    """
    if name == "weight-sum":
        return top(W.sum(axis=1), k)
    if name == "largest-weights":
        return top(np.sort(W, axis=1)[:, -m:].sum(axis=1), k)
    if name == "tall-columns":
        return top(W[:, top(np.sort(W, axis=0)[-k:].sum(axis=0), m)].sum(axis=1), k)
    raise InputError(f"there is no rule {name!r}; choose one of: {', '.join(RANKERS)}")


def fitted(name: str, reference: NDArray[np.float64], *, seed: int = 0) -> Scorer:
    """A detector fit on the reference, as a function that scores rows; larger is more unusual.

    ECOD and COPOD are PyOD's own: they rank the rows among the reference and one another, so their scores depend on
    the batch. The others score a row by the reference alone.
    """
    if name == "isolation-forest":
        from sklearn.ensemble import IsolationForest

        forest = IsolationForest(n_estimators=TREES, random_state=seed).fit(reference)
        return lambda rows: -forest.score_samples(rows)
    if name == "lof":
        from sklearn.neighbors import LocalOutlierFactor

        chosen = np.random.default_rng(seed).permutation(len(reference))[:NEIGHBOUR_ROWS]
        factor = LocalOutlierFactor(n_neighbors=NEIGHBOURS, novelty=True).fit(reference[chosen])
        return lambda rows: -factor.score_samples(rows)
    if name not in DETECTORS:
        raise InputError(f"there is no detector {name!r}; choose one of: {', '.join(DETECTORS)}")
    from pyod.models.copod import COPOD
    from pyod.models.ecod import ECOD

    model = {"ecod": ECOD, "copod": COPOD}[name]().fit(reference)
    return lambda rows: np.asarray(model.decision_function(rows))
