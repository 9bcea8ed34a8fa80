"""Where to draw a device's qubits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biselect.hardware.calibration import calibration
from biselect.hardware.lattice import square_positions

if TYPE_CHECKING:
    from qiskit.transpiler import Target

Place = tuple[float, float]  # row, column

HERON_ROWS, HERON_COLUMNS = 8, 16
BRIDGES = (
    (3, 7, 11, 15),
    (1, 5, 9, 13),
)  # columns of the qubits between an even row and the next, and after an odd one
SPREAD = 1.2  # of a drawn graph, in units of the root of its size


def positions_of(target: Target) -> list[Place]:
    """Row and column of each qubit: of a lattice we know, if its edges agree, else by springs along the edges."""
    edges = list(calibration(target).edge_costs)
    for places in (heron_positions(), [(float(row), float(column)) for row, column in square_positions()]):
        if len(places) == target.num_qubits and all(_adjacent(places[here], places[there]) for here, there in edges):
            return places
    return _springs(target.num_qubits, edges)


def heron_positions() -> list[Place]:
    """IBM's heavy-hex lattice of 156 qubits, row by row."""
    places: list[Place] = []
    for row in range(HERON_ROWS):
        places += [(2.0 * row, float(column)) for column in range(HERON_COLUMNS)]
        if row < HERON_ROWS - 1:
            places += [(2.0 * row + 1, float(column)) for column in BRIDGES[row % 2]]
    return places


def _adjacent(place: Place, other: Place) -> bool:
    return abs(place[0] - other[0]) + abs(place[1] - other[1]) == 1


def _springs(qubits: int, edges: list[tuple[int, int]]) -> list[Place]:
    import rustworkx  # comes with Qiskit

    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(qubits))
    graph.add_edges_from([(here, there, None) for here, there in edges])
    found = rustworkx.spring_layout(graph, seed=0, num_iter=500)
    scale = SPREAD * qubits**0.5 / 2
    return [(scale * (found[qubit][1] + 1), scale * (found[qubit][0] + 1)) for qubit in range(qubits)]
