"""L-BFGS on many starts at once, for simulators that run a batch of circuits in one go."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from biselect.qaoa.training.descent import Descent, is_small

Vector = NDArray[np.float64]
MEMORY = 8  # steps that the curvature is learnt from
ENOUGH = 1e-4  # Armijo: the share of the promised decrease that a step must give


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
    elsewhere the step is halved.

    Args:
        many_with_gradients: of (batch, size) angles.
        starts: (batch, size).
        units: the step of each angle that matters.
        reach: the box is ±reach, or as far as the start where that is outside.
        evaluations: rounds.
        expired: asked before every round but the first.
        unit: about how far values differ; slopes are measured in it.
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
        found, trial_slope = _finite(*many_with_gradients(trial * units), units / unit)
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
