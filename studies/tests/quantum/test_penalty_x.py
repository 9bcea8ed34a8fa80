import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.circuits import Ansatz
from biselect_studies.quantum.penalty_x import PenaltyX, candidate_search, coefficient_scale


def problem_of(rng, n, d, k, m):
    return SelectionProblem(
        coupling=rng.normal(size=(n, d)), sample_scores=rng.normal(size=n), feature_scores=rng.normal(size=d), k=k, m=m
    )


def slow_probabilities(circuit, angles):
    """Bit string by bit string, gate by gate; bit q of the position is qubit q."""
    problem = circuit.problem
    n, d = problem.n_samples, problem.n_features
    bits = (np.arange(1 << (n + d))[:, None] >> np.arange(n + d)) & 1
    energy = np.einsum("xi,ij,xj->x", bits, problem.qubo(), bits)
    excess = (bits[:, :n].sum(axis=1) - problem.k) ** 2 + (bits[:, n:].sum(axis=1) - problem.m) ** 2
    cost = energy + circuit.strength * coefficient_scale(problem) * excess
    psi = np.full(1 << (n + d), 2 ** (-(n + d) / 2), dtype=complex)
    for gamma, beta in np.reshape(angles, (-1, 2)):
        psi = psi * np.exp(-1j * gamma * cost)
        for q in range(n + d):
            psi = np.cos(beta) * psi - 1j * np.sin(beta) * psi[np.arange(psi.size) ^ (1 << q)]
    return np.abs(psi) ** 2


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_matrices_from_both_sides_are_the_gates_one_by_one(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 5, size=2)
    problem = problem_of(rng, n, d, int(rng.integers(1, n + 1)), int(rng.integers(1, d + 1)))
    circuit = PenaltyX(problem, depth=2, strength=float(rng.choice([0.0, 0.5, 4.0])))
    angles = rng.normal(size=4)
    fast = circuit.probabilities(angles)
    np.testing.assert_allclose(fast.T.ravel(), slow_probabilities(circuit, angles), atol=1e-12)
    assert fast.sum() == pytest.approx(1)


def test_what_is_filtered_lies_in_the_budgets_in_the_sectors_order():
    problem = problem_of(np.random.default_rng(0), 5, 4, 2, 3)
    circuit = PenaltyX(problem, depth=1, strength=2.0)
    np.testing.assert_allclose(circuit.filtered(circuit.energies), Ansatz(problem, 1).energies)
    np.testing.assert_allclose(circuit.filtered(circuit.cost), circuit.filtered(circuit.energies))  # no penalty there
    assert circuit.feasibility(np.zeros(2)) == pytest.approx(problem.sector.chance)


def test_the_scale_is_the_largest_coefficient():
    problem = SelectionProblem(coupling=[[0.5, -3.0]], sample_scores=[1.0], feature_scores=[2.0, 0.0], k=1, m=1)
    assert coefficient_scale(problem) == 3.0
    assert coefficient_scale(SelectionProblem(coupling=[[0.0]], k=1, m=1)) == 1e-6


def test_the_search_takes_the_best_candidate_and_is_fixed_by_its_seed():
    problem = problem_of(np.random.default_rng(1), 4, 4, 2, 2)
    circuit = PenaltyX(problem, depth=1, strength=1.0)
    found = candidate_search(circuit.probabilities, circuit.cost, 2, seed=3, shots=200_000)
    assert np.array_equal(found, candidate_search(circuit.probabilities, circuit.cost, 2, seed=3, shots=200_000))
    candidates = np.random.default_rng(3).uniform(0, np.pi, size=(8, 2))
    assert circuit.expectation(found) == min(map(circuit.expectation, candidates))


def test_bad_input_is_refused():
    problem = problem_of(np.random.default_rng(2), 3, 3, 1, 1)
    with pytest.raises(InputError, match="depth"):
        PenaltyX(problem, depth=0, strength=1.0)
    with pytest.raises(InputError, match="strength"):
        PenaltyX(problem, depth=1, strength=-1.0)
    with pytest.raises(InputError, match="4 finite angles"):
        PenaltyX(problem, depth=2, strength=1.0).probabilities([0.0, 1.0])
    wide = SelectionProblem(coupling=np.ones((15, 10)), k=1, m=1)
    with pytest.raises(InputError, match="12 qubits"):
        PenaltyX(wide, depth=1, strength=1.0)


def test_the_ising_form_is_the_penalised_cost_up_to_a_constant():
    circuit = PenaltyX(problem_of(np.random.default_rng(3), 3, 2, 2, 1), 1, 0.7)
    fields, couplings = circuit.ising()
    z = 1 - 2 * ((np.arange(32)[:, None] >> np.arange(5)) & 1)
    energies = z @ fields + np.einsum("xi,ij,xj->x", z, couplings, z)
    apart = energies - circuit.cost.T.ravel()
    assert np.ptp(apart) == pytest.approx(0, abs=1e-9)
    assert np.ptp(energies) > 1
