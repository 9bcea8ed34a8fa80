from itertools import combinations, product
from math import comb, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.core import Sector
from biselect.errors import InputError
from biselect_studies.recovery import (
    Bernstein,
    Burden,
    SubGaussian,
    classwise_threshold,
    clipped,
    covariance_threshold,
    feature_first_threshold,
    joint_threshold,
)
from biselect_studies.recovery.thresholds import (
    PAPER_LOOSENESS,
    column_contrasts,
    failure_bound,
    joint_contrasts,
    tolerated_feature_first_error,
    tolerated_joint_error,
)

SETTINGS = [(8, 6, 2, 2), (12, 8, 2, 2), (16, 8, 3, 2), (20, 6, 2, 2)]


def sector(n, d, k, m):
    return Sector(n_samples=n, n_features=d, k=k, m=m)


@st.composite
def sectors(draw):
    n, d = draw(st.integers(1, 7)), draw(st.integers(1, 6))
    return sector(n, d, draw(st.integers(1, n)), draw(st.integers(1, d)))


def contrasts_one_by_one(where):
    """Every competitor of the planted pair ({0..k-1}, {0..m-1}), as a signed table."""
    planted = np.zeros((where.n_samples, where.n_features))
    planted[: where.k, : where.m] = 1
    pairs = product(combinations(range(where.n_samples), where.k), combinations(range(where.n_features), where.m))
    for rows, columns in pairs:
        other = np.zeros_like(planted)
        other[np.ix_(rows, columns)] = 1
        if not np.array_equal(other, planted):
            yield planted - other


@given(sectors())
def test_classes_hold_every_competitor_with_its_signal_entries_and_alignment(where):
    counted = {}
    for c in contrasts_one_by_one(where):
        key = ((c > 0).sum(), np.abs(c).sum(), (c.sum(axis=0) ** 2).sum())
        counted[key] = counted.get(key, 0) + 1
    classes = joint_contrasts(where)
    grouped = {}
    for signal, entries, aligned, members in zip(
        classes.signal, classes.entries, classes.aligned, np.exp(classes.log_members), strict=True
    ):
        key = (signal, entries, aligned)
        grouped[key] = grouped.get(key, 0) + round(float(members))
    assert grouped == counted


@pytest.mark.parametrize("size", SETTINGS)
@pytest.mark.parametrize("delta", [0.1, 0.01])
def test_the_papers_formulas(size, delta):
    n, d, k, m = size
    where, smallest = sector(*size), min(k, m)
    choices, pairs = log((comb(n, k) * comb(d, m) - 1) / delta), log(m * (d - m) / delta)
    eta, rho = 0.2, 0.3
    burden = Burden(error=eta)

    gaussian = SubGaussian(sigma=1.7)
    assert joint_threshold(where, gaussian, delta=delta) == pytest.approx(2 * 1.7 * sqrt(choices / smallest))
    printed = feature_first_threshold(where, gaussian, delta=delta, burden=burden, looseness=PAPER_LOOSENESS)
    assert printed == pytest.approx((2 * n * eta + 1.7 * sqrt(8 * n * pairs)) / k)

    bernstein = Bernstein(v=2, b=3)
    needed = max(2 * 2 * sqrt(choices / smallest), 2 * 3 * choices / smallest)
    assert joint_threshold(where, bernstein, delta=delta, burden=burden) == pytest.approx(needed + 2 * eta)
    needed = max(2 * 2 * sqrt(n * pairs), 2 * 3 * pairs)
    assert feature_first_threshold(where, bernstein, delta=delta) == pytest.approx(needed / k)

    both = Burden(error=rho + eta)
    needed = 2 * 1.5 * sqrt(choices / smallest) + 2 * (rho + eta)
    assert joint_threshold(where, clipped(1.5), delta=delta, burden=both) == pytest.approx(needed)
    needed = (2 * 1.5 * sqrt(n * pairs) + 2 * n * (rho + eta)) / k
    assert feature_first_threshold(where, clipped(1.5), delta=delta, burden=both) == pytest.approx(needed)

    marginals = Burden(sample_bound=0.5, feature_bound=0.25)
    needed = 2 * 1.7 * sqrt(choices / smallest) + 2 * 0.5 / m + 2 * 0.25 / k
    assert joint_threshold(where, gaussian, delta=delta, burden=marginals) == pytest.approx(needed)


@pytest.mark.parametrize("correlation", [0.0, 0.4, 0.9, 1.0])
def test_correlation_within_features_equals_the_general_covariance(correlation):
    where, sigma = sector(5, 4, 2, 2), 1.3
    n, d = where.n_samples, where.n_features
    within = sigma**2 * ((1 - correlation) * np.eye(n) + correlation)
    gamma = np.kron(within, np.eye(d))
    general = covariance_threshold(gamma, where, [0, 1], [0, 1], delta=0.1)
    noise = SubGaussian(sigma=sigma, correlation=correlation)
    assert joint_threshold(where, noise, delta=0.1) == pytest.approx(general)


def test_one_feature_swap_loses_its_averaging_as_the_paper_says():
    where = sector(9, 5, 3, 2)
    contrasts = joint_contrasts(where)
    one = np.flatnonzero((contrasts.samples_out == 0) & (contrasts.features_out == 1))
    for r in (0.0, 0.5, 1.0):
        factor = SubGaussian(sigma=1, correlation=r).proxy_variance(contrasts)[one] / (2 * contrasts.signal[one] ** 2)
        assert factor == pytest.approx(r + (1 - r) / where.k)


noises = st.one_of(
    st.builds(SubGaussian, sigma=st.floats(0.1, 5), correlation=st.floats(0, 1)),
    st.builds(Bernstein, v=st.floats(0.1, 5), b=st.floats(0.1, 5)),
)


@given(sectors(), noises, st.floats(0.001, 0.9), st.floats(0, 2), st.floats(0, 2), st.floats(0, 2))
def test_class_wise_is_never_above_the_papers_and_bounds_the_failure(where, noise, delta, error, a, b):
    burden = Burden(error=error, sample_bound=a, feature_bound=b)
    tighter = classwise_threshold(where, noise, delta=delta, burden=burden)
    assert tighter <= joint_threshold(where, noise, delta=delta, burden=burden)
    if where.size > 1:
        contrasts = joint_contrasts(where)
        assert failure_bound(contrasts, noise, tighter * (1 + 1e-9), burden) <= delta * (1 + 1e-6)
        assert failure_bound(contrasts, noise, tighter * 0.99, burden) > delta or where.size == 2


@given(sectors(), noises, st.floats(0.01, 40))
def test_reach_and_exponent_are_inverse(where, noise, exponent):
    for contrasts in (joint_contrasts(where), column_contrasts(where)):
        reach = noise.reach(contrasts, exponent)
        moved = reach > 0  # fully shared noise cancels in some contrasts
        assert noise.exponent(contrasts, reach)[moved] == pytest.approx(exponent)


@given(st.floats(0.02, 0.98), st.floats(0.1, 10), st.floats(-1, 1))
def test_bounded_entries_satisfy_the_bernstein_condition_given_for_them(chance, width, where):
    """Two-point distributions are the worst among bounded ones."""
    high, low = width * (1 - chance), -width * chance
    noise = Bernstein.of_bounded(width * sqrt(chance * (1 - chance)), max(high, -low))
    t = where / noise.b
    assert chance * np.exp(t * high) + (1 - chance) * np.exp(t * low) <= np.exp((t * noise.v) ** 2 / 2) * (1 + 1e-12)


@pytest.mark.parametrize("size", SETTINGS)
def test_tolerated_error_is_where_the_condition_stops(size):
    where, noise, mu = sector(*size), SubGaussian(sigma=1.0), 30.0
    joint = tolerated_joint_error(mu, joint_threshold(where, noise, delta=0.1))
    assert joint_threshold(where, noise, delta=0.1, burden=Burden(error=joint)) == pytest.approx(mu)
    columns = tolerated_feature_first_error(mu, feature_first_threshold(where, noise, delta=0.1), where)
    needed = feature_first_threshold(where, noise, delta=0.1, burden=Burden(error=columns))
    assert needed == pytest.approx(mu)
    assert joint > columns


def test_laplace_does_not_separate_with_the_papers_bound():
    for size in SETTINGS:
        noise = Bernstein(v=2, b=2)
        assert joint_threshold(sector(*size), noise, delta=0.1) > feature_first_threshold(
            sector(*size), noise, delta=0.1
        )


def test_no_competitor_needs_no_signal_and_huge_sectors_are_no_trouble():
    noise = SubGaussian(sigma=1.0)
    assert joint_threshold(sector(3, 2, 3, 2), noise, delta=0.1) == 0
    assert feature_first_threshold(sector(3, 2, 1, 2), noise, delta=0.1) == 0
    huge = sector(1_000_000, 200, 1000, 20)
    assert 0 < classwise_threshold(huge, noise, delta=0.1) < joint_threshold(huge, noise, delta=0.1) < 1000


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: joint_threshold(sector(3, 3, 1, 1), SubGaussian(sigma=1), delta=1.0),
        lambda: feature_first_threshold(sector(3, 3, 1, 1), SubGaussian(sigma=1), delta=0.0),
        lambda: SubGaussian(sigma=-1),
        lambda: SubGaussian(sigma=1, correlation=1.5),
        lambda: Bernstein(v=1, b=0),
        lambda: Burden(error=-1),
        lambda: covariance_threshold(np.eye(3), sector(3, 3, 1, 1), [0], [0], delta=0.1),
        lambda: covariance_threshold(np.eye(900), sector(30, 30, 10, 10), [0], [0], delta=0.1),
    ],
)
def test_unusable_assumptions_are_refused(wrong):
    with pytest.raises(InputError):
        wrong()
