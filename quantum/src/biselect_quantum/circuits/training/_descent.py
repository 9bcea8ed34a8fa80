"""Ways down from a start: SciPy's L-BFGS-B; for the paper's protocols random local steps and Powell's method too."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect_quantum.circuits.training.records import Descent

Vector = NDArray[np.float64]
CONVERGED = 200  # iterations: a descent has converged long before
FINE, COARSE = 1e-10, 1e-6  # gains, in units of value, that end a descent in double and in single precision


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
    seconds: float = 0.0  # of the fastest evaluation, the first aside, which may have been compiling
    _first: float = 0.0
    _last: float = 0.0

    def see(self, angles: Vector, value: float, slope: Vector | None = None) -> None:
        """Take note of an evaluation; the slope is by steps that matter."""
        self.evaluations += 1
        now = perf_counter()
        if self.evaluations > 1:
            self.seconds = min(now - self._last, self.seconds or np.inf)
        self._last = now
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
    box: tuple[Vector | float, Vector | float],
    *,
    watch: DescentMonitor,
    units: Vector | float = 1.0,
    unit: float = 1.0,
    iterations: int = CONVERGED,
    tolerance: float = FINE,
) -> Descent:
    """SciPy's L-BFGS-B on our gradient.

    Args:
        value_and_gradient: of what is lowered, by the angles.
        start: where it begins.
        box: the least and the largest of each angle.
        watch: ends it in time.
        units: by which angles are divided, so that a step of one matters.
        unit: by which values are divided, about how far they differ.
        iterations: at most.
        tolerance: a step that gains less than this many units of value is the last one.
    """
    from scipy.optimize import minimize

    def watched(steps: Vector) -> tuple[float, Vector]:
        watch.check()
        value, slope = value_and_gradient(steps * units)
        watch.see(steps * units, value, slope * units)
        return value / unit, slope * units / unit

    options = {"maxiter": iterations, "maxfun": watch.most, "ftol": tolerance, "gtol": 1e-9}
    bounds = np.column_stack([np.broadcast_to(np.divide(side, units), start.shape) for side in box])
    with suppress(_OverError):
        minimize(watched, start / units, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
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
