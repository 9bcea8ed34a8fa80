"""Lattices of qubits: IQM's square one of 54 qubits as a target, and where to draw the qubits of any device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biselect.hardware.calibration import calibration

if TYPE_CHECKING:
    from qiskit.transpiler import Target

Place = tuple[float, float]  # row, column

IQM_54 = "iqm-54"
ROWS = ((4, 2), (2, 5), (1, 7), (0, 8), (0, 9), (1, 8), (1, 7), (2, 5), (3, 3))  # first column and length of each row
PRX_SECONDS = 40e-9
CZ_SECONDS = 120e-9
HERON_ROWS, HERON_COLUMNS = 8, 16
BRIDGES = (
    (3, 7, 11, 15),
    (1, 5, 9, 13),
)  # columns of the qubits after an even row, and after an odd one
SPREAD = 1.2  # of a drawn graph, in units of the root of its size


def square_positions() -> list[tuple[int, int]]:
    """Row and column of each qubit."""
    return [(row, first + step) for row, (first, length) in enumerate(ROWS) for step in range(length)]


def square_edges() -> list[tuple[int, int]]:
    """Neighbours in a row and in a column."""
    at = {place: qubit for qubit, place in enumerate(square_positions())}
    steps = [((row, column), (row + down, column + right)) for row, column in at for down, right in ((0, 1), (1, 0))]
    return sorted((at[place], at[other]) for place, other in steps if other in at)


def iqm_54_snapshot(form: str) -> dict[str, Any]:
    """Emerald, with native PRX and CZ, as a target snapshot.

    PRX(θ, φ) is Qiskit's RGate, named `r`, which its transpiler reaches exactly. Only durations are known: there is no
    calibration, so errors, coherence and the readout's duration are left open.
    """
    qubits = len(square_positions())
    single = [[qubit] for qubit in range(qubits)]
    pairs = sorted(list(pair) for edge in square_edges() for pair in (edge, edge[::-1]))
    unknown: list[None] = [None] * qubits

    def gate(places: list[list[int]], seconds: float | None) -> dict[str, Any]:
        count = len(places)
        return {"qubits": places, "duration": [seconds] * count, "error": [None] * count, "angle_bounds": None}

    return {
        "format": form,
        "name": IQM_54,
        "qubits": qubits,
        "dt": None,
        "t1": unknown,
        "t2": unknown,
        "timing": {"granularity": 1, "min_length": 1, "pulse_alignment": 1, "acquire_alignment": 1},
        "gates": {
            "r": gate(single, PRX_SECONDS),
            "cz": gate(pairs, CZ_SECONDS),
            "measure": gate(single, None),
            "delay": gate(single, None),
        },
    }


def positions_of(target: Target) -> list[Place]:
    """Row and column of each qubit: of a lattice we know, if its edges agree, else by springs along the edges."""
    from rustworkx import spring_layout  # comes with Qiskit

    device, qubits = calibration(target), target.num_qubits
    for places in (heron_positions(), [(float(row), float(column)) for row, column in square_positions()]):
        if len(places) == qubits and all(_adjacent(places[here], places[there]) for here, there in device.edge_costs):
            return places
    found = spring_layout(device.graph(), seed=0, num_iter=500)
    scale = SPREAD * qubits**0.5 / 2
    return [(scale * (found[qubit][1] + 1), scale * (found[qubit][0] + 1)) for qubit in range(qubits)]


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
