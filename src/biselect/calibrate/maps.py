"""Maps from residuals to how unusual they are, by ranks, fitted tails or labels, and here which there are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from biselect.calibrate.column import LARGEST_RESIDUAL, Column, fit_scale
from biselect.calibrate.tails import OUTER, beyond, outer_length, upper_surprise
from biselect.errors import InputError

__all__ = ["Reference", "TailMap", "map_names"]

DEGREES_OF_FREEDOM = np.geomspace(1.0, 200.0, 400)  # Cauchy to all but Gaussian
BODY, TAIL = 0.5, 0.95  # the quantiles of |z| whose ratio tells how heavy a tail is
RIDGE = 1.0  # on the slopes; keeps them finite where one feature separates the classes
KERNEL_CELLS = 500_000  # below this NumPy is done before numba has loaded


@dataclass(frozen=True, kw_only=True, eq=False)
class Reference:
    """Reference residuals as the maps see them.

    Attributes:
        fit: one column per feature, from the rows that parameters are fit on.
        calibration: one column per feature, from the rows that ranks are taken among; `fit` itself where the
            reference is not split.
        rows: the residuals row by row; None where the reference was streamed.
        labels: one per row, True for a known anomaly; None where there are none.
    """

    fit: tuple[Column, ...]
    calibration: tuple[Column, ...]
    rows: NDArray[np.float64] | None = None
    labels: NDArray[np.bool_] | None = None


class TailMap(ABC):
    """From residuals to scores that grow with extremeness; each cell depends on itself and the reference alone.

    Attributes:
        takes_ranks: whether the map ranks among reference entries, so that a split reference has a meaning.
        split: share of the reference that is set aside for ranks unless the caller says otherwise.
        needs_labels: whether the map is supervised.
        cap: the largest weight unless the caller says otherwise.
    """

    cap: ClassVar[float] = 10.0
    takes_ranks: ClassVar[bool] = False
    split: ClassVar[float] = 0.0
    needs_labels: ClassVar[bool] = False

    @abstractmethod
    def fit(self, reference: Reference) -> None:
        """Learn from the reference."""

    @abstractmethod
    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """The score of each residual before it is cut to [0, w_max]: -log p where the map has a probability."""

    def at_most(self, level: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """For each feature the ends of an interval within which no residual scores above its level.

        2 × features; the ends are the wrong way round where there is none. None where the map cannot tell.
        """
        return None


@dataclass(frozen=True, kw_only=True, eq=False)
class Steps:
    """levels[r] where r knots lie below x.

    Attributes:
        values: ascending knots.
        levels: one more than there are knots.
        inclusive: whether a knot equal to x counts as below it.
    """

    values: NDArray[np.float64]
    levels: NDArray[np.float64]
    inclusive: bool

    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The step function at every x."""
        return self.levels[np.searchsorted(self.values, x, side="right" if self.inclusive else "left")]

    def at_most(self, level: float) -> tuple[float, float]:
        """The ends of an interval within which the function is no higher; the wrong way round where there is none."""
        lowest = int(np.argmin(self.levels))
        if self.levels[lowest] > level:
            return np.inf, -np.inf
        higher = np.flatnonzero(self.levels > level)
        place = np.searchsorted(higher, lowest)
        low = -np.inf if place == 0 else np.nextafter(self.values[higher[place - 1]], np.inf)
        high = np.inf if place == higher.size else np.nextafter(self.values[higher[place] - 1], -np.inf)
        return float(low), float(high)


def apply_steps(steps: Sequence[Steps], Z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Column j of Z through step function j; large matrices through a kernel with the same answer."""
    if Z.size < KERNEL_CELLS:
        return np.stack([step(z) for step, z in zip(steps, Z.T, strict=True)], axis=1)
    from biselect.calibrate.steps_kernel import look_up

    out = np.empty(Z.shape)

    for j, step in enumerate(steps):
        look_up(Z[:, j], step.values, step.levels, step.inclusive, out[:, j])
    return out


class EcdfMap(TailMap):
    """-log 2·min(F̂, 1 - F̂), F̂ read off the ranks of the reference (Eq. tail-calibration)."""

    takes_ranks: ClassVar[bool] = True

    def fit(self, reference: Reference) -> None:
        """Tabulate the score of every rank."""
        self.steps = [tail_steps(column) for column in reference.calibration]

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """The score of each residual's rank."""
        return apply_steps(self.steps, Z)

    def at_most(self, level: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """The steps around the lowest one that are no higher."""
        return np.array([step.at_most(one) for step, one in zip(self.steps, level, strict=True)]).T


class PaperEcdfMap(EcdfMap):
    """The paper's rank to the letter: of a tied value all entries lie below it, so that a common one can look rare."""

    def fit(self, reference: Reference) -> None:
        """Tabulate the score of every rank."""
        self.steps = [_rank_steps(column) for column in reference.calibration]


class ReachMap(EcdfMap):
    """The `ecdf` map inside the reference; beyond it the weight goes on growing with the distance.

    Ranks alone saturate at 1/(n + 1): whatever lies beyond the reference weighs alike. Here the tail goes on as
    1/(1 + x), x in lengths of the outer five per cent on that side: so heavy a tail that a far value weighs more, and
    never so much that one cell decides alone.
    """

    cap: ClassVar[float] = 20.0  # a rank weighs log((n + 1) / 2) at most, 13 in a million rows: room beyond it

    def fit(self, reference: Reference) -> None:
        """Tabulate the score of every rank, and both ends."""
        super().fit(reference)
        columns = reference.calibration
        ends = np.array([(column.values[0], column.values[-1]) for column in columns]).T
        lengths = [
            [outer_length(abs(end - column.quantile(q)), column) for column, end in zip(columns, side, strict=True)]
            for side, q in zip(ends, (OUTER, 1 - OUTER), strict=True)
        ]
        (self.low, self.high), (self.below, self.above) = ends, lengths

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """The score of each residual's rank, and of how far it lies beyond the reference."""
        scores = super().surprise(Z)
        for j in range(Z.shape[1]):
            z = Z[:, j]
            for outside, excess, length in (
                (np.flatnonzero(z > self.high[j]), z - self.high[j], self.above[j]),
                (np.flatnonzero(z < self.low[j]), self.low[j] - z, self.below[j]),
            ):
                if outside.size:
                    scores[outside, j] += beyond(excess[outside], length)
        return scores

    def at_most(self, level: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """The same within the reference."""
        ends = super().at_most(level)
        return None if ends is None else np.stack([np.maximum(ends[0], self.low), np.minimum(ends[1], self.high)])


def smoothed_cdf(ranks: ArrayLike, n: int) -> NDArray[np.float64]:
    """F̂ = clip((R + ½)/(n + 1), 1/(n + 1), n/(n + 1)): never 0, never 1."""
    return np.clip((np.asarray(ranks) + 0.5) / (n + 1), 1 / (n + 1), n / (n + 1))


def tail_steps(column: Column) -> Steps:
    """-log 2·min(F̂, 1 - F̂) as a function of the residual.

    By the paper's rank alone the most common value of a tied feature would be among the most extreme: of a flag that
    is set in half of the reference, every set one. A value that stands t > 1 times in the reference therefore counts
    t - 1 of these in its upper tail as well. Where nothing is tied the score is the paper's.
    """
    n, values = column.size, column.values
    ranks = np.concatenate([[0], column.counts])
    levels = _rank_steps(column).levels
    last_equal = np.flatnonzero(np.append(values[1:] != values[:-1], True))
    first_equal = np.append(0, last_equal[:-1] + 1)
    tied = last_equal > first_equal
    if column.rank_error == 0:  # in a sketch a heavy knot stands for many values, elsewhere for one value many times
        tied |= ranks[last_equal + 1] - ranks[first_equal] > 1
    last, first = last_equal[tied], first_equal[tied]
    others = ranks[last + 1] - ranks[first] - 1
    beyond = levels[last + 1]
    levels[last + 1] = _score(ranks[last + 1], n - ranks[last + 1] + others, n)
    # a knot right above a tied value ends its own level
    return Steps(
        values=np.insert(values, last + 1, np.nextafter(values[last], np.inf)),
        levels=np.insert(levels, last + 2, beyond),
        inclusive=True,
    )


def _rank_steps(column: Column) -> Steps:
    ranks = np.concatenate([[0], column.counts])
    return Steps(values=column.values, levels=_score(ranks, column.size - ranks, column.size), inclusive=True)


def _score(lower: NDArray[np.int64], upper: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """-log 2·min of both tails, each from its own rank, so that both ends have the very same largest weight."""
    return -np.log(2 * np.minimum(smoothed_cdf(lower, n), smoothed_cdf(upper, n)))


class ConformalMap(TailMap):
    """-log p with p = (1 + #{calibration scores ≥ score}) / (n + 1); a tie counts against the anomaly.

    The score |z - median| / MAD is fit on rows that take no part in the ranking, which makes p super-uniform
    whatever the distribution (Prop. conformal-validity).
    """

    takes_ranks: ClassVar[bool] = True
    split: ClassVar[float] = 0.5

    def fit(self, reference: Reference) -> None:
        """Fit the score on one window, rank the other."""
        self.scale = fit_scale(reference.fit, "median")
        units = zip(reference.calibration, self.scale.location, self.scale.scale, strict=True)
        self.steps = [_p_value_steps(column.scaled(location, scale).folded(0.0)) for column, location, scale in units]

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """-log p of each residual."""
        return apply_steps(self.steps, np.abs(self.scale.residuals(Z)))


def _p_value_steps(scores: Column) -> Steps:
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

    def fit(self, reference: Reference) -> None:
        """Fit both tails on one window; the body and the thresholds' own ranks come from the other."""
        super().fit(reference)
        self.tails: list[tuple[Tail, Tail]] = []
        for column, ranks in zip(reference.fit, reference.calibration, strict=True):
            low, high = column.quantile(OUTER), column.quantile(1 - OUTER)
            p_low, p_high = smoothed_cdf([ranks.below(low), ranks.size - ranks.at_most(high)], ranks.size)
            under, over = column.values < low, column.values > high
            lower = _fit_tail(low, p_low, (low - column.values[under])[::-1], column.weights[under][::-1], column)
            upper = _fit_tail(high, p_high, column.values[over] - high, column.weights[over], column)
            self.tails.append((lower, upper))

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """The body's score, or the tail's where the residual lies beyond a threshold."""
        scores = super().surprise(Z)
        for j, (low, high) in enumerate(self.tails):
            z = Z[:, j]
            under, over = z < low.threshold, z > high.threshold
            scores[under, j] = low.surprise(low.threshold - z[under])
            scores[over, j] = high.surprise(z[over] - high.threshold)
        return scores

    def at_most(self, level: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Not known: the tails are another function."""
        return None


def _fit_tail(
    threshold: float, p: float, excess: NDArray[np.float64], weights: NDArray[np.int64], column: Column
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


class AbsoluteZMap(TailMap):
    """|x - mean| / standard deviation: a plain distance in units of spread, without a probability."""

    center: ClassVar[str] = "mean"

    def fit(self, reference: Reference) -> None:
        """Fit location and scale."""
        self.scale = fit_scale(reference.fit, self.center)

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """The distance from the location."""
        return np.abs(self.scale.residuals(Z))


class MadZMap(AbsoluteZMap):
    """|x - median| / 1.4826·MAD; the standard deviation stands in where the MAD is zero."""

    center: ClassVar[str] = "median"


class GaussianMap(AbsoluteZMap):
    """-log P(|N(mean, deviation)| is further out)."""

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """-log 2Φ(-|z|), accurate far beyond where the probability itself underflows."""
        return -(np.log(2) + special.log_ndtr(-super().surprise(Z)))


class RobustGaussianMap(GaussianMap):
    """The paper's Gaussian tail, -log 2Φ(-|Z|) with Z from median and MAD."""

    center: ClassVar[str] = "median"


class DensityMap(TailMap):
    """-log of the share of the reference that lies where values are as sparse or sparser.

    The only map that sees a gap between two modes. How sparse: the distance to the √n-th nearest reference value.
    """

    takes_ranks: ClassVar[bool] = True

    def fit(self, reference: Reference) -> None:
        """Measure how sparse the reference itself is, every entry without counting itself."""
        self.columns = reference.calibration
        self.neighbours = [int(np.sqrt(column.size)) for column in self.columns]
        self.sparse = []
        for column, number in zip(self.columns, self.neighbours, strict=True):
            own = nth_nearest(column, column.values, number + 1)
            order = np.argsort(own, kind="stable")
            self.sparse.append(replace(column, values=own[order], counts=np.cumsum(column.weights[order])))

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """-log of that share for each residual."""
        scores = np.empty(Z.shape)
        for j, (column, number, sparse) in enumerate(zip(self.columns, self.neighbours, self.sparse, strict=True)):
            distance = nth_nearest(column, np.clip(Z[:, j], -LARGEST_RESIDUAL, LARGEST_RESIDUAL), number)
            scores[:, j] = upper_surprise(sparse, distance)
        return scores


def nth_nearest(column: Column, x: NDArray[np.float64], number: int) -> NDArray[np.float64]:
    """How far from each x its number-th nearest entry lies: bisection on the rank of the lower end of the window."""
    first = np.maximum(column.below(x) - number, 0)  # of the entries, counted from 0, the window may begin here …
    last = np.minimum(column.at_most(x), column.size - number)  # … or here at the latest
    while (open_ := first < last).any():
        middle = (first + last) // 2
        low, high = column.entry(middle), column.entry(np.minimum(middle + number, column.size - 1))
        right = open_ & (x - low > high - x)
        first, last = np.where(right, middle + 1, first), np.where(right | ~open_, last, middle)
    return np.maximum(np.abs(x - column.entry(first)), np.abs(column.entry(first + number - 1) - x))


class LaplaceMap(TailMap):
    """-log P(|Laplace(median, mean absolute deviation)| is further out): the distance itself."""

    def fit(self, reference: Reference) -> None:
        """Fit by maximum likelihood."""
        self.location, distances = _distances(reference.fit)
        self.spread = np.array([column.mean for column in distances])

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """|z - median| / spread."""
        return np.abs(Z - self.location) / self.spread


class StudentTMap(TailMap):
    """-log P(|t| is further out), degrees of freedom and scale matched to the median and the 95 % quantile of |z|."""

    def fit(self, reference: Reference) -> None:
        """Match two quantiles; a spike at the median gives the heaviest tail on offer."""
        self.location, distances = _distances(reference.fit)
        body, tail = np.array([[column.quantile(q) for q in (BODY, TAIL)] for column in distances]).T
        deviation = np.array([column.deviation for column in reference.fit])

        body_of_t, tail_of_t = (special.stdtrit(DEGREES_OF_FREEDOM, (1 + q) / 2) for q in (BODY, TAIL))
        # log(body / tail) rises with the degrees of freedom; an empty body is below them all
        with np.errstate(divide="ignore", invalid="ignore"):
            heaviness = np.nan_to_num(np.log(body / tail), nan=-np.inf)
        self.freedom = np.interp(heaviness, np.log(body_of_t / tail_of_t), DEGREES_OF_FREEDOM)
        self.spread = np.where(tail > 0, tail, deviation) / special.stdtrit(self.freedom, (1 + TAIL) / 2)
        # two quantiles say nothing of the tail of a flag, whose distances are few; ranks do
        self.ranked = {j: column for j, column in enumerate(distances) if column.tied_share > 0.5}

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """-log 2T(-|t|)."""
        distances = np.abs(Z - self.location)
        p = 2 * special.stdtr(self.freedom, -distances / self.spread)
        for j, column in self.ranked.items():
            p[:, j] = np.maximum(p[:, j], (1 + column.size - column.below(distances[:, j])) / (column.size + 1))
        return -np.log(np.maximum(p, np.finfo(np.float64).tiny))


def _distances(columns: Sequence[Column]) -> tuple[NDArray[np.float64], list[Column]]:
    """The median of each column, and the distribution of the distances from it."""
    medians = np.array([column.quantile(0.5) for column in columns])
    return medians, [column.folded(median) for column, median in zip(columns, medians, strict=True)]


class LogisticMap(TailMap):
    """How far a value raises the log-odds of an anomaly above their base rate, never below it.

    One logistic regression per feature on log(1 + |z|) of either side of the median, with slopes of at least
    zero: the score can be one-sided, but it never falls as a value moves outwards. The logarithm keeps a few
    wild normals from flattening the slope. Fit it on rows from before the period it is used in.
    """

    needs_labels: ClassVar[bool] = True

    def fit(self, reference: Reference) -> None:
        """Fit one regression per feature."""
        if reference.rows is None or reference.labels is None:
            raise InputError("the logistic map needs a table and its labels: fit(reference, labels=...)")
        if not 0 < reference.labels.sum() < reference.labels.size:
            raise InputError("the labels name one class only; the logistic map needs anomalies and normal rows")
        self.scale = fit_scale(reference.fit, "median")
        below, above = self._sides(reference.rows)
        fits = [_regress(below[:, j], above[:, j], reference.labels) for j in range(below.shape[1])]
        self.offset, self.slope_below, self.slope_above = np.array(fits).T

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log-odds of an anomaly minus its log-odds over the whole reference."""
        below, above = self._sides(Z)
        return self.offset + self.slope_below * below + self.slope_above * above

    def _sides(self, Z: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        z = np.clip(self.scale.residuals(Z), -1e300, 1e300)  # a slope of zero times infinity is no number
        return np.log1p(np.maximum(-z, 0)), np.log1p(np.maximum(z, 0))


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


_MAPS: dict[str, type[TailMap]] = {
    "reach": ReachMap,
    "ecdf": EcdfMap,
    "ecdf-paper": PaperEcdfMap,
    "conformal": ConformalMap,
    "gaussian": GaussianMap,
    "gaussian-robust": RobustGaussianMap,
    "abs-z": AbsoluteZMap,
    "mad-z": MadZMap,
    "student-t": StudentTMap,
    "laplace": LaplaceMap,
    "pareto": ParetoMap,
    "density": DensityMap,
    "logistic": LogisticMap,
}


def map_names(*, supervised: bool = True) -> list[str]:
    """Names of the maps, with or without those that need labels.

    >>> map_names(supervised=False)
    ['reach', 'ecdf', 'ecdf-paper', 'conformal', 'gaussian', 'gaussian-robust', 'abs-z', 'mad-z', 'student-t',
     'laplace', 'pareto', 'density']
    """
    return [name for name, kind in _MAPS.items() if supervised or not kind.needs_labels]


def make_map(name: str) -> TailMap:
    """A fresh, unfitted map."""
    if not isinstance(name, str) or name not in _MAPS:
        raise InputError(f"there is no calibration map {name!r}; choose one of: {', '.join([*_MAPS, 'auto'])}")
    return _MAPS[name]()
