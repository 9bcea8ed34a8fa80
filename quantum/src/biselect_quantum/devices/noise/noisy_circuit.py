"""The recorded errors of a device, cut to the qubits that a circuit uses.

Gates err as in Aer's model of a device: relaxation by T1 and T2 for as long as the gate takes, and depolarisation for
the rest of its recorded error; readout flips each bit by itself. What was not recorded is refused (`figures`). A
snapshot knows nothing of crosstalk, drift, leakage or correlated readout: real devices do worse.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError, MissingDependencyError
from biselect_quantum.devices.compiled_circuit import CompiledCircuit
from biselect_quantum.devices.noise.recorded_errors import Use, check_figures, filling
from biselect_quantum.devices.noise.trajectories import WAIT, Step, TwirledCircuit, is_wait, pauli_probabilities
from biselect_quantum.simulate.wide.order import cuthill_mckee

try:
    from qiskit import QuantumCircuit
    from qiskit.transpiler import InstructionProperties, Target
    from qiskit_aer.noise import NoiseModel, thermal_relaxation_error
    from qiskit_aer.noise.device.models import basic_device_gate_errors, basic_device_readout_errors
except ImportError as error:
    raise MissingDependencyError("noise models need Qiskit Aer: pip install ./quantum") from error

LABEL = "noise model, not hardware"


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

    @property
    def twirled_label(self) -> str:
        """What results of it say of themselves when its errors are twirled to Paulis."""
        return self.label.replace(LABEL, f"{LABEL}; errors twirled to Paulis")

    @cached_property
    def twirled(self) -> TwirledCircuit:
        """The circuit and its errors, twirled to Paulis, as plain data; bits are its classical ones."""
        twirls: dict[int, tuple[float, ...]] = {}
        steps = []
        for step in self.circuit.data:
            operation, qubits = step.operation, tuple(self.circuit.find_bit(qubit).index for qubit in step.qubits)
            waits = is_wait(operation)
            channel = operation if waits else self.errors.get((operation.name, qubits))
            if channel is not None and id(channel) not in twirls:  # places with the same figures share a channel
                twirls[id(channel)] = tuple(pauli_probabilities(channel).tolist())
            angles = () if waits else tuple(float(angle) for angle in operation.params)
            steps.append(Step(WAIT if waits else operation.name, qubits, angles, twirls.get(id(channel), ())))
        bits = range(self.circuit.num_clbits)
        if unread := [bit for bit in bits if bit not in self.reads]:
            raise InputError(f"the circuit measures nothing into its classical bits {unread}; compile it as a whole")
        reads = tuple(self.reads[bit] for bit in bits)
        return TwirledCircuit(steps=tuple(steps), reads=reads, confusion=self.confusion)

    def noise_model(self) -> NoiseModel:
        """The errors of the gates as Aer takes them."""
        noise = NoiseModel(basis_gates=sorted({name for name, _ in self.errors}))
        for (name, qubits), error in self.errors.items():
            noise.add_quantum_error(error, name, list(qubits))
        return noise


def cut_noise(
    compiled: CompiledCircuit, target: Target, *, idle: bool = False, bits: Sequence[int] | None = None
) -> NoisyCircuit:
    """Cut the recorded errors of a device to the qubits that a compiled circuit uses.

    Qubits are renumbered in reverse Cuthill-McKee order of the two-qubit gates, so that a matrix product state finds
    joined qubits close together.

    Args:
        compiled: what would be submitted.
        target: the device with its recorded errors.
        idle: whether qubits relax while they wait, gates placed as late as they can be. Aer's own model of a device
            lets nothing happen to a waiting qubit.
        bits: the logical qubits to keep, all by default; no gate may join them to others.

    Returns:
        The circuit on its own qubits with the errors of each gate; waiting included if `idle`.

    Raises:
        InputError: a figure that the device did not record.
    """
    steps = _steps(compiled, bits)
    place = {qubit: number for number, qubit in enumerate(compiled.circuit.qubits)}
    touched = [tuple(place[qubit] for qubit in step.qubits) for step in steps]
    physical = _line(touched)
    number = {qubit: position for position, qubit in enumerate(physical)}
    uses = [(step.operation.name, place) for step, place in zip(steps, touched, strict=True)]
    check_has(target, {name for name, _ in uses})
    check_figures(target, uses, physical if idle else ())
    waits = _waits(steps, touched, target) if idle else [()] * len(steps)
    relaxation = cache(lambda qubit, seconds: _relaxation(target, qubit, seconds).to_instruction())
    circuit = QuantumCircuit(len(physical), compiled.circuit.num_clbits, name="noise-model")
    reads: dict[int, int] = {}
    for step, qubits, gaps in zip(steps, touched, waits, strict=True):
        for qubit, seconds in gaps:
            circuit.append(relaxation(qubit, seconds), [number[qubit]])
        read = [compiled.circuit.find_bit(bit).index for bit in step.clbits]
        circuit.append(step.operation, [number[qubit] for qubit in qubits], read)
        reads |= dict.fromkeys(read, number[qubits[0]])
    errors, misread = _device_errors(target, physical, uses)
    confusion = np.array([misread.get(reads.get(bit, -1), np.eye(2)) for bit in range(circuit.num_clbits)])
    return NoisyCircuit(
        circuit=circuit,
        reads=reads,
        errors=errors,
        physical=physical,
        confusion=confusion,
        label=LABEL + ("; waiting qubits relax" if idle else "") + filling(target),
    )


def _device_errors(
    target: Target, qubits: Sequence[int], uses: Iterable[Use]
) -> tuple[dict[Use, Any], dict[int, NDArray[np.float64]]]:
    """Aer's channel of each gate that is used and errs, and how each qubit is misread, qubits renumbered in this order.

    Aer takes milliseconds for each. It is asked once for all that have the same figures.
    """
    number = {qubit: position for position, qubit in enumerate(qubits)}
    properties = target.qubit_properties or [None] * target.num_qubits
    times = [
        (properties[qubit] and properties[qubit].t1, properties[qubit] and properties[qubit].t2) for qubit in qubits
    ]
    part = Target(num_qubits=len(qubits), dt=target.dt, qubit_properties=[properties[qubit] for qubit in qubits])
    first: dict[Any, Use] = {}
    like: dict[Use, Use] = {}
    records: dict[str, dict[tuple[int, ...], InstructionProperties]] = {}
    recorded: dict[str, Any] = {name: target[name] for name, _ in uses}
    for name, place in sorted(set(uses)):
        entry, here = recorded[name].get(place), tuple(number[qubit] for qubit in place)
        error, seconds = (entry and entry.error) or 0.0, (entry and entry.duration) or 0.0
        like[name, here] = first.setdefault((name, error, seconds, *(times[qubit] for qubit in here)), (name, here))
        if like[name, here] == (name, here):
            records.setdefault(name, {})[here] = InstructionProperties(duration=seconds, error=error)
    for name, places in records.items():
        part.add_instruction(target.operation_from_name(name), places, name=name)
    gates = {(name, tuple(place)): error for name, place, error in basic_device_gate_errors(target=part)}
    misread = {
        ("measure", tuple(place)): error.probabilities for place, error in basic_device_readout_errors(target=part)
    }
    errors = {use: gates[model] for use, model in like.items() if model in gates and not gates[model].ideal()}
    return errors, {use[1][0]: misread[model] for use, model in like.items() if model in misread}


def check_has(target: Target, names: Iterable[str]) -> None:
    """Refuse a device that lacks some of the named operations."""
    for name in sorted(names):
        if name not in target.operation_names:
            raise InputError(
                f"{target.description!r} has no {name}, which the circuit uses; compile it for this device"
            )


def _steps(compiled: CompiledCircuit, bits: Sequence[int] | None) -> list[Any]:
    """The steps of a circuit, or of the part that some logical qubits are on."""
    # delays are left out: a wait is a wait by the times of the gates, whoever asked for it
    steps = [step for step in compiled.circuit.data if step.operation.name not in ("barrier", "delay")]
    if bits is None:
        return steps
    read_bits = {compiled.clbits[bit] for bit in bits}
    own = {s.qubits[0] for s in steps if s.clbits and compiled.circuit.find_bit(s.clbits[0]).index in read_bits}
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
    time_left: dict[int, float] = {}  # seconds from a qubit's next step to the end, all steps as late as possible
    starts = [0.0] * len(steps)
    entries: dict[str, Any] = {name: target[name] for name in {step.operation.name for step in steps}}
    recorded = [entries[step.operation.name].get(place) for step, place in zip(steps, touched, strict=True)]
    lengths = [float((entry and entry.duration) or 0.0) for entry in recorded]
    readout = max((t for step, t in zip(steps, lengths, strict=True) if step.operation.name == "measure"), default=0.0)
    for index in reversed(range(len(steps))):
        length = readout if steps[index].operation.name == "measure" else lengths[index]  # read out together
        starts[index] = max(time_left.get(qubit, 0.0) for qubit in touched[index]) + length
        time_left |= dict.fromkeys(touched[index], starts[index])
    ends: dict[int, float] = {}
    waits = []
    for place, begin, length in zip(touched, starts, lengths, strict=True):
        gaps = [(qubit, ends[qubit] - begin) for qubit in place if qubit in ends]
        waits.append([(qubit, gap) for qubit, gap in gaps if gap > 1e-12])
        ends |= dict.fromkeys(place, begin - length)
    return waits


def _relaxation(target: Target, qubit: int, seconds: float) -> Any:
    properties = target.qubit_properties[qubit]
    t1 = properties.t1
    t2 = min(properties.t2, 2 * t1)
    return thermal_relaxation_error(t1, t2, seconds)
