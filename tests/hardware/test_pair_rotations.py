"""Circuits for devices with RZZ or RXX alone: exact, one gate for each rotation, few steps."""

from itertools import product

import numpy as np
import pytest

from biselect import SelectionProblem
from biselect.errors import InputError
from biselect.hardware.compile import compile_circuit
from biselect.hardware.pair_rotations import in_classes, pair_rotation
from biselect.hardware.paths import Y_FRAME, YFramePath
from biselect.hardware.targets import from_snapshot, load_target, snapshot
from biselect.qaoa import AnsatzSpec
from biselect.simulate.program import RZZ, Op, steps

TRAPS = ("quantinuum-h1", "quantinuum-h2", "quantinuum-helios", "ionq-aria", "ionq-forte")
PATHS = (Y_FRAME, YFramePath(coloured=False), YFramePath(propagate=False))
PAULIS = {
    "x": np.array([[0, 1], [1, 0]]),
    "y": np.array([[0, -1j], [1j, 0]]),
    "z": np.array([[1, 0], [0, -1]]),
}


def turned(generator, angle):
    """exp(-iθG/2) of a G whose square is the identity."""
    return np.cos(angle / 2) * np.eye(len(generator)) - 1j * np.sin(angle / 2) * generator


def matrix_of(name, angles):
    """The native gates from their definitions, by no code of Qiskit's or ours."""
    if name == "r":
        return turned(np.cos(angles[1]) * PAULIS["x"] + np.sin(angles[1]) * PAULIS["y"], angles[0])
    if name in ("sx", "x"):
        return turned(PAULIS["x"], np.pi / 2 if name == "sx" else np.pi)
    axis = PAULIS[name[1]]
    return turned(axis if len(name) == 2 else np.kron(axis, axis), angles[0])


def applied(state, matrix, qubits):
    """A gate on the axes of a state with one axis a qubit."""
    gate = matrix.reshape((2,) * (2 * len(qubits)))
    moved = np.tensordot(gate, state, axes=(range(len(qubits), 2 * len(qubits)), qubits))
    return np.moveaxis(moved, range(len(qubits)), qubits)


def dicke_states(program):
    """All basis states that the budgets allow."""
    n = program.n_samples
    every = product((0, 1), repeat=program.qubits)
    return [bits for bits in every if (sum(bits[:n]), sum(bits[n:])) == (program.k, program.m)]


def logical_chances(program):
    """Probabilities of the program by its definition, axis q logical qubit q."""
    state = np.zeros((2,) * program.qubits, dtype=complex)
    starts = [program.bits] if program.bits else dicke_states(program)
    for bits in starts:
        state[bits] = len(starts) ** -0.5
    for op in program.ops:
        axes = {"rz": "z", "rzz": "z", "xy": "xy"}[op.kind]
        for axis in axes:
            pauli = PAULIS[axis] if len(op.qubits) == 1 else np.kron(PAULIS[axis], PAULIS[axis])
            state = applied(state, turned(pauli, op.angle), op.qubits)
    return np.abs(state) ** 2


def measured_chances(compiled):
    """Probabilities of a native circuit, axis q logical qubit q."""
    circuit, place = compiled.circuit, {q: n for n, q in enumerate(compiled.final_layout)}
    state = np.zeros((2,) * len(place), dtype=complex)
    state[(0,) * len(place)] = 1
    read = {}
    for step in circuit.data:
        qubits = [place[circuit.find_bit(qubit).index] for qubit in step.qubits]
        if step.operation.name == "measure":
            read[circuit.find_bit(step.clbits[0]).index] = qubits[0]
        else:
            state = applied(state, matrix_of(step.operation.name, step.operation.params), qubits)
    assert [read[bit] for bit in compiled.clbits] == list(range(len(place)))
    return np.abs(state) ** 2


def random_program(rng, most):
    n, d = rng.integers(1, most, 2).tolist()
    k, m = int(rng.integers(1, n + 1)), int(rng.integers(1, d + 1))
    scores = {"sample_scores": rng.normal(size=n), "feature_scores": rng.normal(size=d)}
    problem = SelectionProblem(coupling=rng.normal(size=(n, d)), k=k, m=m, **scores)
    schedule = rng.choice(["tied", "layerwise", "bilinear", "fixed-transport", "fully-grouped"])
    start = rng.choice(["random", "canonical", "chosen", "dicke"])
    if start == "chosen":
        start = rng.permutation(n)[:k], rng.permutation(d)[:m]
    else:
        start = str(start)
    mixer = str(rng.choice(["ring", "path", "complete"]))
    program = AnsatzSpec(problem, int(rng.integers(1, 5)), str(schedule), mixer, start, seed=rng).program()
    return program, rng.normal(size=len(program.angle_names)) * 10.0 ** rng.integers(-6, 4)


def largest_distance(cases, most, seed):
    rng = np.random.default_rng(seed)
    devices = [load_target(name) for name in TRAPS]
    worst = 0.0
    for case in range(cases):
        program, angles = random_program(rng, most)
        target = devices[case % len(devices)]
        layout = rng.permutation(target.num_qubits)[: program.qubits].tolist()
        compiled = compile_circuit(program, target, layout, PATHS[int(rng.integers(len(PATHS)))], angles=angles)
        difference = logical_chances(compiled.program) - measured_chances(compiled)
        worst = max(worst, 0.5 * float(np.abs(difference).sum()))
    return worst


def test_native_circuits_have_the_distribution_of_their_program():
    assert largest_distance(30, most=4, seed=0) < 1e-11


@pytest.mark.slow
def test_hundreds_of_native_circuits_have_the_distribution_of_their_program():
    assert largest_distance(600, most=6, seed=1) < 1e-9


@pytest.mark.parametrize("name", TRAPS)
def test_a_mixer_edge_is_two_gates_by_its_own_angle_and_a_coupling_one(name):
    problem = SelectionProblem(coupling=np.ones((4, 3)), k=2, m=1)
    program = AnsatzSpec(problem, 1, "bilinear", "path", "canonical").program([0.1, 0.2, 0.3])
    target = load_target(name)
    made = compile_circuit(program, target, range(7), YFramePath(propagate=False))
    angles = [step.operation.params[0] for step in made.circuit.data if step.operation.name == pair_rotation(target)]
    mixing = [angle for angle in angles if abs(abs(angle) - 0.3) < 1e-12]
    assert len(angles) == 12 + 2 * 5 and len(mixing) == 2 * 5
    known = compile_circuit(program, target, range(7))  # one pair of different bits in each register, then edges to it
    angles = [step.operation.params[0] for step in known.circuit.data if step.operation.name == pair_rotation(target)]
    assert sum(abs(abs(angle) - 0.6) < 1e-12 for angle in angles) == 2


def test_the_dense_phases_take_as_many_steps_as_the_larger_register():
    for n, d in ((5, 3), (3, 5), (4, 4)):
        dense = [Op(kind=RZZ, qubits=(i, n + j), angle=1.0) for i in range(n) for j in range(d)]
        ordered = in_classes(dense)
        assert sorted(op.qubits for op in ordered) == sorted(op.qubits for op in dense)
        assert 1 + max(steps([op.qubits for op in ordered])) == max(n, d)
        assert 1 + max(steps([op.qubits for op in dense])) == n + d - 1


def test_no_pulses_between_the_two_halves_of_a_mixer_edge_by_ms_gates():
    """RXX and RYY are MS gates of other phases, so mixing needs virtual rotations only."""
    problem = SelectionProblem(coupling=np.ones((4, 2)), k=2, m=1)
    program = AnsatzSpec(problem, 1, "bilinear", "complete", "canonical").program([0.1, 0.2, 0.3])
    made = compile_circuit(program, "ionq-aria", range(6))
    assert made.circuit.count_ops()["x"] == 3 and "sx" not in made.circuit.count_ops()


def test_a_dicke_start_costs_few_gates():
    """W states take one gate for each further qubit at most, and no start does more than its known bits ask for."""
    for n, k, most in ((5, 1, 7), (5, 4, 7), (4, 4, 0), (6, 3, 50)):
        problem = SelectionProblem(coupling=np.ones((n, 1)), k=k, m=1)
        program = AnsatzSpec(problem, 1, "bilinear", "path", "dicke").program([0.0, 0.0, 0.0])
        made = compile_circuit(program, "quantinuum-h1", range(n + 1))
        assert made.resources.two_qubit_gates <= most


def test_bounded_rotations_without_cz_are_refused():
    content = {**snapshot(load_target("ionq-forte"))}
    del content["hash"]
    content["gates"] = {**content["gates"]}
    content["gates"]["rzz"] = {**content["gates"]["rzz"], "angle_bounds": [[0.0, np.pi / 2]]}
    target = from_snapshot(content)
    program = AnsatzSpec(
        SelectionProblem(coupling=np.ones((2, 2)), k=1, m=1), 1, "bilinear", "path", "canonical"
    ).program([0.1, 0.2, 0.3])
    with pytest.raises(InputError, match="of any angle"):
        compile_circuit(program, target, range(4))
