"""Dicke states by the deterministic circuit of Bärtschi and Eidenbenz: O(nk) gates, no ancilla, no measurement.

|0…01…1⟩ with k ones is spread by blocks of split-and-cyclic-shift from the last qubit to the first: block l moves the
one on qubit l - 1 down among qubits 0..l-1 with the amplitudes that make all subsets equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import acos, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qiskit import QuantumCircuit


def prepare_dicke(circuit: QuantumCircuit, qubits: Sequence[int], ones: int) -> None:
    """Append the uniform superposition of all states with so many ones, from |0…0⟩."""
    n = len(qubits)
    few = min(ones, n - ones)  # more than half ones: prepare the zeros, then flip all
    for qubit in qubits[n - few :]:
        circuit.x(qubit)
    for size in range(n, 1, -1):
        _split_and_shift(circuit, qubits[:size], min(few, size - 1))
    if few < ones:
        for qubit in qubits:
            circuit.x(qubit)


def _split_and_shift(circuit: QuantumCircuit, qubits: Sequence[int], ones: int) -> None:
    """|0 1^l⟩ → √(l/n)|0 1^l⟩ + √((n-l)/n)|1^l 0⟩ on the last l + 1 of n qubits, for every l up to `ones`."""
    size, last = len(qubits), qubits[-1]
    for run in range(1, ones + 1):
        moved = qubits[size - 1 - run]
        circuit.cx(moved, last)
        turn = 2 * acos(sqrt(run / size))
        controls = [last] if run == 1 else [last, qubits[size - run]]
        _controlled_ry(circuit, turn, controls, moved)
        circuit.cx(moved, last)


def _controlled_ry(circuit: QuantumCircuit, angle: float, controls: Sequence[int], target: int) -> None:
    """RY under one or two controls: parts of the angle, whose signs CX flips, add up only where all controls are 1."""
    steps = [*controls, *controls]
    for number, control in enumerate(steps):
        circuit.ry((-1) ** number * angle / len(steps), target)
        circuit.cx(control, target)
