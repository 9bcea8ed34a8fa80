from math import comb

from hypothesis import given

from biselect.core import Rules, SelectionProblem
from biselect.testing import all_selections, brute_force
from biselect.testing.strategies import problems


@given(problems(max_samples=5, max_features=4))
def test_every_choice_stands_once(problem):
    everyone = list(all_selections(problem))
    assert (
        len(set(everyone)) == len(everyone) == comb(problem.n_samples, problem.k) * comb(problem.n_features, problem.m)
    )


def test_the_lowest_energy_is_found_among_allowed_choices_only():
    problem = SelectionProblem(coupling=[[1, 9], [3, 2]], k=1, m=1)
    assert brute_force(problem) == -9
    ruled = SelectionProblem(coupling=[[1, 9], [3, 2]], k=1, m=1, feature_rules=Rules(forced_out=[1]))
    assert brute_force(ruled) == -3
