"""What a target's calibration says about each qubit and each edge, as expected errors of one shot.

A missing figure counts as the worst usable one of its kind, so that no qubit is preferred because its record is
incomplete; without any calibration all qubits are alike. What fails half of the time or more (IBM marks broken gates
with an error of 1), or lacks a gate or a readout, is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, dist, pi, sin
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError
from biselect_quantum.devices.targets import square_positions

if TYPE_CHECKING:
    from qiskit.transpiler import Target
    from rustworkx import PyGraph

FAULTY = 0.5
LAYERS = 2  # p of the circuits that errors are weighed for
PULSES = 4  # single-qubit gates of a qubit in one layer
LAYER_SECONDS = 600e-9  # of one layer on Heron
PASSIVE = ("delay", "reset", "id", "barrier")

HERON_ROWS, HERON_COLUMNS = 8, 16
BRIDGES = ((3, 7, 11, 15), (1, 5, 9, 13))  # columns of the qubits after an even row, and after an odd one
SPREAD = 1.2  # of a drawn graph, in units of the root of its size

Edge = tuple[int, int]
Place = tuple[float, float]  # row, column


class DeviceArrays(NamedTuple):
    """Neighbours of each qubit in ascending order, filled up with -1; costs of the qubits and of the edges to those."""

    neighbours: NDArray[np.int64]
    qubit_costs: NDArray[np.float64]
    edge_costs: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class DeviceErrors:
    """The usable graph of a device.

    Attributes:
        qubit_costs: expected errors of each qubit's gates, readout and decay; infinite where it is not usable.
        edge_costs: expected errors of one two-qubit gate a layer on each usable edge (lower number first).
    """

    qubit_costs: NDArray[np.float64]
    edge_costs: dict[Edge, float]

    @property
    def usable(self) -> list[int]:
        """Qubits that can be used."""
        return np.flatnonzero(np.isfinite(self.qubit_costs)).tolist()

    @property
    def joins_all_pairs(self) -> bool:
        """Whether every pair of usable qubits has an edge."""
        size = len(self.usable)
        return size > 2 and len(self.edge_costs) == size * (size - 1) // 2

    def arrays(self) -> DeviceArrays:
        """The usable graph for compiled walks."""
        graph = self.graph()
        near = [sorted(graph.neighbors(qubit)) for qubit in graph.node_indices()]
        shape = len(near), max(1, max(map(len, near)))
        table, costs = np.full(shape, -1), np.zeros(shape)
        for qubit, others in enumerate(near):
            table[qubit, : len(others)] = others
            costs[qubit, : len(others)] = [graph.get_edge_data(qubit, other) for other in others]
        usable = np.where(np.isfinite(self.qubit_costs), self.qubit_costs, 0.0)  # the others have no edges
        return DeviceArrays(neighbours=table, qubit_costs=usable, edge_costs=costs)

    def parts(self) -> list[list[int]]:
        """The connected parts of the usable graph, by their lowest qubit."""
        from rustworkx import connected_components

        parts = sorted(sorted(part) for part in connected_components(self.graph()))
        return [part for part in parts if np.isfinite(self.qubit_costs[part[0]])]

    def graph(self) -> PyGraph[int, float]:
        """All qubits, joined by the usable edges, each with its costs."""
        from rustworkx import PyGraph  # comes with Qiskit

        graph: PyGraph[int, float] = PyGraph()
        graph.add_nodes_from(range(len(self.qubit_costs)))
        graph.add_edges_from([(here, there, cost) for (here, there), cost in self.edge_costs.items()])
        return graph


def device_errors(target: Target) -> DeviceErrors:
    """The usable graph of a target, with its expected errors."""
    if "measure" not in target.operation_names:
        raise InputError("the target has no readout; give a device that can measure")
    readout = _errors(target, "measure")
    gates = [name for name in target.operation_names if name not in PASSIVE]
    singles = [_errors(target, name) for name in gates if _width(target, name) == 1]
    pairs = [_errors(target, name) for name in gates if _width(target, name) == 2 and None not in target[name]]
    if not pairs:
        raise InputError(
            "the target has no two-qubit gate on given pairs of qubits, so there is no patch to choose; "
            "give a device with a coupling map"
        )
    decay = LAYERS * LAYER_SECONDS * (_rates(target, "t1") + _rates(target, "t2")) / 2
    costs = np.full(target.num_qubits, np.inf)
    for qubit in range(target.num_qubits):
        place = (qubit,)
        figures = [errors.get(place, 1.0) for errors in (readout, *singles)]
        if max(figures) < FAULTY:
            costs[qubit] = decay[qubit] + readout[place] + LAYERS * PULSES * max(figures[1:], default=0.0)
    edges = sorted({(min(edge), max(edge)) for errors in pairs for edge in errors})
    worst = {edge: max(min(errors.get(way, 1.0) for way in (edge, edge[::-1])) for errors in pairs) for edge in edges}
    return DeviceErrors(
        qubit_costs=costs,
        edge_costs={
            edge: LAYERS * error
            for edge, error in worst.items()
            if error < FAULTY and np.isfinite(costs[list(edge)]).all()
        },
    )


def _width(target: Target, name: str) -> int:
    """How many qubits an operation acts on; 0 for control flow, which is a class, and for readout."""
    operation = target.operation_from_name(name)
    return 0 if isinstance(operation, type) or operation.num_clbits else int(operation.num_qubits)


def _errors(target: Target, name: str) -> dict[tuple[int, ...], float]:
    """The error at each place of an operation; a missing figure counts as the worst usable one."""
    entries: dict[Any, Any] = target[name]
    if None in entries:  # everywhere, and ideal
        return {(qubit,): 0.0 for qubit in range(target.num_qubits)}
    errors = {place: entry.error for place, entry in entries.items() if entry is not None and _is_known(entry.error)}
    worst = max((error for error in errors.values() if error < FAULTY), default=0.0)
    return {place: errors.get(place, worst) for place in entries}


def _rates(target: Target, name: str) -> NDArray[np.float64]:
    """1/T1 or 1/T2 of each qubit; a missing time counts as the shortest known, and at 0 the qubit is not usable."""
    times: list[Any] = [getattr(qubit, name, None) for qubit in target.qubit_properties or [None] * target.num_qubits]
    shortest = min((time for time in times if _is_known(time) and time > 0), default=np.inf)
    usable = [time if _is_known(time) else shortest for time in times]
    return np.array([1 / time if time > 0 else np.inf for time in usable])


def _is_known(figure: float | None) -> bool:
    return figure is not None and bool(np.isfinite(figure))


def positions_of(target: Target) -> list[Place]:
    """Row and column of each qubit: of a lattice we know, if its edges agree, else by springs along the edges.

    Where every pair is joined, a ring.
    """
    from rustworkx import spring_layout  # comes with Qiskit

    device, qubits = device_errors(target), target.num_qubits
    if device.joins_all_pairs:
        radius = qubits / (2 * pi)
        turns = [2 * pi * qubit / qubits for qubit in range(qubits)]
        return [(radius * (1 - cos(turn)), radius * (1 + sin(turn))) for turn in turns]
    for places in (heron_positions(), [(float(row), float(column)) for row, column in square_positions()]):
        if len(places) == qubits and all(dist(places[a], places[b]) == 1 for a, b in device.edge_costs):
            return places
    positions = spring_layout(device.graph(), seed=0, num_iter=500)
    scale = SPREAD * qubits**0.5 / 2
    return [(scale * (positions[qubit][1] + 1), scale * (positions[qubit][0] + 1)) for qubit in range(qubits)]


def heron_positions() -> list[Place]:
    """IBM's heavy-hex lattice of 156 qubits, row by row."""
    places: list[Place] = []
    for row in range(HERON_ROWS):
        places += [(2.0 * row, float(column)) for column in range(HERON_COLUMNS)]
        if row < HERON_ROWS - 1:
            places += [(2.0 * row + 1, float(column)) for column in BRIDGES[row % 2]]
    return places
