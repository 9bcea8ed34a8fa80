"""The order in which mixer edges act, and a start that suits it, chosen for a device.

XY on edges that share a qubit do not commute, so another order is another ansatz. How well one can be trained is not
known beforehand; what it costs is.

**Colouring.** Phases stand between the last class of one layer's mixer and the first of the next. Where the ends of
every cross edge are free in the last class, its RZZ runs in parallel with that class and a layer takes no longer than
its mixer.

**Order.** While bits of the start are known, edges between equal ones need no gate and edges between different ones
half of them, so an order decides how many gates the first layers take, and which chain of gates is the longest. An
order is taken under which a shot is expected to err least: by its two-qubit gates, and by decay for as long as the
circuit takes. Gates that are saved must not be mixing that is missed. If every edge exchanged its ends half of the
time, the chances of a one would go n_a, n_b → (n_a + n_b)/2 edge by edge; how far they end from an even spread says how
well an order mixes. Only orders that mix at least as well as the plain colouring are looked for.

**Start.** A mixer on the edges of a device moves a one by few qubits a layer. From a start whose ones stand close
together most choices, and the best one among them, have no amplitude at all. Phases change nothing about that, and
neither do angles; so the start is the one that reaches the most choices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError
from biselect_quantum.circuits.mixers import Classes, colour_edges
from biselect_quantum.circuits.spec import AnsatzSpec
from biselect_quantum.circuits.starts import Choice
from biselect_quantum.devices._y_frame import Gate
from biselect_quantum.simulate.layers import Register
from biselect_quantum.simulate.program import RZZ, XY, Edge, Op, Program

if TYPE_CHECKING:
    from qiskit.transpiler import Target


TRIES = 20_000  # steps of the search before the plain colouring is taken


def colour_registers(
    samples: Iterable[Edge], features: Iterable[Edge], cross: Iterable[Edge]
) -> tuple[Classes, Classes]:
    """Classes of both mixers that leave room for the cross edges, pairs (sample position, feature position)."""
    mixers, pairs = (list(samples), list(features)), list(cross)
    most = max(max(_degrees(mixer).values(), default=0) for mixer in mixers)
    first, second = (colour_beside(mixers[side], sorted({pair[side] for pair in pairs}), most) for side in (0, 1))
    return first, second


def colour_beside(edges: Iterable[Edge], crossed: Iterable[int], colours: int = 0) -> Classes:
    """Classes of disjoint edges, the last of which avoids as many of the crossed qubits as the search manages.

    Crossed qubits have a cost edge to the other register. The classes are as many as the largest degree, or `colours`
    where that is more.

    >>> colour_beside([(0, 1), (1, 2), (1, 3)], crossed=[0, 2])
    (((0, 1),), ((1, 2),), ((1, 3),))
    """
    listed = sorted({(min(i, j), max(i, j)) for i, j in edges})
    degrees = _degrees(listed)
    count = max(colours, *degrees.values(), 0)
    avoiding = [q for q in dict.fromkeys(crossed) if degrees[q] < count]
    while avoiding:
        colours_of = _search(_outwards(listed, avoiding), set(avoiding), count)
        if colours_of is not None:
            classes = (tuple(edge for edge in listed if colours_of[edge] == colour) for colour in range(count))
            return tuple(edges for edges in classes if edges)
        avoiding = avoiding[: len(avoiding) // 2]
    return colour_edges(listed, 1 + max(degrees, default=0))


def recoloured(program: Program) -> Program:
    """The program with its mixer in the classes of `colour_registers`. Another ansatz; `Program.mixer` says which."""
    n = program.n_samples
    mixing = program.edges(XY)
    samples, features = colour_registers(
        [edge for edge in mixing if max(edge) < n],
        [(i - n, j - n) for i, j in mixing if min(i, j) >= n],
        [(min(edge), max(edge) - n) for edge in program.edges(RZZ)],
    )
    colours = {frozenset(edge): colour for colour, edges in enumerate(samples) for edge in edges}
    colours |= {frozenset((i + n, j + n)): colour for colour, edges in enumerate(features) for i, j in edges}

    def rank(op: Op) -> tuple[int, ...]:
        return (colours[frozenset(op.qubits)], *op.qubits) if op.kind == XY else (-1,)  # phases first, as they stand

    return replace(program, layers=tuple(tuple(sorted(layer, key=rank)) for layer in program.layers))


def _degrees(edges: Iterable[Edge]) -> Counter[int]:
    return Counter(end for edge in edges for end in edge)


def _outwards(edges: Sequence[Edge], seeds: Sequence[int]) -> list[Edge]:
    """Edges by their distance from the seeds: the most bound ones first."""
    reached, remaining, ordered = set(seeds), list(edges), []
    while remaining:
        near = [edge for edge in remaining if reached.intersection(edge)] or remaining[:1]
        ordered += near
        reached.update(end for edge in near for end in edge)
        remaining = [edge for edge in remaining if edge not in set(near)]
    return ordered


def _search(edges: Sequence[Edge], avoiding: set[int], count: int) -> dict[Edge, int] | None:
    """A proper colouring whose last colour avoids the wanted qubits, by depth-first search."""
    colours: list[int] = []
    colours_at: dict[int, set[int]] = {end: set() for edge in edges for end in edge}
    first = 0  # colour to try next for the edge at hand
    for _ in range(TRIES):
        if len(colours) == len(edges):
            return dict(zip(edges, colours, strict=True))
        i, j = edges[len(colours)]
        most = count - 1 if i in avoiding or j in avoiding else count
        colour = next((c for c in range(first, most) if c not in colours_at[i] and c not in colours_at[j]), None)
        if colour is not None:
            colours.append(colour)
            colours_at[i].add(colour)
            colours_at[j].add(colour)
            first = 0
        elif colours:
            back = colours.pop()
            i, j = edges[len(colours)]
            colours_at[i].discard(back)
            colours_at[j].discard(back)
            first = back + 1
        else:
            return None
    return None


STEPS = 400  # of a walk, for every mixer edge
HOT, COLD = 0.02, 0.0002  # temperatures, in expected errors
MISSED = 1.0  # expected errors that a unit of missed spread counts as
UNRECORDED = 1e-3  # error of a gate that the device recorded none for
DECAY = 4e3  # 1/seconds of a qubit whose T1 and T2 are unknown

Order = NDArray[np.int64]


class OrderCosts(NamedTuple):
    """What the compiled walk needs to know of a circuit on a device.

    Attributes:
        layers: p.
        edges: (edges, 2): the mixer's.
        meeting: (pairs, 2): edges that share a qubit.
        seconds: of one two-qubit gate on each edge.
        errors: of the same.
        cross: (cross edges, 2): ends of the phases between registers.
        cross_seconds: of their gates.
        cross_errors: of the same.
        pulse: seconds of a single-qubit gate.
        decay: errors a second of all qubits together.
        even: chance of a one on each qubit, were the ones of its part of the mixer spread evenly.
    """

    layers: int
    edges: NDArray[np.int64]
    meeting: NDArray[np.int64]
    seconds: NDArray[np.float64]
    errors: NDArray[np.float64]
    cross: NDArray[np.int64]
    cross_seconds: NDArray[np.float64]
    cross_errors: NDArray[np.float64]
    pulse: float
    decay: float
    even: NDArray[np.float64]


def choose_order(program: Program, target: Target, layout: Sequence[int], *, seed: int = 0) -> Program:
    """The program with its mixer in the order found: another ansatz, and `Program.mixer` says which.

    Args:
        program: from a basis state.
        target: the device.
        layout: the physical qubit of each logical one.
        seed: fixes the walk.
    """
    return choose_start([program], target, layout, seed=seed)


def choose_start(programs: Sequence[Program], target: Target, layout: Sequence[int], *, seed: int = 0) -> Program:
    """The one of several programs, alike but for their starts, whose circuit is cheapest, its mixer in order.

    None is taken that spreads its start less evenly than the plain colouring does with the middle one of the starts.
    """
    from biselect_quantum.devices._order_kernels import anneal_order, follow_order  # compiles on first use

    plain = [recoloured(program) for program in programs]
    if any(program.bits is None for program in plain):
        raise InputError("an order is chosen for a basis state; a Dicke start has no known bits")
    bits = [np.array(program.bits, dtype=np.int64) for program in plain]
    all_costs = [_costs(program, target, layout) for program in plain]
    first: Order = np.arange(len(all_costs[0].edges))
    uneven = [follow_order(costs, start, first)[2] for costs, start in zip(all_costs, bits, strict=True)]
    bound = float(np.median(uneven))
    steps = STEPS * first.size if len(all_costs[0].meeting) else 0
    temperatures = HOT * (COLD / HOT) ** (np.arange(steps) / max(steps, 1))
    candidates = []
    for number, (costs, start) in enumerate(zip(all_costs, bits, strict=True)):
        state = np.random.default_rng([seed, number]).integers(0, 2**63, size=1).astype(np.uint64)
        order, price = anneal_order(costs, start, first.copy(), bound, MISSED, temperatures, state)
        candidates.append((price, number, order))
    _, number, order = min(candidates, key=lambda each: each[:2])
    return _reordered(plain[number], all_costs[number].edges[order].tolist())


def _reordered(program: Program, edges: Iterable[Sequence[int]]) -> Program:
    rank = {frozenset(edge): place for place, edge in enumerate(edges)}

    def place(op: Op) -> int:
        return rank[frozenset(op.qubits)] if op.kind == XY else -1  # phases first, as they stand

    return replace(program, layers=tuple(tuple(sorted(layer, key=place)) for layer in program.layers))


def _costs(program: Program, target: Target, layout: Sequence[int]) -> OrderCosts:
    from biselect_quantum.devices._native_gates import lengths

    edges, cross = list(program.edges(XY)), list(program.edges(RZZ))
    length = lengths(target, layout)
    meeting = [(i, j) for i in range(len(edges)) for j in range(i) if set(edges[i]) & set(edges[j])]
    properties = target.qubit_properties or [None] * target.num_qubits
    decay = 0.0
    for place in layout:
        times = [getattr(properties[place], name, None) for name in ("t1", "t2")]
        decay += sum(1 / time if time else DECAY for time in times) / 2
    mixing, phasing = ["cz", "rzz", "rxx"], ["rzz", "rxx", "cz"]
    return OrderCosts(
        layers=len(program.layers),
        edges=_pairs(edges),
        meeting=_pairs(meeting),
        seconds=_seconds(edges, mixing, target, length),
        errors=_errors(edges, mixing, target, layout),
        cross=_pairs(cross),
        cross_seconds=_seconds(cross, phasing, target, length),
        cross_errors=_errors(cross, phasing[:2], target, layout),
        pulse=length(Gate(name="rx", qubits=(0,))),
        decay=decay,
        even=_even(program, edges),
    )


def _pairs(edges: Iterable[Edge]) -> NDArray[np.int64]:
    return np.array(list(edges), dtype=np.int64).reshape(-1, 2)


def _seconds(
    edges: Sequence[Edge], names: Sequence[str], target: Target, length: Callable[[Gate], float]
) -> NDArray[np.float64]:
    name = next((name for name in names if name in target.operation_names), names[0])
    return np.array([length(Gate(name=name, qubits=edge)) for edge in edges], dtype=np.float64)


def _errors(edges: Sequence[Edge], names: Sequence[str], target: Target, layout: Sequence[int]) -> NDArray[np.float64]:
    """The least recorded error of the gates that may stand on each edge."""
    least = []
    for i, j in edges:
        ways = ((layout[i], layout[j]), (layout[j], layout[i]))
        entries = [target[name].get(way) for name in names if name in target.operation_names for way in ways]
        errors = [entry.error for entry in entries if entry is not None and entry.error is not None]
        least.append(min(errors, default=UNRECORDED))
    return np.array(least, dtype=np.float64)


def _even(program: Program, edges: Sequence[Edge]) -> NDArray[np.float64]:
    """Mean bit of the part of the mixer that each qubit is in: no edge leads out of it."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    i, j = _pairs(edges).T
    adjacency = coo_array((np.ones(len(edges)), (i, j)), shape=(program.qubits,) * 2)
    _, part = connected_components(adjacency, directed=False)
    bits = np.array(program.bits, dtype=np.float64)
    return (np.bincount(part, bits) / np.bincount(part))[part]


DRAWS = 64  # starts that are compared
MOST_CHOICES = 20_000  # of one register


def far_reaching(spec: AnsatzSpec, seed: int | np.random.Generator | None = 0) -> Choice:
    """Of some random starts the one that reaches the most choices; of a register with too many choices, the first."""
    rng = np.random.default_rng(seed)
    samples, features = (_start(register, spec.depth, rng) for register in spec.registers)
    return samples, features


def _start(register: Register, depth: int, rng: np.random.Generator) -> list[int]:
    subsets = register.subsets
    draws = rng.permutation(len(subsets))[:DRAWS]
    if len(subsets) > MOST_CHOICES:
        return subsets[draws[0]].tolist()
    return subsets[draws[reached(register, depth, draws).sum(axis=1).argmax()]].tolist()


def reached(register: Register, depth: int, starts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(start, choice): whether layers of mixing lead from one to the other."""
    choices = np.zeros((len(register.subsets), register.n), dtype=bool)
    np.put_along_axis(choices, register.subsets, True, axis=1)
    result = starts[:, None] == np.arange(len(choices))
    for i, j in [edge for edges in register.classes for edge in edges] * depth:
        exchanged = choices.copy()
        exchanged[:, [i, j]] = exchanged[:, [j, i]]
        there = register.position(np.nonzero(exchanged)[1].reshape(register.subsets.shape))
        result |= result[:, there]
    return result
