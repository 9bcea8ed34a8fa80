from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

import biselect as bs
from biselect.core import Group, Rules, SelectionProblem
from biselect.errors import InfeasibleError, InputError, MissingDependencyError
from biselect.solvers import other_formats
from biselect.testing.strategies import problems


@pytest.fixture
def ruled():
    rng = np.random.default_rng(0)
    return SelectionProblem(
        coupling=rng.normal(size=(6, 5)),
        sample_scores=rng.normal(size=6),
        feature_scores=rng.normal(size=5),
        coupling_weight=0.5,
        k=3,
        m=2,
        sample_rules=Rules(forced_in=[1], forced_out=[4], groups=[Group(members=(0, 2, 3), at_most=1)]),
        feature_rules=Rules(groups=[Group(members=(0, 1))]),
    )


@given(problems(max_samples=4, max_features=4))
@settings(max_examples=200)
def test_at_the_safe_penalties_every_ground_state_is_feasible(problem):
    sample_penalty, feature_penalty = other_formats.penalties(problem)
    bits = np.array(list(product([0, 1], repeat=problem.n_samples + problem.n_features)))
    off_s = bits[:, : problem.n_samples].sum(axis=1) - problem.k
    off_f = bits[:, problem.n_samples :].sum(axis=1) - problem.m
    energies = problem.bit_energies(bits) + sample_penalty * off_s**2 + feature_penalty * off_f**2
    feasible = (off_s == 0) & (off_f == 0)
    assert energies[~feasible].min(initial=np.inf) > energies[feasible].min()


def test_unusable_solutions_are_refused(ruled):
    with pytest.raises(InputError, match="lacks 11 variables, 's0' among them"):
        other_formats.from_values(ruled, {}, solver="x")
    values = {**{f"s{i}": 1 for i in range(6)}, **{f"f{j}": 0 for j in range(5)}}
    with pytest.raises(InfeasibleError, match="chooses 6 samples and 0 features"):
        other_formats.from_values(ruled, values, solver="x")


def test_a_bqm_has_no_place_for_rules_and_an_absent_package_is_named(ruled):
    with pytest.raises(InputError, match="to_cqm"):
        other_formats.to_bqm(ruled)
    with pytest.raises(MissingDependencyError, match="pip install no_such_package"):
        other_formats._import("no_such_package")


def test_dimod_finds_the_optimum_of_the_bqm():
    dimod = pytest.importorskip("dimod")
    rng = np.random.default_rng(1)
    problem = SelectionProblem(
        coupling=rng.normal(size=(6, 5)), sample_scores=rng.normal(size=6), feature_scores=rng.normal(size=5), k=3, m=2
    )
    best = bs.solve(problem, "exact")
    first = dimod.ExactSolver().sample(other_formats.to_bqm(problem)).first
    assert first.energy == pytest.approx(best.energy)
    assert other_formats.from_values(problem, first.sample, solver="dimod").energy == pytest.approx(best.energy)


def test_dimod_finds_the_optimum_of_the_cqm(ruled):
    dimod = pytest.importorskip("dimod")
    found = dimod.ExactCQMSolver().sample_cqm(other_formats.to_cqm(ruled))
    first = found.filter(lambda row: row.is_feasible).first
    assert first.energy == pytest.approx(bs.solve(ruled, "exact").energy)
    assert other_formats.from_values(ruled, first.sample, solver="dimod").energy == pytest.approx(first.energy)


def test_a_quadratic_program_has_the_same_energies(ruled):
    qiskit_optimization = pytest.importorskip("qiskit_optimization")
    program = other_formats.fill_quadratic_program(ruled, qiskit_optimization.QuadraticProgram())
    rng = np.random.default_rng(0)
    feasible = 0
    for _ in range(200):
        bits = rng.integers(0, 2, size=11)
        assert program.objective.evaluate(bits) == pytest.approx(float(ruled.bit_energies(bits)))
        samples, features = np.flatnonzero(bits[:6]), np.flatnonzero(bits[6:])
        obeys = ruled.obeys(samples, features)
        assert program.is_feasible(bits) == obeys
        feasible += obeys
    best = bs.solve(ruled, "exact")
    bits = np.isin(np.arange(11), [*best.samples, *(6 + best.features)]).astype(int)
    assert program.is_feasible(bits)
