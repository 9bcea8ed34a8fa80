"""Directed columns weigh as written down, at most one of a column is chosen, and a direction wins where rows agree."""

from dataclasses import replace
from math import comb

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.weights.drawn_tables import pairs, ruled_pairs

import biselect as bs
from biselect import SelectionProblem, solve
from biselect.columns import COLUMN_TYPES
from biselect.columns.number import Number
from biselect.core import Rules
from biselect.tables import open_pool
from biselect.tables.row_rules import apply_rules
from biselect.testing import brute_force
from biselect.weights import Weigher
from biselect.weights.directed import (
    COUNTS,
    EITHER,
    MOST_VALUES,
    DirectedColumns,
    at_best,
    undirected,
    usual_columns,
    usual_rows,
)

RESERVED = ("low", "high", "rare", "missing", "either", "")


def quoted(text):
    """A value of a category as a direction."""
    return repr(text) if text in RESERVED or text[0] in "'\"" else text


def cell_in_words(weigher, matrix, weight, row, j, direction):
    """What a cell weighs in a direction, from what it weighs in any."""
    value, kind = matrix.values[row, j], weigher.columns[j].type
    if np.isnan(value) or direction == "missing":
        return weight if np.isnan(value) and direction == "missing" else 0.0
    if direction == EITHER:
        return weight
    if kind.is_ranked:
        side = "low" if value < weigher.columns[j].counts.quantile(0.5) else "high"
        return weight + np.log(2) * (weight > COUNTS) if side == direction else 0.0
    text = f"{value:.15g}" if j not in matrix.labels else matrix.labels[j][int(value)]
    return weight if quoted(text) == direction else 0.0


def weighed(pair, must=()):
    pool = open_pool(pair.pool, pair.normal)
    weigher = Weigher().fit(pool.matrices[0])
    cells = weigher.cells(pool.matrices[1])
    return weigher, cells, DirectedColumns.of(weigher, cells, must)


@given(ruled_pairs())
def test_every_cell_weighs_as_written_down_in_every_direction(drawn):
    pair, rules = drawn
    must = [list(pair.pool.columns).index(name) for name in rules.must_columns]
    weigher, cells, features = weighed(pair, must)
    for rows in (cells, weigher.sample):
        told = features.weights(weigher, rows)
        assert told.shape == (len(rows.rows), len(features.directions)) and not told.flags.writeable
        for feature, (j, direction) in enumerate(zip(features.columns.tolist(), features.directions, strict=True)):
            expected = [
                cell_in_words(weigher, rows.rows, weight, row, j, direction)
                for row, weight in enumerate(rows.weights[:, j])
            ]
            np.testing.assert_array_equal(told[:, feature], expected)


@given(ruled_pairs())
def test_every_column_can_be_chosen_and_no_cell_weighs_more_than_at_best(drawn):
    pair, rules = drawn
    must = [list(pair.pool.columns).index(name) for name in rules.must_columns]
    weigher, cells, features = weighed(pair, must)
    assert features.names == weigher.feature_names and {*features.columns} == {*range(len(features.names))}
    told, best = features.weights(weigher, cells), at_best(weigher, cells.weights)
    for j in range(len(features.names)):
        own = np.flatnonzero(features.columns == j)
        directions = [features.directions[f] for f in own]
        assert len({*directions}) == len(directions) and (np.diff(own) == 1).all()
        assert (told[:, own].max(axis=1) <= best[:, j]).all()
        if weigher.columns[j].type.is_ranked:
            assert directions[:3] == ["low", "high", "either"]
            np.testing.assert_array_equal(
                told[:, own].max(axis=1)[~np.isnan(cells.rows.values[:, j])],
                best[~np.isnan(cells.rows.values[:, j]), j],
            )
        elif j in must:
            assert EITHER in directions, "a column that must be chosen can be, whatever its value"
    groups = {group.members: group.at_most for group in features.rules.groups}
    every = [tuple(np.flatnonzero(features.columns == j).tolist()) for j in range(len(features.names))]
    assert groups == {members: 1 for members in every if len(members) > 1}


@given(pairs())
def test_a_block_has_at_most_one_direction_of_a_column(pair):
    problem = Weigher().fit(pair.normal).problem(pair.pool, pair.k, pair.m)
    best = solve(problem)
    assert best.proven_optimal and len({*problem.column_of[best.features].tolist()}) == pair.m
    assert best.feature_names == [problem.column_names[j] for j in problem.column_of[best.features]]
    assert [*zip(best.feature_names, best.directions, strict=True)] == [
        (problem.feature_name(f), problem.directions[f]) for f in best.features
    ]
    content = best.to_dict()
    assert content["feature_indices"] == problem.column_of[best.features].tolist()
    if comb(problem.n_samples, problem.k) * comb(problem.n_features, problem.m) < 1000:
        assert best.energy == pytest.approx(brute_force(problem))


def columns_of(*pool, reference=None):
    """A pool of one column against 200 ordinary numbers, solved for all of its rows."""
    reference = np.linspace(-2, 2, 200)[:, None] if reference is None else reference
    problem = Weigher().fit(reference).problem(np.array(pool, dtype=float)[:, None], len(pool), 1)
    return solve(problem).directions


def test_a_direction_wins_where_rows_agree_and_loses_where_they_do_not():
    assert columns_of(3, 3, 3) == ["high"] and columns_of(-3, -3, -3) == ["low"]
    assert columns_of(3, -3, 3, -3) == ["either"]
    assert columns_of(np.nan, np.nan) == ["missing"]
    few = [9.0] * 7 + [-9.0]  # one of eight on the other side weighs more than seven times log 2
    assert columns_of(*few) == ["either"] and columns_of(*[9.0] * 30, -9.0) == ["high"]


def test_a_side_is_worth_the_log_of_two_more_for_cells_that_count():
    weigher = Weigher().fit(np.linspace(-1, 1, 201)[:, None])
    cells = weigher.cells(np.array([[0.0], [0.4], [0.6], [-0.6], [np.nan]]))
    features = DirectedColumns.of(weigher, cells)
    low, high, either, missing = features.weights(weigher, cells).T
    plain = cells.weights[:, 0]
    assert plain[1] < COUNTS < plain[2]
    np.testing.assert_array_equal(either, [*plain[:4], 0])
    np.testing.assert_array_equal(high, [plain[0], plain[1], plain[2] + np.log(2), 0, 0])
    np.testing.assert_array_equal(low, [0, 0, 0, plain[3] + np.log(2), 0])
    np.testing.assert_array_equal(missing, [0, 0, 0, 0, plain[4]])


def test_a_category_is_chosen_for_values_that_are_no_reason_for_half_of_the_rows():
    reference = pd.DataFrame({"paid": ["card"] * 140 + ["cash"] * 50 + ["cheque"] * 10})
    weigher = Weigher().fit(reference)
    pool = pd.DataFrame({"paid": ["card", "cash", "cheque", "voucher", None]})
    features = DirectedColumns.of(weigher, weigher.cells(pool))
    assert features.directions == ("cash", "cheque", "voucher", "missing"), "not the value of most rows"
    common = DirectedColumns.of(weigher, weigher.cells(pool[:1]))
    assert common.directions == ("card",), "but every column can be chosen"
    everything = [f"v{i}" for i in range(200)]
    many = weigher.cells(pd.DataFrame({"paid": pd.Categorical(everything + everything[150:])}))
    told = DirectedColumns.of(weigher, many)
    assert len(told.directions) == MOST_VALUES and {*told.directions} >= {*everything[150:]} - {*everything[:150]}


def test_a_value_that_is_called_like_a_direction_is_quoted():
    """Found by attack: an empty value was every value, and two values of one name a problem that was refused."""
    names = ["low", "missing", "either", "", "'missing'", '"x"', "rare", "x"]
    reference = pd.DataFrame({"risk": ["usual"] * 90 + names})
    pool = pd.DataFrame({"risk": [*names, "usual"]})
    weigher = Weigher().fit(reference)
    cells = weigher.cells(pool)
    features = DirectedColumns.of(weigher, cells)
    assert {*features.directions} == {quoted(name) for name in names} and "'low'" in features.directions
    told = features.weights(weigher, cells)
    assert ((told > 0).sum(axis=0) == 1).all(), "each value is one row"
    assert solve(weigher.problem(pool, k=1, m=1)).score > 0
    review = bs.review(pd.DataFrame({"risk": ["usual"] * 8 + ["low"]}), reference, k=1, m=1)
    assert review.selection.directions == ["'low'"] and review.kinds[0].name == "risk = 'low'"


def test_flags_are_the_same_whether_they_are_written_as_numbers_or_not():
    """Found by attack: a flag of 0 and 1 never met the true and false of its reference."""
    rng = np.random.default_rng(0)
    reference = pd.DataFrame({"a": rng.normal(size=100), "f": rng.random(100) < 0.1})
    pool = pd.DataFrame({"a": rng.normal(size=30), "f": rng.random(30) < 0.3})
    weigher = Weigher().fit(reference)
    for form in (pool, pool.assign(f=pool["f"].astype(int))):
        cells = weigher.cells(form)
        features = DirectedColumns.of(weigher, cells)
        assert features.directions == ("low", "high", "either", "true")
        assert ((features.weights(weigher, cells)[:, 3] > 0) == pool["f"]).all()
        assert ((features.weights(weigher, weigher.sample)[:, 3] > 0) == reference["f"]).all()
    gaps = weigher.cells(pool.assign(f=pool["f"].astype(float).where(pool["f"])))
    assert DirectedColumns.of(weigher, gaps).directions == ("low", "high", "either", "true", "missing")


class Angle(Number):
    """A type of another package, with directions of its own."""

    name = "angle"
    directions = ("left", "straight", "right")

    def direction(self, reference, values):
        return np.sign(values).astype(np.int8) + 1


def test_a_type_of_another_package_brings_its_own_directions(monkeypatch):
    monkeypatch.setitem(COLUMN_TYPES._things, "angle", Angle())
    weigher = Weigher().fit(np.linspace(-2, 2, 101)[:, None])
    weigher.columns = tuple(replace(column, type=Angle()) for column in weigher.columns)
    cells = weigher.cells(np.array([[-3.0], [0.0], [3.0]]))
    features = DirectedColumns.of(weigher, cells)
    assert features.directions == ("left", "straight", "right", "either")
    left, straight, right, either = features.weights(weigher, cells).T
    assert left[0] == either[0] + np.log(3) and not left[1:].any() and right[2] == either[2] + np.log(3)
    assert straight.tolist() == [0.0, either[1], 0.0]


def plain_in_words(problem):
    """One feature a column: either end and gaps of a number, all values of a category."""
    columns = []
    for name in problem.column_names:
        of_column = {
            problem.directions[f]: problem.coupling[:, f]
            for f in range(problem.n_features)
            if problem.feature_name(f) == name
        }
        ends = [own for direction, own in of_column.items() if direction in ("either", "missing")]
        columns.append(np.sum(ends if "either" in of_column else [*of_column.values()], axis=0))
    return np.column_stack(columns)


@given(ruled_pairs())
def test_circuits_get_one_feature_a_column(drawn):
    pair, rules = drawn
    weigher = Weigher().fit(pair.normal)
    directed = weigher.problem(pair.pool, pair.k, pair.m)
    must = [name for name in rules.must_columns if weigher.columns[weigher.feature_names.index(name)].type.is_ranked]
    directed = apply_rules(replace(rules, must_columns=must), directed, None)
    plain = undirected(directed)
    assert plain.directions is None and plain.feature_names == directed.column_names == weigher.feature_names
    np.testing.assert_array_equal(plain.coupling, plain_in_words(directed))
    np.testing.assert_array_equal(plain.sample_scores, directed.sample_scores)
    assert (plain.k, plain.m, plain.sample_rules) == (directed.k, directed.m, directed.sample_rules)
    assert [plain.feature_name(j) for j in plain.feature_rules.forced_in] == sorted(must, key=plain.feature_names.index)
    assert not plain.feature_rules.groups and undirected(plain) is plain


def test_columns_that_must_not_be_chosen_stay_so_without_directions():
    problem = SelectionProblem(
        coupling=[[1.0, 2.0, 3.0, 4.0]],
        feature_scores=[0.0, 1.0, 5.0, 2.0],
        k=1,
        m=1,
        feature_names=["a", "a", "b", "b"],
        directions=["low", "either", "either", "x"],
        feature_rules=Rules(forced_out=[0, 1, 2]),
    )
    plain = undirected(problem)
    assert plain.feature_rules.forced_out == (0,), "a column is out if all its directions are"
    assert plain.coupling.tolist() == [[2.0, 3.0]] and plain.feature_scores.tolist() == [1.0, 5.0]


@given(st.integers(1, 10_000))
def test_usual_budgets_are_few_and_within_reach(number):
    assert 1 <= usual_rows(number) <= min(20, number) and usual_rows(number) == max(1, min(20, number // 5))
    assert usual_columns(number) == min(number, 4, max(2, number // 2))
