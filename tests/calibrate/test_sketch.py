import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.calibrate.column import exact_column
from biselect.calibrate.sketch import SLOTS, RankSketch


@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(["normal", "ties", "sorted", "falling", "spike"]),
    block=st.sampled_from([17, 64, 1000]),
)
@settings(deadline=None, max_examples=40)
def test_a_sketch_is_within_its_stated_error_everywhere_and_exact_in_the_tails(seed, kind, block):
    rng = np.random.default_rng(seed)
    entries = {
        "normal": lambda: rng.normal(size=20_000),
        "ties": lambda: rng.integers(0, 6, size=20_000).astype(float),
        "sorted": lambda: np.sort(rng.normal(size=20_000)),
        "falling": lambda: -np.sort(rng.normal(size=20_000)),
        "spike": lambda: np.where(rng.random(20_000) < 0.9, 0.0, rng.normal(size=20_000)),
    }[kind]()
    sketch = RankSketch(entries=SLOTS * 64)
    for start in range(0, entries.size, block):
        sketch.add(entries[start : start + block])
    column = sketch.column()
    exact = exact_column(entries)
    assert column.size == 20_000 and 0 < column.rank_error <= 0.05 * 20_000
    x = np.concatenate([exact.values[::37], exact.values[::37] + 1e-9, [-99.0, 99.0]])
    assert np.abs(column.at_most(x) - exact.at_most(x)).max() <= column.rank_error
    assert np.abs(column.below(x) - exact.below(x)).max() <= column.rank_error
    ends = np.concatenate([exact.values[: sketch.tail], exact.values[-sketch.tail :]])
    assert (column.below(ends[: sketch.tail]) == exact.below(ends[: sketch.tail])).all()
    assert (column.at_most(ends[-sketch.tail :]) == exact.at_most(ends[-sketch.tail :])).all()
    assert column.mean == pytest.approx(exact.mean, abs=1e-9)
    assert column.deviation == pytest.approx(exact.deviation, rel=1e-9)
    assert (np.diff(column.values) >= 0).all() and (np.diff(column.counts) >= 0).all()


def test_a_sketch_is_exact_while_everything_fits():
    entries = np.random.default_rng(0).normal(size=SLOTS * 64 - 65)
    sketch = RankSketch(entries=SLOTS * 64)
    sketch.add(entries)
    assert sketch.column().rank_error == 0
    np.testing.assert_array_equal(sketch.column().values, np.sort(entries))
