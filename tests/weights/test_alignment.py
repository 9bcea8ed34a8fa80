"""Drifted columns are noticed and moved back; a few unusual rows are no drift."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.errors import InputError
from biselect.tables._frames import NamedMatrix
from biselect.weights.alignment import Shift, move_back, moved_columns


def tables(seed=0, rows=2000):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, 4)), rng.normal(size=(rows, 4))


def test_a_shift_and_a_stretch_are_noticed_and_undone():
    reference, pool = tables()
    pool[:, 1] = pool[:, 1] * 2 + 1
    [moved] = moved_columns(reference, pool)
    assert moved.position == 1
    assert moved.shift == pytest.approx(1 / 1.35, abs=0.1) and moved.stretch == pytest.approx(2, abs=0.2)
    back = Shift.of(reference, pool, [moved]).applied(pool)
    quartiles = [np.quantile(table[:, 1], [0.25, 0.5, 0.75]) for table in (reference, back)]
    assert quartiles[1][1] == pytest.approx(quartiles[0][1])
    assert quartiles[1][2] - quartiles[1][0] == pytest.approx(quartiles[0][2] - quartiles[0][0])
    assert (np.argsort(back[:, 1]) == np.argsort(pool[:, 1])).all()
    assert (back[:, [0, 2, 3]] == pool[:, [0, 2, 3]]).all()
    assert not moved_columns(reference, back)


def test_samples_of_one_population_hardly_ever_move():
    noticed = sum(bool(moved_columns(*tables(seed, rows=300))) for seed in range(100))
    assert noticed <= 2


def test_unusual_rows_are_no_drift():
    reference, pool = tables()
    pool[:40, 2] += 30
    assert not moved_columns(reference, pool)


def test_coarse_and_constant_columns_are_left_alone_without_drift():
    rng = np.random.default_rng(0)
    reference, pool = rng.integers(0, 4, size=(500, 6)).astype(float), rng.integers(0, 4, size=(300, 6)).astype(float)
    reference[:, 5] = pool[:, 5] = 1
    assert not moved_columns(reference, pool)


def test_a_clock_is_no_drift():
    reference, pool = tables()
    reference[:, 3], pool[:, 3] = np.arange(2000), np.arange(2000, 4000)
    assert not moved_columns(reference, pool)


def test_missing_cells_and_small_tables_are_no_drift():
    reference, pool = tables()
    pool[::3, 0] = np.nan
    assert not moved_columns(reference, pool)
    assert not moved_columns(reference, reference[:10] + 5)


@given(shift=st.floats(-5, 5), stretch=st.floats(0.3, 3))
def test_moving_back_undoes_any_shift_and_stretch(shift, stretch):
    reference, pool = tables()
    drifted = NamedMatrix(values=pool * stretch + shift, names=("a", "b", "c", "d"))
    back, moved = move_back(NamedMatrix(values=reference, names=drifted.names), drifted, "recentre")
    for column in moved:
        middle = np.median(back.values[:, column.position])
        assert middle == pytest.approx(np.median(reference[:, column.position]), abs=1e-9)
    kept, noticed = move_back(NamedMatrix(values=reference, names=drifted.names), drifted, "keep")
    assert kept is drifted and noticed == moved


def test_an_unknown_wish_is_refused():
    table = NamedMatrix(values=np.zeros((3, 1)), names=("a",))
    with pytest.raises(InputError, match="drift"):
        move_back(table, table, "undo")
