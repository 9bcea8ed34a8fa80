"""The paper's solvers: the contract of every solver, each by hand, and compiled walks against slow, obvious twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biselect as bs
from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.solvers.budgets import neighbours
from biselect.solvers.kernels import next_below, next_unit
from biselect.testing import assert_solver_api
from biselect_studies.extensions.kawasaki import ring_walk
from biselect_studies.extensions.swap_sa import swap_walk

NOISE = SelectionProblem(coupling=np.abs(np.random.default_rng(0).normal(size=(200, 30))), k=12, m=4)
MANY = {"random": {"draws": 10**9}, "swap-sa": {"restarts": 10**5}, "kawasaki": {"steps": 10**9}}
MANY |= {"tabu": {"steps": 10**9}}


@pytest.fixture
def planted():
    """A block that stands out clearly."""
    rng = np.random.default_rng(0)
    W = rng.random((60, 20))
    W[np.ix_([3, 8, 40], [1, 7, 19])] += 3
    return SelectionProblem(coupling=W, k=3, m=3)


def some_problem(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 12)), int(rng.integers(2, 9))
    return SelectionProblem(
        coupling=rng.normal(size=(n, d)).astype(rng.choice([np.float32, np.float64])),
        sample_scores=rng.normal(size=n),
        feature_scores=rng.normal(size=d),
        coupling_weight=0.7,
        k=int(rng.integers(1, n + 1)),
        m=int(rng.integers(1, d + 1)),
    )


@pytest.mark.parametrize("name", ["feature-first", "kawasaki", "random", "swap-sa", "tabu"])
def test_every_solver_keeps_the_contract(name):
    assert_solver_api(name)


@pytest.mark.parametrize("name", MANY)
def test_a_struck_deadline_gives_an_honest_answer(name):
    answer = bs.solve(NOISE, name, time_limit=1e-3, **MANY[name])
    assert answer.energy == NOISE.energy(answer.samples, answer.features)
    assert answer.bound <= answer.energy and not answer.proven_optimal


def test_feature_first_by_hand():
    W = np.array([[9.0, 0, 4], [0, 3, 4], [0, 3, 4], [0, 3, 0]])
    by = {
        name: bs.solve(SelectionProblem(coupling=W, k=1, m=1), "feature-first", aggregate=name).features.tolist()
        for name in ("max", "sum", "median", "best")
    }
    assert by == {"max": [0], "sum": [2], "median": [2], "best": [0]}


def test_random_is_uniform_over_the_sector():
    problem = SelectionProblem(coupling=np.zeros((3, 2)), k=1, m=1)
    seen = {
        (int(answer.samples[0]), int(answer.features[0]))
        for answer in (bs.solve(problem, "random", draws=1, seed=seed) for seed in range(60))
    }
    assert len(seen) == 6


def test_tabu_does_not_take_back_what_has_just_left():
    """With a tenure beyond its steps, nothing ever returns: the walk runs out of items."""
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((6, 5)), k=2, m=2)
    assert bs.solve(problem, "tabu", tenure=100, steps=50).info["steps"] <= 8


def test_feature_first_finds_a_clear_block(planted):
    best = bs.solve(planted, "feature-first")
    assert (best.samples.tolist(), best.features.tolist()) == ([3, 8, 40], [1, 7, 19])


def test_tabu_walks_over_worse_states_where_greedy_stays():
    problem = SelectionProblem(coupling=np.array([[5.0, 0, 4], [5, 0, 0], [0, 6, 4]]), k=1, m=1)
    assert bs.solve(problem, "greedy").score == 5.0  # no single swap helps: (2, 1) is two swaps away
    assert bs.solve(problem, "tabu").score == 6.0


def test_a_solver_that_counts_its_steps_has_neighbours_too():
    found = bs.solve(SelectionProblem(coupling=np.eye(4), k=2, m=2), "tabu")
    assert isinstance(found.info["steps"], int)
    assert len(neighbours(found, rows=1, columns=0)) == 3


def test_threads_do_not_change_the_answer_of_swap_sa():
    problem = SelectionProblem(coupling=np.random.default_rng(1).normal(size=(60, 30)), k=9, m=7)
    answers = [bs.solve(problem, "swap-sa", seed=5, workers=workers, trajectory=True) for workers in (1, 3)]
    assert answers[0].to_dict() == answers[1].to_dict()
    assert answers[0].info == answers[1].info


def test_a_trajectory_counts_steps(planted):
    for name in ("swap-sa", "tabu", "kawasaki", "random"):
        answer = bs.solve(planted, name, trajectory=True)
        steps = [step for step, _ in answer.info["trajectory"]]
        assert steps == sorted(steps)
        assert answer.info["trajectory"][-1][1] == pytest.approx(answer.energy)


def test_swap_sa_comes_near_the_optimum_of_pure_noise():
    problem = SelectionProblem(coupling=np.abs(np.random.default_rng(7).normal(size=(80, 20))), k=8, m=4)
    optimum = bs.solve(problem, "exact").energy
    for options in ({}, {"refine_every": 200}, {"start": "greedy"}, {"temperature": 1.0, "final_temperature": 1.0}):
        assert bs.solve(problem, "swap-sa", **options).energy <= 0.97 * optimum


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("swap-sa", {"steps": 0}, "at least 1"),
        ("swap-sa", {"moves": (1, 2)}, "three weights"),
        ("swap-sa", {"bias": 2}, "within 0..1"),
        ("swap-sa", {"start": "warm"}, "random or greedy"),
        ("swap-sa", {"refine_every": -1}, "0 or more"),
        ("swap-sa", {"temperature": 0.0}, "positive"),
        ("tabu", {"steps": 0}, "at least 1"),
        ("kawasaki", {"temperature": 0.0}, "positive"),
        ("random", {"draws": 0}, "at least 1"),
        ("feature-first", {"aggregate": "mean"}, "aggregate must be one of"),
    ],
)
def test_useless_options_are_refused(planted, name, options, message):
    with pytest.raises(InputError, match=message):
        bs.solve(planted, name, **options)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 1.0]))
@settings(max_examples=60)
def test_swap_sa_is_its_slow_twin(seed, bias):
    problem = some_problem(seed)
    n, d, k, m = problem.n_samples, problem.n_features, problem.k, problem.m
    rng = np.random.default_rng(seed)
    order_s, order_f, moves = rng.permutation(n), rng.permutation(d), np.array([0.4, 0.8])
    temperatures = np.full(150, 0.7)
    s, f, state = order_s.copy(), order_f.copy(), np.array([seed], dtype=np.uint64)

    def sample_value(position):
        row = problem.coupling[s[position], f[:m]].astype(float)
        return problem.sample_scores[s[position]] + problem.coupling_weight * row.sum()

    def feature_value(position):
        column = problem.coupling[s[:k], f[position]].astype(float)
        return problem.feature_scores[f[position]] + problem.coupling_weight * column.sum()

    def draw(count, length, value):
        leaves, enters = next_below(state, count), count + next_below(state, length - count)
        if bias > 0 and next_unit(state) <= bias:
            other, other_in = next_below(state, count), count + next_below(state, length - count)
            leaves = other if value(other) < value(leaves) else leaves
            enters = other_in if value(other_in) > value(enters) else enters
        return leaves, enters

    best = problem.score(s[:k], f[:m])
    for temperature in temperatures:
        kind = next_unit(state)
        with_sample, with_feature = kind <= moves[0] or kind > moves[1], kind > moves[0]
        if (with_sample and k == n) or (with_feature and m == d):
            continue
        before, old_s, old_f = problem.score(s[:k], f[:m]), s.copy(), f.copy()
        swap_s = draw(k, n, sample_value) if with_sample else None
        swap_f = draw(m, d, feature_value) if with_feature else None
        if swap_s:
            s[list(swap_s)] = s[list(swap_s[::-1])]
        if swap_f:
            f[list(swap_f)] = f[list(swap_f[::-1])]
        gain = problem.score(s[:k], f[:m]) - before
        if gain < 0 and next_unit(state) > np.exp(gain / temperature):
            s, f = old_s, old_f
        best = max(best, problem.score(s[:k], f[:m]))

    best_s, best_f, noted = np.zeros(k, dtype=np.int64), np.zeros(m, dtype=np.int64), np.empty((500, 2))
    found, count, _ = swap_walk(
        problem.coupling, problem.coupling_weight, problem.sample_scores, problem.feature_scores, k, m,
        order_s, order_f, temperatures, moves, bias, np.array([seed], dtype=np.uint64),
        -np.inf, best_s, best_f, noted,
    )  # fmt: skip
    assert (order_s.tolist(), order_f.tolist()) == (s.tolist(), f.tolist())
    assert found == pytest.approx(best, abs=1e-9)
    assert found == pytest.approx(problem.score(best_s, best_f), abs=1e-9)
    assert noted[count - 1, 1] == found


@given(st.integers(0, 10**6))
@settings(max_examples=60)
def test_kawasaki_is_its_slow_twin(seed):
    problem = some_problem(seed)
    n, d = problem.n_samples, problem.n_features
    rng = np.random.default_rng(seed)
    in_s, in_f = rng.permutation(n) < problem.k, rng.permutation(d) < problem.m
    bits, state = np.concatenate([in_s, in_f]), np.array([seed], dtype=np.uint64)
    best = -problem.bit_energies(bits)
    for _ in range(200):
        edge = next_below(state, n + d)
        ring, offset = (n, 0) if edge < n else (d, n)
        x, y = edge, offset + (edge - offset + 1) % ring
        if bits[x] == bits[y]:
            continue
        trial = bits.copy()
        trial[[x, y]] = trial[[y, x]]
        gain = float(problem.bit_energies(bits) - problem.bit_energies(trial))
        if gain < 0 and next_unit(state) > np.exp(gain / 0.8):
            continue
        bits = trial
        best = max(best, -problem.bit_energies(bits))
    found, _ = ring_walk(
        problem.coupling, problem.coupling_weight, problem.sample_scores, problem.feature_scores, in_s, in_f, 0.8, 200,
        np.array([seed], dtype=np.uint64), -np.inf, in_s.copy(), in_f.copy(), np.empty((500, 2)),
    )  # fmt: skip
    assert np.concatenate([in_s, in_f]).tolist() == bits.tolist()
    assert found == pytest.approx(best, abs=1e-9)
