"""Targets: what a device can do, how long it takes and how well it does it.

Every target passes through its snapshot, plain data with a hash, so what a circuit was compiled for is exactly what was
recorded. A snapshot keeps the parameter-free and freely parameterised operations of Qiskit's standard library; control
flow and a vendor's own instructions have no place in these circuits and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from math import isfinite, pi
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biselect.core.untrusted import check_seal, content_hash, read_json, refused_as, seal
from biselect.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    from qiskit.transpiler import Target

FORMAT = "biselect-target-1"
FRACTIONAL = ("rx", "rzz")
PULSES = {"sx", "r", "ry", "h", "u", "u2", "u3"}  # with any of these a device does without RX
HERON_R3 = ("boston", "pittsburgh", "aachen")
TIMING = ("granularity", "min_length", "pulse_alignment", "acquire_alignment")
FILE = re.compile(r"(.+\.json)(?:@([0-9a-f]+))?", re.IGNORECASE)  # a snapshot, and the first digits of its hash
HASH_DIGITS = 12
IQM_54 = "iqm-54"
IQM_ROWS = ((4, 2), (2, 5), (1, 7), (0, 8), (0, 9), (1, 8), (1, 7), (2, 5), (3, 3))  # first column, length of each row
PRX_SECONDS, CZ_SECONDS = 40e-9, 120e-9


def load_target(source: Any, fractional: bool = True) -> Target:
    """A device by name, from a snapshot file, or from any backend or Target.

    Args:
        source: `boston`, `pittsburgh` or `aachen` (Heron r3), any other fake device of qiskit-ibm-runtime by its name,
            `iqm-54`, the path of a snapshot file, a backend, or a Target. A name means a file if and only if it ends in
            .json, or in .json@ and the first digits of the file's hash, which must then agree.
        fractional: whether RX and RZZ of any angle may be used where the device has them; else the CZ target. A device
            without CZ keeps them.

    Returns:
        A Target with the gates, durations and errors that were recorded; its description is the device's name.

    Raises:
        InputError: an unknown name, or a snapshot that is not as it was written.

    >>> target = load_target("iqm-54")
    >>> target.num_qubits, sorted(target.operation_names)
    (54, ['cz', 'delay', 'measure', 'r'])
    """
    name = str(source)
    if hasattr(source, "target") or hasattr(source, "operation_names"):
        content = snapshot(source)
    elif file := FILE.fullmatch(name):
        content = _from_file(*file.groups())
    else:
        content = _iqm_54() if name == IQM_54 else _recorded(name)
    return from_snapshot(content, fractional)


def name_with_hash(device: str) -> str:
    """A device by its name; a snapshot file also by its hash, so that no other file is ever taken for it.

    >>> name_with_hash("boston")
    'boston'
    """
    file = FILE.fullmatch(device)
    return f"{file[1]}@{content_hash(_from_file(*file.groups()))[:HASH_DIGITS]}" if file else device


def _from_file(path: str, digits: str | None) -> dict[str, Any]:
    content = read_json(Path(path))
    with refused_as(f"{path}: the target snapshot cannot be read"):
        _check(content)
    if digits and not content_hash(content).startswith(digits):
        raise InputError(
            f"{path}: its hash begins with {content_hash(content)[:HASH_DIGITS]}, not with {digits}: another file"
        )
    return dict(content)


def has_rzz(target: Target) -> bool:
    """Whether the device has RZZ of all angles within [0, π/2], to which others are folded."""
    return "rzz" in target.operation_names and all(takes_rzz(target, angle) for angle in (0.0, pi / 2))


def takes_rzz(target: Target, angle: float) -> bool:
    """Whether an angle is within the device's bounds for RZZ."""
    return not target.gate_has_angle_bounds("rzz") or bool(target.supported_angle_bound("rzz", [angle]))


def snapshot(source: Any) -> dict[str, Any]:
    """A backend or Target as plain data: gates, durations, errors, readout, T1 and T2, angle bounds, and a hash."""
    target = source.target if hasattr(source, "target") else source
    if not target.num_qubits:
        raise InputError("the target does not say how many qubits it has; build it with num_qubits")
    standard = _standard_gates()
    bounds = {name: gate.get("angle_bounds") for name, gate in target.__getstate__()["base"]["gate_map"].items()}
    gates = {
        name: _gate(target[name], bounds.get(name))
        for name in sorted(target.operation_names)
        if name in standard and _is_free(target.operation_from_name(name))
    }
    properties = target.qubit_properties or [None] * target.num_qubits
    content = {
        "format": FORMAT,
        "name": target.description or str(getattr(source, "name", "")),  # services leave the description out
        "qubits": target.num_qubits,
        "dt": target.dt,
        "t1": [_number(qubit and qubit.t1) for qubit in properties],
        "t2": [_number(qubit and qubit.t2) for qubit in properties],
        "timing": {name: getattr(target, name) for name in TIMING},
        "gates": gates,
    }
    return seal(content)


def from_snapshot(content: Mapping[str, Any], fractional: bool = True) -> Target:
    """The Target of a snapshot, whose own snapshot is equal to the given one; or its CZ target."""
    with refused_as("the target snapshot cannot be read"):
        _check(content)
        return _built(content if fractional else _without_fractional(content))


def _built(content: Mapping[str, Any]) -> Target:
    from qiskit.transpiler import InstructionProperties, QubitProperties, Target

    standard = _standard_gates()
    target = Target(
        description=content["name"],
        num_qubits=content["qubits"],
        dt=content["dt"],
        qubit_properties=[QubitProperties(t1=t1, t2=t2) for t1, t2 in zip(content["t1"], content["t2"], strict=True)],
        **content["timing"],
    )
    for name, gate in sorted(content["gates"].items()):
        entries = zip(gate["qubits"] or (), gate["duration"], gate["error"], strict=True)
        properties = {
            tuple(qubits): InstructionProperties(duration=duration, error=error) for qubits, duration, error in entries
        }
        bounds = {} if gate["angle_bounds"] is None else {"angle_bounds": gate["angle_bounds"]}  # Qiskit 2.1 knows none
        target.add_instruction(standard[name], None if gate["qubits"] is None else properties, **bounds)
    return target


def _without_fractional(content: Mapping[str, Any]) -> dict[str, Any]:
    """The CZ target, where there is a CZ; RX stays where no other pulse is there to take its place."""
    if "cz" not in content["gates"]:
        return dict(content)
    dropped = FRACTIONAL if PULSES & set(content["gates"]) else ("rzz",)
    gates = {name: gate for name, gate in content["gates"].items() if name not in dropped}
    return {**{name: value for name, value in content.items() if name != "hash"}, "gates": gates}


def recorded_backend(name: str) -> Any:
    """A device as qiskit-ibm-runtime recorded it, by its name: `boston`, `FakeBoston`."""
    try:
        import qiskit_ibm_runtime.fake_provider as provider
    except ImportError as error:
        raise MissingDependencyError("recorded devices need qiskit-ibm-runtime: pip install ./quantum") from error
    devices = {
        device.removeprefix("Fake").removesuffix("V2").lower(): device
        for device in dir(provider)
        if device.startswith("Fake") and not device.startswith("FakeProvider")
    }
    plain = name.lower().removeprefix("fake").strip("_- ").removesuffix("v2")
    if plain not in devices:
        raise InputError(
            f"there is no target {name!r}; give one of {', '.join((*HERON_R3, IQM_54))}, another recorded device of "
            "qiskit-ibm-runtime, or a snapshot file (.json)"
        )
    return getattr(provider, devices[plain])()


@cache
def _recorded(name: str) -> dict[str, Any]:
    """The snapshot of a recorded device, with RX and RZZ, which its calibration has and its list of gates lacks."""
    backend = recorded_backend(name)
    from qiskit_ibm_runtime.models import BackendConfiguration
    from qiskit_ibm_runtime.utils.backend_converter import convert_to_target

    properties = backend.properties()
    configuration = backend.configuration().to_dict()
    measured = {
        gate.gate
        for gate in properties.gates
        if any(figure.name == "gate_error" and figure.value < 1 for figure in gate.parameters)  # 1: it was never set up
    }
    configuration["basis_gates"] = [*configuration["basis_gates"], *(gate for gate in FRACTIONAL if gate in measured)]
    full = BackendConfiguration.from_dict(configuration)
    target = convert_to_target(full, properties, include_control_flow=False, include_fractional_gates=True)
    target.description = type(backend).__name__
    return snapshot(target)


def square_positions() -> list[tuple[int, int]]:
    """Row and column of each qubit of IQM's square lattice."""
    return [(row, first + step) for row, (first, length) in enumerate(IQM_ROWS) for step in range(length)]


def square_edges() -> list[tuple[int, int]]:
    """Neighbours in a row and in a column."""
    at = {place: qubit for qubit, place in enumerate(square_positions())}
    steps = [((row, column), (row + down, column + right)) for row, column in at for down, right in ((0, 1), (1, 0))]
    return sorted((at[place], at[other]) for place, other in steps if other in at)


def _iqm_54() -> dict[str, Any]:
    """Emerald, with native PRX and CZ, as a target snapshot.

    PRX(θ, φ) is Qiskit's RGate, named `r`, which its transpiler reaches exactly. Only durations are known: there is no
    calibration, so errors, coherence and the readout's duration are left open.
    """
    qubits = len(square_positions())
    single = [[qubit] for qubit in range(qubits)]
    pairs = sorted(list(pair) for edge in square_edges() for pair in (edge, edge[::-1]))
    unknown: list[None] = [None] * qubits

    def gate(places: list[list[int]], seconds: float | None) -> dict[str, Any]:
        count = len(places)
        return {"qubits": places, "duration": [seconds] * count, "error": [None] * count, "angle_bounds": None}

    gates = {
        "r": gate(single, PRX_SECONDS),
        "cz": gate(pairs, CZ_SECONDS),
        "measure": gate(single, None),
        "delay": gate(single, None),
    }
    content = {"name": IQM_54, "qubits": qubits, "dt": None, "t1": unknown, "t2": unknown, "gates": gates}
    return {"format": FORMAT, **content, "timing": dict.fromkeys(TIMING, 1)}  # its clock is of no concern here


def _gate(entries: Mapping[Any, Any], bounds: Any) -> dict[str, Any]:
    local = None not in entries  # a gate without places is allowed everywhere
    places = sorted(entries) if local else []
    return {
        "qubits": [list(place) for place in places] if local else None,
        "duration": [_number(entries[place] and entries[place].duration) for place in places],
        "error": [_number(entries[place] and entries[place].error) for place in places],
        "angle_bounds": None if bounds is None else [None if bound is None else list(bound) for bound in bounds],
    }


def _number(value: Any) -> float | None:
    """A figure of the calibration; None where it is missing or not finite."""
    return float(value) if value is not None and isfinite(value) else None


def _standard_gates() -> dict[str, Any]:
    try:
        from qiskit.circuit.library import get_standard_gate_name_mapping
    except ImportError as error:
        raise MissingDependencyError("targets need Qiskit: pip install ./quantum") from error
    return dict(get_standard_gate_name_mapping())


def _is_free(operation: Any) -> bool:
    """Whether the operation is an instance whose angles, if any, are open."""
    return not isinstance(operation, type) and all(not isinstance(value, int | float) for value in operation.params)


def _check(content: Any) -> None:
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise InputError(
            f"this is not a target snapshot ({FORMAT}); write one with biselect_quantum.devices.targets.snapshot"
        )
    if missing := sorted({"name", "qubits", "dt", "t1", "t2", "timing", "gates"} - set(content)):
        raise InputError(f"the target snapshot lacks {missing}")
    if "hash" in content:
        check_seal(content, "the target snapshot")
    if unknown := sorted(set(content["gates"]) - set(_standard_gates())):
        raise InputError(f"the target snapshot holds gates that Qiskit's library does not: {unknown}")
