"""Rules inside the circuit: every simulator against the whole 2^n vector, and nothing outside the rules."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biselect as bs
from biselect.core import Group, Rules, SelectionProblem, groups_by
from biselect.errors import InputError
from biselect.testing.oracles import all_selections
from biselect.testing.strategies import blocked_problems
from biselect_quantum.circuits import Ansatz, Observable
from biselect_quantum.circuits.angle_selection import warm_starts
from biselect_quantum.circuits.mixers import block_classes
from biselect_quantum.circuits.starts import start_choice
from biselect_quantum.simulate.program import RZ, RZZ


def allowed_bits(problem):
    """The position, among all 2^(N+D), of every choice that budgets and rules allow."""
    n = problem.n_samples
    return sorted(
        sum(1 << i for i in samples) + sum(1 << (n + j) for j in features)
        for samples, features in all_selections(problem)
    )


def run_gates(program, start):
    """A bound program on all amplitudes, gate by gate."""
    psi = start.astype(np.complex128)
    places = np.arange(psi.size)
    for op in program.ops:
        bits = [(places >> qubit) & 1 for qubit in op.qubits]
        if op.kind == RZ:
            psi = psi * np.exp(-0.5j * op.angle * (1 - 2 * bits[0]))
        elif op.kind == RZZ:
            psi = psi * np.exp(-0.5j * op.angle * (1 - 2 * bits[0]) * (1 - 2 * bits[1]))
        else:
            partner = places ^ sum(1 << qubit for qubit in op.qubits)
            turned = np.cos(op.angle) * psi - 1j * np.sin(op.angle) * psi[partner]
            psi = np.where(bits[0] != bits[1], turned, psi)
    return psi


def dense_start(ansatz):
    problem, bits = ansatz.problem, ansatz.spec.program().bits
    start = np.zeros(1 << (problem.n_samples + problem.n_features))
    if bits is None:
        start[allowed_bits(problem)] = 1
    else:
        start[sum(bit << qubit for qubit, bit in enumerate(bits))] = 1
    return start / np.linalg.norm(start)


def up_to_phase(found, expected):
    return np.abs(found - np.exp(1j * np.angle(np.vdot(expected, found))) * expected).max()


@settings(max_examples=40)
@given(
    blocked_problems(),
    st.sampled_from(["plain", "compiled"]),
    st.sampled_from(["ring", "path", "complete"]),
    st.sampled_from(["dicke", "canonical", "random"]),
    st.integers(0, 10**6),
)
def test_a_ruled_state_is_that_of_the_whole_vector(problem, backend, mixer, start, seed):
    ansatz = Ansatz(problem, 2, mixer=mixer, start=start, seed=seed, backend=backend)
    angles = np.random.default_rng(seed).normal(size=ansatz.size)
    dense = ansatz.dense_state(angles)
    assert up_to_phase(dense, run_gates(ansatz.spec.program(angles), dense_start(ansatz))) < 1e-12
    assert set(np.flatnonzero(dense)) <= set(allowed_bits(problem))
    assert ansatz.state(angles).size == len(allowed_bits(problem)) == problem.sector.size
    bits = (np.arange(dense.size)[:, None] >> np.arange(problem.n_samples + problem.n_features)) & 1
    mean = float(np.abs(dense) ** 2 @ problem.bit_energies(bits))
    assert ansatz.expectation(angles) == pytest.approx(mean, abs=1e-11)


@settings(max_examples=40)
@given(blocked_problems(5, 4), st.sampled_from(["plain", "compiled", "continuous"]), st.integers(0, 10**6))
def test_ruled_gradients_are_central_differences(problem, backend, seed):
    ansatz = Ansatz(problem, 2, start="random", seed=seed, backend=backend)
    angles = np.random.default_rng(seed).normal(size=ansatz.size)
    value, gradient = ansatz.value_and_gradient(angles)
    assert value == pytest.approx(ansatz.expectation(angles), abs=1e-11)
    for position in range(ansatz.size):
        step = 1e-5 * np.eye(ansatz.size)[position]
        slope = (ansatz.expectation(angles + step) - ansatz.expectation(angles - step)) / 2e-5
        assert gradient[position] == pytest.approx(slope, abs=1e-7)


@settings(max_examples=40)
@given(blocked_problems(), st.integers(0, 10**6))
def test_shots_are_all_choices_that_the_rules_allow(problem, seed):
    ansatz = Ansatz(problem, 1, mixer="complete")
    shots = ansatz.sample(0.3 * np.random.default_rng(seed).normal(size=ansatz.size), 20_000, seed=seed)
    assert all(problem.obeys(*choice) for choice in zip(shots.samples, shots.features, strict=True))
    np.testing.assert_allclose(shots.energies, problem.energies(shots.samples, shots.features))
    uniform = ansatz.sample(np.zeros(ansatz.size), 20_000, seed=seed)
    assert len(uniform.counts) == problem.sector.size  # 180 choices at most
    assert problem.obeys(*start_choice(problem, "canonical"))
    assert problem.obeys(*start_choice(problem, "random", seed))


@settings(max_examples=15)
@given(
    blocked_problems(),
    st.sampled_from(["dicke", "canonical", "random"]),
    st.sampled_from(["energy", "hit", "excess", "cvar"]),
    st.integers(0, 10**6),
)
def test_compiled_circuits_with_rules_are_the_plain_ones(problem, start, kind, seed):
    plain, compiled = (Ansatz(problem, 3, start=start, seed=seed, backend=one) for one in ("plain", "compiled"))
    observable = Observable(kind=kind, threshold=float(np.quantile(plain.energies, 0.3)))
    for angles in np.random.default_rng(seed).normal(size=(3, plain.size)):
        value, gradient = compiled.value_and_gradient(angles, observable)
        expected, slope = plain.value_and_gradient(angles, observable)
        assert value == pytest.approx(expected, abs=1e-12)
        np.testing.assert_allclose(gradient, slope, atol=1e-10)
        assert compiled.expectation(angles, observable) == pytest.approx(value, abs=1e-12)


def ruled():
    rng = np.random.default_rng(7)
    return SelectionProblem(
        coupling=rng.normal(size=(8, 6)),
        k=4,
        m=3,
        sample_rules=Rules(forced_in=[2], forced_out=[7], groups=[Group(members=(0, 1, 3), exactly=1)]),
        feature_rules=Rules(groups=[Group(members=(0, 5), exactly=1)]),
    )


def test_training_and_the_solver_find_the_constrained_optimum():
    problem = ruled()
    best = bs.solve(problem, "exact")
    ansatz = Ansatz(problem, 3)
    trained = ansatz.train(objective="hit-rate", threshold=best.energy, evaluations=150, seed=0)
    shots = ansatz.sample(trained.angles, 2000)
    assert shots.best[2] == pytest.approx(best.energy)
    assert shots.hit_rate(best.energy + 1e-9) > 3 / problem.sector.size  # far above uniform choice
    found = bs.solve(problem, "qaoa", seed=0, depth=2, evaluations=40)
    assert problem.obeys(found.samples, found.features)
    assert found.energy == pytest.approx(best.energy)


def test_limits_that_a_choice_may_stay_below_are_refused_with_the_way_to_write_them():
    loose = replace(ruled(), sample_rules=Rules(groups=[Group(members=(0, 1, 3), at_most=1)]))
    with pytest.raises(InputError, match=r"Group\(members=…, exactly=t\)"):
        Ansatz(loose, 1)
    with pytest.raises(InputError, match=r"Group\(members=…, exactly=t\)"):
        bs.solve(loose, "qaoa")
    tight = replace(loose, sample_rules=Rules(groups=groups_by([0, 0, 1, 1, 2, 2, 3, 3], at_most=1)))  # k = 4
    assert Ansatz(tight, 1).state(np.zeros(4)).shape[0] == 2**4


def test_edges_and_starts_that_break_the_rules_are_refused():
    problem = ruled()
    with pytest.raises(InputError, match="its ends stand in two groups"):
        Ansatz(problem, 1, mixer=([(0, 4)], "ring"))
    with pytest.raises(InputError, match="2 is settled by the rules"):
        Ansatz(problem, 1, mixer=([(2, 4)], "ring"))
    with pytest.raises(InputError, match="breaks the problem's rules"):
        Ansatz(problem, 1, start=([0, 1, 2, 4], [0, 1, 2]))
    classes = block_classes("ring", 8, problem.sector.blocks[0])
    assert sorted(end for edge in classes[0] for end in edge) == [0, 1, 4, 5]  # classes of the two blocks act at once


def test_the_wide_sampler_solves_and_starts_inside_the_rules(monkeypatch):
    problem = ruled()
    monkeypatch.setattr("biselect_quantum.solver.check_memory", refuse_all)
    found = bs.solve(problem, "qaoa", seed=0, depth=1, mixer="path", evaluations=4, shots=100)
    assert found.info["method"] == "wide sampler"
    assert problem.obeys(found.samples, found.features)
    assert all(problem.obeys(*choice) for choice in warm_starts(problem, count=3))


def refuse_all(*_, **__):
    raise InputError("no memory")
