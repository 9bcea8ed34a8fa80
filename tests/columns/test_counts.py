"""Counts of a column: the same for any division, and right about ranks within what they say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.columns import counts as counted_columns
from biselect.columns.counts import Ruler, drawn, lots, merged_counts
from biselect.columns.distribution import exact_distribution

KINDS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "tied": lambda rng, n: rng.integers(-3, 4, n).astype(float),
    "heavy": lambda rng, n: rng.standard_cauchy(n),
    "far away": lambda rng, n: 1.7e9 + rng.normal(size=n),
    "one value": lambda rng, n: np.full(n, 2.5),
    "huge": lambda rng, n: rng.normal(size=n) * 1e150,
}


def counted(values, cuts, ruler):
    found = None
    for part in np.split(values, cuts):
        one = ruler.count(part)
        found = one if found is None else merged_counts(found, one)
    return found


def ruler_for(values, share, seed=0):
    sample = values[drawn(0, values.size, share, seed)]
    return Ruler.of(sample, share, values.min(), values.max())


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 50), cuts=st.lists(st.integers(0, 3000), max_size=5))
@settings(max_examples=15, deadline=None)
def test_any_division_counts_alike_and_ranks_are_within_the_error(kind, seed, cuts):
    rng = np.random.default_rng(seed)
    values = KINDS[kind](rng, 3000)
    ruler = ruler_for(values, 0.1, seed)
    whole, parts = ruler.count(values), counted(values, sorted(cuts), ruler)
    assert all(np.array_equal(whole[name], parts[name]) for name in whole)
    column, exact = ruler.column(parts), exact_distribution(values)
    assert column.size == exact.size == 3000
    at = np.concatenate([values[:200], rng.normal(size=50), [values.min(), values.max()]])
    for counts in ("below", "at_most"):
        assert np.abs(getattr(column, counts)(at) - getattr(exact, counts)(at)).max() <= column.rank_error
    assert column.mean == pytest.approx(exact.mean, rel=1e-9, abs=1e-9 * exact.deviation)
    assert column.deviation == pytest.approx(exact.deviation, rel=1e-6, abs=1e-12 * abs(exact.mean))


def test_the_ends_are_exact_to_the_last_value(monkeypatch):
    monkeypatch.setattr(counted_columns, "TAIL", 50)
    values = np.random.default_rng(1).standard_cauchy(20_000)
    column = ruler_for(values, 0.02).column(counted(values, [700, 9000], ruler_for(values, 0.02)))
    ends = np.sort(values)[[*range(20), *range(-20, 0)]]
    exact = exact_distribution(values)
    assert 0 < column.rank_error < 2000
    assert column.at_most(ends).tolist() == exact.at_most(ends).tolist()
    assert column.values[[0, -1]].tolist() == [values.min(), values.max()]


def test_what_is_tied_stays_tied():
    values = np.random.default_rng(2).integers(0, 5, 4000).astype(float)
    column = ruler_for(values, 0.1).column(ruler_for(values, 0.1).count(values))
    assert column.rank_error == 0 and column.tied_share == 1.0
    assert column.at_most(2.0) == (values <= 2).sum() and column.below(2.0) == (values < 2).sum()


def test_a_column_without_a_number_has_no_distribution():
    ruler = Ruler.of(np.array([np.nan]), 0.5, np.inf, -np.inf)
    assert ruler.column(ruler.count(np.empty(0))) is None


def test_a_sample_is_a_matter_of_the_position_alone():
    whole = drawn(0, 10_000, 0.1, 7)
    assert np.array_equal(np.concatenate([drawn(0, 3333, 0.1, 7), drawn(3333, 6667, 0.1, 7)]), whole)
    assert abs(whole.mean() - 0.1) < 0.02 and not np.array_equal(whole, drawn(0, 10_000, 0.1, 8))
    assert drawn(5, 3, 1.0, 0).all() and np.unique(lots(np.arange(5000), 0)).size == 5000
