"""Whether a circuit does what its manifest says.

The hash of a manifest is no signature: whoever edits a file can recompute it. And a compiler may have a fault. So gates
must be the device's own, every classical bit is measured once and at the end, and layouts are those of the
measurements. Where a circuit acts on 16 qubits at most, the chances of all its bitstrings are held against a simulation
of the program, which the compiler has no part in. What a wider circuit does is not simulated: a stored one must have
the gates that its program compiles to again, which shows changes, but no fault of the compiler.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect.core.untrusted import shortened
from biselect.errors import InputError
from biselect_quantum._version import __version__
from biselect_quantum.devices.layout import Clbit
from biselect_quantum.devices.paths import QiskitPath, YFramePath
from biselect_quantum.simulate.program import Program

if TYPE_CHECKING:
    from qiskit import QuantumCircuit

    from biselect_quantum.devices.device_circuit import DeviceCircuit

SMALL = 16  # qubits whose chances are all held against the program's
OURS, QISKITS = 1e-8, 1e-3  # largest total variation; Qiskit's level 3 drops rotations below some 1e-4
CLOSE = 1e-9  # between angles of one and the same gate
CHANGED = "so it was changed after it was compiled, unless the compiler has a fault"
SIMULATED = "gates, layouts, and the chances of all bitstrings against a simulation of the program"
NOT_SIMULATED = f"gates and layouts; a circuit of more than {SMALL} qubits is not simulated"


def check_meaning(circuit: DeviceCircuit) -> str:
    """Refuse a circuit whose gates do not do what its program says; gives what was checked, in words."""
    _check_gates(circuit)
    _check_layouts(circuit)
    if _used(circuit.gates) > SMALL:
        return NOT_SIMULATED
    off, most = distance(circuit), QISKITS if isinstance(circuit.path, QiskitPath) else OURS
    if not off <= most:
        raise InputError(
            f"the circuit does not do what its program says: total variation {off:.2g}, {CHANGED}; please report it if "
            "nobody changed the circuit"
        )
    return SIMULATED


def check_unchanged(circuit: DeviceCircuit) -> None:
    """Refuse a stored circuit that is not what its manifest says, nor what its program compiles to."""
    manifest = circuit.manifest()
    _check_program(circuit.bound, manifest)
    checked, ours = check_meaning(circuit), not isinstance(circuit.path, QiskitPath)
    if checked == NOT_SIMULATED and ours and manifest["versions"]["biselect-quantum"] == __version__:
        _check_recompiled(circuit)


def _check_program(program: Program, manifest: Mapping[str, Any]) -> None:
    """Start and mixer of the manifest must be those of the program that was made from it."""
    start = manifest["start"]
    if start is not None and start != list(program.bits or ()):
        raise InputError(f"the start {shortened(start)} is not {program.qubits} bits with the budgets of the problem")
    for name, classes in zip(("samples", "features"), program.mixer, strict=True):
        if manifest["mixer"][name] != [list(edge) for group in classes for edge in group]:
            raise InputError(f"mixer edges of the {name} leave their register, {CHANGED}")


def _check_gates(circuit: DeviceCircuit) -> None:
    from biselect_quantum.devices.qiskit_circuits import foreign_gate

    gates, target = circuit.gates, circuit.target
    if gates.num_qubits != target.num_qubits:
        raise InputError(
            f"the circuit is for a device of {gates.num_qubits} qubits, but {target.description!r} has "
            f"{target.num_qubits}"
        )
    if gates.parameters:
        raise InputError(f"the circuit has {len(gates.parameters)} free angles, {CHANGED}")
    if foreign := foreign_gate(gates, target):
        raise InputError(f"the circuit has {foreign}, which {target.description!r} has not: it is for another device")


def _check_layouts(circuit: DeviceCircuit) -> None:
    qubits, layout, measured = circuit.program.qubits, circuit.layout, measurements(circuit.gates)
    if sorted(layout.read_into) != list(range(qubits)) or circuit.gates.num_clbits != qubits:
        raise InputError(f"the {qubits} qubits must have one classical bit each, the layout says otherwise, {CHANGED}")
    if [measured.get(bit) for bit in layout.read_into] != list(layout.measured_on):
        raise InputError(f"the final layout is not where the circuit measures, {CHANGED}")
    if len(layout.begins_on) != qubits or max(layout.begins_on) >= circuit.target.num_qubits:
        raise InputError(f"the initial layout has no place for each of the {qubits} qubits, {CHANGED}")
    if isinstance(circuit.path, YFramePath) and layout.begins_on != layout.measured_on:
        raise InputError(f"the Y-frame moves no qubit, but initial and final layout differ, {CHANGED}")


def measurements(circuit: QuantumCircuit) -> dict[int, int]:
    """The qubit that each classical bit holds; every one is measured once, and nothing follows on its qubit."""
    qubit_of: dict[int, int] = {}
    finished: set[int] = set()
    for step in circuit.data:
        name, qubits = step.operation.name, [circuit.find_bit(qubit).index for qubit in step.qubits]
        if name == "barrier":
            continue
        if finished.intersection(qubits):
            raise InputError(f"{name} follows the measurement of qubit {qubits[0]}, {CHANGED}")
        if name == "measure":
            (bit,) = (circuit.find_bit(bit).index for bit in step.clbits)
            if bit in qubit_of:
                raise InputError(f"classical bit {bit} is measured twice, {CHANGED}")
            qubit_of[bit] = qubits[0]
            finished.update(qubits)
    if len(qubit_of) != circuit.num_clbits:
        raise InputError(f"{len(qubit_of)} of {circuit.num_clbits} classical bits are measured, {CHANGED}")
    return qubit_of


def distance(circuit: DeviceCircuit) -> float:
    """Total variation between what the circuit measures without errors and what its program does."""
    from biselect_quantum.devices.qiskit_circuits import ideal_probabilities

    difference = ideal_probabilities(circuit.gates)
    np.subtract.at(difference, *_chances(circuit.bound, circuit.layout.read_into))
    return float(np.abs(difference).sum() / 2)


def _chances(program: Program, clbits: tuple[Clbit, ...]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Numbers of the classical bitstrings that a program can give, and the chance of each."""
    from biselect_quantum.devices.execution.exact_shots import sector_state

    weights = 1 << np.array(clbits, dtype=np.int64)
    samples, features = program.registers()
    n = program.n_samples
    rows, columns = weights[:n][samples.subsets].sum(axis=1), weights[n:][features.subsets].sum(axis=1)
    chances = np.abs(sector_state(program)) ** 2
    return (rows[:, None] + columns).ravel(), chances.ravel()


def _used(circuit: QuantumCircuit) -> int:
    return len({qubit for step in circuit.data if step.operation.name != "barrier" for qubit in step.qubits})


def _check_recompiled(circuit: DeviceCircuit) -> None:
    try:
        again = circuit.compile(circuit.compiled.angles, compare=False).gates
    except InputError as error:
        raise InputError(f"the program of the circuit cannot be compiled: {error}; {CHANGED}") from error
    if not same_gates(circuit.gates, again):
        raise InputError(f"the circuit is not what its program compiles to, {CHANGED}")


def same_gates(one: QuantumCircuit, other: QuantumCircuit) -> bool:
    """Whether two circuits have the same gates in the same order, angles up to the last digits."""
    if len(one.data) != len(other.data):
        return False
    return all(
        a.operation.name == b.operation.name
        and [one.find_bit(bit).index for bit in (*a.qubits, *a.clbits)]
        == [other.find_bit(bit).index for bit in (*b.qubits, *b.clbits)]
        and all(
            isclose(float(x), float(y), abs_tol=CLOSE)
            for x, y in zip(a.operation.params, b.operation.params, strict=True)
        )
        for a, b in zip(one.data, other.data, strict=True)
    )
