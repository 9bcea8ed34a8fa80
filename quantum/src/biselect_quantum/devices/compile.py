"""From a program to a circuit that a device takes as it is."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from biselect.core.checks import check_positions
from biselect.errors import BiselectError, InputError, MissingDependencyError
from biselect_quantum.devices._native_gates import fold_rzz, lengths, quietest, to_native
from biselect_quantum.devices._swap_network import route
from biselect_quantum.devices._y_frame import drop_unmeasured_phases, in_range, propagate, split_sides, to_frames
from biselect_quantum.devices.layout import Layout, Qubit
from biselect_quantum.devices.mixer_order import recoloured
from biselect_quantum.devices.paths import COMPLETE_CZ, CompilationPath, NetworkPath, QiskitPath, YFramePath
from biselect_quantum.devices.qiskit_circuits import to_qiskit
from biselect_quantum.devices.resources import Resources, count_resources
from biselect_quantum.devices.targets import FRACTIONAL, has_rzz, load_target, takes_rzz
from biselect_quantum.simulate.program import RZZ, XY, Program

try:
    from qiskit import QuantumCircuit, generate_preset_pass_manager
    from qiskit.transpiler import PassManager, Target
    from qiskit.transpiler.passes import Optimize1qGatesDecomposition
except ImportError as error:
    raise MissingDependencyError("compiling needs Qiskit: pip install ./quantum") from error


Vector = NDArray[np.float64]
Places = tuple[Qubit, ...]
"""The qubit of each variable."""
Made = tuple[QuantumCircuit, Places, Places, int]
"""A native circuit, where its variables begin and end, and how many SWAPs routing put in."""


class NativeCircuit(NamedTuple):
    """What compiling adds.

    Attributes:
        angles: the free angles in their order, (free,), radians.
        gates: the circuit in the device's own gates on its own qubits, measured.
        layout: where each variable begins, is measured and is read.
        resources: what it costs.
    """

    angles: NDArray[np.float64]
    gates: QuantumCircuit
    layout: Layout
    resources: Resources


def native_circuit(
    program: Program, target: Target, layout: Places | None, path: CompilationPath, angles: Vector, seed: int
) -> NativeCircuit:
    """A program in native gates, see `compile_circuit`; coloured paths put its mixer into their own order first."""
    device = fit_for(path, target)
    ordered = recoloured(program) if path.coloured else program
    bound = ordered.bind(angles)
    if isinstance(path, YFramePath):
        gates, initial, final, swaps = _by_y_frame(bound, device, layout, path)
    elif isinstance(path, NetworkPath):
        gates, initial, final, swaps = _by_network(bound, device, layout, path)
    else:
        if path.late and not ordered.angle_names:
            raise InputError("binding late needs a program with free angles; build it without and give them here")
        gates, initial, final, swaps = _by_qiskit(ordered if path.late else bound, device, layout, path, angles, seed)
    _refuse_foreign(gates, device)
    places = Layout.of(initial, final)
    return NativeCircuit(angles, gates, places, count_resources(gates, device, swaps))


def _by_y_frame(program: Program, target: Target, layout: Places | None, path: YFramePath) -> Made:
    if layout is None:
        raise InputError("the Y-frame does not route: give the layout of a patch, or take a Qiskit path")
    _refuse_far_pairs(program, target, layout)
    ops = in_range(program.ops)
    bits = basis_start(program)
    if path.propagate:
        ops = drop_unmeasured_phases(in_range(propagate(ops, bits)))
    sides = split_sides(program.edges(XY), program.qubits)
    gates = to_frames(ops, bits, sides, rzz=has_rzz(target), unitary=not path.propagate, length=lengths(target, layout))
    if path.quiet:
        gates = quietest(gates, layout, target)
    return to_native(gates, layout, target), layout, layout, 0


def _by_network(program: Program, target: Target, layout: Places | None, path: NetworkPath) -> Made:
    start, rzz, n = basis_start(program), has_rzz(target), program.n_samples
    if layout is None:
        raise InputError("a network needs a layout along a line of the device (`choose_line`)")
    line = path.line or tuple(range(program.qubits))
    if sorted(line[:n]) != list(range(n)) or sorted(line) != list(range(program.qubits)):
        raise InputError(f"the line of a network must name all {n} samples and then all features, once each")
    layout, bits = tuple(layout[qubit] for qubit in line), tuple(start[qubit] for qubit in line)
    _refuse_torn_line(target, layout, rzz)
    site = sorted(range(program.qubits), key=line.__getitem__)  # of each logical qubit
    ops = [replace(op, qubits=tuple(site[qubit] for qubit in op.qubits)) for op in program.ops]
    routed = route(in_range(ops), bits, n, shared=rzz)
    ops = drop_unmeasured_phases(in_range(propagate(in_range(routed.ops), bits)))
    sides = [site % 2 for site in range(program.qubits)]
    gates = to_frames(ops, bits, sides, rzz=rzz, unitary=False, length=lengths(target, layout))
    if path.quiet:
        gates = quietest(gates, layout, target)
    initial, ends = tuple(layout[at] for at in site), tuple(routed.sites[at] for at in site)
    return to_native(gates, layout, target, ends), initial, tuple(layout[end] for end in ends), routed.exchanges


def compile_open(
    program: Program,
    target: Target | str,
    layout: Sequence[int] | None = None,
    path: QiskitPath = COMPLETE_CZ,
    *,
    seed: int = 0,
) -> QuantumCircuit:
    """Compile a program with its angles left free, as parameters; arguments as in `compile_circuit`.

    Classical bit q holds logical qubit q. The path must bind late, and be one for CZ where the device's RZZ takes some
    angles only: which way a rotation is folded depends on its angle.
    """
    if not isinstance(path, QiskitPath) or not path.late:
        raise InputError(f"path {path.name} takes bound angles; free ones need a path that binds late, as complete-cz")
    device = fit_for(path, target)
    if path.fractional and device.gate_has_angle_bounds("rzz"):
        raise InputError(f"RZZ of {device.description!r} takes some angles only; take complete-cz for free angles")
    ordered = recoloured(program) if path.coloured else program
    return _transpiled(ordered, device, check_places(layout, program, device), path, seed)[0]


def _by_qiskit(
    program: Program, target: Target, layout: Places | None, path: QiskitPath, angles: Vector, seed: int
) -> Made:
    circuit, initial, final, swaps = _transpiled(program, target, layout, path, seed)
    if program.angle_names:
        free = {parameter.name for parameter in circuit.parameters}  # an angle that drives nothing is gone
        values = zip(program.angle_names, angles.tolist(), strict=True)
        circuit = circuit.assign_parameters({name: value for name, value in values if name in free})
    if path.fractional:
        circuit = fold_rzz(circuit)
    if path.clean or not set(circuit.count_ops()) <= {*target.operation_names, "barrier"}:  # folding writes X and RZ
        circuit = PassManager([Optimize1qGatesDecomposition(target)]).run(circuit)
    return circuit, initial, final, swaps


def _transpiled(program: Program, target: Target, layout: Places | None, path: QiskitPath, seed: int) -> Made:
    """Qiskit's level 3; angles stay as they are, free or bound."""
    if target.has_angle_bounds():
        # Qiskit asks a registry how to keep within bounds; IBM's entry for RZZ comes with this import
        import qiskit_ibm_runtime.utils.backend_converter  # noqa: F401
    manager = generate_preset_pass_manager(
        optimization_level=3, target=target, initial_layout=layout, seed_transpiler=seed
    )
    swaps: list[int] = []
    circuit = manager.run(
        to_qiskit(program, fused=path.fused),
        callback=lambda **facts: swaps.append(facts["dag"].count_ops().get("swap", 0)),
    )
    initial = tuple(map(Qubit, circuit.layout.initial_index_layout(filter_ancillas=True)))
    final = tuple(map(Qubit, circuit.layout.final_index_layout(filter_ancillas=True)))
    return circuit, initial, final, max(swaps, default=0)


def basis_start(program: Program) -> tuple[int, ...]:
    """The basis state that the Y-frame starts from; it prepares no other."""
    if program.bits is None:
        raise InputError("the Y-frame starts from a basis state; take a Qiskit path for the Dicke start")
    return program.bits


def fit_for(path: CompilationPath, target: Target | str) -> Target:
    """The device with the gates that the path may use."""
    if not isinstance(path, QiskitPath):
        device = target if isinstance(target, Target) else load_target(target)
        if "cz" not in device.operation_names:
            raise InputError(f"path {path.name} is made of CZ, which {device.description!r} lacks; take complete-cz")
        return device
    device = target if isinstance(target, Target) else load_target(target, fractional=path.fractional)
    if path.fractional and not has_rzz(device):
        raise InputError(
            f"path {path.name} needs RX and RZZ of any angle, which {device.description!r} lacks; take a CZ path"
        )
    spare = not path.fractional and not set(FRACTIONAL).isdisjoint(device.operation_names)
    return load_target(device, fractional=False) if spare else device


def check_places(layout: Sequence[int] | None, program: Program, target: Target) -> Places | None:
    """The qubit of each variable, once all are there and differ; None lets Qiskit choose."""
    if program.qubits > target.num_qubits:
        raise InputError(f"the circuit has {program.qubits} qubits, {target.description!r} only {target.num_qubits}")
    if layout is None:
        return None
    places = tuple(map(Qubit, check_positions("layout", layout, target.num_qubits).tolist()))
    if len(places) != program.qubits:
        raise InputError(f"a layout must have a place for each of the {program.qubits} qubits, got {len(places)}")
    return places


def _refuse_torn_line(target: Target, layout: Sequence[int], rzz: bool) -> None:
    for here, there in pairwise(layout):
        for gate in ("cz", "rzz") if rzz else ("cz",):
            if (here, there) not in target[gate] and (there, here) not in target[gate]:
                raise InputError(
                    f"the layout is no line: qubits {here} and {there} have no {gate} on {target.description!r}; "
                    "`choose_line` finds one"
                )


def _refuse_far_pairs(program: Program, target: Target, layout: Sequence[int]) -> None:
    gates = {XY: "cz", RZZ: "rzz" if has_rzz(target) else "cz"}
    for kind, gate in gates.items():
        for i, j in program.edges(kind):
            pair = (layout[i], layout[j])
            if pair not in target[gate] and pair[::-1] not in target[gate]:
                raise InputError(
                    f"logical qubits {i} and {j} lie on {pair[0]} and {pair[1]}, which have no {gate} on "
                    f"{target.description!r}; mask the couplings to hardware edges or take a Qiskit path, which routes"
                )


def _refuse_foreign(circuit: QuantumCircuit, target: Target) -> None:
    """A circuit that the device would reject must not leave this module."""
    for step in circuit.data:
        operation = step.operation
        qubits = tuple(circuit.find_bit(qubit).index for qubit in step.qubits)
        angle_ok = operation.name != "rzz" or takes_rzz(target, float(operation.params[0]))
        if operation.name != "barrier" and not (target.instruction_supported(operation.name, qubits) and angle_ok):
            raise BiselectError(f"{operation.name}{operation.params} on qubits {qubits} is not native; please report")
