import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from biselect.calibrate import steps as steps_module
from biselect.calibrate.steps import Steps, apply_steps

NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, allow_subnormal=False))


@given(
    knots=arrays(np.float64, st.integers(1, 60), elements=NUMBERS),
    x=arrays(np.float64, st.integers(1, 40), elements=st.one_of(NUMBERS, st.just(np.inf), st.just(-np.inf))),
    inclusive=st.booleans(),
    outlier=st.sampled_from([0.0, 1e308]),
)
@settings(deadline=None)
def test_the_kernel_gives_the_same_levels_as_searchsorted(knots, x, inclusive, outlier):
    from biselect.calibrate.steps_kernel import look_up

    values = np.sort(np.append(knots, outlier))
    steps = Steps(values=values, levels=np.arange(values.size + 1.0), inclusive=inclusive)
    x = np.concatenate([x, values])
    fast = np.empty(x.size)
    look_up(x, values, steps.levels, inclusive, fast)
    np.testing.assert_array_equal(fast, steps(x))


def test_large_pools_go_through_the_kernel_with_the_same_answer(monkeypatch):
    rng = np.random.default_rng(0)
    steps = [
        Steps(values=np.sort(rng.standard_cauchy(size=5000)), levels=rng.random(5001), inclusive=bool(j % 2))
        for j in range(3)
    ]
    Z = rng.standard_cauchy(size=(2000, 3))
    slow = apply_steps(steps, Z)
    monkeypatch.setattr(steps_module, "KERNEL_CELLS", 0)
    np.testing.assert_array_equal(apply_steps(steps, Z), slow)
