"""The recorded errors of a device, cut to the qubits that a circuit uses.

Gates err as in Aer's model of a device: relaxation by T1 and T2 for as long as the gate takes, and depolarisation for
the rest of its recorded error; readout flips each bit by itself. A snapshot knows nothing of crosstalk, drift, leakage
or correlated readout: real devices do worse.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError, MissingDependencyError
from biselect.hardware.compiled_circuit import Compiled
from biselect.hardware.noise.courses import PlainCircuit
from biselect.simulate.wide.order import cuthill_mckee

try:
    from qiskit import QuantumCircuit
    from qiskit.transpiler import InstructionProperties, Target
    from qiskit_aer.noise import NoiseModel, thermal_relaxation_error
    from qiskit_aer.noise.device.models import basic_device_gate_errors, basic_device_readout_errors
except ImportError as error:
    raise MissingDependencyError("noise models need Qiskit Aer: pip install 'biselect[quantum]'") from error

LABEL = "noise model, not hardware"


def twirled_label(idle: bool) -> str:
    """What results of twirled errors say of themselves."""
    return f"{LABEL}; errors twirled to Paulis" + ("; waiting qubits relax" if idle else "")


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyCircuit:
    """A compiled circuit on its own qubits alone, and their errors.

    Attributes:
        circuit: measured; qubits renumbered, classical bits as they were.
        reads: the new number of the qubit that each classical bit reads.
        errors: the error of each gate at each place, under the new numbers, as Aer's channels.
        physical: the device's qubit behind each new number.
        confusion: of each classical bit, (bits, is, read): the probability to read what from what is.
        label: what this is.
    """

    circuit: QuantumCircuit
    reads: dict[int, int]
    errors: dict[tuple[str, tuple[int, ...]], Any]
    physical: tuple[int, ...]
    confusion: NDArray[np.float64]
    label: str = LABEL

    @cached_property
    def plain(self) -> PlainCircuit:
        """The circuit and its errors, twirled to Paulis, as plain data."""
        return PlainCircuit.of(self)

    def noise_model(self) -> NoiseModel:
        """The errors of the gates as Aer takes them."""
        noise = NoiseModel(basis_gates=sorted({name for name, _ in self.errors}))
        for (name, qubits), error in self.errors.items():
            noise.add_quantum_error(error, name, list(qubits))
        return noise


def cut_noise(
    compiled: Compiled, target: Target, *, idle: bool = False, bits: Sequence[int] | None = None
) -> NoisyCircuit:
    """A compiled circuit with the recorded errors of its own qubits.

    Qubits are renumbered in reverse Cuthill-McKee order of the two-qubit gates, so that a matrix product state finds
    joined qubits close together.

    Args:
        compiled: what would be submitted.
        target: the device with its recorded errors.
        idle: whether qubits relax while they wait, gates placed as late as they can be. Aer's own model of a device
            lets nothing happen to a waiting qubit.
        bits: the logical qubits to keep, all by default; no gate may join them to others.
    """
    steps = _steps(compiled, bits)
    place = {qubit: number for number, qubit in enumerate(compiled.circuit.qubits)}
    touched = [tuple(place[qubit] for qubit in step.qubits) for step in steps]
    physical = _line(touched)
    number = {qubit: position for position, qubit in enumerate(physical)}
    waits = _waits(steps, touched, target) if idle else [()] * len(steps)
    circuit = QuantumCircuit(len(physical), compiled.circuit.num_clbits, name="noise-model")
    reads: dict[int, int] = {}
    for step, qubits, gaps in zip(steps, touched, waits, strict=True):
        for qubit, seconds in gaps:
            circuit.append(_relaxation(target, qubit, seconds).to_instruction(), [number[qubit]])
        read = [compiled.circuit.find_bit(bit).index for bit in step.clbits]
        circuit.append(step.operation, [number[qubit] for qubit in qubits], read)
        reads |= dict.fromkeys(read, number[qubits[0]])
    cut = cut_target(target, physical, {step.operation.name for step in steps})
    misread = {qubit: error.probabilities for (qubit,), error in basic_device_readout_errors(target=cut)}
    confusion = np.array([misread.get(reads.get(bit), np.eye(2)) for bit in range(circuit.num_clbits)])
    recorded = basic_device_gate_errors(target=cut)
    errors = {(name, tuple(qubits)): error for name, qubits, error in recorded if not error.ideal()}
    return NoisyCircuit(circuit=circuit, reads=reads, errors=errors, physical=physical, confusion=confusion)


def cut_target(target: Target, qubits: Sequence[int], names: Iterable[str]) -> Target:
    """The part of a device on the given qubits, renumbered in their order, with the named operations only."""
    number = {qubit: position for position, qubit in enumerate(qubits)}
    known = target.qubit_properties
    properties = [known[qubit] for qubit in qubits] if known else None
    part = Target(num_qubits=len(qubits), dt=target.dt, qubit_properties=properties)
    for name in sorted(names):
        if name not in target.operation_names:
            raise InputError(
                f"{target.description!r} has no {name}, which the circuit uses; compile it for this device"
            )
        entries: Any = target[name]
        kept = {  # what was not recorded counts as none
            tuple(number[qubit] for qubit in place): InstructionProperties(
                duration=(entry and entry.duration) or 0.0, error=(entry and entry.error) or 0.0
            )
            for place, entry in entries.items()
            if place is not None and set(place) <= set(number)
        }
        part.add_instruction(target.operation_from_name(name), kept or None, name=name)
    return part


def _steps(compiled: Compiled, bits: Sequence[int] | None) -> list[Any]:
    """The steps of a circuit, or of the part that some logical qubits are on."""
    steps = [step for step in compiled.circuit.data if step.operation.name != "barrier"]
    if bits is None:
        return steps
    wanted = {compiled.clbits[bit] for bit in bits}
    own = {s.qubits[0] for s in steps if s.clbits and compiled.circuit.find_bit(s.clbits[0]).index in wanted}
    if any(set(step.qubits) & own and set(step.qubits) - own for step in steps):
        raise InputError("a gate joins the register to other qubits; leave cross gates out before compiling")
    return [step for step in steps if step.qubits[0] in own]


def _line(touched: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The qubits in use, in reverse Cuthill-McKee order of the pairs."""
    qubits = sorted({qubit for place in touched for qubit in place})
    at = {qubit: position for position, qubit in enumerate(qubits)}
    pairs = {tuple(sorted(at[qubit] for qubit in place)) for place in touched if len(place) == 2}
    ends = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    return tuple(qubits[position] for position in cuthill_mckee(len(qubits), ends).tolist())


def _waits(steps: Sequence[Any], touched: Sequence[tuple[int, ...]], target: Target) -> list[list[tuple[int, float]]]:
    """Before each step, how long each of its qubits has waited since its last one; a fresh qubit waits for nothing."""
    left: dict[int, float] = {}  # seconds from a qubit's next step to the end, all steps as late as possible
    starts = [0.0] * len(steps)
    recorded = [target[step.operation.name].get(place) for step, place in zip(steps, touched, strict=True)]
    lengths = [float((entry and entry.duration) or 0.0) for entry in recorded]
    readout = max((t for step, t in zip(steps, lengths, strict=True) if step.operation.name == "measure"), default=0.0)
    for index in reversed(range(len(steps))):
        length = readout if steps[index].operation.name == "measure" else lengths[index]  # read out together
        starts[index] = max(left.get(qubit, 0.0) for qubit in touched[index]) + length
        left |= dict.fromkeys(touched[index], starts[index])
    ends: dict[int, float] = {}
    waits = []
    for place, begin, length in zip(touched, starts, lengths, strict=True):
        gaps = [(qubit, ends[qubit] - begin) for qubit in place if qubit in ends]
        waits.append([(qubit, gap) for qubit, gap in gaps if gap > 1e-12])
        ends |= dict.fromkeys(place, begin - length)
    return waits


def _relaxation(target: Target, qubit: int, seconds: float) -> Any:
    properties = target.qubit_properties[qubit] if target.qubit_properties else None
    t1 = getattr(properties, "t1", None) or np.inf
    t2 = min(getattr(properties, "t2", None) or np.inf, 2 * t1)
    return thermal_relaxation_error(t1, t2, seconds)
