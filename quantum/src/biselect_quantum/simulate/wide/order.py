"""In which order the qubits stand in the line and the gates act: the fewer cross a bond, the fewer states it needs."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError
from biselect_quantum.simulate.limits import StopCheck, never_stop
from biselect_quantum.simulate.program import RZ, RZZ, XY, Op, Program

BITS = {RZZ: 1, XY: 2}  # log2 of the operator-Schmidt rank: what a gate can add to a bond that it crosses
WALKERS, STEPS_PER_QUBIT = 32, 40
HOTTEST, COLDEST = 0.2, 0.005

Order = tuple[int, ...]


def basis_start(program: Program) -> tuple[int, ...]:
    """The bits that a program starts from; a Dicke state has too many bond states to be one here."""
    if program.bits is None:
        raise InputError(
            "the wide sampler starts from a basis state, this circuit from a Dicke state; measure it on the sector, or "
            "take a random start"
        )
    return program.bits


def effective_ops(program: Program) -> list[Op]:
    """The operations without phases of angle 0, which would only cost bond states."""
    return [op for op in program.ops if op.kind == XY or op.angle]


def commuting_levels(gates: Sequence[Op], qubits: int) -> list[list[Op]]:
    """The gates in levels that may be applied one after the other, each in any order within itself.

    Gates commute where they share no qubit or are both diagonal.
    """
    levels: list[list[Op]] = []
    latest = [(-1, False)] * qubits  # level of the last gate on a qubit, and whether it is diagonal
    for gate in gates:
        diagonal = gate.kind != XY
        level = max(latest[q][0] + (not (diagonal and latest[q][1])) for q in gate.qubits)
        for qubit in gate.qubits:
            latest[qubit] = (level, diagonal)
        if level == len(levels):
            levels.append([])
        levels[level].append(gate)
    return levels


def candidate_orders(program: Program, look: StopCheck = never_stop) -> dict[str, Order]:
    """Orders worth trying, by name, the one that wins more often first."""
    label = tuple(range(program.qubits))
    load = _load(program)
    if not load:
        return {"label": label}
    return {"annealed": annealed_order(program.qubits, tuple(load), tuple(load.values()), look), "label": label}


def _load(program: Program) -> dict[tuple[int, int], int]:
    """Bits that the gates on each pair of qubits can add to a bond between them, from this start."""
    load: dict[tuple[int, int], int] = {}
    bits = dict(enumerate(basis_start(program)))  # the bits of qubits that are still in their basis state
    for gate in effective_ops(program):
        first, last = gate.qubits[0], gate.qubits[-1]
        if gate.kind == XY:
            if first in bits and last in bits and bits[first] == bits[last]:
                continue  # 00 and 11 stay
            bits.pop(first, None)
            bits.pop(last, None)
        elif gate.kind == RZ or first in bits or last in bits:
            continue  # R_ZZ with a known bit is an R_Z
        edge = (min(first, last), max(first, last))
        load[edge] = load.get(edge, 0) + BITS[gate.kind]
    return load


@lru_cache(maxsize=64)
def annealed_order(
    qubits: int, edges: tuple[tuple[int, int], ...], bits: tuple[int, ...], look: StopCheck = never_stop
) -> Order:
    """The order in which the bonds are crossed least, by annealing from the label and the reverse Cuthill–McKee order.

    The cost is that of the widest bonds: log2 Σ 2^(1.5·bits across a bond). Many walkers move at once, each by taking a
    qubit elsewhere or turning a stretch around; a fixed seed makes the order a function of the circuit's graph.
    """
    rng = np.random.default_rng(0)
    ends, weights = np.array(edges), np.array(bits, dtype=np.float64)
    begins = np.array([np.arange(qubits), cuthill_mckee(qubits, ends)])
    orders = begins[np.arange(WALKERS) % 2]
    costs = _costs(orders, ends, weights)
    best_cost, best = costs.min(), orders[costs.argmin()]
    steps = STEPS_PER_QUBIT * qubits
    for step in range(steps):
        look()
        temperature = HOTTEST * (COLDEST / HOTTEST) ** (step / steps)
        proposals = _moved(orders, rng)
        moved_costs = _costs(proposals, ends, weights)
        accepted = moved_costs <= costs - temperature * np.log(rng.random(WALKERS))
        orders = np.where(accepted[:, None], proposals, orders)
        costs = np.where(accepted, moved_costs, costs)
        if costs.min() < best_cost:
            best_cost, best = costs.min(), orders[costs.argmin()]
    return tuple(best.tolist())


def cuthill_mckee(qubits: int, ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Qubits in reverse Cuthill–McKee order of a graph of (edges, 2) ends: joined qubits stand close together."""
    from scipy.sparse import csr_array  # slow to load
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    rows, columns = np.concatenate([ends, ends[:, ::-1]]).T
    graph = csr_array((np.ones(len(rows)), (rows, columns)), shape=(qubits, qubits))
    return reverse_cuthill_mckee(graph, symmetric_mode=True).astype(np.int64)


def _moved(orders: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """A neighbour of each order: one qubit taken elsewhere, mostly near, or a stretch turned around."""
    walkers, n = orders.shape
    kind = rng.random((walkers, 1))
    source, target = rng.integers(n, size=(2, walkers, 1))
    near = np.clip(source + rng.integers(-3, 4, size=(walkers, 1)), 0, n - 1)
    target = np.where(kind < 0.6, near, target)
    keys = np.tile(np.arange(n, dtype=np.float64), (walkers, 1))
    inserted = np.where(keys == source, target + 0.5 * np.sign(target - source), keys)
    low, high = np.minimum(source, target), np.maximum(source, target)
    turned = np.where((keys >= low) & (keys <= high), low + high - keys, keys)
    keys = np.where(kind > 0.85, turned, inserted)
    return np.take_along_axis(orders, np.argsort(keys, axis=1), axis=1)


def _costs(orders: NDArray[np.int64], ends: NDArray[np.int64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cost of each order."""
    walkers, n = orders.shape
    places = np.empty_like(orders)
    np.put_along_axis(places, orders, np.arange(n)[None, :], axis=1)
    here, there = places[:, ends[:, 0]], places[:, ends[:, 1]]
    first, last = np.minimum(here, there), np.maximum(here, there)
    stretch = np.arange(walkers)[:, None] * n  # each walker counts in a stretch of its own
    places_met = np.concatenate([stretch + first, stretch + last])
    load = np.concatenate([np.tile(weights, (walkers, 1)), np.tile(-weights, (walkers, 1))])
    openings = np.bincount(places_met.ravel(), load.ravel(), walkers * n)
    across = np.cumsum(openings.reshape(walkers, n), axis=1)[:, :-1]
    widest = across.max(axis=1)
    return 1.5 * widest + np.log2(np.exp2(1.5 * (across - widest[:, None])).sum(axis=1))
