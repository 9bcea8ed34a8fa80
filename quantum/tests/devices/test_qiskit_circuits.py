import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qiskit import QuantumCircuit, qasm3, qpy
from qiskit.quantum_info import Statevector

from biselect import SelectionProblem, solve
from biselect.errors import InputError
from biselect_quantum.circuits import SCHEDULES, Ansatz, AnsatzSpec, split_terms
from biselect_quantum.devices import (
    build_circuit,
    compile_circuit,
    compile_problem,
    qasm3_text,
    qpy_bytes,
    to_qiskit,
)
from biselect_quantum.devices._native_gates import fold_rzz
from biselect_quantum.devices.qiskit_circuits import ideal_probabilities, ideal_shots, prepare_dicke


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


@given(st.integers(1, 6), st.data())
@settings(max_examples=30)
def test_a_dicke_state_is_uniform_over_its_subsets(n, data):
    ones = data.draw(st.integers(0, n))
    circuit = QuantumCircuit(n)
    prepare_dicke(circuit, range(n), ones)
    state = Statevector(circuit).data
    weight = np.array([position.bit_count() == ones for position in range(1 << n)])
    np.testing.assert_allclose(state, weight / np.sqrt(weight.sum()), atol=1e-12)


def test_a_dicke_state_takes_a_number_of_gates_linear_in_n_times_k():
    circuit = QuantumCircuit(20)
    prepare_dicke(circuit, range(20), 15)
    assert circuit.count_ops()["cx"] <= 6 * 20 * 5  # the fewer zeros are prepared


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(1)
    problem = SelectionProblem(coupling=rng.exponential(size=(4, 3)), sample_scores=rng.normal(size=4), k=2, m=1)
    return compile_problem(problem, "boston", [0.7, -1.3, 0.4, 0.6], depth=2, compare=False)


def test_native_logical_and_sector_distributions_agree(made):
    program = made.bound
    native = ideal_probabilities(made.gates)
    assert np.abs(native - ideal_probabilities(to_qiskit(program))).sum() / 2 < 1e-9
    start = tuple(np.flatnonzero(part).tolist() for part in (program.bits[:4], program.bits[4:]))
    ansatz = Ansatz(made.surrogate, 2, "bilinear", program.mixer, start)
    expected = np.abs(ansatz.dense_state(list(made.angles.values()))) ** 2
    assert np.abs(native - expected).sum() / 2 < 1e-9


@pytest.mark.parametrize("angles", [[0, 0, 0], [-7, 300.5, -0.2], [1e6, -1e6, 1e5], [np.pi, 2 * np.pi, np.pi / 2]])
@pytest.mark.parametrize("size", [(1, 1, 1, 1), (2, 1, 1, 1), (3, 2, 3, 1), (4, 3, 1, 2)])
def test_any_angles_and_the_smallest_sizes(angles, size):
    n, d, k, m = size
    rng = np.random.default_rng(n)
    problem = SelectionProblem(coupling=rng.normal(size=(n, d)), sample_scores=rng.normal(size=n), k=k, m=m)
    for registers in ("trees", "paths"):
        made = compile_problem(problem, "iqm-54", angles, depth=1, registers=registers, compare=False)
        native, logical = map(ideal_probabilities, (made.gates, to_qiskit(made.bound)))
        assert np.abs(native - logical).sum() / 2 < 1e-9
        shots = made.decode(ideal_shots(made.gates, 50))
        assert shots.exact_budget_mass == 1


def test_shots_follow_the_distribution(made):
    shots = ideal_shots(made.gates, 20_000, seed=3)
    found = np.bincount(shots @ (1 << np.arange(7)), minlength=128) / 20_000
    assert np.abs(found - ideal_probabilities(made.gates)).sum() / 2 < 0.02
    assert np.array_equal(shots, ideal_shots(made.gates, 20_000, seed=3))


def test_wide_circuits_are_refused(made):
    problem = SelectionProblem(coupling=np.ones((15, 10)), k=2, m=2)
    wide = compile_problem(problem, "boston", [0.1, 0.2, 0.3], depth=1, compare=False)
    with pytest.raises(InputError, match="24 at most"):
        ideal_probabilities(wide.gates)


def test_a_reloaded_target_compiles_to_the_same_circuit(made):
    from biselect_quantum.devices.targets import from_snapshot, snapshot

    again = from_snapshot(snapshot(made.target))
    assert compile_circuit(made.bound, again, made.patch.layout, made.path).gates == made.gates


@given(seed=st.integers(0, 10_000), depth=st.integers(1, 3))
@settings(max_examples=25)
def test_two_qubit_gates_are_those_of_the_papers_formulas(small, seed, depth):
    """G_cost = p|E_sparse|, G_mixer = 2 Σ|E_XY| unfused and Σ|E_XY| fused; folding keeps them (Section S10.1)."""
    case = small.case(np.random.default_rng(seed), 7, split=4, depth=depth, extra=2)
    program = case.program.bind(case.angles)
    cost = depth * int(np.count_nonzero(case.problem.coupling))
    mixing = depth * sum(map(len, case.mixer))
    unfused, fused = (dict(to_qiskit(program, fused=each).count_ops()) for each in (False, True))
    assert unfused.get("rzz", 0) == fused.get("rzz", 0) == cost
    assert unfused.get("rxx", 0) + unfused.get("ryy", 0) == 2 * mixing
    assert fused.get("xx_plus_yy", 0) == mixing
    assert fold_rzz(to_qiskit(program)).count_ops().get("rzz", 0) == cost
