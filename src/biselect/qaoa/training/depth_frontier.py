"""`depth-frontier`: the paper's protocol for expected energies by depth (Section S5.1).

L-BFGS-B in the box [-1, 1], five deterministic and three random starts a depth, a depth ladder, bet-and-run. The paper
does not say which five starts nor how the bet is run. Here they are the angles of the depth before, stretched and
extended (two small constants at the first depth), two ramps of either sign, and a constant; every start goes 15
iterations, then the best two go to convergence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biselect.qaoa.training.descent import Descent
from biselect.qaoa.training.initial_angles import extended, nearest, stretched
from biselect.qaoa.training.search import Search

if TYPE_CHECKING:
    from biselect.qaoa.ansatz import Ansatz

REACH = 1.0
RANDOM = 3
BET, RUN, KEPT = 15, 500, 2  # iterations, iterations, starts that run on


def depth_frontier(search: Search) -> Descent:
    """Depth by depth up to the wanted one."""
    depth = search.ansatz.schedule.depth
    weights = np.cumsum([rung**2 for rung in range(1, depth + 1)])
    before: NDArray[np.float64] | None = None
    for rung in range(1, depth + 1):
        ansatz = search.ansatz.at_depth(rung)
        shares = [float((weights[rung - 1] - part * rung**2) / weights[-1]) for part in (0.5, 0.0)]
        starts = _deterministic(ansatz, before)
        rng = np.random.default_rng([search.seed, rung])
        starts += [rng.uniform(-REACH, REACH, size=ansatz.size) for _ in range(RANDOM)]
        bets = search.descend(f"bet {rung}", starts, iterations=BET, ansatz=ansatz, reach=REACH, share=shares[0])
        kept = [bet.angles for bet in bets[:KEPT]]
        runs = search.descend(
            f"run {rung}", kept, iterations=RUN, ansatz=ansatz, reach=REACH, share=shares[1], must=False
        )
        best = min([*runs, bets[0]], key=lambda descent: descent.value)
        before = ansatz.schedule.expand(best.angles)
        search.reached(ansatz, best)
    return best


def _deterministic(ansatz: Ansatz, before: NDArray[np.float64] | None) -> list[NDArray[np.float64]]:
    schedule = ansatz.schedule
    steps = (np.arange(schedule.depth) + 0.5) / schedule.depth

    def in_layers(phase: NDArray[np.float64] | float, mixing: NDArray[np.float64] | float) -> NDArray[np.float64]:
        table = np.empty((schedule.depth, schedule.groups + 1))
        table[:, :-1] = np.reshape(phase * np.ones(schedule.depth), (-1, 1))
        table[:, -1] = mixing
        return table

    if before is None:
        tables = [in_layers(0.1, -0.1), in_layers(0.1, 0.1)]
    else:
        tables = [stretched(before, schedule.depth), extended(before, schedule.depth)]
    tables += [in_layers(0.5 * steps, sign * 0.5 * (1 - steps)) for sign in (-1, 1)]
    tables += [in_layers(0.3, -0.3)]
    return [np.clip(nearest(schedule, table), -REACH, REACH) for table in tables]
