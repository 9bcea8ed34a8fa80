import numpy as np
from hypothesis import given

from biselect.core.ising import coupling_component, marginal_component
from biselect.testing.strategies import problems


def test_one_marginal_done_by_hand():
    """-a·x with x = (1 - Z)/2 is a/2·Z - a/2."""
    ising = marginal_component(np.array([4.0]), first_qubit=1, shape=(1, 1))
    np.testing.assert_array_equal(ising.fields, [0.0, 2.0])
    assert ising.offset == -2.0


def test_one_product_done_by_hand():
    """-w·s·f is -w/4·(1 - Z_s)(1 - Z_f)."""
    ising = coupling_component(np.array([[8.0]]))
    np.testing.assert_array_equal(ising.fields, [2.0, 2.0])
    assert ising.couplings.tolist() == [[-2.0]] and ising.offset == -2.0
    assert ising.energies([[0, 0], [1, 0], [0, 1], [1, 1]]).tolist() == [0.0, 0.0, 0.0, -8.0]


@given(problems(max_samples=3, max_features=3))
def test_the_components_add_up_to_the_whole(problem):
    whole, parts = problem.ising(), problem.components()
    total = parts.samples + parts.features + parts.coupling
    np.testing.assert_allclose(total.fields, whole.fields)
    np.testing.assert_allclose(total.couplings, whole.couplings)
    np.testing.assert_allclose(total.offset, whole.offset)
