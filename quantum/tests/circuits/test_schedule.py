import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.errors import InputError
from biselect_quantum.circuits import SCHEDULES, Schedule

CHAINS = [("tied", "bilinear"), ("bilinear", "fixed-transport"), ("fixed-transport", "fully-grouped")]


CHAINS += [("tied", "layerwise"), ("layerwise", "fully-grouped")]


@given(st.integers(1, 6), st.sampled_from(CHAINS), st.integers(0, 100))
def test_each_schedule_contains_the_one_before(depth, chain, seed):
    small, large = (Schedule.named(name, depth) for name in chain)
    angles = np.random.default_rng(seed).normal(size=small.size)
    np.testing.assert_allclose(large.expand(small.embed(angles, into=large)), small.expand(angles), atol=1e-12)


@pytest.mark.parametrize("depth", [1, 3])
def test_angle_counts_are_the_papers(depth):
    sizes = {name: Schedule.named(name, depth).size for name in SCHEDULES}
    assert sizes == {
        "tied": 2,
        "layerwise": 2 * depth,
        "bilinear": depth + 2,
        "fixed-transport": 3 * depth + 1,
        "fully-grouped": 4 * depth,
    }


def test_angles_are_in_the_stated_order():
    assert Schedule.named("bilinear", 2).angle_names == ("γ_marg", "γ_SF,1", "γ_SF,2", "β")
    assert Schedule.named("fully-grouped", 1).angle_names == ("γ_S,1", "γ_F,1", "γ_SF,1", "β_1")
    assert Schedule.named("fixed-transport", 2).angle_names[-1] == "β"


def test_what_is_not_contained_is_refused():
    layerwise, tied = Schedule.named("layerwise", 2), Schedule.named("tied", 2)
    with pytest.raises(InputError, match="not contained"):
        layerwise.embed([1.0, 2.0, 3.0, 4.0], into=tied)
    with pytest.raises(InputError, match="another depth"):
        layerwise.embed(np.zeros(4), into=Schedule.named("layerwise", 3))
    with pytest.raises(InputError, match="has 2 angles"):
        tied.expand([1.0])
    with pytest.raises(InputError, match="finite"):
        tied.expand([np.nan, 0.0])
    with pytest.raises(InputError, match="schedule must be one of"):
        Schedule.named("magic", 1)
    with pytest.raises(InputError, match="at least 1"):
        Schedule.named("tied", 0)


def test_a_schedule_has_a_layer():
    with pytest.raises(InputError, match="at least one layer"):
        Schedule(name="empty", matrix=np.zeros((0, 4, 1)), angle_names=("γ",))
