"""Loop-rich patches of a 156-qubit heavy-hex lattice, cut into two registers with many edges between them."""

from __future__ import annotations

import math
import random
from itertools import pairwise
from typing import NamedTuple

ROWS, COLUMNS = 8, 16
BRIDGES = ((3, 7, 11, 15), (1, 5, 9, 13))  # columns of the bridges below even and odd rows

Graph = dict[int, set[int]]


class Patch(NamedTuple):
    """Mixer edges of both registers and the edges between them, as (sample, feature) numbers."""

    sample_edges: list[tuple[int, int]]
    feature_edges: list[tuple[int, int]]
    cross_edges: list[tuple[int, int]]


def lattice() -> tuple[Graph, list[frozenset[int]]]:
    """The lattice, and its hexagons of twelve qubits."""
    number = {}
    for row in range(ROWS):
        for column in range(COLUMNS):
            number[row, column] = len(number)
        for column in BRIDGES[row % 2] if row < ROWS - 1 else ():
            number[row + 0.5, column] = len(number)
    graph: Graph = {qubit: set() for qubit in number.values()}
    for (row, column), qubit in number.items():
        neighbours = [(row, column + 1)] if row == int(row) else [(row - 0.5, column), (row + 0.5, column)]
        for place in neighbours:
            if place in number:
                graph[qubit].add(number[place])
                graph[number[place]].add(qubit)
    hexagons = []
    for row in range(ROWS - 1):
        columns = BRIDGES[row % 2]
        for left, right in pairwise(columns):
            sides = {number[row + 0.5, left], number[row + 0.5, right]}
            hexagons.append(frozenset(sides | {number[r, c] for r in (row, row + 1) for c in range(left, right + 1)}))
    return graph, hexagons


def loop_rich_patch(n_samples: int, n_features: int, seed: int) -> Patch:
    """Hexagons grown together to the size of both registers, then cut; L loops give up to L + 1 cross edges."""
    rng = random.Random(seed)
    graph, hexagons = lattice()
    size = n_samples + n_features
    chosen = max((_grown(graph, hexagons, size, rng) for _ in range(50)), key=lambda nodes: _edges(graph, nodes))
    part = {qubit: graph[qubit] & chosen for qubit in chosen}
    samples = _cut(part, n_samples, rng)
    label = {qubit: number for side in (samples, chosen - samples) for number, qubit in enumerate(sorted(side))}
    edges = [(a, b) for a in sorted(part) for b in sorted(part[a]) if a < b]
    cross = [(a, b) if a in samples else (b, a) for a, b in edges if (a in samples) != (b in samples)]
    return Patch(
        [(label[a], label[b]) for a, b in edges if a in samples and b in samples],
        [(label[a], label[b]) for a, b in edges if a not in samples and b not in samples],
        [(label[a], label[b]) for a, b in cross],
    )


def _grown(graph: Graph, hexagons: list[frozenset[int]], size: int, rng: random.Random) -> set[int]:
    nodes = set(rng.choice(hexagons))
    while touching := [face for face in hexagons if nodes & face and face - nodes and len(nodes | face) <= size]:
        fewest = min(len(face - nodes) for face in touching)
        nodes |= rng.choice([face for face in touching if len(face - nodes) == fewest])
    while len(nodes) < size:
        nodes.add(rng.choice(sorted({near for node in nodes for near in graph[node]} - nodes)))
    return nodes


def _edges(graph: Graph, nodes: set[int]) -> int:
    return sum(len(graph[node] & nodes) for node in nodes) // 2


def _cut(graph: Graph, n_samples: int, rng: random.Random) -> set[int]:
    """A connected part of `n_samples` qubits whose rest is connected, with many edges between: annealed exchanges."""
    everyone = set(graph)
    while True:
        side = set(rng.sample(sorted(everyone), 1))
        while len(side) < n_samples:
            side.add(rng.choice(sorted({near for node in side for near in graph[node]} - side)))
        cost = _cost(graph, side)
        for step in range(4000):
            give = rng.choice(sorted(node for node in side if graph[node] - side))
            take = rng.choice(sorted({near for node in side for near in graph[node]} - side))
            moved = (side - {give}) | {take}
            change = _cost(graph, moved) - cost
            if change <= 0 or rng.random() < math.exp(-change / (1.2 * (1 - step / 4000) + 0.02)):
                side, cost = moved, cost + change
        if _parts(graph, side) == _parts(graph, everyone - side) == 1:
            return side


def _cost(graph: Graph, side: set[int]) -> int:
    cross = sum(len(graph[node] - side) for node in side)
    return 4 * (_parts(graph, side) + _parts(graph, set(graph) - side)) - cross


def _parts(graph: Graph, nodes: set[int]) -> int:
    left, parts = set(nodes), 0
    while left:
        parts += 1
        edge = [left.pop()]
        while edge:
            near = graph[edge.pop()] & left
            left -= near
            edge += near
    return parts
