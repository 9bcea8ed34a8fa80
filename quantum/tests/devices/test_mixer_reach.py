from itertools import product

import numpy as np
import pytest

from biselect import SelectionProblem
from biselect_quantum.circuits import Ansatz, AnsatzSpec
from biselect_quantum.devices import place_circuit
from biselect_quantum.devices.mixer_order import far_reaching, reached


def spec_of(n, k, depth, start="canonical"):
    problem = SelectionProblem(coupling=np.random.default_rng(0).normal(size=(n, 3)), k=k, m=1)
    return AnsatzSpec(problem, depth, "tied", "path", start)


@pytest.mark.parametrize(("n", "k", "depth"), list(product((4, 6), (1, 2, 3), (1, 2))))
def test_reach_is_where_amplitudes_are(n, k, depth):
    """Against the simulator, for the canonical start: random angles leave amplitude wherever the mixer leads."""
    spec = spec_of(n, k, depth)
    rows, columns = (
        reached(register, depth, register.position(np.array([side])))[0]
        for register, side in zip(spec.registers, spec.start, strict=True)
    )
    amplitudes = np.abs(Ansatz.from_spec(spec, backend="plain").state([0.7, 0.6])) > 1e-12
    assert np.array_equal(amplitudes, rows[:, None] & columns)


def test_the_start_with_the_farthest_reach_is_taken():
    spec = spec_of(8, 2, 2)
    register = spec.registers[0]
    everyone = reached(register, 2, np.arange(len(register.subsets))).sum(axis=1)
    chosen = register.position(np.array([far_reaching(spec, 0)[0]]))[0]
    assert everyone[chosen] == everyone.max() > everyone[0]


def test_circuits_start_where_they_reach_far_by_default():
    problem = SelectionProblem(coupling=np.random.default_rng(0).normal(size=(6, 4)), k=2, m=1)
    placed = place_circuit(problem, "boston")
    assert placed.spec.depth == 3
    assert placed.spec.start == far_reaching(placed.spec, 0)
    assert place_circuit(problem, "boston", start="random").spec.start != placed.spec.start
