import numpy as np
import pytest

from biselect import SelectionProblem
from biselect_quantum.devices import compile_problem, place_circuit
from biselect_quantum.devices._from_problem import ORDERS
from biselect_quantum.devices.noise import cut_noise


def test_the_order_taken_is_expected_to_hit_no_less_than_the_other():
    problem = SelectionProblem(coupling=np.random.default_rng(4).normal(size=(4, 3)), k=2, m=1)

    def expected(made):
        return -made.training.objective["threshold"], made.training.hit_rate * cut_noise(made).flawless

    taken = expected(compile_problem(problem, "boston", depth=1, compare=False))
    others = []
    for order in ORDERS:
        placed = place_circuit(problem, "boston", depth=1, order=order)
        others.append(expected(placed.compile(placed.train(), compare=False)))
    assert taken == pytest.approx(max(others))
