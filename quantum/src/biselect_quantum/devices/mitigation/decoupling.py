"""Dynamical decoupling: pulses in waiting times, which undo slow dephasing.

Gates are placed as late as they can be, by the device's own durations. A wait that is long enough takes X-X, or
X-Y-X-Y, with equal times between the pulses and half of that at both ends: a detuning that stays the same for a shot
then adds up to nothing. Dephasing without memory, as in our noise models, is not undone; there the pulses only cost
their own errors.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from math import pi
from typing import TYPE_CHECKING, Any

from qiskit.circuit import Delay
from qiskit.circuit.library import XGate, YGate
from qiskit.exceptions import QiskitError
from qiskit.transpiler import PassManager
from qiskit.transpiler.passes import ALAPScheduleAnalysis, PadDynamicalDecoupling, TimeUnitConversion

from biselect.errors import InputError
from biselect_quantum.devices.compiled_circuit import Compiled, count_resources

if TYPE_CHECKING:
    from qiskit import QuantumCircuit
    from qiskit.transpiler import Target

SEQUENCES = {"xx": (XGate, XGate), "xy4": (XGate, YGate, XGate, YGate)}
LONG_ENOUGH = 4  # a wait must be this many times as long as the pulses put into it


def decoupled(compiled: Compiled, target: Target, sequence: str = "xx") -> Compiled:
    """The same circuit with its gates as late as possible and pulses in its waits.

    Args:
        compiled: what would be submitted.
        target: the device, with the durations of its gates.
        sequence: `xx` or `xy4`.
    """
    if target.dt is None or not {"x", "delay"} <= set(target.operation_names):
        raise InputError(
            f"decoupling needs X, delays and a unit of time, and {target.description!r} lacks one; leave decouple out"
        )
    used = sorted({compiled.circuit.find_bit(qubit).index for step in compiled.circuit.data for qubit in step.qubits})
    gates = [gate() for gate in SEQUENCES[sequence]]
    timed = target if sequence == "xx" else _with_y(target)
    passes = [TimeUnitConversion(target=timed), ALAPScheduleAnalysis(target=timed), _LongWaits(timed, gates, used)]
    try:
        padded = PassManager(passes).run(compiled.circuit)
    except QiskitError as error:
        raise InputError(f"the waits on {target.description!r} cannot be timed: {error}; leave decouple out") from error
    circuit = _kept(padded, compiled.circuit)
    return replace(compiled, circuit=circuit, resources=count_resources(circuit, target, compiled.resources.swaps))


class _LongWaits(PadDynamicalDecoupling):
    """Qiskit's pass, for waits that are long enough; it would fill every wait that its pulses fit into."""

    def __init__(self, target: Target, gates: list[Any], qubits: list[int]) -> None:
        super().__init__(dd_sequence=gates, qubits=qubits, target=target)

    def _pad(self, dag: Any, qubit: Any, t_start: int, t_end: int, next_node: Any, prev_node: Any) -> None:
        pulses = self._dd_sequence_lengths.get(qubit)
        if pulses is None or t_end - t_start < LONG_ENOUGH * sum(pulses):
            self._apply_scheduled_op(dag, t_start, Delay(t_end - t_start, dag._unit), qubit)
        else:
            super()._pad(dag, qubit, t_start, t_end, next_node, prev_node)


def _with_y(target: Target) -> Target:
    """The device with Y, as long as its X: a virtual Z before it."""
    timed = deepcopy(target)
    if "y" not in timed.operation_names:
        timed.add_instruction(YGate(), dict(target["x"].items()))
    return timed


def _kept(padded: QuantumCircuit, circuit: QuantumCircuit) -> QuantumCircuit:
    """What was padded, in the device's gates, without waits of qubits that begin or have ended."""
    kept = circuit.copy_empty_like()
    last = {qubit: number for number, step in enumerate(padded.data) for qubit in step.qubits if step.name != "delay"}
    begun = set()
    for number, step in enumerate(padded.data):
        if step.name != "delay":
            begun.update(step.qubits)
        elif step.qubits[0] not in begun or number > last[step.qubits[0]]:
            continue
        where = [padded.find_bit(qubit).index for qubit in step.qubits]
        if step.name == "y":
            kept.rz(pi, where)
            kept.x(where)
        else:
            pause = step.name == "delay"  # in whole units of time
            gate = Delay(round(step.operation.duration), step.operation.unit) if pause else step.operation
            kept.append(gate, where, [padded.find_bit(bit).index for bit in step.clbits])
    return kept
