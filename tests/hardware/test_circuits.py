import io

import numpy as np
import pytest
from qiskit import qasm3, qpy
from qiskit.quantum_info import Statevector

from biselect import SelectionProblem, solve
from biselect.hardware import build_circuit, qasm3_text, qpy_bytes, to_qiskit
from biselect.qaoa import SCHEDULES, Ansatz, AnsatzSpec, split_terms


def problem_of(n=4, d=3, k=2, m=1, seed=0):
    rng = np.random.default_rng(seed)
    scores = {"sample_scores": rng.normal(size=n), "feature_scores": rng.normal(size=d)}
    return SelectionProblem(coupling=rng.normal(size=(n, d)), k=k, m=m, coupling_weight=0.7, **scores)


def same_state(one, other):
    return abs(abs(np.vdot(one, other)) - 1) < 1e-10


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("mixer", "start"), [("ring", "dicke"), ("path", "canonical"), ("complete", "random")])
def test_a_circuit_is_the_ansatz_it_is_built_like(schedule, mixer, start):
    problem = problem_of(n=5, d=3, k=3, m=2)
    ansatz = Ansatz(problem, 2, schedule, mixer, start, seed=5)
    angles = np.random.default_rng(1).normal(scale=3, size=ansatz.size)
    expected = ansatz.dense_state(angles)
    spec = AnsatzSpec(problem, 2, schedule, mixer, start, seed=5)
    bound = build_circuit(spec, angles, measure=False)
    assert same_state(Statevector(bound).data, expected)
    program = spec.program()
    for fused in (True, False):
        free = to_qiskit(program, fused=fused, measure=False)
        assert {parameter.name for parameter in free.parameters} == set(ansatz.schedule.angle_names)
        values = dict(zip(program.angle_names, angles.tolist(), strict=True))
        assert same_state(Statevector(free.assign_parameters(values)).data, expected)


def test_huge_angles_are_those_of_the_ansatz():
    problem = problem_of()
    ansatz = Ansatz(problem, 2, start="canonical")
    angles = 1e5 * np.random.default_rng(2).normal(size=8)
    circuit = build_circuit(AnsatzSpec(problem, 2, start="canonical"), angles, measure=False)
    assert same_state(Statevector(circuit).data, ansatz.dense_state(angles))
    turns = [abs(step.operation.params[0]) for step in circuit.data if step.operation.name in ("rz", "rzz")]
    assert turns and max(turns) <= np.pi


def test_warm_starts_and_groups_are_those_of_the_ansatz():
    problem = problem_of()
    groups = split_terms(problem, np.arange(4 + 3 + 12) % 2)
    warm = solve(problem)
    choice = (warm.samples.tolist(), warm.features.tolist())
    ansatz = Ansatz(problem, 1, "fully-grouped", ([(0, 1), (1, 2), (2, 3)], "path"), choice, groups=groups)
    angles = [0.4, -1.1, 0.8]
    for start in (choice, warm):
        spec = AnsatzSpec(problem, 1, "fully-grouped", ([(0, 1), (1, 2), (2, 3)], "path"), start, groups=groups)
        circuit = build_circuit(spec, angles, measure=False)
        assert same_state(Statevector(circuit).data, ansatz.dense_state(angles))


def test_zero_couplings_make_no_gate_and_bits_are_measured_in_order():
    problem = SelectionProblem(coupling=[[0.0, 1.0], [0.0, 0.0]], k=1, m=1)
    program = AnsatzSpec(problem, 1, "tied", "path", "canonical").program()
    assert program.edges("rzz") == ((0, 3),) and program.edges("xy") == ((0, 1), (2, 3))
    circuit = to_qiskit(program)
    pairs = [
        (circuit.find_bit(step.qubits[0]).index, circuit.find_bit(step.clbits[0]).index)
        for step in circuit.data
        if step.operation.name == "measure"
    ]
    assert pairs == [(q, q) for q in range(4)]


@pytest.mark.parametrize("bound", [True, False])
def test_files_hold_the_same_circuit(bound):
    problem = problem_of()
    angles = [0.3, -0.2, 0.5, 0.1, 0.7, 0.4, 1.2, 0.9] if bound else None
    circuit = build_circuit(AnsatzSpec(problem, 2, start="canonical"), angles)
    (again,) = qpy.load(io.BytesIO(qpy_bytes(circuit)))
    assert again == circuit
    text = qasm3_text(circuit)
    assert text.startswith("OPENQASM 3")
    read = qasm3.loads(text)
    assert read.num_parameters == circuit.num_parameters
    if bound:
        plain = [each.remove_final_measurements(inplace=False) for each in (read, circuit)]
        assert same_state(*(Statevector(each).data for each in plain))
