"""The further maps of the paper and its rivals, by fitted tails, densities or labels; registered by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from biselect.columns.distribution import (
    LARGEST_RESIDUAL,
    OUTER,
    Distribution,
    exact_distribution,
    fit_scale,
    upper_surprise,
)
from biselect.errors import InputError
from biselect.weights.maps import EcdfMap, GaussianMap, MadZMap, Steps, WeightMap, apply_steps, smoothed_cdf

DEGREES_OF_FREEDOM = np.geomspace(1.0, 200.0, 400)  # Cauchy to all but Gaussian
BODY, TAIL = 0.5, 0.95  # the quantiles of |z| whose ratio tells how heavy a tail is
RIDGE = 1.0  # on the slopes; keeps them finite where one feature separates the classes
HAND = 20  # rows dealt at a time, half of them to either part, so that short references are split evenly too
FEWEST_ROWS = 10  # of either part


class ConformalMap(WeightMap):
    """-log p with p = (1 + #{calibration scores ≥ score}) / (n + 1); a tie counts against the anomaly.

    The score |z - median| / MAD is fit on one half of the rows, and the other half takes part in the ranking, which
    makes p super-uniform whatever the distribution (Prop. conformal-validity).

    Args:
        seed: deals the rows.
    """

    needs_rows: ClassVar[bool] = True

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, columns: Sequence[Distribution], rows: NDArray[np.float64] | None = None) -> None:
        """Fit the score on one half, rank the other."""
        assert rows is not None
        aside = self.aside(len(rows))
        fitted, ranked = _parts(columns, rows[~aside]), _parts(columns, rows[aside])
        own = [part if part.varies else column for part, column in zip(fitted, columns, strict=True)]
        self.scale = fit_scale(own, "median")
        units = zip(ranked, self.scale.location, self.scale.scale, strict=True)
        self.steps = [_p_value_steps(column.scaled(location, scale).folded(0.0)) for column, location, scale in units]

    def aside(self, rows: int) -> NDArray[np.bool_]:
        """Which of the rows are ranked among, rather than fit on."""
        hands = np.tile(np.arange(HAND) < HAND // 2, (-(-rows // HAND), 1))
        aside = np.random.default_rng(self.seed).permuted(hands, axis=1).ravel()[:rows]
        if min(aside.sum(), rows - aside.sum()) < FEWEST_ROWS:
            raise InputError(
                f"the split leaves {rows - aside.sum()} rows to fit on and {aside.sum()} to rank among; "
                f"each part needs at least {FEWEST_ROWS}"
            )
        return aside

    def weigh(self, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
        """-log p of each residual."""
        return apply_steps(self.steps, np.abs(self.scale.residuals(residuals)))


def _parts(columns: Sequence[Distribution], rows: NDArray[np.float64]) -> list[Distribution]:
    """The distributions of a part of the rows; where all its numbers are missing, that of all rows."""
    known = [entries[~np.isnan(entries)] for entries in rows.T]
    return [exact_distribution(part) if part.size else column for part, column in zip(known, columns, strict=True)]


def _p_value_steps(scores: Distribution) -> Steps:
    below = np.concatenate([[0], scores.counts])
    p = (1 + scores.size - below) / (scores.size + 1)
    return Steps(values=scores.values, levels=-np.log(p), inclusive=False)


@dataclass(frozen=True, kw_only=True)
class Tail:
    """P(further out than threshold + y) = p · (1 + ξy/β)^(-1/ξ)."""

    threshold: float
    p: float
    shape: float
    scale: float

    def surprise(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """-log of twice that probability: it keeps growing beyond the last reference entry."""
        decay = y / self.scale if self.shape == 0 else np.log1p(y * (self.shape / self.scale)) / self.shape
        return decay - np.log(2 * self.p)


class ParetoMap(EcdfMap):
    """Ranks in the body and a generalised Pareto tail beyond the outer five per cent on either side.

    So values beyond the reference's reach can still be told apart.
    """

    def fit(self, columns: Sequence[Distribution], rows: NDArray[np.float64] | None = None) -> None:
        """Tabulate the body, and fit both tails."""
        super().fit(columns)
        self.tails: list[tuple[Tail, Tail]] = []
        for column in columns:
            low, high = column.quantile(OUTER), column.quantile(1 - OUTER)
            p_low, p_high = smoothed_cdf([column.below(low), column.size - column.at_most(high)], column.size)
            under, over = column.values < low, column.values > high
            lower = _fit_tail(low, p_low, (low - column.values[under])[::-1], column.weights[under][::-1], column)
            upper = _fit_tail(high, p_high, column.values[over] - high, column.weights[over], column)
            self.tails.append((lower, upper))

    def weigh(self, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
        """The body's score, or the tail's where the residual lies beyond a threshold."""
        scores = super().weigh(residuals)
        for j, (low, high) in enumerate(self.tails):
            z = residuals[:, j]
            under, over = z < low.threshold, z > high.threshold
            scores[under, j] = low.surprise(low.threshold - z[under])
            scores[over, j] = high.surprise(z[over] - high.threshold)
        return scores

    def interval(self, weight: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Not known: the tails are another function."""
        return None


def _fit_tail(
    threshold: float, p: float, excess: NDArray[np.float64], weights: NDArray[np.int64], column: Distribution
) -> Tail:
    """Probability-weighted moments; a tail that would end (ξ < 0) is taken as exponential, so that order is kept.

    With nothing beyond the threshold the tail is exponential on the feature's own scale.
    """
    if excess.size == 0:
        return Tail(threshold=threshold, p=p, shape=0.0, scale=column.deviation)
    total = weights.sum()
    mean = float(excess @ weights / total)
    survival = 1 - (np.cumsum(weights) - weights / 2) / total
    weighted = float((excess * survival) @ weights / total)
    shape = 2 - mean / (mean - 2 * weighted) if mean > 2 * weighted else 0.0
    if shape <= 0:
        return Tail(threshold=threshold, p=p, shape=0.0, scale=mean)
    return Tail(threshold=threshold, p=p, shape=shape, scale=mean * (1 - shape))


class AbsoluteZMap(MadZMap):
    """|x - mean| / standard deviation."""

    center: ClassVar[str] = "mean"


class RobustGaussianMap(GaussianMap):
    """The paper's Gaussian tail, -log 2Φ(-|Z|) with Z from median and MAD."""

    center: ClassVar[str] = "median"


class DensityMap(WeightMap):
    """-log of the share of the reference that lies where values are as sparse or sparser.

    The only map that sees a gap between two modes. How sparse: the distance to the √n-th nearest reference value.
    """

    def fit(self, columns: Sequence[Distribution], rows: NDArray[np.float64] | None = None) -> None:
        """Measure how sparse the reference itself is, every entry without counting itself."""
        self.columns = columns
        self.neighbours = [int(np.sqrt(column.size)) for column in self.columns]
        self.sparse = []
        for column, number in zip(self.columns, self.neighbours, strict=True):
            own = nth_nearest(column, column.values, number + 1)
            order = np.argsort(own, kind="stable")
            self.sparse.append(replace(column, values=own[order], counts=np.cumsum(column.weights[order])))

    def weigh(self, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
        """-log of that share for each residual."""
        scores = np.empty(residuals.shape)
        for j, (column, number, sparse) in enumerate(zip(self.columns, self.neighbours, self.sparse, strict=True)):
            distance = nth_nearest(column, np.clip(residuals[:, j], -LARGEST_RESIDUAL, LARGEST_RESIDUAL), number)
            scores[:, j] = upper_surprise(sparse, distance)
        return scores


def nth_nearest(column: Distribution, x: NDArray[np.float64], number: int) -> NDArray[np.float64]:
    """How far from each x its number-th nearest entry lies: bisection on the rank of the lower end of the window."""
    first = np.maximum(column.below(x) - number, 0)  # of the entries, counted from 0, the window may begin here …
    last = np.minimum(column.at_most(x), column.size - number)  # … or here at the latest
    while (open_ := first < last).any():
        middle = (first + last) // 2
        low, high = column.entry(middle), column.entry(np.minimum(middle + number, column.size - 1))
        right = open_ & (x - low > high - x)
        first, last = np.where(right, middle + 1, first), np.where(right | ~open_, last, middle)
    return np.maximum(np.abs(x - column.entry(first)), np.abs(column.entry(first + number - 1) - x))


class LaplaceMap(WeightMap):
    """-log P(|Laplace(median, mean absolute deviation)| is further out): the distance itself."""

    def fit(self, columns: Sequence[Distribution], rows: NDArray[np.float64] | None = None) -> None:
        """Fit by maximum likelihood."""
        self.location, distances = _distances(columns)
        self.spread = np.array([column.mean for column in distances])

    def weigh(self, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
        """|z - median| / spread."""
        return np.abs(residuals - self.location) / self.spread


class StudentTMap(WeightMap):
    """-log P(|t| is further out), degrees of freedom and scale matched to the median and the 95 % quantile of |z|."""

    def fit(self, columns: Sequence[Distribution], rows: NDArray[np.float64] | None = None) -> None:
        """Match two quantiles; a spike at the median gives the heaviest tail on offer."""
        self.location, distances = _distances(columns)
        body, tail = np.array([[column.quantile(q) for q in (BODY, TAIL)] for column in distances]).T
        deviation = np.array([column.deviation for column in columns])

        body_of_t, tail_of_t = (special.stdtrit(DEGREES_OF_FREEDOM, (1 + q) / 2) for q in (BODY, TAIL))
        # log(body / tail) rises with the degrees of freedom; an empty body is below them all
        with np.errstate(divide="ignore", invalid="ignore"):
            heaviness = np.nan_to_num(np.log(body / tail), nan=-np.inf)
        self.freedom = np.interp(heaviness, np.log(body_of_t / tail_of_t), DEGREES_OF_FREEDOM)
        self.spread = np.where(tail > 0, tail, deviation) / special.stdtrit(self.freedom, (1 + TAIL) / 2)
        # two quantiles say nothing of the tail of a flag, whose distances are few; ranks do
        self.ranked = {j: column for j, column in enumerate(distances) if column.tied_share > 0.5}

    def weigh(self, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
        """-log 2T(-|t|)."""
        distances = np.abs(residuals - self.location)
        p = 2 * special.stdtr(self.freedom, -distances / self.spread)
        for j, column in self.ranked.items():
            p[:, j] = np.maximum(p[:, j], (1 + column.size - column.below(distances[:, j])) / (column.size + 1))
        return -np.log(np.maximum(p, np.finfo(np.float64).tiny))


def _distances(columns: Sequence[Distribution]) -> tuple[NDArray[np.float64], list[Distribution]]:
    """The median of each column, and the distribution of the distances from it."""
    medians = np.array([column.quantile(0.5) for column in columns])
    return medians, [column.folded(median) for column, median in zip(columns, medians, strict=True)]


class LogisticMap(WeightMap):
    """How far a value raises the log-odds of an anomaly above their base rate, never below it.

    One logistic regression per feature on log(1 + |z|) of either side of the median, with slopes of at least
    zero: the score can be one-sided, but it never falls as a value moves outwards. The logarithm keeps a few
    wild normals from flattening the slope. Fit it on rows from before the period it is used in.

    Args:
        labels: one per row of the reference, 1 or true for a known anomaly.
    """

    needs_rows: ClassVar[bool] = True

    def __init__(self, labels: ArrayLike | None = None) -> None:
        self.labels = labels

    def fit(self, columns: Sequence[Distribution], rows: NDArray[np.float64] | None = None) -> None:
        """Fit one regression per feature."""
        if rows is None or self.labels is None:
            raise InputError("the logistic map is supervised: Weigher(LogisticMap(labels)), one label per row")
        marks = _as_labels(self.labels, len(rows))
        self.scale = fit_scale(columns, "median")
        below, above = self._sides(np.where(np.isnan(rows), self.scale.location, rows))
        fits = [_regress(below[:, j], above[:, j], marks) for j in range(below.shape[1])]
        self.offset, self.slope_below, self.slope_above = np.array(fits).T

    def weigh(self, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log-odds of an anomaly minus its log-odds over the whole reference."""
        below, above = self._sides(residuals)
        return self.offset + self.slope_below * below + self.slope_above * above

    def _sides(self, Z: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        z = np.clip(self.scale.residuals(Z), -1e300, 1e300)  # a slope of zero times infinity is no number
        return np.log1p(np.maximum(-z, 0)), np.log1p(np.maximum(z, 0))


def _as_labels(labels: ArrayLike, rows: int) -> NDArray[np.bool_]:
    marks = np.asarray(labels)
    if marks.shape != (rows,):
        raise InputError(f"labels must be one per reference row ({rows}), got shape {marks.shape}")
    if not np.isin(marks, [0, 1]).all():
        raise InputError("labels must be 0 (normal) or 1 (anomaly)")
    if not 0 < marks.sum() < rows:
        raise InputError("the labels name one class only; the logistic map needs anomalies and normal rows")
    return marks.astype(bool)


def _regress(
    below: NDArray[np.float64], above: NDArray[np.float64], labels: NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Intercept over the base rate, and two slopes ≥ 0, by penalised maximum likelihood."""
    from scipy.optimize import minimize

    base = float(special.logit(labels.mean()))
    design = np.column_stack([np.ones(below.size), below, above])
    counted = design.T @ labels
    ridge = np.array([0.0, RIDGE, RIDGE])

    def loss(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        odds = design @ parameters + base
        value = np.logaddexp(0, odds).sum() - counted @ parameters + ridge @ parameters**2 / 2
        return float(value), design.T @ special.expit(odds) - counted + ridge * parameters

    found = minimize(loss, np.zeros(3), jac=True, method="L-BFGS-B", bounds=[(None, None), (0, None), (0, None)])
    return tuple(found.x.tolist())
