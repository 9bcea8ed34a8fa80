import json
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings

from biselect.core import Group, Rules, SelectionProblem, groups_by
from biselect.core.sector import BlockRanks, block_subsets
from biselect.core.selection import explain
from biselect.errors import InfeasibleError, InputError
from biselect.solvers import solve
from biselect.testing import all_selections, brute_force
from biselect.testing.strategies import blocked_problems, ruled_problems


def problem_with(**rules):
    return SelectionProblem(coupling=np.arange(12.0).reshape(4, 3), k=2, m=2, **rules)


def test_rules_travel_with_the_problem(tmp_path):
    plain = problem_with()
    ruled = problem_with(
        sample_rules=Rules(forced_in=[3], forced_out=[0], groups=groups_by(["x", "y", "x", "y"], at_most=1)),
        feature_rules=Rules(groups=[Group(members=(0, 2))]),
    )
    ruled.save(tmp_path / "p.npz")
    for copy in (
        SelectionProblem.load(tmp_path / "p.npz"),
        SelectionProblem.from_dict(json.loads(json.dumps(ruled.to_dict()))),
    ):
        assert (copy.sample_rules, copy.feature_rules) == (ruled.sample_rules, ruled.feature_rules)
        assert copy.digest == ruled.digest != plain.digest
    assert "sample_rules" not in plain.to_dict()


def test_obeys_looks_at_budgets_and_every_rule():
    problem = problem_with(
        sample_rules=Rules(forced_in=[3], forced_out=[0]), feature_rules=Rules(groups=[Group(members=(0, 2))])
    )
    assert problem.obeys([1, 3], [0, 1])
    assert not problem.obeys([1, 2], [0, 1])  # 3 is missing
    assert not problem.obeys([0, 3], [0, 1])  # 0 is forced out
    assert not problem.obeys([1, 3], [0, 2])  # exclusive
    assert not problem.obeys([1, 2, 3], [0, 1])


@pytest.mark.parametrize(
    ("rules", "error", "message"),
    [
        (Rules(forced_in=[7]), InputError, "forced-in samples must lie within 0..3"),
        (
            Rules(groups=[Group(members=(0, 1)), Group(members=(1, 2))]),
            InputError,
            "groups of samples must not share members",
        ),
        (Rules(forced_in=[1], forced_out=[1]), InfeasibleError, "forced in and forced out"),
        (Rules(forced_in=[0, 1, 2]), InfeasibleError, "3 samples are forced in, but the budget is 2"),
        (Rules(forced_in=[0, 1], groups=[Group(members=(0, 1))]), InfeasibleError, "more than 1 of the group"),
        (Rules(forced_out=[0, 1, 2]), InfeasibleError, "room for 1 samples, but 2"),
        (Rules(groups=[Group(members=(0, 1, 2, 3))]), InfeasibleError, "room for 1 samples"),
        (Rules(forced_out=[0], groups=[Group(members=(0, 1, 2, 3))]), InfeasibleError, "room for 1 samples"),
        ({"forced": [1]}, InputError, "must hold forced_in, forced_out, groups and overlapping"),
        ({"groups": [{"members": [1], "limit": 2}]}, InputError, "members and at_most"),
    ],
)
def test_rules_that_cannot_be_met_are_refused(rules, error, message):
    with pytest.raises(error, match=message):
        problem_with(sample_rules=rules)


def test_at_most_is_a_count():
    with pytest.raises(InputError, match="whole number"):
        Rules(groups=[Group(members=(0, 1), at_most=-1)])


def test_swaps_in_an_explanation_obey_the_rules():
    problem = SelectionProblem(
        coupling=np.array([[9.0], [8.0], [7.0], [6.0], [5.0]]),
        k=2,
        m=1,
        sample_rules=Rules(forced_in=[4], forced_out=[1], groups=[Group(members=(0, 2))]),
    )
    swaps = explain(problem, np.array([0, 4]), np.array([0]), nearest=9).sample_swaps
    assert [(swap.enters, swap.leaves, swap.cost) for swap in swaps] == [(2, 0, 2.0), (3, 0, 3.0)]


@given(ruled_problems())
@settings(max_examples=50)
def test_swaps_in_an_explanation_lead_to_choices_that_obey(problem):
    samples, features = next(iter(all_selections(problem)))
    why = explain(problem, np.array(samples), np.array(features), nearest=99)
    for swap in why.sample_swaps:
        assert problem.obeys({*samples, swap.enters} - {swap.leaves}, features)
    for swap in why.feature_swaps:
        assert problem.obeys(samples, {*features, swap.enters} - {swap.leaves})
    exchanges = ({*features, j} - {i} for j in range(problem.n_features) for i in features if j not in features)
    possible = {min(choice - set(features)) for choice in exchanges if problem.obeys(samples, choice)}
    assert {swap.enters for swap in why.feature_swaps} == possible


@given(ruled_problems())
@settings(max_examples=100)
def test_room_is_the_size_of_the_largest_choice_that_obeys(problem):
    for rules, length in ((problem.sample_rules, problem.n_samples), (problem.feature_rules, problem.n_features)):
        sizes = [size for size in range(length + 1) if any(map(rules.allow, combinations(range(length), size)))]
        assert rules.room(length) == max(sizes)


@given(ruled_problems())
@settings(max_examples=30)
def test_the_sector_counts_the_choices_that_obey(problem):
    assert problem.sector.size == len(list(all_selections(problem)))
    assert problem.sector.without_rules.size == comb(problem.n_samples, problem.k) * comb(problem.n_features, problem.m)


@given(blocked_problems())
@settings(max_examples=50)
def test_blocks_list_the_choices_that_obey_in_colexicographic_order(problem):
    blocks, rules = problem.sector.blocks[0], problem.sample_rules
    everyone = combinations(range(problem.n_samples), problem.k)
    allowed = sorted(filter(rules.allow, everyone), key=lambda subset: subset[::-1])
    listed = block_subsets(blocks)
    assert [tuple(row) for row in listed.tolist()] == allowed
    np.testing.assert_array_equal(BlockRanks(blocks)(listed), np.arange(len(allowed)))
    bits = np.array([[i in subset for i in range(problem.n_samples)] for subset in allowed])
    assert rules.allow_bits(bits).all()
    flipped = ~bits
    assert rules.allow_bits(flipped).tolist() == [rules.allow(np.flatnonzero(row).tolist()) for row in flipped]
    assert blocks.rules(problem.n_samples).blocks(problem.n_samples, problem.k, "samples") == blocks


@given(ruled_problems())
@settings(max_examples=40)
def test_rules_are_blocks_exactly_where_every_limit_is_reached(problem):
    everyone = combinations(range(problem.n_samples), problem.k)
    rules = problem.sample_rules
    allowed = [set(subset) for subset in everyone if rules.allow(subset)]
    reached = all(len({len(choice & set(group.members)) for choice in allowed}) == 1 for group in rules.groups)
    try:
        blocks = rules.blocks(problem.n_samples, problem.k, "samples")
    except InputError:
        assert not reached  # a limit that binds is not reached by all
    else:
        assert {frozenset(row) for row in block_subsets(blocks).tolist()} == set(map(frozenset, allowed))


def test_exactly_so_many_is_kept_by_every_solver_that_keeps_limits():
    coupling = np.random.default_rng(0).normal(size=(7, 5))
    groups = [Group(members=(0, 1, 2), exactly=1), {"members": [3, 4], "exactly": 2}]
    problem = SelectionProblem(coupling=coupling, k=4, m=2, sample_rules=Rules(groups=groups))
    assert [group.at_most for group in problem.sample_rules.groups] == [1, 2, 1]  # the rest is a group of its own
    for solver in ("exact", "milp", "annealing", "coordinate-ascent"):
        found = solve(problem, solver)
        assert len(set(found.samples) & {0, 1, 2}) == 1 and {3, 4} <= set(found.samples)
    assert solve(problem, "exact").energy == pytest.approx(brute_force(problem))


@pytest.mark.parametrize(
    ("rules", "error", "message"),
    [
        (Rules(groups=[Group(members=(0, 1), exactly=3)]), InfeasibleError, "fewer than 3 to choose"),
        (Rules(groups=[Group(members=(0, 1, 2), exactly=3)]), InfeasibleError, "hold exactly 3, but the budget is 2"),
        (Rules(forced_in=[3], groups=[Group(members=(0, 1, 2), exactly=2)]), InfeasibleError, "more than 0 of the"),
        (
            Rules(groups=[Group(members=(0, 1), exactly=1), Group(members=(2,), at_most=1)]),
            InputError,
            "write them with `exactly` too",
        ),
    ],
)
def test_exact_groups_that_cannot_be_met_are_refused(rules, error, message):
    with pytest.raises(error, match=message):
        problem_with(sample_rules=rules)


def test_a_group_says_at_most_or_exactly():
    with pytest.raises(InputError, match="not both"):
        Group(members=(0, 1), at_most=1, exactly=1)
    with pytest.raises(InputError, match="at_most= or exactly="):
        groups_by(["x"])
    assert Rules(groups=[Group(members=(0, 1), exactly=1)]).allow([1, 2])
    assert not Rules(groups=[Group(members=(0, 1), exactly=1)]).allow([2])


def columns_and_kinds(columns, m, kinds, seed=0):
    """Three directions of each column, and at most half of some earlier kinds' directed columns."""
    rng = np.random.default_rng(seed)
    earlier = [3 * rng.permutation(columns)[:m] + rng.integers(0, 3, size=m) for _ in range(kinds)]
    return Rules(
        groups=[Group(members=(3 * j, 3 * j + 1, 3 * j + 2)) for j in range(columns)],
        overlapping=[Group(members=kind.tolist(), at_most=m // 2) for kind in earlier],
    )


def test_overlapping_limits_travel_with_the_problem(tmp_path):
    rules = Rules(groups=[Group(members=(0, 1))], overlapping=[Group(members=(1, 2)), Group(members=(0, 2), at_most=0)])
    weights = np.arange(12.0).reshape(3, 4)
    problem = SelectionProblem(coupling=weights, k=2, m=1, feature_rules=rules)
    problem.save(tmp_path / "p.npz")
    for copy in (SelectionProblem.load(tmp_path / "p.npz"), SelectionProblem.from_dict(problem.to_dict())):
        assert copy.feature_rules == rules and copy.digest == problem.digest
    without = SelectionProblem(coupling=weights, k=2, m=1, feature_rules=Rules(groups=rules.groups))
    assert problem.digest != without.digest
    assert "overlapping" not in without.feature_rules.to_dict()


@pytest.mark.parametrize("kinds", [1, 4])
def test_a_table_with_all_kinds_is_counted_and_checked_at_once(kinds):
    rules = columns_and_kinds(165, 15, kinds)
    assert rules.room(495) == 165
    everything = comb(165, 15) * 3**15
    assert 0.9 * everything < rules.count(495, 15) < everything


def test_limits_that_leave_no_choice_are_told_before_any_search():
    directions = [Group(members=(2 * j, 2 * j + 1)) for j in range(15)]
    low, high = range(0, 30, 2), range(1, 30, 2)
    limits = [Group(members=low, at_most=7), Group(members=high, at_most=7)]
    with pytest.raises(InfeasibleError, match="leave room for 14 features, but 15 must be chosen"):
        SelectionProblem(
            coupling=np.ones((40, 30)), k=10, m=15, feature_rules=Rules(groups=directions, overlapping=limits)
        )
    enough = [limits[0], Group(members=high, at_most=8)]
    rules = Rules(groups=directions, overlapping=enough)
    assert rules.count(30, 15) == comb(15, 7)
    best = solve(SelectionProblem(coupling=np.ones((40, 30)), k=10, m=15, feature_rules=rules))
    assert best.proven_optimal and rules.allow(best.features.tolist())


def test_limits_that_cannot_be_gone_through_are_refused_only_where_that_matters():
    many = Rules(overlapping=[Group(members=(j, j + 1)) for j in range(39)])  # neighbours exclude each other
    weights = np.random.default_rng(0).random((30, 40))
    best = solve(SelectionProblem(coupling=weights, k=5, m=3, feature_rules=many), "exact")
    assert best.proven_optimal and np.diff(best.features).min() > 1
    for ask in (lambda: many.count(40, 3), lambda: many.room(40)):
        with pytest.raises(InputError, match="too many ways"):
            ask()


def test_only_features_have_overlapping_limits_and_they_say_at_most():
    with pytest.raises(InputError, match="samples cannot have overlapping limits"):
        problem_with(sample_rules=Rules(overlapping=[Group(members=(0, 1))]))
    with pytest.raises(InputError, match="overlapping limits say at_most"):
        Rules(overlapping=[Group(members=(0, 1), exactly=1)])
    with pytest.raises(InputError, match=r"must lie within 0\.\.2"):
        problem_with(feature_rules=Rules(overlapping=[Group(members=(1, 3))]))
    with pytest.raises(InfeasibleError, match="more than 1 of the group"):
        problem_with(feature_rules=Rules(forced_in=[0, 1], overlapping=[Group(members=(0, 1))]))
    with pytest.raises(InputError, match="a circuit keeps no overlapping limits"):
        problem_with(feature_rules=Rules(overlapping=[Group(members=(0, 1))])).sector.check_product()
