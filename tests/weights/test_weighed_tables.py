"""Every door weighs two tables alike."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from tests.weights.drawn_tables import ruled_pairs

import biselect as bs
from biselect.errors import InfeasibleError, InputError
from biselect.estimators import JointSelector
from biselect.options import Columns, Kinds, RowRules, Search, Weighing
from biselect.progress import steps_of
from biselect.tables import open_pool
from biselect.weights.directed import usual_columns, usual_rows
from biselect.weights.paper import Form
from biselect.weights.weighed_tables import WeighedTables

COLUMNS = Columns(id="id", show=["note"])
QUICK = {"kinds": Kinds(kinds=1), "search": Search(neighbours=(0, 0)), "progress": False}


def frame(seed, rows, shift=0.0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(rows, 4)), columns=[*"abcd"])
    table["b"] += shift
    table.loc[3, "c"] = np.nan
    table["land"] = rng.choice(["de", "fr", "it"], rows)
    return table.assign(id=[f"r{i}" for i in range(rows)], flat=7, note="said")


@pytest.fixture
def pair():
    """A pool of 60 rows, one column of which has moved, and a reference of 300."""
    return bs.table(frame(1, 60, shift=2.0), columns=COLUMNS), frame(0, 300)


def read(pair, weighing=Weighing(), rules=RowRules()):
    return WeighedTables.read(*pair, Form.of(weighing), seed=0, step=steps_of(False), rules=rules)


def test_review_and_session_weigh_alike(pair):
    tables = read(pair).scored(3, 2)
    problem = tables.problem()
    assert bs.review(*pair, k=3, m=2, **QUICK).problem.to_dict() == problem.to_dict()
    session = bs.ReviewSession(*pair, k=3, m=2, progress=False)
    np.testing.assert_array_equal(session.tables.weighed.values, tables.weighed.values)
    assert session.tables.moved == tables.moved and session.tables.weigher.facts == tables.weigher.facts


@pytest.mark.parametrize(
    "weighing",
    [
        Weighing(missing="median", drift="keep"),
        Weighing(preset="paper", missing="median"),
        Weighing(cap=3.0),
        Weighing(map="mad-z"),
    ],
)
def test_the_options_of_weighing_mean_the_same_everywhere(pair, weighing):
    tables = read(pair, weighing).scored(3, 2)
    review = bs.review(*pair, k=3, m=2, weighing=weighing, **QUICK)
    assert review.problem.to_dict() == tables.problem().to_dict()
    session = bs.ReviewSession(*pair, k=3, m=2, weighing=weighing, kinds=Kinds(kinds=1), progress=False)
    ours, theirs = (one.weigher.weights(one.weighed) for one in (tables, session.tables))
    np.testing.assert_array_equal(ours, theirs)


def test_tables_know_what_was_left_out_and_moved_back(pair):
    tables = read(pair, rules=RowRules(at_most=1, per="note"))
    assert tables.constant == ("flat",) and tables.per == "note" and tables.library == "pandas"
    assert not tables.is_own_reference and tables.reference_name == "reference"
    assert [tables.raw.names[one.position] for one in tables.moved] == ["b"]
    assert np.median(tables.weighed.values[:, 1]) == pytest.approx(np.median(tables.reference.values[:, 1]))
    assert np.median(tables.raw.values[:, 1]) == pytest.approx(2, abs=0.5)
    with pytest.raises(AssertionError, match="scored"):
        _ = tables.scoring
    problem = tables.scored(3, 2).problem(RowRules(at_most=3, per="note"))
    assert problem.sample_rules.groups[0].at_most == 3 and len(problem.sample_rules.groups[0].members) == 60
    assert problem.library == "pandas" and problem.sample_names[:2] == ("r0", "r1")


def test_budgets_that_nobody_gave_are_the_usual_ones(pair):
    tables = read(pair)
    assert len(tables.weigher.feature_names) == 5
    problem = tables.scored(None, None).problem()
    assert (problem.k, problem.m) == (usual_rows(60), usual_columns(5)) == (12, 2)
    more = tables.scored(None, None, RowRules(must_columns=["a", "b", "c"])).problem(
        RowRules(must_columns=["a", "b", "c"])
    )
    assert more.m == 3, "as many columns as must be"
    with pytest.raises(InputError, match="k = 61 is out of range"):
        tables.scored(61, 1)
    with pytest.raises(InputError, match="m = 6 is out of range: with 5 columns"):
        tables.scored(1, 6)
    with pytest.raises(InputError, match="there is no such column in use"):
        tables.scored(3, 2).problem(RowRules(must_columns=["flat"]))


@settings(max_examples=40)
@given(ruled_pairs())
def test_rules_by_name_hold_in_every_answer(drawn):
    pair, rules = drawn
    pool = open_pool(pair.pool, pair.normal, per=None)
    tables = WeighedTables.of(pool, Form.of(Weighing()), seed=0).scored(pair.k, pair.m, rules)
    problem = tables.problem(rules)
    best = bs.solve(problem)
    assert {*rules.must} <= {*best.sample_names} and not {*rules.never} & {*best.sample_names}
    assert {*rules.must_columns} <= {*best.feature_names} and len({*best.feature_names}) == pair.m
    for name, direction in zip(best.feature_names, best.directions, strict=True):
        assert direction == "either" or name not in rules.must_columns, "what must be is looked at either way"
    assert best.proven_optimal and problem.obeys(best.samples, best.features)
    np.testing.assert_array_equal(problem.sample_scores, tables.scoring.pool_parts)


def test_rules_that_leave_no_choice_are_refused(pair):
    tables = read(pair).scored(3, 2)
    for rules in (
        RowRules(must=["r1", "r2", "r3", "r4"]),
        RowRules(must=["r1"], never=["r1"]),
        RowRules(must_columns=["a", "b", "c"]),
    ):
        with pytest.raises(InfeasibleError):
            tables.problem(rules)


def test_a_table_that_is_its_own_reference_is_weighed_row_by_row_against_the_others():
    table = frame(0, 80).drop(columns=["id", "note"])
    table.loc[5, "a"] = 9.0
    pool = open_pool(table)
    tables = WeighedTables.of(pool, Form.of(Weighing()), seed=0).scored(4, 2)
    assert tables.is_own_reference and not tables.moved and tables.constant == ("flat",)
    np.testing.assert_array_equal(tables.scoring.pool.weights, tables.scoring.reference.weights)
    np.testing.assert_array_equal(tables.scoring.pool_parts, tables.scoring.reference_parts)
    alone = WeighedTables.of(open_pool(table, table), Form.of(Weighing()), seed=0).scored(4, 2)
    assert not alone.is_own_reference
    at = int(np.flatnonzero([d == "high" for d in tables.scoring.features.directions])[0])
    assert tables.scoring.pool.weights[5, at] > alone.scoring.pool.weights[5, at], "an outlier hides behind itself"


def test_estimators_put_a_pool_back_as_review_does():
    columns = [*"abcd"]
    pool, reference = frame(1, 60, shift=2.0)[columns], frame(0, 300)[columns]
    selector = JointSelector(k=3, m=2).fit(reference, pool=pool)
    answer = bs.review(pool, reference, k=3, m=2, **QUICK).selection
    assert selector.selection_.problem.coupling.tolist() == answer.problem.coupling.tolist()
    assert selector.selection_.problem.sample_scores.tolist() == answer.problem.sample_scores.tolist()
    assert selector.selection_.directions == answer.directions
    assert selector.select(pool).sample_names == answer.sample_names
    assert selector.shift_.columns == (1,) and set(np.flatnonzero(selector.predict(pool) < 0)) == {*answer.samples}
    one_by_one = np.concatenate([selector.score_samples(pool[row : row + 1]) for row in range(60)])
    assert np.allclose(one_by_one, selector.score_samples(pool), rtol=1e-12)
    kept = JointSelector(k=3, m=2, weighing=Weighing(drift="keep")).fit(reference, pool=pool)
    assert kept.shift_ is None and not np.allclose(kept.selection_.problem.coupling, answer.problem.coupling)


def test_a_score_is_replaced_not_changed(pair):
    tables = read(pair)
    first, second = tables.scored(3, 2), tables.scored(5, 1)
    assert (first.scoring.k, second.scoring.k, tables.score) == (3, 5, None)
    assert replace(first, score=second.score).problem().k == 5
