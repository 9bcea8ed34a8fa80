"""What joint selection has to beat: rankings of weights, plain detectors and stage-1 triggers; and all by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.solvers import solve
from biselect.solvers.response import top
from biselect.weights import WeightMap
from biselect_studies.experiments.benchmark import OPTIONS
from biselect_studies.extensions.maps import LogisticMap

LABEL_FREE = ("ecdf-paper", "conformal", "gaussian-robust", "abs-z", "mad-z", "student-t", "laplace", "pareto")
STUDIED = (*LABEL_FREE, "logistic")
REFITTED = "gaussian"
"""Ours: 2Φ(-|z|) with z from mean and standard deviation of the reference."""


def studied_map(name: str, labels: ArrayLike) -> str | WeightMap:
    """What a calibrator takes; the supervised map is told the labels of the reference."""
    return LogisticMap(labels) if name == "logistic" else name


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
        return rank_rows(rest, problem.coupling, problem.k, problem.m)
    if kind in ("detector", "trigger", "budgeted"):
        return top(score(method), problem.k)
    known = {**OPTIONS, **SLICES}
    options = known.get(method, {"aggregate": rest} if rest else {})
    return solve(problem, kind, seed=seed, **options).samples


def rank_rows(name: str, W: NDArray[np.floating[Any]], k: int, m: int) -> NDArray[np.int64]:
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


WINDOW = 20_000  # transactions that stage 1 looks at together
LARGEST = 4  # z-scores that the robust trigger adds up
FEWEST = 10  # rows below which a median and its spread say nothing
MENUS = {"medium": 0.65, "high": 0.80}  # share of earlier windows whose risk a window has to exceed
NORMAL_ROWS = 100_000  # of the past that the logistic trigger learns from, at most
MAD_TO_SD = 1.4826


@dataclass(frozen=True, kw_only=True, eq=False)
class LogisticTrigger:
    """A supervised ranker, fit on past windows and then held.

    Attributes:
        center: mean of each feature.
        scale: standard deviation of each feature.
        slopes: of the log-odds, by standardised feature.
    """

    center: NDArray[np.float64]
    scale: NDArray[np.float64]
    slopes: NDArray[np.float64]

    @classmethod
    def fit(cls, X: NDArray[np.floating[Any]], labels: NDArray[np.bool_], *, seed: int, m: int | None = None) -> Self:
        """Learn from all positives among past rows and a seeded draw of the others, both classes of equal weight.

        With m, the budget-aware form, only so many features are used, those whose class means are furthest apart in
        standard deviations; the slopes of all others are zero.
        """
        from sklearn.linear_model import LogisticRegression

        if m is not None and not 1 <= m <= X.shape[1]:
            raise InputError(f"the trigger can use 1 to {X.shape[1]} features, got m = {m}")
        if len(X) != len(labels):
            raise InputError(f"there are {len(X)} rows and {len(labels)} labels; give one label per row")
        positives, others = np.flatnonzero(labels), np.flatnonzero(~labels)
        if positives.size == 0 or others.size == 0:
            raise InputError("the past windows name one class only; the logistic trigger needs positives and others")
        kept = np.random.default_rng(seed).permutation(others)[:NORMAL_ROWS]
        rows = np.sort(np.concatenate([positives, kept]))
        values = X[rows].astype(np.float64)
        _refuse_not_finite(values, "past rows")
        center, scale = values.mean(axis=0), values.std(axis=0)
        scale[scale == 0] = 1.0
        Z, marks = (values - center) / scale, labels[rows]
        apart = np.abs(Z[marks].mean(axis=0) - Z[~marks].mean(axis=0))
        chosen = np.sort(np.argsort(-apart, kind="stable")[:m])
        slopes = np.zeros(apart.size)
        slopes[chosen] = LogisticRegression(class_weight="balanced", max_iter=500).fit(Z[:, chosen], marks).coef_[0]
        return cls(center=center, scale=scale, slopes=slopes)

    def scores(self, X: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        """Log-odds, up to a constant."""
        return (X - self.center) / self.scale @ self.slopes


def robust_z(X: NDArray[np.floating[Any]], past: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """The label-free trigger: the sum of a row's four largest one-sided z-scores against past rows.

    Where more than half of the past rows agree in a feature its standard deviation stands in for the MAD.
    """
    if len(past) < FEWEST:
        raise InputError(f"the robust-z trigger needs {FEWEST} past rows, got {len(past)}: the window before is empty")
    _refuse_not_finite(past, "past rows")
    _refuse_not_finite(X, "rows to score")
    center = np.median(past, axis=0)
    spread = MAD_TO_SD * np.median(np.abs(past - center), axis=0)
    spread = np.where(spread > 0, spread, past.std(axis=0))
    spread = np.where(spread > 0, spread, 1.0)
    z = np.maximum((X - center) / spread, 0.0)
    return np.sort(z, axis=1)[:, -LARGEST:].sum(axis=1)


def _refuse_not_finite(X: NDArray[np.floating[Any]], what: str) -> None:
    finite = np.isfinite(X)
    if not finite.all():
        row, column = (int(place) for place in np.argwhere(~finite)[0])
        raise InputError(f"{what}: row {row}, feature {column} is missing or infinite; every entry must be a number")


def windows(rows: slice, size: int = WINDOW) -> list[slice]:
    """Windows of equal size that do not overlap; what is left over at the end is left out."""
    found = [slice(start, start + size) for start in range(rows.start, rows.stop - size + 1, size)]
    if not found:
        raise InputError(f"{rows.stop - rows.start} rows hold no window of {size}; use more rows or a smaller window")
    return found


def caught(scores: NDArray[np.float64], labels: NDArray[np.bool_], number: int) -> int:
    """Positives among the first `number` by score (ties: lowest row)."""
    if scores.shape != labels.shape:
        raise InputError(f"there are {labels.size} labels and {scores.size} scores; give one score per row")
    if not 0 < number <= scores.size:
        raise InputError(f"cannot keep the first {number} of {scores.size} rows")
    return int(labels[np.argsort(-scores, kind="stable")[:number]].sum())


def enrichment(recall: float, number: int, size: int) -> float:
    """Precision among those kept over the base rate.

    >>> round(enrichment(0.36, 500, 20_000), 2)
    14.4
    """
    return recall * size / number


def risk(scores: NDArray[np.float64], number: int) -> float:
    """A window's risk: the mean of its largest scores."""
    if not 0 < number <= scores.size:
        raise InputError(f"cannot average the {number} largest of {scores.size} scores")
    return float(np.sort(scores)[-number:].mean())


def retained(past: Sequence[float], now: Sequence[float], menu: str) -> list[int]:
    """Which windows a menu keeps, perhaps none: those at or above past windows' quantile, which never sees `now`."""
    if menu not in MENUS:
        raise InputError(f"there is no menu {menu!r}; choose one of: {', '.join(MENUS)}")
    if not len(past):
        raise InputError("there are no earlier windows to take the menu's threshold from; use a longer past")
    if not (np.isfinite(past).all() and np.isfinite(now).all()):
        raise InputError("a window's risk is missing or infinite; every risk must be a number")
    threshold = np.quantile(np.asarray(past), MENUS[menu])
    return [place for place, value in enumerate(now) if value >= threshold]
