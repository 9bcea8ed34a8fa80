"""Mixer edges coloured so that cost gates can run at the same time as the last colour.

Phases stand between the last class of one layer's mixer and the first of the next. Where the ends of every cross edge
are free in the last class, its RZZ runs in parallel with that class and a layer takes no longer than its mixer.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from biselect_quantum.circuits.mixers import Classes, Edge, colour_edges
from biselect_quantum.simulate.program import RZZ, XY, Op, Program

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
    wanted = [q for q in dict.fromkeys(crossed) if degrees[q] < count]
    while wanted:
        found = _search(_outwards(listed, wanted), set(wanted), count)
        if found is not None:
            classes = (tuple(edge for edge in listed if found[edge] == colour) for colour in range(count))
            return tuple(edges for edges in classes if edges)
        wanted = wanted[: len(wanted) // 2]
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
