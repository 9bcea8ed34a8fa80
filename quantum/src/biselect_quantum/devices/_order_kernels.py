"""The compiled walk over orders of mixer edges.

`costs` is an `OrderCosts`: the edges, and how long their gates take and how often they err. An order is followed as the
Y-frame would compile it: two equal known bits need no gate, two different ones need one, all others two.
"""

from typing import Any

import numpy as np
from numba import njit

from biselect.solvers.kernels import next_below, next_unit


@njit(cache=True, nogil=True)
def follow_order(costs: Any, bits: Any, order: Any) -> Any:
    """Seconds of all gates, expected errors of the two-qubit ones, and how unevenly the ones end up spread."""
    pulse = costs.pulse
    clock = np.full(bits.size, pulse)
    is_known = np.ones(bits.size, dtype=np.bool_)
    due = np.zeros(bits.size, dtype=np.bool_)  # a phase to be done before the next mixing
    spread = bits.astype(np.float64)  # chance of a one, if every edge exchanged its ends half of the time
    errors = 0.0
    for _ in range(costs.layers):
        due[:] = ~is_known
        for cross in range(costs.cross.shape[0]):
            a, b = costs.cross[cross]
            if not (is_known[a] or is_known[b]):
                clock[a] = clock[b] = max(clock[a], clock[b]) + costs.cross_seconds[cross] + 2 * pulse
                due[a] = due[b] = False
                errors += costs.cross_errors[cross]
        for edge in order:
            a, b = costs.edges[edge]
            if is_known[a] and is_known[b]:
                if bits[a] == bits[b]:
                    continue
                clock[a] = pulse + costs.seconds[edge]
                clock[b] = clock[a] + pulse
                errors += costs.errors[edge]
            else:
                if clock[a] > clock[b]:
                    a, b = b, a
                if due[a] or due[b]:  # the one that waits does the difference, if it has the time
                    if clock[b] - clock[a] >= pulse:
                        due[a] = due[b]
                    else:
                        clock[b] += pulse
                        due[a] = due[b] = False
                clock[a] = clock[b] = clock[b] + 2 * costs.seconds[edge] + pulse
                errors += 2 * costs.errors[edge]
            is_known[a] = is_known[b] = False
            spread[a] = spread[b] = (spread[a] + spread[b]) / 2
    return clock.max() + pulse, errors, ((spread - costs.even) ** 2).sum()


@njit(cache=True, nogil=True)
def price_order(costs: Any, bits: Any, order: Any, bound: float, price: float) -> float:
    """Expected errors of a shot; more for an order under which the ones are spread less evenly than the bound says."""
    seconds, errors, uneven = follow_order(costs, bits, order)
    return errors + costs.decay * seconds + price * max(0.0, uneven - bound)


@njit(cache=True, nogil=True)
def anneal_order(costs: Any, bits: Any, order: Any, bound: float, price: float, temperatures: Any, state: Any) -> Any:
    """Walk over orders by exchanging edges that share a qubit; returns the cheapest and its price."""
    place = np.argsort(order)
    now = price_order(costs, bits, order, bound, price)
    best, best_order = now, order.copy()
    for temperature in temperatures:
        one, other = costs.meeting[next_below(state, costs.meeting.shape[0])]
        i, j = place[one], place[other]
        order[i], order[j] = other, one
        changed = price_order(costs, bits, order, bound, price)
        if changed <= now or next_unit(state) < np.exp((now - changed) / temperature):
            now = changed
            place[one], place[other] = j, i
            if now < best - 1e-12:
                best = now
                best_order[:] = order
        else:
            order[i], order[j] = one, other
    return best_order, best
