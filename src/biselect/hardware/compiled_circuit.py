"""Compiled: a circuit in a device's own gates, with everything needed to read its bits and to judge its cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from biselect.hardware.paths import CompilationPath
from biselect.hardware.resources import Resources
from biselect.simulate.program import Program

if TYPE_CHECKING:
    from qiskit import QuantumCircuit


@dataclass(frozen=True, kw_only=True, eq=False)
class Compiled:
    """What is submitted.

    Attributes:
        circuit: in native gates on physical qubits, measured.
        program: what it does, order of the mixer included.
        path: how it was made.
        target: name of the device.
        seed: of the transpiler.
        initial_layout: physical qubit on which logical qubit q begins.
        final_layout: physical qubit on which logical qubit q is measured.
        clbits: classical bit that holds logical qubit q.
        resources: what it costs.
    """

    circuit: QuantumCircuit
    program: Program
    path: CompilationPath
    target: str
    seed: int
    initial_layout: tuple[int, ...]
    final_layout: tuple[int, ...]
    clbits: tuple[int, ...]
    resources: Resources
