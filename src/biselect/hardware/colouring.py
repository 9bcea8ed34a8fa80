"""Mixer and cost edges scheduled together.

Phases stand between the last class of one layer's mixer and the first of the next. Where the ends of every cross edge
are free in the last class, its RZZ runs beside that class and a layer takes no longer than its mixer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from biselect.hardware.program import RZZ, XY, Program
from biselect.hardware.rewrite import coloured
from biselect.qaoa.mixers import Classes, Edge, colour_edges

TRIES = 20_000  # steps of the search before the plain colouring is taken


def colour_beside(edges: Iterable[Edge], n: int, crossed: Iterable[int], colours: int | None = None) -> Classes:
    """Classes of disjoint edges, the last of which avoids the crossed qubits wherever that can be had.

    Args:
        edges: the mixer of one register.
        n: its qubits.
        crossed: qubits that have a cost edge to the other register.
        colours: classes to use; as many as the largest degree by default.

    >>> colour_beside([(0, 1), (1, 2), (1, 3)], 4, crossed=[0, 2])
    (((0, 1),), ((1, 2),), ((1, 3),))
    """
    listed = sorted({(min(i, j), max(i, j)) for i, j in edges})
    degrees = [sum(q in edge for edge in listed) for q in range(n)]
    count = max(colours or 0, max(degrees, default=0))
    wanted = [q for q in dict.fromkeys(crossed) if degrees[q] < count]
    while wanted:
        found = _search(_outwards(listed, wanted), set(wanted), count)
        if found is not None:
            classes = (tuple(edge for edge in listed if found[edge] == colour) for colour in range(count))
            return tuple(edges for edges in classes if edges)
        wanted.pop()
    return colour_edges(listed, n)


def recoloured(program: Program) -> Program:
    """The program with its mixer in classes of disjoint edges, chosen beside its cost edges. Another ansatz."""
    n = program.n_samples
    crossed = {q for edge in program.edges(RZZ) for q in edge}
    order: dict[tuple[int, int], int] = {}
    registers = [
        (n, 0, [edge for edge in program.edges(XY) if max(edge) < n]),
        (program.n_features, n, [edge for edge in program.edges(XY) if min(edge) >= n]),
    ]
    most = max((_degree(edges) for _, _, edges in registers), default=0)
    for size, first, edges in registers:
        local = [(i - first, j - first) for i, j in edges]
        inside = sorted(q - first for q in crossed if first <= q < first + size)
        for colour, members in enumerate(colour_beside(local, size, inside, most)):
            for i, j in members:
                order[i + first, j + first] = order[j + first, i + first] = colour
    layers = tuple(tuple(coloured(layer, order)) for layer in program.layers)
    return replace(program, layers=layers)


def _degree(edges: Sequence[Edge]) -> int:
    ends = [end for edge in edges for end in edge]
    return max((ends.count(end) for end in set(ends)), default=0)


def _outwards(edges: Sequence[Edge], seeds: Sequence[int]) -> list[Edge]:
    """Edges by their distance from the seeds: the most bound ones first."""
    reached, left, ordered = set(seeds), list(edges), []
    while left:
        near = [edge for edge in left if reached.intersection(edge)] or left[:1]
        ordered += near
        reached.update(end for edge in near for end in edge)
        left = [edge for edge in left if edge not in set(near)]
    return ordered


def _search(edges: Sequence[Edge], wanted: set[int], count: int) -> dict[Edge, int] | None:
    """A proper colouring whose last colour avoids the wanted qubits, by depth-first search."""
    chosen: list[int] = []
    taken: dict[int, set[int]] = {end: set() for edge in edges for end in edge}
    first = 0  # colour to try next for the edge at hand
    for _ in range(TRIES):
        if len(chosen) == len(edges):
            return dict(zip(edges, chosen, strict=True))
        i, j = edges[len(chosen)]
        most = count - 1 if i in wanted or j in wanted else count
        colour = next((c for c in range(first, most) if c not in taken[i] and c not in taken[j]), None)
        if colour is not None:
            chosen.append(colour)
            taken[i].add(colour)
            taken[j].add(colour)
            first = 0
        elif chosen:
            back = chosen.pop()
            i, j = edges[len(chosen)]
            taken[i].discard(back)
            taken[j].discard(back)
            first = back + 1
        else:
            return None
    return None
