"""Mixer graphs of one register, cut into classes of disjoint edges.

U_M(β) is an ordered product of exp(-iβ(XX+YY)/2) (Eq. block_mixer_product): class 0 acts on the state first, then
class 1, and so on; within a class the edges commute. The order is part of the ansatz. Where rules cut a register into
blocks, a named mixer stands in each of them, and no edge leads from one to another or to an item that is settled.
"""

from collections.abc import Callable, Iterable
from itertools import chain, cycle, pairwise, zip_longest
from numbers import Integral
from operator import index
from typing import Any

from biselect.core.rules import Blocks
from biselect.errors import InputError
from biselect_quantum.simulate.program import Classes as Classes
from biselect_quantum.simulate.program import Edge as Edge


def mixer_classes(mixer: Any, n: int) -> Classes:
    """Edge classes of a named mixer, of a list of edges (coloured here) or of a list of classes.

    >>> mixer_classes("ring", 5)
    (((0, 1), (2, 3)), ((1, 2), (3, 4)), ((4, 0),))
    """
    if isinstance(mixer, str):
        if mixer not in MIXERS:
            if mixer == GROVER:
                raise InputError(f"mixer {GROVER!r} turns both registers at once and has no edges; give it alone")
            names = ", ".join(MIXERS)
            raise InputError(f"mixer must be one of {names}, {GROVER}, or a list of edges or classes; got {mixer!r}")
        return MIXERS[mixer](n)
    try:
        nested = [[tuple(map(index, entry)) for entry in group] for group in mixer]
        classes = tuple(tuple((i, j) for i, j in group) for group in nested)
    except TypeError:  # a flat list of edges
        try:
            pairs = [(index(i), index(j)) for i, j in mixer]
        except (TypeError, ValueError):
            raise InputError(f"mixer edges must be pairs of whole numbers, got {mixer!r}") from None
        classes = colour_edges(pairs, n)
    except ValueError:
        raise InputError(f"a mixer must be a name, a list of edges or a list of classes; got {mixer!r}") from None
    for edges in classes:
        ends = [end for edge in edges for end in edge]
        if any(not 0 <= end < n for end in ends) or any(i == j for i, j in edges):
            raise InputError(f"mixer edges must join two different qubits of 0..{n - 1}, got {list(edges)}")
        if len(set(ends)) != len(ends):
            raise InputError(f"edges of a mixer class must not share a qubit, got {list(edges)}")
    return _without_empty(classes)


def block_classes(mixer: Any, n: int, blocks: Blocks) -> Classes:
    """Edge classes of a mixer that keeps the blocks: a named one inside each, or given edges that stay inside.

    >>> block_classes("path", 5, Blocks(always=(1,), parts=(((0, 2), 1), ((3, 4), 1))))
    (((0, 2), (3, 4)),)
    """
    if not isinstance(mixer, str) or mixer not in MIXERS:
        classes = mixer_classes(mixer, n)
        block_of = {item: number for number, (members, _) in enumerate(blocks.parts) for item in members}
        for i, j in (edge for edges in classes for edge in edges):
            if i not in block_of or block_of[i] != block_of.get(j):
                fixed_ends = [end for end in (i, j) if end not in block_of]
                why = f"{fixed_ends[0]} is settled by the rules" if fixed_ends else "its ends stand in two groups"
                raise InputError(f"mixer edge ({i}, {j}) would break the rules: {why}; leave it out")
        return classes
    parts = [
        [tuple((members[i], members[j]) for i, j in edges) for edges in MIXERS[mixer](len(members))]
        for members, _ in blocks.parts
    ]
    return tuple(tuple(chain.from_iterable(edges)) for edges in zip_longest(*parts, fillvalue=()))


def edges_inside(edges: Iterable[Edge], blocks: Blocks) -> tuple[Edge, ...]:
    """The edges that stay inside a block."""
    block_of = {item: number for number, (members, _) in enumerate(blocks.parts) for item in members}
    return tuple((i, j) for i, j in edges if i in block_of and block_of[i] == block_of.get(j))


def both_mixers(mixer: Any) -> tuple[Any, Any]:
    """The mixers of both registers: a pair (samples, features) of mixers, or one for both.

    A pair is a tuple of two, neither of which is itself an edge.
    """
    is_pair = isinstance(mixer, tuple) and len(mixer) == 2
    if is_pair and not any(isinstance(end, Integral) for part in mixer if not isinstance(part, str) for end in part):
        return mixer[0], mixer[1]
    return mixer, mixer


def path(n: int) -> Classes:
    """0-1-2-…: even edges, then odd ones."""
    return _without_empty((_steps(0, n), _steps(1, n)))


def ring(n: int) -> Classes:
    """A closed path. Even n: two classes; odd n: the closing edge is a third."""
    if n < 3:
        return path(n)
    closing = ((n - 1, 0),)
    even, odd = _steps(0, n), _steps(1, n)
    return (even, odd + closing) if n % 2 == 0 else (even, odd, closing)


def complete(n: int) -> Classes:
    """All pairs, by the round-robin schedule: n - 1 classes for even n, n for odd."""
    players: list[int | None] = [*range(n), *([None] if n % 2 else [])]  # None: a bye
    size = len(players)
    classes = []
    for _ in range(size - 1):
        pairs = [(players[i], players[size - 1 - i]) for i in range(size // 2)]
        classes.append(tuple((min(a, b), max(a, b)) for a, b in pairs if a is not None and b is not None))
        players = [players[0], players[-1], *players[1:-1]]
    return _without_empty(tuple(classes))


GROVER = "grover"  # the mixer without edges: exp(-iβ|s⟩⟨s|)
MIXERS: dict[str, Callable[[int], Classes]] = {"ring": ring, "path": path, "complete": complete}


def colour_edges(edges: Iterable[Edge], n: int) -> Classes:
    """Proper edge colouring; a bipartite graph gets as many classes as its largest degree.

    Edges are coloured one by one. Where the two ends have no free colour in common, the path that alternates between
    a colour free at one end and a colour free at the other is flipped, which frees one (it cannot come back to the
    first end in a bipartite graph; elsewhere a new colour is opened instead).
    """
    colour_at: list[dict[int, int]] = [{} for _ in range(n)]  # qubit → colour → neighbour
    listed = sorted({(min(i, j), max(i, j)) for i, j in edges})
    for i, j in listed:
        if not 0 <= i < j < n:
            raise InputError(f"mixer edge ({i}, {j}) does not join two of the qubits 0..{n - 1}")
        at_i, at_j = _free(colour_at[i]), _free(colour_at[j])
        colour = at_i
        if colour in colour_at[j]:
            chain = _chain(colour_at, j, at_i, at_j)
            if i in chain:
                while colour in colour_at[i] or colour in colour_at[j]:
                    colour += 1
            else:
                _flip(colour_at, chain, at_i, at_j)
        colour_at[i][colour], colour_at[j][colour] = j, i
    count = max((max(partners, default=-1) for partners in colour_at), default=-1) + 1
    return tuple(
        tuple(
            (q, partners[colour]) for q, partners in enumerate(colour_at) if colour in partners and q < partners[colour]
        )
        for colour in range(count)
    )


def _steps(first: int, n: int) -> tuple[Edge, ...]:
    return tuple((i, i + 1) for i in range(first, n - 1, 2))


def _without_empty(classes: Classes) -> Classes:
    return tuple(edges for edges in classes if edges)


def _free(partners: dict[int, int]) -> int:
    return next(colour for colour in range(len(partners) + 1) if colour not in partners)


def _chain(colour_at: list[dict[int, int]], start: int, first: int, second: int) -> list[int]:
    """Qubits met from `start` along edges of the two colours in turn."""
    chain, colour = [start], first
    while colour in colour_at[chain[-1]]:
        chain.append(colour_at[chain[-1]][colour])
        colour = second if colour == first else first
    return chain


def _flip(colour_at: list[dict[int, int]], chain: list[int], first: int, second: int) -> None:
    """Exchange the two colours along a chain that starts with an edge of the first."""
    turns = list(zip(pairwise(chain), cycle([(first, second), (second, first)]), strict=False))
    for (a, b), (old, _) in turns:
        del colour_at[a][old], colour_at[b][old]
    for (a, b), (_, new) in turns:
        colour_at[a][new], colour_at[b][new] = b, a
