"""What a measured circuit would return on a perfect device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError
from biselect.hardware.compiled_circuit import Compiled

if TYPE_CHECKING:
    from qiskit import QuantumCircuit

MOST_QUBITS = 24


def ideal_probabilities(circuit: QuantumCircuit) -> NDArray[np.float64]:
    """The chance of every classical bitstring; entry number Σ_c 2^c bit_c.

    Only qubits that are acted on count, so a patch of a large device can be done.
    """
    from qiskit import QuantumCircuit
    from qiskit.quantum_info import Statevector

    steps = [
        (step.operation, [circuit.find_bit(qubit).index for qubit in step.qubits], step.clbits)
        for step in circuit.data
        if step.operation.name != "barrier"
    ]
    used = sorted({qubit for _, qubits, _ in steps for qubit in qubits})
    if len(used) > MOST_QUBITS:
        raise InputError(f"the circuit acts on {len(used)} qubits; a state vector is for {MOST_QUBITS} at most")
    at = {qubit: position for position, qubit in enumerate(used)}
    small = QuantumCircuit(len(used))
    measured: dict[int, int] = {}
    for operation, qubits, clbits in steps:
        if operation.name == "measure":
            measured[circuit.find_bit(clbits[0]).index] = at[qubits[0]]
        else:
            small.append(operation, [at[qubit] for qubit in qubits])
    state = Statevector(small)
    found: NDArray[np.float64] = state.probabilities([measured[bit] for bit in sorted(measured)])
    return found


def ideal_shots(compiled: Compiled, shots: int, seed: int | np.random.Generator | None = 0) -> NDArray[np.uint8]:
    """Shots × classical bits, column c classical bit c."""
    chances = ideal_probabilities(compiled.circuit)
    drawn = np.random.default_rng(seed).choice(chances.size, shots, p=chances / chances.sum())
    bits = len(compiled.clbits)
    return (drawn[:, None] >> np.arange(bits) & 1).astype(np.uint8)
