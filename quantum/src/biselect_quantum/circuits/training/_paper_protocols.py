"""The paper's two protocols (Section S5.1), from what it says of them; what it leaves open is said here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect_quantum.circuits.training._descent import DescentMonitor, lbfgs, powell, random_local
from biselect_quantum.circuits.training._search import Search
from biselect_quantum.circuits.training.first_angles import extended, layer_midpoints, layer_table, nearest, stretched
from biselect_quantum.circuits.training.records import Descent

if TYPE_CHECKING:
    from biselect_quantum.circuits.ansatz import Ansatz

Vector = NDArray[np.float64]
REACH, RANDOM = 1.0, 3  # `depth-frontier`: the box, random starts a depth
BET, RUN, KEPT = 15, 500, 2  # iterations, iterations, starts that run on
BET_CALLS, RUN_CALLS = 22, 652  # evaluations at most, line searches included
CALLS, TOLERANCE, LOCAL_STEP = 96, 1e-3, 0.25  # `threshold`
BOX = (0.0, np.pi)
RANDOM_ANGLES = 2


def depth_frontier(search: Search) -> Descent:
    """The paper's protocol for expected energies by depth (Section S5.1): depth by depth up to the wanted one.

    L-BFGS-B in the box [-1, 1], five deterministic and three random starts a depth, a depth ladder, bet-and-run. The
    paper does not say which five starts nor how the bet is run. Here they are the angles of the depth before, stretched
    and extended (two small constants at the first depth), two ramps of either sign, and a constant; every start goes 15
    iterations, then the best two go to convergence.
    """
    depth = search.ansatz.schedule.depth
    weights = np.cumsum([rung**2 for rung in range(1, depth + 1)])
    before: Vector | None = None
    for rung in range(1, depth + 1):
        ansatz = search.ansatz.at_depth(rung)
        half, whole_rung = (float((weights[rung - 1] - part * rung**2) / weights[-1]) for part in (0.5, 0.0))
        rng = np.random.default_rng([search.seed, rung])
        starts = _deterministic(ansatz, before)
        starts += [rng.uniform(-REACH, REACH, size=ansatz.size) for _ in range(RANDOM)]
        bets = search.each(
            f"bet {rung}", starts, partial(_in_box, search, BET), cap=BET_CALLS, ansatz=ansatz, share=half
        )
        best_bets = [bet.angles for bet in bets[:KEPT]]
        how: dict[str, Any] = {"cap": RUN_CALLS, "ansatz": ansatz, "share": whole_rung, "must": False}
        runs = search.each(f"run {rung}", best_bets, partial(_in_box, search, RUN), **how)
        best = search.reached(ansatz, min([*runs, bets[0]], key=lambda descent: descent.value))
        before = ansatz.schedule.expand(best.angles)
    return best


def _in_box(search: Search, iterations: int, on: Ansatz, start: Vector, _: int, watch: DescentMonitor) -> Descent:
    slope = partial(search.objective.value_and_gradient, on)
    return lbfgs(slope, start, (-REACH, REACH), iterations=iterations, watch=watch)


def _deterministic(ansatz: Ansatz, before: Vector | None) -> list[Vector]:
    schedule, steps = ansatz.schedule, layer_midpoints(ansatz.schedule.depth)
    if before is None:
        tables = [layer_table(schedule, 0.1, -0.1), layer_table(schedule, 0.1, 0.1)]
    else:
        tables = [stretched(before, schedule.depth), extended(before, schedule.depth)]
    tables += [layer_table(schedule, 0.5 * steps, sign * 0.5 * (1 - steps)) for sign in (-1, 1)]
    tables += [layer_table(schedule, 0.3, -0.3)]
    return [np.clip(nearest(schedule, table), -REACH, REACH) for table in tables]


def threshold(search: Search) -> Descent:
    """The paper's best-known-threshold protocol (Section S5.1), without gradients; the best angles seen are kept.

    Each untrained start is evaluated, then searched from by random local steps and by Powell's method, 96 calls each,
    within [0, π]. The paper does not list its starts; here they are all angles at π/4, all at π/8, a rising ramp of
    phases with falling mixing, the same with mixing mirrored at π/2, and two random ones. It does not give the local
    step either.
    """
    seed, value = search.seed, search.objective.value

    def local(on: Ansatz, start: Vector, number: int, watch: DescentMonitor) -> Descent:
        return random_local(partial(value, on), start, BOX, step=LOCAL_STEP, seed=[seed, 1, number], watch=watch)

    def directions(on: Ansatz, start: Vector, number: int, watch: DescentMonitor) -> Descent:
        return powell(partial(value, on), start, BOX, tolerance=TOLERANCE, watch=watch)

    starts = _in_the_box(search.ansatz, seed)
    descents = search.each("local", starts, local, cap=1 + CALLS, share=0.5)  # the untrained start, then the calls
    descents += search.each("powell", starts, directions, cap=CALLS, must=False)
    return search.reached(search.ansatz, min(descents, key=lambda descent: descent.value))


def _in_the_box(ansatz: Ansatz, seed: int) -> list[Vector]:
    schedule, steps = ansatz.schedule, layer_midpoints(ansatz.schedule.depth)
    mixing = 0.2 + 1.2 * (1 - steps)
    tables = [layer_table(schedule, 0.2 + 0.8 * steps, last) for last in (mixing, np.pi - mixing)]
    rng = np.random.default_rng([seed, 0])
    return [
        np.full(ansatz.size, np.pi / 4),
        np.full(ansatz.size, np.pi / 8),
        *(np.clip(nearest(schedule, table), *BOX) for table in tables),
        *(rng.uniform(*BOX, size=ansatz.size) for _ in range(RANDOM_ANGLES)),
    ]
