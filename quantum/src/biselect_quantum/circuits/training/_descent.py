"""Ways down from starts: L-BFGS of many in lock-step, and the paper's, one by one.

The paper's are SciPy's L-BFGS-B in a box, random local steps and Powell's method. In lock-step every evaluation of a
batch of angles moves all of its rows.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect_quantum.circuits.training.records import Descent

Vector = NDArray[np.float64]
CALLS_PER_ITERATION = 1.3  # evaluations that an iteration of L-BFGS-B may take on average, line searches included


class _OverError(Exception):
    """The descent ends: evaluations or time are used up, or a value is not finite."""


@dataclass(kw_only=True)
class DescentMonitor:
    """Counts evaluations, keeps the best and ends the descent in time."""

    most: int  # evaluations at most
    expired: Callable[[], bool]  # asked before every evaluation but the first
    unit: float = 1.0  # about how far values differ
    best: Vector | None = None
    value: float = np.inf
    evaluations: int = 0
    trace: list[tuple[int, float]] = field(default_factory=list)
    flat: bool = True
    failed: bool = False
    _first: float = 0.0

    def see(self, angles: Vector, value: float, slope: Vector | None = None) -> None:
        """Take note of an evaluation; the slope is by angles in their own units."""
        self.evaluations += 1
        if not np.isfinite(value) or (slope is not None and not np.isfinite(slope).all()):
            self.failed, self.flat = True, False
            raise _OverError
        if self.evaluations == 1:
            self._first = value
            self.flat = slope is None or bool(is_small(slope, value, self.unit).all())
        elif not is_small(value - self._first, value, self.unit):
            self.flat = False
        if value < self.value:
            self.best, self.value = np.array(angles), float(value)
            self.trace.append((self.evaluations, float(value)))

    def check(self) -> None:
        """End the descent where its means are used up."""
        if self.evaluations >= self.most or (self.evaluations and self.expired()):
            raise _OverError

    def evaluate(self, value: Callable[[Vector], float], angles: Vector) -> float:
        """The value at some angles, if means are left for it."""
        self.check()
        result = value(angles)
        self.see(angles, result)
        return result

    def descent(self, start: Vector) -> Descent:
        """What was found."""
        return Descent(
            angles=np.array(start) if self.best is None else self.best,
            value=self.value,
            evaluations=self.evaluations,
            trace=tuple(self.trace),
            flat=self.flat,
            failed=self.failed,
        )


def is_small(difference: Any, value: Any, unit: float) -> Any:
    """Whether a difference of values near `value`, or a slope, is nothing but rounding."""
    return np.abs(difference) <= 1e-10 * unit + 1e-13 * np.abs(value)


def lbfgs(
    value_and_gradient: Callable[[Vector], tuple[float, Vector]],
    start: Vector,
    box: tuple[float, float],
    *,
    iterations: int,
    watch: DescentMonitor,
) -> Descent:
    """SciPy's L-BFGS-B in the box; angles and values as they are."""
    from scipy.optimize import minimize

    def watched(angles: Vector) -> tuple[float, Vector]:
        watch.check()
        value, slope = value_and_gradient(angles)
        watch.see(np.array(angles), value, slope)
        return value, slope

    options = {"maxiter": iterations, "maxfun": watch.most, "ftol": 1e-10, "gtol": 1e-9}
    with suppress(_OverError):
        minimize(watched, start, jac=True, method="L-BFGS-B", bounds=[box] * len(start), options=options)
    return watch.descent(start)


def random_local(
    value: Callable[[Vector], float],
    start: Vector,
    box: tuple[float, float],
    *,
    step: float,
    seed: Any,
    watch: DescentMonitor,
) -> Descent:
    """Gaussian steps from the best so far, clipped to the box; a step is kept if it improves."""
    rng = np.random.default_rng(seed)
    with suppress(_OverError):
        watch.evaluate(value, start)
        while True:
            assert watch.best is not None
            watch.evaluate(value, np.clip(watch.best + step * rng.normal(size=len(start)), *box))
    return watch.descent(start)


def powell(
    value: Callable[[Vector], float],
    start: Vector,
    box: tuple[float, float],
    *,
    tolerance: float,
    watch: DescentMonitor,
) -> Descent:
    """SciPy's Powell search in the box."""
    from scipy.optimize import minimize

    options = {"xtol": tolerance, "ftol": tolerance, "maxfev": watch.most}
    with suppress(_OverError):
        minimize(
            lambda x: watch.evaluate(value, np.clip(x, *box)),
            start,
            method="Powell",
            bounds=[box] * len(start),
            options=options,
        )
    return watch.descent(start)


Batch = Callable[[Vector], tuple[Vector, Vector]]
"""From angles (rows, size) to values and slopes; of the first rows only where time was up."""

MEMORY = 8  # steps that the curvature is learnt from
ENOUGH = 1e-4  # Armijo: the share of the promised decrease that a step must give
LONGEST = 2.0  # units of an angle that a step goes at most: the model of the landscape is no guide beyond
SHORTEST = 1e-7  # share of a full step below which a row is at the end of what rounding lets it see
LEVEL = 1e-9  # slope, in units of value and angle, that is none


class Lockstep:
    """Rows of angles that go downhill together, each with its own step length and curvature, within a box.

    A round evaluates one trial point for each row that still goes down. Where it falls enough it is taken, and the next
    direction is made from the last steps of that row alone; elsewhere the step is shortened. No row knows of another,
    so it ends at the same angles in any company.

    Args:
        evaluate: the objective and its gradient, for a batch.
        starts: angles, (rows, size).
        units: of the angles; a step of one unit matters.
        reach: the box is ±reach, or as far as the start where that is outside.
        unit: about how far values differ.
        tolerance: a step that gains less than this many units of value is the last one of its row.

    Attributes:
        live: the rows that still go down.
        evaluations: of each row so far.
    """

    def __init__(
        self, evaluate: Batch, starts: Vector, *, units: Vector, reach: Vector, unit: float = 1.0, tolerance: float
    ) -> None:
        rows, size = starts.shape
        self._evaluate, self._units, self._unit, self._tolerance = evaluate, units, unit, tolerance
        self._box = np.maximum(reach, np.abs(starts)) / units
        self._x = starts / units
        self._value, self._slope = np.full(rows, np.inf), np.zeros((rows, size))
        self._moved, self._turned = np.zeros((2, rows, MEMORY, size))  # the newest step is the last
        self._direction, self._step = np.zeros((rows, size)), np.ones(rows)
        self._flat, self._failed = np.ones(rows, dtype=bool), np.zeros(rows, dtype=bool)
        self._first = np.full(rows, np.inf)
        self._traces: list[list[tuple[int, float]]] = [[] for _ in range(rows)]
        self.evaluations = np.zeros(rows, dtype=np.int64)
        self.live = np.arange(rows)
        self._begin()

    def _begin(self) -> None:
        rows, _, value, slope = self._look(self._x)
        self._value[rows] = self._first[rows] = value
        self._slope[rows] = slope
        self._flat[rows] &= is_small(slope * self._unit, value[:, None], self._unit).all(axis=1)
        self._note(rows)
        self._turn(rows)

    def step(self) -> None:
        """One more evaluation of every live row."""
        if not len(self.live):
            return
        trial = self._x[self.live] + self._step[self.live, None] * self._direction[self.live]
        rows, trial, value, slope = self._look(np.clip(trial, -self._box[self.live], self._box[self.live]))
        steps = trial - self._x[rows]
        promised = self._unit * np.minimum((self._slope[rows] * steps).sum(axis=1), 0.0)
        gained = self._value[rows] - value
        good = (gained > 0) & (gained >= -ENOUGH * promised)
        self._flat[rows] &= is_small(value - self._first[rows], value, self._unit)
        short = rows[~good]
        fall = promised[~good]  # a parabola through both values and the slope at the row has its lowest point at
        best = np.divide(fall, 2 * (fall + gained[~good]), out=np.full(len(short), 0.5), where=gained[~good] < -fall)
        self._step[short] *= np.clip(best, 0.1, 0.5)
        down = rows[good]
        turned = slope[good] - self._slope[down]
        self._learn(down, steps[good], turned)
        self._x[down] += steps[good]
        self._value[down], self._slope[down], self._step[down] = value[good], slope[good], 1.0
        self._note(down)
        small = rows[good & (gained <= self._tolerance * self._unit)]
        self._turn(down)
        ended = np.concatenate([small, short[self._step[short] < SHORTEST]])
        self.live = self.live[~np.isin(self.live, ended)]

    def keep(self, count: int) -> None:
        """Let only the best of the live rows go on; equal values keep the order of their starts."""
        order = np.argsort(self._value[self.live], kind="stable")[:count]
        self.live = np.sort(self.live[order])

    @property
    def best(self) -> float:
        """The lowest value of all rows."""
        return float(self._value.min())

    def descents(self) -> list[Descent]:
        """Where every row is, in the order of the starts; those that no evaluation reached are left out."""
        return [
            Descent(
                angles=self._x[row] * self._units,
                value=float(self._value[row]),
                evaluations=int(self.evaluations[row]),
                trace=tuple(self._traces[row]),
                flat=bool(self._flat[row]),
                failed=bool(self._failed[row]),
            )
            for row in np.flatnonzero(self.evaluations)
        ]

    def _look(self, x: Vector) -> tuple[NDArray[np.int64], Vector, Vector, Vector]:
        """Evaluate the live rows at x: those that gave numbers, their x, values and slopes by x. The others end."""
        value, slope = self._evaluate(x * self._units)
        reached = self.live[: len(value)]
        self.evaluations[reached] += 1
        good = np.isfinite(value) & np.isfinite(slope).all(axis=1)
        self._failed[reached[~good]], self._flat[reached[~good]] = True, False
        self.live = reached[good]
        return reached[good], x[: len(value)][good], value[good], slope[good] * self._units / self._unit

    def _note(self, rows: NDArray[np.int64]) -> None:
        for row in rows:
            self._traces[row].append((int(self.evaluations[row]), float(self._value[row])))

    def _learn(self, rows: NDArray[np.int64], steps: Vector, turned: Vector) -> None:
        """Remember a step and how the slope turned, where the landscape curves upwards."""
        curved = (steps * turned).sum(axis=1) > 1e-10 * np.linalg.norm(steps, axis=1) * np.linalg.norm(turned, axis=1)
        rows = rows[curved]
        for memory, newest in ((self._moved, steps), (self._turned, turned)):
            memory[rows, :-1] = memory[rows, 1:]
            memory[rows, -1] = newest[curved]

    def _turn(self, rows: NDArray[np.int64]) -> None:
        """Give rows their next direction; those without a way down inside the box end."""
        x, slope = self._x[rows], self._slope[rows]
        free = ~(((x >= self._box[rows]) & (slope < 0)) | ((x <= -self._box[rows]) & (slope > 0)))
        slope = slope * free
        direction = -_newton(slope, self._moved[rows] * free[:, None], self._turned[rows] * free[:, None]) * free
        uphill = ~((direction * slope).sum(axis=1) < 0)
        direction[uphill] = -_no_longer_than(1.0, slope[uphill])
        self._direction[rows] = _no_longer_than(LONGEST, direction)
        ended = rows[np.abs(slope).max(axis=1, initial=0.0) <= LEVEL]
        self.live = self.live[~np.isin(self.live, ended)]


def _newton(slope: Vector, steps: Vector, turned: Vector) -> Vector:
    """The inverse curvature times the slope, by the two-loop recursion, row by row."""
    product = (steps * turned).sum(axis=2)
    inverse = np.divide(1.0, product, out=np.zeros(product.shape), where=product > 0)
    q, alpha = slope.copy(), np.zeros(product.shape)
    for step in reversed(range(MEMORY)):
        alpha[:, step] = inverse[:, step] * (steps[:, step] * q).sum(axis=1)
        q -= alpha[:, step, None] * turned[:, step]
    size = (turned[:, -1] ** 2).sum(axis=1)
    first = 1 / np.maximum(1.0, np.linalg.norm(slope, axis=1))
    q *= np.divide(product[:, -1], size, out=first, where=product[:, -1] > 0)[:, None]
    for step in range(MEMORY):
        beta = inverse[:, step] * (turned[:, step] * q).sum(axis=1)
        q += (alpha[:, step] - beta)[:, None] * steps[:, step]
    return q


def _no_longer_than(length: float, vectors: Vector) -> Vector:
    return vectors * np.minimum(1.0, length / np.maximum(np.linalg.norm(vectors, axis=1), 1e-300))[:, None]
