"""Counts between edges as distributions: ranks within the stated error, exact tails, and merged with any other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.columns.counts import Ruler, merged_counts
from biselect.columns.distribution import exact_distribution
from biselect.columns.number import NUMBER

KNOTS = 24 * 2048


def counted(values, drawn):
    ruler = Ruler.of(
        values[:drawn], drawn / max(1, values.size), values.min(initial=np.inf), values.max(initial=-np.inf)
    )
    half = values.size // 3
    counts = merged_counts(ruler.count(values[:half]), ruler.count(values[half:]))
    return ruler.column(counts), min(counts["low"].size, counts["high"].size)


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
    column, tail = counted(values, min(drawn, rows))
    assert column.size == rows
    assert_ranks_hold(column, values)
    ascending = np.sort(values)
    tail = max(1, tail)
    assert column.entry(np.arange(tail)).tolist() == ascending[:tail].tolist()
    assert column.entry(np.arange(rows - tail, rows)).tolist() == ascending[rows - tail :].tolist()
    assert column.mean == pytest.approx(values.mean(), rel=1e-9, abs=1e-9)
    assert column.deviation == pytest.approx(values.std(), rel=1e-6, abs=1e-9)


def test_distributions_of_counts_are_stored_and_merged_with_others():
    rng = np.random.default_rng(5)
    yesterday, today, older = rng.normal(size=60_000), rng.normal(1.0, size=50_000), rng.normal(size=70_000)
    parts = [counted(yesterday, 2000)[0], counted(today, 2000)[0], exact_distribution(older)]
    merged = NUMBER.merge([NUMBER.unpack(*NUMBER.pack(one)) for one in parts], KNOTS)
    whole = NUMBER.merge([merged, counted(yesterday, 2000)[0]], KNOTS)
    every = np.concatenate([yesterday, today, older, yesterday])
    assert whole.size == every.size and whole.mean == pytest.approx(every.mean(), abs=1e-9)
    assert_ranks_hold(whole, every)
    assert whole.rank_error < 0.02 * every.size
    assert whole.values.size <= KNOTS


def test_a_column_without_numbers_has_no_distribution():
    assert counted(np.empty(0), 0)[0] is None
