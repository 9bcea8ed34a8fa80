"""Readout correction: exact for a known confusion, honest for a measured one, never above 1."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect import SelectionProblem, solve
from biselect.errors import InputError
from biselect_quantum.devices import compile_circuit
from biselect_quantum.devices.noise.sampling import misread
from biselect_quantum.devices.qiskit_circuits import ideal_probabilities
from biselect_quantum.devices.readout import (
    ReadoutCalibration,
    calibration_circuit,
    correct,
    inside_weights,
    prepared,
    pulse_errors,
    string_weights,
)
from biselect_quantum.shots import CountedBits, Shots

RULES = [{}, {"sample_rules": {"forced_in": [1], "forced_out": [3]}}]


def problem_of(rng, n, d, k, m, **more):
    return SelectionProblem(coupling=rng.random((n, d)), sample_scores=rng.random(n), k=k, m=m, **more)


def confused(rng, bits, worst=0.2):
    wrong = worst * rng.random((bits, 2))
    return np.array([[1 - wrong[:, 0], wrong[:, 0]], [wrong[:, 1], 1 - wrong[:, 1]]]).transpose(2, 0, 1)


@given(st.integers(0, 1 << 30), st.sampled_from(RULES))
def test_weights_undo_the_confusion_exactly(seed, rules):
    """The slow twin: all strings, and the Kronecker product of all matrices."""
    rng = np.random.default_rng(seed)
    problem = problem_of(rng, 4, 2, 2, 1, **rules)
    strings = np.array(list(product((0, 1), repeat=6)), dtype=np.uint8)
    confusion = confused(rng, 6)
    whole = np.ones((1, 1))
    for matrix in confusion:
        whole = np.kron(whole, matrix)
    true = rng.dirichlet(np.ones(64))
    read = true @ whole
    inside = Shots.of_table(strings, problem=problem).inside
    inverse = np.linalg.inv(confusion)
    assert np.allclose(inside_weights(strings, inverse, problem), np.linalg.inv(whole)[:, inside].sum(axis=1))
    assert read @ inside_weights(strings, inverse, problem) == pytest.approx(true[inside].sum())
    assert read @ string_weights(strings, strings[[3, 9]], inverse) == pytest.approx(true[[3, 9]].sum())


def calibrated(rng, confusion, shots):
    width = len(confusion)
    known = np.array([prepared(width, part, 5) for part in (0, 1)])
    tables = [misread(np.repeat(row[None], shots, axis=0).astype(np.int64), confusion, rng) for row in known]
    read = [CountedBits.of_table(table, np.ones(shots, dtype=np.int64)) for table in tables]
    return ReadoutCalibration(prepared=known, read=read, pulse_errors=np.zeros(width))


def taken(rng, problem, mass, shots, confusion):
    """Shots of which a share is uniform inside the budgets and the rest uniform on all strings, misread."""
    n, d = problem.n_samples, problem.n_features
    inside = np.zeros((shots, n + d), dtype=np.int64)
    inside[:, : problem.k], inside[:, n : n + problem.m] = 1, 1
    inside = np.hstack([rng.permuted(inside[:, :n], axis=1), rng.permuted(inside[:, n:], axis=1)])
    table = np.where(rng.random((shots, 1)) < mass, inside, rng.integers(2, size=inside.shape))
    return Shots.of_table(misread(table, confusion, rng), problem=problem)


def test_intervals_hold_the_truth_and_nothing_is_above_one():
    rng = np.random.default_rng(1)
    problem = problem_of(rng, 6, 4, 2, 2)
    chance, held, goal = problem.sector.chance, 0, solve(problem).energy
    for _ in range(8):
        confusion = confused(rng, 10, 0.04)
        shots, calibration = taken(rng, problem, 0.8, 1500, confusion), calibrated(rng, confusion, 400)
        found = correct(shots, calibration, goal=goal, layout=range(10))
        held += found.feasible_rate.low <= 0.8 + 0.2 * chance <= found.feasible_rate.high
        assert found.feasible_rate.value > shots.exact_budget_mass and found.calibration_shots == 800
        assert 0 <= found.hit_rate.low <= found.hit_rate.value <= found.hit_rate.high < 0.2
    assert held >= 6
    flawless = taken(rng, problem, 1.0, 500, confused(rng, 10, 0.0))
    found = correct(flawless, calibration, goal=0.0, layout=range(10))
    assert found.feasible_rate == (1.0, 1.0, 1.0) and found.hit_rate is None


def test_columns_follow_the_layout(small):
    """One bit alone is misread; the correction must look for it where the layout says."""
    rng = np.random.default_rng(2)
    problem = problem_of(rng, 3, 2, 1, 1)
    confusion = np.tile(np.eye(2), (5, 1, 1))
    confusion[4] = [[0.7, 0.3], [0.0, 1.0]]  # classical bit 4
    layout = [3, 2, 4, 1, 0]
    true = np.tile(np.array([[1, 0, 0, 1, 0]]), (4000, 1))
    of_variable = confusion[layout]  # classical bit 4 holds sample 2
    assert of_variable[2, 0, 1] == 0.3
    shots = Shots.of_table(misread(true, of_variable, rng), problem=problem)
    calibration = calibrated(rng, confusion, 4000)
    right = correct(shots, calibration, goal=-9.0, layout=layout).feasible_rate
    wrong = correct(shots, calibration, goal=-9.0, layout=[4, 3, 2, 1, 0]).feasible_rate
    assert right.value > 0.97 and wrong.value < 0.75


@pytest.mark.parametrize("kind", ["fractional", "prx"])
def test_calibration_prepares_half_of_the_bits_then_the_others(small, kind):
    case = small.case(np.random.default_rng(3), 5)
    target = small.device(kind, case.edges, 5)
    compiled = compile_circuit(case.program, target, case.layout, angles=case.angles)
    seen = []
    for part in (0, 1):
        circuit = calibration_circuit(compiled, part, 7).gates
        assert set(circuit.count_ops()) <= set(target.operation_names)
        string = int(ideal_probabilities(circuit).argmax())
        seen.append([string >> bit & 1 for bit in range(5)])
        assert seen[-1] == prepared(5, part, 7).tolist()
    assert np.sum(seen, axis=0).tolist() == [1] * 5
    assert pulse_errors(compiled).tolist() == [0.0] * 5


def test_a_bit_that_tells_nothing_is_refused():
    rng = np.random.default_rng(4)
    confusion = confused(rng, 4, 0.02)
    confusion[2] = 0.5
    with pytest.raises(InputError, match="bit 2 was misread"):
        calibrated(rng, confusion, 2000).confusion()
