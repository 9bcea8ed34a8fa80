"""Folders whose files were changed and sealed anew: what they say is held against what they hold."""

import hashlib
import io
import json
import shutil
from dataclasses import replace
from math import pi

import pytest
from qiskit import QuantumCircuit, qpy

from biselect.core.untrusted import seal
from biselect.errors import InputError
from biselect_quantum.devices import _circuit_checks as circuit_checks
from biselect_quantum.devices import _native_gates as native
from biselect_quantum.devices import circuit_files, compile
from biselect_quantum.devices._circuit_checks import NOT_SIMULATED, SIMULATED, distance, same_gates
from biselect_quantum.devices._from_problem import compile_problem
from biselect_quantum.devices.circuit_files import circuit_contents, load_circuit, write_circuit
from biselect_quantum.devices.execution.runner import take_shots
from biselect_quantum.devices.qiskit_circuits import qpy_bytes
from biselect_quantum.devices.targets import snapshot


@pytest.fixture
def as_if_wide(monkeypatch):
    """As for a circuit of more qubits than a state vector is made for."""
    monkeypatch.setattr(circuit_checks, "SMALL", 4)


def resealed(source, folder, change):
    """A copy of a circuit's folder in which somebody changed circuit and manifest, and set all hashes right."""
    shutil.copytree(source, folder, dirs_exist_ok=True)
    manifest = json.loads((folder / "manifest.json").read_text())
    (circuit,) = qpy.load(io.BytesIO((folder / "circuit.qpy").read_bytes()))
    changed = change(circuit, manifest, folder)
    (folder / "circuit.qpy").write_bytes(qpy_bytes(circuit if changed is None else changed))
    for name in manifest["files"]:
        manifest["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(seal(manifest)))
    return folder


def rebuilt(circuit, change):
    """The circuit with steps changed: `change(number, step)` gives steps."""
    found = circuit.copy_empty_like()
    found.data = [new for number, step in enumerate(circuit.data) for new in change(number, step)]
    return found


def measures(circuit):
    return [number for number, step in enumerate(circuit.data) if step.operation.name == "measure"]


def swapped_bits(circuit, manifest, folder):
    first, second = measures(circuit)[:2]
    bits = {first: circuit.data[second].clbits, second: circuit.data[first].clbits}
    return rebuilt(circuit, lambda n, step: [step.replace(clbits=bits[n]) if n in bits else step])


def twice(circuit, manifest, folder):
    first, second = measures(circuit)[:2]
    bits = {second: circuit.data[first].clbits}
    return rebuilt(circuit, lambda n, step: [step.replace(clbits=bits[n]) if n in bits else step])


def swapped_clbits(circuit, manifest, folder):
    bits = manifest["layout"]["read_into"]
    bits[0], bits[1] = bits[1], bits[0]


def duplicate_clbits(circuit, manifest, folder):
    manifest["layout"]["read_into"][0] = manifest["layout"]["read_into"][1]


def far_clbits(circuit, manifest, folder):
    manifest["layout"]["read_into"][0] = 10**6


def final_layout(circuit, manifest, folder):
    manifest["layout"]["measured_on"] = manifest["layout"]["measured_on"][::-1]


def initial_layout(circuit, manifest, folder):
    manifest["layout"]["begins_on"] = manifest["layout"]["begins_on"][::-1]


def swapped_meanings(circuit, manifest, folder):
    """Bits and final layout changed alike: what is measured where still agrees."""
    swapped_clbits(circuit, manifest, folder)
    for layout in (manifest["layout"]["measured_on"], manifest["layout"]["begins_on"]):
        layout[0], layout[1] = layout[1], layout[0]


def empty(circuit, manifest, folder):
    return circuit.copy_empty_like()


def no_gates(circuit, manifest, folder):
    return rebuilt(circuit, lambda n, step: [step] if step.operation.name == "measure" else [])


def one_gate_less(circuit, manifest, folder):
    last = max(n for n, step in enumerate(circuit.data) if len(step.qubits) == 2)
    return rebuilt(circuit, lambda n, step: [step] if n != last else [])


def other_angle(circuit, manifest, folder):
    turned = next(n for n, step in enumerate(circuit.data) if step.operation.name == "rx" and n > 20)

    def change(n, step):
        if n != turned:
            return [step]
        gate = step.operation.to_mutable()
        gate.params = [float(gate.params[0]) + 0.01]
        return [step.replace(operation=gate)]

    return rebuilt(circuit, change)


def other_angles_said(circuit, manifest, folder):
    name = list(manifest["angles"])[-1]
    manifest["angles"][name] += 0.01


def gate_after_measurement(circuit, manifest, folder):
    circuit.rz(0.3, circuit.data[measures(circuit)[0]].qubits[0])


def foreign_gate(circuit, manifest, folder):
    found = QuantumCircuit(*circuit.qregs, *circuit.cregs)
    found.h(0)
    for step in circuit.data:
        found.append(step)
    return found


def other_device(circuit, manifest, folder):
    """A circuit of another size."""
    found = QuantumCircuit(circuit.num_qubits + 1, circuit.num_clbits)
    for step in circuit.data:
        qubits = [circuit.find_bit(qubit).index for qubit in step.qubits]
        found.append(step.operation, qubits, [circuit.find_bit(bit).index for bit in step.clbits])
    return found


def other_target(circuit, manifest, folder):
    content = json.loads((folder / "target.json").read_text())
    del content["gates"]["rzz"], content["gates"]["rx"], content["hash"]
    content = seal(content)
    (folder / "target.json").write_text(json.dumps(content))
    manifest["target"]["hash"] = content["hash"]


def unknown_target(circuit, manifest, folder):
    manifest["target"]["name"] = "another"


def over_budget(circuit, manifest, folder):
    manifest["start"][manifest["start"].index(0)] = 1


def odd_start(circuit, manifest, folder):
    manifest["start"][manifest["start"].index(1)] = 2


def crossing_mixer(circuit, manifest, folder):
    manifest["mixer"]["samples"][0][1] = 5 + 4


TAMPERED = [
    swapped_bits, twice, swapped_clbits, duplicate_clbits, far_clbits, final_layout, initial_layout, swapped_meanings,
    empty, no_gates, one_gate_less, other_angle, other_angles_said, gate_after_measurement, foreign_gate, other_device,
    other_target, unknown_target, over_budget, odd_start, crossing_mixer,
]  # fmt: skip


@pytest.mark.parametrize("change", TAMPERED, ids=lambda change: change.__name__)
def test_a_folder_that_was_changed_and_sealed_anew_is_refused(circuit_folder, tmp_path, change):
    folder = resealed(circuit_folder, tmp_path, change)
    with pytest.raises(InputError):
        load_circuit(folder)


@pytest.mark.parametrize("change", [swapped_meanings, one_gate_less, other_angle, other_angles_said, no_gates])
def test_what_a_wide_circuit_does_is_held_against_its_program_too(circuit_folder, as_if_wide, tmp_path, change):
    with pytest.raises(InputError, match=r"what its program compiles to|cannot be compiled"):
        load_circuit(resealed(circuit_folder, tmp_path, change))


@pytest.mark.parametrize("small_up_to", [4, 16])
def test_a_folder_that_was_only_sealed_anew_is_taken(circuit_folder, stored, tmp_path, monkeypatch, small_up_to):
    monkeypatch.setattr(circuit_checks, "SMALL", small_up_to)
    folder = resealed(circuit_folder, tmp_path, lambda circuit, manifest, folder: None)
    assert load_circuit(folder).gates == stored.gates


def test_a_wide_circuit_of_another_release_is_not_compiled_again(circuit_folder, as_if_wide, tmp_path, monkeypatch):
    """Another release may compile to other gates."""
    monkeypatch.setattr(circuit_checks, "__version__", "0.0")
    assert load_circuit(resealed(circuit_folder, tmp_path, other_angle))


def test_the_distance_is_that_of_all_chances(stored):
    assert distance(stored) < 1e-12
    assert same_gates(stored.gates, stored.gates)


@pytest.mark.parametrize("path", ["opt3-cz", "complete-fractional", "y-frame-quiet"])
def test_circuits_of_other_paths_are_taken(problem, small, tmp_path, path):
    grid = [(3 * r + c, 3 * r + c + 1) for r in range(4) for c in range(2)] + [(q, q + 3) for q in range(9)]
    made = compile_problem(
        problem, small.device("fractional", grid, 12), [0.4, 0.3], depth=1, schedule="tied", path=path, compare=False
    )
    write_circuit(tmp_path, made)
    assert load_circuit(tmp_path).path == made.path
    assert json.loads((tmp_path / "target.json").read_text()) == snapshot(made.target)


# Shots, and faults of the compiler itself

GATES = [swapped_bits, twice, empty, no_gates, one_gate_less, other_angle, gate_after_measurement, foreign_gate]


@pytest.mark.parametrize("change", [*GATES, other_device], ids=lambda change: change.__name__)
@pytest.mark.parametrize("on", ["sector", "aer"])
def test_no_shots_are_taken_of_changed_gates(stored, on, change):
    circuit = stored.gates.copy()
    changed = change(circuit, {}, None)
    native = stored.compiled._replace(gates=circuit if changed is None else changed)
    with pytest.raises(InputError):
        take_shots(replace(stored, native=native), on, shots=10)


@pytest.mark.parametrize(
    "layouts",
    [("read_into",), ("measured_on",), ("begins_on",), ("read_into", "measured_on", "begins_on")],
    ids=", ".join,
)
def test_no_shots_are_taken_by_another_layout(stored, layouts):
    """The last one says of two qubits that each is the other: all layouts agree, and the bits mean something else."""

    def exchanged(layout):
        return (layout[1], layout[0], *layout[2:])

    layout = replace(stored.layout, **{name: exchanged(getattr(stored.layout, name)) for name in layouts})
    with pytest.raises(InputError):
        take_shots(replace(stored, native=stored.compiled._replace(layout=layout)), "sector", shots=10)


def wrong(function, change):
    """A function that makes one mistake in what it gives."""
    return lambda *arguments, **options: change(function(*arguments, **options))


def without_flips(ops):
    return [op for op in ops if op.kind != "flip"]


def without_last_mixing(ops):
    last = max((place for place, op in enumerate(ops) if len(op.qubits) == 2), default=-1)
    return [op for place, op in enumerate(ops) if place != last]


def measured_elsewhere(circuit):
    return swapped_bits(circuit, {}, None)


def half_angles(circuit):
    """Every second pulse or two-qubit gate turns half as far."""

    def change(number, step):
        if number % 2 or step.operation.name not in ("rx", "rzz", "rxx", "ryy"):
            return [step]
        gate = step.operation.to_mutable()
        gate.params = [float(gate.params[0]) / 2]
        return [step.replace(operation=gate)]

    return rebuilt(circuit, change)


def other_ends(routed):
    return replace(routed, sites=(routed.sites[1], routed.sites[0], *routed.sites[2:]))


ANGLES = {"γ_1": 0.4, "γ_2": 0.7, "β_1": pi / 2, "β_2": 0.6}
FAULTS = [  # where, what goes wrong, and in which circuits
    (compile, "propagate", without_flips, {}),
    (compile, "drop_unmeasured_phases", without_last_mixing, {}),
    (compile, "to_native", measured_elsewhere, {}),
    (compile, "to_native", half_angles, {}),
    (native, "_pulses", lambda pulses: [("x",) if name == "rx" else (name, *more) for name, *more in pulses], {}),
    (compile, "fold_rzz", half_angles, {"path": "opt3-fractional"}),
    (compile, "to_qiskit", half_angles, {"path": "opt3-cz"}),
    (compile, "to_qiskit", measured_elsewhere, {"path": "opt3-cz"}),
    (compile, "route", other_ends, {"keep": 1.0}),
    (compile, "to_native", half_angles, {"keep": 1.0}),
]


@pytest.mark.parametrize(("module", "name", "change", "options"), FAULTS)
def test_a_fault_of_the_compiler_is_found_by_simulation(
    problem, small, tmp_path, monkeypatch, module, name, change, options
):
    """Compiling again would repeat it; neither shots nor a file are made, and no such file is taken."""
    grid = [(3 * r + c, 3 * r + c + 1) for r in range(4) for c in range(2)] + [(q, q + 3) for q in range(9)]
    target = small.device("fractional", grid, 12)

    def made():
        return compile_problem(
            problem, target, ANGLES, depth=2, schedule="layerwise", start="canonical", compare=False, **options
        )

    assert take_shots(made(), "aer", shots=10).shots == 10
    monkeypatch.setattr(module, name, wrong(getattr(module, name), change))
    faulty = made()
    for attempt in (lambda: take_shots(faulty, "aer", shots=10), lambda: write_circuit(tmp_path, faulty)):
        with pytest.raises(InputError, match="the compiler has a fault"):
            attempt()
    assert not list(tmp_path.iterdir())
    with monkeypatch.context() as unchecked:
        unchecked.setattr(circuit_files, "check_meaning", lambda *_: SIMULATED)
        write_circuit(tmp_path, faulty)
    with pytest.raises(InputError, match="the compiler has a fault"):
        load_circuit(tmp_path)


def test_a_manifest_says_whether_the_circuit_was_simulated(problem, small, stored, as_if_wide):
    grid = [(3 * r + c, 3 * r + c + 1) for r in range(4) for c in range(2)] + [(q, q + 3) for q in range(9)]
    wide = compile_problem(problem, small.device("fractional", grid, 12), [0.4, 0.3, 0.2], depth=1, compare=False)
    assert json.loads(circuit_contents(wide)["manifest.json"])["checked"] == NOT_SIMULATED
    assert stored.manifest()["checked"] == SIMULATED
    assert take_shots(wide, "sector", shots=10).shots == 10
