"""Where the groups of a register go: connected parts of its tree, so that each has a mixer of its own.

Every part is cut off by one edge, together with some positions to spare; leaves of the part are given up until it has
the size of its group. Spare positions hold the items that the rules settle, which have no gate at all.
"""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from biselect.core.rules import Blocks
from biselect.errors import InputError
from biselect.options import spell
from biselect_quantum.devices.device_errors import Edge

SETTLED = -1
TRIES = 20_000  # cuts looked at before a tree counts as one that cannot be cut

Graph = dict[int, set[int]]


class UncutTreeError(InputError):
    """A register's tree has no connected parts of the sizes that the groups want."""


def block_labels(
    edges: Sequence[Edge], n: int, blocks: Blocks, reserved: Collection[int], what: str
) -> NDArray[np.int64]:
    """The block of each of `n` positions joined by the edges of a tree, -1 for those of settled items.

    Args:
        edges: the register's tree.
        n: how many positions it has.
        blocks: what the rules leave.
        reserved: positions that settled items should not take where others will do: the ends of cross edges.
        what: the register, for the error.

    >>> block_labels([(0, 1), (1, 2), (2, 3)], 4, Blocks(always=(0,), parts=(((1, 2, 3), 1),)), {0}, "sample").tolist()
    [0, 0, 0, -1]
    """
    graph: Graph = {position: set() for position in range(n)}
    for i, j in edges:
        graph[i].add(j)
        graph[j].add(i)
    sizes = [len(members) for members, _ in blocks.parts]
    order = sorted(range(len(sizes)), key=lambda number: -sizes[number])
    parts = _parts(frozenset(graph), [sizes[number] for number in order], graph, set(reserved), [TRIES])
    if parts is None:
        raise UncutTreeError(
            f"the {what} register's tree cannot be cut into joined groups of {' and '.join(map(str, sizes))} qubits; "
            f"take {spell(registers='paths')}, which can be cut anywhere"
        )
    labels = np.full(n, SETTLED, dtype=np.int64)
    for number, part in zip(order, parts, strict=True):
        labels[list(part)] = number
    return labels


def item_labels(n: int, blocks: Blocks) -> NDArray[np.int64]:
    """The block of each item, -1 for settled ones."""
    labels = np.full(n, SETTLED, dtype=np.int64)
    for number, (members, _) in enumerate(blocks.parts):
        labels[list(members)] = number
    return labels


def _parts(
    room: frozenset[int], sizes: list[int], graph: Graph, reserved: set[int], tries: list[int]
) -> list[set[int]] | None:
    """Disjoint connected parts of a connected room, one of each size; None where none were found."""
    if not sizes:
        return []
    if len(sizes) == 1:
        return [_peeled(set(room), sizes[0], graph, reserved)]
    spare = len(room) - sum(sizes)
    cuts = [(len(side) - sizes[0], sorted(side)) for side in _sides(room, graph)]
    for over, cut in sorted(cuts):
        if 0 <= over <= spare and tries[0] > 0:
            tries[0] -= 1
            rest = _parts(room - set(cut), sizes[1:], graph, reserved, tries)
            if rest is not None:
                return [_peeled(set(cut), sizes[0], graph, reserved), *rest]
    return None


def _sides(room: frozenset[int], graph: Graph) -> list[set[int]]:
    """Both sides of every edge of a tree."""
    sides = []
    for here in sorted(room):
        for there in sorted(graph[here] & room):
            side, border = {here}, [here]
            while border:
                for position in graph[border.pop()] & room:
                    if position not in side and position != there:
                        side.add(position)
                        border.append(position)
            sides.append(side)
    return sides


def _peeled(part: set[int], size: int, graph: Graph, reserved: set[int]) -> set[int]:
    """A connected part without so many leaves, those that nobody wants first."""
    while len(part) > size:
        leaves = [position for position in part if len(graph[position] & part) <= 1]
        part = part - {min(leaves, key=lambda position: (position in reserved, -position))}
    return part
