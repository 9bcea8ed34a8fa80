"""Angles to start from: random ones in the problem's own units, ramps, and those of a shorter circuit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect.qaoa.schedule import Schedule

if TYPE_CHECKING:
    from biselect.qaoa.ansatz import Ansatz
    from biselect.qaoa.spec import AnsatzSpec
    from biselect.qaoa.training.objectives import Objective

Vector = NDArray[np.float64]
SCALES = (0.5, 1.0, np.pi / 2, np.pi)
WIDER = 2.0
REDRAWN = 0.3  # share of its angles that a hop draws anew
ALIKE = 1e-12  # numbers this close, relative to the largest, are one number in other roundings


def units(ansatz: Ansatz | AnsatzSpec) -> Vector:
    """The step of each free angle that matters: 1 for a β, one over the spread of its cost terms for a γ.

    Constants in scores and weights change nothing within the budgets, so only their spread counts. With these units
    a problem whose scores are all multiplied by ten is trained just as well.
    """
    spreads = np.array(
        [max(spread(part) for part in (group.sample, group.feature, group.pair)) for group in ansatz.groups]
    )
    drives = np.abs(ansatz.schedule.matrix[:, :-1]).sum(axis=0).T  # (free, groups)
    sums = drives @ spreads
    counts = (drives * (spreads > 0)).sum(axis=1)
    return np.divide(counts, sums, out=np.ones(len(sums)), where=sums > 0)


def spread(part: NDArray[np.floating[Any]]) -> float:
    """Standard deviation; 0 for a constant, of which NumPy's is often the rounding of its mean."""
    largest = float(np.abs(part).max(initial=0.0))
    if largest == 0:
        return 0.0
    relative = float(np.std(part / largest))  # divided first: squares of 1e200 are no numbers
    return relative * largest if relative > ALIKE else 0.0


def is_phase(ansatz: Ansatz) -> NDArray[np.bool_]:
    """Which of the free angles are γ."""
    return np.asarray(np.any(ansatz.schedule.matrix[:, :-1] != 0, axis=(0, 1)))


def random_start(ansatz: Ansatz, objective: Objective, seed: list[int]) -> Vector:
    """Uniform angles, on a scale that is drawn too.

    Where a hit rate is sought phases are drawn twice as wide: few choices must be told from all others, and larger
    phases tell them apart.
    """
    return _drawn(ansatz, objective, np.random.default_rng(seed))


def hop(ansatz: Ansatz, objective: Objective, angles: Vector, rng: np.random.Generator) -> Vector:
    """Angles of which some are drawn anew."""
    return np.where(rng.random(ansatz.size) < REDRAWN, _drawn(ansatz, objective, rng), angles)


def _drawn(ansatz: Ansatz, objective: Objective, rng: np.random.Generator) -> Vector:
    scale = SCALES[rng.integers(len(SCALES))]
    wide = np.where(is_phase(ansatz) & ("hit-rate" in objective.weights), WIDER, 1.0)
    return scale * rng.uniform(-1, 1, size=ansatz.size) * wide * units(ansatz)


def ramp(ansatz: Ansatz | AnsatzSpec, height: float, sign: int) -> Vector:
    """Phases that grow and mixing that fades along the layers, as in annealing; ± for the mixing."""
    steps = middles(ansatz.schedule.depth)
    return height * nearest(ansatz.schedule, layer_table(ansatz.schedule, steps, sign * (1 - steps))) * units(ansatz)


def middles(depth: int) -> Vector:
    """The middle of each layer's share of the unit interval."""
    return (np.arange(depth) + 0.5) / depth


def layer_table(schedule: Schedule, phase: Vector | float, mixing: Vector | float) -> Vector:
    """Layer angles (p, G + 1): one phase for all groups and the mixing, each a number or one for each layer."""
    table = np.empty((schedule.depth, schedule.groups + 1))
    table[:, :-1] = np.broadcast_to(phase, schedule.depth)[:, None]
    table[:, -1] = mixing
    return table


def nearest(schedule: Schedule, in_layers: Vector) -> Vector:
    """The free angles whose layer angles (p, G + 1) come closest to those given."""
    flat = schedule.matrix.reshape(-1, schedule.size)
    return np.asarray(np.linalg.lstsq(flat, in_layers.ravel(), rcond=None)[0], dtype=np.float64)


def stretched(in_layers: Vector, depth: int) -> Vector:
    """Layer angles of a longer circuit, by interpolation along the layers."""
    old, new = middles(len(in_layers)), middles(depth)
    return np.stack([np.interp(new, old, column) for column in in_layers.T], axis=1)


def extended(in_layers: Vector, depth: int) -> Vector:
    """Layer angles of a longer circuit that does nothing in its last layers."""
    return np.concatenate([in_layers, np.zeros((depth - len(in_layers), in_layers.shape[1]))])
