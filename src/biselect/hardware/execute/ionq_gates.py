"""Circuits in IonQ's native gates, angle by angle those that were compiled: GPi, GPi2, and partial MS or ZZ.

The device has no RZ: a rotation still to be done, RZ(λ), shifts the phase of every later pulse by -λ, those of an MS
gate too, and a ZZ gate or a measurement does not see it.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from math import pi
from typing import Any

from biselect.errors import InputError, MissingDependencyError
from biselect.hardware.circuits import cut
from biselect.hardware.compiled_circuit import Compiled
from biselect.hardware.published import Published

TURN = 2 * pi
PAIRS = {"rxx": "ms", "rzz": "zz"}
FIDELITIES = {"spam": "readout_error", "1q": "pulse_error", "2q": "pair_error"}
TIMES = {"1q": "pulse_seconds", "2q": "pair_seconds", "readout": "readout_seconds", "t1": "t1", "t2": "t2"}


def in_native_gates(circuit: Any) -> Any:
    """A circuit of SX, X, RZ and RXX or RZZ on its own qubits alone; classical bits as they were."""
    try:
        from qiskit_ionq import GPI2Gate, GPIGate, MSGate, ZZGate
    except ImportError as error:
        raise MissingDependencyError("IonQ's native gates need qiskit-ionq: pip install 'biselect[ionq]'") from error
    small = cut(circuit)
    made = small.copy_empty_like()
    due: dict[Any, float] = defaultdict(float)
    for step in small.data:
        name, angles, qubits = step.operation.name, step.operation.params, step.qubits
        shifts = [-due[qubit] / TURN % 1 for qubit in qubits]
        if name == "rz":
            due[qubits[0]] += float(angles[0])
        elif name in ("sx", "x"):
            made.append((GPI2Gate if name == "sx" else GPIGate)(shifts[0]), qubits)
        elif name == "rxx":  # its angle goes from 0 to a quarter turn; the other sign is half a turn of a phase
            angle = float(angles[0]) / TURN
            made.append(MSGate((shifts[0] + 0.5 * (angle < 0)) % 1, shifts[1], abs(angle)), qubits)
        elif name == "rzz":
            made.append(ZZGate(float(angles[0]) / TURN), qubits)
        else:
            made.append(step)
    made.global_phase = 0
    return made


def refuse_other_gates(compiled: Compiled, pair: str, device: str) -> None:
    """Refuse a circuit that was not compiled for an IonQ device whose two-qubit gate is this one."""
    have = set(compiled.circuit.count_ops())
    if foreign := sorted(have - {"sx", "x", "rz", pair, "measure", "barrier"}):
        target = "ionq-aria" if pair == "rxx" else "ionq-forte"
        raise InputError(f"{device} has no {', '.join(foreign)}, which the circuit uses; compile it for {target}")


def characterized(
    trap: Published, qubits: int, fidelity: Mapping[str, Mapping[str, float]], timing: Mapping[str, float]
) -> Published:
    """A device with the figures that IonQ's service or Braket gave for it; 0 stands for a time that is left out."""
    shares = {name.lower(): entry.get("median", entry.get("mean")) for name, entry in fidelity.items()}
    times = {name.lower(): time for name, time in timing.items() if time}
    figures = {FIDELITIES[name]: (1 - share, "") for name, share in shares.items() if share is not None}
    figures |= {TIMES[name]: (time, "") for name, time in times.items() if name in TIMES}
    return replace(trap, qubits=qubits, figures={**trap.figures, **figures})
