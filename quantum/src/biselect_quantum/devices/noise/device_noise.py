"""The recorded errors of a device, cut to the qubits that a circuit uses.

Gates err as in Aer's model of a device: relaxation by T1 and T2 for as long as the gate takes, and depolarisation for
the rest of its recorded error; readout flips each bit by itself. What was not recorded is refused (`figures`). A
snapshot knows nothing of crosstalk, drift, leakage or correlated readout: real devices do worse.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError, MissingDependencyError
from biselect_quantum.devices.noise.noisy_circuit import LABEL, WAIT, NoisyCircuit, Step, pauli_probabilities
from biselect_quantum.devices.noise.recorded_errors import Use, check_figures, filling
from biselect_quantum.simulate.wide.order import cuthill_mckee

try:
    from qiskit import QuantumCircuit
    from qiskit.transpiler import InstructionProperties, Target
    from qiskit_aer.noise import thermal_relaxation_error
    from qiskit_aer.noise.device.models import basic_device_gate_errors, basic_device_readout_errors
except ImportError as error:
    raise MissingDependencyError("noise models need Qiskit Aer: pip install ./quantum") from error

if TYPE_CHECKING:
    from biselect_quantum.devices.device_circuit import DeviceCircuit


def cut_noise(
    circuit: DeviceCircuit,
    target: Target | None = None,
    *,
    idle: bool = False,
    variables: Sequence[int] | None = None,
) -> NoisyCircuit:
    """Cut the recorded errors of a device to the qubits that a compiled circuit uses.

    Qubits are renumbered in reverse Cuthill-McKee order of the two-qubit gates, so that a matrix product state finds
    joined qubits close together.

    Args:
        circuit: what would be submitted.
        target: the device with its recorded errors; by default the one that the circuit was compiled for.
        idle: whether qubits relax while they wait, gates placed as late as they can be. Aer's own model of a device
            lets nothing happen to a waiting qubit.
        variables: those to keep, all by default; no gate may join them to others.

    Returns:
        The circuit on its own qubits with the errors of each gate; waiting included if `idle`.

    Raises:
        InputError: a figure that the device did not record.
    """
    device, gates, layout = circuit.target if target is None else target, circuit.gates, circuit.layout
    kept = range(circuit.program.qubits) if variables is None else variables
    places = [layout.measured_on[variable] for variable in kept]
    steps = _steps(gates, places)
    place = {qubit: number for number, qubit in enumerate(gates.qubits)}
    touched = [tuple(place[qubit] for qubit in step.qubits) for step in steps]
    physical = _line(touched)
    number = {qubit: position for position, qubit in enumerate(physical)}
    uses = [(step.operation.name, place) for step, place in zip(steps, touched, strict=True)]
    check_has(device, {name for name, _ in uses})
    check_figures(device, uses, physical if idle else ())
    waits = _waits(steps, touched, device) if idle else [()] * len(steps)
    relaxation = cache(lambda qubit, seconds: _relaxation(device, qubit, seconds))
    errors, misread = _device_errors(device, physical, uses)
    twirls: dict[int, tuple[float, ...]] = {id(None): ()}

    def step(name: str, qubits: tuple[int, ...], angles: tuple[float, ...], channel: Any) -> Step:
        if id(channel) not in twirls:  # places with the same figures share a channel
            twirls[id(channel)] = tuple(pauli_probabilities(channel).tolist())
        return Step(name, qubits, angles, twirls[id(channel)], channel)

    noisy = []
    for each, qubits, gaps in zip(steps, touched, waits, strict=True):
        noisy += [step(WAIT, (number[qubit],), (), relaxation(qubit, seconds)) for qubit, seconds in gaps]
        if each.operation.name != "measure":
            here = tuple(number[qubit] for qubit in qubits)
            angles = tuple(float(angle) for angle in each.operation.params)
            noisy.append(step(each.operation.name, here, angles, errors.get((each.operation.name, here))))
    reads = tuple(number[qubit] for qubit in places)
    return NoisyCircuit(
        steps=tuple(noisy),
        reads=reads,
        confusion=np.array([misread.get(qubit, np.eye(2)) for qubit in reads]),
        physical=physical,
        label=LABEL + ("; waiting qubits relax" if idle else "") + filling(device),
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


def _steps(gates: QuantumCircuit, places: Sequence[int]) -> list[Any]:
    """The steps on the parts of a circuit that hold these qubits at the end."""
    # delays are left out: a wait is a wait by the times of the gates, whoever asked for it
    steps = [step for step in gates.data if step.operation.name not in ("barrier", "delay")]
    own = {gates.qubits[place] for place in places}
    if len(places) == gates.num_clbits:  # all of them: routing may have moved them over any qubit
        return steps
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
