"""Counts as sketches: ranks within the stated error, exact tails, and merging as with any other sketch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.columns.counts import Ruler, merged_counts
from biselect.columns.distribution import RankSketch
from biselect.weights.reference_summary import counted_sketch

ENTRIES = 24 * 2048


def counted(values, drawn):
    ruler = Ruler.of(
        values[:drawn], drawn / max(1, values.size), values.min(initial=np.inf), values.max(initial=-np.inf)
    )
    half = values.size // 3
    return counted_sketch(ruler, merged_counts(ruler.count(values[:half]), ruler.count(values[half:])), ENTRIES)


def assert_ranks_hold(column, values):
    places = np.concatenate([values, values + 1e-9, column.values])
    for count, side in ((column.at_most, "right"), (column.below, "left")):
        error = np.abs(count(places) - np.searchsorted(np.sort(values), places, side=side))
        assert error.max() <= column.rank_error


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 10_000),
    rows=st.sampled_from([1, 5, 3000, 60_000]),
    drawn=st.sampled_from([0, 1, 40, 3000]),
    kind=st.sampled_from(["normal", "ties", "heavy", "constant"]),
)
def test_ranks_moments_and_tails_hold(seed, rows, drawn, kind):
    rng = np.random.default_rng(seed)
    values = {
        "normal": lambda: rng.normal(size=rows),
        "ties": lambda: rng.integers(0, 5, rows).astype(float),
        "heavy": lambda: rng.standard_cauchy(size=rows),
        "constant": lambda: np.full(rows, 2.5),
    }[kind]()
    sketch = counted(values, min(drawn, rows))
    column = sketch.column()
    assert sketch.size == column.size == rows
    assert_ranks_hold(column, values)
    ascending = np.sort(values)
    tail = min(sketch.tail, rows)
    assert tail >= 1
    assert column.entry(np.arange(tail)).tolist() == ascending[:tail].tolist()
    assert column.entry(np.arange(rows - tail, rows)).tolist() == ascending[rows - tail :].tolist()
    assert column.mean == pytest.approx(values.mean(), rel=1e-9, abs=1e-9)
    assert column.deviation == pytest.approx(values.std(), rel=1e-6, abs=1e-9)


def test_sketches_of_counts_are_stored_and_merged_with_others():
    rng = np.random.default_rng(5)
    yesterday, today, older = rng.normal(size=60_000), rng.normal(1.0, size=50_000), rng.normal(size=70_000)
    streamed = RankSketch(ENTRIES)
    streamed.add(older)
    stored = [RankSketch.from_state(*one.state()) for one in (counted(yesterday, 2000), counted(today, 2000), streamed)]
    merged = RankSketch.merged(stored)
    whole = RankSketch.merged([merged, counted(yesterday, 2000)])
    every = np.concatenate([yesterday, today, older, yesterday])
    assert whole.size == every.size and whole.column().mean == pytest.approx(every.mean(), abs=1e-9)
    assert_ranks_hold(whole.column(), every)
    assert whole.column().rank_error < 0.02 * every.size
    assert sum(array.size for level in whole._levels for array in level) < 10 * ENTRIES


def test_a_column_without_numbers_has_an_empty_sketch():
    assert counted(np.empty(0), 0).size == 0
