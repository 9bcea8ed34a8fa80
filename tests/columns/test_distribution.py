import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from biselect.columns.distribution import TAIL_SHARE, Distribution, exact_distribution, fit_scale
from biselect.columns.number import NUMBER
from biselect.weights import Weigher

KNOTS = 24 * 64
TAIL = KNOTS // 2 // TAIL_SHARE
NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, allow_subnormal=False))
ENTRIES = arrays(np.float64, st.integers(1, 40), elements=NUMBERS)


@given(ENTRIES, st.floats(0, 1), NUMBERS)
def test_counts_and_quantiles_are_those_of_the_entries(entries, q, x):
    column = exact_distribution(entries)
    assert column.below(x) == (entries < x).sum() and column.at_most(x) == (entries <= x).sum()
    assert column.quantile(q) == pytest.approx(np.quantile(entries, q), rel=1e-9, abs=1e-6)
    folded = column.folded(x)
    np.testing.assert_allclose(folded.values, np.sort(np.abs(entries - x)))
    assert folded.mean == pytest.approx(np.abs(entries - x).mean())


@given(ENTRIES, NUMBERS, st.integers(0, 5))
def test_more_entries_of_one_value(entries, value, number):
    grown = exact_distribution(entries).with_entries(value, number)
    expected = exact_distribution(np.append(entries, np.full(number, value)))
    for x in (value, 0.0, entries[0]):
        assert grown.below(x) == expected.below(x) and grown.at_most(x) == expected.at_most(x)
    assert grown.mean == pytest.approx(expected.mean, abs=1e-6)
    assert grown.deviation == pytest.approx(expected.deviation, abs=1e-3, rel=1e-6)


@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(["normal", "ties", "sorted", "falling", "spike"]),
    block=st.sampled_from([17, 64, 1000]),
)
@settings(max_examples=40)
def test_merging_keeps_within_its_stated_error_everywhere_and_exact_in_the_tails(seed, kind, block):
    rng = np.random.default_rng(seed)
    entries = {
        "normal": lambda: rng.normal(size=20_000),
        "ties": lambda: rng.integers(0, 6, size=20_000).astype(float),
        "sorted": lambda: np.sort(rng.normal(size=20_000)),
        "falling": lambda: -np.sort(rng.normal(size=20_000)),
        "spike": lambda: np.where(rng.random(20_000) < 0.9, 0.0, rng.normal(size=20_000)),
    }[kind]()
    column = None
    for start in range(0, entries.size, block):
        part = exact_distribution(entries[start : start + block])
        column = NUMBER.merge([column, part], KNOTS)
    exact = exact_distribution(entries)
    assert column.size == 20_000 and column.rank_error <= 0.05 * 20_000
    assert kind == "ties" or column.rank_error > 0
    x = np.concatenate([exact.values[::37], exact.values[::37] + 1e-9, [-99.0, 99.0]])
    assert np.abs(column.at_most(x) - exact.at_most(x)).max() <= column.rank_error
    assert np.abs(column.below(x) - exact.below(x)).max() <= column.rank_error
    low, high = exact.values[:TAIL], exact.values[-TAIL:]
    assert (column.below(low) == exact.below(low)).all() and (column.at_most(high) == exact.at_most(high)).all()
    assert column.mean == pytest.approx(exact.mean, abs=1e-9)
    assert column.deviation == pytest.approx(exact.deviation, rel=1e-9)
    assert (np.diff(column.values) >= 0).all() and (np.diff(column.counts) > 0).all()


def test_distributions_stay_exact_while_everything_fits():
    entries = np.random.default_rng(0).normal(size=KNOTS)
    column = NUMBER.merge([exact_distribution(entries[:700]), exact_distribution(entries[700:])], KNOTS)
    assert column.rank_error == 0
    np.testing.assert_array_equal(column.values, np.sort(entries))


@given(ENTRIES, st.lists(st.integers(0, 40), max_size=4))
def test_any_division_into_blocks_counts_the_same(entries, cuts):
    parts = [exact_distribution(part) for part in np.split(entries, sorted(cuts)) if part.size]
    merged, whole = Distribution.merged(parts), exact_distribution(entries)
    np.testing.assert_array_equal(merged.values, whole.values)
    np.testing.assert_array_equal(merged.counts, whole.counts)
    assert (merged.mean, merged.deviation) == pytest.approx((whole.mean, whole.deviation), rel=1e-6, abs=1e-6)


@given(ENTRIES, st.integers(1, 50))
def test_thinning_tells_ties_from_neighbours(entries, knots):
    exact = exact_distribution(entries)
    thinned = exact.thinned(knots)
    x = np.concatenate([entries, entries + 1e-9])
    assert np.abs(thinned.at_most(x) - exact.at_most(x)).max() <= thinned.rank_error
    if thinned.rank_error == 0:
        assert thinned.tied_share == exact.tied_share


def test_residuals_use_median_and_scaled_mad_or_mean_and_deviation():
    X = np.arange(11.0)[:, None] ** 2
    robust, plain = Weigher().fit(X), fit_scale([exact_distribution(X[:, 0])], "mean")
    median = 25.0
    mad = np.median(np.abs(X - median))
    np.testing.assert_allclose(robust.residuals(X), (X - median) / (1.4826 * mad))
    np.testing.assert_allclose(plain.residuals(X), (X - X.mean()) / X.std())


def test_zero_mad_falls_back_to_the_deviation_and_constants_are_told():
    reference = np.zeros((20, 3))
    reference[0, 0] = 5.0
    reference[:, 2] = np.arange(20)
    frame = pd.DataFrame(reference, columns=["spike", "flat", "ramp"])
    weigher = Weigher().fit(frame)
    assert weigher.facts.zero_mad == ("spike",)
    assert weigher.facts.constant == ("flat",)
    assert weigher.feature_names == ("spike", "flat", "ramp") and weigher.varying == ("spike", "ramp")
    problem = weigher.problem(frame, k=2, m=1)
    assert problem.column_names == ("spike", "flat", "ramp")
    assert not problem.coupling[:, problem.column_of == 1].any()
    assert weigher.facts.tied["spike"] > 0.8 and weigher.facts.tied["ramp"] == 0


def test_a_tiny_but_real_spread_is_not_constant():
    X = np.column_stack([1e9 + np.arange(20) * 1e-6])
    assert fit_scale([exact_distribution(X[:, 0])], "median").scale.all()
