from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biselect as bs
from biselect.core import Group, Rules, Selection, SelectionProblem
from biselect.errors import InfeasibleError, InputError
from biselect.options import Kinds
from biselect.testing.strategies import problems, ruled_problems
from biselect.weights import Weigher


def answer(problem, **changes):
    fields = dict(
        problem=problem,
        samples=np.array([0]),
        features=np.array([0]),
        energy=-2.0,
        bound=-3.0,
        proven_optimal=False,
        solver="test",
        seconds=0.0,
    )
    return Selection(**{**fields, **changes})


def test_gap_is_the_missing_share_and_zero_when_proven():
    problem = SelectionProblem(coupling=np.ones((2, 2)), k=1, m=1)
    assert answer(problem).gap == pytest.approx(0.5)
    assert answer(problem, proven_optimal=True).gap == 0
    assert answer(problem, bound=-np.inf).to_dict()["gap"] is None
    assert answer(problem, energy=0.0, bound=0.0).gap == 0


@given(problems())
def test_explanation_adds_up_and_swaps_are_exact(problem):
    best = bs.solve(problem, "exact")
    why = best.explain()
    scale = 1e-9 * (1 + abs(best.score))
    assert why.cells.sum() + why.sample_marginals.sum() + why.feature_marginals.sum() == pytest.approx(
        best.score, abs=scale
    )
    assert why.sample_values.sum() + why.feature_marginals.sum() == pytest.approx(best.score, abs=scale)
    assert why.feature_values.sum() + why.sample_marginals.sum() == pytest.approx(best.score, abs=scale)
    for swap in why.sample_swaps:
        swapped = [swap.enters if i == swap.leaves else i for i in best.samples]
        assert best.score - problem.score(swapped, best.features) == pytest.approx(swap.cost, abs=scale)
        assert swap.cost >= -scale  # nothing improves on the optimum
    for swap in why.feature_swaps:
        swapped = [swap.enters if j == swap.leaves else j for j in best.features]
        assert best.score - problem.score(best.samples, swapped) == pytest.approx(swap.cost, abs=scale)
        assert swap.cost >= -scale
    costs = [swap.cost for swap in why.sample_swaps]
    assert costs == sorted(costs)
    assert len(costs) == problem.n_samples - problem.k


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(1, 3))
def test_swaps_under_rules_are_the_cheapest_that_the_rules_allow(seed, n, nearest):
    """The slow twin: every pair of one who enters and one who leaves, tried against the rules."""
    rng = np.random.default_rng(seed)
    labels, limits = rng.integers(-1, 2, size=n), rng.integers(1, 3, size=2)
    members = {g: np.flatnonzero(labels == g).tolist() for g in (0, 1) if (labels == g).any()}
    groups = [Group(members=items, at_most=int(limits[g])) for g, items in members.items()]
    k = int(rng.integers(1, n))
    try:
        rules = Rules(forced_in=[0] if rng.random() < 0.3 else [], groups=groups)
        problem = SelectionProblem(coupling=rng.random((n, 2)), k=k, m=1, sample_rules=rules)
    except InfeasibleError:
        return
    best = bs.solve(problem, "exact")
    chosen = set(best.samples.tolist())
    cheapest = {}
    for enters, leaves in product(set(range(n)) - chosen, chosen):
        swapped = sorted(chosen - {leaves} | {enters})
        if problem.sample_rules.allow(swapped):
            cost = best.score - problem.score(swapped, best.features)
            cheapest[enters] = min(cost, cheapest.get(enters, np.inf))
    costs = [swap.cost for swap in best.explain(nearest).sample_swaps]
    assert costs == pytest.approx(sorted(cheapest.values())[:nearest], abs=1e-12)
    for swap in best.explain(nearest).sample_swaps:
        assert problem.sample_rules.allow(sorted(chosen - {swap.leaves} | {swap.enters}))


@given(ruled_problems(), st.integers(1, 4))
def test_swaps_are_the_cheapest_that_all_rules_allow(problem, nearest):
    """On both sides, limits that share members among the rules of features."""
    best = bs.solve(problem, "exact")
    why = best.explain(nearest)
    sides = (
        (why.sample_swaps, best.samples, problem.n_samples, lambda items: problem.score(items, best.features)),
        (why.feature_swaps, best.features, problem.n_features, lambda items: problem.score(best.samples, items)),
    )
    for (swaps, members, length, score), rules in zip(
        sides, (problem.sample_rules, problem.feature_rules), strict=True
    ):
        chosen, cheapest = {*members.tolist()}, {}
        for enters, leaves in product({*range(length)} - chosen, chosen):
            swapped = sorted(chosen - {leaves} | {enters})
            if rules.allow(swapped):
                cheapest[enters] = min(best.score - score(swapped), cheapest.get(enters, np.inf))
        scale = 1e-9 * (1 + abs(best.score))
        assert [swap.cost for swap in swaps] == pytest.approx(sorted(cheapest.values())[:nearest], abs=scale)
        assert all(rules.allow(sorted(chosen - {swap.leaves} | {swap.enters})) for swap in swaps)


def test_directed_columns_keep_their_names_and_say_their_direction():
    problem = SelectionProblem(
        coupling=[[1.0, 5.0, 2.0], [0.0, 4.0, 3.0]],
        k=1,
        m=2,
        feature_names=["a", "a", "b"],
        directions=["low", "high", "either"],
        feature_rules=Rules(groups=[Group(members=(0, 1))]),
    )
    best = bs.solve(problem)
    assert (best.feature_names, best.directions) == (["a", "b"], ["high", "either"])
    content = best.to_dict()
    assert content["feature_indices"] == [0, 1] and content["directions"] == ["high", "either"]
    assert best.features.tolist() == [1, 2]
    assert [(swap.enters, swap.leaves) for swap in best.explain().feature_swaps] == [(0, 1)], "in its column's place"


def test_twenty_that_did_not_make_it_are_named_and_no_proof_is_made_up():
    problem = SelectionProblem(coupling=np.arange(30.0).reshape(30, 1), k=1, m=1)
    best = bs.solve(problem)
    assert [swap.enters for swap in best.explain().sample_swaps] == list(range(28, 8, -1))
    assert best.proof_json().endswith("}\n")
    with pytest.raises(InputError, match="only a proven answer has a proof"):
        answer(problem).proof_json()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_answers_come_in_the_library_of_the_pool(make):
    rng = np.random.default_rng(0)
    reference, pool = ({name: rng.normal(size=rows) for name in ["x", "adds", "z"]} for rows in (80, 9))
    pool["x"][4], pool["adds"][4] = 9.0, 9.0
    weigher = Weigher().fit(make(reference))
    for found in (
        bs.solve(weigher.problem(make(pool), k=2, m=2)),
        bs.JointSelector(k=2, m=2).fit(make(reference), pool=make(pool)).selection_,
        bs.review(make(pool), make(reference), k=2, m=2, kinds=Kinds(kinds=1)).selection,
    ):
        frame = found.to_frame()
        assert type(frame) is type(make({"a": [1]}))
        names = list(getattr(frame, "column_names", getattr(frame, "columns", ())))
        assert names[0] == "sample" and "adds*" in names and names[-2:] == ["alone", "adds"]
        whole = np.sum(np.array(frame["adds"])) + found.problem.feature_scores[found.features].sum()
        assert whole == pytest.approx(found.score)
        assert type(found.explain().to_frame()) is type(frame)


def test_an_explanation_has_one_line_a_cell():
    found = bs.solve(bs.SelectionProblem(coupling=[[3.0, 0.0, 1.0], [0, 2, 0], [2, 0, 2]], k=2, m=2))
    assert found.explain().to_frame().to_dict("list") == {
        "sample": ["0", "0", "2", "2"],
        "feature": ["0", "2", "0", "2"],
        "adds": [3.0, 1.0, 2.0, 2.0],
    }
