"""Stage 1: triggers that rank a stream, and windows worth a look."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError

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
