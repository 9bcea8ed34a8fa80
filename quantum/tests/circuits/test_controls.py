"""Controls against their definitions, and contributions that are known beforehand."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect import Rules, SelectionProblem
from biselect.core import Group
from biselect.errors import InputError
from biselect_quantum.circuits import Ansatz
from biselect_quantum.circuits.controls import FACTORS, ROWS, climb_rate, control, interval, nulls

RULES = {"sample_rules": Rules(forced_in=[4], groups=[Group(members=(0, 1, 2), exactly=1)])}


def problem_of(seed, coupling=None, **more):
    rng = np.random.default_rng(seed)
    scores = {"sample_scores": rng.normal(size=6), "feature_scores": rng.normal(size=4)}
    coupling = rng.normal(size=(6, 4)) if coupling is None else coupling
    return SelectionProblem(**{"coupling": coupling, "k": 3, "m": 2, **scores, **more})


def centred(seed):
    """Couplings without row and column means: within the budgets no field stands for them."""
    coupling = np.random.default_rng(seed).normal(size=(6, 4))
    coupling -= coupling.mean(axis=0)
    return coupling - coupling.mean(axis=1)[:, None]


@pytest.fixture(scope="module")
def placed():
    """A circuit from a single choice, with few couplings, and its nulls."""
    coupling = np.zeros((6, 4))
    coupling[[0, 2, 5], [1, 3, 0]] = 1.0, 2.0, -1.5
    ansatz = Ansatz(problem_of(3, coupling), 3, start="random")
    return ansatz, nulls(ansatz, ansatz.train(evaluations=150), seeds=6, shots=500)


def phases(group, problem):
    """The phase of every choice, up to a constant."""
    rows, columns = (list(combinations(range(n), k)) for n, k in ((6, problem.k), (4, problem.m)))
    table = np.array([[group.sample[list(s)].sum() + group.feature[list(f)].sum() for f in columns] for s in rows])
    return table + np.array([[group.pair[np.ix_(s, f)].sum() for f in columns] for s in rows])


@given(st.integers(0, 1 << 30))
@settings(max_examples=25)
def test_fields_alone_are_the_best_one_local_phases(seed):
    """The slow twin: least squares over all choices, on indicator functions of samples and features."""
    problem = problem_of(seed)
    spec = Ansatz(problem, 1, backend="plain").spec
    rows, columns = (list(combinations(range(n), k)) for n, k in ((6, 3), (4, 2)))
    ones = np.array([[*(i in s for i in range(6)), *(j in f for j in range(4))] for s in rows for f in columns])
    for own, local in zip(spec.groups, control(spec, "fields", 0).groups, strict=True):
        wanted = phases(own, problem).ravel()
        fitted = ones @ np.linalg.lstsq(ones.astype(float), wanted, rcond=None)[0]
        found = phases(local, problem).ravel()
        assert not local.pair.any()
        np.testing.assert_allclose(found - found.mean(), fitted - fitted.mean(), atol=1e-9)


@given(st.integers(0, 1 << 30), st.integers(0, 100))
@settings(max_examples=25)
def test_shuffled_numbers_are_the_same_numbers_on_the_same_gates(seed, order):
    coupling = np.where(np.random.default_rng(seed).random((6, 4)) < 0.4, 1.0, 0.0) * problem_of(seed).coupling
    spec = Ansatz(problem_of(seed, coupling), 1, start="canonical", backend="plain").spec
    other = control(spec, "shuffled", order)
    for own, shuffled in zip(spec.groups, other.groups, strict=True):
        for part in ("sample", "feature", "pair"):
            assert sorted(getattr(own, part).ravel()) == sorted(getattr(shuffled, part).ravel())
        assert ((own.pair != 0) == (shuffled.pair != 0)).all()
    assert other.mixer == spec.mixer and other.start == spec.start and other.problem is spec.problem
    assert not any(
        part.pair.any() or part.sample.any() or part.feature.any() for part in control(spec, "mixer", 0).groups
    )


@pytest.mark.parametrize("objective", ["shots", "energy"])
@pytest.mark.parametrize("start", ["dicke", "random"])
def test_without_couplings_their_factor_is_exactly_one(objective, start):
    ansatz = Ansatz(problem_of(1, np.zeros((6, 4))), 2, start=start)
    table = nulls(ansatz, ansatz.train(objective=objective, evaluations=60), seeds=6)
    assert (table.factor("couplings") == 1).all() and table.angles["full"] == table.angles["fields"]


@pytest.mark.parametrize("seed", range(4))
def test_centred_couplings_have_exactly_no_fields(seed):
    """Rounding in projected fields must not become phases: training measures angles in units of their spread."""
    problem = problem_of(seed, 1e3 * centred(seed), sample_scores=None, feature_scores=None)
    ansatz = Ansatz(problem, 2)
    table = nulls(ansatz, ansatz.train(objective="optimum", evaluations=150), seeds=6)
    assert (table.factor("fields") == 1).all() and (table.rates["fields"] == table.rates["uniform"]).all()
    assert table.angles["fields"] == 0 and interval(table.factor("couplings"))[0] > 1


def test_factors_multiply_to_what_chance_is_beaten_by(placed):
    _, table = placed
    product = np.prod([table.factor(name) for name in ("transport", "fields", "couplings")], axis=0)
    np.testing.assert_allclose(product, table.rates["full"] / table.rates["uniform"])
    assert list(table.rates) == list(ROWS) and set(FACTORS) == set(table.to_dict()["factors"])


def test_rates_are_those_of_circuits_trained_alike(placed):
    ansatz, table = placed
    optimum = float(ansatz.energies.min())
    assert table.goal == optimum and table.knowledge == "trained blind"
    spent = ansatz.train(evaluations=150).evaluations
    for row in ("mixer", "shuffled", "full"):
        on = Ansatz.from_spec(control(ansatz.spec, row, 2))
        trained = on.train(evaluations=spent, seed=2)
        assert table.rates[row][2] == pytest.approx(on.hit_rate(trained.angles, optimum), rel=1e-9)
        below = table.start_energy - 1e-9
        assert table.improved[row][2] == pytest.approx(on.hit_rate(trained.angles, below), rel=1e-9)
        assert table.angles[row] == on.size - len(trained.inert)
    assert table.rates["uniform"][0] == pytest.approx(1 / ansatz.energies.size)
    assert table.start_energy == ansatz.problem.energy(*ansatz.spec.start) and table.rates["start"][0] in (0.0, 1.0)


def test_a_start_that_is_the_optimum_is_said_to_be_it():
    problem = problem_of(5)
    best = min(
        ((s, f) for s in combinations(range(6), 3) for f in combinations(range(4), 2)),
        key=lambda choice: problem.energy(*choice),
    )
    ansatz = Ansatz(problem, 1, start=best)
    table = nulls(ansatz, ansatz.train(evaluations=40), seeds=6)
    assert (table.rates["start"] == 1).all() and all((share == 0).all() for share in table.improved.values())


def test_a_known_threshold_is_the_goal_and_is_said(placed):
    ansatz, _ = placed
    goal = float(np.sort(ansatz.energies, axis=None)[4])
    table = nulls(ansatz, ansatz.train(threshold=goal, evaluations=40), seeds=6)
    assert table.goal == goal and table.rates["uniform"][0] == pytest.approx(5 / ansatz.energies.size)
    assert "threshold known beforehand" in table.sentence() and "threshold known beforehand" in str(table)


def test_rules_are_kept_by_every_control():
    ansatz = Ansatz(replace(problem_of(7), **RULES), 2)
    table = nulls(ansatz, ansatz.train(evaluations=60), seeds=6)
    assert table.rates["uniform"][0] == pytest.approx(1 / ansatz.energies.size)
    assert all(np.isfinite(rates).all() and (rates >= 0).all() and (rates <= 1).all() for rates in table.rates.values())


@pytest.mark.parametrize("more", [{}, RULES])
def test_climbs_end_where_nothing_improves(more):
    """An easy problem is climbed at once: every run hits, so items to a hit are what one run scores."""
    problem = problem_of(0, np.outer(np.arange(6.0), np.arange(4.0)), sample_scores=None, feature_scores=None, **more)
    ansatz = Ansatz(problem, 1, backend="plain")
    rate = climb_rate(problem, float(ansatz.energies.min()), 0)
    assert 1 / 60 < 1 - (1 - rate) ** 40 and climb_rate(problem, float(ansatz.energies.min()) - 1, 0) == 0


def test_intervals_cover_the_median_as_often_as_they_say():
    rng = np.random.default_rng(0)
    for seeds in (6, 8, 15):
        draws = np.exp(rng.normal(size=(4000, seeds)))
        ends = np.array([interval(values) for values in draws])
        covered = ((ends[:, 0] <= 1) & (ends[:, 2] >= 1)).mean()
        assert 0.945 < covered, seeds
    with pytest.raises(InputError, match="at least 6 seeds"):
        ansatz = Ansatz(problem_of(0), 1)
        nulls(ansatz, ansatz.train(evaluations=10), seeds=5)
