"""One start, followed downhill: L-BFGS-B on gradients, or the paper's searches without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
CALLS_PER_ITERATION = 1.3  # evaluations that an iteration of L-BFGS-B may take on average, line searches included


@dataclass(frozen=True, kw_only=True, eq=False)
class Descent:
    """Where one start led.

    Attributes:
        angles: the best seen.
        value: the objective there; infinite where every evaluation failed.
        evaluations: how many it took.
        trace: (evaluations, value) of every improvement.
        flat: whether nothing showed a way down: no slope at the start, no other value later.
        failed: whether an evaluation gave no finite number, which ends a descent.
    """

    angles: Vector
    value: float
    evaluations: int
    trace: tuple[tuple[int, float], ...]
    flat: bool = False
    failed: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain data; `from_dict` gives back the same bits."""
        return {**vars(self), "angles": self.angles.tolist(), "value": self.value if np.isfinite(self.value) else None}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Descent:
        """Inverse of `to_dict`."""
        trace = tuple((int(count), float(value)) for count, value in content["trace"])
        value = np.inf if content["value"] is None else float(content["value"])
        return cls(
            **{**content, "angles": np.array(content["angles"], dtype=np.float64), "value": value, "trace": trace}
        )


class _OverError(Exception):
    """The descent ends: evaluations or time are used up, or a value is not finite."""


@dataclass(kw_only=True)
class Watch:
    """Counts evaluations, keeps the best and ends the descent in time.

    Attributes:
        most: evaluations at most.
        expired: asked before every evaluation but the first.
        unit: about how far values differ.
    """

    most: int
    expired: Callable[[], bool]
    unit: float = 1.0
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
    """L-BFGS-B from one start.

    Args:
        value_and_gradient: of the angles.
        start: where to begin.
        units: the step of each angle that matters; the search runs in these.
        reach: the box is ±reach, or as far as the start where that is outside.
        iterations: at most.
        watch: counts and stops.
        zero: taken from values before SciPy sees them, whose tolerances are for values of about 1.
        unit: by which they are divided.
    """
    from scipy.optimize import minimize

    def scaled(x: Vector) -> tuple[float, Vector]:
        watch.check()
        angles = x * units
        value, slope = value_and_gradient(angles)
        watch.see(angles, value, slope * units)
        return (value - zero) / unit, slope * units / unit

    box = np.maximum(reach, np.abs(start)) / units
    try:
        minimize(
            scaled,
            start / units,
            jac=True,
            method="L-BFGS-B",
            bounds=np.stack([-box, box], axis=1),
            options={"maxiter": iterations, "maxfun": watch.most, "ftol": 1e-10, "gtol": 1e-9},
        )
    except _OverError:
        pass
    return watch.descent(start)


def random_local(
    value: Callable[[Vector], float], start: Vector, *, low: float, high: float, step: float, seed: Any, watch: Watch
) -> Descent:
    """Gaussian steps from the best so far, clipped to the box; a step is kept if it improves."""
    rng = np.random.default_rng(seed)
    try:
        watch.check()
        watch.see(start, value(start))
        while True:
            watch.check()
            assert watch.best is not None
            angles = np.clip(watch.best + step * rng.normal(size=len(start)), low, high)
            watch.see(angles, value(angles))
    except _OverError:
        pass
    return watch.descent(start)


def powell(
    value: Callable[[Vector], float], start: Vector, *, low: float, high: float, tolerance: float, watch: Watch
) -> Descent:
    """SciPy's Powell search in the box."""
    from scipy.optimize import minimize

    def watched(x: Vector) -> float:
        watch.check()
        angles = np.clip(x, low, high)
        found = value(angles)
        watch.see(angles, found)
        return found

    options = {"xtol": tolerance, "ftol": tolerance, "maxfev": watch.most}
    try:
        minimize(watched, start, method="Powell", bounds=[(low, high)] * len(start), options=options)
    except _OverError:
        pass
    return watch.descent(start)
