import numpy as np
import pytest

import biselect as bs
from biselect import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.devices import compile_problem
from biselect_studies.quantum.trade import best_of, flawless, trade

pytest.importorskip("qiskit_aer")


@pytest.fixture(scope="module")
def points():
    problem = SelectionProblem(coupling=np.random.default_rng(1).normal(size=(4, 3)), k=2, m=1)
    return trade(problem, "boston", ("edges", 0.99, 1.0), depth=2, trajectories=20)


def test_a_trade_has_a_point_for_every_circuit(points):
    assert [point.share for point in points] == sorted(point.share for point in points)
    assert points[-1].share == 1 and points[0].share < 1
    assert len(points) == 2  # nearly all is as dear as all, and is all
    less, more = points
    assert less.resources.two_qubit_gates < more.resources.two_qubit_gates
    assert less.mass > more.mass > 0.5 and less.chance == 1 / 18
    assert best_of(points).hit == max(point.hit for point in points)


def test_a_trade_is_drawn(points):
    axes = bs.plot.couplings(points)
    assert axes.get_xlabel() == "coupling mass kept (%)"
    with pytest.raises(InputError, match="needs what biselect"):
        bs.plot.couplings([])


def test_the_chance_of_no_error_is_the_product_of_all(points):
    """Beside the noise model: fewer shots are without any error than meet the budgets."""
    made = points[0].bundle
    chance = flawless(made)
    assert 0.5 < chance < points[0].mass
    with pytest.raises(InputError, match="no recorded error"):
        flawless(compile_problem(made.problem, "iqm-54", compare=False))
