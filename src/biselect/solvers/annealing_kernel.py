"""The compiled walk of one-sided annealing. Its slow twin, in the tests, sorts every proposal in full."""

from typing import Any

import numpy as np
from numba import njit

from biselect.solvers.kernels import copy_into, has_room_beside, limited_top_sum, next_below, next_unit, top_sum


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _reach(values: Any, incoming: Any, outgoing: Any, scale: float, tau: float) -> float:
    """Σ max(value after the swap - τ, 0): with kτ added it bounds the sum of the k largest."""
    total = 0.0
    for i in range(values.size):
        x = values[i] + scale * (np.float64(incoming[i]) - np.float64(outgoing[i])) - tau
        total += x if x > 0.0 else 0.0
    return total


@njit(cache=True, nogil=True)
def _response(values: Any, keep: int, group: Any, room: Any, floor: float, scratch: Any) -> Any:
    """Sum of the best response and the smallest value in it; `floor` is a guess of what lies below it."""
    if room.size:
        total, smallest, _ = limited_top_sum(values, values.size, keep, group, room)
        return total, smallest
    count = 0
    for x in values:
        scratch[count] = x  # no branch: a value that is not kept is overwritten by the next
        count += 1 if x > floor else 0
    if count < keep:
        copy_into(scratch, values, values.size)
        count = values.size
    return top_sum(scratch, count, keep)


@njit(cache=True, nogil=True)
def anneal(
    lines: Any,
    scale: float,
    line_scores: Any,
    base: Any,
    keep: int,
    choose: int,
    line_group: Any,
    line_room: Any,
    base_group: Any,
    base_room: Any,
    order: Any,
    temperatures: Any,
    state: Any,
    best: float,
    best_lines: Any,
    improved: Any,
) -> Any:
    """Walk over subsets order[:choose], one temperature a step; the state stays in `order`.

    Returns the best score and how many improvements (step, score) were written to `improved`.
    """
    n = lines.shape[0]
    values = np.empty(base.size)
    trial = np.empty(base.size)
    scratch = np.empty(base.size + 1)
    noted = 0
    fresh = True
    extra, score, tau, floor = 0.0, 0.0, 0.0, -np.inf
    for step in range(temperatures.size):
        if fresh:  # sum from scratch after every accepted swap: nothing drifts
            copy_into(values, base, base.size)
            extra = 0.0
            for q in range(choose):
                line = lines[order[q]]
                extra += line_scores[order[q]]
                for i in range(values.size):
                    values[i] += scale * line[i]
            score, tau = _response(values, keep, base_group, base_room, floor, scratch)
            floor = 2 * tau - score / keep  # as far below the smallest of them as their mean is above it
            score += extra
            fresh = False
            if score > best:
                best = score
                copy_into(best_lines, order, choose)
                if noted < improved.shape[0]:
                    improved[noted, 0] = step
                    improved[noted, 1] = score
                    noted += 1
        if choose == n:
            break
        leaving = next_below(state, choose)
        entering = choose + next_below(state, n - choose)
        x, y = order[leaving], order[entering]
        needed = score + temperatures[step] * np.log(next_unit(state))
        same_group = line_room.size > 0 and line_group[x] == line_group[y]
        if not same_group and not has_room_beside(y, order, choose, line_group, line_room):
            continue
        new_extra = extra + line_scores[y] - line_scores[x]
        if _reach(values, lines[y], lines[x], scale, tau) + keep * tau + new_extra <= needed:
            continue
        for i in range(trial.size):
            trial[i] = values[i] + scale * (np.float64(lines[y, i]) - np.float64(lines[x, i]))
        new_score, _ = _response(trial, keep, base_group, base_room, floor, scratch)
        if new_score + new_extra > needed:
            order[leaving], order[entering] = y, x
            fresh = True
    return best, noted
