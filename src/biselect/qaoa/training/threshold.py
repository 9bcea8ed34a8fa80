"""`threshold`: the paper's best-known-threshold protocol (Section S5.1), without gradients.

Each untrained start is evaluated, then searched from by random local steps and by Powell's method, 96 calls each,
within [0, π]. The paper does not list its starts; here they are all angles at π/4, all at π/8, a rising ramp of phases
with falling mixing, the same with mixing mirrored at π/2, and two random ones. It does not give the local step either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biselect.qaoa.training.descent import Descent, Watch, powell, random_local
from biselect.qaoa.training.initial_angles import nearest
from biselect.qaoa.training.search import Search

if TYPE_CHECKING:
    from biselect.qaoa.ansatz import Ansatz

CALLS = 96
LOW, HIGH = 0.0, np.pi
STEP = 0.25
TOLERANCE = 1e-3
RANDOM = 2


def threshold(search: Search) -> Descent:
    """Both searches from every start; the best angles seen, trained or not."""
    objective, seed = search.objective, search.seed
    starts = _starts(search.ansatz, seed)

    def local(on: Ansatz, start: NDArray[np.float64], number: int, watch: Watch) -> Descent:
        def value(angles: NDArray[np.float64]) -> float:
            return objective.value(on, angles)

        return random_local(value, start, low=LOW, high=HIGH, step=STEP, seed=[seed, 1, number], watch=watch)

    def directions(on: Ansatz, start: NDArray[np.float64], number: int, watch: Watch) -> Descent:
        return powell(
            lambda angles: objective.value(on, angles), start, low=LOW, high=HIGH, tolerance=TOLERANCE, watch=watch
        )

    found = search.run("local", starts, local, cap=1 + CALLS, share=0.5)  # the untrained start, then the calls
    found += search.run("powell", starts, directions, cap=CALLS, must=False)
    best = min(found, key=lambda descent: descent.value)
    search.reached(search.ansatz, best)
    return best


def _starts(ansatz: Ansatz, seed: int) -> list[NDArray[np.float64]]:
    schedule = ansatz.schedule
    steps = (np.arange(schedule.depth) + 0.5) / schedule.depth
    starts = [np.full(ansatz.size, np.pi / 4), np.full(ansatz.size, np.pi / 8)]
    mixing = 0.2 + 1.2 * (1 - steps)
    for last in (mixing, np.pi - mixing):
        in_layers = np.column_stack([np.tile((0.2 + 0.8 * steps)[:, None], schedule.groups), last])
        starts.append(np.clip(nearest(schedule, in_layers), LOW, HIGH))
    rng = np.random.default_rng([seed, 0])
    return [*starts, *(rng.uniform(LOW, HIGH, size=ansatz.size) for _ in range(RANDOM))]
