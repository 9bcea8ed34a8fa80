"""What counts as heavy, and the quick look, which may take a light row for heavy but never a heavy one for light."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.large._collecting import Collecting, Heavy, QuickLook, View, top_sums, view_of
from biselect.large.gathering import KeptPool
from biselect.weights import Weigher
from biselect.weights.alignment import Shift
from biselect.weights.directed import DirectedColumns, at_best


@pytest.mark.parametrize("name", ["reach", "ecdf", "ecdf-paper", "mad-z"])
@given(
    seed=st.integers(0, 1000),
    shape=st.sampled_from(["normal", "tied", "heavy"]),
    narrow=st.booleans(),
    far=st.sampled_from([0.0, 500.0, 1e5, 1e9 + 1]),
)
@settings(max_examples=12, deadline=None)
def test_a_quick_look_never_takes_too_little(name, seed, shape, narrow, far):
    rng = np.random.default_rng(seed)
    draw = {
        "normal": lambda n: rng.normal(size=(n, 2)),
        "tied": lambda n: rng.integers(0, 6, (n, 2)).astype(float),
        "heavy": lambda n: 1e6 + rng.standard_cauchy((n, 2)),
    }[shape]
    reference, pool = draw(300), draw(400)
    pool[:, 1] += far
    pool[::7, 0] = np.nan
    weigher = Weigher(name).fit(reference)
    factor = 1.0 if shape == "tied" else 1.7  # so that whole numbers stay on the steps
    shifts = Shift(columns=(1,), middles=np.array([far]), factors=np.array([factor]), targets=np.array([0.0]))
    quick = QuickLook.of(weigher, shifts)
    if quick is None:
        assert not {"reach", "ecdf"} & {name}
        return
    W = weigher.weights(shifts.applied(pool))
    for j in range(2):
        values = pool[:, j].astype(np.float32 if narrow else np.float64)
        exact = weigher.weights(shifts.applied(np.column_stack([pool[:, 0], pool[:, 1]])))[:, j]
        if narrow:  # the stored numbers are what is weighed
            stored = pool.copy()
            stored[:, j] = values
            exact = weigher.weights(shifts.applied(stored))[:, j]
        found = np.empty(len(pool), dtype=np.float32)
        quick.weights(j, values, found)
        assert (found >= at_best(weigher, exact[:, None])[:, 0] * (1 - 1e-6)).all(), "in its own direction, too"
    assert W.shape == pool.shape


@given(seed=st.integers(0, 1000), m=st.integers(1, 6))
@settings(max_examples=20, deadline=None)
def test_sums_are_those_of_the_largest_weights(seed, m):
    W = np.random.default_rng(seed).exponential(size=(50, 6)).round(1)
    found = np.empty(50)
    top_sums(W, m, found)
    assert found == pytest.approx(np.sort(W, axis=1)[:, 6 - m :].sum(axis=1))


def test_about_as_many_rows_are_heavy_as_were_wanted():
    weights = np.random.default_rng(0).exponential(size=100_000)
    heavy = Heavy.of(weights[:10_000], 0.1, 2000)
    assert 1500 < heavy.is_in(weights, np.arange(100_000), 0).sum() < 2500


def test_of_rows_that_weigh_alike_a_share_is_kept():
    weights = np.repeat([0.0, 5.0], 50_000)
    heavy = Heavy.of(weights[::10], 0.1, 1000)
    kept = heavy.is_in(weights, np.arange(100_000), 0)
    assert heavy.above == 5.0 and 700 < kept.sum() < 1300 and not kept[:50_000].any()


def test_theta_leaves_the_bound_valid():
    W = np.random.default_rng(0).exponential(size=(500, 8))
    for m in (1, 3, 8):
        view = view_of(m, W, 1.0, 50)
        excess = np.maximum(W - view.theta, 0).sum(axis=1)
        assert isinstance(view, View) and (view.m * view.theta + excess >= view.sums(W) - 1e-12).all()
        assert (view.sums(W) >= view.heavy.above).sum() == 50


def test_what_other_rows_add_is_rounded_up():
    tables = SimpleNamespace(pool=SimpleNamespace(rows=9))
    for most in np.random.default_rng(0).exponential(size=50).tolist():
        collecting = SimpleNamespace(most=lambda m, most=most: most)
        rows = SimpleNamespace(positions=np.arange(3), collecting=collecting)
        bound = KeptPool.most(SimpleNamespace(rows=rows, tables=tables), 1)
        assert Fraction(np.nextafter(bound, -np.inf)) < Fraction(most) <= Fraction(bound)


@given(seed=st.integers(0, 1000), m=st.integers(1, 5), more=st.integers(0, 3))
@settings(max_examples=30)
def test_a_row_that_was_not_kept_adds_no_more_than_what_stands_for_it(seed, m, more):
    """Of any m directed columns, and of more columns than the view was made for."""
    rng = np.random.default_rng(seed)
    weigher = Weigher().fit(rng.normal(size=(80, 5)))
    cells = weigher.cells(2 * rng.standard_t(3, size=(300, 5)))
    best = at_best(weigher, cells.weights)
    view = view_of(m, best, 1.0, 40)
    light = ~view.heavy.is_in(view.sums(best), np.arange(300), 0)
    collecting = Collecting(
        name="",
        features=None,
        beside=(),
        weigher=weigher,
        shifts=None,
        quick=None,
        views=(view,),
        heavy=np.inf,
        seed=0,
    )
    features = DirectedColumns.of(weigher, cells)
    columns = rng.permutation(5)[: min(5, m + more)]
    directed = [rng.choice(np.flatnonzero(features.columns == j)) for j in columns]
    sums = features.weights(weigher, cells)[:, directed].sum(axis=1)
    assert (sums[light] <= collecting.most(len(columns)) + 1e-12).all()
