import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.circuits import Ansatz, components, split_terms
from biselect_studies.quantum.small_angle import depth_efficiency, grouping_gain, grouping_suffices, responses


def problem_of(rng, n, d, k, m):
    return SelectionProblem(
        coupling=rng.normal(size=(n, d)), sample_scores=rng.normal(size=n), feature_scores=rng.normal(size=d), k=k, m=m
    )


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(["ring", "path", "complete"]))
def test_the_closed_form_is_the_mixed_derivative(seed, mixer):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 6, size=2)
    problem = problem_of(rng, n, d, int(rng.integers(1, n + 1)), int(rng.integers(1, d + 1)))
    ansatz = Ansatz(problem, 1, mixer=mixer)
    step = 1e-4
    for position, expected in enumerate(responses(problem, mixer=mixer)):
        corners = 0.0
        for sign_gamma in (1, -1):
            for sign_beta in (1, -1):
                angles = np.zeros(4)
                angles[position], angles[3] = sign_gamma * step, sign_beta * step
                corners += sign_gamma * sign_beta * ansatz.expectation(angles)
        assert corners / (4 * step**2) == pytest.approx(expected, abs=1e-5 * (1 + abs(expected)))


def test_responses_of_groups_add_up():
    rng = np.random.default_rng(0)
    problem = problem_of(rng, 5, 4, 2, 2)
    terms = 5 + 4 + 20
    each = responses(problem, split_terms(problem, np.arange(terms)))
    np.testing.assert_allclose(each.sum(), responses(problem).sum())
    np.testing.assert_allclose([each[:5].sum(), each[5:9].sum(), each[9:].sum()], responses(problem))


def test_grouping_gains_nothing_on_collinear_responses():
    assert grouping_gain(np.array([2.0, 2.0, 2.0])) == pytest.approx(0)
    assert grouping_gain(np.array([1.0, 0.0, 0.0])) == pytest.approx(np.sqrt(3) - 1)


def test_the_predicted_descent_is_reached_at_small_angles():
    problem = problem_of(np.random.default_rng(1), 5, 4, 2, 2)
    ansatz = Ansatz(problem, 1)
    r = responses(problem)
    step = 0.005
    free = np.r_[-np.sqrt(3) * step * r / np.linalg.norm(r), step]
    tied = np.r_[np.full(3, -np.sign(r.sum()) * step), step]
    start = ansatz.expectation(np.zeros(4))
    gain = (start - ansatz.expectation(free)) - (start - ansatz.expectation(tied))
    assert gain / step**2 == pytest.approx(grouping_gain(r), rel=0.05)


def test_depth_efficiency_is_the_share_of_the_gain():
    assert depth_efficiency(0.2, 0.25, 0.4) == pytest.approx(0.25)
    with pytest.raises(InputError, match="higher"):
        depth_efficiency(0.4, 0.5, 0.4)


@given(st.integers(0, 2**32 - 1))
def test_grouping_suffices_where_its_score_is_at_least_that_of_the_noisy_deeper_circuit(seed):
    tied, gain, grouped, kept = np.random.default_rng(seed).random(4)
    deeper = tied + kept * gain  # what is left of the added layers
    if abs(grouped - deeper) > 1e-12:
        assert grouping_suffices(tied, grouped, tied + gain, kept=kept) == (grouped >= deeper)


def test_a_device_keeps_a_share():
    with pytest.raises(InputError, match="ρ_extra"):
        grouping_suffices(0.1, 0.2, 0.3, kept=1.5)


def test_groups_of_another_objective_are_held_against_the_problems_energy():
    problem = problem_of(np.random.default_rng(3), 5, 4, 2, 2)
    only_samples = components(problem)[:1]
    ansatz = Ansatz(problem, 1, mixer="path", groups=only_samples)
    step = 1e-4
    corners = sum(g * b * ansatz.expectation([g * step, b * step]) for g in (1, -1) for b in (1, -1))
    assert corners / (4 * step**2) == pytest.approx(responses(problem, only_samples, mixer="path")[0], rel=1e-4)
