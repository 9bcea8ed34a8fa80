"""The IQM 54-qubit square lattice (Emerald), with native PRX and CZ.

PRX(θ, φ) is Qiskit's RGate, named `r`, which its transpiler reaches exactly. Only durations are known: there is no
calibration, so errors, coherence and the readout's duration are left open.
"""

from typing import Any

IQM_54 = "iqm-54"
ROWS = ((4, 2), (2, 5), (1, 7), (0, 8), (0, 9), (1, 8), (1, 7), (2, 5), (3, 3))  # first column and length of each row
PRX_SECONDS = 40e-9
CZ_SECONDS = 120e-9


def square_positions() -> list[tuple[int, int]]:
    """Row and column of each qubit."""
    return [(row, first + step) for row, (first, length) in enumerate(ROWS) for step in range(length)]


def square_edges() -> list[tuple[int, int]]:
    """Neighbours in a row and in a column."""
    at = {place: qubit for qubit, place in enumerate(square_positions())}
    steps = [((row, column), (row + down, column + right)) for row, column in at for down, right in ((0, 1), (1, 0))]
    return sorted((at[place], at[other]) for place, other in steps if other in at)


def iqm_54_snapshot(form: str) -> dict[str, Any]:
    """The lattice as a target snapshot."""
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
