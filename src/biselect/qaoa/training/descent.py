"""Starts followed downhill: L-BFGS-B on gradients, one by one or in batches, or the paper's searches without them."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.qaoa.training.records import Descent
from biselect.simulate.stopping import OutOfTimeError

Vector = NDArray[np.float64]
CALLS_PER_ITERATION = 1.3  # evaluations that an iteration of L-BFGS-B may take on average, line searches included
MEMORY = 8  # steps that the curvature is learnt from, in batches
ENOUGH = 1e-4  # Armijo: the share of the promised decrease that a step must give, in batches


class _OverError(Exception):
    """The descent ends: evaluations or time are used up, or a value is not finite."""


@dataclass(kw_only=True)
class Watch:
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
    seconds: float = 0.0  # of the latest evaluation
    _first: float = 0.0
    _begin: float = 0.0

    def see(self, angles: Vector, value: float, slope: Vector | None = None) -> None:
        """Take note of an evaluation; the slope is by angles in their own units."""
        self.evaluations += 1
        self.seconds = time.perf_counter() - self._begin
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
        self._begin = time.perf_counter()

    def evaluate(self, value: Callable[[Vector], float], angles: Vector) -> float:
        """The value at some angles, if means are left for it."""
        self.check()
        found = value(angles)
        self.see(angles, found)
        return found

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
    *,
    units: Vector,
    reach: Vector,
    iterations: int,
    watch: Watch,
    zero: float = 0.0,
    unit: float = 1.0,
) -> Descent:
    """L-BFGS-B from one start, in `units` of the angles, within ±reach or as far as the start where that is outside.

    SciPy's tolerances are for values of about 1, so it sees (value - zero) / unit.
    """
    from scipy.optimize import minimize

    def scaled(x: Vector) -> tuple[float, Vector]:
        watch.check()
        angles = x * units
        value, slope = value_and_gradient(angles)
        watch.see(angles, value, slope * units)
        return (value - zero) / unit, slope * units / unit

    box = np.maximum(reach, np.abs(start)) / units
    bounds = np.stack([-box, box], axis=1)
    options = {"maxiter": iterations, "maxfun": watch.most, "ftol": 1e-10, "gtol": 1e-9}
    with suppress(_OverError):
        minimize(scaled, start / units, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return watch.descent(start)


def random_local(
    value: Callable[[Vector], float], start: Vector, box: tuple[float, float], *, step: float, seed: Any, watch: Watch
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
    value: Callable[[Vector], float], start: Vector, box: tuple[float, float], *, tolerance: float, watch: Watch
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


def batched_lbfgs(
    many_with_gradients: Callable[[Vector], tuple[Vector, Vector]],
    starts: Vector,
    *,
    units: Vector,
    reach: Vector,
    evaluations: int,
    expired: Callable[[], bool],
    unit: float = 1.0,
) -> list[Descent]:
    """Follow all starts downhill, each with its own step length and curvature.

    Every round evaluates one trial point a start: where it falls enough it is taken and the next direction is made,
    elsewhere the step is halved. There are `evaluations` rounds at most; units, reach and unit are those of `lbfgs`.
    """
    x = starts / units
    box = np.maximum(reach / units, np.abs(x))
    value, slope = _finite(*many_with_gradients(x * units), units / unit)
    failed = ~np.isfinite(value)
    flat = is_small(slope * unit, value[:, None], unit).all(axis=1) & ~failed
    traces = [[(1, float(found))] if np.isfinite(found) else [] for found in value]
    history: list[tuple[Vector, Vector]] = []
    direction, step = _first_direction(slope), np.ones(len(x))
    rounds = 1
    while rounds < evaluations and not expired():
        trial = np.clip(x + step[:, None] * direction, -box, box)
        try:
            found, trial_slope = _finite(*many_with_gradients(trial * units), units / unit)
        except OutOfTimeError:
            break
        rounds += 1
        promised = unit * (slope * (trial - x)).sum(axis=1)
        taken = found <= value + ENOUGH * np.minimum(promised, 0.0)
        taken &= np.isfinite(found) & (found < value)
        for start in np.flatnonzero(taken):
            traces[start].append((rounds, float(found[start])))
        moved = np.where(taken[:, None], trial - x, 0.0)
        turned = np.where(taken[:, None], trial_slope - slope, 0.0)
        x, value = np.where(taken[:, None], trial, x), np.where(taken, found, value)
        slope = np.where(taken[:, None], trial_slope, slope)
        history = [*history[-MEMORY + 1 :], (moved, turned)]
        renewed = _direction(slope, history)
        direction = np.where(taken[:, None], renewed, direction)
        step = np.where(taken, 1.0, step / 2)
    return [
        Descent(
            angles=row * units,
            value=float(number),
            evaluations=rounds,
            trace=tuple(trace),
            flat=bool(level),
            failed=bool(broken),
        )
        for row, number, trace, level, broken in zip(x, value, traces, flat, failed, strict=True)
    ]


def _finite(value: Vector, slope: Vector, units: Vector) -> tuple[Vector, Vector]:
    """A start whose value or slope is not finite counts as infinitely high, without a way down."""
    good = np.isfinite(value) & np.isfinite(slope).all(axis=1)
    return np.where(good, value, np.inf), np.where(good[:, None], slope * units, 0.0)


def _first_direction(slope: Vector) -> Vector:
    return -slope / np.maximum(1.0, np.linalg.norm(slope, axis=1))[:, None]


def _direction(slope: Vector, history: list[tuple[Vector, Vector]]) -> Vector:
    """The two-loop recursion, row by row; steps without curvature (or not taken) are left out of a row."""
    q = slope.copy()
    weights = []
    for moved, turned in reversed(history):
        product = (moved * turned).sum(axis=1)
        inverse = np.divide(1.0, product, out=np.zeros(len(product)), where=product > 1e-12)
        alpha = inverse * (moved * q).sum(axis=1)
        q -= alpha[:, None] * turned
        weights.append((inverse, alpha))
    scale = np.zeros(len(q))
    for moved, turned in history:  # the newest usable step sets the length
        product = (moved * turned).sum(axis=1)
        size = (turned**2).sum(axis=1)
        scale = np.divide(product, size, out=scale, where=product > 1e-12)
    q *= np.where(scale > 0, scale, 1 / np.maximum(1.0, np.linalg.norm(slope, axis=1)))[:, None]
    for (moved, turned), (inverse, alpha) in zip(history, reversed(weights), strict=True):
        beta = inverse * (turned * q).sum(axis=1)
        q += (alpha - beta)[:, None] * moved
    downhill = (q * slope).sum(axis=1) > 0
    return np.where(downhill[:, None], -q, _first_direction(slope))
