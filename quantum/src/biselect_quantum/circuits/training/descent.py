"""The paper's ways down from one start: SciPy's L-BFGS-B in a box, random local steps, Powell's method."""

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
    box: tuple[float, float],
    *,
    iterations: int,
    watch: Watch,
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
