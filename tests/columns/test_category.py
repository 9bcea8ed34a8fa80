"""Categories weigh by a p-value that holds whatever their distribution, and by nothing but how often they stand."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.columns.category import LabelCounts
from biselect.errors import InputError
from biselect.weights import Reference, Weigher
from biselect.weights.paper import paper_marginals

COUNTS = st.lists(st.integers(1, 40), min_size=1, max_size=12)


def slow_p_value(labels, label):
    """The definition: add the row, and count the rows whose label stands no more often than its own."""
    every = [*labels, label]
    return sum(every.count(other) <= every.count(label) for other in every) / len(every)


@given(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=40), st.sampled_from("abcxyz"))
def test_the_p_value_is_its_definition(labels, label):
    found = LabelCounts({name: labels.count(name) for name in set(labels)})
    assert np.exp(-found.weight(labels.count(label))) == pytest.approx(slow_p_value(labels, label))


@given(st.lists(st.sampled_from("abcdefgh"), min_size=2, max_size=30), st.floats(0.01, 0.99))
def test_p_values_are_super_uniform_over_every_order_of_the_rows(labels, level):
    """Each row takes its turn as the new one: at most a share `level` of the turns has p ≤ level."""
    turns = [
        np.exp(-LabelCounts({name: rest.count(name) for name in set(rest)}).weight(rest.count(label)))
        for at, label in enumerate(labels)
        for rest in [labels[:at] + labels[at + 1 :]]
    ]
    assert np.mean(np.array(turns) <= level - 1e-12) <= level


@given(st.lists(st.sampled_from([*"abcde", None]), min_size=2, max_size=30))
def test_a_row_of_the_reference_weighs_what_its_label_does_among_the_others(labels):
    counts = LabelCounts({label: labels.count(label) for label in {*labels}})
    for at, label in enumerate(labels):
        rest = labels[:at] + labels[at + 1 :]
        alone = LabelCounts({one: rest.count(one) for one in {*rest}}).weight(rest.count(label))
        assert counts.weight(labels.count(label), own=True) == pytest.approx(float(alone))


@given(COUNTS)
def test_a_rarer_label_never_weighs_less_and_a_new_one_most(counts):
    found = LabelCounts({str(at): count for at, count in enumerate(counts)})
    weights = found.weight(np.arange(max(counts) + 1))
    assert (np.diff(weights) <= 0).all() and 0 <= weights[-1] and weights[0] <= np.log(found.rows + 1) + 1e-12
    assert weights[max(counts)] == 0, "the most common weighs nothing"


@given(COUNTS, st.randoms(use_true_random=False))
def test_names_mean_nothing(counts, random):
    names = [f"label {at}" for at in range(len(counts))]
    others = names[:]
    random.shuffle(others)
    column = np.repeat(names, counts).tolist() * 10
    renamed = dict(zip(names, others, strict=True))
    one, other = (
        Weigher(cap=2.0).fit(pd.DataFrame({"x": pd.Categorical(texts)}))
        for texts in (column, [renamed[name] for name in column])
    )
    weights = one.weights(pd.DataFrame({"x": [*names, "new"]}))
    np.testing.assert_array_equal(weights, other.weights(pd.DataFrame({"x": [*map(renamed.get, names), "new"]})))
    assert (weights >= 0).all() and (weights <= 2.0).all()


def test_a_column_of_ids_weighs_next_to_nothing_and_a_first_time_flag_most():
    ids = LabelCounts({str(at): 1 for at in range(1000)})
    assert ids.weight([0, 1]).tolist() == [0, 0]
    flag = LabelCounts({"false": 1000})
    assert flag.weight([1000, 0]).tolist() == [0, pytest.approx(np.log(1001))]
    half = LabelCounts({"false": 500, "true": 500})
    assert half.weight(500) == 0


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_flags_gaps_and_labels_weigh_what_they_should_in_every_frame(make):
    rng = np.random.default_rng(0)
    n = 1000
    amount = rng.normal(size=n)
    amount[::100] = np.nan  # missing in one of a hundred rows
    reference = {
        "amount": amount,
        "country": np.where(np.arange(n) < 30, "AT", "DE").tolist(),
        "first": np.zeros(n, dtype=bool).tolist(),
        "fee": np.where(np.arange(n) < 10, rng.normal(size=n), np.nan),  # mostly missing
        "note": [None] * 999 + ["x"],
    }
    pool = {"amount": [0.0, np.nan], "country": ["DE", "BT"], "first": [False, True], "fee": [np.nan, 0.0]}
    weigher = Weigher().fit(make(reference))
    usual, unusual = weigher.weights(make({**pool, "note": [None, "x"]}))
    assert usual.tolist() == pytest.approx([0, 0, 0, 0, 0], abs=0.1)
    assert unusual[0] == pytest.approx(np.log(1001 / 11))  # 4.5
    assert unusual[[1, 2]].tolist() == pytest.approx([np.log(1001)] * 2)
    assert unusual[3] == pytest.approx(np.log(1001 / 11), abs=1.0)
    assert unusual[4] == pytest.approx(np.log(1001 / 2))
    assert weigher.facts.categories == ("country", "note") and weigher.facts.constant == ("first",)
    assert weigher.facts.absent == {"amount": 10, "fee": 990, "note": 999}


@pytest.mark.parametrize("map", ["ecdf", "reach", "ecdf-paper", "mad-z"])
def test_a_value_that_was_never_there_weighs_most_whatever_the_map(map):
    table = np.column_stack([np.arange(50.0), np.full(50, 3.0), np.full(50, np.nan)])
    weights = Weigher(map).fit(table).weights([[25.0, 3.0, np.nan], [25.0, 4.0, 1.0], [25.0, np.nan, np.nan]])
    assert weights[0, 1:].tolist() == [0, 0]
    assert weights[1, 1:].tolist() == pytest.approx([np.log(51)] * 2)
    assert weights[2, 1] == pytest.approx(np.log(51))


def test_the_median_still_fills_and_gaps_change_no_other_weight():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(200, 3))
    pool = rng.normal(size=(20, 3))
    holes = pool.copy()
    holes[3, 1] = np.nan
    filled = Weigher(missing="median").fit(table)
    assert filled.weights(holes)[3, 1] == filled.weights([[0, np.median(table[:, 1]), 0]])[0, 1]
    weighed = Weigher().fit(table)
    np.testing.assert_array_equal(np.delete(weighed.weights(holes), 3, 0), np.delete(weighed.weights(pool), 3, 0))
    assert weighed.weights(holes)[3, 1] == pytest.approx(np.log(201))
    problem = weighed.plain_problem(holes, k=2, m=2, marginals=paper_marginals)
    assert np.isfinite(problem.feature_scores).all() and problem.coupling[3, 1] == weighed.weights(holes)[3, 1]


def test_a_reference_of_categories_alone_in_blocks():
    frame = pd.DataFrame({"x": ["a"] * 60 + ["b"] * 38 + ["c"] * 2, "y": [True, False] * 50})
    whole = Weigher().fit(frame)
    streamed = Weigher().fit(Reference.of([frame[:50], frame[50:]]))
    pool = pd.DataFrame({"x": ["a", "b", "c", "d"], "y": [True, False, None, True]})
    np.testing.assert_array_equal(streamed.weights(pool), whole.weights(pool))
    assert np.exp(-whole.weights(pool)[:, 0]) == pytest.approx([1, 41 / 101, 3 / 101, 1 / 101])
    assert whole.weights(np.array([[0.0, 1.0]]))[0, 1] == 0, "flags are numbers too"


def test_free_text_is_refused_unless_it_is_said_to_be_a_category():
    notes = [f"note {at}" for at in range(60)]
    with pytest.raises(
        InputError, match=r"'x' holds free text or ids: 60 different .*exclude=\['x'\]\).*types=\{'x': 'category'\}"
    ):
        Weigher().fit(pd.DataFrame({"x": notes}))
    assert Weigher().fit(pd.DataFrame({"x": pd.Categorical(notes)})).weights(pd.DataFrame({"x": ["new"]})) == 0
