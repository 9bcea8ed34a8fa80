import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.circuits import SCHEDULES, Ansatz, Observable, Schedule, components


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("start", ["dicke", "canonical", "random"])
def test_gradients_by_free_angles(problem_of, schedule, start):
    ansatz = Ansatz(problem_of(), depth=2, schedule=schedule, start=start)
    angles = np.random.default_rng(1).normal(size=ansatz.size)
    value, gradient = ansatz.value_and_gradient(angles)
    assert value == pytest.approx(ansatz.expectation(angles))
    for position in range(ansatz.size):
        step = np.zeros(ansatz.size)
        step[position] = 1e-5
        slope = (ansatz.expectation(angles + step) - ansatz.expectation(angles - step)) / 2e-5
        assert gradient[position] == pytest.approx(slope, abs=1e-7)


@settings(max_examples=30)
@given(st.integers(0, 1000))
def test_relabelling_samples_and_mixer_relabels_the_state(problem_of, seed):
    rng = np.random.default_rng(seed)
    problem = problem_of(seed)
    order = rng.permutation(problem.n_samples)  # new position i holds old sample order[i]
    new_of = np.argsort(order)
    relabelled = SelectionProblem(
        coupling=problem.coupling[order],
        sample_scores=problem.sample_scores[order],
        feature_scores=problem.feature_scores,
        k=problem.k,
        m=problem.m,
        coupling_weight=problem.coupling_weight,
    )
    first = Ansatz(problem, 2)
    classes = [[(int(new_of[i]), int(new_of[j])) for i, j in edges] for edges in first.samples.classes]
    second = Ansatz(relabelled, 2, mixer=(classes, "ring"))
    angles = rng.normal(size=8)
    assert second.expectation(angles) == pytest.approx(first.expectation(angles), abs=1e-12)
    np.testing.assert_allclose(
        np.sort(second.probabilities(angles).ravel()), np.sort(first.probabilities(angles).ravel()), atol=1e-12
    )


def test_figures_of_merit(problem_of):
    ansatz = Ansatz(problem_of(), 2)
    angles = np.random.default_rng(2).normal(size=8) * 0.4
    probabilities, energies = ansatz.probabilities(angles).ravel(), ansatz.energies.ravel()
    threshold = float(np.quantile(energies, 0.3, method="lower"))
    assert ansatz.hit_rate(angles, threshold) == pytest.approx(probabilities[energies <= threshold + 1e-9].sum())
    assert ansatz.optimum_mass(angles) == pytest.approx(probabilities[energies.argmin()])
    assert ansatz.approximation(np.zeros(8)) == pytest.approx(0, abs=1e-12)
    order = np.argsort(energies)
    mass = np.minimum(np.cumsum(probabilities[order]), 0.2)
    tail = np.diff(np.r_[0, mass])
    assert ansatz.cvar(angles, 0.2) == pytest.approx((tail * energies[order]).sum() / 0.2)
    value, gradient = ansatz.cvar_and_gradient(angles, 0.2)
    for position in range(8):
        step = np.zeros(8)
        step[position] = 1e-6
        assert gradient[position] == pytest.approx(
            (ansatz.cvar(angles + step, 0.2) - ansatz.cvar(angles - step, 0.2)) / 2e-6, abs=1e-5
        )
    assert ansatz.cvar(angles, 1.0) == pytest.approx(ansatz.expectation(angles))
    with pytest.raises(InputError, match="share"):
        ansatz.cvar(angles, 0.0)
    assert value <= ansatz.expectation(angles)


def test_flat_landscapes_have_a_perfect_score():
    flat = Ansatz(SelectionProblem(coupling=np.ones((4, 3)), k=2, m=2), 1)
    assert flat.approximation(np.ones(4)) == 1.0
    assert flat.optimum_mass(np.ones(4)) == pytest.approx(1)


def test_shots_follow_the_distribution_and_stay_in_the_budgets(problem_of):
    ansatz = Ansatz(problem_of(), 2)
    angles = np.random.default_rng(2).normal(size=8)
    shots = ansatz.sample(angles, 20_000, seed=5)
    assert shots.shots == 20_000
    assert shots.samples.shape[1:] == (2,) and shots.features.shape[1:] == (2,)
    assert shots.mean_energy() == pytest.approx(ansatz.expectation(angles), abs=0.02)
    np.testing.assert_allclose(
        shots.energies, [ansatz.problem.energy(s, f) for s, f in zip(shots.samples, shots.features, strict=True)]
    )
    assert (np.diff(shots.energies) >= 0).all() and shots.best[2] == shots.energies[0]
    threshold = float(np.quantile(ansatz.energies, 0.2))
    assert shots.hit_rate(threshold) == pytest.approx(ansatz.hit_rate(angles, threshold), abs=0.02)
    assert shots.cvar(0.1) == pytest.approx(ansatz.cvar(angles, 0.1), abs=0.02)
    again = ansatz.sample(angles, 20_000, seed=5)
    np.testing.assert_array_equal(again.counts, shots.counts)
    with pytest.raises(InputError, match="shots"):
        ansatz.sample(angles, 0)


def test_the_circuit_is_qiskits(problem_of):
    """The same layers as a Qiskit circuit, gate by gate from our conventions."""
    pytest.importorskip("qiskit")
    from qiskit import QuantumCircuit
    from qiskit.quantum_info import Statevector

    from biselect_quantum import conventions

    problem = problem_of(n=4, d=3)
    n = problem.n_samples
    ansatz = Ansatz(problem, 2, start="random", seed=3)
    angles = np.random.default_rng(8).normal(size=8)
    circuit = QuantumCircuit(7)
    for i in ansatz.spec.start[0]:
        circuit.x(i)
    for j in ansatz.spec.start[1]:
        circuit.x(conventions.feature_qubit(j, n))
    parts = problem.components()
    for gammas in ansatz.schedule.expand(angles):
        for gamma, part in zip(gammas[:-1], parts, strict=True):
            for q, field in enumerate(part.fields):
                circuit.rz(float(conventions.rz_angle(gamma, field)), q)
            for i, j in np.argwhere(part.couplings != 0):
                angle = float(conventions.rzz_angle(gamma, part.couplings[i, j]))
                circuit.rzz(angle, int(i), conventions.feature_qubit(int(j), n))
        from qiskit.circuit.library import XXPlusYYGate

        for register, offset in ((ansatz.samples, 0), (ansatz.features, n)):
            for edges in register.classes:
                for i, j in edges:
                    circuit.append(
                        XXPlusYYGate(float(conventions.xx_plus_yy_angle(gammas[-1])), 0.0), [i + offset, j + offset]
                    )
    theirs = Statevector(circuit).data
    ours = ansatz.dense_state(angles)
    overlap = np.vdot(theirs, ours)
    assert abs(overlap) == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(ours, theirs * overlap, atol=1e-12)


def test_a_hit_observable_can_be_trained_on(problem_of):
    ansatz = Ansatz(problem_of(), 1)
    observable = Observable(kind="hit", threshold=float(ansatz.energies.min()))
    value, gradient = ansatz.value_and_gradient([0.1, 0.2, 0.3, 0.4], observable)
    assert 0 < value < 1 and np.abs(gradient).max() > 0


def test_mismatched_schedules_and_dense_vectors_too_large_are_refused(problem_of):
    with pytest.raises(InputError, match="depth 2"):
        Ansatz(problem_of(), 3, Schedule.named("tied", 2))
    large = Ansatz(SelectionProblem(coupling=np.ones((20, 10)), k=1, m=1), 1)
    with pytest.raises(InputError, match="too large"):
        large.dense_state(np.zeros(4))


def test_misshapen_groups_and_wrong_observables_are_refused(problem_of):
    with pytest.raises(InputError, match="shape"):
        Ansatz(problem_of(), 1).expectation(np.zeros(4), Observable(kind="values", values=np.ones((2, 2))))
    with pytest.raises(InputError, match="shape of the problem"):
        Ansatz(problem_of(), 1, groups=components(problem_of(n=4)))
