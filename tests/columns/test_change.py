from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, ks_2samp

from biselect.columns.change import OTHERS, Change, chi_square_p, holm, share_p
from biselect.columns.distribution import exact_distribution
from biselect.columns.number import ks_distance, ks_p
from biselect.errors import InputError
from biselect.weights import Reference

SAMPLES = st.lists(st.integers(-5, 5).map(float) | st.floats(-10, 10), min_size=1, max_size=60)


def summed(frame, **options):
    return Reference(**{"knots": None, **options}).add(pd.DataFrame(frame))


def changes(older, newer):
    return holm(summed(older).changes(summed(newer), list(older)))


@given(SAMPLES, SAMPLES)
def test_the_distance_is_that_of_kolmogorov_and_smirnov(first, second):
    found = ks_distance(*(exact_distribution(np.array(side)) for side in (first, second)))
    apart = [abs(np.mean(np.array(first) <= x) - np.mean(np.array(second) <= x)) for x in first + second]
    assert found == pytest.approx(max(apart), abs=1e-12)


@pytest.mark.parametrize(("first", "second"), [(100, 100), (100, 150), (40, 1000), (37, 53)])
def test_the_chance_of_a_distance_is_never_told_too_small(first, second):
    """Against the exact law of two samples without ties, which ks_2samp counts path by path."""
    seen = []
    for overlap in np.linspace(0, 0.6, 25):
        pair = np.arange(first) / first, np.arange(second) / second + overlap
        exact = ks_2samp(*pair, method="exact")
        told = ks_p(exact.statistic, first, second)
        if told < 0.1:
            assert exact.pvalue <= told * (1 + 1e-9)
            seen.append(exact.pvalue / told)
    assert max(seen) > 0.5, "and hardly larger than it is"


@given(st.integers(0, 12), st.integers(0, 12), st.integers(1, 8), st.integers(1, 8))
def test_shares_are_tested_exactly(before, after, more, others):
    first, second = before + more, after + others
    chances = [
        comb(first, before + after - x) * comb(second, x) / comb(first + second, before + after)
        for x in range(second + 1)
        if 0 <= before + after - x <= first
    ]
    values = [x for x in range(second + 1) if 0 <= before + after - x <= first]
    below = sum(p for x, p in zip(values, chances, strict=True) if x <= after)
    above = sum(p for x, p in zip(values, chances, strict=True) if x >= after)
    found = share_p(np.array([before]), np.array([after]), first, second)[0]
    assert found == pytest.approx(min(1, 2 * min(below, above)), rel=1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_adjusts_as_the_textbook_does(ps):
    tests = [Change(column="", what="", p=p, effect=0, measure="", words="") for p in ps]
    found = [change.adjusted_p for change in holm(tests)]
    for p, adjusted in zip(ps, found, strict=True):
        steps = [min(1.0, sum(other >= smaller for other in ps) * smaller) for smaller in ps if smaller <= p]
        assert adjusted == pytest.approx(max(steps))


def test_a_sketch_never_makes_an_alarm_of_its_error():
    rng = np.random.default_rng(0)
    older, newer = rng.normal(size=40_000), rng.normal(0.02, 1, size=5_000)
    (exact,) = summed({"x": older}).changes(summed({"x": newer}), ["x"])
    rough = summed({"x": older}, knots=24 * 64)
    (sketched,) = rough.changes(summed({"x": newer}), ["x"])
    assert 0 < rough.rank_error < 0.05 and abs(sketched.effect - exact.effect) <= rough.rank_error
    assert sketched.p > exact.p


def test_what_changed_is_told_in_words_with_its_size():
    rng = np.random.default_rng(1)
    rows = 3000
    older = {
        "moved": rng.normal(size=rows),
        "wider": rng.normal(size=rows),
        "flag": rng.random(rows) < 0.02,
        "kind": rng.choice(["a", "b", "c"], rows),
        "gone": rng.normal(size=rows),
        "steady": rng.integers(0, 6, rows),
    }
    newer = {name: values[::-1].copy() for name, values in older.items()}
    newer["moved"] = newer["moved"] + 0.5
    newer["wider"] = newer["wider"] * 2
    newer["flag"] = rng.random(rows) < 0.06
    newer["kind"] = rng.choice(["a", "b", "new"], rows, p=[0.4, 0.35, 0.25])
    newer["gone"] = np.where(rng.random(rows) < 0.1, np.nan, newer["gone"])
    found = {(change.column, change.what): change for change in changes(older, newer)}
    alarmed = {key for key, change in found.items() if change.adjusted_p <= 0.05}
    assert alarmed == {
        ("moved", "values"),
        ("wider", "values"),
        ("flag", "categories"),
        ("kind", "categories"),
        ("gone", "missing"),
    }
    assert found["moved", "values"].shift == pytest.approx(0.5, abs=0.1)
    assert found["moved", "values"].effect == pytest.approx(0.2, abs=0.04)
    assert "spread × 2" in found["wider", "values"].words and "spread" in found["moved", "values"].words
    assert found["kind", "categories"].words.startswith(("c: 3", "new: 0 % → 2"))
    assert found["gone", "missing"].words.startswith("missing 0 % → ")
    assert found["gone", "missing"].effect == pytest.approx(0.1, abs=0.02)
    assert found["flag", "categories"].words.startswith("true: ")
    assert found["steady", "values"].p == 1


def test_rare_categories_count_as_one_and_a_new_one_is_seen_in_few_rows():
    names = [f"n{j}" for j in range(300)]
    quiet = changes({"x": ["a"] * 300 + names}, {"x": ["a"] * 300 + names})
    assert len(quiet) == 1 and quiet[0].p == 1
    (found,) = changes({"x": ["a"] * 9000 + ["b"] * 1000}, {"x": ["a"] * 96 + ["new"] * 4})
    assert found.words == "new: 0 % → 4 %" and found.p < 1e-6
    (others,) = changes({"x": ["a"] * 600}, {"x": ["a"] * 300 + names})
    assert OTHERS in others.words or others.words.startswith("a:")


def test_a_small_move_of_every_share_is_seen_by_all_of_them_together():
    """No single share moves enough; the textbook's chi-square is the peer, where counts are large."""
    rng = np.random.default_rng(0)
    before = rng.multinomial(1000, np.full(10, 0.1))
    after = rng.multinomial(1000, np.where(np.arange(10) % 2, 0.13, 0.07))
    peer = chi2_contingency([before, after]).pvalue
    found = chi_square_p(before, after)
    assert peer < 1e-4 and found < 2e-4 < share_p(before, after, 1000, 1000).min() * 10 < 0.5
    (alike,) = (chi_square_p(side, side[::-1].copy()) for side in [np.array([30, 34, 30])])
    assert alike == pytest.approx(chi2_contingency([[30, 34, 30]] * 2).pvalue)


def test_the_permutation_test_counts_what_can_be_counted():
    """Three categories of few rows: every deal of the rows to the two tables, one by one."""
    before, after = np.array([6, 1, 1]), np.array([1, 3, 2])
    kinds = np.repeat(np.arange(3), before + after)

    def statistic(rows):
        counts = np.bincount(kinds[list(rows)], minlength=3)
        both = np.bincount(kinds)
        return ((counts - both * 6 / 14) ** 2 / both).sum()

    deals = [statistic(rows) for rows in combinations(range(14), 6)]
    mine = ((after - (before + after) * 6 / 14) ** 2 / (before + after)).sum()
    exact = np.mean(np.array(deals) >= mine - 1e-9)
    found = chi_square_p(before, after)
    assert 0.3 * exact < found < 3 * exact


def test_nothing_is_tested_where_the_rows_together_leave_no_choice():
    assert changes({"x": [1.0] * 20, "y": ["a"] * 20}, {"x": [1.0] * 9, "y": ["a"] * 9}) == []
    (found,) = changes({"x": [1.0] * 20}, {"x": [np.nan] * 20})
    assert found.what == "missing" and found.p < 1e-9
    with pytest.raises(InputError, match="'x' holds numbers in one table and texts in the other"):
        changes({"x": [1.0, 2.0]}, {"x": ["1", "2"]})


@pytest.mark.parametrize("sizes", [(30, 30), (60, 500)])
def test_quiet_tables_of_every_kind_alarm_in_few_runs(sizes):
    """Ties, heavy tails, flags, categories and missing cells; the draws are fixed, so this never flickers."""

    def table(rng, rows):
        return {
            **{f"n{j}": rng.normal(size=rows) for j in range(3)},
            **{f"h{j}": rng.standard_cauchy(size=rows) for j in range(2)},
            **{f"r{j}": rng.poisson(2, size=rows) for j in range(2)},
            **{f"f{j}": rng.random(rows) < 0.1 for j in range(2)},
            "c": rng.choice(list("abcdefgh"), rows),
            "m": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(size=rows)),
        }

    alarms = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, *sizes])
        alarms += any(change.adjusted_p <= 0.05 for change in changes(table(rng, sizes[0]), table(rng, sizes[1])))
    assert alarms <= 6, "more has a chance below 1 % at 5 %"
