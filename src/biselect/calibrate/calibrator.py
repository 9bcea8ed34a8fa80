"""Calibrator: fit on a reference table, then weigh any pool against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.calibrate.frames import as_matrix
from biselect.calibrate.maps import make_map
from biselect.calibrate.marginals import marginals as marginal_scores
from biselect.calibrate.scale import CENTERS, fit_scale
from biselect.core import SelectionProblem
from biselect.errors import InputError

FEWEST_ROWS = 10  # with fewer, not even a one-in-ten event can be told apart
MISSING = ("error", "median")


@dataclass(frozen=True, kw_only=True)
class CalibrationFacts:
    """What a reader should know about a fitted calibration.

    Attributes:
        reference_rows: n.
        features: how many features are in use.
        constant: features dropped because the reference holds one value only.
        zero_mad: features scaled by the standard deviation because their MAD is zero.
        tied: share of reference entries that equal another entry of their feature, by feature.
        filled: missing reference entries that the median replaced.
        largest_weight: the weight of an entry beyond everything in the reference.
    """

    reference_rows: int
    features: int
    constant: tuple[str, ...]
    zero_mad: tuple[str, ...]
    tied: dict[str, float]
    filled: int
    largest_weight: float


class Calibrator:
    """Bounded outlier weights, from a reference alone.

    The weights of a row depend on that row and the reference, never on the other rows of the pool. Features that
    are constant in the reference are left out of all results; `feature_names` says which remain.

    Args:
        map: tail map, one of `biselect.calibrate.map_names()`.
        center: `median` (with 1.4826·MAD) or `mean` (with the standard deviation).
        cap: w_max, the largest weight.
        missing: `error`, or `median` to fill missing entries with the reference median.

    >>> rng = np.random.default_rng(0)
    >>> calibrator = Calibrator().fit(rng.normal(size=(1000, 3)))
    >>> calibrator.weights([[0.0, 0.0, 8.0]]).round(1).tolist()
    [[0.1, 0.0, 6.2]]
    """

    def __init__(self, map: str = "ecdf", center: str = "median", cap: float = 10.0, missing: str = "error"):
        if center not in CENTERS:
            raise InputError(f"center must be one of {', '.join(CENTERS)}, got {center!r}")
        if missing not in MISSING:
            raise InputError(f"missing must be one of {', '.join(MISSING)}, got {missing!r}")
        if not (np.isfinite(cap) and cap > 0):
            raise InputError(f"cap (w_max) must be a positive number, got {cap!r}")
        make_map(map)  # refuses an unknown name now rather than at fit
        self.map = map
        self.center = center
        self.cap = float(cap)
        self.missing = missing

    def fit(self, reference: Any) -> Calibrator:
        """Learn location, scale and tails from the reference table."""
        X, names = as_matrix(reference)
        if X.shape[0] < FEWEST_ROWS:
            raise InputError(f"the reference has {X.shape[0]} rows; calibration needs at least {FEWEST_ROWS}")
        if X.shape[1] == 0:
            raise InputError("the reference has no feature columns")
        self._named = names is not None
        self._columns = names or tuple(str(j) for j in range(X.shape[1]))
        self._medians = _column_medians(X, self._columns)
        filled = int(np.isnan(X).sum())
        X = self._complete(X, "the reference")
        scale = fit_scale(X, self.center)
        self.kept: NDArray[np.int64] = np.flatnonzero(~scale.constant)
        if self.kept.size == 0:
            raise InputError("every feature is constant in the reference: there is nothing to calibrate")
        self.scale = fit_scale(X[:, self.kept], self.center) if scale.constant.any() else scale
        self.sorted_reference: NDArray[np.float64] = np.sort(self.scale.residuals(X[:, self.kept]), axis=0)
        self._map = make_map(self.map)
        self._map.fit(self.sorted_reference)
        ties = (np.diff(self.sorted_reference, axis=0) == 0).mean(axis=0)
        extreme = np.full((1, self.kept.size), np.finfo(np.float64).max)
        self.facts = CalibrationFacts(
            reference_rows=X.shape[0],
            features=self.kept.size,
            constant=tuple(self._columns[j] for j in np.flatnonzero(scale.constant)),
            zero_mad=tuple(self._columns[j] for j in np.flatnonzero(scale.fell_back)),
            tied={name: float(share) for name, share in zip(self.feature_names, ties, strict=True)},
            filled=filled,
            largest_weight=float(min(self.cap, self._map.surprise(extreme).max())),
        )
        return self

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features in use, in the order of the columns of `weights`."""
        self._require_fit()
        return tuple(self._columns[j] for j in self.kept)

    def residuals(self, pool: Any) -> NDArray[np.float64]:
        """Z of the pool, for the features in use."""
        values = self.values(pool)
        return self.scale.residuals(values)

    def weights(self, pool: Any) -> NDArray[np.float64]:
        """W = clip(-log p, 0, w_max) of the pool, for the features in use (Eq. weights)."""
        return self._weigh(self.residuals(pool))

    def values(self, pool: Any) -> NDArray[np.float64]:
        """The pool's own values for the features in use, missing entries filled as agreed."""
        self._require_fit()
        X, names = as_matrix(pool)
        X = self._align(X, names)
        if X.shape[0] == 0:
            raise InputError("the pool has no rows")
        return self._complete(X, "the pool")[:, self.kept]

    def reference_counts(self, Z: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many reference entries of the same feature lie strictly below and strictly above each residual."""
        self._require_fit()
        below, above = np.empty(Z.shape, dtype=np.int64), np.empty(Z.shape, dtype=np.int64)
        for j in range(Z.shape[1]):
            column = self.sorted_reference[:, j]
            below[:, j] = np.searchsorted(column, Z[:, j], side="left")
            above[:, j] = column.size - np.searchsorted(column, Z[:, j], side="right")
        return below, above

    def problem(
        self,
        pool: Any,
        k: int,
        m: int,
        *,
        marginals: str = "bounded",
        coupling_weight: float = 1.0,
        sample_names: Sequence[str] | None = None,
    ) -> SelectionProblem:
        """The selection problem of a pool: W, its marginals (see `calibrate.marginals`), λ and the budgets."""
        Z = self.residuals(pool)
        W = self._weigh(Z)
        a, b = marginal_scores(W, Z, marginals)
        return SelectionProblem(
            coupling=W,
            sample_scores=a,
            feature_scores=b,
            k=k,
            m=m,
            coupling_weight=coupling_weight,
            sample_names=None if sample_names is None else tuple(sample_names),
            feature_names=self.feature_names if self._named else None,
        )

    def _weigh(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.clip(self._map.surprise(Z), 0.0, self.cap)

    def _align(self, X: NDArray[np.float64], names: tuple[str, ...] | None) -> NDArray[np.float64]:
        """Columns of the pool in the order of the reference; extra columns are ignored."""
        if names is not None and self._named:
            if absent := [name for name in self._columns if name not in names]:
                raise InputError(f"the pool lacks columns of the reference: {', '.join(map(repr, absent))}")
            return X[:, [names.index(name) for name in self._columns]]
        if X.shape[1] != len(self._columns):
            raise InputError(f"the pool has {X.shape[1]} columns, the reference had {len(self._columns)}")
        return X

    def _complete(self, X: NDArray[np.float64], where: str) -> NDArray[np.float64]:
        """X without missing entries, or an error that says where the first one is."""
        if np.isfinite(X).all():
            return X
        unusable = np.isinf(X) if self.missing == "median" else ~np.isfinite(X)
        if unusable.any():
            row, column = np.argwhere(unusable)[0]
            kind = "an infinite value" if np.isinf(X[row, column]) else "a missing value"
            raise InputError(
                f"{where} has {kind} in column {self._columns[column]!r}, row {row} "
                f"({int(unusable.sum())} such entries in all); drop those rows or columns"
                + ("" if self.missing == "median" else ", or fill missing values: missing='median' (--missing median)")
            )
        return np.where(np.isnan(X), self._medians, X)

    def _require_fit(self) -> None:
        if not hasattr(self, "kept"):
            raise InputError("this Calibrator has not been fit; call fit(reference) first")


def _column_medians(X: NDArray[np.float64], columns: Sequence[str]) -> NDArray[np.float64]:
    """Medians that ignore missing entries; a column without any entry is refused."""
    empty = np.isnan(X).all(axis=0)
    if empty.any():
        raise InputError(f"column {columns[int(np.argmax(empty))]!r} of the reference holds no value at all")
    return np.nanmedian(X, axis=0)
