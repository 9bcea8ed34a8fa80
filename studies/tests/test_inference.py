from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.errors import InputError
from biselect_studies import inference
from biselect_studies.inference import bootstrap_interval, compare, expected_lowest, f1_at_k, holm, paired_effect
from biselect_studies.results import share


def test_copies_of_the_same_evidence_do_not_narrow_a_clustered_interval():
    rng = np.random.default_rng(0)
    units = rng.normal(0.1, 1.0, size=60)
    copies, labels = np.repeat(units, 50), np.repeat(np.arange(60), 50)
    once, naive, clustered = compare(units), compare(copies), compare(copies, clusters=labels)
    assert naive.high - naive.low < 0.3 * (once.high - once.low)
    assert clustered.high - clustered.low == pytest.approx(once.high - once.low, rel=0.1)
    assert clustered.units == 60 and naive.units == 3000


def test_intervals_cover_as_often_as_they_say():
    rng = np.random.default_rng(1)
    found = [compare(rng.normal(0.5, 1.0, size=40)) for _ in range(100)]
    assert 85 <= sum(one.low <= 0.5 <= one.high for one in found) <= 100


def test_p_values_are_small_for_effects_and_not_for_noise():
    rng = np.random.default_rng(2)
    assert compare(rng.normal(1.0, 1.0, size=50)).p < 0.01
    assert compare(np.tile([1.0, -1.0], 25)).p > 0.5
    assert compare(np.zeros(9)).p == 1.0
    assert compare(np.ones(9), clusters=np.zeros(9)).p == 1.0  # all of one unit


def test_unequal_clusters_count_by_their_values():
    found = compare([1.0, 1.0, 1.0, 0.0], clusters=[7, 7, 7, 3])
    assert found.mean == 0.75 and found.units == 2 and found.p == 1.0


@pytest.mark.parametrize("units", [2, 3, 6, 10, 15])
def test_noise_of_few_units_is_called_an_effect_no_more_often_than_said(units, monkeypatch):
    monkeypatch.setattr("biselect_studies.inference.RESAMPLES", 399)
    rng = np.random.default_rng(units)
    found = [compare(rng.normal(size=units)) for _ in range(400)]
    assert np.mean([one.p <= 0.05 for one in found]) <= 0.08
    if units >= 6:
        assert np.mean([one.low <= 0 <= one.high for one in found]) >= 0.9


def test_few_units_bound_the_p_value_and_have_no_interval():
    two = compare([0.01, 0.02])
    assert two.p == 0.5 and np.isnan(two.low) and np.isnan(two.high)
    one = compare([1.0, 2.0, 3.0], clusters=[4, 4, 4])
    assert one.p == 1.0 and np.isnan(one.high)
    assert compare(np.ones(6)).p == 2**-5 and compare(np.ones(6)).low == 1.0


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=7))
def test_p_values_of_few_units_are_those_of_all_sign_patterns(values):
    patterns = [
        abs(sum(s * v for s, v in zip(signs, values, strict=True))) for signs in product((1, -1), repeat=len(values))
    ]
    assert compare(values).p == pytest.approx(np.mean([one >= abs(sum(values)) for one in patterns]))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: compare([]), "no differences"),
        (lambda: compare([1.0, np.nan, 2.0]), "difference 1 is nan"),
        (lambda: compare([np.inf, 1.0]), "difference 0 is inf"),
        (lambda: compare([1.0, 2.0], clusters=[1]), "2 differences and 1 cluster labels"),
        (lambda: holm({"a": 0.01, "b": float("nan")}), "p-value of 'b' is nan"),
        (lambda: holm({"a": 1.2}), "from 0 to 1"),
    ],
)
def test_what_cannot_be_compared_is_refused(ask, message):
    with pytest.raises(InputError, match=message):
        ask()


@given(st.dictionaries(st.text(min_size=1, max_size=3), st.floats(0, 1), min_size=1, max_size=8))
def test_holm_raises_p_values_keeps_their_order_and_is_no_harsher_than_bonferroni(p_values):
    adjusted = holm(p_values)
    assert list(adjusted) == list(p_values)
    for name, p in p_values.items():
        assert p <= adjusted[name] <= min(1.0, len(p_values) * p) + 1e-12
    ranked = sorted(p_values, key=p_values.get)
    assert all(adjusted[a] <= adjusted[b] for a, b in pairwise(ranked))


def test_bootstrap_intervals_cover_the_mean_about_as_often_as_they_say():
    rng = np.random.default_rng(0)
    covered = 0
    for repeat in range(300):
        low, high = bootstrap_interval(rng.exponential(size=80), seed=repeat)
        covered += low <= 1.0 <= high
    assert 0.88 <= covered / 300 <= 0.98


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=20))
def test_bootstrap_intervals_hold_the_sample_and_repeat_for_a_seed(values):
    low, high = bootstrap_interval(values, seed=1)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
    assert bootstrap_interval(values, seed=1) == (low, high)


def test_bootstrap_intervals_do_not_depend_on_how_draws_are_batched(monkeypatch):
    values = np.random.default_rng(2).normal(size=50)
    whole = bootstrap_interval(values)
    monkeypatch.setattr(inference, "BATCH_VALUES", 777)
    assert bootstrap_interval(values) == whole


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=20, unique=True), st.integers(0, 5))
def test_bootstrap_intervals_are_the_quantiles_of_plainly_drawn_means(values, seed):
    rng, sample = np.random.default_rng(seed), np.array(values)
    means = [sample[picks].mean() for picks in rng.integers(len(sample), size=(1000, len(sample)))]
    assert bootstrap_interval(values, seed=seed) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])))


def test_paired_effect_is_mean_over_spread_where_there_is_spread():
    effects = paired_effect(np.array([[1.0, 3.0], [0.5, 0.5]]))
    assert effects == pytest.approx([2 / np.sqrt(2), 0.0])


@given(st.lists(st.one_of(st.booleans(), st.floats(0, 1)), min_size=1, max_size=30), st.sampled_from([1.0, 100.0]))
def test_a_share_is_the_mean_of_its_units_whatever_they_are(units, of):
    """Trials that hold or fail, and units that are shares of a few draws themselves."""
    cell = share("row", "column", units, of=of)
    assert cell.ours == pytest.approx(of * sum(map(float, units)) / len(units)) and cell.units == len(units)
    assert 0 <= cell.low <= cell.ours + 1e-9 and cell.ours - 1e-9 <= cell.high <= of + 1e-9


@pytest.mark.parametrize("units", [[0.2, 1.2], [-0.1], [float("nan")], [87.0]])
def test_what_is_no_share_is_refused(units):
    with pytest.raises(ValueError, match="between 0 and 1"):
        share("row", "column", units)


def test_f1_is_the_hit_share_when_sizes_match():
    assert f1_at_k([0, 1, 2, 3], [2, 3, 4, 5]) == 0.5


def test_f1_counts_both_sizes():
    assert f1_at_k([0, 1], [0, 1, 2, 3, 4, 5]) == 0.5
    assert f1_at_k([0], []) == 0
    assert f1_at_k([], []) == 1
    assert f1_at_k(np.array([0, 1]), np.array([1, 0])) == 1


def test_the_expected_lowest_draw_is_what_drawing_gives():
    rng = np.random.default_rng(0)
    values, mass = rng.normal(size=(3, 4)), rng.random((3, 4))
    mass /= mass.sum()
    drawn = rng.choice(values.ravel(), size=(200_000, 5), p=mass.ravel()).min(axis=1)
    assert expected_lowest(values, mass, shots=5) == pytest.approx(drawn.mean(), abs=4 * drawn.std() / 447)
    assert expected_lowest(values, mass, shots=1) == pytest.approx((values * mass).sum())
    assert expected_lowest([2.0, 1.0, 1.0], [0.0, 0.5, 0.5], shots=9) == 1.0
