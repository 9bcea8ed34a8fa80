"""Index tables of one register for the compiled kernels.

A class is a set of disjoint edges. An edge only acts where exactly one of its two qubits is 1; a basis state with P
such edges belongs to a hypercube of 2^P states that mix among themselves and with nobody else. The kernel does a
hypercube in registers, which limits P; so a class is done in stages, each state's first few acting edges in the first,
its next few in the second, and few states have work in the last. A stage is stored as its hypercubes, sorted by P.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from biselect_quantum.simulate.layers import Edges, Register
from biselect_quantum.simulate.limits import NEVER, Stop, check_stop


class Tables(NamedTuple):
    """What the kernels need to know of a register.

    A group is a stretch of basis states that differ in their tails only, which are their smallest elements.
    """

    dimension: int  # number of basis states
    cubes: NDArray[np.int32]  # row numbers of all hypercubes, flat
    spans: NDArray[np.int64]  # (stages, limit + 1): where those with P = 1, 2, … begin in `cubes`, where the stage ends
    tails: NDArray[np.int64]  # the items of every tail there is, (tails, 1 or 2)
    tail_of: NDArray[np.int64]  # which of them each basis state has
    group_count: NDArray[np.int64]  # how many basis states each group has
    group_rest: NDArray[np.int64]  # a group's elements beside the tail, largest first, (groups, chosen - tail)
    group_shared: NDArray[np.int64]  # how many leading entries of `group_rest` are the same as in the group before


def make_tables(register: Register, limit: int, tail: int = 1, stop: Stop = NEVER) -> Tables:
    """Tables of a register, with at most `limit` acting edges in a hypercube and tails of at most `tail` elements.

    Short groups spend their time on the product of the rest, so pairs are better where something is left beside them.
    """
    tail = tail if register.ones > tail else 1
    basis = register.subsets
    occupied = np.zeros((len(basis), register.n), dtype=bool)
    np.put_along_axis(occupied, basis, True, axis=1)
    cubes: list[NDArray[np.int32]] = []
    spans = []
    place = 0
    for edges in register.classes:
        acting = np.array([occupied[:, i] != occupied[:, j] for i, j in edges]).T
        number = np.cumsum(acting, axis=1) - 1  # of an acting edge among those of its state
        for first in range(0, max(1, int(acting.sum(axis=1).max())), limit):
            span = [place]
            active = acting & (number >= first) & (number < first + limit)
            for parts in _hypercubes(register, occupied, active, edges, limit, stop):
                cubes.append(parts.ravel())
                place += parts.size
                span.append(place)
            spans.append(span)
    return Tables(
        dimension=len(basis),
        cubes=np.concatenate(cubes) if cubes else np.empty(0, dtype=np.int32),
        spans=np.array(spans, dtype=np.int64).reshape(-1, limit + 1),
        **_groups(basis, tail),
    )


def phase_cubes(tables: Tables, register: Register) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The first stage for P = 0, 1, …: its hypercubes, and the items that the phases of their states are made of.

    P = 0 are the states that the stage leaves alone. Of a hypercube (a row of 2^P states) the items are those that its
    edges move, those that stay, and where the first ones move to: `chosen` + P of them.
    """
    limit = tables.spans.shape[1] - 1
    span = tables.spans[0] if len(tables.spans) else np.zeros(limit + 1, dtype=np.int64)
    cubes = [tables.cubes[span[p - 1] : span[p]].reshape(-1, 2**p).astype(np.int64) for p in range(1, limit + 1)]
    alone = np.setdiff1d(np.arange(tables.dimension), np.concatenate([cube.ravel() for cube in cubes]))
    holds = np.zeros((tables.dimension, register.n), dtype=bool)
    np.put_along_axis(holds, register.subsets, True, axis=1)
    cubes_of = []
    for p, states in enumerate([alone[:, None], *cubes]):
        corner = holds[states[:, 0]]
        holding = [holds[states[:, 1 << e]] for e in range(p)]
        leave = [corner & ~other for other in holding]
        stay = corner & ~np.any([np.zeros_like(corner), *leave], axis=0)
        parts = [*leave, stay, *(other & ~corner for other in holding)]
        items = [np.nonzero(part)[1].reshape(len(states), -1) for part in parts] if len(states) else []
        cubes_of.append((states, np.hstack(items) if items else np.empty((0, register.ones + p), dtype=np.int64)))
    return cubes_of


def _hypercubes(
    register: Register, occupied: NDArray[np.bool_], acting: NDArray[np.bool_], edges: Edges, limit: int, stop: Stop
) -> list[NDArray[np.int32]]:
    """For P = 1, 2, … the hypercubes as (count, 2^P) row numbers; bit e of the column number flips edge e."""
    at_first = np.array([occupied[:, i] for i, _ in edges]).T
    corner = (~acting | at_first).all(axis=1)  # one state of each hypercube has its ones at the first ends
    cubes = []
    for size in range(1, limit + 1):
        rows = np.flatnonzero(corner & (acting.sum(axis=1) == size))
        members = np.empty((rows.size, 2**size), dtype=np.int32)
        active = np.nonzero(acting[rows])[1].reshape(rows.size, size)
        ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
        for corner_bits in range(2**size):
            check_stop(stop)
            bits = occupied[rows].copy()
            for e in range(size):
                if corner_bits >> e & 1:
                    edge = ends[active[:, e]]
                    bits[np.arange(rows.size), edge[:, 0]] = False
                    bits[np.arange(rows.size), edge[:, 1]] = True
            items = np.nonzero(bits)[1].reshape(rows.size, register.ones)
            members[:, corner_bits] = register.position(items)
        cubes.append(members)
    return cubes


def _groups(basis: NDArray[np.int64], tail: int) -> dict[str, NDArray[np.int64]]:
    rest = basis[:, tail:][:, ::-1]  # largest first
    starts = np.flatnonzero(np.r_[True, (rest[1:] != rest[:-1]).any(axis=1)])
    heads = rest[starts]
    same = np.cumprod(heads[1:] == heads[:-1], axis=1).sum(axis=1)
    turned, tail_of = np.unique(basis[:, :tail][:, ::-1], axis=0, return_inverse=True)  # in the order of basis states
    return {
        "tails": np.ascontiguousarray(turned[:, ::-1]),
        "tail_of": tail_of.reshape(-1).astype(np.int64),
        "group_count": np.diff(np.r_[starts, len(basis)]),
        "group_rest": np.ascontiguousarray(heads),
        "group_shared": np.r_[0, same].astype(np.int64),
    }
